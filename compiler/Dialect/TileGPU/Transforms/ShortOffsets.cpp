// The bytes are a polynomial (IndexPolynomial.h), whose terms with a loop's number of an iteration
// move the base where they are one number for the tile. The rest is what the pointers were in the
// first iteration: the same operations once more, on 32 bits, with where loops begin in place of
// what they carry. Sums and products are exact modulo 2^32, whatever the widths in between.

#include "compiler/Dialect/TileGPU/Transforms/ShortOffsets.h"

#include "compiler/Dialect/Tile/Tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace kiln {

static bool isPointer(Value value) {
  return isa<tile::PtrType>(tile::elementTypeOf(value.getType()));
}

static Type wordsLike(Type type) {
  Type word = IntegerType::get(type.getContext(), 32);
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? Type(tensor.clone(word)) : word;
}

/// A word, or a tensor of it of the value's shape.
static Value constantLike(Value value, int32_t number, OpBuilder &b) {
  TypedAttr attribute = b.getI32IntegerAttr(number);
  if (auto tensor = dyn_cast<RankedTensorType>(wordsLike(value.getType())))
    attribute = SplatElementsAttr::get(tensor, cast<Attribute>(attribute));
  return arith::ConstantOp::create(b, value.getLoc(), attribute);
}

static Value lowWord(Value value, OpBuilder &b) {
  Type element = tile::elementTypeOf(value.getType()), type = wordsLike(value.getType());
  if (element.isInteger(32))
    return value;
  if (element.isIndex())
    return arith::IndexCastOp::create(b, value.getLoc(), type, value);
  if (element.getIntOrFloatBitWidth() < 32)
    return arith::ExtSIOp::create(b, value.getLoc(), type, value);
  return b.createOrFold<arith::TruncIOp>(value.getLoc(), type, value);
}

void ShortOffsets::findLoops(const Polynomial &elements, Operation *at) {
  loops.clear();
  written.clear();
  SmallPtrSet<Operation *, 4> others;
  for (auto &[monomial, coefficient] : elements.terms()) {
    Polynomial term;
    term.add(monomial, coefficient);
    bool isWritten = polynomials.isUniform(term) &&
                     scalars.canWrite(term, at, IntegerType::get(at->getContext(), 64));
    for (Symbol symbol : monomial)
      if (polynomials.meaning(symbol).kind == SymbolMeaning::Kind::Iteration)
        (isWritten ? loops : others).insert(polynomials.meaning(symbol).loop);
  }
  for (Operation *loop : others)
    loops.erase(loop);
}

std::optional<Polynomial> ShortOffsets::moves(Value pointers, Operation *at) {
  std::optional<Polynomial> elements = elementsOf(pointers);
  if (!elements || elements->isTooLarge())
    return std::nullopt;
  findLoops(*elements, at);
  Polynomial moved;
  for (auto &[monomial, coefficient] : elements->terms())
    if (llvm::any_of(monomial, [&](Symbol symbol) {
          return loops.contains(polynomials.meaning(symbol).loop);
        }))
      moved.add(monomial, coefficient);
  return canFollow(pointers) ? std::optional(moved) : std::nullopt;
}

std::optional<Polynomial> ShortOffsets::steadyRest(Value pointers, Operation *at) {
  std::optional<Polynomial> elements = elementsOf(pointers), moved = moves(pointers, at);
  if (!elements || !moved)
    return std::nullopt;
  Polynomial rest = elements->plus(*moved, /*factor=*/-1);
  for (Operation *around = at->getParentOp(); !isa<func::FuncOp>(around);
       around = around->getParentOp())
    if (polynomials.variesIn(rest, around))
      return std::nullopt;
  return rest.isTooLarge() ? std::nullopt : std::optional(rest);
}

Value ShortOffsets::write(Value pointers, Operation *at, OpBuilder &b) {
  findLoops(*elementsOf(pointers), at);
  return follow(pointers, b);
}

std::optional<Polynomial> ShortOffsets::elementsOf(Value pointers) {
  auto pointer = cast<tile::PtrType>(tile::elementTypeOf(pointers.getType()));
  return polynomials.of(pointers).dividedBy(pointer.getElementBytes());
}

/// Whether it is another number in the first iteration of the loops.
bool ShortOffsets::hasMoved(Value value) {
  Polynomial polynomial = polynomials.of(value);
  return llvm::any_of(polynomial.terms(), [&](auto &term) {
    return llvm::any_of(term.first, [&](Symbol symbol) {
      return loops.contains(polynomials.meaning(symbol).loop);
    });
  });
}

bool ShortOffsets::canFollow(Value value) {
  if (!isPointer(value) && !hasMoved(value))
    return tile::elementTypeOf(value.getType()).isIntOrIndex();
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    if (!loop || !loops.contains(loop))
      return isPointer(value) && isa<func::FuncOp>(argument.getOwner()->getParentOp());
    return argument == loop.getInductionVar() || canFollow(loop.getTiedLoopInit(argument)->get());
  }
  // As IndexPolynomials follows them.
  Operation *op = value.getDefiningOp();
  return isa<tile::SplatOp, tile::BroadcastOp, tile::HintOp, tile::ExpandDimsOp, tile::TransOp,
             tile::AddPtrOp, arith::ExtSIOp, arith::IndexCastOp, arith::AddIOp, arith::SubIOp,
             arith::MulIOp, arith::ShLIOp>(op) &&
         llvm::all_of(op->getOperands(), [&](Value operand) { return canFollow(operand); });
}

/// Whether low words make up its own. Not where it has not moved and parts of it have: it is
/// another number's first iteration that they would be of, as of a counter that begins at another
/// loop's.
bool ShortOffsets::isOfLowWords(Value value) {
  Operation *op = value.getDefiningOp();
  return op && tile::elementTypeOf(value.getType()).isInteger(64) &&
         llvm::none_of(op->getOperands(), [&](Value operand) {
           return tile::elementTypeOf(operand.getType()).isIntOrIndex() && hasMoved(operand);
         });
}

/// Of an integer its low word; of a pointer its bytes.
Value ShortOffsets::follow(Value value, OpBuilder &b) {
  if (Value known = written.lookup(value))
    return known;
  bool isMoved = isPointer(value) || hasMoved(value);
  Value result;
  if (auto argument = dyn_cast<BlockArgument>(value); argument && isMoved) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    if (!loop)
      result = constantLike(value, 0, b);
    else
      result = follow(argument == loop.getInductionVar() ? loop.getLowerBound()
                                                         : loop.getTiedLoopInit(argument)->get(),
                      b);
  } else if (isMoved || isOfLowWords(value)) {
    result = followOperation(value.getDefiningOp(), b);
  }
  return written[value] = result ? result : lowWord(value, b);
}

/// Null: the operation is not followed.
Value ShortOffsets::followOperation(Operation *op, OpBuilder &b) {
  Location loc = op->getLoc();
  Type type = wordsLike(op->getResult(0).getType());
  auto operand = [&](unsigned index) { return follow(op->getOperand(index), b); };
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](tile::SplatOp) { return tile::SplatOp::create(b, loc, type, operand(0)); })
      .Case([&](tile::BroadcastOp) { return tile::BroadcastOp::create(b, loc, type, operand(0)); })
      .Case([&](tile::ExpandDimsOp expand) {
        return tile::ExpandDimsOp::create(b, loc, type, operand(0), expand.getAxis());
      })
      .Case([&](tile::TransOp trans) {
        return tile::TransOp::create(b, loc, type, operand(0), trans.getOrder());
      })
      .Case<tile::HintOp, arith::ExtSIOp, arith::IndexCastOp>(
          [&](Operation *) { return operand(0); })
      .Case([&](tile::AddPtrOp add) {
        Value elements = operand(1);
        auto pointer = cast<tile::PtrType>(tile::elementTypeOf(add.getType()));
        Value size = constantLike(elements, int32_t(pointer.getElementBytes()), b);
        Value bytes = b.createOrFold<arith::MulIOp>(loc, elements, size);
        return b.createOrFold<arith::AddIOp>(loc, operand(0), bytes);
      })
      .Case(
          [&](arith::AddIOp) { return b.createOrFold<arith::AddIOp>(loc, operand(0), operand(1)); })
      .Case(
          [&](arith::SubIOp) { return b.createOrFold<arith::SubIOp>(loc, operand(0), operand(1)); })
      .Case(
          [&](arith::MulIOp) { return b.createOrFold<arith::MulIOp>(loc, operand(0), operand(1)); })
      .Case([&](arith::ShLIOp shift) -> Value {
        std::optional<int64_t> by = polynomials.of(shift.getRhs()).asConstant();
        if (!by || *by < 0 || *by > 30)
          return {};
        return b.createOrFold<arith::MulIOp>(loc, operand(0),
                                             constantLike(shift, int32_t(1) << *by, b));
      })
      .Default([](Operation *) { return Value(); });
}

} // namespace kiln
