// Arrays that --arg describes: normal(128, 64), full((128, 64), 0.5), arange(n).
//
// Generators give the same numbers on every machine: they use a generator of integers of our own
// (SplitMix64, started by --seed and the argument's name) and no function of libm.

#ifndef KILN_COMPILER_DRIVER_RUN_GENERATORS_H
#define KILN_COMPILER_DRIVER_RUN_GENERATORS_H

#include "compiler/Driver/Run/ValueMistakes.h"
#include <cstdint>
#include <string>
#include <vector>

namespace kiln {

/// "normal(128, 64, std=2)" in parts.
struct GeneratorCall {
  llvm::StringRef name;
  std::vector<int64_t> shape;
  /// full's value, arange's start and step, or the keywords of uniform and normal.
  std::optional<double> first, second;
};

/// The shape's extents, in parentheses of their own or not, then numbers and keywords.
std::optional<GeneratorCall> parseGenerator(llvm::StringRef text, ValueMistakes &mistakes);

/// Steele, Lea and Flood, "Fast splittable pseudorandom number generators" (2014).
class SplitMix64 {
public:
  explicit SplitMix64(uint64_t state) : state(state) {}
  uint64_t next() {
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  /// In [0, 1), a multiple of 2^-53.
  double uniform() { return double(next() >> 11) * 0x1p-53; }
  /// Near a standard normal deviate: twelve uniform ones, less six. Exact sums, so that the bytes
  /// depend on no machine's logarithm; nothing lies beyond 6 standard deviations.
  double normal() {
    double sum = -6;
    for (int i = 0; i < 12; ++i)
      sum += uniform();
    return sum;
  }

private:
  uint64_t state;
};

/// The numbers of a call's elements, one after the other.
class NumberGenerator {
public:
  /// `name`: the argument's. `isFloat`: of the elements' type.
  NumberGenerator(const GeneratorCall &call, bool isFloat, llvm::StringRef name, uint64_t seed);
  double next();

private:
  const GeneratorCall &call;
  bool isFloat;
  SplitMix64 random;
  uint64_t index = 0;
};

} // namespace kiln

#endif
