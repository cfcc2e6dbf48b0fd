#include "compiler/Dialect/Tile/Transforms/SplitPrograms.h"

#include "compiler/Dialect/Tile/Tile.h"
#include "compiler/Dialect/Tile/Transforms/ArrayBlocks.h"
#include "compiler/Dialect/Tile/Transforms/SplitRewriter.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace kiln {
namespace {

Indivisible because(Operation *op, const Twine &text) { return {op->getLoc(), text.str()}; }

//===-- what blocks cannot do each for itself
//----------------------------------------------------===//

/// An access to global memory.
struct Access {
  Operation *op;
  std::optional<unsigned> array; ///< the argument; none: any
  Value address;
  bool reads, writes;
};

std::optional<Access> accessOf(Operation *op, func::FuncOp kernel) {
  auto threads = [&](Value pointers, bool reads, bool writes) {
    return Access{op, arrayOf(pointers, kernel), pointers, reads, writes};
  };
  auto block = [&](Value descriptor, bool reads, bool writes) {
    return Access{op, arrayOfDescriptor(descriptor, kernel), Value(), reads, writes};
  };
  return llvm::TypeSwitch<Operation *, std::optional<Access>>(op)
      .Case([&](tile::LoadOp load) { return threads(load.getPtr(), true, false); })
      .Case([&](tile::StoreOp store) { return threads(store.getPtr(), false, true); })
      .Case([&](tile::AtomicRMWOp atomic) { return threads(atomic.getPtr(), false, true); })
      .Case<tile::DescriptorLoadOp, tile::DescriptorGatherOp>(
          [&](auto load) { return block(load.getDescriptor(), true, false); })
      .Case<tile::DescriptorStoreOp, tile::DescriptorReduceOp>(
          [&](auto store) { return block(store.getDescriptor(), false, true); })
      .Default([](Operation *) { return std::nullopt; });
}

bool isInLoop(Operation *op) { return op->getParentOfType<LoopLikeOpInterface>() != nullptr; }

/// Whether a block may read what another one writes: the program's order would have to hold between
/// them. Arrays of different arguments are taken to be different ones.
bool mayMeet(const Access &read, const Access &write) {
  if (read.array && write.array && read.array != write.array)
    return false;
  bool isSameElement =
      read.address && read.address == write.address && !isInLoop(read.op) && !isInLoop(write.op);
  return !isSameElement;
}

std::optional<Indivisible> findMeeting(func::FuncOp kernel) {
  SmallVector<Access> accesses;
  kernel.walk([&](Operation *op) {
    if (std::optional<Access> access = accessOf(op, kernel))
      accesses.push_back(*access);
  });
  for (const Access &read : accesses)
    for (const Access &write : accesses)
      if (read.reads && write.writes && mayMeet(read, write))
        return because(read.op, "this may read what the program writes");
  return std::nullopt;
}

/// An atomic operation that orders, for other programs, what this one has stored.
bool ordersStores(tile::AtomicRMWOp atomic, func::FuncOp kernel) {
  return atomic.getSemantic() != tile::MemorySemantic::Relaxed &&
         kernel
             .walk([](Operation *op) {
               return isa<tile::StoreOp, tile::DescriptorStoreOp>(op) ? WalkResult::interrupt()
                                                                      : WalkResult::advance();
             })
             .wasInterrupted();
}

/// Operations that are not the same when several blocks execute them, whatever their parts.
std::optional<Indivisible> findCollective(func::FuncOp kernel) {
  std::optional<Indivisible> found;
  auto refuse = [&](Operation *op, const Twine &text) {
    found = because(op, text);
    return WalkResult::interrupt();
  };
  kernel.walk([&](Operation *op) {
    if (auto atomic = dyn_cast<tile::AtomicRMWOp>(op)) {
      if (!atomic.use_empty())
        return refuse(op, "an atomic operation's result is used here");
      if (ordersStores(atomic, kernel))
        return refuse(op, "this atomic operation orders what the program has stored (sem)");
      return WalkResult::advance();
    }
    if (isa<scf::WhileOp>(op))
      return refuse(op, "this is a while loop");
    if (auto load = dyn_cast<tile::LoadOp>(op); load && load.getIsVolatile())
      return refuse(op, "blocks may read different values here (volatile)");
    bool isKnown =
        accessOf(op, kernel) || isa<tile::AssertOp, tile::AssumeOp>(op) ||
        (op->getNumRegions() && isa<scf::SCFDialect, func::FuncDialect>(op->getDialect())) ||
        op->hasTrait<OpTrait::IsTerminator>();
    if (!isKnown && !isMemoryEffectFree(op))
      return refuse(op, "this is done once for all of the program");
    return WalkResult::advance();
  });
  return found ? found : findMeeting(kernel);
}

//===-- what each block stores
//--------------------------------------------------------------------===//

class Divider {
public:
  Divider(func::FuncOp kernel, unsigned blocks, bool byColumns)
      : parts(blocks), byColumns(byColumns) {
    kernel.walk([&](Operation *op) {
      if (!reason)
        reason = visit(op);
    });
    if (!reason && !isAnyDivided)
      reason = because(kernel, "it stores no tensor");
  }

  std::optional<Indivisible> reason;
  ProgramParts parts;
  DenseMap<Operation *, PartAxis> shares;

private:
  std::optional<Indivisible> visit(Operation *op) {
    if (auto loop = dyn_cast<scf::ForOp>(op))
      return wantAll({loop.getLowerBound(), loop.getUpperBound(), loop.getStep()});
    if (auto branch = dyn_cast<scf::IfOp>(op))
      return wantAll(branch.getCondition());
    if (auto assume = dyn_cast<tile::AssumeOp>(op))
      return wantAll(assume.getCondition());
    Value stored = storedBy(op);
    if (!stored)
      return std::nullopt;
    std::optional<Indivisible> first;
    for (PartAxis axis : axesOf(op, stored)) {
      ProgramParts before = parts;
      std::optional<Indivisible> problem = wantShare(op, stored, axis);
      if (!problem) {
        shares[op] = axis;
        isAnyDivided |= axis != wholeValue;
        return std::nullopt;
      }
      parts = std::move(before);
      if (!first)
        first = problem;
    }
    return first ? first : because(op, "what this stores has no equal parts");
  }

  std::optional<Indivisible> wantAll(ValueRange values) {
    for (Value value : values)
      if (std::optional<Indivisible> problem = parts.want(value, wholeValue))
        return problem;
    return std::nullopt;
  }

  static Value storedBy(Operation *op) {
    return llvm::TypeSwitch<Operation *, Value>(op)
        .Case<tile::StoreOp, tile::AtomicRMWOp, tile::DescriptorStoreOp, tile::DescriptorReduceOp>(
            [](auto store) { return store.getValue(); })
        .Case([](tile::AssertOp check) { return check.getCondition(); })
        .Default([](Operation *) { return Value(); });
  }

  /// Along which a block may have its share, the best first. Scalars are the first block's.
  SmallVector<PartAxis> axesOf(Operation *op, Value stored) const {
    auto rank = PartAxis(tile::shapeOf(stored.getType()).size());
    if (rank == 0)
      return {wholeValue};
    SmallVector<PartAxis> axes;
    for (PartAxis axis = std::max(rank - 2, 0); axis < rank; ++axis)
      axes.push_back(axis);
    if (byColumns)
      std::reverse(axes.begin(), axes.end());
    for (PartAxis axis = rank - 3; axis >= 0; --axis)
      axes.push_back(axis);
    bool isBlock = isa<tile::DescriptorStoreOp, tile::DescriptorReduceOp>(op);
    llvm::erase_if(axes, [&](PartAxis axis) {
      return !parts.canDivide(stored.getType(), axis) ||
             (isBlock && !parts.canDivideBlock(op->getOperand(0), stored.getType(), axis));
    });
    return axes;
  }

  std::optional<Indivisible> wantShare(Operation *op, Value stored, PartAxis axis) {
    for (Value operand : op->getOperands()) {
      bool isTensor = isa<RankedTensorType>(operand.getType());
      if (std::optional<Indivisible> problem = parts.want(operand, isTensor ? axis : wholeValue))
        return problem;
    }
    return std::nullopt;
  }

  bool byColumns, isAnyDivided = false;
};

/// Whether products keep more rows for a group of four warps if their columns are divided.
bool prefersColumns(func::FuncOp kernel, unsigned blocks) {
  constexpr int64_t rowsOfGroup = 64;
  bool any = false, all = true;
  kernel.walk([&](tile::DotOp dot) {
    ArrayRef<int64_t> shape = tile::shapeOf(dot.getType()).take_back(2);
    any |= shape[0] / blocks < rowsOfGroup;
    all &= shape[1] / blocks >= rowsOfGroup;
  });
  return any && all;
}

struct SplitProgramsPass : PassWrapper<SplitProgramsPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(SplitProgramsPass)
  StringRef getArgument() const override { return "kiln-split-programs"; }
  StringRef getDescription() const override {
    return "Divide program instances among the blocks of a cluster";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, scf::SCFDialect, tile::TileDialect>();
  }
  void runOnOperation() override {
    func::FuncOp kernel = getOperation();
    auto asked = kernel->getAttrOfType<IntegerAttr>(tile::TileDialect::numCtasAttr);
    if (kernel.isDeclaration() || !asked || asked.getInt() == 1)
      return;
    std::optional<Indivisible> reason = splitProgram(kernel, unsigned(asked.getInt()));
    if (!reason)
      return;
    emitWarning(reason->place) << "num_ctas = " << asked.getInt()
                               << " is not used: " << reason->text;
    kernel->setAttr(tile::TileDialect::numCtasAttr, Builder(kernel).getI32IntegerAttr(1));
  }
};

} // namespace

std::optional<Indivisible> splitProgram(func::FuncOp kernel, unsigned blocks) {
  if (std::optional<Indivisible> reason = findCollective(kernel))
    return reason;
  bool byColumns = prefersColumns(kernel, blocks);
  Divider divider(kernel, blocks, byColumns);
  if (divider.reason) {
    Divider other(kernel, blocks, !byColumns);
    if (other.reason)
      return divider.reason;
    divider = std::move(other);
  }
  rewriteForBlock(kernel, blocks, divider.parts, divider.shares);
  return std::nullopt;
}

std::unique_ptr<Pass> createSplitProgramsPass() { return std::make_unique<SplitProgramsPass>(); }

void registerSplitProgramsPass() { PassRegistration<SplitProgramsPass>(); }

} // namespace kiln
