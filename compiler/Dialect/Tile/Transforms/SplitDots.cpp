#include "compiler/Dialect/Tile/Transforms/SplitDots.h"

#include "compiler/Dialect/Tile/Transforms/Simplification.h"
#include "compiler/Dialect/Tile/Transforms/SliceAxes.h"
#include "compiler/Dialect/Tile/Transforms/Slices.h"
#include "compiler/Dialect/Tile/Transforms/TrimDots.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include <deque>

using namespace mlir;

namespace kiln {
namespace {

/// A dot in parts: first planned, then made.
class SplitDot {
public:
  explicit SplitDot(tile::DotOp dot)
      : dot(dot), block(dot->getBlock()), loop(dyn_cast<scf::ForOp>(dot->getParentOp())) {}

  /// Whether slices of both operands along k are made of slices of what is loaded for it alone.
  bool plan() {
    bool isSimple = dot.getScales().empty() && dot.getA().getType().getRank() == 2 &&
                    dot.getB().getType().getDimSize(0) == depth() && !dot->hasAttr(usedDepthAttr);
    return isSimple && canSlice(dot.getA(), 1) && canSlice(dot.getB(), 0) && !made.empty();
  }

  void apply(int64_t parts);

  int64_t depth() { return dot.getA().getType().getDimSize(1); }

private:
  /// What a loop hands its iterations, as pointers that it moves, and the axis of its slices.
  using Carried = std::pair<unsigned, unsigned>;

  bool canSlice(Value value, unsigned axis);
  bool canSliceCarried(Value value, unsigned axis);
  bool canPassTo(Operation *op) const;
  void carrySlices(int64_t parts);
  void yieldSlices();
  void dropCarried(unsigned number);

  tile::DotOp dot;
  Block *block;
  scf::ForOp loop;
  /// What stands in the dot's block and makes its operands, with its own axis.
  llvm::MapVector<Operation *, unsigned> made;
  llvm::SetVector<Carried> carried;

  // While applied.
  OpBuilder b{dot};
  int64_t extent = 0;
  unsigned firstAdded = 0;
  std::deque<Slices> slices;
};

bool SplitDot::canSlice(Value value, unsigned axis) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return canSliceCarried(value, axis);
  if (isUniform(op) || isa<tile::ArangeOp>(op))
    return true;
  auto load = dyn_cast<tile::LoadOp>(op);
  if (!load && !isRecomputed(op))
    return false;
  unsigned own = ownAxisOfResult(op, axis);
  // Indices and masks may be made several times.
  bool isNumber = isa<FloatType>(tile::elementTypeOf(op->getResult(0).getType()));
  if (isNumber || !isIndexArithmetic(op)) {
    if (op->getBlock() != block || !op->hasOneUse() || (load && load.getIsVolatile()))
      return false;
    made[op] = own;
  }
  return llvm::all_of(op->getOpOperands(), [&](OpOperand &operand) {
    Axis of = operandAxis(operand, own);
    return !of || canSlice(operand.get(), *of);
  });
}

/// Of addresses: made in front of the loop, and moved by arithmetic.
bool SplitDot::canSliceCarried(Value value, unsigned axis) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!loop || !argument || argument.getOwner() != block || argument == loop.getInductionVar())
    return false;
  unsigned number = argument.getArgNumber() - loop.getNumInductionVars();
  if (!carried.insert({number, axis}))
    return true;
  unsigned before = made.size();
  return canSlice(loop.getInitArgs()[number], axis) &&
         canSlice(loop.getYieldedValues()[number], axis) && made.size() == before;
}

/// Whether nothing between the operation and the dot writes.
bool SplitDot::canPassTo(Operation *op) const {
  for (Operation *other = op; other != dot; other = other->getNextNode()) {
    auto effects = getEffectsRecursively(other);
    if (!effects || !llvm::all_of(*effects, [](const MemoryEffects::EffectInstance &effect) {
          return isa<MemoryEffects::Read>(effect.getEffect());
        }))
      return false;
  }
  return true;
}

/// The loop hands its iterations the slices, too, part by part.
void SplitDot::carrySlices(int64_t parts) {
  if (carried.empty())
    return;
  SmallVector<Value> initial;
  b.setInsertionPoint(loop);
  for (int64_t part = 0; part < parts; ++part) {
    Value start = arith::ConstantIntOp::create(b, dot.getLoc(), part * extent, 32);
    Slices inFront(b, start, extent);
    for (auto [number, axis] : carried)
      initial.push_back(inFront.of(loop.getInitArgs()[number], axis));
  }
  firstAdded = loop.getNumRegionIterArgs();
  IRRewriter rewriter(b);
  loop = cast<scf::ForOp>(
      *loop.replaceWithAdditionalYields(rewriter, initial, /*replaceInitOperandUsesInLoop=*/false,
                                        [](OpBuilder &, Location, ArrayRef<BlockArgument> added) {
                                          return SmallVector<Value>(added.begin(), added.end());
                                        }));
  block = loop.getBody();
}

void SplitDot::yieldSlices() {
  if (carried.empty())
    return;
  auto yield = cast<scf::YieldOp>(block->getTerminator());
  b.setInsertionPoint(yield);
  unsigned added = firstAdded;
  for (Slices &part : slices)
    for (auto [number, axis] : carried)
      yield->setOperand(added++, part.of(yield->getOperand(number), axis));
}

/// What only moves itself is the same in all iterations, and nobody's.
void SplitDot::dropCarried(unsigned number) {
  auto yield = cast<scf::YieldOp>(block->getTerminator());
  BlockArgument argument = loop.getRegionIterArg(number);
  Operation *next = yield->getOperand(number).getDefiningOp();
  bool isOfNobody = next && next->hasOneUse() && argument.hasOneUse() &&
                    *argument.user_begin() == next && loop.getResult(number).use_empty();
  if (isOfNobody)
    yield->setOperand(number, argument);
}

void SplitDot::apply(int64_t parts) {
  extent = depth() / parts;
  carrySlices(parts);
  SmallVector<std::pair<Operation *, unsigned>> inOrder = made.takeVector();
  llvm::sort(inOrder,
             [](auto &one, auto &other) { return one.first->isBeforeInBlock(other.first); });
  bool mayWait = canPassTo(inOrder.front().first);
  Value sum = dot.getC();
  for (int64_t part = 0; part < parts; ++part) {
    b.setInsertionPoint(loop ? loop : inOrder.front().first);
    Value start = arith::ConstantIntOp::create(b, dot.getLoc(), part * extent, 32);
    Slices &ofPart = slices.emplace_back(b, start, extent);
    for (auto [place, carries] : llvm::enumerate(carried))
      ofPart.set(loop.getRegionIterArg(carries.first), carries.second,
                 loop.getRegionIterArg(firstAdded + part * carried.size() + place));
    for (auto [op, own] : inOrder) {
      b.setInsertionPoint(part && mayWait ? dot : op);
      ofPart.set(op->getResult(0), own, ofPart.clone(op, own)->getResult(0));
    }
    b.setInsertionPoint(dot);
    Operation *product = b.clone(*dot);
    product->setOperands({ofPart.of(dot.getA(), 1), ofPart.of(dot.getB(), 0), sum});
    product->moveBefore(dot);
    sum = product->getResult(0);
  }
  yieldSlices();
  dot.replaceAllUsesWith(sum);
  dot.erase();
  for (auto [op, own] : llvm::reverse(inOrder))
    op->erase();
  for (auto [number, axis] : carried)
    dropCarried(number);
}

struct SplitDotsPass : PassWrapper<SplitDotsPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(SplitDotsPass)
  SplitDotsPass() = default;
  SplitDotsPass(const SplitDotsPass &other) : PassWrapper(other) {}
  StringRef getArgument() const override { return "kiln-split-dots"; }
  StringRef getDescription() const override {
    return "Multiply in parts what shared memory has no room for";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, tile::TileDialect>();
  }

  void runOnOperation() override {
    SmallVector<tile::DotOp> dots;
    getOperation().walk([&](tile::DotOp dot) { dots.push_back(dot); });
    bool changed = false;
    for (tile::DotOp dot : dots)
      changed |= split(dot);
    if (!changed)
      return;
    OpPassManager passes(func::FuncOp::getOperationName());
    addSimplification(passes);
    if (failed(runPipeline(passes, getOperation())))
      signalPassFailure();
  }

  bool split(tile::DotOp dot) {
    // Units take no less along k, whatever the type.
    constexpr int64_t leastDepth = 32;
    int64_t bytes = bytesOf(dot.getA()) + bytesOf(dot.getB()), parts = 1;
    while (bytes > parts * sharedBytes)
      parts *= 2;
    SplitDot plan(dot);
    if (parts == 1 || plan.depth() < parts * leastDepth || !plan.plan())
      return false;
    plan.apply(parts);
    return true;
  }

  int64_t bytesOf(Value operand) const {
    auto type = cast<RankedTensorType>(operand.getType());
    int64_t bits = type.getElementTypeBitWidth();
    if (isa<FloatType>(type.getElementType()))
      bits = std::max<int64_t>(bits, leastFloatBits);
    return type.getNumElements() * bits / 8;
  }

  Option<int64_t> sharedBytes{*this, "shared-bytes",
                              llvm::cl::desc("Bytes of shared memory that a block can have"),
                              llvm::cl::init(65536)};
  Option<int64_t> leastFloatBits{*this, "least-float-bits",
                                 llvm::cl::desc("Bits of an operand's number there"),
                                 llvm::cl::init(8)};
};

} // namespace

std::unique_ptr<Pass> createSplitDotsPass(int64_t sharedBytes, int64_t leastFloatBits) {
  auto pass = std::make_unique<SplitDotsPass>();
  pass->sharedBytes = sharedBytes;
  pass->leastFloatBits = leastFloatBits;
  return pass;
}

void registerSplitDotsPass() { PassRegistration<SplitDotsPass>(); }

} // namespace kiln
