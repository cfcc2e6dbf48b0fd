// Attention's tests: where rows lie, which keys queries see, and the probabilities in double
// precision.

#ifndef KILN_TESTS_KERNELS_ATTENTIONCASE_H
#define KILN_TESTS_KERNELS_ATTENTIONCASE_H

#include "tests/kernels/Reference.h"

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

/// `keys`: the first one of the head, `stride` apart.
inline Row attend(const Shape &shape, const Form &form, int row, const float *query,
                  const float *keys, int64_t stride, int dim, double scale) {
  Row result{std::vector<double>(size_t(shape.keys)), std::vector<double>(size_t(shape.keys), 1)};
  int end = form.isCausal ? std::max(0, row + 1 + shape.keys - shape.queries) : shape.keys;
  int first = form.window ? std::max(0, end - form.window) : 0;
  double sum = 0;
  for (int n = first; n < end; ++n) {
    double score = sumOfProducts(query, keys + n * stride, dim) * scale;
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

/// The sum of the values by their probabilities. `values`: as the keys.
inline std::vector<double> weighted(const Row &row, const float *values, int64_t stride, int dim) {
  std::vector<double> sums(static_cast<size_t>(dim));
  for (size_t n = 0; n < row.probabilities.size(); ++n)
    addScaled(sums.data(), row.probabilities[n], values + int64_t(n) * stride, dim);
  return sums;
}

} // namespace kiln::test

#endif
