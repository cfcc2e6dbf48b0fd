// Attention's tests: where rows lie, which keys queries see, and the probabilities in double
// precision.

#ifndef KILN_TESTS_KERNELS_ATTENTIONCASE_H
#define KILN_TESTS_KERNELS_ATTENTIONCASE_H

#include "tests/kernels/KernelTest.h"

namespace kiln::test {

/// batch x heads x rows x dim, with room behind each row, each head and each batch.
struct Layout {
  int batch, heads, rows, dim, padding;
  int64_t rowStride() const { return dim + padding; }
  int64_t headStride() const { return rows * rowStride() + padding; }
  int64_t batchStride() const { return heads * headStride() + padding; }
  size_t size() const { return size_t(batch * batchStride()); }
  size_t at(int b, int h, int row) const {
    return size_t(b * batchStride() + h * headStride() + row * rowStride());
  }
};

struct Shape {
  int batch, heads, queries, keys, padding;
  int group = 1; ///< heads of queries that share one of keys and values

  Layout ofQueries(int dim) const { return {batch, heads, queries, dim, padding}; }
  Layout ofKeys(int dim) const { return {batch, heads / group, keys, dim, 2 * padding}; }
};

/// Which keys a query sees, and what becomes of scores.
struct Form {
  bool isCausal = false;
  int window = 0;    ///< 0: all that come before
  float softCap = 0; ///< 0: none
};

/// What a query makes of the keys.
struct Row {
  std::vector<double> probabilities; ///< of all keys
  std::vector<double> slopes;        ///< of scores, by scale * product
  double lse = -INFINITY;
  bool seesAny() const { return lse > -INFINITY; }
};

template <typename T> double product(const T *a, const T *b, int dim) {
  double sum = 0;
  for (int d = 0; d < dim; ++d)
    sum += double(float(a[d])) * double(float(b[d]));
  return sum;
}

/// `keys`: the first one of the head, `stride` apart.
template <typename T>
Row attend(const Shape &shape, const Form &form, int row, const T *query, const T *keys,
           int64_t stride, int dim, double scale) {
  Row result{std::vector<double>(size_t(shape.keys)), std::vector<double>(size_t(shape.keys), 1)};
  int end = form.isCausal ? std::max(0, row + 1 + shape.keys - shape.queries) : shape.keys;
  int first = form.window ? std::max(0, end - form.window) : 0;
  double sum = 0;
  for (int n = first; n < end; ++n) {
    double score = product(query, keys + n * stride, dim) * scale;
    if (form.softCap) {
      double tanh = std::tanh(score / form.softCap);
      result.slopes[size_t(n)] = 1 - tanh * tanh;
      score = form.softCap * tanh;
    }
    // Scores are small here.
    sum += result.probabilities[size_t(n)] = std::exp(score);
  }
  if (end > first)
    result.lse = std::log(sum);
  for (double &probability : result.probabilities)
    probability /= end > first ? sum : 1;
  return result;
}

} // namespace kiln::test

#endif
