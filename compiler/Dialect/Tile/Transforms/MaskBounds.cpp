#include "compiler/Dialect/Tile/Transforms/MaskBounds.h"

#include "compiler/Dialect/Tile/Tile.h"
#include "compiler/Dialect/Tile/Transforms/TensorViews.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace kiln {
namespace {

class MaskReader {
public:
  explicit MaskReader(IndexPolynomials &polynomials) : polynomials(polynomials) {}

  /// A view of the mask. Gives whether all of it was understood.
  bool read(TensorView view) {
    view = view.source();
    if (matchPattern(view.value, m_One()))
      return true;
    Operation *op = view.value.getDefiningOp();
    if (auto both = dyn_cast_if_present<arith::AndIOp>(op)) {
      bool left = read(view.of(both.getLhs())), right = read(view.of(both.getRhs()));
      return left && right;
    }
    auto compare = dyn_cast_if_present<arith::CmpIOp>(op);
    return compare && readComparison(compare, view.axes);
  }

  MaskBounds result;

private:
  bool readComparison(arith::CmpIOp compare, ArrayRef<unsigned> axes) {
    Polynomial left = polynomials.of(compare.getLhs()), right = polynomials.of(compare.getRhs());
    Polynomial one = Polynomial::constant(1);
    // As something that is below zero.
    switch (compare.getPredicate()) {
    case arith::CmpIPredicate::slt:
      return readNegative(left.plus(right, -1), axes);
    case arith::CmpIPredicate::sle:
      return readNegative(left.plus(right, -1).plus(one, -1), axes);
    case arith::CmpIPredicate::sgt:
      return readNegative(right.plus(left, -1), axes);
    case arith::CmpIPredicate::sge:
      return readNegative(right.plus(left, -1).plus(one, -1), axes);
    default:
      return false;
    }
  }

  bool readNegative(const Polynomial &sum, ArrayRef<unsigned> axes) {
    if (sum.isTooLarge())
      return false;
    int64_t sign = 0;
    IndexBound bound;
    for (auto &[monomial, coefficient] : sum.terms()) {
      bool isIndex = monomial.size() == 1 &&
                     polynomials.meaning(monomial[0]).kind == SymbolMeaning::Kind::Axis;
      if (!isIndex) {
        bound.rest.add(monomial, coefficient);
        continue;
      }
      if (sign || std::abs(coefficient) != 1)
        return false;
      sign = coefficient;
      bound.axis = axes[polynomials.meaning(monomial[0]).axis];
    }
    if (!sign || !polynomials.isUniform(bound.rest))
      return false;
    bound.isUpper = sign > 0;
    // -i + rest < 0 is i - rest - 1 >= 0.
    if (!bound.isUpper)
      bound.rest = Polynomial::constant(-1).plus(bound.rest, -1);
    result.bounds.push_back(std::move(bound));
    return true;
  }

  IndexPolynomials &polynomials;
};

} // namespace

MaskBounds boundsOf(Value mask, IndexPolynomials &polynomials) {
  MaskReader reader(polynomials);
  reader.result.areAll = reader.read(viewOf(mask));
  return reader.result;
}

} // namespace kiln
