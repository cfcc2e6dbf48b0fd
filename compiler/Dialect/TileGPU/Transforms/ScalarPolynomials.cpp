#include "compiler/Dialect/TileGPU/Transforms/ScalarPolynomials.h"

#include "compiler/Dialect/Tile/Tile.h"
#include "compiler/Dialect/TileGPU/TileGPU.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace kiln {

bool ScalarPolynomials::isOfWave(Value scalar) {
  auto known = ofWave.find(scalar);
  if (known != ofWave.end())
    return known->second;
  bool result;
  if (auto argument = dyn_cast<BlockArgument>(scalar)) {
    Operation *parent = argument.getOwner()->getParentOp();
    auto loop = dyn_cast<scf::ForOp>(parent);
    result = isa<func::FuncOp>(parent) ||
             (loop && argument == loop.getInductionVar() && isOfWave(loop.getLowerBound()) &&
              isOfWave(loop.getStep()) && isAlike(loop.getUpperBound()));
  } else {
    Operation *op = scalar.getDefiningOp();
    result = isa<tile::ProgramIdOp, tile::NumProgramsOp, arith::ConstantOp>(op) ||
             (isa<arith::ArithDialect>(op->getDialect()) &&
              llvm::all_of(op->getOperands(), [&](Value operand) { return isOfWave(operand); }));
  }
  return ofWave[scalar] = result;
}

bool ScalarPolynomials::isAlike(Value scalar) {
  if (isOfWave(scalar) || !followsLoads)
    return isOfWave(scalar);
  Operation *op = scalar.getDefiningOp();
  auto load = dyn_cast_or_null<tile::LoadOp>(op);
  bool isFollowed = load ? !tilegpu::isReadForAll(load)
                         : isa_and_nonnull<tile::AddPtrOp>(op) ||
                               (op && isa<arith::ArithDialect>(op->getDialect()));
  return isFollowed && !isa<RankedTensorType>(scalar.getType()) &&
         llvm::all_of(op->getOperands(), [&](Value operand) { return isAlike(operand); });
}

/// Whether the scalar can be taken as one of `type`, i32 or i64.
static bool fits(Value scalar, Type type) {
  return scalar.getType() == type || (type.isInteger(64) && scalar.getType().isInteger(32));
}

/// The product without the loop's step, which may be one itself (`tl.num_programs(0) * BLOCK`), and
/// is not zero; none if that is no factor of it.
std::optional<Polynomial::Monomial> ScalarPolynomials::withoutStep(Polynomial::Monomial monomial,
                                                                   scf::ForOp loop,
                                                                   int64_t &coefficient) const {
  Polynomial product;
  product.add(monomial, coefficient);
  std::optional<Polynomial> rest = product.dividedBy(polynomials.of(loop.getStep()));
  if (!rest)
    return std::nullopt;
  coefficient = rest->terms().begin()->second;
  return rest->terms().begin()->first;
}

/// A number of an iteration times the loop's step is how far the counter has come.
std::optional<ScalarPolynomials::Product>
ScalarPolynomials::productOf(const Polynomial::Monomial &monomial, int64_t coefficient,
                             Operation *at, Type type) {
  Product product{coefficient, {}};
  SmallVector<Symbol, 3> left(monomial);
  auto iteration = llvm::find_if(left, [&](Symbol symbol) {
    return polynomials.meaning(symbol).kind == SymbolMeaning::Kind::Iteration;
  });
  if (iteration != left.end()) {
    auto loop = dyn_cast<scf::ForOp>(polynomials.meaning(*iteration).loop);
    left.erase(iteration);
    if (!loop || !loop->isProperAncestor(at) || !fits(loop.getInductionVar(), type) ||
        !isOfWave(loop.getInductionVar()))
      return std::nullopt;
    std::optional<Polynomial::Monomial> factors = withoutStep(left, loop, product.coefficient);
    if (!factors)
      return std::nullopt;
    left = *factors;
    product.factors.push_back({loop.getInductionVar(), loop.getLowerBound()});
  }
  for (Symbol symbol : left) {
    Value scalar = scalarAt(symbol, at, type);
    if (!scalar)
      return std::nullopt;
    product.factors.push_back({scalar, Value()});
  }
  return product;
}

Value ScalarPolynomials::scalarAt(Symbol symbol, Operation *at, Type type) {
  for (Value value : polynomials.valuesOf(symbol)) {
    if (fits(value, type) && isOfWave(value) && dominance.dominates(value, at))
      return value;
  }
  return {};
}

bool ScalarPolynomials::canWrite(const Polynomial &polynomial, Operation *at, Type type) {
  return !polynomial.isTooLarge() && llvm::all_of(polynomial.terms(), [&](auto &term) {
    return productOf(term.first, term.second, at, type).has_value();
  });
}

Value ScalarPolynomials::write(const Polynomial &polynomial, Operation *at, Type type,
                               OpBuilder &b) {
  Location loc = at->getLoc();
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, value));
  };
  auto widened = [&](Value value) -> Value {
    return value.getType() == type ? value : arith::ExtSIOp::create(b, loc, type, value);
  };
  Value sum;
  for (auto &[monomial, coefficient] : polynomial.terms()) {
    Product product = *productOf(monomial, coefficient, at, type);
    Value term;
    for (const Factor &factor : product.factors) {
      Value value = widened(factor.value);
      if (factor.less)
        value = b.createOrFold<arith::SubIOp>(loc, value, widened(factor.less));
      term = term ? b.createOrFold<arith::MulIOp>(loc, term, value) : value;
    }
    if (!term)
      term = number(product.coefficient);
    else if (product.coefficient != 1)
      term = b.createOrFold<arith::MulIOp>(loc, term, number(product.coefficient));
    sum = sum ? b.createOrFold<arith::AddIOp>(loc, sum, term) : term;
  }
  return sum ? sum : number(0);
}

bool ScalarPolynomials::isNonNegative(Symbol symbol) const {
  const SymbolMeaning &meant = polynomials.meaning(symbol);
  if (meant.kind != SymbolMeaning::Kind::Value)
    return true;
  // A quotient of numbers without sign: how often a loop goes on whose last iteration stands
  // behind.
  return isa_and_nonnull<tile::ProgramIdOp, tile::NumProgramsOp, arith::DivUIOp>(
             meant.value.getDefiningOp()) ||
         facts.get(meant.value).nonNegative;
}

bool ScalarPolynomials::isNonNegative(const Polynomial &polynomial) const {
  return llvm::all_of(polynomial.terms(), [&](auto &term) {
    Polynomial::Monomial factors = term.first;
    int64_t coefficient = term.second;
    // Loops count up, whatever their step.
    for (Symbol symbol : term.first) {
      auto loop = dyn_cast_or_null<scf::ForOp>(polynomials.meaning(symbol).loop);
      auto rest = loop ? withoutStep(factors, loop, coefficient) : std::nullopt;
      factors = rest.value_or(factors);
    }
    return coefficient >= 0 &&
           llvm::all_of(factors, [&](Symbol symbol) { return isNonNegative(symbol); });
  });
}

} // namespace kiln
