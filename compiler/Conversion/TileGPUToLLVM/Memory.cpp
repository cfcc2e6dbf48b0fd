// Global memory: pointer arithmetic, loads and stores. Stores leave out registers, lanes and warps
// that hold duplicates, so that an element is written once.

#include "compiler/Conversion/TileGPUToLLVM/AccessPlan.h"
#include "compiler/Conversion/TileGPUToLLVM/SharedTransfer.h"
#include "compiler/Dialect/TileGPU/Transforms/OwnerLoads.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SmallVectorExtras.h"

using namespace mlir;

namespace kiln {
namespace {

struct AddPtrDistribution : DistributionPattern<tile::AddPtrOp> {
  using DistributionPattern::DistributionPattern;
  LogicalResult distribute(tile::AddPtrOp op, Adaptor adaptor, const ScalarBuilder &s,
                           ConversionPatternRewriter &rewriter) const override {
    Type pointee = cast<tile::PtrType>(tile::elementTypeOf(op.getType())).getPointee();
    Type element = lowering.elementType(pointee);
    auto advance = [&](Value pointer, LLVM::GEPArg offset) -> Value {
      return LLVM::GEPOp::create(rewriter, op.getLoc(), pointer.getType(), element, pointer,
                                 offset);
    };
    SmallVector<Value> results;
    for (auto [reg, step] : llvm::enumerate(steps(op)))
      results.push_back(step.first == reg ? advance(adaptor.getPtr()[reg], adaptor.getOffset()[reg])
                                          : advance(results[step.first], int32_t(step.places)));
    replace(op, rewriter, results);
    return success();
  }

private:
  /// Neighbours in memory are a constant away from the first: one register holds the address of
  /// them all. Those of which only the source says so are, as far as an access reaches.
  SmallVector<RegisterStep> steps(tile::AddPtrOp op) const {
    auto type = dyn_cast<RankedTensorType>(op.getType());
    if (!type)
      return {{0, 0}};
    const LinearLayout &layout = tilegpu::layoutOf(type);
    AxisInfo info = lowering.facts.get(op);
    unsigned axis = llvm::max_element(info.contiguity) - info.contiguity.begin();
    int64_t bits = 8 * cast<tile::PtrType>(type.getElementType()).getElementBytes();
    int64_t ofAccess = std::max<int64_t>(1, lowering.target().maxVectorBits / bits);
    int64_t group = std::min({info.contiguity[axis], layout.out().size(Dim::axis(axis)),
                              std::max(ofAccess, lowering.proven.get(op).contiguity[axis])});
    return registerSteps(layout, layout.out().position(Dim::axis(axis)), group);
  }
};

struct LoadDistribution : DistributionPattern<tile::LoadOp> {
  using DistributionPattern::DistributionPattern;
  LogicalResult distribute(tile::LoadOp op, Adaptor adaptor, const ScalarBuilder &s,
                           ConversionPatternRewriter &rewriter) const override {
    Type element = lowering.elementType(op.getType());
    bool isForAll = tilegpu::isReadForAll(op);
    Value owner = isForAll || isLoadedByOwner(op) ? ownerOf(op.getPtr(), lowering, s) : Value();
    bool share = isForAll && owner && !op->use_empty();
    Value scratch = share ? lowering.scratch(s, op) : Value();
    if (share && !scratch)
      return failure();
    bool isTensor = isa<RankedTensorType>(op.getType());
    BinaryVector equal = isTensor ? lowering.equalNeighbours(op.getResult()) : 0;
    AccessPlan plan = planAccess(
        {op.getPtr(), op.getMask(), scalarBits(element), lowering.target().maxVectorBits, equal},
        lowering);
    SmallVector<Value> results(adaptor.getPtr().size());
    for (auto [group, loaded] :
         llvm::zip_equal(plan.groups, loadPlanned(op, adaptor, plan, owner, s)))
      for (auto [reg, value] : llvm::zip_equal(group, s.unpack(loaded)))
        results[reg] = s.bitcast(value, element);
    if (isTensor)
      for (auto [reg, first] :
           llvm::enumerate(firstDuplicates(tilegpu::layoutOf(op.getType()), equal)))
        results[reg] = results[first];
    if (share)
      shareOwners(s, lowering, op.getType(), owner, scratch, results, /*ordersGlobal=*/false);
    replace(op, rewriter, results);
    return success();
  }

  /// A scalar or vector for each group.
  SmallVector<Value> loadPlanned(tile::LoadOp op, Adaptor adaptor, const AccessPlan &plan,
                                 Value owner, const ScalarBuilder &s) const {
    auto loadAll = [&](ArrayRef<SmallVector<unsigned>> groups, const ScalarBuilder &s,
                       bool mayStraddle = false) {
      return llvm::map_to_vector(groups, [&](ArrayRef<unsigned> group) {
        return loadGroup(op, adaptor, group, owner, mayStraddle, s);
      });
    };
    if (!plan.mayStraddle || (lowering.target().loadsBeyondMasks && !op.getIsVolatile())) {
      size_t first = groupsToStart(op, plan.groups);
      ArrayRef<SmallVector<unsigned>> groups = plan.groups;
      SmallVector<Value> vectors = loadAll(groups.take_front(first), s, plan.mayStraddle);
      if (first)
        lowering.device.startLoads(s.builder(), op.getLoc());
      llvm::append_range(vectors, loadAll(groups.drop_front(first), s, plan.mayStraddle));
      return vectors;
    }
    if (areFewPairs(plan.groups))
      return llvm::map_to_vector(plan.groups, [&](ArrayRef<unsigned> pair) {
        return loadPair(op, adaptor, pair, owner, s);
      });
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

  /// Two predicated loads of each cost less than a branch, which what is loaded next would wait
  /// for.
  static bool areFewPairs(const RegisterGroups &groups) {
    constexpr unsigned few = 4;
    return groups.size() <= few &&
           llvm::all_of(groups, [](ArrayRef<unsigned> group) { return group.size() == 2; });
  }

  /// Both elements if the mask has both, or else the first alone.
  Value loadPair(tile::LoadOp op, Adaptor adaptor, ArrayRef<unsigned> pair, Value owner,
                 const ScalarBuilder &s) const {
    Value hasFirst = adaptor.getMask()[pair[0]], hasBoth = adaptor.getMask()[pair[1]];
    Value endsWithin = s.bitAnd(hasFirst, s.bitXor(hasBoth, s.boolean(true)));
    Value vector = loadWhere(op, adaptor, pair, both(owner, hasBoth, s), {}, s);
    Value first = loadWhere(op, adaptor, pair.take_front(), both(owner, endsWithin, s), {}, s);
    SmallVector<Value> elements = s.unpack(vector);
    first = s.bitcast(first, elements[0].getType());
    elements[0] = s.select(endsWithin, first, elements[0]);
    return packVector(s, elements);
  }

  /// How many groups start ahead of all that follows.
  size_t groupsToStart(tile::LoadOp op, const RegisterGroups &groups) const {
    auto started = op->getAttrOfType<IntegerAttr>(tilegpu::TileGPUDialect::startedAttr);
    if (!started || groups.empty())
      return 0;
    unsigned bits = scalarBits(lowering.elementType(op.getType())) * groups.front().size();
    return std::min<size_t>(groups.size(), started.getInt() / llvm::divideCeil(bits, 32));
  }

  Value loadGroup(tile::LoadOp op, Adaptor adaptor, ArrayRef<unsigned> group, Value owner,
                  bool mayStraddle, const ScalarBuilder &s) const {
    Value predicate = both(owner, op.getMask() ? adaptor.getMask()[group[0]] : Value(), s);
    SmallVector<Value> elements;
    if (mayStraddle && group.size() > 1)
      for (unsigned reg : group)
        elements.push_back(both(owner, adaptor.getMask()[reg], s));
    return loadWhere(op, adaptor, group, predicate, elements, s);
  }

  Value loadWhere(tile::LoadOp op, Adaptor adaptor, ArrayRef<unsigned> group, Value predicate,
                  ValueRange elements, const ScalarBuilder &s) const {
    OpBuilder &b = s.builder();
    Type type = lowering.elementType(op.getType());
    if (group.size() > 1)
      type =
          VectorType::get(group.size(), isa<LLVM::LLVMPointerType>(type) ? b.getI64Type() : type);
    Value other = op.getOther() ? packGroup(s, adaptor.getOther(), group) : Value();
    auto load = tilegpu::GlobalLoadOp::create(b, op.getLoc(), type, adaptor.getPtr()[group[0]],
                                              predicate, other, elements, op.getCache(),
                                              op.getEvict(), op.getIsVolatile());
    if (isLoadedByOwner(op) && !op.getMask())
      setLoadedByOwner(load);
    return load;
  }
};

struct StoreDistribution : DistributionPattern<tile::StoreOp> {
  using DistributionPattern::DistributionPattern;
  LogicalResult distribute(tile::StoreOp op, Adaptor adaptor, const ScalarBuilder &s,
                           ConversionPatternRewriter &rewriter) const override {
    Type element = lowering.elementType(op.getValue().getType());
    Value owner = ownerOf(op.getPtr(), lowering, s);
    AccessPlan plan = planAccess(
        {op.getPtr(), op.getMask(), scalarBits(element), lowering.target().maxVectorBits},
        lowering);
    makeAccesses(plan, adaptor.getMask(), s, [&](ArrayRef<unsigned> group, const ScalarBuilder &s) {
      storeGroup(op, adaptor, group, owner, s);
    });
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
  patterns.add<AddPtrDistribution, LoadDistribution, StoreDistribution>(lowering,
                                                                        patterns.getContext());
}

} // namespace kiln
