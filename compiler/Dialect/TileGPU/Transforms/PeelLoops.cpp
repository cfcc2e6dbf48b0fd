// The last iteration of a loop stands behind it, where loads run ahead in registers, or masks are
// for that one alone.
//
//     for i in 0 … n: next = load(p(i + 1)) if i + 1 < n; …; buffer = next
//
// asks in each iteration whether there is a next one: a comparison, a choice of the number of bytes
// of each buffer (UseBuffers.cpp), and a copy of it for each further array. Of
//
//     if 0 < n:
//       for i in 0 … n - 1: next = load(p(i + 1)); …; buffer = next
//       …
//
// the loop asks nothing. The last iteration loads nothing ahead, and what it would store of that
// nobody reads.
//
// Nor does it ask what holds in all iterations but the last (ImpliedConditions.h), as the mask of a
// tile that the loop's bound divides. Loops without products have their last iteration behind them
// for that as well, if something else depends on it than which lanes reach memory: that costs
// little as a bound of hardware. But lanes compare what is none (BufferPlanner.h): a bound that may
// divide a word, as of 16-bit floats of any number, or of a row that an index leads to. And where
// bases move, as arrays may be larger than offsets of 32 bits, the number of bytes does, too.
//
// A mask that hangs on the loop's bound answers the question by itself (ImpliedConditions.h), and
// costs the same without it: such loops stay as they are. So do those whose code is large, as it is
// there twice, and loops of products that do anything else in global memory, for which the last
// iteration would wait, with addresses of its own.
//
// Of RDNA's loops of products, whose threads lack registers (query gradients with heads of 96 would
// spill), only those that ask at pointers which they move by what they compute, as by loaded
// strides: these are no buffers, so that a mask is two choices for each address.
//
// MLIR's pipeliner leaves the last iterations of such a loop behind it, too (PrefetchOperands.cpp
// has it do so where few are known). Of a number that only the launch knows it chooses each result
// by whether there was an iteration, and what else runs ahead (PrefetchLoads.cpp) comes after it.
//
// Refused: a step of zero in the last iteration, which loads its tile again (a comparison and a
// choice for each step in place of each number of bytes, and memory that nobody wants).

#include "compiler/Analysis/IndexPolynomial.h"
#include "compiler/Dialect/TileGPU/Transforms/BufferPlanner.h"
#include "compiler/Dialect/TileGPU/Transforms/ImpliedConditions.h"
#include "compiler/Dialect/TileGPU/Transforms/Passes.h"
#include "compiler/Dialect/TileGPU/Transforms/RegisterEstimate.h"
#include "compiler/Dialect/TileGPU/Transforms/StagedLoads.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace kiln {
namespace {

/// A loop, and its questions whether there is a next iteration.
class AskingLoop {
public:
  AskingLoop(scf::ForOp loop, IndexPolynomials &polynomials)
      : loop(loop), polynomials(polynomials) {
    loop.getBody()->walk([&](arith::CmpIOp comparison) {
      if (asksForNext(comparison))
        questions.insert(comparison);
      else if (holdsBeforeLast(comparison, loop, polynomials))
        masks.insert(comparison);
    });
  }

  /// Whether some load asks, and its mask does not answer.
  bool isUnanswered() {
    return llvm::any_of(loop.getBody()->getOps<tile::LoadOp>(), [&](tile::LoadOp load) {
      Value question = questionOf(load);
      return question && !isImplied(question, load.getMask(), polynomials);
    });
  }

  /// Whether some load asks at pointers that the loop moves by what it computes.
  bool asksAtComputedSteps() {
    return llvm::any_of(loop.getBody()->getOps<tile::LoadOp>(), [&](tile::LoadOp load) {
      auto carried = dyn_cast<BlockArgument>(load.getPtr());
      if (!questionOf(load) || !isa<RankedTensorType>(load.getType()) || !carried ||
          carried.getOwner() != loop.getBody())
        return false;
      auto moved = loop.getTiedLoopYieldedValue(carried)->get().getDefiningOp<tile::AddPtrOp>();
      Value step = moved && moved.getPtr() == carried ? moved.getOffset() : Value();
      return step && !isSteady(step);
    });
  }

  /// Whether all that the loop does in global memory are loads for the next iteration.
  bool onlyLoadsAhead() {
    return llvm::all_of(*loop.getBody(), [&](Operation &op) {
      auto load = dyn_cast<tile::LoadOp>(&op);
      return isMemoryEffectFree(&op) || (load && questionOf(load)) ||
             isa<tilegpu::SharedLoadOp, tilegpu::SharedStoreOp, scf::YieldOp>(&op);
    });
  }

  /// What the load asks; null: it is none that runs ahead.
  Value questionOf(tile::LoadOp load) const {
    return load.getMask() ? questionIn(load.getMask()) : Value();
  }

  /// Whether what holds in all iterations but the last decides over more than a bound of accesses.
  bool masksMore() const {
    auto chooses = [](Operation *user) { return isa<scf::IfOp, arith::SelectOp>(user); };
    return llvm::any_of(masks, [&](Operation *mask) { return decidesMore(mask->getResult(0)); }) ||
           llvm::any_of(questions, [&](Operation *asking) {
             return llvm::any_of(asking->getUsers(), chooses);
           });
  }

  /// Whether what holds in all iterations but the last costs each of them something, for some
  /// access.
  bool costsEach(BufferPlanner &planner) {
    WalkResult result = loop.getBody()->walk([&](Operation *op) {
      Value mask;
      if (auto load = dyn_cast<tile::LoadOp>(op))
        mask = load.getMask();
      else if (auto store = dyn_cast<tile::StoreOp>(op))
        mask = store.getMask();
      bool isCostly = mask && llvm::any_of(costlyMasks(op, mask, planner), [&](Value part) {
                        return holdsBeforeLast(part, loop, polynomials);
                      });
      return isCostly ? WalkResult::interrupt() : WalkResult::advance();
    });
    return result.wasInterrupted();
  }

  bool isQuestion(Operation *op) const { return questions.contains(op); }

  /// In all iterations there is a next one.
  void answer(OpBuilder b) const {
    for (const auto &comparisons : {questions, masks})
      for (Operation *comparison : comparisons) {
        b.setInsertionPoint(comparison);
        auto yes = cast<TypedAttr>(b.getOneAttr(comparison->getResult(0).getType()));
        comparison->getResult(0).replaceAllUsesWith(
            arith::ConstantOp::create(b, comparison->getLoc(), yes));
      }
  }

private:
  bool decidesMore(Value mask) const {
    return llvm::any_of(mask.getUses(), [&](OpOperand &use) {
      Operation *user = use.getOwner();
      if (auto load = dyn_cast<tile::LoadOp>(user))
        return load.getOther() && !isZero(load.getOther());
      if (isa<tile::StoreOp>(user))
        return false;
      if (auto both = dyn_cast<arith::AndIOp>(user))
        return !holdsBeforeLast(both, loop, polynomials) || decidesMore(both);
      bool isView =
          isa<tile::SplatOp, tile::BroadcastOp, tile::ExpandDimsOp, tilegpu::ConvertLayoutOp>(user);
      return !isView || decidesMore(user->getResult(0));
    });
  }

  /// The parts of the mask that are no bounds of hardware, or none that is the same in iterations.
  static SmallVector<Value> costlyMasks(Operation *access, Value mask, BufferPlanner &planner) {
    Value pointers = access->getOperand(0);
    if (!isa<RankedTensorType>(pointers.getType()))
      return {};
    SmallVector<Value> parts{mask}, found;
    if (std::optional<BufferPlace> place = planner.plan(access, pointers, mask)) {
      found = place->masks;
      bool isSmall =
          access->getParentOfType<func::FuncOp>()->hasAttr(tile::TileDialect::smallArraysAttr);
      for (const BufferBound &bound : place->bounds)
        if (!isSmall)
          found.push_back(bound.mask);
      return found;
    }
    while (!parts.empty()) {
      Value part = parts.pop_back_val();
      if (auto both = part.getDefiningOp<arith::AndIOp>())
        parts.append({both.getLhs(), both.getRhs()});
      else
        found.push_back(part);
    }
    return found;
  }

  /// The loop does not change it.
  bool isSteady(Value value) {
    Operation *op = value.getDefiningOp();
    if (auto splat = dyn_cast_or_null<tile::SplatOp>(op))
      return isSteady(splat.getSource());
    return loop.isDefinedOutsideOfLoop(value) || (op && op->hasTrait<OpTrait::ConstantLike>());
  }

  Value questionIn(Value mask) const {
    if (auto both = mask.getDefiningOp<arith::AndIOp>()) {
      Value left = questionIn(both.getLhs());
      return left ? left : questionIn(both.getRhs());
    }
    auto splat = mask.getDefiningOp<tile::SplatOp>();
    Value condition = splat ? splat.getSource() : mask;
    return questions.contains(condition.getDefiningOp()) ? condition : Value();
  }

  /// i < end - step, or end - i > step.
  bool asksForNext(arith::CmpIOp comparison) {
    Value less = comparison.getLhs(), more = comparison.getRhs();
    if (comparison.getPredicate() == arith::CmpIPredicate::ugt)
      std::swap(less, more);
    else if (comparison.getPredicate() != arith::CmpIPredicate::slt)
      return false;
    auto left = [&](Value end, Value of) {
      return polynomials.of(end).plus(polynomials.of(of), /*factor=*/-1);
    };
    return less.getType() == loop.getStep().getType() &&
           left(more, less) == left(loop.getUpperBound(), loop.getInductionVar())
                                   .plus(polynomials.of(loop.getStep()), /*factor=*/-1);
  }

  scf::ForOp loop;
  IndexPolynomials &polynomials;
  DenseSet<Operation *> questions; ///< whether there is a next iteration
  DenseSet<Operation *> masks;     ///< what else holds in all iterations but the last
};

class LastIteration {
public:
  LastIteration(scf::ForOp loop, const AskingLoop &asking)
      : loop(loop), asking(asking), b(loop.getContext()), loc(loop.getLoc()) {}

  void moveBehind() {
    b.setInsertionPoint(loop);
    Value any = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, loop.getLowerBound(),
                                      loop.getUpperBound());
    auto branch = scf::IfOp::create(b, loc, loop.getResultTypes(), any, /*addThenBlock=*/true,
                                    /*addElseBlock=*/true);
    loop.replaceAllUsesWith(branch.getResults());
    b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(b, loc, loop.getInitArgs());
    b.setInsertionPointToStart(branch.thenBlock());
    Value number = lastNumber();
    loop->moveBefore(branch.thenBlock(), branch.thenBlock()->end());
    loop.getUpperBoundMutable().assign(number);
    b.setInsertionPointToEnd(branch.thenBlock());
    scf::YieldOp::create(b, loc, copyBody(number));
    dropDeadStores(branch);
    asking.answer(b);
    simplify(branch.getThenRegion());
  }

private:
  /// Of the last iteration, where there is one: the difference of the bounds may have no sign.
  Value lastNumber() {
    Value first = loop.getLowerBound(), step = loop.getStep();
    Value one = arith::ConstantOp::create(b, loc, b.getIntegerAttr(step.getType(), 1));
    Value span = b.createOrFold<arith::SubIOp>(loc, loop.getUpperBound(), first);
    Value before = b.createOrFold<arith::SubIOp>(loc, span, one);
    Value steps = b.createOrFold<arith::DivUIOp>(loc, before, step);
    return b.createOrFold<arith::AddIOp>(loc, first,
                                         b.createOrFold<arith::MulIOp>(loc, steps, step));
  }

  /// The body once more for the last iteration, without what runs ahead; what it yields.
  SmallVector<Value> copyBody(Value number) {
    IRMapping mapping;
    mapping.map(loop.getInductionVar(), number);
    mapping.map(loop.getRegionIterArgs(), loop.getResults());
    for (Operation &op : loop.getBody()->without_terminator()) {
      auto load = dyn_cast<tile::LoadOp>(&op);
      if (load && asking.questionOf(load))
        mapping.map(load.getResult(), nothing(load, mapping));
      else if (asking.isQuestion(&op))
        mapping.map(op.getResult(0), no());
      else
        copies.push_back(b.clone(op, mapping));
    }
    return llvm::map_to_vector(loop.getYieldedValues(),
                               [&](Value value) { return mapping.lookupOrDefault(value); });
  }

  Value no() { return arith::ConstantOp::create(b, loc, b.getBoolAttr(false)); }

  /// What the load leaves where its mask is false.
  Value nothing(tile::LoadOp load, IRMapping &mapping) {
    if (load.getOther())
      return mapping.lookupOrDefault(load.getOther());
    Type type = load.getType();
    TypedAttr zero = b.getZeroAttr(getElementTypeOrSelf(type));
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      zero = DenseElementsAttr::get(tensor, Attribute(zero));
    return arith::ConstantOp::create(b, loc, zero);
  }

  /// Stores of the last iteration to buffers that nobody reads behind them.
  void dropDeadStores(scf::IfOp branch) {
    for (Operation *copy : copies) {
      auto store = dyn_cast<tilegpu::SharedStoreOp>(copy);
      tilegpu::AllocOp buffer = store ? allocationBehind(store.getBuffer()) : tilegpu::AllocOp();
      if (!buffer || buffer->getBlock() != branch->getBlock())
        continue;
      bool isRead = llvm::any_of(usersOf(buffer), [&](Operation *user) {
        return !isa<tilegpu::SharedStoreOp>(user) && isBehind(user, store, branch);
      });
      if (!isRead)
        store.erase();
    }
  }

  static bool isBehind(Operation *user, Operation *store, scf::IfOp branch) {
    if (Operation *inside = store->getBlock()->findAncestorOpInBlock(*user))
      return store->isBeforeInBlock(inside);
    Operation *outside = branch->getBlock()->findAncestorOpInBlock(*user);
    return !outside || branch->isBeforeInBlock(outside);
  }

  /// By what is asked no more.
  void simplify(Region &region) {
    SmallVector<Operation *> ops;
    region.walk([&](Operation *op) { ops.push_back(op); });
    RewritePatternSet patterns(b.getContext());
    tile::LoadOp::getCanonicalizationPatterns(patterns, b.getContext());
    tile::StoreOp::getCanonicalizationPatterns(patterns, b.getContext());
    scf::IfOp::getCanonicalizationPatterns(patterns, b.getContext());
    (void)applyOpPatternsGreedily(ops, std::move(patterns));
  }

  scf::ForOp loop;
  const AskingLoop &asking;
  OpBuilder b;
  Location loc;
  SmallVector<Operation *> copies;
};

/// Whether the loop's code is short enough to be there twice.
bool isShort(scf::ForOp loop, bool streams) {
  constexpr unsigned mostBesideProducts = 4096;
  return streams ? isShortStream(loop) : registersComputedIn(loop) <= mostBesideProducts;
}

struct PeelLoopsPass : PassWrapper<PeelLoopsPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PeelLoopsPass)

  StringRef getArgument() const override { return "kiln-peel-loops"; }
  StringRef getDescription() const override {
    return "Have the last iteration of a loop behind it, where the others ask for a next one";
  }

  void runOnOperation() override {
    func::FuncOp kernel = getOperation();
    std::optional<TargetInfo> target = tilegpu::targetOfKernel(kernel);
    if (!target)
      return signalPassFailure();
    bool streams = !tilegpu::multiplies(kernel);
    bool isCdna = target->matrix.mfmaGeneration;
    if (!isCdna && !target->matrix.wmmaGeneration)
      return;
    // What is known of values holds until the first one changes.
    std::optional<BufferPlanner> planner;
    if (streams)
      planner.emplace(kernel, *target);
    SmallVector<scf::ForOp> peeled;
    for (scf::ForOp loop : innermostLoops(kernel)) {
      IndexPolynomials polynomials;
      AskingLoop asking(loop, polynomials);
      bool isAsked =
          asking.isUnanswered() || (streams && (asking.masksMore() || asking.costsEach(*planner)));
      if (loop.getUnsignedCmp() || !isAsked || !isShort(loop, streams))
        continue;
      if (!streams && !isCdna && !asking.asksAtComputedSteps())
        continue;
      if (!streams &&
          (loop.getBody()->getOps<tilegpu::DotOp>().empty() || !asking.onlyLoadsAhead()))
        continue;
      peeled.push_back(loop);
    }
    for (scf::ForOp loop : peeled) {
      IndexPolynomials polynomials;
      AskingLoop asking(loop, polynomials);
      LastIteration(loop, asking).moveBehind();
    }
  }
};

} // namespace

std::unique_ptr<Pass> createPeelLoopsPass() { return std::make_unique<PeelLoopsPass>(); }

} // namespace kiln
