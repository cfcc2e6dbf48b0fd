// A block of GPU threads on one host thread.
//
// Every GPU thread is a fiber; the block switches between them where they must wait for each other.
// A thread that reaches a collective operation leaves its operands and sleeps; the last one to
// arrive computes for all. So a warp needs no lock step, and an operation that not all of its
// threads reach is found, not hung on: a thread that comes to another operation than its warp waits
// at is a divergence, and a block in which nobody can run is a deadlock.
//
// The order is a warp at a time: data stay in the cache, and a switch is a jump
// to the next bit of a mask.

#ifndef KILN_RUNTIME_EMULATOR_BLOCK_H
#define KILN_RUNTIME_EMULATOR_BLOCK_H

#include "runtime/emulated_launch.h"
#include "runtime/emulator/Allocations.h"
#include "runtime/emulator/AsyncCopies.h"
#include "runtime/emulator/AtomicOrder.h"
#include "runtime/emulator/Context.h"
#include "runtime/emulator/Counts.h"
#include "runtime/emulator/GlobalShadow.h"
#include "runtime/emulator/LateStores.h"
#include "runtime/emulator/LoadCache.h"
#include "runtime/emulator/MemoryBarriers.h"
#include "runtime/emulator/NamedBarrier.h"
#include "runtime/emulator/ProxyOrder.h"
#include "runtime/emulator/RegisterShares.h"
#include "runtime/emulator/SharedShadow.h"
#include "runtime/emulator/TensorCopies.h"
#include "runtime/emulator/TensorMaps.h"
#include "runtime/emulator/WarpClocks.h"
#include "runtime/emulator/WarpGroupProducts.h"
#include "runtime/emulator/kiln_emu.h"
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace kiln::emulator {

class Block;
class Cluster;
struct Warp;

/// What a switch touches lies in one line of the cache: a block's threads are
/// more than its first level holds.
struct alignas(64) Execution : Context {
  Block *block = nullptr;
  Warp *inWarp = nullptr;
  /// Where it sleeps, or slept last.
  const kiln_emu_site *waitsAt = nullptr;
  uint32_t lane = 0;
};

struct Thread : kiln_emu_thread, Execution {
  AsyncCopies copies;
  TensorStores stores;
  /// At the cluster's barrier, in which of its phases, but not waited.
  bool hasArrived = false;
  uint64_t clusterPhase = 0;

  uint64_t bit() const { return uint64_t(1) << lane; }
};

struct Warp {
  uint32_t number = 0;
  uint32_t source = 0;       ///< of the clocks: its number in the cluster
  Thread *threads = nullptr; ///< of lane 0
  uint64_t full = 0;         ///< lanes that there are
  uint64_t live = 0;         ///< that have not returned
  uint64_t runnable = 0;
  /// The collective operation under way: who has arrived, who must.
  uint64_t arrived = 0, expected = 0;
  const kiln_emu_site *site = nullptr;
  /// The same for operations of active lanes (wave): who sleeps at one, at which, whether at
  /// several; and who carries one out for which lanes when it runs again.
  uint64_t active = 0, chosen = 0;
  const kiln_emu_site *activeSite = nullptr;
  Thread *leader = nullptr;
  bool isDivergent = false;
  /// Counts warp barriers: accesses before and after one are ordered within the warp.
  uint32_t epoch = 0;
  /// Operands and results of the operation, by lane: words, or what the lane's own structure says.
  uint32_t words[64], sources[64];
  uint64_t results[64];
  void *requests[64];
  /// Where the copies of the whole warp go, while accesses are checked: one place for all lanes.
  std::vector<const void *> copyTargets;

  template <typename Request> Request &request(unsigned lane) const {
    return *static_cast<Request *>(requests[lane]);
  }
};

/// What a report is about: with the place, what makes it different from others.
enum class Finding {
  Divergence,
  Deadlock,
  Misaligned,
  OutOfBounds,
  Race,
  Uninitialised,
  Launch,
  Operand,
  Assertion,
  Proxy,
  Product,
  Copy
};

class Block {
public:
  explicit Block(Cluster &cluster);
  ~Block();
  Block(const Block &) = delete;

  /// Makes all threads ready to run; false, and reported, if the launch does not fit.
  bool begin(const kiln_emu_kernel &kernel, void *const *params, const uint32_t program[3],
             const uint32_t programs[3], kiln_emulated_launch &launch, uint32_t rank);
  /// When nobody runs any more.
  void end();

  Cluster &cluster() { return inCluster; }
  uint32_t rankInCluster() const { return rank; }
  bool hasEnded() const { return numLive == 0; }
  /// The next thread that can run: of the same warp, else of the next warp that has one.
  Thread *next();
  void wake(Thread &thread);
  /// A warp of another block, at this moment, does to this block's shared memory what must be over
  /// before the block ends; while accesses are checked.
  void noteReach(const Moment &moment);

  /// Sleeps until every lane of `mask` is at `site`, then has the last one call
  /// `execute(warp)`. Operands are in the warp's arrays.
  template <typename Execute>
  KILN_INLINE void collective(Thread &self, const kiln_emu_site *site, uint64_t mask,
                              Execute execute) {
    Warp &warp = *self.inWarp;
    mask &= warp.full;
    if (!warp.arrived && !(mask & ~warp.live)) {
      warp.site = site;
      warp.expected = mask;
    }
    if (warp.site != site || warp.expected != mask || !(mask & self.bit()))
      refuse(self, site, mask);
    warp.arrived |= self.bit();
    if (warp.arrived != warp.expected)
      return sleep(self, site);
    warp.arrived = 0;
    warp.runnable |= warp.expected;
    idleYields = 0;
    execute(warp);
  }

  /// The same for the lanes that are active, as on AMD: all that have not returned; or, where they
  /// have come to different operations and none can go on, those at the first of these.
  template <typename Execute>
  KILN_INLINE void wave(Thread &self, const kiln_emu_site *site, Execute execute) {
    Warp &warp = *self.inWarp;
    if (!warp.active) {
      warp.activeSite = site;
      warp.isDivergent = false;
    }
    warp.active |= self.bit();
    warp.isDivergent |= warp.activeSite != site;
    uint64_t group = warp.active;
    if (group != warp.live || warp.isDivergent) {
      sleep(self, site);
      if (warp.leader != &self)
        return;
      warp.leader = nullptr;
      group = warp.chosen;
    }
    warp.active &= ~group;
    warp.runnable |= group;
    idleYields = 0;
    // A collective operation may be under way.
    uint64_t expected = warp.expected;
    warp.expected = group;
    execute(warp);
    warp.expected = expected;
  }

  /// Sleeps until `count` threads, 0 for all, are at barrier `id`. All must come to one place;
  /// those that are counted may have places of their own, by role.
  KILN_INLINE void barrier(Thread &self, const kiln_emu_site *site, uint32_t id, uint32_t count,
                           bool isExecutionAlone) {
    NamedBarrier &barrier = join(self, site, id, count);
    barrier.isExecutionAlone = isExecutionAlone;
    barrier.waiting[self.inWarp->number] |= self.bit();
    if (++barrier.arrived < barrier.expected)
      return sleep(self, site);
    complete(barrier);
  }
  /// The same, but does not wait.
  void arriveAt(Thread &self, const kiln_emu_site *site, uint32_t id, uint32_t count);
  /// Lets others run. A block in which nothing but this happens for long has hung.
  void yield(Thread &self);
  /// Lets lanes of the warp catch up, where the thread is far ahead in what is counted.
  void giveWay(Thread &self);
  /// Sleeps until somebody wakes the thread.
  void wait(Thread &self, const kiln_emu_site *site) { sleep(self, site); }
  void wakeAll(std::vector<Thread *> &sleepers);

  /// Reports; the thread goes on.
  void report(const Thread &self, const kiln_emu_site *site, Finding finding,
              const std::string &message);
  /// Reports and ends the block.
  [[noreturn]] void fail(Thread &self, const kiln_emu_site *site, Finding finding,
                         const std::string &message);

  const kiln_emulated_launch &launched() const { return *launch; }
  bool isShared(const void *address, uint32_t bytes) const {
    uintptr_t offset = reinterpret_cast<uintptr_t>(address) - reinterpret_cast<uintptr_t>(shared);
    return offset < sharedBytes && sharedBytes - offset >= bytes;
  }
  uint32_t sharedOffset(const void *address) const {
    return uint32_t(static_cast<const char *>(address) - shared);
  }
  uint32_t sharedSize() const { return sharedBytes; }
  /// A multiple of 2^18, so that the 18 bits of an address that matrix descriptors have are an
  /// offset in it, and swizzles see the address's own bits.
  char *sharedBase() const { return shared; }
  Warp &warp(uint32_t number) { return warps[number]; }
  uint32_t numWarps() const { return uint32_t(warps.size()); }
  void count(Thread &self, const kiln_emu_site *site, const Access &access) {
    if (self.counting)
      counted.access(self.thread, site, access);
  }
  void count(const kiln_emu_site *site, const BoxTransfer &box) { counted.transfer(site, box); }
  void enter(Thread &self, uint32_t basicBlock) {
    if (counted.enter(self.thread, basicBlock))
      giveWay(self);
  }
  SharedShadow &shadow() { return shadowMemory; }
  GlobalShadow &globalShadow() { return globals; }
  LateStores &lateStores() { return late; }
  AtomicOrder &atomicOrder() { return atomics; }
  MemoryBarriers &memoryBarriers() { return mbarriers; }
  WarpClocks &warpClocks() { return clocks; }
  ProxyOrder &proxies() { return proxyOrder; }
  WarpGroupProducts &products() { return warpGroupProducts; }
  const WarpGroupProducts &products() const { return warpGroupProducts; }
  TensorCopies &tensorCopies() { return boxes; }
  const TensorCopies &tensorCopies() const { return boxes; }
  TensorMaps &tensorMaps() { return maps; }
  const TensorMaps &tensorMaps() const { return maps; }
  RegisterShares &registerShares() { return registers; }
  /// Whether the kernel may access these bytes of global memory.
  bool isAllocated(const void *address, uint32_t bytes) const {
    return emulator::isAllocated(*launch, address, bytes) || maps.owns(address, bytes);
  }
  /// A source of the clocks for copies of the thread; else the block has ended.
  uint32_t addSource(Thread &self, const kiln_emu_site *site);
  /// Makes stores visible to all whom a release by the thread at this scope orders.
  void release(const Thread &self, uint32_t scope) {
    if (scope == KILN_EMU_SCOPE_DEVICE)
      late.release(self.inWarp->source, kernel->has_cumulative_fences);
  }
  /// The thread sees from now on what others have released to it at this scope.
  void acquire(const Thread &self, uint32_t scope) {
    loadCaches.acquire(self.inWarp->number, scope == KILN_EMU_SCOPE_DEVICE);
  }
  LoadCaches &caches() { return loadCaches; }
  uint64_t now(uint32_t source) const { return clocks.now(source); }
  /// Now, for the race check.
  Moment moment(const Thread &self, const kiln_emu_site *site, AccessKind kind) const {
    uint32_t warp = self.inWarp->source;
    return {clocks.now(warp), self.inWarp->epoch, numberInCluster(self), uint8_t(warp), kind, site};
  }
  /// As moments have it.
  static uint16_t numberInCluster(const Thread &self) {
    return uint16_t(self.rank * threadsOfBlock + self.thread);
  }

private:
  static constexpr uint32_t numBarriers = 16;

  static void enter(Context &self);
  /// The barrier that the thread comes to, which takes it.
  KILN_INLINE NamedBarrier &join(Thread &self, const kiln_emu_site *site, uint32_t id,
                                 uint32_t count) {
    const bool isCounted = count != 0;
    count = isCounted ? count : uint32_t(threads.size());
    if (id >= numBarriers)
      refuseBarrier(self, site, id, count);
    NamedBarrier &barrier = barriers[id];
    if (!barrier.arrived)
      barrier.begin(site, count, isCounted);
    if (barrier.expected != count || (barrier.site != site && !barrier.isCounted) ||
        barrier.isCounted != isCounted || (isCounted && !mayJoin(self, site, barrier)))
      refuseBarrier(self, site, id, count);
    return barrier;
  }
  /// Of a barrier that counts its threads: whether the warp is at one place, for the first time.
  bool mayJoin(const Thread &self, const kiln_emu_site *site, NamedBarrier &barrier);
  KILN_INLINE void complete(NamedBarrier &barrier) {
    barrier.arrived = 0;
    idleYields = 0;
    if (launch->check)
      order(barrier);
    for (Warp &warp : warps)
      warp.runnable |= std::exchange(barrier.waiting[warp.number], 0);
  }
  /// What the barrier's warps did so far comes before what those that wait do from now on.
  void order(NamedBarrier &barrier);
  void prepareThreads(const uint32_t program[3], const uint32_t programs[3]);
  void resetChecks();
  void checkReaches(const Thread &last);
  bool prepareShared();
  void finishCopies();
  /// Why a thread cannot take part in a collective operation.
  [[noreturn]] void refuse(Thread &self, const kiln_emu_site *site, uint64_t mask);
  [[noreturn]] void refuseBarrier(Thread &self, const kiln_emu_site *site, uint32_t id,
                                  uint32_t count);
  [[noreturn]] void failWithoutRunnable(Thread &self, const kiln_emu_site *site);
  /// A thread of another block of the cluster that can run; else it has ended.
  Thread *elsewhere(Thread &self, const kiln_emu_site *site);
  KILN_INLINE void sleep(Thread &self, const kiln_emu_site *site) {
    self.waitsAt = site;
    Warp &warp = *self.inWarp;
    warp.runnable &= ~self.bit();
    if (!warp.runnable && warp.active)
      chooseActive(warp);
    Thread *other = warp.runnable ? &warp.threads[__builtin_ctzll(warp.runnable)] : next();
    if (uint64_t later = warp.runnable & (warp.runnable - 1))
      warp.threads[__builtin_ctzll(later)].prefetch();
    if (!other)
      other = elsewhere(self, site);
    if (other != &self)
      self.switchTo(*other);
  }
  /// Lets the lanes at the first of the operations at which lanes of the warp sleep go on.
  void chooseActive(Warp &warp);
  void finish(Thread &self);
  void noteIdle(Thread &self);
  std::string place(const Thread &self, const kiln_emu_site *site) const;
  const kiln_emu_site *sleepingSite() const;
  std::string describeSleepers() const;
  void growStacks(uint32_t count);

  const kiln_emu_kernel *kernel = nullptr;
  void *const *params = nullptr;
  kiln_emulated_launch *launch = nullptr;
  std::vector<Thread> threads;
  std::vector<Warp> warps;
  uint32_t currentWarp = 0, numLive = 0;
  NamedBarrier barriers[numBarriers];
  std::vector<char *> stacks;
  char *shared = nullptr;
  uint32_t sharedBytes = 0, sharedCapacity = 0;
  Cluster &inCluster;
  uint32_t rank = 0;
  WarpClocks &clocks; ///< the cluster's
  std::vector<Moment> reaches;
  SharedShadow shadowMemory{clocks};
  GlobalShadow globals{clocks};
  LateStores late{clocks};
  LoadCaches loadCaches;
  AtomicOrder atomics{clocks};
  ProxyOrder proxyOrder{clocks};
  WarpGroupProducts warpGroupProducts{*this};
  TensorCopies boxes{*this};
  TensorMaps maps{*this};
  RegisterShares registers{*this};
  Counts counted;
  MemoryBarriers mbarriers;
  uint32_t idleYields = 0; ///< since something was woken or ended
  std::chrono::steady_clock::time_point idleSince;
  alignas(64) unsigned char packet[64] = {};
};

inline Thread &threadOf(kiln_emu_thread *thread) { return *static_cast<Thread *>(thread); }

} // namespace kiln::emulator

#endif
