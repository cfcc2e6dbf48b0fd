// Matrices of doubles, for the references of tests of products.

#ifndef KILN_TESTS_LANGUAGE_MATRIX_H
#define KILN_TESTS_LANGUAGE_MATRIX_H

#include "tests/language/Numbers.h"

namespace kiln::testing {

struct Matrix {
  Matrix(int rows, int columns, double fill = 0)
      : rows(rows), columns(columns), values(size_t(rows) * columns, fill) {}
  /// Of elements of `array` that follow each other from `first` on, row by row.
  Matrix(const Array &array, int first, int rows, int columns);

  double &operator()(int i, int j) { return values[size_t(i) * columns + j]; }
  double operator()(int i, int j) const { return values[size_t(i) * columns + j]; }
  Matrix transposed() const;
  Matrix part(int firstRow, int firstColumn, int rows, int columns) const;

  int rows, columns;
  std::vector<double> values;
};

Matrix operator*(const Matrix &a, const Matrix &b);
Matrix operator*(double factor, const Matrix &a);
Matrix operator+(const Matrix &a, const Matrix &b);

/// A's row times B's column, over k from `begin` to `end`.
double sumOfProducts(const Matrix &a, int row, const Matrix &b, int column, int begin, int end);

} // namespace kiln::testing

#endif // KILN_TESTS_LANGUAGE_MATRIX_H
