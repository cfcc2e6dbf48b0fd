#include "compiler/Analysis/ValueSources.h"
#include "compiler/Dialect/Tile/Tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace kiln {
namespace {

/// What a region's argument is at the region's start.
void followArgument(BlockArgument argument, SmallVectorImpl<Value> &sources) {
  Operation *parent = argument.getOwner()->getParentOp();
  if (auto loop = dyn_cast<scf::ForOp>(parent)) {
    if (argument == loop.getInductionVar())
      return;
    sources.push_back(loop.getTiedLoopInit(argument)->get());
    sources.push_back(loop.getTiedLoopYieldedValue(argument)->get());
  } else if (auto loop = dyn_cast<scf::WhileOp>(parent)) {
    unsigned index = argument.getArgNumber();
    if (argument.getOwner()->getParent() == &loop.getBefore()) {
      sources.push_back(loop.getInits()[index]);
      sources.push_back(loop.getYieldOp().getOperand(index));
    } else {
      sources.push_back(loop.getConditionOp().getArgs()[index]);
    }
  }
}

void followResult(OpResult result, SmallVectorImpl<Value> &sources) {
  unsigned index = result.getResultNumber();
  if (auto loop = dyn_cast<scf::ForOp>(result.getOwner())) {
    sources.push_back(loop.getInitArgs()[index]);
    sources.push_back(loop.getYieldedValues()[index]);
  } else if (auto loop = dyn_cast<scf::WhileOp>(result.getOwner())) {
    sources.push_back(loop.getConditionOp().getArgs()[index]);
  } else if (auto branch = dyn_cast<scf::IfOp>(result.getOwner())) {
    sources.push_back(branch.thenYield().getOperand(index));
    sources.push_back(branch.elseYield().getOperand(index));
  } else if (auto select = dyn_cast<arith::SelectOp>(result.getOwner())) {
    sources.push_back(select.getTrueValue());
    sources.push_back(select.getFalseValue());
  }
}

} // namespace

llvm::SmallSetVector<Value, 4>
sourcesOf(Value value, llvm::function_ref<void(OpResult, SmallVectorImpl<Value> &)> forwards) {
  llvm::SmallSetVector<Value, 4> names, ends;
  names.insert(value);
  for (size_t i = 0; i < names.size(); ++i) {
    Value name = names[i];
    SmallVector<Value> sources;
    if (auto argument = dyn_cast<BlockArgument>(name)) {
      followArgument(argument, sources);
    } else {
      followResult(cast<OpResult>(name), sources);
      if (sources.empty())
        forwards(cast<OpResult>(name), sources);
    }
    if (sources.empty())
      ends.insert(name);
    names.insert_range(sources);
  }
  return ends;
}

BlockArgument argumentOf(Value pointers) {
  auto sources = sourcesOf(pointers, [](OpResult result, SmallVectorImpl<Value> &from) {
    if (isa<tile::AddPtrOp, tile::SplatOp, tile::BroadcastOp, tile::ExpandDimsOp, tile::TransOp,
            tile::HintOp>(result.getOwner()))
      from.push_back(result.getOwner()->getOperand(0));
  });
  auto argument = sources.size() == 1 ? dyn_cast<BlockArgument>(sources.front()) : BlockArgument();
  bool isOfKernel = argument && isa<func::FuncOp>(argument.getOwner()->getParentOp());
  return isOfKernel ? argument : BlockArgument();
}

} // namespace kiln
