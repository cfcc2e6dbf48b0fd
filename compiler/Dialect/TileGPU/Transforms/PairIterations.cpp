// A loop of one or two products an iteration waits for memory, and for other threads, as often as
// it multiplies:
//
//     for i in steps of 1: a, b = load(p(i)), load(q(i)); …; sum = dot(a, b, sum)
//
// By twos
//
//     for i in steps of 2:
//       a, b = load(p(i)), load(q(i)); …; sum = dot(a, b, sum)
//       a, b = load(p(i + 1)), load(q(i + 1)) if i + 1 < n; …; sum = dot(a, b, sum)
//
// what runs ahead (PrefetchOperands.cpp) is loaded, stored and read for two iterations at a time,
// with half as many waits and barriers. It takes twice the buffers, and twice the registers of what
// is loaded, which are few where products are.
//
// The second iteration is no branch, in which nothing could run ahead: if there is none, both of
// its operands are zeros. So the sum has to begin at zero, that of the sign that adding zero keeps.
//
// Refused: the iteration that is left over behind the loop (its code, which is there twice, and a
// wait of its own); loads two iterations ahead in registers of their own, which the back end waits
// for one by one (LoadsAhead.cpp).

#include "compiler/Dialect/TileGPU/Transforms/PairIterations.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace kiln {

/// Whether a warp's products of an iteration take much less time than a load.
static bool isShort(scf::ForOp loop, const TargetInfo &target) {
  int64_t products = 0;
  for (auto dot : loop.getBody()->getOps<tilegpu::DotOp>())
    products += cast<RankedTensorType>(dot.getType()).getNumElements() *
                cast<RankedTensorType>(dot.getA().getType()).getShape().back();
  return products <= target.matrix.productsOfShortLoop() * tilegpu::numWarpsOf(loop);
}

/// Divides by what an iteration computes, which may be zero where there is none.
static bool dividesByItsOwn(scf::ForOp loop, Operation &op) {
  return isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp, arith::CeilDivSIOp,
             arith::CeilDivUIOp, arith::FloorDivSIOp>(op) &&
         !loop.isDefinedOutsideOfLoop(op.getOperand(1));
}

/// Whether the loop loads, writes to buffers of what `staged` has, and does nothing else to memory:
/// so that it can load zeros in place of an iteration that there is not.
static bool onlyLoads(scf::ForOp loop, const StagedLoads &staged) {
  DenseSet<Operation *> stores;
  for (const StagedLoad &load : staged.loads)
    stores.insert(load.store);
  return llvm::all_of(loop.getBody()->without_terminator(), [&](Operation &op) {
    if (auto load = dyn_cast<tile::LoadOp>(op))
      return !tilegpu::isReadForAll(load) && isa<RankedTensorType>(load.getType()) &&
             (!load.getOther() || isZero(load.getOther()));
    if (isa<tilegpu::SharedStoreOp>(op))
      return stores.contains(&op);
    bool isOfBuffers = isa<tilegpu::AllocOp, tilegpu::SharedLoadOp, tilegpu::TransBufferOp>(op);
    return isOfBuffers ||
           (isMemoryEffectFree(&op) && op.getNumRegions() == 0 && !dividesByItsOwn(loop, op));
  });
}

/// Whether the operand is zero where its load is masked off.
static bool isAsLoaded(Value operand, scf::ForOp loop) {
  Operation *op = operand.getDefiningOp();
  if (!op || op->getBlock() != loop.getBody())
    return false;
  if (isa<tile::TransOp, tilegpu::ConvertLayoutOp>(op))
    return isAsLoaded(op->getOperand(0), loop);
  if (auto load = dyn_cast<tilegpu::SharedLoadOp>(op)) {
    tilegpu::AllocOp buffer = allocationBehind(load.getBuffer());
    return buffer && buffer->getBlock() == loop.getBody();
  }
  return isa<tile::LoadOp>(op);
}

/// Whether the dot adds to a sum of the loop, which begins at zero, and nothing else uses that.
static bool addsUp(tilegpu::DotOp dot, scf::ForOp loop) {
  auto sum = dyn_cast<BlockArgument>(dot.getC());
  if (!sum || sum.getOwner() != loop.getBody() || !sum.hasOneUse() || !dot->hasOneUse() ||
      loop.getTiedLoopYieldedValue(sum)->get() != dot.getResult())
    return false;
  return isZero(loop.getTiedLoopInit(sum)->get());
}

/// Whether nothing but sums of dots is used behind the loop: of what else it carries an iteration
/// that there is not would change it.
static bool onlyAddsUp(scf::ForOp loop) {
  return llvm::all_of(loop.getResults(), [&](OpResult result) {
    return result.use_empty() ||
           loop.getYieldedValues()[result.getResultNumber()].getDefiningOp<tilegpu::DotOp>();
  });
}

bool canPair(scf::ForOp loop, const StagedLoads &staged, const TargetInfo &target) {
  std::optional<APInt> iterations = loop.getStaticTripCount();
  auto dots = loop.getBody()->getOps<tilegpu::DotOp>();
  bool isEven = !iterations || (iterations->getZExtValue() % 2 == 0 && !iterations->isZero());
  return isEven && isShort(loop, target) && !loop.getUnsignedCmp() && onlyLoads(loop, staged) &&
         onlyAddsUp(loop) && llvm::all_of(dots, [&](tilegpu::DotOp dot) {
           return addsUp(dot, loop) && isAsLoaded(dot.getA(), loop) && isAsLoaded(dot.getB(), loop);
         });
}

static void loadZerosUnless(Value exists, tile::LoadOp load, IRRewriter &b) {
  makeConditional(b, load, exists);
  if (load.getOther())
    return;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(load);
  auto type = cast<RankedTensorType>(load.getType());
  TypedAttr zero = b.getZeroAttr(type.getElementType());
  Value zeros =
      arith::ConstantOp::create(b, load.getLoc(), DenseElementsAttr::get(type, Attribute(zero)));
  load.getOtherMutable().assign(zeros);
}

void pairIterations(scf::ForOp loop) {
  IRRewriter b(loop.getContext());
  Location loc = loop.getLoc();
  Value number = loop.getInductionVar(), step = loop.getStep();
  SmallVector<Operation *> body;
  for (Operation &op : loop.getBody()->without_terminator())
    body.push_back(&op);

  Operation *yield = loop.getBody()->getTerminator();
  b.setInsertionPoint(yield);
  Value last = arith::SubIOp::create(b, loc, loop.getUpperBound(), step);
  Value exists = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, number, last);
  IRMapping second;
  second.map(number, arith::AddIOp::create(b, loc, number, step).getResult());
  second.map(loop.getRegionIterArgs(), loop.getYieldedValues());
  for (Operation *op : body) {
    Operation *copy = b.clone(*op, second);
    if (auto load = dyn_cast<tile::LoadOp>(copy))
      loadZerosUnless(exists, load, b);
  }
  for (OpOperand &carried : yield->getOpOperands())
    carried.set(second.lookupOrDefault(carried.get()));
  b.setInsertionPoint(loop);
  loop.getStepMutable().assign(b.createOrFold<arith::AddIOp>(loc, step, step));
}

} // namespace kiln
