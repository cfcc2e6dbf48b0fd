// Totals of loops, put together across threads once, behind the loop.
//
//     for …: total = total * scale + sum of x along an axis
//
// combines what different threads hold of x in every iteration: by shuffles, and where warps share
// the axis through shared memory, with barriers. The combination is associative and commutes, so
// each thread can carry its own part of the total, and parts are combined behind the loop:
//
//     for …: part = part * scale + sum of the thread's own elements of x
//     total = sum of part along the axis
//
// `part` is a tensor like x whose axis is cut down to what lies in different threads. The scale may
// be missing; without one it may be a product, a maximum, … as well. Floats are added in another
// order than with a total in each iteration, as within a reduction; and a scale of infinity gives
// NaN where one part is 0 and others are not. So it is with totals of unrolled loops:
//
//     total + sum of x + sum of y = total + sum of (parts of x + parts of y)

#include "compiler/Dialect/Tile/Combiners.h"
#include "compiler/Dialect/TileGPU/TileGPU.h"
#include "compiler/Dialect/TileGPU/Transforms/Passes.h"
#include "compiler/Layout/AxisSteps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace kiln {
namespace {

/// What a loop carries from iteration to iteration only to combine it with a reduction's result.
struct CarriedTotal {
  scf::ForOp loop;
  unsigned number; ///< of the loop's results
  tile::ReduceOp reduce;
  arith::MulFOp scaling; ///< null: none
  Operation *combination;
};

/// The only use of `value`, if it is in the loop's own block.
Operation *onlyUser(Value value, scf::ForOp loop) {
  if (!value.hasOneUse())
    return nullptr;
  Operation *user = *value.user_begin();
  return user->getBlock() == loop.getBody() ? user : nullptr;
}

Value otherOperand(Operation *op, Value operand) {
  return op->getOperand(0) == operand ? op->getOperand(1) : op->getOperand(0);
}

std::optional<CarriedTotal> carriedTotal(scf::ForOp loop, unsigned number) {
  CarriedTotal found{loop, number, {}, {}, {}};
  Value before = loop.getRegionIterArg(number);
  Operation *user = onlyUser(before, loop);
  if (auto product = dyn_cast_or_null<arith::MulFOp>(user)) {
    Operation *next = onlyUser(product.getResult(), loop);
    if (isa_and_nonnull<arith::AddFOp>(next)) {
      found.scaling = product;
      before = product.getResult();
      user = next;
    }
  }
  if (!user || user->getNumOperands() != 2 || user->getNumResults() != 1 ||
      loop.getYieldedValues()[number] != user->getResult(0) || !user->getResult(0).hasOneUse())
    return std::nullopt;
  found.combination = user;
  found.reduce = otherOperand(user, before).getDefiningOp<tile::ReduceOp>();
  if (!found.reduce || found.reduce->getBlock() != loop.getBody() ||
      found.reduce.getSources().size() != 1 || !found.reduce->hasOneUse())
    return std::nullopt;
  Operation *combiner = found.reduce.getSingleCombiner();
  bool isSame = combiner && combiner->getName() == user->getName() &&
                combiner->getAttrDictionary() == user->getAttrDictionary();
  if (!isSame || !tile::neutralElement(combiner))
    return std::nullopt;
  return found;
}

/// An axis as the parts that different threads hold, and what each holds of its own.
struct AxisParts {
  SmallVector<int64_t> extents; ///< runs of coordinate bits, the highest first
  SmallVector<bool> isOwn;

  AxisParts(const LinearLayout &layout, unsigned axis) {
    uint64_t own = 0;
    AxisSteps steps = planAxisSteps(layout, axis, /*inOrder=*/false);
    for (const AxisStep &step : steps.local)
      if (!step.lanes && !step.warps)
        own |= uint64_t(1) << step.bit;
    for (unsigned bit = llvm::Log2_64(uint64_t(layout.shape()[axis])); bit-- > 0;) {
      bool mine = own >> bit & 1;
      if (isOwn.empty() || isOwn.back() != mine) {
        extents.push_back(1);
        isOwn.push_back(mine);
      }
      extents.back() *= 2;
    }
  }

  bool isShared() const { return llvm::is_contained(isOwn, false); }
};

/// Makes reductions over a part of an axis, as `model` reduces all of it.
class PartialReducer {
public:
  PartialReducer(tile::ReduceOp model, OpBuilder builder)
      : model(model), axis(model.getAxis()), b(builder) {}

  /// The reduction over what threads have of their own: with the axis left, for the others.
  Value ownTotals(Value source, const AxisParts &parts) {
    Location loc = model.getLoc();
    ArrayRef<int64_t> shape = tile::shapeOf(source.getType());
    SmallVector<int64_t> apart(shape.take_front(axis)), together = apart;
    SmallVector<int32_t> order = llvm::to_vector(llvm::seq<int32_t>(0, axis));
    int64_t extents[2] = {1, 1};
    llvm::append_range(apart, parts.extents);
    for (bool isOwn : {false, true})
      for (auto [index, extent] : llvm::enumerate(parts.extents))
        if (parts.isOwn[index] == isOwn) {
          order.push_back(int32_t(axis + index));
          extents[isOwn] *= extent;
        }
    if (extents[1] == 1)
      return source;
    llvm::append_range(together, extents);
    for (auto [index, extent] : llvm::enumerate(shape.drop_front(axis + 1))) {
      order.push_back(int32_t(apart.size()));
      apart.push_back(extent);
      together.push_back(extent);
    }
    Value split = reshaped(loc, source, apart);
    if (!llvm::is_sorted(order)) {
      SmallVector<int64_t> moved;
      for (int32_t from : order)
        moved.push_back(apart[from]);
      LinearLayout layout = tilegpu::layoutOf(split).transpose(
          llvm::to_vector(llvm::map_range(order, [](int32_t from) { return unsigned(from); })));
      split = tile::TransOp::create(b, loc, typeLike(split, moved, layout), split,
                                    b.getDenseI32ArrayAttr(order));
    }
    return reduced(reshaped(loc, split, together), axis + 1);
  }

  /// As the model does it.
  Value reduced(Value value, unsigned along) {
    SmallVector<int64_t> shape(tile::shapeOf(value.getType()));
    shape.erase(shape.begin() + along);
    Type type = tile::elementTypeOf(value.getType());
    if (!shape.empty())
      type = typeLike(value, shape, tilegpu::layoutOf(value).slice(along));
    auto reduce = tile::ReduceOp::create(b, model.getLoc(), type, value, along);
    IRMapping mapping;
    model.getCombine().cloneInto(&reduce.getCombine(), mapping);
    return reduce.getResult(0);
  }

  /// The same in the layout of `type`, for tensors.
  Value converted(Value value, Type type) {
    if (value.getType() == type)
      return value;
    return tilegpu::ConvertLayoutOp::create(b, value.getLoc(), type, value);
  }

protected:
  tile::ReduceOp model;
  unsigned axis;
  OpBuilder b;

  static RankedTensorType typeLike(Value value, ArrayRef<int64_t> shape,
                                   const LinearLayout &layout) {
    auto type = RankedTensorType::get(shape, tile::elementTypeOf(value.getType()));
    return tilegpu::withLayout(type, layout);
  }

private:
  Value reshaped(Location loc, Value value, ArrayRef<int64_t> shape) {
    if (tile::shapeOf(value.getType()) == shape)
      return value;
    LinearLayout layout = tilegpu::layoutOf(value).reshape(shape);
    return tile::ReshapeOp::create(b, loc, typeLike(value, shape, layout), value);
  }
};

class ReductionDeferrer : PartialReducer {
public:
  ReductionDeferrer(CarriedTotal found, const AxisParts &parts)
      : PartialReducer(found.reduce, OpBuilder(found.combination)), found(found) {
    part = ownTotals(found.reduce.getSources()[0], parts);
  }

  void run() {
    scf::ForOp loop = found.loop;
    Value carried = loop.getRegionIterArg(found.number), result = loop.getResult(found.number);
    Type totalType = carried.getType();
    Value scale = found.scaling ? spread(otherOperand(found.scaling, carried)) : Value();
    Value before = carried;
    if (scale)
      before = arith::MulFOp::create(b, found.scaling.getLoc(), part.getType(), carried, scale);
    Operation *combination = found.combination;
    OperationState state(combination->getLoc(), combination->getName(), ValueRange{before, part},
                         part.getType(), combination->getAttrs());
    loop.getBody()->getTerminator()->setOperand(found.number, b.create(state)->getResult(0));
    combination->erase();
    if (found.scaling)
      found.scaling.erase();

    b.setInsertionPoint(loop);
    loop.getInitArgsMutable()[found.number].assign(partsOfInit(loop.getInits()[found.number]));
    carried.setType(part.getType());
    result.setType(part.getType());
    auto uses = llvm::to_vector(llvm::make_pointer_range(result.getUses()));
    b.setInsertionPointAfter(loop);
    Value total = converted(reduced(result, axis), totalType);
    for (OpOperand *use : uses)
      use->set(total);
    found.reduce.erase();
  }

private:
  RankedTensorType partType() const { return cast<RankedTensorType>(part.getType()); }

  /// One number for each row, for all parts of the row.
  Value spread(Value rows) {
    Location loc = rows.getLoc();
    RankedTensorType type = partType().clone(tile::elementTypeOf(rows.getType()));
    if (!isa<RankedTensorType>(rows.getType()))
      return tile::SplatOp::create(b, loc, type, rows);
    LinearLayout one = tilegpu::layoutOf(part).shrinkAxis(axis);
    rows = converted(rows, typeLike(rows, tile::shapeOf(rows.getType()), one.squeezeAxis(axis)));
    SmallVector<int64_t> shape(type.getShape());
    shape[axis] = 1;
    Value apart = tile::ExpandDimsOp::create(b, loc, typeLike(rows, shape, one), rows, axis);
    return tile::BroadcastOp::create(b, loc, type, apart);
  }

  /// Parts of what the loop starts from: parts that an earlier loop has left; what may be combined
  /// any number of times, in all parts; anything else in the first part.
  Value partsOfInit(Value init) {
    auto earlier = init.getDefiningOp<tile::ReduceOp>();
    if (earlier && earlier.getSources().size() == 1 && earlier.getAxis() == axis &&
        earlier.getSources()[0].getType() == part.getType() &&
        OperationEquivalence::isRegionEquivalentTo(&earlier.getCombine(),
                                                   &found.reduce.getCombine(),
                                                   OperationEquivalence::IgnoreLocations))
      return earlier.getSources()[0];
    Value everywhere = spread(init);
    if (isa<arith::AddFOp, arith::AddIOp>(found.combination)
            ? matchPattern(init, m_Zero()) || matchPattern(init, m_AnyZeroFloat())
            : isIdempotent(found.combination))
      return everywhere;
    TypedAttr neutral = tile::neutralElement(found.reduce.getSingleCombiner());
    auto constant = DenseElementsAttr::get(cast<ShapedType>(part.getType()), neutral);
    Value others = arith::ConstantOp::create(b, init.getLoc(), constant);
    return arith::SelectOp::create(b, init.getLoc(), isFirstPart(init.getLoc()), everywhere,
                                   others);
  }

  static bool isIdempotent(Operation *op) {
    return isa<arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp, arith::MinNumFOp,
               arith::MaxSIOp, arith::MinSIOp, arith::MaxUIOp, arith::MinUIOp, arith::AndIOp,
               arith::OrIOp>(op);
  }

  /// i1, like part.
  Value isFirstPart(Location loc) {
    ArrayRef<int64_t> shape = partType().getShape();
    SmallVector<int64_t> ones(shape.size(), 1);
    ones[axis] = shape[axis];
    LinearLayout layout = tilegpu::layoutOf(part);
    for (unsigned other = 0; other != shape.size(); ++other)
      if (other != axis)
        layout = layout.shrinkAxis(other);
    LinearLayout along = layout.reshape({shape[axis]});
    Type i32 = b.getI32Type();
    auto vector = tilegpu::withLayout(RankedTensorType::get({shape[axis]}, i32), along);
    Value number = tile::ArangeOp::create(b, loc, vector, 0u, uint32_t(shape[axis]));
    Value zero = arith::ConstantOp::create(
        b, loc, DenseElementsAttr::get(cast<ShapedType>(vector), b.getI32IntegerAttr(0)));
    Value isFirst = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, number, zero);
    if (shape.size() == 1)
      return isFirst;
    isFirst = tile::ReshapeOp::create(b, loc, typeLike(isFirst, ones, layout), isFirst);
    return tile::BroadcastOp::create(b, loc, partType().clone(b.getI1Type()), isFirst);
  }

  CarriedTotal found;
  Value part;
};

//===-- totals of unrolled loops
//----------------------------------------------------------------------------------------------===//

/// A total that reductions are combined with one after the other: `links[i]` with `reduces[i]`.
struct Chain {
  SmallVector<tile::ReduceOp> reduces;
  SmallVector<Operation *> links;
};

/// The reduction that `link` combines with its first or second operand, if it can be part of a
/// chain.
tile::ReduceOp reduceOf(Operation *link) {
  if (link->getNumOperands() != 2 || link->getNumResults() != 1)
    return {};
  for (Value operand : llvm::reverse(link->getOperands())) {
    auto reduce = operand.getDefiningOp<tile::ReduceOp>();
    if (!reduce || reduce->getBlock() != link->getBlock() || reduce.getSources().size() != 1 ||
        !reduce->hasOneUse())
      continue;
    Operation *combiner = reduce.getSingleCombiner();
    if (combiner && combiner->getName() == link->getName() &&
        combiner->getAttrDictionary() == link->getAttrDictionary() &&
        tile::neutralElement(combiner))
      return reduce;
  }
  return {};
}

bool areAlike(tile::ReduceOp a, tile::ReduceOp b) {
  return a.getAxis() == b.getAxis() && a.getSources()[0].getType() == b.getSources()[0].getType() &&
         a.getResultTypes() == b.getResultTypes();
}

/// The chain that ends with `last`.
Chain chainOf(Operation *last) {
  Chain chain;
  for (Operation *link = last; link;) {
    tile::ReduceOp reduce = reduceOf(link);
    if (!reduce || (!chain.links.empty() &&
                    (!link->hasOneUse() || link->getName() != last->getName() ||
                     link->getBlock() != last->getBlock() || !areAlike(reduce, chain.reduces[0]))))
      break;
    chain.links.push_back(link);
    chain.reduces.push_back(reduce);
    link = otherOperand(link, reduce.getResult(0)).getDefiningOp();
  }
  std::reverse(chain.links.begin(), chain.links.end());
  std::reverse(chain.reduces.begin(), chain.reduces.end());
  return chain;
}

/// Combines threads' parts where the reductions are, and parts with each other at the end.
class ChainDeferrer : PartialReducer {
public:
  explicit ChainDeferrer(Chain chain)
      : PartialReducer(chain.reduces[0], OpBuilder(chain.links[0])), chain(std::move(chain)) {}

  void run(const AxisParts &parts) {
    Value before = otherOperand(chain.links[0], chain.reduces[0].getResult(0)), sum;
    llvm::sort(chain.reduces,
               [](tile::ReduceOp a, tile::ReduceOp b) { return a->isBeforeInBlock(b); });
    for (tile::ReduceOp reduce : chain.reduces) {
      b.setInsertionPoint(reduce);
      Value part = ownTotals(reduce.getSources()[0], parts);
      sum = sum ? combined(sum, part) : part;
    }
    Operation *last = chain.links.back();
    b.setInsertionPoint(last);
    Value total = converted(reduced(sum, axis), last->getResult(0).getType());
    last->getResult(0).replaceAllUsesWith(combined(before, total));
    for (Operation *link : llvm::reverse(chain.links))
      link->erase();
    for (tile::ReduceOp reduce : chain.reduces)
      reduce.erase();
  }

private:
  Value combined(Value left, Value right) {
    Operation *link = chain.links.back();
    OperationState state(link->getLoc(), link->getName(), ValueRange{left, right}, left.getType(),
                         link->getAttrs());
    return b.create(state)->getResult(0);
  }

  Chain chain;
};

void deferInChains(func::FuncOp kernel) {
  SmallVector<Operation *> links;
  kernel.walk([&](Operation *op) {
    if (reduceOf(op))
      links.push_back(op);
  });
  llvm::SmallPtrSet<Operation *, 16> done;
  // Ends of chains come last.
  for (Operation *last : llvm::reverse(links)) {
    if (done.contains(last))
      continue;
    Chain chain = chainOf(last);
    done.insert(chain.links.begin(), chain.links.end());
    AxisParts parts(tilegpu::layoutOf(chain.reduces[0].getSources()[0]),
                    chain.reduces[0].getAxis());
    if (chain.links.size() > 1 && parts.isShared())
      ChainDeferrer(std::move(chain)).run(parts);
  }
}

struct DeferReductionsPass : PassWrapper<DeferReductionsPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(DeferReductionsPass)

  StringRef getArgument() const override { return "kiln-defer-reductions"; }
  StringRef getDescription() const override {
    return "Combine threads' parts of a loop's totals behind the loop";
  }

  void runOnOperation() override {
    getOperation().walk([](scf::ForOp loop) {
      for (unsigned number = 0; number != loop.getNumResults(); ++number) {
        std::optional<CarriedTotal> found = carriedTotal(loop, number);
        if (!found)
          continue;
        AxisParts parts(tilegpu::layoutOf(found->reduce.getSources()[0]), found->reduce.getAxis());
        if (parts.isShared())
          ReductionDeferrer(*found, parts).run();
      }
    });
    deferInChains(getOperation());
  }
};

} // namespace

std::unique_ptr<Pass> createDeferReductionsPass() {
  return std::make_unique<DeferReductionsPass>();
}

} // namespace kiln
