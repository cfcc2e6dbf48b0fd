//===- SlicedExchange.h - moving tiles in slices ----------------*- C++ -*-===//
//
// PROBLEM. An exchange through shared memory (SharedExchange.h) wants room for the
// whole tile at once; a large tile does not fit.
//
// APPROACH. Cut the tile into 2^s slices that go through the same room one after the
// other. Which slice an element is in must be known when the code is written, so
// it has to be a matter of registers alone, before and after: take linear functions f of
// the coordinates (their number in a slice's name is its bit) that are zero on
// every basis of lanes, warps and blocks of both layouts. There are as many as
// the tile has dimensions beyond what those bases span. With such functions in
// echelon form, dropping their pivot bits is one to one on every slice: the slice
// with f = 0 is a smaller tile with smaller layouts, whose exchange is planned as
// any other; another slice is the same but for a constant xor on the offsets.
//
// Functions that are zero on the first registers too, as far as there is a choice, leave
// the vectors of the accesses whole.
//
//===----------------------------------------------------------------------===//

#ifndef KILN_COMPILER_LAYOUT_SLICEDEXCHANGE_H
#define KILN_COMPILER_LAYOUT_SLICEDEXCHANGE_H

#include "compiler/Layout/SharedExchange.h"

namespace kiln {

struct SlicedExchange {
  SharedLayout shared;
  /// What one slice's stores and loads do; their registers are those of the whole tile. Between a
  /// store and its load, and between a load and the next store, all threads wait.
  struct Round {
    SharedAccess store, load;
  };
  llvm::SmallVector<Round, 0> rounds;
  int64_t bytes = 0; ///< of scratch

  /// No warp's place in any round is another's in any round.
  bool keepsWarpsApart() const;
};

/// The most slices that an exchange can be cut into, a power of two.
unsigned maxSlices(const LinearLayout &source, const LinearLayout &result);

/// The whole tile at once.
SlicedExchange inOneRound(const SharedExchange &exchange);

/// The exchange in `slices` rounds, a power of two and at most maxSlices. It takes that part of the
/// scratch that it takes in one.
SlicedExchange planSlicedExchange(const LinearLayout &source, const LinearLayout &result,
                                  unsigned elementBits, const SharedMemoryShape &memory,
                                  unsigned slices);

} // namespace kiln

#endif // KILN_COMPILER_LAYOUT_SLICEDEXCHANGE_H
