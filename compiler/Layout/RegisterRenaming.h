// Which registers of a thread hold the same element, neighbouring elements, or the elements that
// another layout wants: pure layout arithmetic.

#ifndef KILN_COMPILER_LAYOUT_REGISTERRENAMING_H
#define KILN_COMPILER_LAYOUT_REGISTERRENAMING_H

#include "compiler/Layout/LinearLayout.h"

namespace kiln {

/// For every register the first register that holds the same elements (itself if there is none).
/// Elements that differ in the output bits `ignored` only are held to be the same.
llvm::SmallVector<unsigned> firstDuplicates(const LinearLayout &layout, BinaryVector ignored = 0);

/// A register's element: `places` behind that of register `first` along an axis, in every thread.
struct RegisterStep {
  unsigned first;
  int64_t places;
};

/// For every register the first one from which it is a known number of places away within aligned
/// groups of `group` (a power of two) along the axis whose output bits begin at `position`.
llvm::SmallVector<RegisterStep> registerSteps(const LinearLayout &layout, unsigned position,
                                              int64_t group);

/// Register bits that step by 1, 2, 4 … along the output bits from `position` on, at most `limit`
/// places in all, such that nothing else changes those output bits: the registers of one vector.
llvm::SmallVector<unsigned> neighbourBits(const LinearLayout &layout, unsigned position,
                                          int64_t limit);

/// The registers of each vector that `bits` make up, in order; duplicates are left out, and so is
/// what differs from them in `ignored` output bits alone, but for those that vectors step along.
using RegisterGroups = llvm::SmallVector<llvm::SmallVector<unsigned>>;
RegisterGroups groupRegisters(const LinearLayout &layout, llvm::ArrayRef<unsigned> bits,
                              BinaryVector ignored = 0);

/// For every register of `wanted` (a layout over the coordinates of `source`) the register of
/// `source` that holds the same element in the same thread; none when threads would have to
/// exchange elements.
std::optional<llvm::SmallVector<unsigned>> renameRegisters(const LinearLayout &source,
                                                           const LinearLayout &wanted);

} // namespace kiln

#endif
