// LLVM orders instructions for as many waves as it believes to be possible, and gives up waves
// without asking how many registers were too many: a product of 199 has half of the waves that 192
// leave. So the code is read back, and made again with the registers of one more block if these
// are few less. Where threads lack them then, indices that the loop only holds for what is behind
// it are computed again, too; on CDNA at once, in each block, and also where registers are spilled.
//
// Not where a SIMD of RDNA has more than six waves, of which others work while one waits. With
// fewer registers LLVM may read operands one after the other there, and wait for each: a loop that
// waits more often, or is longer by more than a share of what the waves are more, is refused, but
// where it takes hardly longer by an estimate. To ask for as many waves as an estimate has
// registers for, without reading back, was refused: most such loops were longer by more than that.
// CDNA's loops may wait more often where they have no more instructions, and code without a loop
// take hardly longer: one of nine more waits and two more instructions took 1.26 of the cycles. To
// take what two blocks take less time for together was refused: a loop of 1.2 of the cycles held
// eight scalars in lanes.

#include "compiler/Target/AMD/MoreBlocks.h"
#include "compiler/Target/AMD/RecomputeIndices.h"
#include "compiler/Target/CompareCode.h"
#include "compiler/Target/TargetInfo.h"

#include "llvm/IR/Function.h"
#include "llvm/Support/MathExtras.h"

namespace kiln {
namespace {

class BlockFitter {
public:
  BlockFitter(DeviceBinary &first, llvm::Function &kernel, const TargetInfo &target,
              Generate generate)
      : first(first), kernel(kernel), target(target), isCdna(target.matrix.mfmaGeneration),
        generate(generate) {}

  /// What is better than the first; none: nothing.
  std::optional<DeviceBinary> run() {
    if (!first.mainLoop && (!isCdna || first.resources.spilledBytes()))
      return std::nullopt;
    if (!first.resources.spilledBytes()) {
      std::optional<uint32_t> registers = registersOfMore();
      if (!registers)
        return std::nullopt;
      limit(*registers);
    } else if (!isCdna) {
      return std::nullopt;
    }
    if (!isCdna)
      if (std::optional<DeviceBinary> other = better())
        return other;
    recomputeIndices(kernel, isCdna ? IndexPlaces::EachBlock : IndexPlaces::BehindLoop,
                     heldNumberOf(target));
    return better();
  }

private:
  /// The most registers with which a processor holds more blocks, if those are little less.
  std::optional<uint32_t> registersOfMore() const {
    BlockNeeds needs = needsOf(first);
    std::optional<Occupancy> now = occupancyOf(target.name, needs);
    // Three eighths of the waves that a SIMD has room for.
    if (!now || (!isCdna && now->warps * 8 > now->maxWarps * 3))
      return std::nullopt;
    uint32_t few = needs.registers / (isCdna ? 8 : 5);
    return registersForBlocks(target.name, needs, now->blocks + 1, needs.registers - few);
  }

  void limit(uint32_t registers) {
    if (!isCdna)
      return kernel.addFnAttr("amdgpu-num-vgpr", std::to_string(registers));
    // Accumulation registers are of the same file: LLVM shares it out by itself.
    constexpr uint32_t simds = 4;
    BlockNeeds needs = needsOf(first);
    needs.registers = registers;
    uint32_t warps = occupancyOf(target.name, needs)->warps;
    // What the user asks for stays the least.
    constexpr llvm::StringLiteral waves = "amdgpu-waves-per-eu";
    uint64_t asked = kernel.getFnAttributeAsParsedInteger(waves, 0);
    kernel.addFnAttr(waves,
                     std::to_string(std::max(asked, uint64_t(llvm::divideCeil(warps, simds)))));
  }

  std::optional<DeviceBinary> better() const {
    std::optional<DeviceBinary> other = generate();
    bool isLikeFirst = other && bool(other->mainLoop) == bool(first.mainLoop);
    return isLikeFirst && isBetter(*other) ? std::move(other) : std::nullopt;
  }

  /// Spills less, or has more blocks for a price and spills nothing.
  bool isBetter(const DeviceBinary &other) const {
    uint32_t spilled = first.resources.spilledBytes();
    if (spilled)
      return other.resources.spilledBytes() < spilled &&
             other.mainLoop->instructions <= first.mainLoop->instructions;
    uint64_t blocks = blocksOf(first), more = blocksOf(other);
    if (other.resources.spilledBytes() || more <= blocks)
      return false;
    if (first.mainLoop && isHardlyLonger(*other.mainLoop, blocks, more))
      return true;
    // Or what it takes by a thirty-second.
    return 32 * other.cycles <= 33 * first.cycles;
  }

  bool isHardlyLonger(const MainLoop &loop, uint64_t blocks, uint64_t more) const {
    const MainLoop &firstLoop = *first.mainLoop;
    if (isCdna && loop.instructions <= firstLoop.instructions)
      return true;
    // Instructions may be more by an eighth of what blocks are.
    return loop.waits <= firstLoop.waits &&
           loop.instructions * 8 * blocks <= firstLoop.instructions * (7 * blocks + more);
  }

  DeviceBinary &first;
  llvm::Function &kernel;
  const TargetInfo &target;
  bool isCdna;
  Generate generate;
};

} // namespace

DeviceBinary fitMoreBlocks(DeviceBinary first, llvm::Function &kernel, const TargetInfo &target,
                           Generate generate) {
  std::optional<DeviceBinary> better = BlockFitter(first, kernel, target, generate).run();
  return better ? std::move(*better) : std::move(first);
}

} // namespace kiln
