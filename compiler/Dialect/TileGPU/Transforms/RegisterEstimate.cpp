#include "compiler/Dialect/TileGPU/Transforms/RegisterEstimate.h"
#include "compiler/Dialect/TileGPU/Transforms/Passes.h"
#include "compiler/Target/Occupancy.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include <memory>

using namespace mlir;

namespace kiln {
namespace {

constexpr unsigned registerBits = 32;

/// Whether elements of the type are indices, addresses or conditions.
bool isIndexLike(Type type) { return !isa<FloatType>(getElementTypeOrSelf(type)); }

//===-- one value
//----------------------------------------------------------------------------------===//

/// Registers that hold different elements of a tensor.
int64_t distinctRegisters(RankedTensorType tensor) {
  return tilegpu::layoutOf(tensor).withoutFreeRegisters().numRegisters();
}

/// Of pointers to neighbours one stands for as many as one access takes.
unsigned registersOfPointers(RankedTensorType tensor, tile::PtrType pointer) {
  constexpr unsigned accessBits = 128, pointerRegisters = 2;
  unsigned bits = 8 * pointer.getElementBytes();
  return pointerRegisters * llvm::divideCeil(distinctRegisters(tensor) * bits, accessBits);
}

} // namespace

unsigned registersOf(Value value) {
  auto tensor = dyn_cast<RankedTensorType>(value.getType());
  if (!tensor || !tilegpu::layoutAttrOf(tensor))
    return 0;
  Type element = tensor.getElementType();
  if (auto pointer = dyn_cast<tile::PtrType>(element))
    return registersOfPointers(tensor, pointer);
  unsigned bits = element.isInteger(1) ? 1 : tilegpu::storageBits(element);
  return llvm::divideCeil(distinctRegisters(tensor) * bits, registerBits);
}

unsigned registersComputedIn(scf::ForOp loop) {
  unsigned registers = 0;
  loop.getBody()->walk([&](Operation *op) {
    for (Value result : op->getResults())
      registers += std::max(registersOf(result), 1u);
  });
  return registers;
}

bool isShortStream(scf::ForOp loop) {
  constexpr unsigned most = 512;
  return registersComputedIn(loop) <= most;
}

unsigned registersOfStep(tilegpu::DotOp dot, Value operand) {
  ArrayRef<int64_t> b = tilegpu::shapeOfOperand(dot.getB());
  int64_t depth = std::max(tilegpu::shapeOfOperand(dot.getA()).back(), b[b.size() - 2]);
  int64_t step = dot.getUnit() ? dot.getUnit()->getTiling().instruction->k : 1;
  return llvm::divideCeil(registersOf(operand) * std::min(step, depth), depth);
}

bool isComputedAgain(Operation *op) {
  if (isa<tile::BroadcastOp, tile::ExpandDimsOp, tile::ReshapeOp, tile::TransOp, tile::SplatOp,
          tile::ArangeOp, tile::AddPtrOp, tile::HintOp, arith::ConstantOp>(op))
    return true;
  return isa_and_present<arith::ArithDialect>(op->getDialect()) &&
         llvm::all_of(op->getOperandTypes(), isIndexLike) &&
         llvm::all_of(op->getResultTypes(), isIndexLike);
}

namespace {

/// Whether RDNA's back end keeps the halves that are widened, as threads that lack registers do
/// where only loops multiply and add the result (Target/AMD/WidenInLoops).
bool isWidenedInLoops(Operation *op) {
  auto widening = dyn_cast<arith::ExtFOp>(op);
  return widening && getElementTypeOrSelf(widening.getIn()).isF16() &&
         getElementTypeOrSelf(widening.getType()).isF32() &&
         llvm::all_of(op->getUsers(), [&](Operation *user) {
           auto loop = user->getParentOfType<LoopLikeOpInterface>();
           return loop && !loop->isAncestor(op) &&
                  isa<arith::MulFOp, arith::AddFOp, arith::SubFOp>(user);
         });
}

/// The values that a use of `value` keeps in registers: itself, or what it is computed again from.
class ValueRoots {
public:
  explicit ValueRoots(const TargetInfo &target) : target(target) {}

  ArrayRef<Value> of(Value value) {
    auto [found, isNew] = known.try_emplace(value);
    if (!isNew)
      return *found->second;
    found->second = std::make_unique<SmallVector<Value, 2>>();
    SmallVector<Value, 2> &roots = *found->second;
    Operation *op = value.getDefiningOp();
    bool isWidened = op && target.matrix.wmmaGeneration && isWidenedInLoops(op);
    if (!op || !(isComputedAgain(op) || isWidened))
      roots.push_back(value);
    else
      for (Value operand : op->getOperands())
        llvm::append_range(roots, of(operand));
    llvm::sort(roots,
               [](Value a, Value b) { return a.getAsOpaquePointer() < b.getAsOpaquePointer(); });
    roots.erase(llvm::unique(roots), roots.end());
    return roots;
  }

private:
  const TargetInfo &target;
  llvm::DenseMap<Value, std::unique_ptr<SmallVector<Value, 2>>> known;
};

//===-- liveness
//-----------------------------------------------------------------------------------===//

/// Values that are live at a point, and what they take together.
struct LiveValues {
  llvm::DenseSet<Value> values;
  unsigned registers = 0;

  void insert(Value value) {
    if (values.insert(value).second)
      registers += registersOf(value);
  }
  void erase(Value value) {
    if (values.erase(value))
      registers -= registersOf(value);
  }
};

class RegisterEstimator {
public:
  explicit RegisterEstimator(const TargetInfo &target) : target(target), roots(target) {}

  unsigned run(func::FuncOp kernel) {
    walk(kernel.front(), {});
    return most;
  }

private:
  /// What is live at the block's beginning, if `live` is at its end.
  LiveValues walk(Block &block, LiveValues live) {
    for (Operation &op : llvm::reverse(block)) {
      for (Value result : op.getResults())
        live.erase(result);
      if (isa<scf::ForOp, scf::IfOp, scf::WhileOp>(op))
        enter(op, live);
      else if (std::optional<unsigned> own = ownRegisters(op, live))
        most = std::max(most, live.registers + *own);
      use(live, op.getOperands());
    }
    for (Value argument : block.getArguments())
      live.erase(argument);
    return live;
  }

  void use(LiveValues &live, ValueRange values) {
    for (Value value : values)
      for (Value root : roots.of(value))
        live.insert(root);
  }

  void enter(Operation &op, LiveValues &live) {
    LiveValues atEnd = live;
    if (isa<LoopLikeOpInterface>(op))
      op.walk([&](Operation *inner) {
        if (inner != &op)
          useOfOthers(atEnd, op, *inner);
      });
    for (Region &region : op.getRegions()) {
      if (region.empty())
        continue;
      LiveValues atBegin = walk(region.front(), atEnd);
      for (Value value : atBegin.values)
        live.insert(value);
    }
  }

  /// What the loop `around` uses of values from outside is live all through it.
  void useOfOthers(LiveValues &live, Operation &around, Operation &inner) {
    for (Value operand : inner.getOperands())
      for (Value root : roots.of(operand))
        if (!around.isAncestor(root.getParentBlock()->getParentOp()))
          live.insert(root);
  }

  //===-- places where values have to be there together
  //----------------------------------------------===//

  /// Registers beside what lives on, where the operation is such a place.
  std::optional<unsigned> ownRegisters(Operation &op, const LiveValues &live) {
    if (auto dot = dyn_cast<tilegpu::DotOp>(op))
      return registersOf(dot.getResult()) + ofOperand(dot, dot.getA(), live) +
             ofOperand(dot, dot.getB(), live);
    if (isa<scf::YieldOp>(op) && isa<LoopLikeOpInterface>(op.getParentOp())) {
      LiveValues carried = live;
      use(carried, op.getOperands());
      return carried.registers - live.registers;
    }
    if (auto wait = dyn_cast<tilegpu::DotWaitOp>(op))
      return sum(wait.getResults());
    if (auto scratch = dyn_cast<tilegpu::ScratchOpInterface>(op))
      return scratch.getScratchBytes(target) ? std::optional<unsigned>(0) : std::nullopt;
    if (isa<tilegpu::BarrierOp, tile::BarrierOp, tilegpu::WaitOp, tilegpu::MBarrierWaitOp>(op))
      return 0;
    return std::nullopt;
  }

  static unsigned sum(ValueRange values) {
    unsigned registers = 0;
    for (Value value : values)
      registers += registersOf(value);
    return registers;
  }

  /// What the operand of a dot takes while it multiplies, unless it lives on anyway: all of what
  /// threads have computed, but of what they read from shared memory one step along k.
  unsigned ofOperand(tilegpu::DotOp dot, Value operand, const LiveValues &live) {
    if (llvm::all_of(roots.of(operand), [&](Value root) { return live.values.contains(root); }))
      return 0;
    return operand.getDefiningOp<tilegpu::SharedLoadOp>() ? registersOfStep(dot, operand)
                                                          : registersOf(operand);
  }

  const TargetInfo &target;
  ValueRoots roots;
  unsigned most = 0;
};

struct EstimateRegistersPass : PassWrapper<EstimateRegistersPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(EstimateRegistersPass)

  StringRef getArgument() const override { return "kiln-estimate-registers"; }
  StringRef getDescription() const override { return "Say how many registers a thread needs"; }

  void runOnOperation() override {
    func::FuncOp kernel = getOperation();
    std::optional<TargetInfo> target = tilegpu::targetOfKernel(kernel);
    if (!target)
      return signalPassFailure();
    kernel->setAttr(registersAttr,
                    Builder(kernel.getContext())
                        .getI32IntegerAttr(int32_t(estimateRegisters(kernel, *target))));
  }
};

} // namespace

unsigned estimateRegisters(func::FuncOp kernel, const TargetInfo &target) {
  // Addresses, numbers of iterations, and what arithmetic is in the middle of.
  constexpr unsigned others = 16;
  return RegisterEstimator(target).run(kernel) + others;
}

unsigned uncountedRegisters(const TargetInfo &target) {
  if (target.matrix.wmmaGeneration)
    return 24;
  return target.matrix.matrixLoads ? 16 : 0;
}

/// Of all lanes; of GPUs to come (PTX) as of NVIDIA's others.
static unsigned allRegisters(const TargetInfo &target) {
  std::optional<RegisterFile> file = registerFileOf(target);
  return file ? file->all : 1 << 16;
}

/// That a thread can have, accumulation registers among them.
static unsigned mostRegisters(const TargetInfo &target) {
  return target.matrix.mfmaGeneration ? 512 : target.matrix.wmmaGeneration ? 256 : 255;
}

unsigned registerShare(func::FuncOp kernel, const TargetInfo &target) {
  // Warps get theirs in groups of four, a thread in groups of eight.
  unsigned warps = llvm::alignTo(tilegpu::numWarpsOf(kernel) + tilegpu::producerWarpsOf(kernel), 4);
  constexpr unsigned unit = 8;
  unsigned share = llvm::alignDown(allRegisters(target) / target.threadsPerBlock(warps), unit);
  return std::min(share, mostRegisters(target));
}

/// Sixteen waves of 32 lanes in each of two SIMDs, or eight of 64 in each of four.
static unsigned mostThreadsOf(const TargetInfo &target) {
  return target.matrix.wmmaGeneration ? 1024 : 2048;
}

unsigned registersOfMostWarps(const TargetInfo &target) {
  return allRegisters(target) / mostThreadsOf(target);
}

unsigned registersOfWaves(const TargetInfo &target, unsigned waves) {
  std::optional<RegisterFile> file = registerFileOf(target);
  return unsigned(llvm::alignDown(file->registers / waves, file->multiple));
}

unsigned blocksByRegisters(func::FuncOp kernel, const TargetInfo &target, int more) {
  constexpr unsigned unit = 8, mostBlocks = 32;
  unsigned threads = target.threadsPerBlock(tilegpu::numWarpsOf(kernel));
  unsigned registers = llvm::alignTo(
      std::min(estimateRegisters(kernel, target) + more, registersOfThread(kernel, target)), unit);
  // Without products exchanges in smaller slices than RDNA's blocks need were seen to be shorter,
  // as threads put fewer bytes together.
  constexpr unsigned ofOthers = 2048;
  bool multiplies =
      kernel.walk([](tilegpu::DotOp) { return WalkResult::interrupt(); }).wasInterrupted();
  unsigned mostThreads = multiplies ? mostThreadsOf(target) : ofOthers;
  return std::min(
      {allRegisters(target) / (threads * registers), mostThreads / threads, mostBlocks});
}

unsigned registersOfThread(func::FuncOp kernel, const TargetInfo &target) {
  unsigned registers = 0;
  kernel.walk([&](tilegpu::SetRegistersOp op) {
    if (op.getIsMore())
      registers = op.getCount();
  });
  if (registers)
    return registers;
  unsigned share = registerShare(kernel, target);
  auto asked = kernel->getAttrOfType<IntegerAttr>(tilegpu::TileGPUDialect::launchRegistersAttr);
  return asked ? std::min(unsigned(asked.getInt()), share) : share;
}

std::unique_ptr<Pass> createEstimateRegistersPass() {
  return std::make_unique<EstimateRegistersPass>();
}

} // namespace kiln
