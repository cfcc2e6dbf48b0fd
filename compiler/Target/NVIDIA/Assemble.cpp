//===- Assemble.cpp - The best of what ptxas makes of a kernel -----------------===//

#include "compiler/Target/NVIDIA/Assemble.h"
#include "compiler/Target/NVIDIA/ProductsInFlight.h"
#include "compiler/Target/NVIDIA/RegisterShare.h"
#include "compiler/Target/Occupancy.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

namespace kiln {

static void keepProductsInFlight(AssembledText &text, const TargetInfo &target,
                                 const EmitOptions &options) {
  if (text.result.report.serialized.empty())
    return;
  std::string ptx = withProductsApart(text.ptx);
  auto apart = runPtxas(ptx, target, options);
  // That it fails where the other did not is no error.
  if (!apart)
    return llvm::consumeError(apart.takeError());
  if (!apart->report.serialized.empty())
    return;
  text.result = std::move(*apart);
  text.ptx = std::move(ptx);
}

static void shareRegisters(AssembledText &text, const LaunchFacts &launch, const TargetInfo &target,
                           const EmitOptions &options) {
  const ResourceUsage &used = text.result.report.resources;
  auto limit = registersForMoreBlocks(used, launch, target, text.ptx);
  if (!limit)
    return;
  std::string ptx = withRegisterLimit(text.ptx, *limit);
  auto limited = runPtxas(ptx, target, options);
  if (!limited)
    return llvm::consumeError(limited.takeError());
  if (!paysForMoreBlocks(limited->report.resources, used, ptx) ||
      limited->report.serialized.size() > text.result.report.serialized.size())
    return;
  text = {std::move(ptx), std::move(*limited), *limit};
}

llvm::Expected<AssembledText> assembleText(std::string ptx, const KernelFacts &facts,
                                           const TargetInfo &target, const EmitOptions &options,
                                           const std::function<void()> &meanwhile) {
  auto result = runPtxas(ptx, target, options, meanwhile);
  if (!result)
    return result.takeError();
  AssembledText text{std::move(ptx), std::move(*result)};
  keepProductsInFlight(text, target, options);
  if (!facts.maxRegisters && !facts.minOccupancy && options.optLevel >= 3)
    shareRegisters(text, facts.launch, target, options);
  return text;
}

static uint32_t spilledBytes(const AssembledText &text) {
  return text.result.report.resources.spilledBytes();
}

static uint64_t sharedBytes(const AssembledText &text, const LaunchFacts &launch) {
  return uint64_t(launch.dynamicSharedBytes) + text.result.report.resources.staticSharedBytes;
}

/// None where nobody knows.
static std::optional<Occupancy> occupancy(const AssembledText &text, const LaunchFacts &launch,
                                          const TargetInfo &target) {
  const ResourceUsage &used = text.result.report.resources;
  if (!used.registers)
    return std::nullopt;
  return occupancyOf(target.name,
                     {launch.threadsPerBlock, used.registers, sharedBytes(text, launch)});
}

bool isShortOfRegisters(const AssembledText &text, const LaunchFacts &launch,
                        const TargetInfo &target) {
  if (spilledBytes(text))
    return true;
  if (!sharedBytes(text, launch))
    return false;
  std::optional<Occupancy> now = occupancy(text, launch, target);
  uint32_t room = now ? now->room[size_t(OccupancyLimit::Registers)] : 0;
  uint32_t warps = llvm::divideCeil(launch.threadsPerBlock, launch.warpSize);
  return now && 2 * room * warps < now->maxWarps;
}

bool runsBetter(const AssembledText &first, const AssembledText &second, const LaunchFacts &launch,
                const TargetInfo &target) {
  uint32_t spills = std::max(spilledBytes(first), kFewSpilledBytes);
  uint32_t others = std::max(spilledBytes(second), kFewSpilledBytes);
  if (spills != others)
    return spills < others;
  std::optional<Occupancy> mine = occupancy(first, launch, target);
  std::optional<Occupancy> its = occupancy(second, launch, target);
  return sharedBytes(first, launch) && mine && its && mine->warps > its->warps;
}

} // namespace kiln
