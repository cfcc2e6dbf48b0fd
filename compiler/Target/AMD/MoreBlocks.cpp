// LLVM orders instructions for as many waves as it believes to be possible, and gives up waves
// without asking how many registers were too many: a product of 199 has half of the waves that 192
// leave. So the code is read back, and made again with the registers of one more block if these
// are few less. Where threads lack them then, indices that the loop only holds for what is behind
// it are computed again, too.
//
// Not where a SIMD has more than six waves, of which others work while one waits. With fewer
// registers LLVM may read operands one after the other, and wait for each: a loop that
// waits more often, or is longer by more than a share of what the waves are more, is refused. To
// ask for as many waves as an estimate has registers for, without reading back, was refused: most
// such loops were longer by more than that.

#include "compiler/Target/AMD/MoreBlocks.h"
#include "compiler/Target/AMD/RecomputeIndices.h"
#include "compiler/Target/Occupancy.h"

#include "llvm/IR/Function.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/Cloning.h"

namespace kiln {
namespace {

constexpr llvm::StringLiteral registersAttribute = "amdgpu-num-vgpr";

class BlockFitter {
public:
  BlockFitter(llvm::Function &kernel, llvm::StringRef target, uint32_t threads, Trial trial)
      : kernel(kernel), target(target), threads(threads), trial(trial) {}

  void run() {
    std::optional<TriedCode> code = trial(*kernel.getParent());
    if (!code || !code->loop || code->resources.spilledBytes() || !hasFewWaves(code->resources))
      return;
    std::optional<uint32_t> registers = registersOfMore(code->resources);
    if (!registers)
      return;
    kernel.addFnAttr(registersAttribute, std::to_string(*registers));
    if (isBetter(*kernel.getParent(), *code))
      return;
    std::unique_ptr<llvm::Module> copy = llvm::CloneModule(*kernel.getParent());
    recomputeIndices(*copy->getFunction(kernel.getName()));
    if (isBetter(*copy, *code))
      recomputeIndices(kernel);
    else
      kernel.removeFnAttr(registersAttribute);
  }

private:
  uint32_t blocksWith(uint32_t registers, const ResourceUsage &resources) const {
    std::optional<Occupancy> occupancy =
        occupancyOf(target, {threads, registers, resources.staticSharedBytes});
    return occupancy ? occupancy->blocks : 0;
  }

  /// Whether each SIMD has no more than three eighths of the waves that it has room for.
  bool hasFewWaves(const ResourceUsage &resources) const {
    std::optional<Occupancy> occupancy =
        occupancyOf(target, {threads, resources.registers, resources.staticSharedBytes});
    return occupancy && occupancy->warps * 8 <= occupancy->maxWarps * 3;
  }

  /// The most registers with which a processor holds more blocks, if those are little less.
  std::optional<uint32_t> registersOfMore(const ResourceUsage &resources) const {
    uint32_t blocks = blocksWith(resources.registers, resources);
    for (uint32_t fewer = resources.registers; fewer * 5 >= resources.registers * 4; --fewer)
      if (blocksWith(fewer, resources) > blocks)
        return fewer;
    return std::nullopt;
  }

  /// Whether the module's code has more blocks than `code` has, for a price.
  bool isBetter(const llvm::Module &module, const TriedCode &code) const {
    std::optional<TriedCode> other = trial(module);
    if (!other || !other->loop || other->resources.spilledBytes() ||
        other->loop->waits > code.loop->waits)
      return false;
    uint64_t blocks = blocksWith(code.resources.registers, code.resources),
             more = blocksWith(other->resources.registers, other->resources);
    // Instructions may be more by an eighth of what blocks are.
    return more > blocks &&
           other->loop->instructions * 8 * blocks <= code.loop->instructions * (7 * blocks + more);
  }

  llvm::Function &kernel;
  llvm::StringRef target;
  uint32_t threads;
  Trial trial;
};

} // namespace

void fitMoreBlocks(llvm::Function &kernel, llvm::StringRef target, uint32_t threads, Trial trial) {
  BlockFitter(kernel, target, threads, trial).run();
}

} // namespace kiln
