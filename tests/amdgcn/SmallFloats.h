// Floats of 16 bits and fewer.
#ifndef KILN_TESTS_AMDGCN_SMALLFLOATS_H
#define KILN_TESTS_AMDGCN_SMALLFLOATS_H

#include <cstdint>

namespace kiln::amdgcn {

/// A format by the widths of its fields. What its largest exponent means differs.
struct SmallFloat {
  enum class Specials : uint8_t {
    Ieee,    // infinities and NaNs
    OneNan,  // all ones alone is a NaN (OCP's E4M3)
    OneZero, // the negative zero is the only NaN (AMD's "FNUZ")
    None     // all are finite
  };
  int exponentBits, mantissaBits, bias;
  Specials specials = Specials::Ieee;

  double decode(uint32_t bits) const;
  /// To nearest, ties to even. What is too large becomes an infinity, or a NaN where there is none;
  /// with `saturates` the largest number.
  uint32_t encode(double value, bool saturates = false) const;
  int bits() const { return 1 + exponentBits + mantissaBits; }
};

inline constexpr SmallFloat halfFormat = {5, 10, 15}, bfloatFormat = {8, 7, 127};
inline constexpr SmallFloat ocpE4M3 = {4, 3, 7, SmallFloat::Specials::OneNan}, ocpE5M2 = {5, 2, 15};
inline constexpr SmallFloat fnuzE4M3 = {4, 3, 8, SmallFloat::Specials::OneZero},
                            fnuzE5M2 = {5, 2, 16, SmallFloat::Specials::OneZero};
inline constexpr SmallFloat e2M3 = {2, 3, 1, SmallFloat::Specials::None},
                            e3M2 = {3, 2, 3, SmallFloat::Specials::None},
                            e2M1 = {2, 1, 1, SmallFloat::Specials::None};

/// Of a half, from a table.
float halfValue(uint32_t bits);
uint32_t halfBits(double value);

} // namespace kiln::amdgcn

#endif // KILN_TESTS_AMDGCN_SMALLFLOATS_H
