// Which registers of a thread hold the same element, neighbouring elements, or the elements that
// another layout wants: pure layout arithmetic.

#ifndef KILN_COMPILER_LAYOUT_REGISTERRENAMING_H
#define KILN_COMPILER_LAYOUT_REGISTERRENAMING_H

#include "compiler/Layout/LinearLayout.h"

namespace kiln {

/// For every register the first register that holds the same elements (itself if there is none).
llvm::SmallVector<unsigned> firstDuplicates(const LinearLayout &layout);

/// Register bits that step by 1, 2, 4 … along the output bits from `position` on, at most `limit`
/// places in all, such that nothing else changes those output bits: the registers of one vector.
llvm::SmallVector<unsigned> neighbourBits(const LinearLayout &layout, unsigned position,
                                          int64_t limit);

/// The registers of each vector that `bits` make up, in order; duplicates are left out.
using RegisterGroups = llvm::SmallVector<llvm::SmallVector<unsigned>>;
RegisterGroups groupRegisters(const LinearLayout &layout, llvm::ArrayRef<unsigned> bits);

/// For every register of `wanted` (a layout over the coordinates of `source`) the register of
/// `source` that holds the same element in the same thread; none when threads would have to
/// exchange elements.
std::optional<llvm::SmallVector<unsigned>> renameRegisters(const LinearLayout &source,
                                                           const LinearLayout &wanted);

} // namespace kiln

#endif
