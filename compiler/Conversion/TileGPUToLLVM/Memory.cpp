// Global memory: pointer arithmetic, loads and stores.
//
// A thread's registers along an axis are neighbours in memory as far as both the layout and the
// pointers' facts say; that many become one access, up to the target's widest. Stores leave out
// registers, lanes and warps that hold duplicates, so that an element is written once.

#include "compiler/Conversion/TileGPUToLLVM/SharedTransfer.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace kiln {
namespace {

struct Access {
  Value pointers, mask; ///< as the tile operation has them; mask may be null
  unsigned elementBits;
};

RegisterGroups planAccess(const Access &access, const Lowering &lowering) {
  auto type = dyn_cast<RankedTensorType>(access.pointers.getType());
  if (!type)
    return {{0}};
  const LinearLayout &layout = tilegpu::layoutOf(type);
  SmallVector<unsigned> best;
  for (unsigned axis = 0; axis < type.getRank(); ++axis) {
    int64_t limit = lowering.target().maxVectorBits / access.elementBits;
    limit = std::min(limit, lowering.facts.vectorLength(access.pointers, axis));
    if (access.mask)
      limit = std::min(limit, lowering.facts.maskConstancy(access.mask, axis));
    SmallVector<unsigned> bits = neighbourBits(layout, layout.out().position(Dim::axis(axis)),
                                               std::min(limit, layout.out().size(Dim::axis(axis))));
    if (bits.size() > best.size())
      best = bits;
  }
  return groupRegisters(layout, best);
}

/// i1: the one thread of those that hold an element which stores it. Null when no others do.
Value ownerOf(Value pointers, const Lowering &lowering, const ScalarBuilder &s) {
  Value thread = lowering.device.threadId(s.builder(), s.location());
  return isa<RankedTensorType>(pointers.getType())
             ? isOwner(s, tilegpu::layoutOf(pointers), thread, lowering.target())
             : s.equal(thread, 0);
}

/// Null stands for true.
Value both(Value a, Value b, const ScalarBuilder &s) { return a && b ? s.bitAnd(a, b) : a ? a : b; }

/// Vectors hold integers, floats, and addresses as i64.
Value asVectorElement(const ScalarBuilder &s, Value value) {
  return isa<LLVM::LLVMPointerType>(value.getType()) ? s.bitcast(value, s.builder().getI64Type())
                                                     : value;
}

Value packGroup(const ScalarBuilder &s, ValueRange registers, ArrayRef<unsigned> group) {
  if (group.size() == 1)
    return registers[group[0]];
  SmallVector<Value> elements;
  for (unsigned reg : group)
    elements.push_back(asVectorElement(s, registers[reg]));
  return s.pack(elements);
}

struct AddPtrSpread : SpreadPattern<tile::AddPtrOp> {
  using SpreadPattern::SpreadPattern;
  LogicalResult spread(tile::AddPtrOp op, Adaptor adaptor, const ScalarBuilder &s,
                       ConversionPatternRewriter &rewriter) const override {
    Type pointee = cast<tile::PtrType>(tile::elementTypeOf(op.getType())).getPointee();
    Type element = lowering.elementType(pointee);
    SmallVector<Value> results;
    for (auto [pointer, offset] : llvm::zip_equal(adaptor.getPtr(), adaptor.getOffset()))
      results.push_back(LLVM::GEPOp::create(rewriter, op.getLoc(), pointer.getType(), element,
                                            pointer, ArrayRef<LLVM::GEPArg>{offset}));
    replace(op, rewriter, results);
    return success();
  }
};

struct LoadSpread : SpreadPattern<tile::LoadOp> {
  using SpreadPattern::SpreadPattern;
  LogicalResult spread(tile::LoadOp op, Adaptor adaptor, const ScalarBuilder &s,
                       ConversionPatternRewriter &rewriter) const override {
    Type element = lowering.elementType(op.getType());
    Access access{op.getPtr(), op.getMask(), scalarBits(element)};
    Value owner = tilegpu::isReadForAll(op) ? ownerOf(op.getPtr(), lowering, s) : Value();
    bool share = owner && !op->use_empty();
    Value scratch = share ? lowering.scratch(s, op) : Value();
    if (share && !scratch)
      return failure();
    SmallVector<Value> results(adaptor.getPtr().size());
    for (ArrayRef<unsigned> group : planAccess(access, lowering)) {
      Value loaded = loadGroup(op, adaptor, group, element, owner, s);
      for (auto [reg, value] : llvm::zip_equal(group, s.unpack(loaded)))
        results[reg] = s.bitcast(value, element);
    }
    if (isa<RankedTensorType>(op.getType()))
      for (auto [reg, first] : llvm::enumerate(firstDuplicates(tilegpu::layoutOf(op.getType()))))
        results[reg] = results[first];
    if (share)
      shareOwners(s, lowering, op.getType(), owner, scratch, results);
    replace(op, rewriter, results);
    return success();
  }

  Value loadGroup(tile::LoadOp op, Adaptor adaptor, ArrayRef<unsigned> group, Type element,
                  Value owner, const ScalarBuilder &s) const {
    OpBuilder &b = s.builder();
    Type type = element;
    if (group.size() > 1)
      type = VectorType::get(group.size(),
                             isa<LLVM::LLVMPointerType>(element) ? b.getI64Type() : element);
    Value predicate = both(owner, op.getMask() ? adaptor.getMask()[group[0]] : Value(), s);
    Value other = op.getOther() ? packGroup(s, adaptor.getOther(), group) : Value();
    return tilegpu::GlobalLoadOp::create(b, op.getLoc(), type, adaptor.getPtr()[group[0]],
                                         predicate, other, op.getCache(), op.getEvict(),
                                         op.getIsVolatile());
  }
};

struct StoreSpread : SpreadPattern<tile::StoreOp> {
  using SpreadPattern::SpreadPattern;
  LogicalResult spread(tile::StoreOp op, Adaptor adaptor, const ScalarBuilder &s,
                       ConversionPatternRewriter &rewriter) const override {
    Type element = lowering.elementType(op.getValue().getType());
    Access access{op.getPtr(), op.getMask(), scalarBits(element)};
    Value owner = ownerOf(op.getPtr(), lowering, s);
    for (ArrayRef<unsigned> group : planAccess(access, lowering)) {
      Value predicate = both(owner, op.getMask() ? adaptor.getMask()[group[0]] : Value(), s);
      tilegpu::GlobalStoreOp::create(rewriter, op.getLoc(), adaptor.getPtr()[group[0]],
                                     packGroup(s, adaptor.getValue(), group), predicate,
                                     op.getCache(), op.getEvict());
    }
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void populateMemoryPatterns(RewritePatternSet &patterns, const Lowering &lowering) {
  patterns.add<AddPtrSpread, LoadSpread, StoreSpread>(lowering, patterns.getContext());
}

} // namespace kiln
