//===- Assemble.cpp - The best of what ptxas makes of a kernel -----------------===//

#include "compiler/Target/NVIDIA/Assemble.h"
#include "compiler/Target/NVIDIA/ProductsInFlight.h"
#include "compiler/Target/NVIDIA/RegisterShare.h"
#include "compiler/Target/Occupancy.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

namespace kiln {

std::string AssembledText::assembled() const {
  return registerLimit ? withRegisterLimit(ptx, registerLimit) : ptx;
}

llvm::Expected<AssembledText> Assembler::run(std::string ptx, unsigned registerLimit,
                                             unsigned level,
                                             const std::function<void()> &meanwhile) const {
  AssembledText text{std::move(ptx), {}, registerLimit};
  auto result = runPtxas(text.assembled(), level, target, options, meanwhile);
  if (!result)
    return result.takeError();
  text.result = std::move(*result);
  return text;
}

/// What ptxas gave up on it does after all where it is told how many registers there are, or at
/// -O1, one time better by the one and one time by the other.
void Assembler::insist(AssembledText &text) const {
  auto takeIfLess = [&](llvm::Expected<AssembledText> again) {
    if (!again)
      llvm::consumeError(again.takeError());
    else if (usesLessLocalMemory(again->result.report.resources, text.result.report.resources))
      text = std::move(*again);
  };
  if (text.result.level <= 1 || !gaveUp(text.result.report))
    return;
  if (choosesRegisters())
    takeIfLess(run(text.ptx, mostRegisters(facts.launch, target), text.result.level));
  takeIfLess(run(text.ptx, 0, 1));
}

void Assembler::keepProductsInFlight(AssembledText &text) const {
  if (text.result.report.serialized.empty())
    return;
  auto apart = run(withProductsApart(text.ptx), text.registerLimit, text.result.level);
  if (!apart)
    return llvm::consumeError(apart.takeError());
  if (apart->result.report.serialized.empty())
    text = std::move(*apart);
}

void Assembler::shareRegisters(AssembledText &text) const {
  const ResourceUsage &used = text.result.report.resources;
  auto limit = registersForMoreBlocks(used, facts.launch, target, text.ptx);
  if (!limit)
    return;
  auto limited = run(text.ptx, *limit, text.result.level);
  if (!limited)
    return llvm::consumeError(limited.takeError());
  if (paysForMoreBlocks(limited->result.report.resources, used, text.ptx) &&
      limited->result.report.serialized.size() <= text.result.report.serialized.size())
    text = std::move(*limited);
}

llvm::Expected<AssembledText> Assembler::assemble(std::string ptx,
                                                  const std::function<void()> &meanwhile) {
  auto text = run(std::move(ptx), 0, std::min(options.optLevel, 3u), meanwhile);
  if (!text)
    return text;
  insist(*text);
  keepProductsInFlight(*text);
  if (choosesRegisters())
    shareRegisters(*text);
  return text;
}

void Assembler::takeIfBetter(std::string ptx, AssembledText &text) {
  auto other = run(std::move(ptx), text.registerLimit, text.result.level);
  if (!other)
    return llvm::consumeError(other.takeError());
  auto registers = [](const AssembledText &of) { return of.result.report.resources.registers; };
  if (choosesRegisters() && registers(*other) < registers(text))
    shareRegisters(*other);
  if (runsBetter(*other, text, facts.launch, target))
    text = std::move(*other);
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
