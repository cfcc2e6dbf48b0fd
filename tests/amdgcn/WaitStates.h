// Instructions that GFX9 leaves programs to keep apart.
//
// After "Manually Inserted Wait States" of the ISA guides of CDNA 2 to 4; where the generations or
// the types of numbers differ, the fewest of them.
#ifndef KILN_TESTS_AMDGCN_WAITSTATES_H
#define KILN_TESTS_AMDGCN_WAITSTATES_H

#include "tests/amdgcn/Instruction.h"

namespace kiln::amdgcn {

class WaitStates {
public:
  /// Of a wave's instructions, in their order. Faults where this one comes too early behind what it
  /// shares registers with.
  void issue(const Instruction &instruction);

private:
  void check(const Instruction &instruction) const;
  void note(const Instruction &instruction);

  /// Wait states so far, and the one from which on registers may be touched by what is no matrix
  /// instruction (and what writes them), read in other lanes, be part of an access's address, and
  /// say where a copy goes.
  uint64_t now = 0;
  std::array<uint64_t, NumVectors> product = {}, lanes = {};
  std::array<const Instruction *, NumVectors> producer = {};
  std::array<uint64_t, NumScalars> address = {};
  uint64_t copy = 0;
};

} // namespace kiln::amdgcn

#endif // KILN_TESTS_AMDGCN_WAITSTATES_H
