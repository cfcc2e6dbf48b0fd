//===- RegisterShare.cpp - Fewer registers a thread, more blocks a processor --===//

#include "compiler/Target/NVIDIA/RegisterShare.h"
#include "compiler/Target/Occupancy.h"
#include "llvm/Support/MathExtras.h"

namespace kiln {

/// Above so many threads of a processor more of them hide little more.
static constexpr unsigned enoughThreads = 768;

static bool hasMatrixInstructions(llvm::StringRef ptx) {
  return ptx.contains("mma.sync") || ptx.contains("wgmma.");
}

std::optional<unsigned> registersForMoreBlocks(const ResourceUsage &used, const LaunchFacts &launch,
                                               const TargetInfo &target, llvm::StringRef ptx) {
  if (!used.registers || hasMatrixInstructions(ptx))
    return std::nullopt;
  BlockNeeds needs{launch.threadsPerBlock, used.registers,
                   uint64_t(launch.dynamicSharedBytes) + used.staticSharedBytes};
  std::optional<Occupancy> now = occupancyOf(target.name, needs);
  if (!now || !now->blocks || now->blocks * launch.threadsPerBlock >= enoughThreads)
    return std::nullopt;
  uint32_t wanted = llvm::divideCeil(4 * now->blocks, 3);
  constexpr unsigned registerUnit = 8;
  for (needs.registers = llvm::alignDown(used.registers - 1, registerUnit); needs.registers;
       needs.registers -= registerUnit)
    if (occupancyOf(target.name, needs)->blocks >= wanted)
      return needs.registers;
  return std::nullopt;
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
