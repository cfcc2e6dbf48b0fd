// Two versions of the code that holds conditional barriers, and one branch that chooses.
//
// ptxas turns the branch around a conditional barrier into a predicate and waits ahead of a
// predicated barrier for all loads in flight, even where the predicate is off: kernels bound by
// memory paid up to 5 % for barriers that they never execute. So where loads may be in flight at
// one, the code that holds it is there twice: with barriers that are always there, for arguments of
// which some are equal, and without any. All threads take the same version, as they agree on the
// conditions.
//
// On AMD nothing waits for a branch around a barrier. But in a loop it is four instructions an
// iteration, where an iteration of a streaming kernel has some fifty: there the code is there
// twice, too.
//
// The versions begin right behind the last access or exchange ahead of the first such barrier and
// end with the kernel. Loads in front are shared, and all in flight when the branch comes. If that
// barrier is in no loop it moves up to where its version begins: nothing between touches memory,
// and LLVM, which would hoist the arithmetic that both versions begin with, and with it the wait
// for the loads, finds nothing that they have in common.
//
// The version with barriers ends with one, so that LLVM does not make one of two equal ends.
//
// Of large tiles, what the loads in front bring would be in registers all at once when the branch
// comes, and the assembler would spill. There the loads belong to the versions, and the one with
// barriers begins with another, for LLVM, as said.

#include "compiler/Dialect/TileGPU/TileGPU.h"
#include "compiler/Dialect/TileGPU/Transforms/Passes.h"
#include "compiler/Dialect/TileGPU/Transforms/RegisterEstimate.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace kiln {
namespace {

/// The most elements that a thread computes in code that is made twice. Streaming kernels have some
/// hundreds there; with more, a second version takes long to compile, and a barrier little of the
/// kernel's time.
constexpr int64_t mostElements = 1536;
/// The same where the loads belong to the versions: without them, every element would be spilled.
constexpr int64_t mostElementsWithLoads = 6144;
/// The most registers that may hold data when the branch comes, and so many that loads stay in
/// front even if it is cheap to have them twice.
constexpr unsigned mostRegisters = 64, fewRegisters = 16;

using Span = llvm::iterator_range<Block::iterator>;

bool isConditional(tilegpu::BarrierOp barrier) { return bool(barrier.getCondition()); }

/// Has threads wait for memory or for each other, or touches memory.
bool waits(Operation &op) {
  return isa<tilegpu::ScratchOpInterface>(op) || !isMemoryEffectFree(&op);
}

/// Whether the operation loads, or a branch of it does.
bool mayLoad(Operation *op) {
  return isa<tile::LoadOp>(op) || (isa<scf::IfOp>(op) && op->walk([](tile::LoadOp) {
                                                             return WalkResult::interrupt();
                                                           }).wasInterrupted());
}

/// Whether there is a load ahead that nothing but arithmetic may have waited for.
bool holdsUpLoads(tilegpu::BarrierOp barrier) {
  for (Operation *op = barrier->getPrevNode(); op; op = op->getPrevNode()) {
    if (mayLoad(op))
      return true;
    if (waits(*op) && !isa<tile::StoreOp>(op))
      return false;
  }
  return false;
}

/// Loads, or branches between loads, and touches memory in no other way.
bool onlyLoads(Operation &op) {
  if (!mayLoad(&op))
    return false;
  return !op.walk([](Operation *inner) {
              bool loads = isa<tile::LoadOp, scf::IfOp>(inner);
              return waits(*inner) && !loads ? WalkResult::interrupt() : WalkResult::advance();
            }).wasInterrupted();
}

/// For how many elements of other operations one of this counts: a quotient by an integer that is
/// not known is a program of its own.
int64_t weightOf(Operation *op) {
  constexpr int64_t quotient = 16, longQuotient = 64;
  if (!isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(op) ||
      matchPattern(op->getOperand(1), m_Constant()))
    return 1;
  return getElementTypeOrSelf(op->getOperand(0)).isInteger(64) ? longQuotient : quotient;
}

/// Elements that a thread computes or stores in an operation, one time through its regions.
int64_t elementsOf(Operation &root) {
  int64_t count = 0;
  root.walk([&](Operation *op) {
    int64_t most = 1;
    auto consider = [&](Type type) {
      if (tilegpu::LayoutAttr layout = tilegpu::layoutAttrOf(type))
        most = std::max(most, layout.getLayout().numRegisters());
    };
    llvm::for_each(op->getOperandTypes(), consider);
    llvm::for_each(op->getResultTypes(), consider);
    count += most * weightOf(op);
  });
  return count;
}

/// The end of the kernel, from what holds the first conditional barrier and the arithmetic ahead of
/// it that needs none of the conditions, and with loads ahead if they belong to it.
Span spanFrom(tilegpu::BarrierOp barrier, const llvm::SetVector<Value> &conditions,
              bool withLoads) {
  Block &body = barrier->getParentOfType<func::FuncOp>().getBody().front();
  Block::iterator begin(body.findAncestorOpInBlock(*barrier));
  auto belongs = [&](Operation &op) {
    return (!waits(op) || (withLoads && onlyLoads(op))) &&
           llvm::none_of(op.getResults(),
                         [&](Value result) { return conditions.contains(result); });
  };
  while (begin != body.begin() && belongs(*std::prev(begin)))
    --begin;
  return {begin, Block::iterator(body.getTerminator())};
}

/// Registers of a thread that hold floats, or what was loaded, when the span begins.
unsigned registersInto(Span span) {
  Operation *first = &*span.begin();
  llvm::SmallPtrSet<Value, 16> seen;
  unsigned registers = 0;
  auto consider = [&](Value value) {
    Operation *source = value.getDefiningOp();
    if (!source || source->getBlock() != first->getBlock() || !source->isBeforeInBlock(first) ||
        isa<arith::ConstantOp>(source) || !seen.insert(value).second)
      return;
    if (isa<FloatType>(getElementTypeOrSelf(value)) || isa<tile::LoadOp>(source))
      registers += registersOf(value);
  };
  for (Operation &op : span)
    op.walk([&](Operation *inner) { llvm::for_each(inner->getOperands(), consider); });
  return registers;
}

bool isSmall(Span span, int64_t most) {
  int64_t elements = 0;
  for (Operation &op : span)
    if ((elements += elementsOf(op)) > most)
      return false;
  return true;
}

/// Whether any condition holds; null if one is not known ahead of the span.
Value anyOf(const llvm::SetVector<Value> &conditions, Span span) {
  Operation *first = &*span.begin();
  for (Value condition : conditions)
    if (Operation *known = condition.getDefiningOp())
      if (known->getBlock() != first->getBlock() || !known->isBeforeInBlock(first))
        return Value();
  OpBuilder builder(first);
  Value any;
  for (Value condition : conditions)
    any = any ? arith::OrIOp::create(builder, first->getLoc(), any, condition) : condition;
  return any;
}

void makeTwoVersions(Span span, tilegpu::BarrierOp first, Value condition, bool withLoads) {
  OpBuilder builder(&*span.begin());
  auto branch = scf::IfOp::create(builder, span.begin()->getLoc(), condition,
                                  /*withElseRegion=*/true);
  branch->setAttr(tile::TileDialect::unlikelyAttr, builder.getUnitAttr());
  Block *with = branch.thenBlock(), *without = branch.elseBlock();
  with->getOperations().splice(with->begin(), branch->getBlock()->getOperations(), span.begin(),
                               span.end());
  builder.setInsertionPointToStart(without);
  IRMapping copies;
  for (Operation &op : with->without_terminator())
    builder.clone(op, copies);
  with->walk([](tilegpu::BarrierOp barrier) { barrier.getConditionMutable().clear(); });
  bool isReached =
      first->getBlock() == with && std::none_of(with->begin(), Block::iterator(first), waits);
  if (isReached)
    first->moveBefore(&with->front());
  else if (withLoads) {
    builder.setInsertionPointToStart(with);
    tilegpu::BarrierOp::create(builder, first.getLoc(), Value());
  }
  without->walk([](tilegpu::BarrierOp barrier) {
    if (isConditional(barrier))
      barrier.erase();
  });
  // Without one at its end, too, LLVM would see two equal ends and make one of them: of accesses
  // without masks all that follows the first barrier, and a conditional barrier again.
  builder.setInsertionPoint(with->getTerminator());
  tilegpu::BarrierOp::create(builder, first.getLoc(), Value());
}

struct VersionBarriersPass : PassWrapper<VersionBarriersPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(VersionBarriersPass)

  StringRef getArgument() const override { return "kiln-version-barriers"; }
  StringRef getDescription() const override {
    return "Replace conditional barriers by two versions of the code that holds them";
  }

  void runOnOperation() override {
    std::optional<TargetInfo> target = tilegpu::targetOfKernel(getOperation());
    if (!target)
      return signalPassFailure();
    run(*target);
  }

private:
  static bool costs(tilegpu::BarrierOp barrier, const TargetInfo &target) {
    return target.predicatedBarriers ? holdsUpLoads(barrier)
                                     : bool(barrier->getParentOfType<LoopLikeOpInterface>());
  }

  void run(const TargetInfo &target) {
    tilegpu::BarrierOp first;
    llvm::SetVector<Value> conditions;
    getOperation().walk<WalkOrder::PreOrder>([&](tilegpu::BarrierOp barrier) {
      if (!isConditional(barrier))
        return;
      if (!first && costs(barrier, target))
        first = barrier;
      conditions.insert(barrier.getCondition());
    });
    // Beside a matrix product a barrier is nothing.
    if (!first || !getOperation().getBody().hasOneBlock() || tilegpu::multiplies(getOperation()))
      return;
    Span span = spanFrom(first, conditions, /*withLoads=*/false);
    Span wider = spanFrom(first, conditions, /*withLoads=*/true);
    unsigned registers = registersInto(span);
    bool isLarge = registers > mostRegisters;
    int64_t most = isLarge ? mostElementsWithLoads : mostElements;
    bool saves = registers > fewRegisters && registersInto(wider) < registers;
    bool withLoads = isLarge || (saves && isSmall(wider, most));
    if (withLoads)
      span = wider;
    if (!isSmall(span, most))
      return;
    if (Value condition = anyOf(conditions, span))
      makeTwoVersions(span, first, condition, withLoads);
  }
};

} // namespace

std::unique_ptr<Pass> createVersionBarriersPass() {
  return std::make_unique<VersionBarriersPass>();
}

} // namespace kiln
