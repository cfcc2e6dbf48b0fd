//===- RandomLayouts.h - layouts for property tests -------------*- C++ -*-===//
//
// Deterministic: std::mt19937_64 is specified bit by bit, distributions are not,
// so only raw draws are used.
//
//===----------------------------------------------------------------------===//

#ifndef KILN_TESTS_COMPILER_LAYOUT_RANDOMLAYOUTS_H
#define KILN_TESTS_COMPILER_LAYOUT_RANDOMLAYOUTS_H

#include "compiler/Layout/LinearLayout.h"

#include <random>

namespace kiln {

struct RandomLayouts {
  explicit RandomLayouts(uint64_t seed) : engine(seed) {}
  std::mt19937_64 engine;

  unsigned below(unsigned limit) { return engine() % limit; }

  /// A random invertible matrix of `bits` columns (sum of elementary moves).
  BinaryColumns invertible(unsigned bits) {
    BinaryColumns columns = unitVectors(bits);
    if (bits < 2)
      return columns;
    for (unsigned step = 0; step < 4 * bits; ++step) {
      unsigned a = below(bits), b = below(bits);
      if (a == b)
        continue;
      if (engine() & 1)
        columns[a] ^= columns[b];
      else
        std::swap(columns[a], columns[b]);
    }
    return columns;
  }

  LayoutSpace shape(unsigned bits) {
    unsigned first = below(bits + 1);
    return LayoutSpace({{Dim::axis(0), first}, {Dim::axis(1), bits - first}});
  }

  /// A bijection register x lane x warp -> 2-D coordinates.
  LinearLayout distributed(unsigned regs, unsigned lanes, unsigned warps, LayoutSpace out) {
    return LinearLayout(
        LayoutSpace(
            {{Dim::Register, regs}, {Dim::Lane, lanes}, {Dim::Warp, warps}, {Dim::Block, 0}}),
        out, invertible(regs + lanes + warps));
  }
};

} // namespace kiln

#endif // KILN_TESTS_COMPILER_LAYOUT_RANDOMLAYOUTS_H
