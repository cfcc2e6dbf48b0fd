// Global memory: pointer arithmetic, loads and stores.
//
// A thread's registers along an axis are neighbours in memory as far as both the layout and the
// pointers' facts say; that many become one access, up to the target's widest. Stores leave out
// registers, lanes and warps that hold duplicates, so that an element is written once.
//
// A bound may end in the midst of such a vector, unless it is known to be a multiple of the
// vector's length. Then the thread asks once whether this happens to any of its vectors, which only
// those at the array's edge can answer with yes, and there goes element by element; otherwise a
// vector's first mask speaks for all of it. Refused: one branch for the program instance whether
// its whole tile is inside. It leaves wide accesses to tiles that are, and so none to an operand
// with few rows.

#include "compiler/Conversion/TileGPUToLLVM/SharedTransfer.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace kiln {
namespace {

struct Access {
  Value pointers, mask; ///< as the tile operation has them; mask may be null
  unsigned elementBits;
};

struct AccessPlan {
  RegisterGroups groups;
  /// Of a group only the first elements may be in the mask.
  bool mayStraddle = false;
};

AccessPlan planAccess(const Access &access, const Lowering &lowering) {
  auto type = dyn_cast<RankedTensorType>(access.pointers.getType());
  if (!type)
    return {{{0}}};
  const LinearLayout &layout = tilegpu::layoutOf(type);
  SmallVector<unsigned> best;
  unsigned along = 0;
  for (unsigned axis = 0; axis < type.getRank(); ++axis) {
    int64_t limit = lowering.target().maxVectorBits / access.elementBits;
    limit = std::min(limit, lowering.facts.accessLength(access.pointers, access.mask, axis));
    SmallVector<unsigned> bits = neighbourBits(layout, layout.out().position(Dim::axis(axis)),
                                               std::min(limit, layout.out().size(Dim::axis(axis))));
    if (bits.size() > best.size()) {
      best = bits;
      along = axis;
    }
  }
  bool mayStraddle =
      access.mask && lowering.facts.maskConstancy(access.mask, along) < int64_t(1) << best.size();
  return {groupRegisters(layout, best), mayStraddle};
}

/// Whether a bound ends within any of the thread's groups.
Value straddles(const RegisterGroups &groups, ValueRange mask, const ScalarBuilder &s) {
  Value any;
  for (ArrayRef<unsigned> group : groups) {
    Value here = s.bitAnd(mask[group.front()], s.bitXor(mask[group.back()], s.boolean(true)));
    any = any ? s.bitOr(any, here) : here;
  }
  return any;
}

/// The groups, each register on its own.
RegisterGroups elementsOf(const RegisterGroups &groups) {
  RegisterGroups elements;
  for (ArrayRef<unsigned> group : groups)
    for (unsigned reg : group)
      elements.push_back({reg});
  return elements;
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

/// One element stays as it is.
Value packVector(const ScalarBuilder &s, ArrayRef<Value> elements) {
  if (elements.size() == 1)
    return elements[0];
  return s.pack(
      llvm::map_to_vector(elements, [&](Value element) { return asVectorElement(s, element); }));
}

Value packGroup(const ScalarBuilder &s, ValueRange registers, ArrayRef<unsigned> group) {
  return packVector(s, llvm::map_to_vector(group, [&](unsigned reg) { return registers[reg]; }));
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
    Value owner = tilegpu::isReadForAll(op) ? ownerOf(op.getPtr(), lowering, s) : Value();
    bool share = owner && !op->use_empty();
    Value scratch = share ? lowering.scratch(s, op) : Value();
    if (share && !scratch)
      return failure();
    AccessPlan plan = planAccess({op.getPtr(), op.getMask(), scalarBits(element)}, lowering);
    SmallVector<Value> results(adaptor.getPtr().size());
    for (auto [group, loaded] :
         llvm::zip_equal(plan.groups, loadPlanned(op, adaptor, plan, owner, s)))
      for (auto [reg, value] : llvm::zip_equal(group, s.unpack(loaded)))
        results[reg] = s.bitcast(value, element);
    if (isa<RankedTensorType>(op.getType()))
      for (auto [reg, first] : llvm::enumerate(firstDuplicates(tilegpu::layoutOf(op.getType()))))
        results[reg] = results[first];
    if (share)
      shareOwners(s, lowering, op.getType(), owner, scratch, results);
    replace(op, rewriter, results);
    return success();
  }

  /// A scalar or vector for each group.
  SmallVector<Value> loadPlanned(tile::LoadOp op, Adaptor adaptor, const AccessPlan &plan,
                                 Value owner, const ScalarBuilder &s) const {
    auto loadAll = [&](const RegisterGroups &groups, const ScalarBuilder &s) {
      return llvm::map_to_vector(groups, [&](ArrayRef<unsigned> group) {
        return loadGroup(op, adaptor, group, owner, s);
      });
    };
    if (!plan.mayStraddle)
      return loadAll(plan.groups, s);
    auto branch = scf::IfOp::create(
        s.builder(), op.getLoc(), straddles(plan.groups, adaptor.getMask(), s),
        [&](OpBuilder &b, Location loc) {
          ScalarBuilder inner(b, loc);
          SmallVector<Value> elements = loadAll(elementsOf(plan.groups), inner), vectors;
          ArrayRef<Value> rest = elements;
          for (ArrayRef<unsigned> group : plan.groups) {
            vectors.push_back(packVector(inner, rest.take_front(group.size())));
            rest = rest.drop_front(group.size());
          }
          scf::YieldOp::create(b, loc, vectors);
        },
        [&](OpBuilder &b, Location loc) {
          scf::YieldOp::create(b, loc, loadAll(plan.groups, ScalarBuilder(b, loc)));
        });
    return llvm::to_vector_of<Value>(branch.getResults());
  }

  Value loadGroup(tile::LoadOp op, Adaptor adaptor, ArrayRef<unsigned> group, Value owner,
                  const ScalarBuilder &s) const {
    OpBuilder &b = s.builder();
    Type type = lowering.elementType(op.getType());
    if (group.size() > 1)
      type =
          VectorType::get(group.size(), isa<LLVM::LLVMPointerType>(type) ? b.getI64Type() : type);
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
    Value owner = ownerOf(op.getPtr(), lowering, s);
    AccessPlan plan = planAccess({op.getPtr(), op.getMask(), scalarBits(element)}, lowering);
    auto storeAll = [&](const RegisterGroups &groups, const ScalarBuilder &s) {
      for (ArrayRef<unsigned> group : groups)
        storeGroup(op, adaptor, group, owner, s);
    };
    if (plan.mayStraddle)
      scf::IfOp::create(
          rewriter, op.getLoc(), straddles(plan.groups, adaptor.getMask(), s),
          [&](OpBuilder &b, Location loc) {
            storeAll(elementsOf(plan.groups), ScalarBuilder(b, loc));
            scf::YieldOp::create(b, loc);
          },
          [&](OpBuilder &b, Location loc) {
            storeAll(plan.groups, ScalarBuilder(b, loc));
            scf::YieldOp::create(b, loc);
          });
    else
      storeAll(plan.groups, s);
    rewriter.eraseOp(op);
    return success();
  }

  void storeGroup(tile::StoreOp op, Adaptor adaptor, ArrayRef<unsigned> group, Value owner,
                  const ScalarBuilder &s) const {
    Value predicate = both(owner, op.getMask() ? adaptor.getMask()[group[0]] : Value(), s);
    tilegpu::GlobalStoreOp::create(s.builder(), op.getLoc(), adaptor.getPtr()[group[0]],
                                   packGroup(s, adaptor.getValue(), group), predicate,
                                   op.getCache(), op.getEvict());
  }
};

} // namespace

void populateMemoryPatterns(RewritePatternSet &patterns, const Lowering &lowering) {
  patterns.add<AddPtrSpread, LoadSpread, StoreSpread>(lowering, patterns.getContext());
}

} // namespace kiln
