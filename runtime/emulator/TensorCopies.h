// Copies of boxes of tensors between global and shared memory, by the copy engine (TMA).
//
// PTX ISA, "Data Movement: cp.async.bulk.tensor, cp.reduce.async.bulk.tensor,
// cp.async.bulk.commit_group, cp.async.bulk.wait_group". They happen as late as the program's own
// waits allow:
//  - what is loaded lands when an mbarrier's phase lacks nothing else (MemoryBarriers.h); until
//  then
//    the destination holds poison;
//  - what is stored is read from shared memory when its thread waits for that (.read), and written
//    when it waits for all, or at the end of the block.
// Whether a copy may be made is checked when it begins, with what its thread then knows of others.
// What it does is stamped with the time of a source of its own (WarpClocks.h): of its mbarrier, or
// of the groups of its thread. So others are ordered with it if they have waited for it.

#ifndef KILN_RUNTIME_EMULATOR_TENSORCOPIES_H
#define KILN_RUNTIME_EMULATOR_TENSORCOPIES_H

#include "runtime/emulator/AccessHistory.h"
#include "runtime/emulator/TensorBox.h"
#include <string>
#include <vector>

namespace kiln::emulator {

class Block;
struct Thread;

struct TensorCopy {
  TensorBox box;
  const kiln_emu_tensor_map *map; ///< that it goes by
  uint32_t shared;                ///< where its box begins
  uint32_t operation = KILN_EMU_BOX_LOAD;
  Thread *thread;
  const kiln_emu_site *site;
  Moment landed = {};                   ///< what its accesses count as; while they are checked
  std::vector<unsigned char> read = {}; ///< of a store: the box, once it has been read
};

/// A thread's stores in flight.
struct TensorStores {
  static constexpr uint32_t noSource = ~0u;
  struct Group {
    std::vector<TensorCopy> copies;
    WarpClocks::Clock mark; ///< what those know who have waited for it
  };
  std::vector<TensorCopy> open; ///< not in a group yet
  std::vector<Group> groups;    ///< oldest first
  uint32_t source = noSource;   ///< of the clocks
};

class TensorCopies {
public:
  explicit TensorCopies(Block &block) : block(block) {}
  void reset() { reads.clear(), numLoads = 0, numStores = 0; }

  /// Begins a copy of the box at these coordinates to or from `shared`; else the block has ended.
  /// `self` may be another block's of the cluster, whose copy this block gets as well.
  TensorCopy begin(Thread &self, const kiln_emu_site *site, uint32_t operation,
                   const kiln_emu_tensor_map *map, const int32_t *coordinates, uint32_t rank,
                   const void *shared);

  /// `copy` will land with an mbarrier's phase, whose source of the clocks this is.
  void load(TensorCopy &copy, uint32_t source);
  void land(const TensorCopy &copy);

  void store(TensorCopy &&copy);
  void commit(Thread &self);
  /// Until at most `pending` of the thread's groups are in flight, or still to be read.
  void wait(Thread &self, uint32_t pending, bool isRead);
  /// At the block's end: what nobody waited for happens, and is reported.
  void finish(Thread &thread);

  /// ", also the source of …": a store in flight that reads one of these bytes of shared memory;
  /// "": none. Known while accesses are checked.
  std::string describeReader(uint32_t offset, uint32_t bytes) const;
  bool isAnyInFlight() const { return numLoads + numStores; }

private:
  struct Read {
    uint32_t first, end;
    const Thread *thread;
    const kiln_emu_site *site;
  };

  void checkShared(const TensorCopy &copy, AccessKind kind);
  void checkSource(const TensorCopy &copy);
  void checkMap(const TensorCopy &copy);
  void checkGlobal(const TensorCopy &copy, AccessKind kind);
  bool mayAccess(const void *address, uint32_t bytes) const;
  void read(TensorCopy &copy);
  void write(const TensorCopy &copy);
  void readFrom(char *memory, unsigned char *to, uint32_t bytes) const;

  Block &block;
  std::vector<Read> reads; ///< of shared memory, by stores in flight
  uint32_t numLoads = 0, numStores = 0;
};

} // namespace kiln::emulator

#endif
