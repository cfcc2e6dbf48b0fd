// Runs a kernel's machine code: all workgroups, a few at a time, their waves interleaved.
#ifndef KILN_TESTS_AMDGCN_LAUNCH_H
#define KILN_TESTS_AMDGCN_LAUNCH_H

#include "tests/amdgcn/CodeObject.h"
#include "tests/amdgcn/Wave.h"

namespace kiln::amdgcn {

struct LaunchParameters {
  std::array<uint32_t, 3> grid = {1, 1, 1};
  std::array<uint32_t, 3> block = {1, 1, 1};
  /// Shared memory beside what the kernel itself reserves.
  uint32_t sharedBytes = 0;
  /// Of which waves take turns; 1: workgroups one after the other.
  uint32_t residentWorkgroups = 2;
  /// The kernel arguments' bytes, as the kernel's parameters lie.
  std::vector<uint8_t> arguments;
  /// Instructions of a wave after which the kernel hangs.
  uint64_t longestRun = 200'000'000;
  /// What interleaves waves and fills what nobody wrote.
  uint32_t seed = 1;
};

/// Throws a Fault that says where and what, at the first mistake of the program.
void launch(const CodeObject &code, const LoadedKernel &kernel, const Allocations &allocations,
            const LaunchParameters &parameters);

} // namespace kiln::amdgcn

#endif // KILN_TESTS_AMDGCN_LAUNCH_H
