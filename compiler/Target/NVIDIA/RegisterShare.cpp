//===- RegisterShare.cpp - Fewer registers a thread, more blocks a processor --===//

#include "compiler/Target/NVIDIA/RegisterShare.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

namespace kiln {

// CUDA C++ Programming Guide, "Compute Capabilities", of 8.0 and above.
static constexpr unsigned registersOfProcessor = 64 * 1024, registerUnit = 8, maxBlocks = 32;
static constexpr unsigned sharedOfSystem = 1024; // of each block

/// Above so many threads of a processor more of them hide little more.
static constexpr unsigned enoughThreads = 768;

static bool hasMatrixInstructions(llvm::StringRef ptx) {
  return ptx.contains("mma.sync") || ptx.contains("wgmma.");
}

/// Blocks of a processor for which there is shared memory.
static unsigned blocksByShared(uint32_t bytes, const TargetInfo &target) {
  return (target.maxSharedBytes + sharedOfSystem) / (bytes + sharedOfSystem);
}

std::optional<unsigned> registersForMoreBlocks(const ResourceUsage &used, const LaunchFacts &launch,
                                               const TargetInfo &target, llvm::StringRef ptx) {
  unsigned threads = launch.threadsPerBlock;
  if (!used.registers || hasMatrixInstructions(ptx))
    return std::nullopt;
  unsigned blocks =
      registersOfProcessor / (unsigned(llvm::alignTo(used.registers, registerUnit)) * threads);
  unsigned wanted = llvm::divideCeil(4 * blocks, 3);
  unsigned possible =
      std::min(maxBlocks, blocksByShared(launch.dynamicSharedBytes + used.staticSharedBytes, target));
  if (!blocks || blocks * threads >= enoughThreads || wanted > possible)
    return std::nullopt;
  return registersOfProcessor / (wanted * threads) / registerUnit * registerUnit;
}

std::string withRegisterLimit(llvm::StringRef ptx, unsigned registers) {
  size_t line = ptx.find('\n', ptx.find(".reqntid"));
  return (ptx.take_front(line) + "\n.maxnreg " + llvm::Twine(registers) + ptx.substr(line)).str();
}

bool paysForMoreBlocks(const ResourceUsage &limited, const ResourceUsage &used) {
  auto spilled = [](const ResourceUsage &usage) {
    return usage.spillStoreBytes + usage.spillLoadBytes;
  };
  return spilled(limited) <= spilled(used) + kFewSpilledBytes;
}

} // namespace kiln
