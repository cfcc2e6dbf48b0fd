// What runs an iteration ahead asks whether there is such an iteration. A mask by the same bound
// has answered that:
//
//   for n in range(0, (K + 63) / 64): load(…, mask = i < K - n * 64)
//
// i < K - (n + 1) * 64 for some i >= 0 means that (n + 1) * 64 < K <= (K + 63) / 64 * 64. So of
// both comparisons there is a polynomial that is positive where they hold (its margin), of the
// mask's the largest of all elements; and of quotients by a constant, a bound from below.
//
// The other way round, an iteration with another one behind it has no element that
//
//   for k in range(0, N, 64): load(…, mask = k + i < N)
//
// masks off: N - k - i is positive for i < 64 where N - (k + 64) is. Here it is the smallest margin
// of all elements, and of quotients a bound from above. Grid-stride loops go on by a multiple of
// the number of programs, which is at least one.

#include "compiler/Dialect/TileGPU/Transforms/ImpliedConditions.h"

#include "compiler/Dialect/TileGPU/TileGPU.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace kiln {
namespace {

class Implications {
public:
  explicit Implications(IndexPolynomials &polynomials) : polynomials(polynomials) {}

  /// Where the polynomial is positive the comparison holds, and if it is `exact` nowhere else;
  /// none: it compares otherwise.
  std::optional<Polynomial> marginOf(arith::CmpIOp comparison, bool exact) {
    using P = arith::CmpIPredicate;
    P predicate = comparison.getPredicate();
    Value less = comparison.getLhs(), more = comparison.getRhs();
    bool isSwapped = predicate == P::sgt || predicate == P::sge || predicate == P::ugt;
    if (isSwapped)
      std::swap(less, more);
    // Of numbers without sign, the smaller of which has none.
    APInt number;
    bool isStrict = predicate == P::slt || predicate == P::sgt;
    bool isUnsigned = !exact && (predicate == P::ult || predicate == P::ugt) &&
                      matchPattern(less, m_ConstantInt(&number)) && !number.isNegative();
    if (!isStrict && !isUnsigned && predicate != P::sle && predicate != P::sge)
      return std::nullopt;
    // Narrow numbers wrap.
    auto integer = dyn_cast<IntegerType>(tile::elementTypeOf(less.getType()));
    if (integer && integer.getWidth() < 32)
      return std::nullopt;
    Polynomial margin = polynomials.of(more).plus(polynomials.of(less), /*factor=*/-1);
    return isStrict || isUnsigned ? margin : margin.plus(Polynomial::constant(1));
  }

  /// The largest of a tensor's; none if it is not one number for the tile less indices.
  std::optional<Polynomial> largest(const Polynomial &margin) {
    return boundOf(margin, [](unsigned, int64_t coefficient) -> std::optional<int64_t> {
      return coefficient < 0 ? std::optional(0) : std::nullopt;
    });
  }

  /// The smallest of a tensor's of that shape; none if it is not one number for the tile but for
  /// indices.
  std::optional<Polynomial> smallest(const Polynomial &margin, ArrayRef<int64_t> shape) {
    return boundOf(margin, [&](unsigned axis, int64_t coefficient) -> std::optional<int64_t> {
      return coefficient < 0 ? coefficient * (shape[axis] - 1) : 0;
    });
  }

  /// Whether `margin` is at least `other` over a positive number, where `other` is positive.
  bool isAtLeast(const Polynomial &margin, const Polynomial &other) {
    if (isNotNegative(margin.plus(other, /*factor=*/-1)))
      return true;
    for (auto &[monomial, coefficient] : margin.terms()) {
      std::optional<Quotient> quotient = quotientOf(monomial);
      if (!quotient || coefficient <= 0)
        continue;
      Polynomial whole;
      whole.add(monomial, coefficient);
      Polynomial bound = margin.plus(whole, /*factor=*/-1)
                             .times(Polynomial::constant(quotient->divisor))
                             .plus(quotient->least, coefficient);
      if (isNotNegative(bound.plus(other, /*factor=*/-1)))
        return true;
    }
    return false;
  }

  /// Whether `margin` is positive wherever `end` is above `next`, which is above `first`. With a
  /// number of `first` an end that is a quotient is positive there, and so what is divided, if the
  /// end is not more than the quotient by so much that `next` may be below.
  bool isPositiveBefore(const Polynomial &margin, const Polynomial &end, const Polynomial &next,
                        std::optional<int64_t> first) {
    auto isAbove = [&](const Polynomial &most, int64_t times) {
      // `times` ends are at most `most`, and at least `times` more than as many `next`.
      Polynomial left = most.plus(next, -times);
      return isNotNegative(margin.plus(left, /*factor=*/-1).plus(Polynomial::constant(times - 1)));
    };
    if (isAbove(end, 1))
      return true;
    // Of two ends, the lesser one.
    if (auto lesser = computedBy<arith::MinSIOp>(end))
      return llvm::any_of(lesser->getOperands(), [&](Value other) {
        return isPositiveBefore(margin, polynomials.of(other), next, first);
      });
    for (auto &[monomial, coefficient] : end.terms()) {
      std::optional<Quotient> quotient = quotientOf(monomial);
      if (!quotient || coefficient != 1 || !first)
        continue;
      Polynomial rest = end;
      rest.add(monomial, -1);
      std::optional<int64_t> more = rest.asConstant();
      if (more && *more <= *first + 1 &&
          isAbove(quotient->dividend.plus(rest, quotient->divisor), quotient->divisor))
        return true;
    }
    return false;
  }

  /// Programs and iterations count from zero, and there is a program; none: nothing is known.
  std::optional<int64_t> leastOf(const Polynomial &polynomial) const {
    if (polynomial.isTooLarge())
      return std::nullopt;
    int64_t sum = 0;
    for (auto &[monomial, coefficient] : polynomial.terms()) {
      int64_t product = coefficient;
      for (Symbol symbol : monomial) {
        std::optional<int64_t> least = leastOf(symbol);
        if (!least || coefficient < 0)
          return std::nullopt;
        product *= *least;
      }
      sum += product;
    }
    return sum;
  }

private:
  /// With the number that `ofIndex` has for an axis and its coefficient in place of each index;
  /// none if that has none, or there is anything else that is not one number for the tile.
  std::optional<Polynomial>
  boundOf(const Polynomial &margin,
          function_ref<std::optional<int64_t>(unsigned, int64_t)> ofIndex) {
    if (margin.isTooLarge())
      return std::nullopt;
    Polynomial bound;
    for (auto &[monomial, coefficient] : margin.terms()) {
      Polynomial term;
      term.add(monomial, coefficient);
      bool isIndex = monomial.size() == 1 &&
                     polynomials.meaning(monomial[0]).kind == SymbolMeaning::Kind::Axis;
      std::optional<int64_t> number =
          isIndex ? ofIndex(polynomials.meaning(monomial[0]).axis, coefficient) : std::nullopt;
      if (!number && !polynomials.isUniform(term))
        return std::nullopt;
      bound = bound.plus(number ? Polynomial::constant(*number) : term);
    }
    return bound;
  }

  /// The operation of which the polynomial is the result, if it is one of those; else null.
  template <typename Op> Op computedBy(const Polynomial &polynomial) const {
    if (polynomial.isTooLarge() || polynomial.terms().size() != 1)
      return {};
    auto &[monomial, coefficient] = *polynomial.terms().begin();
    if (coefficient != 1 || monomial.size() != 1)
      return {};
    const SymbolMeaning &meant = polynomials.meaning(monomial[0]);
    return meant.value ? meant.value.getDefiningOp<Op>() : Op();
  }

  /// A symbol of which `divisor` times are at least `least`, and if it is positive at most
  /// `dividend`.
  struct Quotient {
    int64_t divisor;
    Polynomial dividend, least;
  };

  std::optional<Quotient> quotientOf(const Polynomial::Monomial &monomial) {
    if (monomial.size() != 1 || polynomials.meaning(monomial[0]).kind != SymbolMeaning::Kind::Value)
      return std::nullopt;
    auto division = polynomials.meaning(monomial[0]).value.getDefiningOp<arith::DivSIOp>();
    APInt divisor;
    if (!division || !matchPattern(division.getRhs(), m_ConstantInt(&divisor)) ||
        !divisor.isStrictlyPositive())
      return std::nullopt;
    int64_t by = divisor.getSExtValue();
    Polynomial dividend = polynomials.of(division.getLhs());
    return Quotient{by, dividend, dividend.plus(Polynomial::constant(1 - by))};
  }

  bool isNotNegative(const Polynomial &difference) const {
    std::optional<int64_t> least = leastOf(difference);
    return least && *least >= 0;
  }

  std::optional<int64_t> leastOf(Symbol symbol) const {
    using Kind = SymbolMeaning::Kind;
    const SymbolMeaning &meant = polynomials.meaning(symbol);
    if (meant.kind != Kind::Value)
      return meant.kind == Kind::Distance ? 1 : 0;
    Operation *op = meant.value.getDefiningOp();
    if (isa_and_nonnull<tile::ProgramIdOp, tile::NumProgramsOp>(op))
      return isa<tile::NumProgramsOp>(op) ? 1 : 0;
    return std::nullopt;
  }

  IndexPolynomials &polynomials;
};

} // namespace

bool isImplied(Value condition, Value mask, IndexPolynomials &polynomials) {
  Operation *op = mask.getDefiningOp();
  if (isa_and_nonnull<arith::AndIOp, tile::BroadcastOp, tile::ExpandDimsOp>(op))
    return llvm::any_of(op->getOperands(),
                        [&](Value part) { return isImplied(condition, part, polynomials); });
  auto scalar = condition.getDefiningOp<arith::CmpIOp>();
  auto comparison = dyn_cast_or_null<arith::CmpIOp>(op);
  if (!scalar || !comparison)
    return false;
  Implications implications(polynomials);
  std::optional<Polynomial> margin = implications.marginOf(scalar, /*exact=*/false),
                            ofElements = implications.marginOf(comparison, /*exact=*/true);
  if (!margin || !ofElements)
    return false;
  std::optional<Polynomial> other = implications.largest(*ofElements);
  return other && implications.isAtLeast(*margin, *other);
}

bool holdsBeforeLast(Value mask, scf::ForOp loop, IndexPolynomials &polynomials) {
  Operation *op = mask.getDefiningOp();
  if (isa_and_nonnull<arith::AndIOp, tile::SplatOp, tile::BroadcastOp, tile::ExpandDimsOp,
                      tilegpu::ConvertLayoutOp>(op))
    return llvm::all_of(op->getOperands(),
                        [&](Value part) { return holdsBeforeLast(part, loop, polynomials); });
  auto comparison = dyn_cast_or_null<arith::CmpIOp>(op);
  if (!comparison || loop.getUnsignedCmp())
    return false;
  Implications implications(polynomials);
  std::optional<Polynomial> margin = implications.marginOf(comparison, /*exact=*/false);
  if (!margin)
    return false;
  std::optional<Polynomial> least =
      implications.smallest(*margin, tile::shapeOf(comparison.getLhs().getType()));
  Polynomial next = polynomials.of(loop.getInductionVar()).plus(polynomials.of(loop.getStep()));
  std::optional<int64_t> first = implications.leastOf(polynomials.of(loop.getLowerBound()));
  return least &&
         implications.isPositiveBefore(*least, polynomials.of(loop.getUpperBound()), next, first);
}

bool isPositiveBelow(const Polynomial &end, const Polynomial &counter, const Polynomial &polynomial,
                     scf::ForOp loop, IndexPolynomials &polynomials) {
  if (loop.getUnsignedCmp())
    return false;
  Implications implications(polynomials);
  std::optional<int64_t> first = implications.leastOf(polynomials.of(loop.getLowerBound()));
  // As the counter is above what is one less than its first.
  std::optional<int64_t> below = first ? std::optional(*first - 1) : std::nullopt;
  return implications.isPositiveBefore(polynomial, end, counter, below);
}

} // namespace kiln
