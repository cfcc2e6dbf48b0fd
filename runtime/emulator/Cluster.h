// Blocks of GPU threads that run together and reach into each other's shared memory.
//
// PTX ISA, "Cooperative Thread Arrays", "Cluster of Cooperative Thread Arrays". All run on one host
// thread: where none of a block's threads can run, another block's go on. A block that is not in a
// cluster is the only one of its own.

#ifndef KILN_RUNTIME_EMULATOR_CLUSTER_H
#define KILN_RUNTIME_EMULATOR_CLUSTER_H

#include "runtime/emulator/Block.h"
#include <memory>
#include <vector>

namespace kiln::emulator {

class Cluster {
public:
  /// As many as a moment can tell apart (AccessHistory.h).
  static constexpr uint32_t mostBlocks = 8;

  Cluster() = default;
  Cluster(const Cluster &) = delete;

  /// Runs all threads of all blocks to their end, or to the first fatal finding.
  void run(const kiln_emu_kernel &kernel, void *const *params, const uint32_t program[3],
           const uint32_t programs[3], kiln_emulated_launch &launch);

  uint32_t numBlocks() const { return used; }
  Block &block(uint32_t rank) { return *blocks[rank]; }
  WarpClocks &warpClocks() { return clocks; }
  /// The host thread's own.
  Context &outside() { return host; }

  /// A thread of another block that can run; null: there is none.
  Thread *nextElsewhere(const Block &block);
  /// The block that has these bytes in its shared memory; null: none.
  Block *ownerOf(const void *address, uint32_t bytes);
  /// The same place in another block's shared memory; else the block has ended.
  void *placeIn(Thread &self, const kiln_emu_site *site, const void *address, uint32_t rank);

  /// barrier.cluster: of all threads that have not returned.
  void arrive(Thread &self, const kiln_emu_site *site);
  void wait(Thread &self, const kiln_emu_site *site);
  /// A thread has returned.
  void noteReturn();

private:
  void completeIfDone();

  WarpClocks clocks;
  Context host;
  std::vector<std::unique_ptr<Block>> blocks;
  uint32_t used = 0; ///< of them
  struct Barrier {
    uint32_t expected = 0, arrived = 0;
    uint64_t phase = 0;
    WarpClocks::Clock arriving, completed;
    std::vector<Thread *> waiting;
  } barrier;
};

} // namespace kiln::emulator

#endif
