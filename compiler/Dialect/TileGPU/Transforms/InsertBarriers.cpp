// Barriers between shared-memory accesses of different threads.
//
// The state is the set of accesses since the last barrier, each a range of offsets that was read or
// written. An access that meets an earlier one of another kind in a common range needs a barrier
// before it: read after write, write after read, write after write. States flow through
// structured control flow: branches join, and a loop's body is visited until the state at its
// entry, which its back edge feeds, no longer grows. Scalars are the same in all threads of a
// block, so a barrier in a branch or loop is reached by all or none.

#include "compiler/Dialect/TileGPU/TileGPU.h"
#include "compiler/Dialect/TileGPU/Transforms/Passes.h"
#include "compiler/Dialect/TileGPU/Transforms/SharedScratch.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace kiln {
namespace {

struct Access {
  int64_t begin, end; ///< bytes
  bool isWrite;
  bool meets(const Access &other) const {
    return (isWrite || other.isWrite) && begin < other.end && other.begin < end;
  }
  bool operator==(const Access &other) const {
    return begin == other.begin && end == other.end && isWrite == other.isWrite;
  }
};

/// Accesses since the last barrier.
struct Pending {
  SmallVector<Access> accesses;

  bool meets(ArrayRef<Access> next) const {
    return llvm::any_of(next, [&](const Access &a) {
      return llvm::any_of(accesses, [&](const Access &b) { return a.meets(b); });
    });
  }
  /// True if something was new.
  bool add(ArrayRef<Access> more) {
    bool grew = false;
    for (const Access &access : more)
      if (!llvm::is_contained(accesses, access)) {
        accesses.push_back(access);
        grew = true;
      }
    return grew;
  }
};

class BarrierInserter {
public:
  BarrierInserter(func::FuncOp kernel, const TargetInfo &target) : target(target) {
    Pending pending;
    visit(kernel.getBody(), pending);
  }

private:
  void visit(Region &region, Pending &pending) {
    for (Block &block : region)
      // Barriers are inserted before the operation in hand.
      for (Operation &op : block)
        visit(&op, pending);
  }

  void visit(Operation *op, Pending &pending) {
    if (isa<tilegpu::BarrierOp, tile::BarrierOp>(op)) {
      pending.accesses.clear();
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      Pending other = pending;
      visit(branch.getThenRegion(), pending);
      visit(branch.getElseRegion(), other);
      pending.add(other.accesses);
    } else if (isa<LoopLikeOpInterface>(op)) {
      visitLoop(op, pending);
    } else {
      visitAccesses(op, pending);
    }
  }

  void visitLoop(Operation *loop, Pending &entry) {
    Pending after;
    do {
      after = entry;
      for (Region &region : loop->getRegions())
        visit(region, after);
    } while (entry.add(after.accesses));
  }

  void visitAccesses(Operation *op, Pending &pending) {
    SmallVector<Access> accesses = accessesOf(op);
    if (accesses.empty())
      return;
    if (pending.meets(accesses)) {
      OpBuilder builder(op);
      tilegpu::BarrierOp::create(builder, op->getLoc());
      pending.accesses.clear();
    }
    if (isScratch(op)) {
      // Its own barrier lies between its writes and its reads.
      pending.accesses.clear();
      for (Access &access : accesses)
        access.isWrite = false;
    }
    pending.add(accesses);
  }

  bool isScratch(Operation *op) { return !isa<tilegpu::AllocOp>(op) && offsetOf(op); }

  static std::optional<int64_t> offsetOf(Operation *op) {
    auto attr = op->getAttrOfType<IntegerAttr>(tilegpu::TileGPUDialect::offsetAttr);
    return attr ? std::optional<int64_t>(attr.getInt()) : std::nullopt;
  }

  //===-- what an operation touches
  //--------------------------------------------------------------===//

  SmallVector<Access> accessesOf(Operation *op) {
    SmallVector<Access> result;
    if (auto store = dyn_cast<tilegpu::SharedStoreOp>(op))
      addBuffer(store.getBuffer(), /*isWrite=*/true, result);
    else if (auto load = dyn_cast<tilegpu::SharedLoadOp>(op))
      addBuffer(load.getBuffer(), /*isWrite=*/false, result);
    else if (auto copy = dyn_cast<tilegpu::CopyAsyncOp>(op))
      addBuffer(copy.getBuffer(), /*isWrite=*/true, result);
    else if (auto wait = dyn_cast<tilegpu::WaitOp>(op))
      // What this thread's copies brought becomes visible to others only by a barrier.
      for (Value buffer : wait.getBuffers())
        addBuffer(buffer, /*isWrite=*/true, result);
    else if (std::optional<int64_t> offset = isScratch(op) ? offsetOf(op) : std::nullopt)
      result.push_back({*offset, *offset + scratchBytes(op, target), /*isWrite=*/true});
    return result;
  }

  /// The ranges of all allocations that the value may name.
  void addBuffer(Value buffer, bool isWrite, SmallVectorImpl<Access> &result) {
    llvm::SetVector<Value> names;
    names.insert(buffer);
    for (size_t i = 0; i < names.size(); ++i) {
      if (auto alloc = names[i].getDefiningOp<tilegpu::AllocOp>()) {
        int64_t offset = offsetOf(alloc).value_or(0);
        result.push_back({offset, offset + alloc.getType().getBytes(), isWrite});
        continue;
      }
      SmallVector<Value> more;
      sources(names[i], more);
      names.insert(more.begin(), more.end());
    }
  }

  /// The values that may have become `value`.
  static void sources(Value value, SmallVectorImpl<Value> &result) {
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      if (auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp())) {
        result.push_back(loop.getTiedLoopInit(argument)->get());
        result.push_back(loop.getTiedLoopYieldedValue(argument)->get());
      }
      return;
    }
    auto opResult = cast<OpResult>(value);
    unsigned index = opResult.getResultNumber();
    if (auto wait = dyn_cast<tilegpu::WaitOp>(opResult.getOwner())) {
      result.push_back(wait.getBuffers()[index]);
    } else if (auto loop = dyn_cast<scf::ForOp>(opResult.getOwner())) {
      result.push_back(loop.getRegionIterArg(index));
      result.push_back(loop.getYieldedValues()[index]);
    } else if (auto branch = dyn_cast<scf::IfOp>(opResult.getOwner())) {
      result.push_back(branch.thenYield().getOperand(index));
      result.push_back(branch.elseYield().getOperand(index));
    }
  }

  const TargetInfo &target;
};

struct InsertBarriersPass : PassWrapper<InsertBarriersPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(InsertBarriersPass)

  StringRef getArgument() const override { return "kiln-insert-barriers"; }
  StringRef getDescription() const override {
    return "Put barriers between conflicting shared-memory accesses";
  }

  void runOnOperation() override {
    llvm::Expected<TargetInfo> target = tilegpu::targetOf(getOperation());
    if (!target) {
      getOperation().emitError(llvm::toString(target.takeError()));
      return signalPassFailure();
    }
    BarrierInserter(getOperation(), *target);
  }
};

} // namespace

std::unique_ptr<Pass> createInsertBarriersPass() { return std::make_unique<InsertBarriersPass>(); }

} // namespace kiln
