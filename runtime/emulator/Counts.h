// What a hardware profiler would count, for each place of the source.
//
// Instructions: generated code says to which basic blocks a thread comes, and tables say what these
// hold. Which lanes of a warp come to a block together follows from the loops around it: those in
// the same iteration of each (so they would on hardware that joins lanes again where their ways
// meet). Accesses: the n-th of a visit to a block is one request of the lanes that visit.
//
// Global memory: a request touches sectors of 32 bytes (NVIDIA Nsight Compute, "Memory Tables"); it
// could do with as many as its distinct bytes fill. Shared memory: 32 banks of 4 bytes serve 128
// bytes at a time, so accesses of 8 and 16 bytes go by halves and quarters of 32 lanes; within
// each, distinct words of one bank take turns (CUDA C++ Programming Guide, "Shared Memory"; AMD ISA
// guides, "LDS").

#ifndef KILN_RUNTIME_EMULATOR_COUNTS_H
#define KILN_RUNTIME_EMULATOR_COUNTS_H

#include "runtime/emulated_launch.h"
#include "runtime/emulator/Requests.h"
#include "runtime/emulator/WarpSequence.h"
#include "runtime/emulator/kiln_emu.h"
#include <memory>
#include <vector>

namespace kiln::emulator {

/// One thread's access.
struct Access {
  uint32_t space; ///< KILN_EMU_GLOBAL, KILN_EMU_SHARED
  const void *address;
  uint32_t bytes;
  bool isActive;          ///< unset where its predicate is false
  bool isRead, isWritten; ///< an atomic is both
};

/// What an instruction of the copy engine moves between global and shared memory, as one request.
struct BoxTransfer {
  uint64_t globalBytes = 0, sharedBytes = 0;
  Transfers sectors;
  bool readsGlobal = false, writesGlobal = false; ///< a reduction does both
};

class Counts {
public:
  /// Forgets what was counted.
  void reset(const kiln_emu_kernel &kernel);

  /// A thread comes to a basic block. True: it begins a round of a loop and is the first of its
  /// warp to do so.
  bool enter(uint32_t thread, uint32_t block);
  void access(uint32_t thread, const kiln_emu_site *site, const Access &access);
  void transfer(const kiln_emu_site *site, const BoxTransfer &box);

  /// For a thread that was the first: the lanes of `runnable` to which it should give way, so that
  /// it does not run far ahead and what is remembered stays small.
  uint64_t lanesToWaitFor(uint32_t thread, uint64_t runnable);

  /// Adds all to the launch's.
  void deliver(kiln_emulated_launch &launch);

private:
  static constexpr uint32_t maxLanes = 64;
  struct Visit {
    explicit Visit(uint64_t key) : key(key) {}
    uint64_t key;
    uint64_t came = 0, left = 0; ///< lanes
    uint32_t next = KILN_EMU_NONE;
    bool isDivergent = false, isDone = false;
  };
  struct Request {
    explicit Request(uint64_t key) : key(key) {}
    uint64_t key;
    uint64_t came = 0, active = 0; ///< lanes
    bool isRead = false, isWritten = false, isDone = false;
    uint8_t bytes[maxLanes]; ///< of the active ones
    uintptr_t addresses[maxLanes];
  };
  struct Loop {
    uint64_t iteration = 0, key = 0;
  };
  struct Lane {
    uint32_t block = KILN_EMU_NONE; ///< in which it is
    uint64_t visit = 0;             ///< number there
    uint64_t key = 0;               ///< of the visit
    uint64_t numAccesses = 0;       ///< of the visit
  };
  struct Pace {
    uint32_t rest = 0;  ///< of the rounds of loops that lanes may be the first to begin
    uint64_t ahead = 0; ///< lanes that began one more
  };
  struct Executions {
    uint64_t warps = 0, threads = 0, divergent = 0;
  };
  template <typename Event> using Sequences = std::vector<std::unique_ptr<WarpSequence<Event>>>;

  uint32_t warpOf(uint32_t thread) const { return thread / kernel->warp_size; }
  uint32_t laneOf(uint32_t thread) const { return thread % kernel->warp_size; }
  uint64_t everyLane(uint32_t warp) const;
  WarpSequence<Visit> &visitsOf(uint32_t warp, uint32_t block);
  bool isInLoop(uint32_t block, uint32_t header) const;
  uint64_t loopKey(uint32_t thread, uint32_t block);
  void leave(uint32_t thread, uint32_t next);
  void finish(const Request &request, uint32_t site, uint32_t space);
  void addInstructions();

  const kiln_emu_kernel *kernel = nullptr;
  uint32_t numWarps = 0, numLoops = 0; ///< levels of loops
  std::vector<Lane> lanes;             ///< by thread
  std::vector<Loop> loops;             ///< by thread and depth
  std::vector<Pace> paces;             ///< by warp
  std::vector<Executions> executions;  ///< by block
  Sequences<Visit> visits;             ///< by block and warp
  Sequences<Request> requests;         ///< by site, space and warp
  std::vector<kiln_emulator_count> totals;
};

} // namespace kiln::emulator

#endif
