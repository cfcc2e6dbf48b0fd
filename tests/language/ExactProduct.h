// A product of matrices of small integers in f16, whose sums are exact: for tests of how kernels
// bring operands to the matrix units.

#ifndef KILN_TESTS_LANGUAGE_EXACTPRODUCT_H
#define KILN_TESTS_LANGUAGE_EXACTPRODUCT_H

#include "tests/language/SourceKernel.h"

#include <cmath>

namespace kiln::testing {

/// C of m x n is A times B along k, of which the last is stored by columns if `transposed`.
struct ExactProduct {
  int m, n, k;
  bool transposed;
  int strideA, strideB, strideC;
  Buffer<uint16_t> a, b;
  Buffer<float> c;

  /// A multiple of `unit` elements.
  static int strideOf(int columns, int unit) {
    return (std::max(columns, 1) + unit - 1) / unit * unit;
  }

  /// Rows of 8 elements begin at multiples of 16 bytes.
  ExactProduct(int m, int n, int k, bool transposed, int unit = 8)
      : m(m), n(n), k(k), transposed(transposed), strideA(strideOf(k, unit)),
        strideB(strideOf(transposed ? k : n, unit)), strideC(strideOf(n, unit)),
        a(size_t(m) * strideA), b(size_t(std::max(transposed ? n : k, 1)) * strideB),
        c(size_t(m) * strideC) {
    Random random(unsigned(m + 7 * n + 31 * k));
    for (Buffer<uint16_t> *matrix : {&a, &b})
      for (size_t i = 0; i < matrix->count(); ++i)
        (*matrix)[i] = halfOf(int(random.below(5)) - 2);
  }

  static uint16_t halfOf(int value) {
    const uint16_t magnitudes[] = {0, 0x3c00, 0x4000};
    return uint16_t(value < 0) << 15 | magnitudes[std::abs(value)];
  }
  static double valueOf(uint16_t bits);
  double A(int i, int l) const;
  double B(int l, int j) const;
  double C(int i, int j) const;

  /// `stride`: the type of the strides, which may promise that they are multiples of 8.
  std::vector<SourceArgument> arguments(const std::string &stride = "i64:8") const {
    return {{"pa", "*fp16", a},
            {"pb", "*fp16", b},
            {"pc", "*fp32", c},
            {"M", "i32", m},
            {"N", "i32", n},
            {"K", "i32", k},
            {"sa", stride, int64_t(strideA)},
            {"sb", stride, int64_t(strideB)},
            {"sc", stride, int64_t(strideC)}};
  }

  /// "" or the first wrong element.
  std::string wrong() const;
};

} // namespace kiln::testing

#endif
