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
#include "runtime/emulator/SharedShadow.h"
#include "runtime/emulator/kiln_emu.h"
#include <boost/context/detail/fcontext.hpp>
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
  template <typename Request, typename Execute>
  void collective(Thread &self, const kiln_emu_site *site, uint64_t mask, Request &request,
                  Execute execute) {
    self.request = &request;
    if (!arrive(self, site, mask))
      return;
    execute(*self.inWarp);
  }

  void barrier(Thread &self, const kiln_emu_site *site, uint32_t id, uint32_t count);
  /// Lets others run.
  void yield(Thread &self);

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
  SharedShadow &shadow() { return shadowMemory; }
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
  bool arrive(Thread &self, const kiln_emu_site *site, uint64_t mask);
  void sleep(Thread &self, const kiln_emu_site *site);
  void wake(Thread &thread);
  void finish(Thread &self);
  Thread *next();
  void jump(Thread &from, Thread &to);
  std::string place(const Thread &self, const kiln_emu_site *site) const;
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
  alignas(64) unsigned char packet[64] = {};
};

inline Thread &threadOf(kiln_emu_thread *thread) { return *static_cast<Thread *>(thread); }

} // namespace kiln::emulator

#endif
