// tile.map: the function runs for one lane after the other, as it may branch and loop for each.

#include "compiler/Conversion/TileToCPU/Emitter.h"

using namespace mlir;

namespace kiln::cpu {

/// The region at the builder's place, with `elements` for its arguments.
SmallVector<Value> KernelEmitter::emitMapped(tile::MapOp op, ArrayRef<Value> elements) {
  Location place = loc;
  Block &body = op.getBody().front();
  for (auto [argument, element] : llvm::zip_equal(body.getArguments(), elements))
    setScalar(argument, element);
  emitBlock(body);
  SmallVector<Value> results = emittedScalars(body.getTerminator()->getOperands());
  loc = place;
  return results;
}

SmallVector<Value> KernelEmitter::emitMap(tile::MapOp op, ArrayRef<Value> operands) {
  unsigned lanes = 1;
  for (Value operand : operands)
    lanes = std::max(lanes, laneCount(operand));
  if (lanes == 1)
    return emitMapped(op, operands);
  SmallVector<Value> results;
  for (Value result : op.getResults())
    results.push_back(LLVM::PoisonOp::create(
        *b, loc, vectorOf(lowered(tile::elementTypeOf(result.getType())), lanes)));
  auto loop = scf::ForOp::create(*b, loc, index(0), index(lanes), index(1), results);
  OpBuilder::InsertionGuard restore(*b);
  b->setInsertionPointToStart(loop.getBody());
  VectorBuilder v = vectors();
  Value lane = loop.getInductionVar();
  SmallVector<Value> elements;
  for (Value operand : operands)
    elements.push_back(v.extract(operand, lane));
  SmallVector<Value> yields;
  for (auto [vector, element] : llvm::zip_equal(loop.getRegionIterArgs(), emitMapped(op, elements)))
    yields.push_back(v.insert(vector, element, lane));
  scf::YieldOp::create(*b, loc, yields);
  return SmallVector<Value>(loop.getResults());
}

} // namespace kiln::cpu
