//===- LaneSwaps.h - registers and lanes that change places -----*- C++ -*-===//
//
// An instruction of some targets takes two registers and has what the lanes whose
// bit is set hold of the first change places with what the others hold of the
// second (CDNA4 ISA, "V_PERMLANE16_SWAP_B32", "V_PERMLANE32_SWAP_B32"). If the two
// registers differ in one bit of their number, that is the exchange of two columns
// of the layout, the register's and the lane's: no lane chooses, and both words
// have arrived. A conversion of which that is all, but for names of registers, is
// half an instruction a word for each step.
//
//===----------------------------------------------------------------------===//

#ifndef KILN_COMPILER_LAYOUT_LANESWAPS_H
#define KILN_COMPILER_LAYOUT_LANESWAPS_H

#include "compiler/Layout/LinearLayout.h"

namespace kiln {

struct SwapPlan {
  /// Bits of a register's and of a lane's number.
  struct Step {
    unsigned registerBit, laneBit;
  };
  /// One after the other.
  llvm::SmallVector<Step, 2> steps;
  /// Of each result register, the one that holds it behind the steps.
  llvm::SmallVector<unsigned> registers;
  /// Registers of the source that move together, as parts of a word: bits of their number.
  unsigned together = 0;

  /// What it costs a warp, in instructions: one that moves words between lanes counts two.
  int64_t cost(unsigned elementBits) const;
};

/// The same layout behind a step.
LinearLayout withSwapped(const LinearLayout &layout, SwapPlan::Step step);

/// The fewest steps from `source` to `result`, if up to two suffice; lanes whose numbers differ by
/// one of the bits of `swappedLanes` can change places with registers.
std::optional<SwapPlan> planSwaps(const LinearLayout &source, const LinearLayout &result,
                                  unsigned elementBits, uint64_t swappedLanes);

} // namespace kiln

#endif // KILN_COMPILER_LAYOUT_LANESWAPS_H
