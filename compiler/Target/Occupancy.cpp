#include "compiler/Target/Occupancy.h"
#include "compiler/Target/TargetInfo.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

namespace kiln {
namespace {

struct Processor {
  llvm::StringLiteral arch;
  uint32_t warps, blocks, smallBlocks;
  uint64_t sharedBytes, sharedUnit, sharedReserved;
  uint32_t units, registers, registerUnit;
};

constexpr Processor processors[] = {
#define KILN_PROCESSOR(ARCH, WARPS, BLOCKS, SMALL_BLOCKS, SHARED, SHARED_UNIT, SHARED_RESERVED,    \
                       UNITS, REGISTERS, REGISTER_UNIT)                                            \
  {ARCH,        WARPS,           BLOCKS, SMALL_BLOCKS, SHARED,                                     \
   SHARED_UNIT, SHARED_RESERVED, UNITS,  REGISTERS,    REGISTER_UNIT},
#include "compiler/Target/Processors.def"
#undef KILN_PROCESSOR
};

const Processor *processorOf(llvm::StringRef arch) {
  const auto *found =
      llvm::find_if(processors, [&](const Processor &one) { return one.arch == arch; });
  return found == std::end(processors) ? nullptr : found;
}

} // namespace

std::optional<RegisterFile> registerFileOf(const TargetInfo &target) {
  const Processor *processor = processorOf(target.arch);
  if (!processor)
    return std::nullopt;
  uint32_t units = target.matrix.wmmaGeneration ? processor->units / 2 : processor->units;
  return RegisterFile{units, processor->registers, processor->registerUnit,
                      units * processor->registers * target.warpSize};
}

std::string Occupancy::limits() const {
  static constexpr llvm::StringLiteral names[] = {"registers", "shared memory", "warps", "blocks"};
  std::string text;
  for (auto [name, places] : llvm::zip(names, room))
    if (places == blocks)
      text += (text.empty() ? "" : ", ") + name.str();
  return text;
}

std::optional<Occupancy> occupancyOf(llvm::StringRef target, const BlockNeeds &needs) {
  auto info =
      llvm::find_if(allTargets(), [&](const TargetInfo &one) { return one.name == target; });
  if (info == allTargets().end() || !needs.threads)
    return std::nullopt;
  const Processor *processor = processorOf(info->arch);
  if (!processor)
    return std::nullopt;

  Occupancy result;
  result.maxWarps = processor->warps;
  auto warps = uint32_t(llvm::divideCeil(uint64_t(needs.threads), info->warpSize));
  auto room = [&](OccupancyLimit limit) -> uint32_t & { return result.room[size_t(limit)]; };
  uint64_t registers =
      llvm::alignTo(uint64_t(std::max(needs.registers, 1u)), processor->registerUnit);
  room(OccupancyLimit::Registers) =
      uint32_t(processor->units * (processor->registers / registers) / warps);
  uint64_t shared =
      llvm::alignTo(needs.sharedBytes + processor->sharedReserved, processor->sharedUnit);
  room(OccupancyLimit::SharedMemory) =
      shared ? uint32_t(processor->sharedBytes / shared) : UINT32_MAX;
  room(OccupancyLimit::Warps) = processor->warps / warps;
  room(OccupancyLimit::Blocks) = warps == 1 ? processor->smallBlocks : processor->blocks;
  result.blocks = *llvm::min_element(result.room);
  result.warps = result.blocks * warps;
  return result;
}

std::optional<uint32_t> registersForBlocks(llvm::StringRef target, BlockNeeds needs,
                                           uint32_t blocks, uint32_t least) {
  while (needs.registers-- > least)
    if (std::optional<Occupancy> held = occupancyOf(target, needs); held && held->blocks >= blocks)
      return needs.registers;
  return std::nullopt;
}

std::optional<uint64_t> sharedBytesForBlocks(llvm::StringRef target, BlockNeeds needs,
                                             uint32_t blocks) {
  auto holds = [&](uint64_t bytes) {
    needs.sharedBytes = bytes;
    std::optional<Occupancy> held = occupancyOf(target, needs);
    return held && held->blocks >= blocks;
  };
  // Fewer bytes are room for no fewer blocks: `most` is more than there may be, `least` is not.
  uint64_t least = 0, most = needs.sharedBytes + 1;
  while (most - least > 1) {
    uint64_t middle = least + (most - least) / 2;
    (holds(middle) ? least : most) = middle;
  }
  return least ? std::optional(least) : std::nullopt;
}

} // namespace kiln
