#include "compiler/Dialect/TileGPU/Transforms/WarpCopies.h"

#include "compiler/Dialect/TileGPU/Transforms/RegisterEstimate.h"
#include "compiler/Dialect/TileGPU/Transforms/StoragePlan.h"
#include "compiler/Layout/StagedOperand.h"

using namespace mlir;

namespace kiln {

StagedLoads findWarpCopies(scf::ForOp loop, const AxisInfoAnalysis &facts,
                           const TargetInfo &target) {
  StagedLoads copies =
      findStagedLoads(loop, facts, target, /*mayCompare=*/false, StagedAs::WarpCopies);
  // What threads load to registers in the same loop would be waited for behind the copies, which
  // come back in the order of all loads.
  auto isCopied = [&](tile::LoadOp load) {
    return llvm::any_of(copies.loads, [&](const StagedLoad &copy) { return copy.load == load; });
  };
  bool areAll = true;
  loop.getBody()->walk([&](tile::LoadOp load) { areAll &= isCopied(load); });
  return areAll ? copies : StagedLoads();
}

tilegpu::LayoutAttr layoutOfCopy(const StagedLoad &load, const TargetInfo &target) {
  tilegpu::BufferType buffer = tilegpu::AllocOp(load.buffer).getType();
  std::optional<LinearLayout> layout = sideBySideLayout(
      buffer.getLayout().getShared(), tilegpu::storageBits(buffer.getElementType()),
      target.warpSize, tilegpu::numWarpsOf(load.load));
  return tilegpu::LayoutAttr::get(load.load->getContext(), *layout);
}

bool areArranged(const StagedLoads &staged, const TargetInfo &target) {
  return llvm::all_of(staged.loads, [&](const StagedLoad &load) {
    tilegpu::SharedStoreOp store = load.store;
    return tilegpu::layoutAttrOf(store.getValue().getType()) == layoutOfCopy(load, target);
  });
}

unsigned countCopies(const StagedLoads &staged) {
  unsigned count = 0;
  for (const StagedLoad &load : staged.loads)
    count += unsigned(tilegpu::layoutOf(load.load->getResult(0)).numRegisters()) / load.vector;
  return count;
}

RingPlan planWarpCopies(func::FuncOp kernel, scf::ForOp loop, const StagedLoads &staged,
                        const TargetInfo &target) {
  SmallVector<int64_t> bytes;
  for (const StagedLoad &load : staged.loads)
    bytes.push_back(tilegpu::AllocOp(load.buffer).getType().getBytes());
  StoragePlan storage(kernel, target);
  SmallVector<Operation *> replaced = RingBudget::buffersOf(staged);
  const auto byRegisters = int64_t(blocksByRegisters(kernel, target));
  auto blocksWith = [&](unsigned slots) {
    int64_t all = storage.bytesWith(replaced, bytes, slots, /*life=*/loop);
    return all <= int64_t(target.maxSharedBytes)
               ? std::min(byRegisters, StoragePlan::blocksWith(target, all))
               : 0;
  };
  // Two warps to a scheduler: one's products run while the other waits.
  const unsigned numWarps = tilegpu::numWarpsOf(kernel), enough = 2 * RingBudget::schedulers;
  auto warpsWith = [&](unsigned slots) {
    return std::min<int64_t>(blocksWith(slots) * numWarps, enough);
  };
  constexpr unsigned least = 2;
  RingPlan plan;
  unsigned wished = RingBudget(kernel, target).wishedStages(loop);
  if (wished < least || blocksWith(least) == 0 || warpsWith(least) < warpsWith(1))
    return plan;
  plan.stages = least;
  while (plan.stages < wished && warpsWith(plan.stages + 1) >= warpsWith(least))
    ++plan.stages;
  plan.slots = plan.stages;
  plan.blocks = unsigned(blocksWith(plan.slots));
  return plan;
}

} // namespace kiln
