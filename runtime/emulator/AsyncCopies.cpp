#include "runtime/emulator/AsyncCopies.h"

#include "runtime/emulator/Block.h"
#include "runtime/emulator/Memory.h"
#include <algorithm>
#include <cstring>

using namespace kiln::emulator;

namespace {

/// Until a copy lands nobody may touch its destination.
void beginCopy(Thread &self, const AsyncCopy &copy) {
  Block &block = *self.block;
  if (block.launched().check)
    block.shadow().beginCopy(block.sharedOffset(copy.to), copy.bytes,
                             block.moment(self, copy.site, AccessKind::Write));
}
void endCopy(Thread &self, const AsyncCopy &copy) {
  Block &block = *self.block;
  if (block.launched().check)
    block.shadow().endCopy(block.sharedOffset(copy.to), copy.bytes);
}

void land(kiln_emu_thread *thread, const std::vector<AsyncCopy> &copies) {
  for (const AsyncCopy &copy : copies) {
    unsigned char bytes[16] = {};
    endCopy(threadOf(thread), copy);
    if (copy.copied)
      load(threadOf(thread), copy.site, KILN_EMU_GLOBAL, copy.from, bytes, copy.copied, 1);
    store(threadOf(thread), copy.site, KILN_EMU_SHARED, copy.to, bytes, copy.bytes, copy.bytes);
    Block &block = *threadOf(thread).block;
    if (block.launched().check)
      block.proxies().copied(block.sharedOffset(copy.to), copy.bytes);
  }
}

/// Whether a barrier was initialised at `address`; else the block has ended.
MemoryBarrier &barrierAt(Thread &self, const kiln_emu_site *site, const void *address) {
  Block &block = *self.block;
  if (!block.isShared(address, 8) || reinterpret_cast<uintptr_t>(address) % 8)
    block.fail(self, site, Finding::OutOfBounds,
               "an mbarrier is 8 aligned bytes of shared memory; this address is not");
  auto found = block.memoryBarriers().find(block.sharedOffset(address));
  if (found == block.memoryBarriers().end())
    block.fail(self, site, Finding::Uninitialised, "the mbarrier was not initialised");
  return found->second;
}

void completeIfDone(Block &block, MemoryBarrier &barrier) {
  if (barrier.pending > 0 || barrier.transactions != 0)
    return;
  ++barrier.phase;
  barrier.completed = barrier.arrived;
  barrier.pending = int32_t(barrier.count);
  block.wakeAll(barrier.waiting);
}

void arrive(Thread &self, const kiln_emu_site *site, MemoryBarrier &barrier, uint32_t count) {
  if (self.block->launched().check)
    self.block->warpClocks().release(self.inWarp->number, barrier.arrived);
  barrier.pending -= int32_t(count);
  if (barrier.pending < 0)
    self.block->fail(self, site, Finding::Divergence,
                     "more arrivals in a phase of the mbarrier than the " +
                         std::to_string(barrier.count) + " that it was initialised for");
  completeIfDone(*self.block, barrier);
}

/// Copies that the barrier tracks land when somebody looks at it.
void landArrivals(const kiln_emu_site *site, MemoryBarrier &barrier) {
  std::vector<MemoryBarrier::Arrival> arrivals = std::move(barrier.arrivals);
  barrier.arrivals.clear();
  for (const MemoryBarrier::Arrival &arrival : arrivals) {
    land(arrival.thread, arrival.copies);
    arrive(*arrival.thread, site, barrier, 1);
  }
}

/// What the arrivals of complete phases did comes before what the thread's warp does from now on.
void acquire(Thread &self, const MemoryBarrier &barrier) {
  if (!self.block->launched().check)
    return;
  self.block->warpClocks().acquire(self.inWarp->number, barrier.completed);
  ++self.inWarp->epoch;
}

bool isCompleted(const MemoryBarrier &barrier, uint32_t parity) {
  return (barrier.phase & 1) != (parity & 1);
}

} // namespace

void kiln_emu_cp_async(kiln_emu_thread *thread, const kiln_emu_site *site, void *to,
                       const void *from, uint32_t bytes, uint32_t copied) {
  Thread &self = threadOf(thread);
  if (copied > bytes || (bytes != 4 && bytes != 8 && bytes != 16))
    self.block->fail(self, site, Finding::Operand,
                     "copies " + std::to_string(copied) + " of " + std::to_string(bytes) +
                         " bytes");
  if (reinterpret_cast<uintptr_t>(from) % bytes)
    self.block->fail(self, site, Finding::Misaligned,
                     "the source of " + std::to_string(bytes) + " bytes is not a multiple of them");
  unsigned char poison[16];
  std::memset(poison, 0xff, sizeof poison);
  self.block->count(self, site, {KILN_EMU_GLOBAL, from, copied, copied != 0, true, false});
  self.block->count(self, site, {KILN_EMU_SHARED, to, bytes, true, false, true});
  store(self, site, KILN_EMU_SHARED, to, poison, bytes, bytes);
  self.copies.open.push_back({to, from, bytes, copied, site});
  beginCopy(self, self.copies.open.back());
}

void kiln_emu_cp_async_commit(kiln_emu_thread *thread) {
  AsyncCopies &copies = threadOf(thread).copies;
  copies.groups.push_back(std::move(copies.open));
  copies.open.clear();
}

void kiln_emu_cp_async_wait(kiln_emu_thread *thread, uint32_t pending) {
  AsyncCopies &copies = threadOf(thread).copies;
  if (copies.groups.size() <= pending)
    return;
  auto end = copies.groups.end() - pending;
  for (auto group = copies.groups.begin(); group != end; ++group)
    land(thread, *group);
  copies.groups.erase(copies.groups.begin(), end);
}

void kiln_emu_cp_async_arrive(kiln_emu_thread *thread, const kiln_emu_site *site, void *address,
                              uint32_t is_counted) {
  Thread &self = threadOf(thread);
  MemoryBarrier &barrier = barrierAt(self, site, address);
  MemoryBarrier::Arrival arrival{&self, {}, false};
  for (std::vector<AsyncCopy> &group : self.copies.groups)
    arrival.copies.insert(arrival.copies.end(), group.begin(), group.end());
  arrival.copies.insert(arrival.copies.end(), self.copies.open.begin(), self.copies.open.end());
  self.copies = AsyncCopies();
  // Without .noinc the pending count grows by the arrival that will come.
  if (!is_counted)
    ++barrier.pending;
  barrier.arrivals.push_back(std::move(arrival));
}

void kiln_emu_mbarrier_init(kiln_emu_thread *thread, const kiln_emu_site *site, void *address,
                            uint32_t count) {
  Thread &self = threadOf(thread);
  Block &block = *self.block;
  if (!block.isShared(address, 8) || reinterpret_cast<uintptr_t>(address) % 8)
    block.fail(self, site, Finding::OutOfBounds,
               "an mbarrier is 8 aligned bytes of shared memory; this address is not");
  if (count == 0 || count >= 1u << 20)
    block.fail(self, site, Finding::Operand, "an mbarrier counts 1 to 2^20 - 1 arrivals");
  MemoryBarrier barrier;
  barrier.count = count;
  barrier.pending = int32_t(count);
  block.memoryBarriers()[block.sharedOffset(address)] = barrier;
}

void kiln_emu_mbarrier_inval(kiln_emu_thread *thread, const kiln_emu_site *site, void *address) {
  Thread &self = threadOf(thread);
  barrierAt(self, site, address);
  self.block->memoryBarriers().erase(self.block->sharedOffset(address));
}

uint64_t kiln_emu_mbarrier_arrive(kiln_emu_thread *thread, const kiln_emu_site *site, void *address,
                                  uint32_t count, uint32_t expected) {
  Thread &self = threadOf(thread);
  MemoryBarrier &barrier = barrierAt(self, site, address);
  uint64_t state = barrier.phase;
  barrier.transactions += expected;
  arrive(self, site, barrier, count);
  return state;
}

void kiln_emu_mbarrier_transactions(kiln_emu_thread *thread, const kiln_emu_site *site,
                                    void *address, int32_t bytes) {
  Thread &self = threadOf(thread);
  MemoryBarrier &barrier = barrierAt(self, site, address);
  barrier.transactions += bytes;
  if (bytes < 0)
    completeIfDone(*self.block, barrier);
}

uint32_t kiln_emu_mbarrier_test(kiln_emu_thread *thread, const kiln_emu_site *site, void *address,
                                uint64_t state, uint32_t is_parity) {
  Thread &self = threadOf(thread);
  landArrivals(site, barrierAt(self, site, address));
  self.block->yield(self);
  MemoryBarrier &barrier = barrierAt(self, site, address);
  if (is_parity) {
    bool isComplete = isCompleted(barrier, uint32_t(state));
    if (isComplete)
      acquire(self, barrier);
    return isComplete;
  }
  if (state != barrier.phase && state + 1 != barrier.phase)
    self.block->fail(self, site, Finding::Divergence,
                     "mismatched phase: the state is of phase " + std::to_string(state) +
                         ", the mbarrier is in phase " + std::to_string(barrier.phase));
  if (state != barrier.phase)
    acquire(self, barrier);
  return state != barrier.phase;
}

void kiln_emu_mbarrier_wait(kiln_emu_thread *thread, const kiln_emu_site *site, void *address,
                            uint32_t parity) {
  Thread &self = threadOf(thread);
  for (;;) {
    MemoryBarrier &barrier = barrierAt(self, site, address);
    landArrivals(site, barrier);
    if (isCompleted(barrier, parity))
      return acquire(self, barrier);
    barrier.waiting.push_back(&self);
    self.block->wait(self, site);
  }
}
