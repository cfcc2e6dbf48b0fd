// Expansion of target operations: predicated global accesses.
//
// Lanes that load nothing read zeros that the module has, so that a load stays one instruction
// among others: behind a branch LLVM would wait for it before the next one, and could not place it
// between products. For stores there is no such memory. They are branches: the hardware has an
// execution mask per lane, which LLVM saves and restricts.

#include "compiler/Conversion/TileGPUToROCDL/ROCDLLowering.h"

#include "compiler/Conversion/TargetLowering/FirstElements.h"
#include "compiler/Conversion/TargetLowering/ScalarBuilder.h"

using namespace mlir;

namespace kiln {
namespace {

constexpr unsigned zeroBytes = 16;

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

/// What lanes whose predicate is false read.
Value zerosFor(tilegpu::GlobalLoadOp op, OpBuilder &b) {
  assert(bytesOf(op.getType()) <= zeroBytes && "expected one access");
  return zerosOfModule(op, b);
}

} // namespace

Block *branchAround(Operation *op, Value predicate, OpBuilder &b) {
  Location loc = op->getLoc();
  Block *before = op->getBlock();
  Block *after = before->splitBlock(op->getNextNode());
  Block *access = b.createBlock(after);
  b.setInsertionPointToEnd(before);
  LLVM::CondBrOp::create(b, loc, predicate, access, ValueRange(), after, ValueRange());
  b.setInsertionPointToStart(access);
  return after;
}

Value zerosOfModule(Operation *op, OpBuilder &b) {
  constexpr llvm::StringLiteral symbol = "kiln_zeros";
  constexpr unsigned globalSpace = 1;
  auto module = op->getParentOfType<ModuleOp>();
  auto zeros = module.lookupSymbol<LLVM::GlobalOp>(symbol);
  if (!zeros) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    // The place of one load, inlined as it may be, is not that of all.
    Location nowhere = b.getUnknownLoc();
    Type type = LLVM::LLVMArrayType::get(b.getI8Type(), zeroBytes);
    zeros = LLVM::GlobalOp::create(b, nowhere, type, /*isConstant=*/true, LLVM::Linkage::Internal,
                                   symbol, Attribute(), /*alignment=*/zeroBytes, globalSpace);
    b.createBlock(&zeros.getInitializerRegion());
    LLVM::ReturnOp::create(b, nowhere, Value(LLVM::ZeroOp::create(b, nowhere, type)));
  }
  return LLVM::AddressOfOp::create(b, op->getLoc(), zeros);
}

LogicalResult expandGlobalLoad(tilegpu::GlobalLoadOp op, OpBuilder &b) {
  Location loc = op.getLoc();
  Value pointer = op.getPtr(), predicate = op.getPredicate();
  if (predicate)
    pointer = LLVM::SelectOp::create(b, loc, predicate, pointer, zerosFor(op, b));
  Value loaded =
      op.getCache() == tile::CacheModifier::CG && !op.getIsVolatile()
          ? loadAtScope(b, loc, op.getType(), pointer, "agent")
          : LLVM::LoadOp::create(b, loc, op.getType(), pointer, bytesOf(op.getType()),
                                 op.getIsVolatile() || op.getCache() == tile::CacheModifier::CV,
                                 isStreaming(op.getCache(), op.getEvict()));
  Value other = op.getOther();
  if (!op.getElements().empty() && other)
    loaded = chooseFirst(ScalarBuilder(b, loc), loaded, op.getElements(), other);
  else if (predicate && other && !isZeroOrNothing(other))
    loaded = LLVM::SelectOp::create(b, loc, predicate, loaded, other);
  op.replaceAllUsesWith(loaded);
  op.erase();
  return success();
}

LogicalResult expandGlobalStore(tilegpu::GlobalStoreOp op, OpBuilder &b) {
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
  Block *after = branchAround(op, op.getPredicate(), b);
  store();
  LLVM::BrOp::create(b, loc, ValueRange(), after);
  op.erase();
  return success();
}

LogicalResult expandGlobalReduce(tilegpu::GlobalReduceOp op, StringRef scope,
                                 function_ref<void(LLVM::AtomicRMWOp)> annotate, OpBuilder &b) {
  Location loc = op.getLoc();
  Block *after = op.getPredicate() ? branchAround(op, op.getPredicate(), b) : nullptr;
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
