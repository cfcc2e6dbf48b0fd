// Tensors that a loop only moves.

#include "compiler/Dialect/Tile/Transforms/Inductions.h"
#include "compiler/Dialect/Tile/Tile.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace kiln {
namespace {

/// How far a carried tensor moves per iteration: the sum of these.
using Steps = SmallVector<Value>;

Value nextOperand(Operation *op, Value &step) {
  if (auto add = dyn_cast_or_null<tile::AddPtrOp>(op)) {
    step = add.getOffset();
    return add.getPtr();
  }
  if (auto add = dyn_cast_or_null<arith::AddIOp>(op)) {
    step = add.getRhs();
    return add.getLhs();
  }
  return {};
}

/// The scalar in every element of `value`: an existing one, or a constant made here.
Value uniformScalar(Value value, OpBuilder &builder) {
  SplatElementsAttr constant;
  if (matchPattern(value, m_Constant(&constant)))
    return arith::ConstantOp::create(builder, value.getLoc(), constant.getSplatValue<TypedAttr>());
  Operation *op = value.getDefiningOp();
  if (auto splat = dyn_cast_or_null<tile::SplatOp>(op))
    return splat.getSource();
  if (isa_and_nonnull<tile::BroadcastOp, tile::ExpandDimsOp, tile::ReshapeOp, tile::TransOp,
                      tile::HintOp>(op))
    return uniformScalar(op->getOperand(0), builder);
  return {};
}

bool isUniform(Value value) {
  if (matchPattern(value, m_Constant()))
    return true;
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<tile::BroadcastOp, tile::ExpandDimsOp, tile::ReshapeOp, tile::TransOp,
                      tile::HintOp>(op))
    return isUniform(op->getOperand(0));
  return isa_and_nonnull<tile::SplatOp>(op);
}

Value tensorOf(OpBuilder &builder, Location loc, Value scalar, RankedTensorType like) {
  return tile::SplatOp::create(builder, loc, like.clone(scalar.getType()), scalar);
}

/// Where a value that begins at `start` is after `count` iterations, of whose steps the uniform
/// ones have added up to `moved`.
Value positionAt(OpBuilder &at, Value start, const Steps &steps, Value moved, Value count) {
  Location loc = start.getLoc();
  auto type = cast<RankedTensorType>(start.getType());
  Value offset = tensorOf(at, loc, moved, type);
  for (Value step : steps)
    if (!isUniform(step)) {
      Value wide = resized(at, loc, step, moved.getType());
      Value part = arith::MulIOp::create(at, loc, wide, tensorOf(at, loc, count, type));
      offset = arith::AddIOp::create(at, loc, offset, part);
    }
  if (isa<tile::PtrType>(type.getElementType()))
    return tile::AddPtrOp::create(at, loc, start, offset);
  return arith::AddIOp::create(at, loc, start, offset);
}

/// Carries scalars instead of iteration argument `number`; returns the new loop.
scf::ForOp carryScalar(scf::ForOp loop, unsigned number, const Steps &steps) {
  BlockArgument argument = loop.getRegionIterArg(number);
  auto type = cast<RankedTensorType>(argument.getType());
  Location loc = argument.getLoc();
  bool isPointer = isa<tile::PtrType>(type.getElementType());
  OpBuilder builder(loop);
  Type width = isPointer ? builder.getI64Type() : type.getElementType();
  Value zero = arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(width, 0));
  Value one = arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(width, 1));
  Value start = loop.getInitArgs()[number];

  // Uniform steps add up in one carried scalar, the others share a count of iterations.
  bool counts = llvm::any_of(steps, [](Value step) { return !isUniform(step); });
  IRRewriter rewriter(builder);
  auto newYields = [&](OpBuilder &inner, Location, ArrayRef<BlockArgument> carried) {
    Value moved = carried[0];
    for (Value step : steps)
      if (Value scalar = uniformScalar(step, inner))
        moved = arith::AddIOp::create(inner, loc, moved, resized(inner, loc, scalar, width));
    SmallVector<Value> result{moved};
    if (counts)
      result.push_back(arith::AddIOp::create(inner, loc, carried[1], one));
    return result;
  };
  SmallVector<Value> inits{zero};
  if (counts)
    inits.push_back(zero);
  unsigned firstNew = loop.getNumRegionIterArgs();
  auto replaced = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(
      rewriter, inits, /*replaceInitOperandUsesInLoop=*/false, newYields));

  auto position = [&](OpBuilder &at, ValueRange carried) {
    return positionAt(at, start, steps, carried[0], counts ? carried[1] : Value());
  };
  OpBuilder inside = OpBuilder::atBlockBegin(replaced.getBody());
  BlockArgument old = replaced.getRegionIterArg(number);
  old.replaceAllUsesWith(position(inside, replaced.getRegionIterArgs().drop_front(firstNew)));
  OpBuilder after(replaced->getContext());
  after.setInsertionPointAfter(replaced);
  Value result = replaced.getResult(number);
  if (!result.use_empty())
    result.replaceAllUsesWith(position(after, replaced.getResults().drop_front(firstNew)));
  // The old argument only carries its start now, and is dropped.
  auto yield = cast<scf::YieldOp>(replaced.getBody()->getTerminator());
  yield.setOperand(number, old);
  return replaced;
}

/// Drops iteration arguments that are only passed on to themselves.
void dropUnused(scf::ForOp loop, unsigned number) {
  SmallVector<Value> inits(loop.getInitArgs());
  inits.erase(inits.begin() + number);
  OpBuilder builder(loop);
  auto slim = scf::ForOp::create(builder, loop.getLoc(), loop.getLowerBound(), loop.getUpperBound(),
                                 loop.getStep(), inits, nullptr, loop.getUnsignedCmp());
  slim->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  Block *from = loop.getBody(), *to = slim.getBody();
  to->clear();
  auto yield = cast<scf::YieldOp>(from->getTerminator());
  yield->eraseOperand(number);
  from->getArgument(number + 1).replaceAllUsesWith(loop.getInitArgs()[number]);
  to->getOperations().splice(to->end(), from->getOperations());
  unsigned next = 0;
  for (unsigned i = 0; i != from->getNumArguments(); ++i)
    if (i != number + 1)
      from->getArgument(i).replaceAllUsesWith(to->getArgument(next++));
  next = 0;
  for (unsigned i = 0; i != loop.getNumResults(); ++i)
    loop.getResult(i).replaceAllUsesWith(i == number ? loop.getInitArgs()[number]
                                                     : slim.getResult(next++));
  loop.erase();
}

/// The loop that carries the argument, and how far it moves in an iteration, if it only moves.
FailureOr<std::pair<scf::ForOp, Steps>> movementOf(BlockArgument argument) {
  auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
  auto type = dyn_cast<RankedTensorType>(argument.getType());
  if (!loop || !type || !isa<tile::PtrType, IntegerType>(type.getElementType()))
    return failure();
  FailureOr<Steps> steps = stepsOf(argument);
  if (failed(steps))
    return failure();
  return std::pair(loop, *steps);
}

bool rewriteOne(func::FuncOp kernel) {
  WalkResult result = kernel.walk([](scf::ForOp loop) {
    for (BlockArgument argument : loop.getRegionIterArgs())
      if (rewriteInduction(argument))
        return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return result.wasInterrupted();
}

struct RewriteInductionsPass : PassWrapper<RewriteInductionsPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(RewriteInductionsPass)
  StringRef getArgument() const override { return "kiln-rewrite-inductions"; }
  StringRef getDescription() const override {
    return "Carry scalars in place of tensors that a loop only moves";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, scf::SCFDialect, tile::TileDialect>();
  }
  void runOnOperation() override { rewriteInductions(getOperation()); }
};

} // namespace

FailureOr<Steps> stepsOf(BlockArgument argument) {
  auto loop = cast<scf::ForOp>(argument.getOwner()->getParentOp());
  Value yielded = loop.getTiedLoopYieldedValue(argument)->get();
  Steps steps;
  while (yielded != argument) {
    Value step, next = nextOperand(yielded.getDefiningOp(), step);
    if (!next || yielded.getParentBlock() != loop.getBody())
      return failure();
    // Addition commutes; the chain goes on where the argument is.
    if (isa<arith::AddIOp>(yielded.getDefiningOp()) && step == argument)
      std::swap(step, next);
    if (!isUniform(step) && !loop.isDefinedOutsideOfLoop(step))
      return failure();
    steps.push_back(step);
    yielded = next;
  }
  return steps;
}

Value resized(OpBuilder &builder, Location loc, Value value, Type element) {
  Type type = tile::withElementType(value.getType(), element);
  unsigned from = tile::elementTypeOf(value.getType()).getIntOrFloatBitWidth(),
           to = element.getIntOrFloatBitWidth();
  if (from == to)
    return value;
  if (from < to)
    return arith::ExtSIOp::create(builder, loc, type, value);
  return arith::TruncIOp::create(builder, loc, type, value);
}

bool isInduction(BlockArgument argument) { return succeeded(movementOf(argument)); }

bool rewriteInduction(BlockArgument argument) {
  auto movement = movementOf(argument);
  if (failed(movement))
    return false;
  auto &[loop, steps] = *movement;
  unsigned number = argument.getArgNumber() - loop.getNumInductionVars();
  dropUnused(steps.empty() ? loop : carryScalar(loop, number, steps), number);
  return true;
}

void rewriteInductions(func::FuncOp kernel) {
  while (rewriteOne(kernel))
    ;
}

void registerRewriteInductionsPass() { PassRegistration<RewriteInductionsPass>(); }

} // namespace kiln
