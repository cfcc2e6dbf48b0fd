#include "compiler/Dialect/TileGPU/Transforms/RowEnds.h"
#include "compiler/Analysis/AddressMeeting.h"
#include "compiler/Dialect/TileGPU/TileGPU.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace kiln {
namespace {

/// The arguments' numbers: stride, end.
constexpr llvm::StringLiteral rowEndsAttr = "tilegpu.row_ends";

/// The number of the kernel's argument that the symbol is.
std::optional<unsigned> argumentOf(Symbol symbol, const IndexPolynomials &polynomials) {
  auto argument = dyn_cast_if_present<BlockArgument>(polynomials.meaning(symbol).value);
  if (!argument || !argument.getType().isInteger() ||
      !isa<func::FuncOp>(argument.getOwner()->getParentOp()))
    return std::nullopt;
  return argument.getArgNumber();
}

/// Whether the columns are 0 or more.
bool isNonNegative(const Polynomial &columns) {
  return llvm::all_of(columns.terms(), [](const auto &term) { return term.second >= 0; });
}

/// The argument that an address multiplies symbols of that kind by; none: nothing, or several.
std::optional<unsigned> strideOf(const Polynomial &address, SymbolMeaning::Kind kind,
                                 IndexPolynomials &polynomials) {
  std::optional<unsigned> stride;
  for (const auto &[monomial, coefficient] : address.terms())
    for (Symbol symbol : monomial)
      if (auto argument = argumentOf(symbol, polynomials);
          argument && llvm::any_of(monomial, [&](Symbol other) {
            return polynomials.meaning(other).kind == kind;
          })) {
        if (stride && *stride != *argument)
          return std::nullopt;
        stride = argument;
      }
  return stride;
}

class RowEndFinder {
public:
  template <typename OpT> void find(OpT access) {
    auto type = dyn_cast<RankedTensorType>(access.getPtr().getType());
    if (!type || !access.getMask())
      return;
    Polynomial address = polynomials.of(access.getPtr());
    auto pointer = cast<tile::PtrType>(type.getElementType());
    std::optional<Polynomial> elements = address.dividedBy(pointer.getElementBytes());
    if (address.isTooLarge() || !elements)
      return;
    // A tile is of several rows, or of one that a loop moves.
    using Kind = SymbolMeaning::Kind;
    std::optional<unsigned> stride =
        strideOf(*elements, type.getRank() < 2 ? Kind::Iteration : Kind::Axis, polynomials);
    std::optional<unsigned> end = endIn(access.getMask(), columnsOf(*elements, polynomials));
    if (stride && end)
      access->setAttr(rowEndsAttr, DenseI32ArrayAttr::get(access.getContext(),
                                                          {int32_t(*stride), int32_t(*end)}));
  }

private:
  /// The argument that the mask holds columns below.
  std::optional<unsigned> endIn(Value mask, const Polynomial &columns) {
    if (!isNonNegative(columns))
      return std::nullopt;
    for (const Polynomial &negative : negativesIn(mask, polynomials)) {
      // columns - end
      Polynomial end = columns.plus(negative, /*factor=*/-1);
      if (end.isTooLarge() || end.terms().size() != 1)
        continue;
      auto [monomial, coefficient] = *end.terms().begin();
      std::optional<unsigned> argument =
          monomial.size() == 1 ? argumentOf(monomial[0], polynomials) : std::nullopt;
      if (argument && coefficient == 1)
        return argument;
    }
    return std::nullopt;
  }

  IndexPolynomials polynomials;
};

struct FindRowEndsPass : PassWrapper<FindRowEndsPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(FindRowEndsPass)

  StringRef getArgument() const override { return "kiln-find-row-ends"; }
  StringRef getDescription() const override {
    return "Say of accesses to rows which argument their columns are less than";
  }

  void runOnOperation() override {
    RowEndFinder finder;
    getOperation().walk([&](tile::LoadOp load) { finder.find(load); });
    getOperation().walk([&](tile::StoreOp store) { finder.find(store); });
  }
};

} // namespace

std::optional<RowEnds> rowEndsOf(Operation *access) {
  auto numbers = access->getAttrOfType<DenseI32ArrayAttr>(rowEndsAttr);
  if (!numbers)
    return std::nullopt;
  return RowEnds{unsigned(numbers[0]), unsigned(numbers[1])};
}

std::unique_ptr<Pass> createFindRowEndsPass() { return std::make_unique<FindRowEndsPass>(); }

} // namespace kiln
