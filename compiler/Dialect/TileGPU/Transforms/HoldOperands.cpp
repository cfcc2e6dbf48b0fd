#include "compiler/Dialect/TileGPU/Transforms/HoldOperands.h"
#include "compiler/Dialect/TileGPU/Transforms/RegisterEstimate.h"
#include "compiler/Dialect/TileGPU/Transforms/Rings.h"
#include "compiler/Dialect/TileGPU/Transforms/StoragePlan.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace kiln {
namespace {

/// What fills the buffer, if that is one store beside it, and all else are dots.
tilegpu::SharedStoreOp fillOf(tilegpu::AllocOp buffer) {
  tilegpu::SharedStoreOp fill;
  for (Operation *user : buffer->getUsers()) {
    auto store = dyn_cast<tilegpu::SharedStoreOp>(user);
    if (store && (fill || store->getBlock() != buffer->getBlock()))
      return {};
    if (store)
      fill = store;
    else if (!isa<tilegpu::DotOp>(user))
      return {};
  }
  return fill;
}

/// The dot's A, if it is in a buffer that a loop around does not change, of which the unit reads as
/// much as of B or more.
tilegpu::AllocOp candidateOf(tilegpu::DotOp dot) {
  auto buffer = dot.getA().getDefiningOp<tilegpu::AllocOp>();
  auto loop = dot->getParentOfType<LoopLikeOpInterface>();
  if (!buffer || !loop || loop->isAncestor(buffer) || !fillOf(buffer))
    return {};
  const MatrixInstruction &unit = *dot.getUnit()->getTiling().instruction;
  // Others are rounded on their way to registers.
  constexpr unsigned mostBits = 16;
  bool isKept = tilegpu::storageBits(buffer.getType().getElementType()) <= mostBits;
  return isKept && unit.n <= unit.m ? buffer : tilegpu::AllocOp();
}

/// Whether threads bring what goes to buffers in loops, each from addresses of its own.
bool copiesByThreads(func::FuncOp kernel) {
  auto isByThreads = [](tilegpu::SharedStoreOp store) {
    Value tile = store.getValue();
    while (auto trans = tile.getDefiningOp<tile::TransOp>())
      tile = trans.getSource();
    return store->getParentOfType<LoopLikeOpInterface>() &&
           !tile.getDefiningOp<tile::DescriptorLoadOp>();
  };
  return kernel
      ->walk([&](tilegpu::SharedStoreOp store) {
        return isByThreads(store) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

class OperandHolder {
public:
  OperandHolder(func::FuncOp kernel, const TargetInfo &target)
      : kernel(kernel), target(target), uncertain(int(uncountedRegisters(target))),
        beside(copiesByThreads(kernel) ? 64 : uncertain) {}

  void run() {
    kernel.walk([&](tilegpu::DotOp dot) {
      if (tilegpu::AllocOp buffer = candidateOf(dot))
        dots[buffer].push_back(dot);
    });
    if (dots.empty())
      return;
    unsigned blocks =
        std::min(blocksByRegisters(kernel, target, -uncertain), blocksBySharedMemory());
    for (auto &[buffer, readers] : dots)
      hold(buffer, readers);
    while (!dots.empty() && !hasRegistersFor(blocks)) {
      release(dots.back().first, dots.back().second);
      dots.pop_back();
    }
  }

private:
  void hold(tilegpu::AllocOp buffer, SmallVectorImpl<tilegpu::DotOp> &readers) {
    tilegpu::MatrixUnitAttr unit = *readers.front().getUnit();
    llvm::erase_if(readers, [&](tilegpu::DotOp dot) { return dot.getUnit() != unit; });
    tilegpu::BufferType type = buffer.getType();
    OpBuilder b(buffer);
    b.setInsertionPointAfter(fillOf(buffer));
    RankedTensorType fragment =
        tilegpu::withLayout(RankedTensorType::get(type.getShape(), type.getElementType()),
                            unit.getTiling().layout(MatrixOperand::A, type.getShape()));
    Value held = tilegpu::SharedLoadOp::create(b, buffer.getLoc(), fragment, buffer);
    for (tilegpu::DotOp dot : readers)
      dot.getAMutable().assign(held);
  }

  static void release(tilegpu::AllocOp buffer, ArrayRef<tilegpu::DotOp> readers) {
    Operation *held = readers.front()->getOperand(0).getDefiningOp();
    for (tilegpu::DotOp dot : readers)
      tilegpu::DotOp(dot).getAMutable().assign(buffer);
    held->erase();
  }

  bool hasRegistersFor(unsigned blocks) const {
    // As many have threads beside a group of warps that only copies (kiln-specialise-warps).
    constexpr unsigned most = 240;
    unsigned available = std::min(registersOfThread(kernel, target), most);
    return estimateRegisters(kernel, target) + beside <= available &&
           blocksByRegisters(kernel, target, beside) >= blocks;
  }

  /// With the rings that loops' buffers will become.
  unsigned blocksBySharedMemory() const {
    StoragePlan plan(kernel, target);
    int64_t bytes = plan.place(), most = 0;
    llvm::MapVector<Operation *, int64_t> more;
    for (const Storage &storage : plan.storages())
      if (auto loop = storage.op->getParentOfType<scf::ForOp>(); loop && storage.isBuffer)
        most = std::max(most, more[loop] +=
                              storage.bytes * (RingBudget(kernel, target).wishedStages(loop) - 1));
    return unsigned(target.maxSharedBytes / std::max<int64_t>(bytes + most, 1));
  }

  func::FuncOp kernel;
  const TargetInfo &target;
  /// By how much the estimate may err, and what it leaves out.
  int uncertain, beside;
  llvm::MapVector<tilegpu::AllocOp, SmallVector<tilegpu::DotOp, 2>> dots;
};

} // namespace

void holdOperands(func::FuncOp kernel, const TargetInfo &target) {
  OperandHolder(kernel, target).run();
}

} // namespace kiln
