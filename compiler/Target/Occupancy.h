//===- Occupancy.h - How many blocks a processor holds ------------------------===//
//
// What NVIDIA's occupancy calculator and LLVM's AMDGPU back end say, from a table of processors
// (Processors.def). Registers that a kernel moves between its warps while it runs (setmaxnreg) do
// not change it: a block gets what it is launched with.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_COMPILER_TARGET_OCCUPANCY_H
#define KILN_COMPILER_TARGET_OCCUPANCY_H

#include "llvm/ADT/StringRef.h"
#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace kiln {

struct TargetInfo;

/// What a block takes.
struct BlockNeeds {
  uint32_t threads = 0;
  /// Of a thread, as ResourceUsage has them: on AMD with the accumulation registers.
  uint32_t registers = 0;
  /// Of shared memory, static and dynamic.
  uint64_t sharedBytes = 0;
};

/// The registers of what a block runs on: of a processor, or of one of the two compute units that
/// are one of RDNA's.
struct RegisterFile {
  /// How many each lane of a warp finds in one of `units`, and of how many a warp gets a multiple.
  uint32_t units = 0, registers = 0, multiple = 0;
  /// Of all lanes.
  uint32_t all = 0;
};

/// None for targets whose processors are not in the table.
std::optional<RegisterFile> registerFileOf(const TargetInfo &target);

/// In the order in which they are named.
enum class OccupancyLimit : uint8_t { Registers, SharedMemory, Warps, Blocks };
struct Occupancy {
  /// Resident blocks and warps of a processor, and the warps that it could hold.
  uint32_t blocks = 0, warps = 0, maxWarps = 0;
  /// Blocks that each resource has room for, by OccupancyLimit.
  std::array<uint32_t, 4> room = {};

  /// What has room for no more blocks than there are: "registers, shared memory".
  std::string limits() const;
};

/// None for targets whose processors are not in the table: CPUs, emulated GPUs, PTX for GPUs to
/// come; and for a block without threads.
std::optional<Occupancy> occupancyOf(llvm::StringRef target, const BlockNeeds &needs);

/// The most registers of a thread, fewer than `needs` has and at least `least`, with which a
/// processor holds `blocks` such blocks; none: it does not, or is not in the table.
std::optional<uint32_t> registersForBlocks(llvm::StringRef target, BlockNeeds needs,
                                           uint32_t blocks, uint32_t least);

/// The most bytes of shared memory, as many as `needs` has or fewer, but some, with which a
/// processor holds `blocks` such blocks; none: it does not, or is not in the table.
std::optional<uint64_t> sharedBytesForBlocks(llvm::StringRef target, BlockNeeds needs,
                                             uint32_t blocks);

} // namespace kiln

#endif // KILN_COMPILER_TARGET_OCCUPANCY_H
