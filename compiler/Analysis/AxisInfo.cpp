// Transfer functions of the axis facts, on MLIR's sparse forward data-flow framework.
//
// Contiguity, divisibility and constancy are powers of two, so the greatest common divisor of two
// is the smaller. The one subtle point is what a group's divisibility says about a smaller group:
// of neighbours that count up by one, only every g-th is a multiple of more than g. Transfer
// functions ask `firstDivisibility` for that; where two values meet, the join holds the result to
// the group.

#include "compiler/Analysis/AxisInfo.h"
#include "compiler/Analysis/NonNegativeCarried.h"
#include "compiler/Dialect/Tile/Tile.h"
#include "compiler/Dialect/TileGPU/TileGPU.h"
#include "mlir/Analysis/DataFlow/ConstantPropagationAnalysis.h"
#include "mlir/Analysis/DataFlow/DeadCodeAnalysis.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace kiln {
namespace {

int64_t powerOfTwoIn(int64_t value) {
  if (value == 0)
    return maxDivisibility;
  return std::min<int64_t>(maxDivisibility, int64_t(1) << llvm::countr_zero(uint64_t(value)));
}

int64_t saturatingProduct(int64_t lhs, int64_t rhs) {
  return lhs > maxDivisibility / rhs ? maxDivisibility : lhs * rhs;
}

bool carriesFacts(Type type) {
  Type element = tile::elementTypeOf(type);
  return element.isIntOrIndex() || isa<FloatType, tile::PtrType>(element);
}

unsigned rankOf(Type type) { return std::max<size_t>(1, tile::shapeOf(type).size()); }

/// How far one element of contiguous neighbours is from the next: bytes for pointers, else 1.
int64_t unitOf(Type type) {
  auto ptr = dyn_cast<tile::PtrType>(tile::elementTypeOf(type));
  return ptr ? powerOfTwoIn(ptr.getElementBytes()) : 1;
}

/// What divides the first element of every aligned group of `group` neighbours along `axis`.
int64_t firstDivisibility(const AxisInfo &info, unsigned axis, int64_t group, int64_t unit = 1) {
  if (group >= info.contiguity[axis])
    return info.divisibility[axis];
  return std::min(info.divisibility[axis], saturatingProduct(group, unit));
}

/// What divides every element.
int64_t elementDivisibility(const AxisInfo &info, int64_t unit = 1) {
  int64_t best = 1;
  for (unsigned axis = 0; axis < info.rank(); ++axis)
    best = std::max(best, firstDivisibility(info, axis, 1, unit));
  return best;
}

AxisInfo constantInfo(int64_t value, Type type) {
  AxisInfo info = AxisInfo::unknown(rankOf(type));
  for (auto [axis, extent] : llvm::enumerate(tile::shapeOf(type)))
    info.constancy[axis] = powerOfTwoIn(extent);
  info.divisibility.assign(info.rank(), powerOfTwoIn(value));
  info.constant = value;
  info.nonNegative = value >= 0;
  return info;
}

std::optional<int64_t> integerIn(Attribute attribute) {
  if (auto dense = dyn_cast_or_null<SplatElementsAttr>(attribute))
    attribute = dense.getSplatValue<Attribute>();
  auto integer = dyn_cast_or_null<IntegerAttr>(attribute);
  if (!integer || integer.getValue().getSignificantBits() > 64)
    return std::nullopt;
  return integer.getValue().getSExtValue();
}

/// Calls `perAxis(axis, info)` for each axis of a fresh result; the caller fills in what it knows.
template <typename Fill> AxisInfo perAxis(unsigned rank, Fill fill) {
  AxisInfo info = AxisInfo::unknown(rank);
  for (unsigned axis = 0; axis < rank; ++axis)
    fill(axis, info);
  return info;
}

//===-- Arithmetic
//-------------------------------------------------------------------------------------------------===//

/// `unit` is that of the sum and of lhs; `scale` multiplies rhs (both are the element size for
/// tile.addptr).
AxisInfo sum(const AxisInfo &l, const AxisInfo &r, int64_t unit) {
  AxisInfo info = perAxis(l.rank(), [&](unsigned axis, AxisInfo &out) {
    int64_t group = std::max(std::min(l.contiguity[axis], r.constancy[axis]),
                             std::min(l.constancy[axis], r.contiguity[axis]));
    out.contiguity[axis] = group;
    out.divisibility[axis] = std::min(firstDivisibility(l, axis, group, unit),
                                      saturatingProduct(firstDivisibility(r, axis, group), unit));
    out.constancy[axis] = std::min(l.constancy[axis], r.constancy[axis]);
  });
  info.nonNegative = l.nonNegative && r.nonNegative;
  return info;
}

AxisInfo difference(const AxisInfo &l, const AxisInfo &r) {
  return perAxis(l.rank(), [&](unsigned axis, AxisInfo &out) {
    int64_t group = std::min(l.contiguity[axis], r.constancy[axis]);
    out.contiguity[axis] = group;
    out.divisibility[axis] =
        std::min(firstDivisibility(l, axis, group), firstDivisibility(r, axis, group));
    out.constancy[axis] = std::min(l.constancy[axis], r.constancy[axis]);
  });
}

AxisInfo product(const AxisInfo &l, const AxisInfo &r) {
  AxisInfo info = perAxis(l.rank(), [&](unsigned axis, AxisInfo &out) {
    int64_t group = r.constant == 1 ? l.contiguity[axis] : l.constant == 1 ? r.contiguity[axis] : 1;
    out.contiguity[axis] = group;
    out.divisibility[axis] =
        saturatingProduct(firstDivisibility(l, axis, group), firstDivisibility(r, axis, group));
    out.constancy[axis] = std::min(l.constancy[axis], r.constancy[axis]);
  });
  info.nonNegative = l.nonNegative && r.nonNegative;
  return info;
}

/// The largest group in which l counts up from a multiple of the group's size while r stays at one.
int64_t alignedGroup(const AxisInfo &l, const AxisInfo &r, unsigned axis) {
  return std::min(std::min(l.contiguity[axis], l.divisibility[axis]),
                  std::min(r.constancy[axis], elementDivisibility(r)));
}

/// `towardsZero`: neighbours of 0 from below round up, so the facts hold for non-negative dividends
/// only.
AxisInfo quotient(const AxisInfo &l, const AxisInfo &r, bool towardsZero) {
  bool sound = !towardsZero || l.nonNegative;
  AxisInfo info = perAxis(l.rank(), [&](unsigned axis, AxisInfo &out) {
    int64_t group = std::min(l.constancy[axis], r.constancy[axis]);
    out.constancy[axis] = std::max(group, sound ? alignedGroup(l, r, axis) : 1);
    if (r.constant == 1) {
      out.contiguity[axis] = l.contiguity[axis];
      out.divisibility[axis] = l.divisibility[axis];
    } else if (r.constant && llvm::isPowerOf2_64(std::max<int64_t>(*r.constant, 0))) {
      out.divisibility[axis] = std::max<int64_t>(1, firstDivisibility(l, axis, 1) / *r.constant);
    }
  });
  info.nonNegative = l.nonNegative && (!r.constant || r.nonNegative || !towardsZero);
  return info;
}

AxisInfo remainder(const AxisInfo &l, const AxisInfo &r, bool isSigned) {
  AxisInfo info = perAxis(l.rank(), [&](unsigned axis, AxisInfo &out) {
    int64_t group = !isSigned || l.nonNegative ? alignedGroup(l, r, axis) : 1;
    out.contiguity[axis] = group;
    out.divisibility[axis] = std::min(firstDivisibility(l, axis, group), elementDivisibility(r));
    out.constancy[axis] = std::min(l.constancy[axis], r.constancy[axis]);
  });
  info.nonNegative = l.nonNegative;
  return info;
}

/// For operations that give one of their operands, or clear or keep low bits: `divides` combines
/// what divides each.
template <typename Divides>
AxisInfo elementwise(const AxisInfo &l, const AxisInfo &r, Divides divides) {
  return perAxis(l.rank(), [&](unsigned axis, AxisInfo &out) {
    out.divisibility[axis] = divides(firstDivisibility(l, axis, 1), firstDivisibility(r, axis, 1));
    out.constancy[axis] = std::min(l.constancy[axis], r.constancy[axis]);
  });
}

int64_t smaller(int64_t l, int64_t r) { return std::min(l, r); }
int64_t larger(int64_t l, int64_t r) { return std::max(l, r); }

/// `a & b` and `a | b`: what holds at the beginning of both groups ends with the first or the last.
AxisInfo bothOrEither(const AxisInfo &l, const AxisInfo &r, int64_t (*divides)(int64_t, int64_t)) {
  AxisInfo info = elementwise(l, r, divides);
  for (unsigned axis = 0; axis < info.rank(); ++axis)
    info.prefix[axis] = std::min(l.prefix[axis], r.prefix[axis]);
  return info;
}

/// Aligned neighbours below a multiple of their number are all below it: `count < limit` is
/// constant in such groups. Below any other limit the first of them are. (As unsigned numbers, -1
/// is followed by 0.)
AxisInfo comparison(arith::CmpIPredicate predicate, const AxisInfo &l, const AxisInfo &r) {
  using P = arith::CmpIPredicate;
  bool leftCounts = llvm::is_contained({P::slt, P::ult, P::sge, P::uge}, predicate);
  bool rightCounts = llvm::is_contained({P::sgt, P::ugt, P::sle, P::ule}, predicate);
  bool leftIsBelow = llvm::is_contained({P::slt, P::sle}, predicate) ||
                     (llvm::is_contained({P::ult, P::ule}, predicate) && l.nonNegative);
  bool rightIsBelow = llvm::is_contained({P::sgt, P::sge}, predicate) ||
                      (llvm::is_contained({P::ugt, P::uge}, predicate) && r.nonNegative);
  return perAxis(l.rank(), [&](unsigned axis, AxisInfo &out) {
    int64_t group = std::min(l.constancy[axis], r.constancy[axis]);
    if (leftCounts)
      group = std::max(group, alignedGroup(l, r, axis));
    if (rightCounts)
      group = std::max(group, alignedGroup(r, l, axis));
    out.constancy[axis] = group;
    if (leftIsBelow)
      out.prefix[axis] = std::min(l.contiguity[axis], r.constancy[axis]);
    if (rightIsBelow)
      out.prefix[axis] = std::min(r.contiguity[axis], l.constancy[axis]);
  });
}

AxisInfo choice(const AxisInfo &condition, const AxisInfo &l, const AxisInfo &r,
                bool scalarCondition) {
  AxisInfo info = perAxis(l.rank(), [&](unsigned axis, AxisInfo &out) {
    int64_t same = scalarCondition ? maxDivisibility : condition.constancy[axis];
    int64_t group = std::min({l.contiguity[axis], r.contiguity[axis], same});
    out.contiguity[axis] = group;
    out.divisibility[axis] =
        std::min(firstDivisibility(l, axis, group), firstDivisibility(r, axis, group));
    out.constancy[axis] = std::min({l.constancy[axis], r.constancy[axis], same});
  });
  info.nonNegative = l.nonNegative && r.nonNegative;
  return info;
}

/// An index is 64 bits wide.
bool isNarrower(Operation *cast) {
  auto bits = [](Type type) {
    Type element = getElementTypeOrSelf(type);
    return element.isIndex() ? 64u : element.getIntOrFloatBitWidth();
  };
  return bits(cast->getResult(0).getType()) < bits(cast->getOperand(0).getType());
}

AxisInfo withoutConstant(AxisInfo info) {
  info.constant.reset();
  return info;
}

/// What becomes the sign was any bit before.
AxisInfo truncation(const AxisInfo &source) {
  AxisInfo info = withoutConstant(source);
  info.nonNegative = false;
  return info;
}

//===-- Shapes
//-----------------------------------------------------------------------------------------------------===//

AxisInfo expandDims(const AxisInfo &source, unsigned axis) {
  AxisInfo info = source;
  info.contiguity.insert(info.contiguity.begin() + axis, 1);
  info.constancy.insert(info.constancy.begin() + axis, 1);
  info.prefix.insert(info.prefix.begin() + axis, 1);
  info.divisibility.insert(info.divisibility.begin() + axis, elementDivisibility(source));
  return info;
}

AxisInfo broadcast(AxisInfo info, RankedTensorType from, RankedTensorType to) {
  for (unsigned axis = 0; axis < info.rank(); ++axis)
    if (from.getDimSize(axis) == 1 && to.getDimSize(axis) != 1)
      info.constancy[axis] = powerOfTwoIn(to.getDimSize(axis));
  return info;
}

AxisInfo transpose(const AxisInfo &source, ArrayRef<int32_t> order) {
  AxisInfo info = source;
  for (auto [to, from] : llvm::enumerate(order)) {
    info.contiguity[to] = source.contiguity[from];
    info.divisibility[to] = source.divisibility[from];
    info.constancy[to] = source.constancy[from];
    info.prefix[to] = source.prefix[from];
  }
  return info;
}

/// How many elements of the tensor, in row-major order, are between neighbours along each axis.
SmallVector<int64_t> rowMajorStrides(RankedTensorType type) {
  SmallVector<int64_t> strides(type.getRank(), 1);
  for (int64_t axis = type.getRank() - 1; axis > 0; --axis)
    strides[axis - 1] = strides[axis] * type.getDimSize(axis);
  return strides;
}

/// An axis along which neighbours are those along an axis of the source has its facts, for groups
/// that divide the extents of both.
AxisInfo reshape(const AxisInfo &source, RankedTensorType from, RankedTensorType to) {
  SmallVector<int64_t> fromStrides = rowMajorStrides(from), toStrides = rowMajorStrides(to);
  int64_t unit = unitOf(to);
  AxisInfo info = perAxis(to.getRank(), [&](unsigned axis, AxisInfo &out) {
    out.divisibility[axis] = elementDivisibility(source, unit);
    for (unsigned same = 0; same < source.rank(); ++same) {
      if (fromStrides[same] != toStrides[axis] || from.getDimSize(same) == 1)
        continue;
      int64_t extent =
          std::min(powerOfTwoIn(from.getDimSize(same)), powerOfTwoIn(to.getDimSize(axis)));
      int64_t group = std::min(source.contiguity[same], extent);
      out.contiguity[axis] = group;
      if (group > 1)
        out.divisibility[axis] = firstDivisibility(source, same, group, unit);
      out.constancy[axis] = std::min(source.constancy[same], extent);
      out.prefix[axis] = std::min(source.prefix[same], extent);
    }
  });
  info.constant = source.constant;
  info.nonNegative = source.nonNegative;
  return info;
}

AxisInfo splat(const AxisInfo &scalar, RankedTensorType type) {
  AxisInfo info = perAxis(type.getRank(), [&](unsigned axis, AxisInfo &out) {
    out.divisibility[axis] = scalar.divisibility[0];
    out.constancy[axis] = powerOfTwoIn(type.getDimSize(axis));
  });
  info.constant = scalar.constant;
  info.nonNegative = scalar.nonNegative;
  return info;
}

AxisInfo arange(tile::ArangeOp op) {
  AxisInfo info = AxisInfo::unknown(1);
  info.contiguity[0] = powerOfTwoIn(int64_t(op.getEnd()) - int64_t(op.getStart()));
  info.divisibility[0] = std::min(powerOfTwoIn(op.getStart()),
                                  op.getStart() == 0 && info.contiguity[0] == int64_t(op.getEnd())
                                      ? maxDivisibility
                                      : info.contiguity[0]);
  info.nonNegative = int32_t(op.getStart()) >= 0;
  return info;
}

AxisInfo hint(tile::HintOp op, AxisInfo info) {
  auto raise = [](SmallVectorImpl<int64_t> &facts, std::optional<ArrayRef<int64_t>> stated) {
    for (size_t axis = 0; stated && axis < facts.size(); ++axis)
      facts[axis] = std::max(facts[axis], powerOfTwoIn((*stated)[axis]));
  };
  raise(info.contiguity, op.getContiguity());
  raise(info.divisibility, op.getDivisibility());
  raise(info.constancy, op.getConstancy());
  return info;
}

/// Pointers of another pointee, or addresses as integers: neighbours no longer count by one.
AxisInfo bitcast(const AxisInfo &source, Type from, Type to) {
  if (unitOf(from) == unitOf(to))
    return source;
  return perAxis(source.rank(), [&](unsigned axis, AxisInfo &out) {
    out.divisibility[axis] = firstDivisibility(source, axis, 1, unitOf(from));
    out.constancy[axis] = source.constancy[axis];
  });
}

//===-- The analysis
//-----------------------------------------------------------------------------------------------===//

/// What tile.assume, or that a loop runs, says of a value.
struct Assumption {
  int64_t divisibility = 1;
  bool nonNegative = false;
};

/// Assumptions in the kernel's outermost block, which every instance runs, and in the block that
/// computes what they are of, which runs whenever that does; and what loops carry.
DenseMap<Value, Assumption> collectAssumptions(Operation *root) {
  DenseMap<Value, Assumption> assumptions;
  root->walk([&](tile::AssumeOp op) {
    auto compare = op.getCondition().getDefiningOp<arith::CmpIOp>();
    APInt limit;
    if (!compare || !matchPattern(compare.getRhs(), m_ConstantInt(&limit)))
      return;
    using P = arith::CmpIPredicate;
    Value subject = compare.getLhs();
    auto holdsFor = [&](Value value) {
      return isa<func::FuncOp>(op->getParentOp()) || value.getParentBlock() == op->getBlock();
    };
    bool atLeast = compare.getPredicate() == P::sge && limit.isNonNegative();
    bool above = compare.getPredicate() == P::sgt && limit.sge(-1);
    if ((atLeast || above) && holdsFor(subject))
      assumptions[subject].nonNegative = true;
    auto rem = subject.getDefiningOp<arith::RemSIOp>();
    APInt divisor;
    if (rem && compare.getPredicate() == P::eq && limit.isZero() &&
        matchPattern(rem.getRhs(), m_ConstantInt(&divisor)) && holdsFor(rem.getLhs()))
      assumptions[rem.getLhs()].divisibility = powerOfTwoIn(divisor.getSExtValue());
  });
  auto addCarried = [&](auto loop) {
    for (BlockArgument carried : nonNegativeCarried(loop))
      assumptions[carried].nonNegative = true;
  };
  root->walk([&](scf::ForOp loop) { addCarried(loop); });
  root->walk([&](scf::WhileOp loop) { addCarried(loop); });
  return assumptions;
}

using AxisLattice = dataflow::Lattice<AxisInfo>;

class Propagation : public dataflow::SparseForwardDataFlowAnalysis<AxisLattice> {
public:
  Propagation(DataFlowSolver &solver, const DenseMap<Value, Assumption> &assumptions,
              TensorHints hints)
      : SparseForwardDataFlowAnalysis(solver), assumptions(assumptions), hints(hints) {}

  LogicalResult visitOperation(Operation *op, ArrayRef<const AxisLattice *> operands,
                               ArrayRef<AxisLattice *> results) override {
    SmallVector<AxisInfo> infos;
    for (auto [operand, lattice] : llvm::zip(op->getOperands(), operands)) {
      infos.push_back(lattice->getValue());
      // An operand that nothing has reached yet: wait for it.
      if (!infos.back().isInitialized() && carriesFacts(operand.getType()))
        return success();
      if (!infos.back().isInitialized())
        infos.back() = AxisInfo::unknown(rankOf(operand.getType()));
      // What flows into a loop's arguments does not come by way of `set`.
      if (auto it = assumptions.find(operand); it != assumptions.end())
        infos.back().nonNegative |= it->second.nonNegative;
    }
    for (auto [index, result] : llvm::enumerate(op->getResults())) {
      AxisInfo info = AxisInfo::unknown(rankOf(result.getType()));
      if (carriesFacts(result.getType()) && op->getNumResults() == 1)
        info = transfer(op, infos);
      set(results[index], info);
    }
    return success();
  }

  void setToEntryState(AxisLattice *lattice) override {
    Value value = lattice->getAnchor();
    AxisInfo info = AxisInfo::unknown(rankOf(value.getType()));
    auto argument = dyn_cast<BlockArgument>(value);
    auto func = argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : nullptr;
    if (func && argument.getOwner()->isEntryBlock()) {
      auto known = func.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(),
                                                      tile::TileDialect::divisibilityAttr);
      if (known)
        info.divisibility[0] = powerOfTwoIn(known.getInt());
    }
    set(lattice, info);
  }

  void visitNonControlFlowArguments(Operation *op, const RegionSuccessor &successor,
                                    ArrayRef<AxisLattice *> arguments,
                                    unsigned firstIndex) override {
    auto loop = dyn_cast<scf::ForOp>(op);
    if (!loop || arguments.empty() || arguments[0]->getAnchor() != loop.getInductionVar())
      return SparseForwardDataFlowAnalysis::visitNonControlFlowArguments(op, successor, arguments,
                                                                         firstIndex);
    visitInductionVariable(loop, arguments[0]);
  }

private:
  void set(AxisLattice *lattice, AxisInfo info) {
    if (auto it = assumptions.find(lattice->getAnchor()); it != assumptions.end()) {
      info.nonNegative |= it->second.nonNegative;
      for (int64_t &divisibility : info.divisibility)
        divisibility = std::max(divisibility, it->second.divisibility);
    }
    // Equal neighbours are all true or none.
    for (unsigned axis = 0; axis < info.rank(); ++axis)
      info.prefix[axis] = std::max(info.prefix[axis], info.constancy[axis]);
    propagateIfChanged(lattice, lattice->join(info));
  }

  void visitInductionVariable(scf::ForOp loop, AxisLattice *lattice) {
    ProgramPoint *body = getProgramPointBefore(loop.getBody());
    const AxisInfo &lower = getLatticeElementFor(body, loop.getLowerBound())->getValue();
    const AxisInfo &step = getLatticeElementFor(body, loop.getStep())->getValue();
    if (!lower.isInitialized() || !step.isInitialized())
      return;
    AxisInfo info = AxisInfo::unknown(1);
    info.divisibility[0] = std::min(lower.divisibility[0], step.divisibility[0]);
    info.nonNegative = lower.nonNegative;
    set(lattice, info);
  }

  AxisInfo transfer(Operation *op, ArrayRef<AxisInfo> in);
  bool isBelieved(Type type) const {
    return hints == TensorHints::Believed || !isa<RankedTensorType>(type);
  }

  const DenseMap<Value, Assumption> &assumptions;
  TensorHints hints;
};

/// Whether the difference is `a - a / d * d`, a remainder that is written out: not negative where
/// `a` is not.
bool isRemainder(arith::SubIOp op) {
  auto multiple = op.getRhs().getDefiningOp<arith::MulIOp>();
  if (!multiple)
    return false;
  auto isQuotient = [&](Value value, Value divisor) {
    Operation *div = value.getDefiningOp();
    return isa_and_nonnull<arith::DivSIOp, arith::DivUIOp>(div) &&
           div->getOperand(0) == op.getLhs() && div->getOperand(1) == divisor;
  };
  return isQuotient(multiple.getLhs(), multiple.getRhs()) ||
         isQuotient(multiple.getRhs(), multiple.getLhs());
}

/// Whether it is `d - a % d`, what is missing to the next multiple: of a divisor, which is
/// positive, what is below it.
bool isUpToNextMultiple(arith::SubIOp op) {
  Operation *remainder = op.getRhs().getDefiningOp();
  return isa_and_nonnull<arith::RemSIOp, arith::RemUIOp>(remainder) &&
         remainder->getOperand(1) == op.getLhs();
}

AxisInfo differenceOf(arith::SubIOp op, ArrayRef<AxisInfo> in) {
  AxisInfo info = difference(in[0], in[1]);
  // A remainder is not negative where the dividend is not.
  info.nonNegative =
      (in[0].nonNegative && isRemainder(op)) || (in[1].nonNegative && isUpToNextMultiple(op));
  return info;
}

/// 2 to the power of a distance that is shifted by, if that is a known and usual one.
std::optional<int64_t> powerOfShift(const AxisInfo &distance) {
  if (!distance.constant || *distance.constant < 0 || *distance.constant > 40)
    return std::nullopt;
  return int64_t(1) << *distance.constant;
}

AxisInfo shiftedLeft(ArrayRef<AxisInfo> in, Type type) {
  if (std::optional<int64_t> power = powerOfShift(in[1]))
    return product(in[0], constantInfo(*power, type));
  return elementwise(in[0], in[1], [](int64_t value, int64_t) { return value; });
}

AxisInfo shiftedRight(ArrayRef<AxisInfo> in, Type type) {
  if (std::optional<int64_t> power = powerOfShift(in[1]))
    return quotient(in[0], constantInfo(*power, type), /*towardsZero=*/false);
  return elementwise(in[0], in[1], [](int64_t, int64_t) { return int64_t(1); });
}

AxisInfo commonBits(ArrayRef<AxisInfo> in) {
  AxisInfo info = bothOrEither(in[0], in[1], larger);
  info.nonNegative = in[0].nonNegative || in[1].nonNegative;
  return info;
}

AxisInfo extremum(ArrayRef<AxisInfo> in, bool isLargest) {
  AxisInfo info = elementwise(in[0], in[1], smaller);
  info.nonNegative =
      isLargest ? in[0].nonNegative || in[1].nonNegative : in[0].nonNegative && in[1].nonNegative;
  return info;
}

/// What is the same for all operands of a pure operation on elements is so for its result.
AxisInfo equalResults(Operation *op, ArrayRef<AxisInfo> in) {
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  AxisInfo info = AxisInfo::unknown(rankOf(op->getResult(0).getType()));
  bool isElementwise = isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) &&
                       OpTrait::hasElementwiseMappableTraits(op);
  bool isSplat = matchPattern(op, m_Constant<SplatElementsAttr>(nullptr));
  if (!type || !(isElementwise || isSplat))
    return info;
  for (unsigned axis = 0; axis < info.rank(); ++axis) {
    info.constancy[axis] = powerOfTwoIn(type.getDimSize(axis));
    for (auto [operand, facts] : llvm::zip_equal(op->getOperands(), in))
      if (isa<RankedTensorType>(operand.getType()))
        info.constancy[axis] = std::min(info.constancy[axis], facts.constancy[axis]);
  }
  return info;
}

/// Neighbours that are loaded from one address, or are left out together, are equal. `in` are the
/// facts of addresses, mask and `other`.
AxisInfo loaded(tile::LoadOp op, ArrayRef<AxisInfo> in) {
  AxisInfo info = AxisInfo::unknown(rankOf(op.getType()));
  if (op.getIsVolatile())
    return info;
  info.constancy = in[0].constancy;
  for (const AxisInfo &facts : in.drop_front())
    for (unsigned axis = 0; axis < info.rank(); ++axis)
      info.constancy[axis] = std::min(info.constancy[axis], facts.constancy[axis]);
  return info;
}

/// The same of a buffer, in which an element's place is a sum of `offset`'s and of steps by axis.
AxisInfo loaded(tilegpu::BufferLoadOp op, ArrayRef<AxisInfo> in) {
  AxisInfo info = AxisInfo::unknown(rankOf(op.getType()));
  for (unsigned axis = 0; axis < info.rank(); ++axis) {
    if (op.getStrides()[axis] != 0)
      continue;
    info.constancy[axis] = powerOfTwoIn(op.getType().getDimSize(axis));
    for (auto [operand, facts] : llvm::zip_equal(op->getOperands(), in))
      if (isa<RankedTensorType>(operand.getType()))
        info.constancy[axis] = std::min(info.constancy[axis], facts.constancy[axis]);
  }
  return info;
}

AxisInfo Propagation::transfer(Operation *op, ArrayRef<AxisInfo> in) {
  Type type = op->getResult(0).getType();
  Attribute constant;
  if (matchPattern(op, m_Constant(&constant)))
    if (auto value = integerIn(constant))
      return constantInfo(*value, type);

  return llvm::TypeSwitch<Operation *, AxisInfo>(op)
      .Case([&](tile::ArangeOp arangeOp) { return arange(arangeOp); })
      .Case<tile::ProgramIdOp, tile::NumProgramsOp, tile::ClusterRankOp>([&](auto) {
        AxisInfo info = AxisInfo::unknown(1);
        info.nonNegative = true;
        return info;
      })
      .Case([&](tile::SplatOp) { return splat(in[0], cast<RankedTensorType>(type)); })
      .Case([&](tile::BroadcastOp broadcastOp) {
        return broadcast(in[0], cast<RankedTensorType>(broadcastOp.getSource().getType()),
                         cast<RankedTensorType>(type));
      })
      .Case([&](tile::ExpandDimsOp expand) { return expandDims(in[0], expand.getAxis()); })
      .Case([&](tile::TransOp trans) { return transpose(in[0], trans.getOrder()); })
      .Case([&](tile::ReshapeOp reshapeOp) {
        return reshapeOp.getAnyOrder()
                   ? AxisInfo::unknown(rankOf(type))
                   : reshape(in[0], cast<RankedTensorType>(reshapeOp.getSource().getType()),
                             cast<RankedTensorType>(type));
      })
      .Case<tile::LoadOp, tilegpu::BufferLoadOp>([&](auto load) { return loaded(load, in); })
      .Case([&](tile::HintOp hintOp) { return isBelieved(type) ? hint(hintOp, in[0]) : in[0]; })
      .Case([&](tilegpu::ConvertLayoutOp) { return in[0]; })
      .Case([&](tile::BitcastOp cast) { return bitcast(in[0], cast.getSource().getType(), type); })
      .Case([&](tile::AddPtrOp) { return sum(in[0], in[1], unitOf(type)); })
      .Case([&](arith::AddIOp) { return sum(in[0], in[1], 1); })
      .Case([&](arith::SubIOp sub) { return differenceOf(sub, in); })
      .Case([&](arith::MulIOp) { return product(in[0], in[1]); })
      .Case([&](arith::ShLIOp) { return shiftedLeft(in, type); })
      .Case<arith::ShRSIOp, arith::ShRUIOp>([&](auto) { return shiftedRight(in, type); })
      .Case([&](arith::DivSIOp) { return quotient(in[0], in[1], /*towardsZero=*/true); })
      .Case([&](arith::DivUIOp) { return quotient(in[0], in[1], /*towardsZero=*/false); })
      .Case([&](arith::RemSIOp) { return remainder(in[0], in[1], /*isSigned=*/true); })
      .Case([&](arith::RemUIOp) { return remainder(in[0], in[1], /*isSigned=*/false); })
      .Case([&](arith::AndIOp) { return commonBits(in); })
      .Case([&](arith::OrIOp) { return bothOrEither(in[0], in[1], smaller); })
      .Case([&](arith::XOrIOp) { return elementwise(in[0], in[1], smaller); })
      .Case<arith::MinSIOp, arith::MaxSIOp, arith::MinUIOp, arith::MaxUIOp>(
          [&](auto) { return extremum(in, /*isLargest=*/isa<arith::MaxSIOp>(op)); })
      .Case([&](arith::CmpIOp compare) { return comparison(compare.getPredicate(), in[0], in[1]); })
      .Case([&](arith::SelectOp select) {
        return choice(in[0], in[1], in[2], !isa<RankedTensorType>(select.getCondition().getType()));
      })
      .Case([&](arith::ExtSIOp) { return in[0]; })
      .Case([&](arith::ExtUIOp) { return withoutConstant(in[0]); })
      .Case([&](arith::TruncIOp) { return truncation(in[0]); })
      .Case([&](arith::IndexCastOp) { return isNarrower(op) ? truncation(in[0]) : in[0]; })
      .Case([&](arith::IndexCastUIOp) {
        return isNarrower(op) ? truncation(in[0]) : withoutConstant(in[0]);
      })
      .Default([&](Operation *) { return equalResults(op, in); });
}

} // namespace

bool AxisInfo::operator==(const AxisInfo &other) const {
  return contiguity == other.contiguity && divisibility == other.divisibility &&
         constancy == other.constancy && prefix == other.prefix && constant == other.constant &&
         nonNegative == other.nonNegative;
}

AxisInfo AxisInfo::unknown(unsigned rank) {
  AxisInfo info;
  info.contiguity.assign(rank, 1);
  info.divisibility.assign(rank, 1);
  info.constancy.assign(rank, 1);
  info.prefix.assign(rank, 1);
  return info;
}

AxisInfo AxisInfo::join(const AxisInfo &lhs, const AxisInfo &rhs) {
  if (!lhs.isInitialized() || !rhs.isInitialized())
    return lhs.isInitialized() ? lhs : rhs;
  assert(lhs.rank() == rhs.rank() && "a value has one rank");
  AxisInfo info = perAxis(lhs.rank(), [&](unsigned axis, AxisInfo &out) {
    int64_t group = std::min(lhs.contiguity[axis], rhs.contiguity[axis]);
    out.contiguity[axis] = group;
    out.divisibility[axis] = std::min(lhs.divisibility[axis], rhs.divisibility[axis]);
    // A smaller group starts where a larger one goes on; its unit is not known here, 1 is the
    // least.
    if (lhs.contiguity[axis] != rhs.contiguity[axis])
      out.divisibility[axis] = std::min(out.divisibility[axis], group);
    out.constancy[axis] = std::min(lhs.constancy[axis], rhs.constancy[axis]);
    out.prefix[axis] = std::min(lhs.prefix[axis], rhs.prefix[axis]);
  });
  if (lhs.constant == rhs.constant)
    info.constant = lhs.constant;
  info.nonNegative = lhs.nonNegative && rhs.nonNegative;
  return info;
}

void AxisInfo::print(llvm::raw_ostream &os) const {
  auto list = [&](StringRef name, ArrayRef<int64_t> facts) {
    os << name << " = [";
    llvm::interleaveComma(facts, os);
    os << "]";
  };
  list("contiguity", contiguity);
  list(", divisibility", divisibility);
  list(", constancy", constancy);
  if (prefix != constancy)
    list(", prefix", prefix);
  if (constant)
    os << ", constant = " << *constant;
  if (nonNegative)
    os << ", non-negative";
}

struct AxisInfoAnalysis::Solver {
  DataFlowSolver solver;
  DenseMap<Value, Assumption> assumptions;
};

AxisInfoAnalysis::AxisInfoAnalysis(Operation *root, TensorHints hints)
    : solver(std::make_unique<Solver>()) {
  solver->assumptions = collectAssumptions(root);
  solver->solver.load<dataflow::DeadCodeAnalysis>();
  solver->solver.load<dataflow::SparseConstantPropagation>();
  solver->solver.load<Propagation>(solver->assumptions, hints);
  LogicalResult ran = solver->solver.initializeAndRun(root);
  assert(succeeded(ran) && "the transfer functions do not fail");
  (void)ran;
}

AxisInfoAnalysis::~AxisInfoAnalysis() = default;

AxisInfo AxisInfoAnalysis::get(Value value) const {
  const auto *lattice = solver->solver.lookupState<AxisLattice>(value);
  if (!lattice || !lattice->getValue().isInitialized())
    return AxisInfo::unknown(rankOf(value.getType()));
  return lattice->getValue();
}

int64_t AxisInfoAnalysis::vectorLength(Value pointers, unsigned axis) const {
  AxisInfo info = get(pointers);
  auto pointer = cast<tile::PtrType>(tile::elementTypeOf(pointers.getType()));
  return std::min(info.contiguity[axis],
                  std::max<int64_t>(1, info.divisibility[axis] / pointer.getElementBytes()));
}

int64_t AxisInfoAnalysis::maskConstancy(Value mask, unsigned axis) const {
  return get(mask).constancy[axis];
}

int64_t AxisInfoAnalysis::accessLength(Value pointers, Value mask, unsigned axis) const {
  int64_t length = vectorLength(pointers, axis);
  return mask ? std::min(length, get(mask).prefix[axis]) : length;
}

} // namespace kiln
