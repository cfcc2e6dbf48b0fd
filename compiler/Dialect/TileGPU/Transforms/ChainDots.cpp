// Dots of a unit that reads shared memory by itself, each of which goes on with the sum of the one
// before.
//
//     s = dot(a, b, 0); t = dot(c, d, s)
//
// Each is waited for where it stands. With nothing in between that touches memory, the second is
// started right behind the first, which it follows in the unit, and one wait serves both. Behind
// barrier insertion: as nobody writes a buffer in between, it is as if the first read its own when
// the second does.

#include "compiler/Dialect/TileGPU/TileGPU.h"
#include "compiler/Dialect/TileGPU/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace kiln {
namespace {

/// Whether it is waited for where it stands, the unit reads both operands by itself, and makes the
/// whole sum.
bool isWaitedFor(tilegpu::DotOp dot) {
  return !dot.getIsAsync() && dot.readsBuffers() && dot.getSumDepth() == 0 &&
         isa<tilegpu::BufferType>(dot.getA().getType());
}

/// Whether nothing between the two touches memory.
bool follows(tilegpu::DotOp next, tilegpu::DotOp dot) {
  for (Operation *op = dot->getNextNode(); op != next; op = op->getNextNode())
    if (op->getNumRegions() != 0 || !(isMemoryEffectFree(op) || isa<tilegpu::AllocOp>(op)))
      return false;
  return true;
}

struct ChainDotsPass : PassWrapper<ChainDotsPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ChainDotsPass)

  StringRef getArgument() const override { return "kiln-chain-dots"; }
  StringRef getDescription() const override {
    return "Wait once for dots that go on with each other's sums";
  }

  void runOnOperation() override {
    getOperation().walk([](tilegpu::DotOp next) {
      auto dot = next.getC().getDefiningOp<tilegpu::DotOp>();
      if (dot && dot->getBlock() == next->getBlock() && dot->hasOneUse() && isWaitedFor(dot) &&
          isWaitedFor(next) && follows(next, dot))
        dot.setIsAsync(true);
    });
  }
};

} // namespace

std::unique_ptr<Pass> createChainDotsPass() { return std::make_unique<ChainDotsPass>(); }

} // namespace kiln
