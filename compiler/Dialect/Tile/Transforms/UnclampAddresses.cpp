#include "compiler/Dialect/Tile/Transforms/UnclampAddresses.h"
#include "compiler/Dialect/Tile/Tile.h"
#include "compiler/Dialect/Tile/Transforms/TensorViews.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace kiln {
namespace {

/// A number of all elements.
std::optional<APInt> constantOf(Value value) {
  APInt constant;
  if (!matchPattern(value, m_ConstantInt(&constant)))
    return std::nullopt;
  return constant;
}

/// A bound: another number and a constant, as n - 1.
struct Bound {
  TensorView base;
  APInt offset;

  explicit Bound(const TensorView &view)
      : base(view.source()),
        offset(getElementTypeOrSelf(base.value.getType()).getIntOrFloatBitWidth(), 0) {
    Operation *op = base.value.getDefiningOp();
    if (!isa_and_nonnull<arith::AddIOp, arith::SubIOp>(op))
      return;
    std::optional<APInt> constant = constantOf(base.of(op->getOperand(1)).source().value);
    if (!constant)
      return;
    offset = isa<arith::AddIOp>(op) ? *constant : -*constant;
    base = base.of(op->getOperand(0)).source();
  }

  /// This one less the other, modulo what numbers of the type are.
  std::optional<APInt> minus(const Bound &other) const {
    if (base == other.base)
      return offset - other.offset;
    std::optional<APInt> own = constantOf(base.value), others = constantOf(other.base.value);
    if (!own || !others)
      return std::nullopt;
    return *own + offset - *others - other.offset;
  }
};

/// What holds where a mask does.
class Conditions {
public:
  explicit Conditions(Value mask) { add(viewOf(mask)); }

  bool hold(const TensorView &condition) const {
    TensorView view = condition.source();
    if (llvm::is_contained(all, view))
      return true;
    auto both = view.value.getDefiningOp<arith::AndIOp>();
    return both && hold(view.of(both.getLhs())) && hold(view.of(both.getRhs()));
  }

  /// Whether the number is at most, or, not `isUpper`, at least the limit.
  bool bound(const TensorView &number, const TensorView &limit, bool isUpper) const {
    TensorView bounded = number.source();
    Bound bound(limit);
    return llvm::any_of(all, [&](const TensorView &condition) {
      auto compare = condition.value.getDefiningOp<arith::CmpIOp>();
      if (!compare)
        return false;
      TensorView left = condition.of(compare.getLhs()), right = condition.of(compare.getRhs());
      arith::CmpIPredicate predicate = compare.getPredicate();
      if (predicate == arith::CmpIPredicate::sgt || predicate == arith::CmpIPredicate::sge)
        std::swap(left, right);
      bool isStrict =
          predicate == arith::CmpIPredicate::slt || predicate == arith::CmpIPredicate::sgt;
      bool isOrder = isStrict || predicate == arith::CmpIPredicate::sle ||
                     predicate == arith::CmpIPredicate::sge;
      if (!isOrder || !((isUpper ? left : right).source() == bounded))
        return false;
      return implies(Bound(isUpper ? right : left), isStrict, bound, isUpper);
    });
  }

private:
  void add(const TensorView &condition) {
    TensorView view = condition.source();
    all.push_back(view);
    if (auto both = view.value.getDefiningOp<arith::AndIOp>()) {
      add(view.of(both.getLhs()));
      add(view.of(both.getRhs()));
    }
  }

  /// Whether what is below (above) one bound, or at most (least) it, is at most (least) the other.
  /// Where i < n holds, n - 1 is a number.
  static bool implies(const Bound &known, bool isStrict, const Bound &wanted, bool isUpper) {
    std::optional<APInt> difference = wanted.minus(known);
    if (!difference)
      return false;
    return difference->isZero() ||
           (isStrict && (isUpper ? difference->isAllOnes() : difference->isOne()));
  }

  SmallVector<TensorView> all;
};

bool isClamp(Operation *op) { return isa<arith::MinSIOp, arith::MaxSIOp, arith::SelectOp>(op); }

/// Element by element, and without a fault whatever the numbers are.
bool computesIndices(Operation *op) {
  return isClamp(op) || isa<tile::AddPtrOp, arith::AddIOp, arith::SubIOp, arith::MulIOp,
                            arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp>(op);
}

/// Which addresses have something that may be left out: of those that loops written out move on,
/// each is the one before and a step.
class Clamps {
public:
  bool areIn(Value address) {
    auto [entry, isNew] = known.try_emplace(address, false);
    Operation *op = address.getDefiningOp();
    if (!isNew || !op)
      return entry->second;
    bool result = isClamp(op);
    if (!result && (computesIndices(op) || isView(op)))
      result = llvm::any_of(op->getOperands(), [&](Value operand) { return areIn(operand); });
    return known[address] = result;
  }

private:
  llvm::DenseMap<Value, bool> known;
};

/// Makes an address, or what it is computed of, without what conditions imply.
class Unclamper {
public:
  explicit Unclamper(Value mask) : conditions(mask) {}

  Value run(const TensorView &view) {
    for (auto &[axes, result] : done[view.value])
      if (axes == view.axes)
        return result;
    Value result = unclamp(view);
    done[view.value].push_back({view.axes, result});
    return result;
  }

private:
  Value unclamp(const TensorView &view) {
    Operation *op = view.value.getDefiningOp();
    if (!op)
      return view.value;
    if (Value number = numberOf(op, view))
      return number;
    TensorView source = view;
    if (source.stepToSource())
      return withOperands(op, {run(source)});
    if (!computesIndices(op))
      return view.value;
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(isChosenBy(op, operand) ? operand : run(view.of(operand)));
    return withOperands(op, operands);
  }

  /// What a minimum, maximum or choice is where the conditions hold; null if they do not say.
  Value numberOf(Operation *op, const TensorView &view) {
    if (isa<arith::MinSIOp, arith::MaxSIOp>(op))
      for (unsigned index : {0u, 1u}) {
        Value number = run(view.of(op->getOperand(index)));
        if (conditions.bound(view.of(number), view.of(op->getOperand(1 - index)),
                             isa<arith::MinSIOp>(op)))
          return number;
      }
    auto choice = dyn_cast<arith::SelectOp>(op);
    if (!choice || !conditions.hold(conditionOf(choice, view)))
      return nullptr;
    return run(view.of(choice.getTrueValue()));
  }

  /// One for all elements, or one for each.
  static TensorView conditionOf(arith::SelectOp choice, const TensorView &view) {
    Value condition = choice.getCondition();
    return isa<RankedTensorType>(condition.getType()) ? view.of(condition) : viewOf(condition);
  }

  static bool isChosenBy(Operation *op, Value operand) {
    auto choice = dyn_cast<arith::SelectOp>(op);
    return choice && choice.getCondition() == operand;
  }

  static Value withOperands(Operation *op, ArrayRef<Value> operands) {
    if (llvm::equal(op->getOperands(), operands))
      return op->getResult(0);
    OpBuilder b(op);
    b.setInsertionPointAfter(op);
    Operation *other = b.clone(*op);
    other->setOperands(operands);
    return other->getResult(0);
  }

  Conditions conditions;
  /// By what a view is of.
  llvm::DenseMap<Value, SmallVector<std::pair<SmallVector<unsigned, 4>, Value>, 1>> done;
};

struct UnclampAddressesPass : PassWrapper<UnclampAddressesPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(UnclampAddressesPass)

  StringRef getArgument() const override { return "kiln-unclamp-addresses"; }
  StringRef getDescription() const override {
    return "Leave bounds out of addresses that their accesses' masks imply";
  }

  void runOnOperation() override {
    Clamps clamps;
    llvm::DenseMap<Value, std::unique_ptr<Unclamper>> byMask;
    auto unclamp = [&](auto access) {
      if (!access.getMask() || !clamps.areIn(access.getPtr()))
        return;
      std::unique_ptr<Unclamper> &unclamper = byMask[access.getMask()];
      if (!unclamper)
        unclamper = std::make_unique<Unclamper>(access.getMask());
      access.getPtrMutable().assign(unclamper->run(viewOf(access.getPtr())));
    };
    getOperation().walk([&](Operation *op) {
      llvm::TypeSwitch<Operation *>(op)
          .Case<tile::LoadOp, tile::StoreOp, tile::AtomicRMWOp, tile::AtomicCASOp>(unclamp);
    });
  }
};

} // namespace

std::unique_ptr<Pass> createUnclampAddressesPass() {
  return std::make_unique<UnclampAddressesPass>();
}

void registerUnclampAddressesPass() { PassRegistration<UnclampAddressesPass>(); }

} // namespace kiln
