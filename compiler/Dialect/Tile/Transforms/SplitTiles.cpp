// Splitting of tiles: see the header.
//
// A split is planned completely before anything changes: which operations belong together along
// which axis, that memory accesses keep their order, and how slices of other tensors come about.

#include "compiler/Dialect/Tile/Transforms/SplitTiles.h"
#include "compiler/Analysis/AddressMeeting.h"
#include "compiler/Dialect/Tile/Combiners.h"
#include "compiler/Dialect/Tile/Tile.h"
#include "compiler/Dialect/Tile/Transforms/IndexTensors.h"
#include "compiler/Dialect/Tile/Transforms/Simplification.h"
#include "compiler/Dialect/Tile/Transforms/SliceAxes.h"
#include "compiler/Dialect/Tile/Transforms/Slices.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;

namespace kiln {
namespace {

/// Elements of one tensor in one thread: above the first a tile is split, to slices of the second.
/// No GPU has more than 256 registers for a thread of a full block.
constexpr int64_t maxPerThread = 256, slicePerThread = 64;

//===--- Memory ---===//

Value pointersOf(Operation *access) {
  if (auto load = dyn_cast<tile::LoadOp>(access))
    return load.getPtr();
  return cast<tile::StoreOp>(access).getPtr();
}

bool hasEffects(Operation *op) { return !isMemoryEffectFree(op); }

/// Reads at most. (What is unknown writes.)
bool onlyReads(Operation *op) {
  if (isMemoryEffectFree(op))
    return true;
  auto effects = getEffectsRecursively(op);
  return effects && llvm::all_of(*effects, [](const MemoryEffects::EffectInstance &effect) {
           return isa<MemoryEffects::Read>(effect.getEffect());
         });
}

/// Accesses of the tile that a loop over slices may bring out of order: at least one writes, and an
/// element has different indices along the axes that are sliced. Where it has one index in both it
/// comes in one slice. Two things are taken for granted where they depend on strides
/// that are not known yet: that the elements of one tile of pointers are apart, and that an array
/// given for two arguments is walked through in one way.
bool mayInterfere(Operation *first, Operation *second, AxisPair axes, AddressMeetings &meetings) {
  if (onlyReads(first) && onlyReads(second))
    return false;
  Value left = pointersOf(first), right = pointersOf(second);
  switch (meetings.meetAlong(left, right, axes)) {
  case Meeting::Never:
  case Meeting::SameIndex:
    return false;
  case Meeting::Anywhere:
    return true;
  case Meeting::Unknown:
    return !(left == right && axes.first == axes.second) && meetings.originOf(left, right).always;
  }
  llvm_unreachable("closed enumeration");
}

//===--- The plan ---===//

bool isWide(Type type, int64_t limit) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getNumElements() > limit;
}

/// One loop over slices along one axis: what is in it, and whether that is possible.
class Split {
public:
  Split(Block &block, int64_t limit) : block(block), limit(limit) {}

  /// Plans the split that `seed` belongs to; false if there is none along its own axis.
  bool plan(Operation *seed, unsigned own) {
    extent = shapeOfOwn(seed)[own];
    if (!include(seed, own) || !order() || !operandsAreThere() || !memoryStaysInOrder())
      return false;
    sliceExtent = chooseSliceExtent();
    return sliceExtent != 0;
  }

  /// Slices that have to be picked out of whole tensors.
  unsigned gathers() const { return numGathers; }

  void apply();

private:
  bool include(Operation *op, unsigned own);
  bool order();
  bool operandsAreThere();
  bool memoryStaysInOrder() const;
  bool canSlice(Value value);
  int64_t chooseSliceExtent() const;

  Value addSlice(OpBuilder &b, tile::ReduceOp reduce, Value sum, Value part);

  Block &block;
  int64_t limit, extent = 0, sliceExtent = 0;
  /// The operations and their own axes; in order once planned.
  llvm::MapVector<Operation *, unsigned> ops;
  /// What stands between them: before the loop, and after it as it uses results of it.
  SmallVector<Operation *> before, after;
  /// Reductions along the axis.
  SmallVector<tile::ReduceOp> sums;
  unsigned numGathers = 0;
  llvm::SmallPtrSet<void *, 8> gathered;
};

/// Adds `op`, what makes its large operands, and what uses slices of its results.
bool Split::include(Operation *op, unsigned own) {
  if (auto known = ops.find(op); known != ops.end())
    return known->second == own;
  bool isKnown = isSplittable(op) && (isa<tile::LoadOp, tile::StoreOp>(op) || !hasEffects(op));
  if (!isKnown || op->getBlock() != &block || needsWhole(op, own))
    return false;
  ops[op] = own;
  for (OpOperand &operand : op->getOpOperands()) {
    Operation *producer = operand.get().getDefiningOp();
    if (!isWide(operand.get().getType(), limit) || isIndexArithmetic(producer))
      continue;
    Axis axis = operandAxis(operand, own);
    if (!axis || !producer || !include(producer, ownAxisOfResult(producer, *axis)))
      return false;
  }
  Axis axis = resultAxis(op, own);
  if (!axis) {
    sums.push_back(cast<tile::ReduceOp>(op));
    return true;
  }
  return llvm::all_of(op->getUses(), [&](OpOperand &use) {
    return include(use.getOwner(), ownAxisOf(use, *axis));
  });
}

/// Sorts the operations, and what stands between them by whether it needs results of the loop.
bool Split::order() {
  llvm::MapVector<Operation *, unsigned> sorted;
  llvm::SmallPtrSet<Operation *, 16> dependent;
  for (Operation &op : block) {
    bool depends = false;
    op.walk([&](Operation *nested) {
      for (Value operand : nested->getOperands()) {
        Operation *producer = operand.getDefiningOp();
        auto known = producer ? ops.find(producer) : ops.end();
        depends |= dependent.contains(producer) ||
                   (known != ops.end() && !resultAxis(producer, known->second));
      }
    });
    if (auto found = ops.find(&op); found != ops.end()) {
      if (depends)
        return false; // needs the sum of all slices, or what follows from it
      sorted.insert(*found);
      continue;
    }
    if (depends)
      dependent.insert(&op);
    if (!sorted.empty() && sorted.size() != ops.size())
      (depends ? after : before).push_back(&op);
  }
  ops = std::move(sorted);
  return true;
}

/// Every operand has slices.
bool Split::operandsAreThere() {
  for (auto &[op, own] : ops)
    for (OpOperand &operand : op->getOpOperands()) {
      Axis axis = operandAxis(operand, own);
      Operation *producer = operand.get().getDefiningOp();
      auto known = producer ? ops.find(producer) : ops.end();
      if (known != ops.end() ? resultAxis(producer, known->second) != axis
                             : axis && !canSlice(operand.get()))
        return false;
    }
  return true;
}

/// Whether there are slices of a tensor from outside; counts what has to be picked out of a whole.
bool Split::canSlice(Value value) {
  Operation *op = value.getDefiningOp();
  if (isUniform(op) || isa_and_nonnull<tile::ArangeOp>(op))
    return true;
  if (isRecomputed(op))
    return llvm::all_of(op->getOperands(), [&](Value operand) {
      return !isa<RankedTensorType>(operand.getType()) || canSlice(operand);
    });
  Type element = tile::elementTypeOf(value.getType());
  if (!element.isIntOrFloat() || element.getIntOrFloatBitWidth() < 16 ||
      isWide(value.getType(), limit))
    return false;
  numGathers += gathered.insert(value.getAsOpaquePointer()).second;
  return true;
}

/// The loop stands where the last of its operations stood: those before it move down over `before`,
/// and `after` moves down over all that follow.
bool Split::memoryStaysInOrder() const {
  SmallVector<Operation *> accesses;
  for (auto &[op, own] : ops)
    if (hasEffects(op))
      accesses.push_back(op);
  AddressMeetings meetings;
  for (auto [index, second] : llvm::enumerate(accesses))
    for (Operation *first : ArrayRef(accesses).take_front(index))
      if (mayInterfere(first, second, {ops.lookup(first), ops.lookup(second)}, meetings) ||
          (!onlyReads(first) && onlyReads(second)))
        return false;
  auto inOrder = [](Operation *first, Operation *second) {
    return (!hasEffects(first) || !hasEffects(second)) || (onlyReads(first) && onlyReads(second));
  };
  for (Operation *access : accesses) {
    for (Operation *other : before)
      if (access->isBeforeInBlock(other) && !inOrder(access, other))
        return false;
    for (Operation *other : after)
      if (other->isBeforeInBlock(access) && !inOrder(other, access))
        return false;
  }
  for (Operation *moved : after)
    for (Operation *other : before)
      if (moved->isBeforeInBlock(other) && !inOrder(moved, other))
        return false;
  return true;
}

//===--- The loop ---===//

/// The extent of a slice; 0 if slices of one would still be too large.
int64_t Split::chooseSliceExtent() const {
  int64_t largest = 0;
  for (auto &[op, own] : ops)
    for (Value value :
         llvm::concat<Value>(llvm::to_vector(op->getOperands()), llvm::to_vector(op->getResults())))
      if (auto type = dyn_cast<RankedTensorType>(value.getType()))
        largest = std::max(largest, type.getNumElements());
  return extent / (largest / (limit / maxPerThread * slicePerThread));
}

void Split::apply() {
  Operation *last = ops.back().first;
  Location loc = ops.front().first->getLoc();
  OpBuilder b(last);
  SmallVector<Value> initial;
  for (tile::ReduceOp reduce : sums) {
    TypedAttr neutral = tile::neutralElement(reduce.getSingleCombiner());
    Type type = reduce->getResult(0).getType();
    initial.push_back(isa<RankedTensorType>(type)
                          ? constantOf(b, loc, type, neutral)
                          : Value(arith::ConstantOp::create(b, loc, neutral)));
  }
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(b, loc, value, 32);
  };
  auto loop = scf::ForOp::create(b, loc, number(0), number(extent), number(sliceExtent), initial);
  Slices slices(b, loop.getInductionVar(), sliceExtent);
  b.setInsertionPointToStart(loop.getBody());
  if (sums.empty())
    b.setInsertionPoint(loop.getBody()->getTerminator());
  SmallVector<Value> results;
  llvm::DenseMap<Operation *, Value> summed;
  for (auto &[op, own] : ops) {
    Operation *clone = slices.clone(op, own);
    Axis axis = resultAxis(op, own);
    for (auto [whole, part] : llvm::zip_equal(op->getResults(), clone->getResults()))
      if (axis)
        slices.set(whole, *axis, part);
      else
        summed[op] = part;
  }
  for (auto [index, reduce] : llvm::enumerate(sums))
    results.push_back(addSlice(b, reduce, loop.getRegionIterArg(index), summed[reduce]));
  if (!sums.empty())
    scf::YieldOp::create(b, loc, results);

  for (auto [reduce, result] : llvm::zip_equal(sums, loop.getResults()))
    reduce->getResult(0).replaceAllUsesWith(result);
  Operation *place = last;
  for (Operation *op : after) {
    op->moveAfter(place);
    place = op;
  }
  for (auto &[op, own] : llvm::reverse(ops))
    op->erase();
}

Value Split::addSlice(OpBuilder &b, tile::ReduceOp reduce, Value sum, Value part) {
  Operation *combiner = reduce.getSingleCombiner();
  OperationState state(reduce.getLoc(), combiner->getName(), ValueRange{sum, part}, sum.getType(),
                       combiner->getAttrs());
  return b.create(state)->getResult(0);
}

//===--- All tiles of a kernel ---===//

/// The split of `seed` that picks the fewest slices out of wholes, along the outermost such axis:
/// neighbours in memory are mostly neighbours along the last.
std::optional<Split> bestSplit(Block &block, Operation *seed, int64_t limit) {
  std::optional<Split> best;
  for (unsigned own = 0; own != shapeOfOwn(seed).size(); ++own) {
    Split split(block, limit);
    if (split.plan(seed, own) && (!best || split.gathers() < best->gathers()))
      best.emplace(std::move(split));
  }
  return best;
}

bool splitBlock(Block &block, int64_t limit) {
  bool changed = false;
  llvm::SmallPtrSet<Operation *, 16> refused;
  while (true) {
    auto seed = llvm::find_if(block, [&](Operation &op) {
      return isSplittable(&op) && !isIndexArithmetic(&op) && !refused.contains(&op) &&
             llvm::any_of(llvm::concat<const Type>(llvm::to_vector(op.getOperandTypes()),
                                                   llvm::to_vector(op.getResultTypes())),
                          [&](Type type) { return isWide(type, limit); });
    });
    if (seed == block.end())
      return changed;
    if (std::optional<Split> split = bestSplit(block, &*seed, limit)) {
      split->apply();
      changed = true;
    } else {
      refused.insert(&*seed);
    }
  }
}

struct SplitTilesPass : PassWrapper<SplitTilesPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(SplitTilesPass)
  SplitTilesPass() = default;
  SplitTilesPass(const SplitTilesPass &other) : PassWrapper(other) {}
  StringRef getArgument() const override { return "kiln-split-tiles"; }
  StringRef getDescription() const override {
    return "Loop over slices of tiles that are too large";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, scf::SCFDialect, tile::TileDialect, ub::UBDialect>();
  }
  void runOnOperation() override {
    func::FuncOp kernel = getOperation();
    auto warps = kernel->getAttrOfType<IntegerAttr>(tile::TileDialect::numWarpsAttr);
    if (kernel.isDeclaration() || !splitTiles(kernel, (warps ? warps.getInt() : 4) * warpSize))
      return;
    OpPassManager passes(func::FuncOp::getOperationName());
    addSimplification(passes);
    if (failed(runPipeline(passes, kernel)))
      signalPassFailure();
  }

  Option<int64_t> warpSize{*this, "warp-size", llvm::cl::desc("Threads of a warp"),
                           llvm::cl::init(32)};
};

} // namespace

bool splitTiles(func::FuncOp kernel, int64_t threads) {
  SmallVector<Block *> blocks;
  kernel.walk([&](Block *block) {
    if (!isa<tile::ReduceOp, tile::ScanOp, tile::MapOp>(block->getParentOp()))
      blocks.push_back(block);
  });
  bool changed = false;
  for (Block *block : blocks)
    changed |= splitBlock(*block, threads * maxPerThread);
  return changed;
}

std::unique_ptr<Pass> createSplitTilesPass(int64_t warpSize) {
  auto pass = std::make_unique<SplitTilesPass>();
  pass->warpSize = warpSize;
  return pass;
}

void registerSplitTilesPass() { PassRegistration<SplitTilesPass>(); }

} // namespace kiln
