#include "tests/language/Matrix.h"

namespace kiln::testing {

Matrix::Matrix(const Array &array, int first, int rows, int columns) : Matrix(rows, columns) {
  for (int i = 0; i < rows * columns; ++i)
    values[i] = double(array[first + i]);
}

Matrix Matrix::transposed() const {
  Matrix result(columns, rows);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j)
      result(j, i) = (*this)(i, j);
  return result;
}

Matrix Matrix::part(int firstRow, int firstColumn, int rows, int columns) const {
  Matrix result(rows, columns);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j)
      result(i, j) = (*this)(firstRow + i, firstColumn + j);
  return result;
}

Matrix operator*(const Matrix &a, const Matrix &b) {
  Matrix product(a.rows, b.columns);
  for (int i = 0; i < a.rows; ++i)
    for (int k = 0; k < a.columns; ++k)
      for (int j = 0; j < b.columns; ++j)
        product(i, j) += a(i, k) * b(k, j);
  return product;
}

Matrix operator*(double factor, const Matrix &a) {
  Matrix result(a);
  for (double &value : result.values)
    value *= factor;
  return result;
}

Matrix operator+(const Matrix &a, const Matrix &b) {
  Matrix sum(a);
  for (size_t i = 0; i < sum.values.size(); ++i)
    sum.values[i] += b.values[i];
  return sum;
}

double sumOfProducts(const Matrix &a, int row, const Matrix &b, int column, int begin, int end) {
  double sum = 0;
  for (int k = begin; k < end; ++k)
    sum += a(row, k) * b(k, column);
  return sum;
}

} // namespace kiln::testing
