#include "tests/language/ExactProduct.h"

namespace kiln::testing {

double ExactProduct::valueOf(uint16_t bits) {
  return (bits >> 15 ? -1 : 1) * ((bits & 0x7fff) == 0 ? 0 : (bits & 0x7fff) == 0x4000 ? 2 : 1);
}

double ExactProduct::A(int i, int l) const { return valueOf(a[size_t(i) * strideA + l]); }

double ExactProduct::B(int l, int j) const {
  return valueOf(transposed ? b[size_t(j) * strideB + l] : b[size_t(l) * strideB + j]);
}

double ExactProduct::C(int i, int j) const {
  double sum = 0;
  for (int l = 0; l < k; ++l)
    sum += A(i, l) * B(l, j);
  return sum;
}

std::string ExactProduct::wrong() const {
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      double sum = C(i, j);
      if (double(c[size_t(i) * strideC + j]) != sum)
        return "wrong at " + std::to_string(i) + ", " + std::to_string(j) + ": expected " +
               std::to_string(sum) + ", got " + std::to_string(c[size_t(i) * strideC + j]) + "\n";
    }
  return "";
}

} // namespace kiln::testing
