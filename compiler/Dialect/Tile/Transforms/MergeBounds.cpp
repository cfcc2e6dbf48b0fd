#include "compiler/Dialect/Tile/Transforms/MergeBounds.h"
#include "compiler/Dialect/Tile/Tile.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace kiln {
namespace {

/// What is repeated along axes, or for all elements.
Value repeated(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<tile::BroadcastOp, tile::SplatOp>(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

/// Whether all elements are one number.
bool isNumber(Value value) {
  SplatElementsAttr constant;
  return !isa<RankedTensorType>(value.getType()) || matchPattern(value, m_Constant(&constant));
}

/// A comparison, as `less < more` or `less <= more`.
struct Order {
  Value less, more;
  bool isStrict;
};

/// Null where it is another comparison, or none.
std::optional<Order> orderOf(Value condition) {
  auto compare = repeated(condition).getDefiningOp<arith::CmpIOp>();
  if (!compare)
    return std::nullopt;
  Value left = repeated(compare.getLhs()), right = repeated(compare.getRhs());
  switch (compare.getPredicate()) {
  case arith::CmpIPredicate::slt:
    return Order{left, right, true};
  case arith::CmpIPredicate::sle:
    return Order{left, right, false};
  case arith::CmpIPredicate::sgt:
    return Order{right, left, true};
  case arith::CmpIPredicate::sge:
    return Order{right, left, false};
  default:
    return std::nullopt;
  }
}

/// The conditions of a conjunction, at its end.
class BoundMerger {
public:
  explicit BoundMerger(arith::AndIOp all)
      : all(all), b(all), type(cast<RankedTensorType>(all.getType())) {}

  void run() {
    SmallVector<Value> conditions;
    collect(all, conditions);
    size_t count = conditions.size();
    for (auto *first = conditions.begin(); first != conditions.end(); ++first)
      for (auto *second = std::next(first); second != conditions.end();)
        if (Value both = merged(*first, *second)) {
          *first = both;
          second = conditions.erase(second);
        } else {
          ++second;
        }
    if (conditions.size() == count)
      return;
    Value result = conditions.front();
    for (Value condition : llvm::drop_begin(conditions))
      result = arith::AndIOp::create(b, all.getLoc(), result, condition);
    all.replaceAllUsesWith(result);
    all.erase();
  }

private:
  static void collect(Value condition, SmallVectorImpl<Value> &conditions) {
    auto both = condition.getDefiningOp<arith::AndIOp>();
    if (!both)
      return conditions.push_back(condition);
    collect(both.getLhs(), conditions);
    collect(both.getRhs(), conditions);
  }

  /// One comparison for both; null where they have no index in common, or it is not less work.
  Value merged(Value left, Value right) {
    std::optional<Order> first = orderOf(left), second = orderOf(right);
    if (!first || !second)
      return {};
    if (first->less == second->less && isTile(first->less))
      return compareWithCloser<arith::MinSIOp>(first->less, {first->more, first->isStrict},
                                               {second->more, second->isStrict});
    if (first->more == second->more && isTile(first->more))
      return compareWithCloser<arith::MaxSIOp>(first->more, {first->less, first->isStrict},
                                               {second->less, second->isStrict});
    return {};
  }

  static bool isTile(Value value) { return isa<RankedTensorType>(value.getType()); }

  struct Bound {
    Value value;
    bool isStrict;
  };

  /// The smaller of two upper bounds, or the larger of two lower ones.
  template <typename Closer> Value compareWithCloser(Value index, Bound first, Bound second) {
    RankedTensorType shape = shapeOf(first.value, second.value);
    if (2 * shape.getNumElements() > type.getNumElements())
      return {};
    bool isStrict = first.isStrict || second.isStrict;
    auto written = [&](Bound bound) {
      Value value = as(bound.value, shape);
      return isStrict && !bound.isStrict ? strict<Closer>(value) : value;
    };
    Value closer = Closer::create(b, all.getLoc(), written(first), written(second));
    using P = arith::CmpIPredicate;
    constexpr bool isUpper = std::is_same_v<Closer, arith::MinSIOp>;
    auto whole = RankedTensorType::get(type.getShape(), getElementTypeOrSelf(index));
    return arith::CmpIOp::create(b, all.getLoc(),
                                 isUpper    ? isStrict ? P::slt : P::sle
                                 : isStrict ? P::sgt
                                            : P::sge,
                                 as(index, whole), as(closer, whole));
  }

  /// The bound's neighbour, so that the comparison with it is strict. There is none of the largest
  /// number, or the least: such an index the other comparison leaves out, which is strict.
  template <typename Closer> Value strict(Value bound) {
    constexpr bool isUpper = std::is_same_v<Closer, arith::MinSIOp>;
    auto shape = cast<RankedTensorType>(bound.getType());
    unsigned bits = shape.getElementTypeBitWidth();
    auto constant = [&](const APInt &number) {
      return arith::ConstantOp::create(b, all.getLoc(), DenseElementsAttr::get(shape, number));
    };
    Value last =
        constant(isUpper ? APInt::getSignedMaxValue(bits) - 1 : APInt::getSignedMinValue(bits) + 1);
    Value step = constant(APInt(bits, isUpper ? 1 : -1, /*isSigned=*/true));
    return arith::AddIOp::create(b, all.getLoc(), Closer::create(b, all.getLoc(), bound, last),
                                 step);
  }

  /// The tile that has both values, with as few elements as can be.
  RankedTensorType shapeOf(Value left, Value right) {
    SmallVector<int64_t> shape(type.getRank(), 1);
    for (Value value : {left, right})
      if (!isNumber(value))
        for (auto [extent, own] :
             llvm::zip(shape, cast<RankedTensorType>(value.getType()).getShape()))
          extent = std::max(extent, own);
    return RankedTensorType::get(shape, getElementTypeOrSelf(left));
  }

  Value as(Value value, RankedTensorType shape) {
    if (value.getType() == shape)
      return value;
    SplatElementsAttr number;
    if (matchPattern(value, m_Constant(&number)))
      return arith::ConstantOp::create(b, all.getLoc(), cast<TypedAttr>(number.resizeSplat(shape)));
    if (isTile(value))
      return tile::BroadcastOp::create(b, all.getLoc(), shape, value);
    return tile::SplatOp::create(b, all.getLoc(), shape, value);
  }

  arith::AndIOp all;
  OpBuilder b;
  RankedTensorType type;
};

/// Whether it chooses between values, and does nothing else.
bool choosesOnly(arith::AndIOp all) {
  return isa<RankedTensorType>(all.getType()) && !all->use_empty() &&
         llvm::all_of(all->getUsers(), [](Operation *user) { return isa<arith::SelectOp>(user); });
}

struct MergeBoundsPass : PassWrapper<MergeBoundsPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(MergeBoundsPass)

  StringRef getArgument() const override { return "kiln-merge-bounds"; }
  StringRef getDescription() const override {
    return "Compare indices with the closer of two bounds in place of both";
  }

  void runOnOperation() override {
    SmallVector<arith::AndIOp> conjunctions;
    getOperation().walk([&](arith::AndIOp all) {
      if (choosesOnly(all) && getElementTypeOrSelf(all.getType()).isInteger(1))
        conjunctions.push_back(all);
    });
    for (arith::AndIOp all : conjunctions)
      BoundMerger(all).run();
  }
};

} // namespace

std::unique_ptr<Pass> createMergeBoundsPass() { return std::make_unique<MergeBoundsPass>(); }

void registerMergeBoundsPass() { PassRegistration<MergeBoundsPass>(); }

} // namespace kiln
