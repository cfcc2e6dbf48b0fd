// How many registers the warp groups of a block have given up or taken (setmaxnreg).
//
// PTX ISA, "setmaxnreg": all warps of a group execute the same instruction. What a block is
// launched with is the back end's choice and not known here, but all groups together cannot have
// more than a processor has.

#ifndef KILN_RUNTIME_EMULATOR_REGISTERSHARES_H
#define KILN_RUNTIME_EMULATOR_REGISTERSHARES_H

#include "runtime/emulator/kiln_emu.h"
#include <vector>

namespace kiln::emulator {

class Block;
struct Thread;

class RegisterShares {
public:
  explicit RegisterShares(Block &block) : block(block) {}
  void reset(uint32_t numWarps);

  /// Every lane of the warp has come. `self` is the one to blame.
  void set(Thread &self, const kiln_emu_site *site, uint32_t registers);
  /// At the block's end: groups of which not all warps have come.
  void reportUnfinished();

private:
  static constexpr uint32_t warpsOfGroup = 4, threadsOfGroup = 128, ofProcessor = 1 << 16;
  struct Change {
    const kiln_emu_site *site;
    uint32_t registers, warps;
  };
  struct Group {
    std::vector<Change> changes;
    uint32_t registers = 0; ///< of a thread; 0: not known
  };

  Block &block;
  std::vector<uint32_t> numChanges; ///< by warp
  std::vector<Group> groups;
};

} // namespace kiln::emulator

#endif
