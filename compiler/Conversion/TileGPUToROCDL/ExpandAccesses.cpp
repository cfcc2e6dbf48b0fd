// Expansion of target operations: predicated global accesses as branches.
//
// The hardware has an execution mask per lane, and LLVM turns a divergent branch into saving and
// restricting it. Refused: selecting a harmless address for masked lanes, which would need memory
// that may be read and written.

#include "compiler/Conversion/TileGPUToROCDL/ROCDLLowering.h"

#include "compiler/Conversion/TileGPUToLLVM/ScalarBuilder.h"

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
  return cache == tile::CacheModifier::CS || evict == tile::EvictionPolicy::First;
}

/// What an access of a scope moves at once.
Type wordsOf(OpBuilder &b, unsigned bytes) {
  return bytes <= 8 ? Type(b.getIntegerType(8 * bytes))
                    : VectorType::get(bytes / 8, b.getI64Type());
}

Value wordAddress(OpBuilder &b, Location loc, Value pointer, int32_t word) {
  return LLVM::GEPOp::create(b, loc, pointer.getType(), b.getI64Type(), pointer,
                             ArrayRef<LLVM::GEPArg>{word});
}

/// A load that goes by caches which others' stores do not reach: relaxed at `scope`, which LLVM
/// knows of up to 64 bits.
Value loadAtScope(OpBuilder &b, Location loc, Type type, Value pointer, StringRef scope) {
  ScalarBuilder s(b, loc);
  unsigned bytes = bytesOf(type);
  auto load = [&](Type word, int32_t number) -> Value {
    return LLVM::LoadOp::create(b, loc, word, wordAddress(b, loc, pointer, number),
                                std::min(bytes, 8u), /*isVolatile=*/false,
                                /*isNonTemporal=*/false, /*isInvariant=*/false,
                                /*isInvariantGroup=*/false, LLVM::AtomicOrdering::monotonic, scope);
  };
  if (bytes <= 8)
    return s.bitcast(load(b.getIntegerType(8 * bytes), 0), type);
  SmallVector<Value> words;
  for (unsigned word = 0; word < bytes / 8; ++word)
    words.push_back(load(b.getI64Type(), int32_t(word)));
  return s.bitcast(s.pack(words), type);
}

/// A store through all caches that others at `scope` do not share.
void storeAtScope(OpBuilder &b, Location loc, Value value, Value pointer, StringRef scope) {
  ScalarBuilder s(b, loc);
  unsigned bytes = bytesOf(value.getType());
  for (auto [number, word] : llvm::enumerate(s.unpack(s.bitcast(value, wordsOf(b, bytes)))))
    LLVM::StoreOp::create(b, loc, word, wordAddress(b, loc, pointer, int32_t(number)),
                          std::min(bytes, 8u), /*isVolatile=*/false, /*isNonTemporal=*/false,
                          /*isInvariantGroup=*/false, LLVM::AtomicOrdering::monotonic, scope);
}

} // namespace

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

LogicalResult expandLoadToBranch(tilegpu::GlobalLoadOp op, OpBuilder &b) {
  Location loc = op.getLoc();
  auto load = [&]() -> Value {
    if (op.getCache() == tile::CacheModifier::CG && !op.getIsVolatile())
      return loadAtScope(b, loc, op.getType(), op.getPtr(), "agent");
    return LLVM::LoadOp::create(b, loc, op.getType(), op.getPtr(), bytesOf(op.getType()),
                                op.getIsVolatile() || op.getCache() == tile::CacheModifier::CV,
                                isStreaming(op.getCache(), op.getEvict()));
  };
  if (!op.getPredicate()) {
    op.replaceAllUsesWith(load());
    op.erase();
    return success();
  }
  Value other = op.getOther();
  if (!other)
    other = LLVM::ZeroOp::create(b, loc, op.getType());
  Block *after = branchAround(op, op.getPredicate(), other, b);
  LLVM::BrOp::create(b, loc, ValueRange(load()), after);
  op.replaceAllUsesWith(Value(after->getArgument(after->getNumArguments() - 1)));
  op.erase();
  return success();
}

LogicalResult expandStoreToBranch(tilegpu::GlobalStoreOp op, OpBuilder &b) {
  Location loc = op.getLoc();
  auto store = [&] {
    if (op.getCache() == tile::CacheModifier::WT)
      return storeAtScope(b, loc, op.getValue(), op.getPtr(), "");
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

LogicalResult expandReduceToBranch(tilegpu::GlobalReduceOp op, StringRef scope,
                                   function_ref<void(LLVM::AtomicRMWOp)> annotate, OpBuilder &b) {
  Location loc = op.getLoc();
  Block *after = op.getPredicate() ? branchAround(op, op.getPredicate(), Value(), b) : nullptr;
  auto atomic = LLVM::AtomicRMWOp::create(b, loc, LLVM::AtomicBinOp::fadd, op.getPtr(),
                                          op.getValue(), LLVM::AtomicOrdering::monotonic, scope,
                                          bytesOf(op.getValue().getType()));
  annotate(atomic);
  if (after)
    LLVM::BrOp::create(b, loc, ValueRange(), after);
  op.erase();
  return success();
}

} // namespace kiln
