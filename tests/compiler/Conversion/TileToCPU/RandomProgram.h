// Random integer kernels as Tile IR: fusion, widths, changes of shape, gathers, reductions, scans,
// dots, atomics, control flow (loops that end early, too), and the order of loads and stores.

#ifndef KILN_TESTS_COMPILER_CONVERSION_TILETOCPU_RANDOMPROGRAM_H
#define KILN_TESTS_COMPILER_CONVERSION_TILETOCPU_RANDOMPROGRAM_H

#include <string>

namespace kiln::test {

struct RandomProgramOptions {
  unsigned seed = 1;
  /// The element type in memory: i8, i16, i32 or i64.
  std::string memory = "i32";
  /// Extents of tensors need not be powers of two.
  bool anyExtents = false;
  /// Loads are from %m0 and stores go to places of their own in %m1, so that nothing depends on the
  /// order of different threads' accesses.
  bool separate = false;
  unsigned numWarps = 4;
};

/// A kernel `@random(%m0, %m1, %m2 : pointers, %s0, %one, %many : i32)`; a function of the options.
/// It accesses up to 1024 elements before its pointers and 7168 behind; separate programs write up
/// to `separateOutput` elements from %m1 on.
std::string randomProgram(const RandomProgramOptions &options);
inline constexpr int separateOutput = 1 << 16;

} // namespace kiln::test

#endif
