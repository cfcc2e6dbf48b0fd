// What a hardware profiler would count, for each place of the source.
//
// Threads of a warp do not run in lock step here, so accesses are grouped afterwards: the n-th time
// that a lane comes to a place belongs to the warp's n-th request there.
//
// Global memory: a request touches sectors of 32 bytes (NVIDIA Nsight Compute, "Memory Tables"); it
// could do with as many as its distinct bytes fill. Shared memory: 32 banks of 4 bytes serve 128
// bytes at a time, so accesses of 8 and 16 bytes go by halves and quarters of 32 lanes; within
// each, distinct words of one bank take turns (CUDA C++ Programming Guide, "Shared Memory"; AMD ISA
// guides, "LDS").

#ifndef KILN_RUNTIME_EMULATOR_COUNTS_H
#define KILN_RUNTIME_EMULATOR_COUNTS_H

#include "runtime/emulated_launch.h"
#include "runtime/emulator/kiln_emu.h"
#include <map>
#include <vector>

namespace kiln::emulator {

class Counts {
public:
  /// Forgets what was counted; `threads` of a block, by warps of `warpSize`.
  void reset(uint32_t threads, uint32_t warpSize);

  /// One thread's access; `isActive` unset where its predicate is false.
  void access(uint32_t thread, const kiln_emu_site *site, uint32_t space, const void *address,
              uint32_t bytes, bool isActive);
  /// One instruction of a warp.
  void instruction(const kiln_emu_site *site) { ++places[site].total.instructions; }
  /// Additions and multiplications of a matrix instruction.
  void operations(const kiln_emu_site *site, uint64_t number) {
    places[site].total.operations += number;
  }

  /// Adds all to the launch's.
  void deliver(kiln_emulated_launch &launch, const char *kernel);

private:
  struct Lane {
    uintptr_t address;
    uint32_t bytes, lane;
  };
  struct Place {
    uint32_t space = 0;
    std::vector<uint32_t> visits;            ///< of each thread
    std::vector<std::vector<Lane>> requests; ///< visit * warps + warp
    kiln_emulator_count total = {};
  };

  static void countGlobal(std::vector<Lane> &request, kiln_emulator_count &total);
  static void countShared(const std::vector<Lane> &request, kiln_emulator_count &total);

  uint32_t numThreads = 0, size = 1;
  std::map<const kiln_emu_site *, Place> places;
};

} // namespace kiln::emulator

#endif
