// Matrices for tests of products: where elements are in memory, and whether a result is what it
// should be and nothing else was written.

#ifndef KILN_TESTS_KERNELS_MATRIX_H
#define KILN_TESTS_KERNELS_MATRIX_H

#include "tests/kernels/Reference.h"

namespace kiln::test {

/// Row- or column-major, with room between the lines.
struct Matrix {
  int rows, columns, padding = 0;
  bool transposed = false;
  int rowStride() const { return transposed ? 1 : columns + padding; }
  int columnStride() const { return transposed ? rows + padding : 1; }
  size_t size() const {
    return size_t(transposed ? columns : rows) * ((transposed ? rows : columns) + padding);
  }
  size_t at(int r, int c) const { return size_t(r) * rowStride() + size_t(c) * columnStride(); }
};

template <typename T> double valueOf(T element) { return double(float(element)); }

/// A · B, element by element, in double precision.
class Product {
public:
  template <typename A, typename B>
  Product(const A *a, const Matrix &shapeA, const B *b, const Matrix &shapeB)
      : depth(shapeA.columns) {
    for (int i = 0; i < shapeA.rows; ++i)
      for (int k = 0; k < depth; ++k)
        rows.push_back(float(a[shapeA.at(i, k)]));
    for (int j = 0; j < shapeB.columns; ++j)
      for (int k = 0; k < depth; ++k)
        columns.push_back(float(b[shapeB.at(k, j)]));
  }
  double operator()(int i, int j) const {
    return sumOfProducts(rows.data() + size_t(i) * depth, columns.data() + size_t(j) * depth,
                         depth);
  }

private:
  int depth;
  std::vector<float> rows, columns; ///< each after the other
};

/// Every element of the matrix at `c` is near `expected(row, column)`.
template <typename T, typename Expected>
void expectElements(T *c, const Matrix &shape, double tolerance, Expected expected) {
  for (int i = 0; i < shape.rows; ++i)
    for (int j = 0; j < shape.columns; ++j) {
      double value = expected(i, j);
      ASSERT_NEAR(valueOf(c[shape.at(i, j)]), value, tolerance * (1 + std::fabs(value)))
          << i << ", " << j;
    }
}

/// What lies between the lines of the matrix is still `untouched`.
template <typename T>
void expectUntouchedBetween(Buffer<T> &c, const Matrix &shape, const T &untouched) {
  std::vector<bool> isElement(c.size());
  for (int i = 0; i < shape.rows; ++i)
    for (int j = 0; j < shape.columns; ++j)
      isElement[shape.at(i, j)] = true;
  for (size_t i = 0; i < c.size(); ++i)
    if (!isElement[i])
      ASSERT_EQ(std::memcmp(&c[i], &untouched, sizeof untouched), 0) << i;
}

} // namespace kiln::test

#endif
