// The larger and the smaller of two floats, as instructions have them.
#ifndef KILN_TESTS_AMDGCN_EXTREMES_H
#define KILN_TESTS_AMDGCN_EXTREMES_H

#include <cmath>

namespace kiln::amdgcn {

/// IEEE 754-2008's: a number wins over a NaN, and 0 is larger than -0. Of two NaNs comes a quiet
/// one.
template <typename Value> Value larger(Value a, Value b) {
  if (std::isnan(a))
    return std::isnan(b) ? a + b : b;
  if (std::isnan(b))
    return a;
  if (a == b)
    return std::signbit(a) ? b : a;
  return a > b ? a : b;
}

template <typename Value> Value smaller(Value a, Value b) { return -larger(-a, -b); }

/// IEEE 754-2019's: a NaN stays one.
template <typename Value> Value maximum(Value a, Value b) {
  return std::isnan(a) || std::isnan(b) ? a + b : larger(a, b);
}

template <typename Value> Value minimum(Value a, Value b) { return -maximum(-a, -b); }

} // namespace kiln::amdgcn

#endif // KILN_TESTS_AMDGCN_EXTREMES_H
