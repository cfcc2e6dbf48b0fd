//===- RegisterShare.cpp - Fewer registers a thread, more blocks a processor --===//

#include "compiler/Target/NVIDIA/RegisterShare.h"
#include "compiler/Target/Occupancy.h"
#include "llvm/Support/MathExtras.h"

namespace kiln {

/// Whether few of a block's threads or of a processor's blocks run on it: from so many threads on
/// more of them hide little more, but those of a large block wait for each other, all at once.
static bool runsFew(uint32_t blocks, unsigned threadsPerBlock, llvm::StringRef ptx) {
  constexpr unsigned enoughThreads = 768, largeBlock = 512, enoughBlocks = 4;
  bool meets = ptx.contains("bar.sync");
  return blocks * threadsPerBlock < enoughThreads ||
         (threadsPerBlock >= largeBlock && blocks < enoughBlocks && meets);
}

static bool hasMatrixInstructions(llvm::StringRef ptx) {
  return ptx.contains("mma.sync") || ptx.contains("wgmma.");
}

constexpr unsigned registerUnit = 8;

unsigned mostRegisters(const LaunchFacts &launch, const TargetInfo &target) {
  unsigned registers = 255;
  auto canRun = [&] {
    std::optional<Occupancy> alone = occupancyOf(target.name, {launch.threadsPerBlock, registers});
    return !alone || alone->blocks;
  };
  while (registers > registerUnit && !canRun())
    registers = llvm::alignDown(registers - 1, registerUnit);
  return registers;
}

std::optional<unsigned> registersForMoreBlocks(const ResourceUsage &used, const LaunchFacts &launch,
                                               const TargetInfo &target, llvm::StringRef ptx) {
  if (!used.registers || used.spilledBytes() > kFewSpilledBytes)
    return std::nullopt;
  BlockNeeds needs{launch.threadsPerBlock, used.registers,
                   uint64_t(launch.dynamicSharedBytes) + used.staticSharedBytes};
  std::optional<Occupancy> now = occupancyOf(target.name, needs);
  if (!now || !now->blocks || !runsFew(now->blocks, launch.threadsPerBlock, ptx))
    return std::nullopt;
  bool multiplies = hasMatrixInstructions(ptx);
  if (multiplies && ptx.contains("setmaxnreg"))
    return std::nullopt;
  // Beyond it they spill, and that takes long; what products hold is not computed again.
  unsigned least = multiplies ? used.registers * 3 / 4 : llvm::divideCeil(used.registers * 2, 3);
  uint32_t wanted = multiplies ? now->blocks + 1 : llvm::divideCeil(4 * now->blocks, 3);
  return registersForBlocks(target.name, needs, wanted, least);
}

std::string withRegisterLimit(llvm::StringRef ptx, unsigned registers) {
  size_t line = ptx.find('\n', ptx.find(".reqntid"));
  return (ptx.take_front(line) + "\n.maxnreg " + llvm::Twine(registers) + ptx.substr(line)).str();
}

bool paysForMoreBlocks(const ResourceUsage &limited, const ResourceUsage &used,
                       llvm::StringRef ptx) {
  unsigned more = hasMatrixInstructions(ptx) ? 0 : kFewSpilledBytes;
  return limited.spilledBytes() <= used.spilledBytes() + more;
}

} // namespace kiln
