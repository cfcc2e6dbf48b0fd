#include "runtime/emulator/MemoryBarriers.h"

#include "runtime/emulator/Cluster.h"
#include "runtime/emulator/Memory.h"
#include <cstdlib>

using namespace kiln::emulator;

namespace {

void checkPlace(Thread &self, const kiln_emu_site *site, const Block *owner, const void *address) {
  if (!owner || !owner->isShared(address, MemoryBarrier::bytes) ||
      reinterpret_cast<uintptr_t>(address) % MemoryBarrier::bytes)
    self.block->fail(self, site, Finding::OutOfBounds,
                     "an mbarrier is 8 aligned bytes of shared memory; this address is not");
}

/// That nothing is in flight for the mbarrier, which ends.
void checkIdle(Thread &self, const kiln_emu_site *site, const MemoryBarrier &barrier) {
  if (!barrier.loads.empty())
    self.block->fail(self, site, Finding::Copy,
                     "the mbarrier here still tracks the asynchronous copy of " +
                         describe(*barrier.loads.front().site));
}

/// Ends the mbarrier. Its place keeps the source of the clocks, of which there are few.
void forget(MemoryBarrier &barrier) {
  uint32_t source = barrier.source;
  barrier = MemoryBarrier();
  barrier.source = source;
}

[[noreturn]] void failForBytes(Block &block, const TensorCopy &copy, uint64_t missing) {
  block.fail(*copy.thread, copy.site, Finding::Copy,
             "expected expect_tx of all bytes that copies complete in a phase of the mbarrier, "
             "got " +
                 std::to_string(missing) + " too few");
}

void completeIfDone(Block &block, MemoryBarrier &barrier) {
  if (barrier.pending > 0 || barrier.transactions != 0)
    return;
  uint64_t missing = 0;
  for (const TensorCopy &copy : barrier.loads)
    missing += copy.box.bytes();
  if (missing)
    failForBytes(block, barrier.loads.front(), missing);
  ++barrier.phase;
  if (barrier.source != MemoryBarrier::noSource)
    block.warpClocks().release(barrier.source, barrier.arrived);
  barrier.completed = barrier.arrived;
  barrier.pending = int32_t(barrier.count);
  block.wakeAll(barrier.waiting);
}

/// Those who wait, if the phase lacks nothing but copies: they have them land.
void wakeForCopies(Block &block, MemoryBarrier &barrier) {
  if (barrier.pending == 0)
    block.wakeAll(barrier.waiting);
}

void addTransactions(Thread &self, const kiln_emu_site *site, MemoryBarrier &barrier,
                     int64_t bytes) {
  barrier.transactions += bytes;
  if (std::abs(barrier.transactions) > MemoryBarrier::maxCount)
    self.block->fail(self, site, Finding::Operand,
                     "an mbarrier tracks up to 2^20 - 1 bytes in a phase, got " +
                         std::to_string(std::abs(barrier.transactions)));
}

void arrive(Thread &self, const kiln_emu_site *site, MemoryBarrier &barrier, uint32_t count) {
  if (self.block->launched().check)
    self.block->warpClocks().release(self.inWarp->source, barrier.arrived);
  barrier.pending -= int32_t(count);
  if (barrier.pending < 0)
    self.block->fail(self, site, Finding::Divergence,
                     "more arrivals in a phase of the mbarrier than the " +
                         std::to_string(barrier.count) + " that it was initialised for");
  completeIfDone(*self.block, barrier);
  wakeForCopies(*self.block, barrier);
}

/// What the phase in progress lacks and is in flight lands: nothing, where it lacks more.
void landCopies(Block &block, const kiln_emu_site *site, MemoryBarrier &barrier) {
  const uint64_t phase = barrier.phase;
  std::vector<MemoryBarrier::Arrival> arrivals = std::move(barrier.arrivals);
  barrier.arrivals.clear();
  for (const MemoryBarrier::Arrival &arrival : arrivals) {
    land(*arrival.thread, arrival.copies);
    arrive(*arrival.thread, site, barrier, 1);
  }
  while (barrier.phase == phase && barrier.pending == 0 && !barrier.loads.empty()) {
    TensorCopy copy = std::move(barrier.loads.front());
    barrier.loads.erase(barrier.loads.begin());
    block.tensorCopies().land(copy);
    barrier.transactions -= copy.box.bytes();
    if (barrier.transactions < 0)
      failForBytes(block, copy, uint64_t(-barrier.transactions));
    completeIfDone(block, barrier);
  }
}

/// What the arrivals of complete phases did comes before what the thread's warp does from now on.
void acquire(Thread &self, const MemoryBarrier &barrier) {
  if (!self.block->launched().check)
    return;
  self.block->warpClocks().acquire(self.inWarp->source, barrier.completed);
  ++self.inWarp->epoch;
}

bool isParityComplete(const MemoryBarrier &barrier, uint32_t parity) {
  return (barrier.phase & 1) != (parity & 1);
}

/// The phase of a state: the one in progress, or the one before.
bool isStateComplete(Thread &self, const kiln_emu_site *site, const MemoryBarrier &barrier,
                     uint64_t state) {
  if (state != barrier.phase && state + 1 != barrier.phase)
    self.block->fail(self, site, Finding::Divergence,
                     "mismatched phase: the state is of phase " + std::to_string(state) +
                         ", the mbarrier is in phase " + std::to_string(barrier.phase));
  return state != barrier.phase;
}

} // namespace

MemoryBarrier &kiln::emulator::barrierAt(Thread &self, const kiln_emu_site *site,
                                         const void *address) {
  Block *owner = self.block->cluster().ownerOf(address, MemoryBarrier::bytes);
  checkPlace(self, site, owner, address);
  Block &block = *owner;
  if (block.hasEnded())
    self.block->fail(self, site, Finding::Race,
                     "the block of the cluster whose mbarrier this is has ended: expected a "
                     "barrier of the cluster before that");
  auto found = block.memoryBarriers().find(block.sharedOffset(address));
  if (found == block.memoryBarriers().end() || !found->second.count)
    self.block->fail(self, site, Finding::Uninitialised, "the mbarrier was not initialised");
  const Moment &initialised = found->second.initialised;
  if (block.launched().check &&
      areConcurrent(initialised, block.moment(self, site, AccessKind::Read), block.warpClocks()))
    block.report(self, site, Finding::Race,
                 "the mbarrier was initialised by " + describe(initialised) +
                     " with no barrier between");
  return found->second;
}

void kiln::emulator::track(Block &block, Thread &self, MemoryBarrier &barrier,
                           const TensorCopy &copy) {
  if (block.launched().check) {
    Moment now = block.moment(self, copy.site, AccessKind::Read);
    if (!block.warpClocks().isCurrent(barrier.fenced.clock) ||
        areConcurrent(barrier.fenced, now, block.warpClocks()))
      block.report(self, copy.site, Finding::Proxy,
                   "expected fence.mbarrier_init or fence.proxy.async by thread " +
                       std::to_string(barrier.initialised.thread % threadsOfBlock) +
                       " between its initialisation of the mbarrier at " +
                       describe(*barrier.initialised.site) +
                       " and the barrier before the copy that completes there");
    if (barrier.source == MemoryBarrier::noSource)
      barrier.source = block.addSource(self, copy.site);
  }
  barrier.loads.push_back(copy);
  block.tensorCopies().load(barrier.loads.back(), barrier.source);
  wakeForCopies(block, barrier);
}

void kiln::emulator::fenceInitialisations(Thread &self) {
  Block &block = *self.block;
  if (!block.launched().check)
    return;
  for (auto &[offset, barrier] : block.memoryBarriers()) {
    bool isFenced = block.warpClocks().isCurrent(barrier.fenced.clock);
    if (barrier.count && barrier.initialised.thread == Block::numberInCluster(self) && !isFenced)
      barrier.fenced = block.moment(self, barrier.initialised.site, AccessKind::Write);
  }
}

std::string kiln::emulator::describeWaitedFor(const MemoryBarriers &barriers) {
  std::string text;
  for (const auto &[offset, barrier] : barriers)
    if (!barrier.waiting.empty() || barrier.transactions)
      text += "; the mbarrier at offset " + std::to_string(offset) + " lacks " +
              std::to_string(barrier.pending) + " arrivals and " +
              std::to_string(barrier.transactions) + " bytes of copies";
  return text;
}

void kiln::emulator::reportUnfinished(Block &block) {
  for (const auto &[offset, barrier] : block.memoryBarriers())
    for (const TensorCopy &copy : barrier.loads)
      block.report(*copy.thread, copy.site, Finding::Copy,
                   "expected the copy to be waited for, by the mbarrier at offset " +
                       std::to_string(offset));
}

void kiln_emu_cp_async_arrive(kiln_emu_thread *thread, const kiln_emu_site *site, void *address,
                              uint32_t is_counted) {
  Thread &self = threadOf(thread);
  MemoryBarrier &barrier = barrierAt(self, site, address);
  MemoryBarrier::Arrival arrival{&self, {}};
  for (std::vector<AsyncCopy> &group : self.copies.groups)
    arrival.copies.insert(arrival.copies.end(), group.begin(), group.end());
  arrival.copies.insert(arrival.copies.end(), self.copies.open.begin(), self.copies.open.end());
  self.copies = AsyncCopies();
  // Without .noinc the pending count grows by the arrival that will come.
  if (!is_counted)
    ++barrier.pending;
  barrier.arrivals.push_back(std::move(arrival));
  // Those who wait have it land.
  self.block->wakeAll(barrier.waiting);
}

void kiln_emu_mbarrier_init(kiln_emu_thread *thread, const kiln_emu_site *site, void *address,
                            uint32_t count) {
  Thread &self = threadOf(thread);
  Block &block = *self.block;
  checkPlace(self, site, &block, address);
  if (count == 0 || count > MemoryBarrier::maxCount)
    block.fail(self, site, Finding::Operand, "an mbarrier counts 1 to 2^20 - 1 arrivals");
  MemoryBarrier &barrier = block.memoryBarriers()[block.sharedOffset(address)];
  checkIdle(self, site, barrier);
  forget(barrier);
  barrier.count = count;
  barrier.pending = int32_t(count);
  if (block.launched().check)
    barrier.initialised = block.moment(self, site, AccessKind::Write);
}

void kiln_emu_mbarrier_inval(kiln_emu_thread *thread, const kiln_emu_site *site, void *address) {
  Thread &self = threadOf(thread);
  MemoryBarrier &barrier = barrierAt(self, site, address);
  checkIdle(self, site, barrier);
  forget(barrier);
}

void kiln_emu_mbarrier_init_fence(kiln_emu_thread *thread) {
  fenceInitialisations(threadOf(thread));
}

uint64_t kiln_emu_mbarrier_arrive(kiln_emu_thread *thread, const kiln_emu_site *site, void *address,
                                  uint32_t count, uint32_t expected) {
  Thread &self = threadOf(thread);
  MemoryBarrier &barrier = barrierAt(self, site, address);
  uint64_t state = barrier.phase;
  Block &owner = *self.block->cluster().ownerOf(address, MemoryBarrier::bytes);
  if (&owner != self.block && self.block->launched().check)
    owner.noteReach(self.block->moment(self, site, AccessKind::Write));
  addTransactions(self, site, barrier, expected);
  arrive(self, site, barrier, count);
  return state;
}

void kiln_emu_mbarrier_transactions(kiln_emu_thread *thread, const kiln_emu_site *site,
                                    void *address, int32_t bytes) {
  Thread &self = threadOf(thread);
  MemoryBarrier &barrier = barrierAt(self, site, address);
  addTransactions(self, site, barrier, bytes);
  completeIfDone(*self.block, barrier);
}

uint32_t kiln_emu_mbarrier_test(kiln_emu_thread *thread, const kiln_emu_site *site, void *address,
                                uint64_t state, uint32_t is_parity) {
  Thread &self = threadOf(thread);
  auto isComplete = [&](const MemoryBarrier &barrier) {
    return is_parity ? isParityComplete(barrier, uint32_t(state))
                     : isStateComplete(self, site, barrier, state);
  };
  MemoryBarrier &early = barrierAt(self, site, address);
  if (!isComplete(early))
    landCopies(*self.block, site, early);
  self.block->yield(self);
  MemoryBarrier &barrier = barrierAt(self, site, address);
  if (!isComplete(barrier))
    return 0;
  acquire(self, barrier);
  return 1;
}

void kiln_emu_mbarrier_wait(kiln_emu_thread *thread, const kiln_emu_site *site, void *address,
                            uint32_t parity) {
  Thread &self = threadOf(thread);
  for (;;) {
    MemoryBarrier &barrier = barrierAt(self, site, address);
    if (!isParityComplete(barrier, parity))
      landCopies(*self.block, site, barrier);
    if (isParityComplete(barrier, parity))
      return acquire(self, barrier);
    barrier.waiting.push_back(&self);
    self.block->wait(self, site);
  }
}
