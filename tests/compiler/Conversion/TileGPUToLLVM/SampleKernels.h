// Kernels in Tile IR that several tests use.

#ifndef KILN_TESTS_COMPILER_CONVERSION_TILEGPUTOLLVM_SAMPLEKERNELS_H
#define KILN_TESTS_COMPILER_CONVERSION_TILEGPUTOLLVM_SAMPLEKERNELS_H

#include <string>

namespace kiln::testing {

/// add(x, y, out, n), f32, 1024 elements a program; with `aligned`, n is a multiple of 16.
std::string vectorAddText(bool aligned = false);

/// A matrix product: tile extents, and the types of operands and accumulator.
struct Product {
  const char *name;
  int m, n, k, warps;
  std::string operand, accumulator, precision;
  bool transposedB = false;
};

/// matmul(a, b, c, M, N, K): row-major operands (b: N x K if transposed), masks, a loop over k.
/// With `aligned`, the extents are multiples of 16.
std::string productText(const Product &product, bool aligned = false);

} // namespace kiln::testing

#endif
