#include "compiler/Analysis/IndexPolynomial.h"
#include "compiler/Dialect/Tile/Tile.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace kiln {

//===--- Polynomials ---===//

constexpr size_t mostTerms = 32, mostFactors = 4;
/// Times the elements of a tile it is far below 2^63.
constexpr int64_t largestCoefficient = int64_t(1) << 38;

void Polynomial::add(const Monomial &monomial, int64_t coefficient) {
  int64_t &entry = sum[monomial];
  entry += coefficient;
  if (entry == 0)
    sum.erase(monomial);
  else
    tooLarge |= std::abs(entry) > largestCoefficient || monomial.size() > mostFactors ||
                sum.size() > mostTerms;
}

Polynomial Polynomial::constant(int64_t value) {
  Polynomial result;
  if (value > largestCoefficient || value < -largestCoefficient)
    result.tooLarge = true;
  else if (value != 0)
    result.add({}, value);
  return result;
}

Polynomial Polynomial::symbol(Symbol symbol) {
  Polynomial result;
  result.add({symbol}, 1);
  return result;
}

int64_t Polynomial::coefficient(const Monomial &monomial) const {
  auto found = sum.find(monomial);
  return found == sum.end() ? 0 : found->second;
}

std::optional<int64_t> Polynomial::asConstant() const {
  if (sum.empty() || (sum.size() == 1 && sum.begin()->first.empty()))
    return constantTerm();
  return std::nullopt;
}

Polynomial Polynomial::plus(const Polynomial &other, int64_t factor) const {
  Polynomial result = *this;
  result.tooLarge |= other.tooLarge;
  for (auto &[monomial, coefficient] : other.sum) {
    int64_t scaled;
    if (result.tooLarge || llvm::MulOverflow(coefficient, factor, scaled) ||
        std::abs(scaled) > largestCoefficient) {
      result.tooLarge = true;
      return result;
    }
    result.add(monomial, scaled);
  }
  return result;
}

Polynomial Polynomial::times(const Polynomial &other) const {
  Polynomial result;
  result.tooLarge = tooLarge || other.tooLarge;
  for (auto &[left, coefficient] : sum)
    for (auto &[right, factor] : other.sum) {
      int64_t scaled;
      if (result.tooLarge || llvm::MulOverflow(coefficient, factor, scaled) ||
          std::abs(scaled) > largestCoefficient) {
        result.tooLarge = true;
        return result;
      }
      Monomial product = left;
      product.append(right.begin(), right.end());
      llvm::sort(product);
      result.add(product, scaled);
    }
  return result;
}

Polynomial Polynomial::substitute(llvm::function_ref<Polynomial(Symbol)> replacement) const {
  Polynomial result;
  result.tooLarge = tooLarge;
  for (auto &[monomial, coefficient] : sum) {
    Polynomial product = constant(coefficient);
    for (Symbol symbol : monomial)
      product = product.times(replacement(symbol));
    result = result.plus(product);
  }
  return result;
}

std::optional<Polynomial> Polynomial::dividedBy(int64_t divisor) const {
  Polynomial result;
  result.tooLarge = tooLarge;
  for (auto &[monomial, coefficient] : sum) {
    if (coefficient % divisor != 0)
      return std::nullopt;
    result.add(monomial, coefficient / divisor);
  }
  return result;
}

std::optional<Polynomial> Polynomial::dividedBy(const Polynomial &divisor) const {
  if (tooLarge || divisor.tooLarge || divisor.sum.size() != 1)
    return std::nullopt;
  auto &[factors, number] = *divisor.sum.begin();
  Polynomial result;
  for (auto &[monomial, coefficient] : sum) {
    Monomial left = monomial;
    for (Symbol factor : factors) {
      auto found = llvm::find(left, factor);
      if (found == left.end())
        return std::nullopt;
      left.erase(found);
    }
    if (coefficient % number != 0)
      return std::nullopt;
    result.add(left, coefficient / number);
  }
  return result;
}

//===--- Values ---===//

Symbol IndexPolynomials::intern(const SymbolMeaning &meaning) {
  auto [entry, isNew] = symbols.try_emplace(meaning, Symbol(meanings.size()));
  if (isNew)
    meanings.push_back(meaning);
  return entry->second;
}

Polynomial IndexPolynomials::of(Value value) {
  auto found = known.find(value);
  if (found != known.end())
    return found->second;
  Polynomial result = compute(value);
  known[value] = result;
  return result;
}

Symbol IndexPolynomials::symbolOf(Value value) {
  SymbolMeaning meaning;
  meaning.value = sameComputation(value);
  SmallVector<Value, 1> &values = alike[meaning.value];
  if (!llvm::is_contained(values, value))
    values.push_back(value);
  for (auto [axis, extent] : llvm::enumerate(tile::shapeOf(value.getType())))
    meaning.axes.push_back(extent == 1 ? SymbolMeaning::noAxis : unsigned(axis));
  return intern(meaning);
}

/// The first value that was computed like this one: two loops' counters that are in step lead to
/// the same tiles.
Value IndexPolynomials::sameComputation(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getNumResults() != 1 || op->getNumRegions() != 0 || op->getNumOperands() == 0 ||
      !isMemoryEffectFree(op) || !llvm::all_of(op->getOperandTypes(), [](Type type) {
        return isa<IntegerType, IndexType>(tile::elementTypeOf(type));
      }))
    return value;
  std::vector<Polynomial::Terms> operands;
  for (Value operand : op->getOperands()) {
    Polynomial polynomial = of(operand);
    if (polynomial.isTooLarge())
      return value;
    operands.push_back(polynomial.terms());
  }
  Computation computation{op->getName().getAsOpaquePointer(),
                          op->getAttrDictionary().getAsOpaquePointer(),
                          value.getType().getAsOpaquePointer(), std::move(operands)};
  return computed.try_emplace(std::move(computation), value).first->second;
}

ArrayRef<Value> IndexPolynomials::valuesOf(Symbol symbol) const {
  auto found = alike.find(meaning(symbol).value);
  return found == alike.end() ? ArrayRef<Value>() : ArrayRef<Value>(found->second);
}

SmallVector<unsigned, 2> IndexPolynomials::axesOf(Symbol symbol) const {
  const SymbolMeaning &meant = meaning(symbol);
  SmallVector<unsigned, 2> axes;
  if (meant.kind == SymbolMeaning::Kind::Axis)
    axes.push_back(meant.axis);
  llvm::copy_if(meant.axes, std::back_inserter(axes),
                [](unsigned axis) { return axis != SymbolMeaning::noAxis; });
  return axes;
}

bool IndexPolynomials::isUniform(const Polynomial &polynomial) const {
  return llvm::all_of(polynomial.terms(), [&](auto &term) {
    return llvm::all_of(term.first, [&](Symbol symbol) { return axesOf(symbol).empty(); });
  });
}

bool IndexPolynomials::variesIn(const Polynomial &polynomial, Operation *loop) const {
  return llvm::any_of(polynomial.terms(), [&](auto &term) {
    return llvm::any_of(term.first, [&](Symbol symbol) {
      SymbolMeaning used = meaning(symbol);
      return used.loop
                 ? loop->isAncestor(used.loop)
                 : used.value && loop->isAncestor(used.value.getParentRegion()->getParentOp());
    });
  });
}

Polynomial IndexPolynomials::compute(Value value) {
  if (llvm::is_contained(assumed, value))
    return opaque(value);
  Attribute attribute;
  if (matchPattern(value, m_Constant(&attribute))) {
    if (auto splat = dyn_cast<SplatElementsAttr>(attribute))
      attribute = splat.getSplatValue<Attribute>();
    if (auto integer = dyn_cast<IntegerAttr>(attribute))
      if (integer.getValue().getSignificantBits() <= 64)
        return Polynomial::constant(integer.getValue().getSExtValue());
    return opaque(value);
  }
  auto argument = dyn_cast<BlockArgument>(value);
  auto loop = value.getDefiningOp<scf::ForOp>();
  std::optional<Polynomial> followed = argument ? followArgument(argument)
                                       : loop   ? followResult(loop, cast<OpResult>(value))
                                                : follow(value.getDefiningOp());
  return followed && !followed->isTooLarge() ? *followed : opaque(value);
}

/// The tile's axis `i` becomes axis `axes[i]`.
Polynomial IndexPolynomials::withAxes(const Polynomial &polynomial, ArrayRef<unsigned> axes) {
  return polynomial.substitute([&](Symbol symbol) {
    SymbolMeaning changed = meaning(symbol);
    if (changed.kind == SymbolMeaning::Kind::Axis)
      changed.axis = axes[changed.axis];
    for (unsigned &axis : changed.axes)
      if (axis != SymbolMeaning::noAxis)
        axis = axes[axis];
    return Polynomial::symbol(intern(changed));
  });
}

std::optional<Polynomial> IndexPolynomials::follow(Operation *op) {
  using Result = std::optional<Polynomial>;
  auto rankOf = [](Value value) { return unsigned(tile::shapeOf(value.getType()).size()); };
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([&](tile::ArangeOp range) -> Result {
        Polynomial start = Polynomial::constant(int32_t(range.getStart()));
        if (tile::shapeOf(range.getType())[0] == 1)
          return start;
        SymbolMeaning index;
        index.kind = SymbolMeaning::Kind::Axis;
        return start.plus(Polynomial::symbol(intern(index)));
      })
      .Case<tile::SplatOp, tile::BroadcastOp, tile::HintOp, arith::ExtSIOp, arith::IndexCastOp>(
          [&](Operation *same) -> Result { return of(same->getOperand(0)); })
      .Case([&](tile::ExpandDimsOp expand) -> Result {
        SmallVector<unsigned> axes;
        for (unsigned axis = 0; axis < rankOf(expand.getSource()); ++axis)
          axes.push_back(axis + (axis >= unsigned(expand.getAxis())));
        return withAxes(of(expand.getSource()), axes);
      })
      .Case([&](tile::TransOp trans) -> Result {
        SmallVector<unsigned> axes(trans.getOrder().size());
        for (auto [axis, source] : llvm::enumerate(trans.getOrder()))
          axes[source] = axis;
        return withAxes(of(trans.getSource()), axes);
      })
      .Case([&](tile::AddPtrOp add) -> Result {
        auto pointer = cast<tile::PtrType>(tile::elementTypeOf(add.getType()));
        return of(add.getPtr()).plus(of(add.getOffset()), pointer.getElementBytes());
      })
      .Case([&](tile::BitcastOp cast) -> Result {
        // Of pointers to others: the address stays.
        if (!isa<tile::PtrType>(tile::elementTypeOf(cast.getSource().getType())) ||
            !isa<tile::PtrType>(tile::elementTypeOf(cast.getType())))
          return std::nullopt;
        return of(cast.getSource());
      })
      .Case<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::ShLIOp>(
          [&](Operation *arithmetic) { return followArithmetic(arithmetic); })
      .Default([](Operation *) { return std::nullopt; });
}

std::optional<Polynomial> IndexPolynomials::followArithmetic(Operation *op) {
  // Narrow numbers do wrap.
  Type type = tile::elementTypeOf(op->getResult(0).getType());
  if (type.isInteger() && type.getIntOrFloatBitWidth() < 32)
    return std::nullopt;
  Polynomial left = of(op->getOperand(0)), right = of(op->getOperand(1));
  if (isa<arith::AddIOp>(op))
    return left.plus(right);
  if (isa<arith::SubIOp>(op))
    return left.plus(right, /*factor=*/-1);
  if (isa<arith::MulIOp>(op))
    return left.times(right);
  std::optional<int64_t> by = right.asConstant();
  if (!by || *by < 0 || *by > 30)
    return std::nullopt;
  return left.times(Polynomial::constant(int64_t(1) << *by));
}

/// Kernel arguments that are pointers count as 0; what goes up by the same in every iteration of a
/// loop is where it started and a multiple of the iteration's number.
std::optional<Polynomial> IndexPolynomials::followArgument(BlockArgument argument) {
  Operation *parent = argument.getOwner()->getParentOp();
  if (isa<func::FuncOp>(parent) && isa<tile::PtrType>(argument.getType()))
    return Polynomial();
  auto loop = dyn_cast<scf::ForOp>(parent);
  if (!loop)
    return std::nullopt;
  SymbolMeaning number;
  number.kind = SymbolMeaning::Kind::Iteration;
  number.loop = loop;
  Polynomial iteration = Polynomial::symbol(intern(number));
  if (argument == loop.getInductionVar())
    return of(loop.getLowerBound()).plus(of(loop.getStep()).times(iteration));

  // What is found while the argument is only assumed to be a symbol is not kept.
  auto kept = known;
  assumed.push_back(argument);
  Polynomial step =
      of(loop.getTiedLoopYieldedValue(argument)->get()).plus(opaque(argument), /*factor=*/-1);
  assumed.pop_back();
  known = std::move(kept);
  if (variesIn(step, loop))
    return std::nullopt;
  return of(loop.getTiedLoopInit(argument)->get()).plus(step.times(iteration));
}

/// Behind a loop whose number of iterations is known: a constant, or a quotient, as of a loop whose
/// last iteration stands behind it.
std::optional<Polynomial> IndexPolynomials::followResult(scf::ForOp loop, OpResult result) {
  Polynomial span = of(loop.getUpperBound()).plus(of(loop.getLowerBound()), /*factor=*/-1);
  std::optional<Polynomial> count = span.dividedBy(of(loop.getStep()));
  if (!count || count->terms().size() > 1)
    return std::nullopt;
  for (auto &[monomial, coefficient] : count->terms()) {
    Value number = monomial.size() == 1 ? meaning(monomial[0]).value : Value();
    bool isQuotient = coefficient == 1 && number && number.getDefiningOp<arith::DivUIOp>();
    if (coefficient < 0 || !(monomial.empty() || isQuotient))
      return std::nullopt;
  }
  BlockArgument argument = loop.getRegionIterArg(result.getResultNumber());
  Polynomial step = of(loop.getTiedLoopYieldedValue(argument)->get()).plus(of(argument), -1);
  if (step.isTooLarge() || variesIn(step, loop))
    return std::nullopt;
  return of(loop.getTiedLoopInit(argument)->get()).plus(step.times(*count));
}

} // namespace kiln
