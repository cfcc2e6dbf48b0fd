// Expansion of target operations: predicated global accesses as branches.
//
// The hardware has an execution mask per lane, and LLVM turns a divergent branch into saving and
// restricting it. Refused: selecting a harmless address for masked lanes, which would need memory
// that may be read and written.

#include "compiler/Conversion/TileGPUToROCDL/ROCDLLowering.h"

#include "compiler/Conversion/TargetLowering/ScalarBuilder.h"

using namespace mlir;

namespace kiln {
namespace {

unsigned bytesOf(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return vector ? scalarBits(vector.getElementType()) * vector.getNumElements() / 8
                : scalarBits(type) / 8;
}

/// Data that is used once need not displace other lines.
bool isStreaming(tile::CacheModifier cache, tile::EvictionPolicy evict) {
  return cache == tile::CacheModifier::CS || cache == tile::CacheModifier::CG ||
         evict == tile::EvictionPolicy::First;
}

/// Splits the block after `op`: the builder stands in a new block that runs only if `predicate`;
/// what follows `op` continues in the block returned, which has an argument if `otherwise` is
/// given.
Block *branchAround(Operation *op, Value predicate, Value otherwise, OpBuilder &b) {
  Location loc = op->getLoc();
  Block *before = op->getBlock();
  Block *after = before->splitBlock(op->getNextNode());
  Block *access = b.createBlock(after);
  b.setInsertionPointToEnd(before);
  SmallVector<Value> passed;
  if (otherwise) {
    after->addArgument(otherwise.getType(), loc);
    passed.push_back(otherwise);
  }
  LLVM::CondBrOp::create(b, loc, predicate, access, ValueRange(), after, passed);
  b.setInsertionPointToStart(access);
  return after;
}

} // namespace

LogicalResult expandLoadToBranch(tilegpu::GlobalLoadOp op, OpBuilder &b) {
  Location loc = op.getLoc();
  auto load = [&] {
    return LLVM::LoadOp::create(b, loc, op.getType(), op.getPtr(), bytesOf(op.getType()),
                                op.getIsVolatile() || op.getCache() == tile::CacheModifier::CV,
                                isStreaming(op.getCache(), op.getEvict()));
  };
  if (!op.getPredicate()) {
    op.replaceAllUsesWith(load().getResult());
    op.erase();
    return success();
  }
  Value other = op.getOther();
  if (!other)
    other = LLVM::ZeroOp::create(b, loc, op.getType());
  Block *after = branchAround(op, op.getPredicate(), other, b);
  LLVM::BrOp::create(b, loc, ValueRange(load().getResult()), after);
  op.replaceAllUsesWith(Value(after->getArgument(after->getNumArguments() - 1)));
  op.erase();
  return success();
}

LogicalResult expandStoreToBranch(tilegpu::GlobalStoreOp op, OpBuilder &b) {
  Location loc = op.getLoc();
  auto store = [&] {
    LLVM::StoreOp::create(b, loc, op.getValue(), op.getPtr(), bytesOf(op.getValue().getType()),
                          /*isVolatile=*/false, isStreaming(op.getCache(), op.getEvict()));
  };
  if (!op.getPredicate()) {
    store();
    op.erase();
    return success();
  }
  Block *after = branchAround(op, op.getPredicate(), Value(), b);
  store();
  LLVM::BrOp::create(b, loc, ValueRange(), after);
  op.erase();
  return success();
}

} // namespace kiln
