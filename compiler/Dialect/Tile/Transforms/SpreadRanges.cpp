#include "compiler/Dialect/Tile/Transforms/SpreadRanges.h"
#include "compiler/Dialect/Tile/Tile.h"
#include "compiler/Dialect/Tile/Transforms/Inductions.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace kiln {
namespace {

bool isOneAxis(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getRank() == 1;
}

/// Whether what is computed of the range, an element of each, becomes rows of some tiles and
/// columns of others.
bool spreadsAlongSeveralAxes(Value range) {
  llvm::SmallSetVector<Value, 8> values;
  llvm::SmallDenseSet<unsigned, 2> axes;
  values.insert(range);
  for (unsigned i = 0; i < values.size(); ++i)
    for (Operation *user : values[i].getUsers()) {
      if (auto expand = dyn_cast<tile::ExpandDimsOp>(user))
        axes.insert(expand.getAxis());
      else if (user->getNumRegions() == 0 && user->getNumResults() == 1 &&
               user->hasTrait<OpTrait::Elementwise>() && isOneAxis(user->getResult(0).getType()))
        values.insert(user->getResult(0));
    }
  return axes.size() > 1;
}

bool isSpread(BlockArgument argument) {
  auto type = dyn_cast<RankedTensorType>(argument.getType());
  return type && type.getRank() == 1 && isa<IntegerType>(type.getElementType()) &&
         isInduction(argument) && spreadsAlongSeveralAxes(argument);
}

bool rewriteOne(func::FuncOp kernel) {
  WalkResult result = kernel.walk([](scf::ForOp loop) {
    for (BlockArgument argument : loop.getRegionIterArgs())
      if (isSpread(argument) && rewriteInduction(argument))
        return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return result.wasInterrupted();
}

struct SpreadRangesPass : PassWrapper<SpreadRangesPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(SpreadRangesPass)
  StringRef getArgument() const override { return "kiln-spread-ranges"; }
  StringRef getDescription() const override {
    return "Carry scalars in place of ranges that tiles use along several axes";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, scf::SCFDialect, tile::TileDialect>();
  }
  void runOnOperation() override {
    while (rewriteOne(getOperation()))
      ;
  }
};

} // namespace

std::unique_ptr<Pass> createSpreadRangesPass() { return std::make_unique<SpreadRangesPass>(); }

void registerSpreadRangesPass() { PassRegistration<SpreadRangesPass>(); }

} // namespace kiln
