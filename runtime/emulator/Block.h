// A block of GPU threads on one host thread.
//
// Every GPU thread is a fiber; the block switches between them where they must wait for each other.
// A thread that reaches a collective operation leaves its operands and sleeps; the last one to
// arrive computes for all. So a warp needs no lock step, and an operation that not all of its
// threads reach is found, not hung on: a thread that comes to another operation than its warp waits
// at is a divergence, and a block in which nobody can run is a deadlock.
//
// The order is a warp at a time: data stay in the cache, and a switch is a jump to the next bit of
// a mask. Fibers are Boost.Context's plain contexts (make_fcontext, jump_fcontext) and not its
// `fiber` class, which unwinds a stack that it drops: generated code has no unwinding tables.

#ifndef KILN_RUNTIME_EMULATOR_BLOCK_H
#define KILN_RUNTIME_EMULATOR_BLOCK_H

#include "runtime/emulated_launch.h"
#include "runtime/emulator/AsyncCopies.h"
#include "runtime/emulator/Counts.h"
#include "runtime/emulator/SharedShadow.h"
#include "runtime/emulator/kiln_emu.h"
#include <boost/context/detail/fcontext.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace kiln::emulator {

class Block;
struct Warp;

struct Thread : kiln_emu_thread {
  Block *block = nullptr;
  Warp *inWarp = nullptr;
  uint32_t lane = 0;
  boost::context::detail::fcontext_t context = nullptr;
  /// Where it sleeps, and its operands there.
  const kiln_emu_site *waitsAt = nullptr;
  void *request = nullptr;
  AsyncCopies copies;

  uint64_t bit() const { return uint64_t(1) << lane; }
};

struct Warp {
  uint32_t number = 0;
  Thread *threads = nullptr; ///< of lane 0
  uint64_t full = 0;         ///< lanes that there are
  uint64_t live = 0;         ///< that have not returned
  uint64_t runnable = 0;
  /// The collective operation under way: who has arrived, who must.
  uint64_t arrived = 0, expected = 0;
  const kiln_emu_site *site = nullptr;
  /// Counts warp barriers: accesses before and after one are ordered within the warp.
  uint32_t epoch = 0;

  template <typename Request> Request &request(unsigned lane) const {
    return *static_cast<Request *>(threads[lane].request);
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
  Operand
};

class Block {
public:
  Block();
  ~Block();
  Block(const Block &) = delete;

  /// Runs all threads to their end, or to the first fatal finding.
  void run(const kiln_emu_kernel &kernel, void *const *params, const uint32_t program[3],
           const uint32_t programs[3], kiln_emulated_launch &launch);

  /// Sleeps until every lane of `mask` is at `site`, then has the last one call `execute(warp)`.
  /// Inline: a switch of stacks spoils the prediction of every return that follows it.
  template <typename Request, typename Execute>
  void collective(Thread &self, const kiln_emu_site *site, uint64_t mask, Request &request,
                  Execute execute) {
    Warp &warp = *self.inWarp;
    mask &= warp.full;
    if (!warp.arrived) {
      warp.site = site;
      warp.expected = mask;
    }
    if (!(mask & self.bit() & warp.live) || (mask & ~warp.live) || warp.site != site ||
        warp.expected != mask)
      refuse(self, site, mask);
    self.request = &request;
    warp.arrived |= self.bit();
    if (warp.arrived != warp.expected)
      return sleep(self, site);
    warp.arrived = 0;
    warp.runnable |= warp.expected;
    idleYields = 0;
    if (launch->count)
      counted.instruction(site);
    execute(warp);
  }

  void barrier(Thread &self, const kiln_emu_site *site, uint32_t id, uint32_t count);
  /// Lets others run. A block in which nothing but this happens for long has hung.
  void yield(Thread &self);
  /// Sleeps until somebody wakes the thread.
  void wait(Thread &self, const kiln_emu_site *site) { sleep(self, site); }
  void wakeAll(std::vector<Thread *> &sleepers);

  /// Reports; the thread goes on.
  void report(const Thread &self, const kiln_emu_site *site, Finding finding,
              const std::string &message);
  /// Reports and ends the block.
  [[noreturn]] void fail(Thread &self, const kiln_emu_site *site, Finding finding,
                         const std::string &message);

  kiln_emulated_launch &launched() { return *launch; }
  bool isShared(const void *address, uint32_t bytes) const {
    uintptr_t offset = reinterpret_cast<uintptr_t>(address) - reinterpret_cast<uintptr_t>(shared);
    return offset < sharedBytes && sharedBytes - offset >= bytes;
  }
  uint32_t sharedOffset(const void *address) const {
    return uint32_t(static_cast<const char *>(address) - shared);
  }
  uint32_t sharedSize() const { return sharedBytes; }
  Counts &counts() { return counted; }
  SharedShadow &shadow() { return shadowMemory; }
  MemoryBarriers &memoryBarriers() { return mbarriers; }
  uint32_t epoch() const { return barrierEpoch; }

private:
  struct Barrier {
    uint32_t arrived = 0, expected = 0;
    const kiln_emu_site *site = nullptr;
    std::vector<Thread *> waiting;
  };

  static void enter(boost::context::detail::transfer_t from);
  void prepareThreads(const uint32_t program[3], const uint32_t programs[3]);
  bool prepareShared();
  /// Why a thread cannot take part in a collective operation.
  [[noreturn]] void refuse(Thread &self, const kiln_emu_site *site, uint64_t mask);
  [[noreturn]] void failWithoutRunnable(Thread &self, const kiln_emu_site *site);
  void sleep(Thread &self, const kiln_emu_site *site) {
    self.waitsAt = site;
    Warp &warp = *self.inWarp;
    warp.runnable &= ~self.bit();
    Thread *other = warp.runnable ? &warp.threads[__builtin_ctzll(warp.runnable)] : next();
    if (!other)
      failWithoutRunnable(self, site);
    jump(self, *other);
    self.waitsAt = nullptr;
  }
  void wake(Thread &thread);
  void finish(Thread &self);
  void noteIdle(Thread &self);
  Thread *next();
  void jump(Thread &from, Thread &to) {
    jumpedFrom = &from;
    boost::context::detail::transfer_t back =
        boost::context::detail::jump_fcontext(to.context, &to);
    jumpedFrom->context = back.fctx;
  }
  std::string place(const Thread &self, const kiln_emu_site *site) const;
  const kiln_emu_site *sleepingSite() const;
  std::string describeSleepers() const;
  void growStacks(uint32_t count);

  const kiln_emu_kernel *kernel = nullptr;
  void *const *params = nullptr;
  kiln_emulated_launch *launch = nullptr;
  std::vector<Thread> threads;
  std::vector<Warp> warps;
  uint32_t currentWarp = 0, numLive = 0, barrierEpoch = 0;
  Barrier barriers[16];
  Thread outside; ///< the host thread's own context
  Thread *jumpedFrom = nullptr;
  std::vector<char *> stacks;
  char *shared = nullptr;
  uint32_t sharedBytes = 0, sharedCapacity = 0;
  SharedShadow shadowMemory;
  Counts counted;
  MemoryBarriers mbarriers;
  uint32_t idleYields = 0; ///< since something was woken or ended
  std::chrono::steady_clock::time_point idleSince;
  alignas(64) unsigned char packet[64] = {};
};

inline Thread &threadOf(kiln_emu_thread *thread) { return *static_cast<Thread *>(thread); }

} // namespace kiln::emulator

#endif
