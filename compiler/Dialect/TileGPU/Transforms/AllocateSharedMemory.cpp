// Shared-memory allocation: offsets for buffers and scratch.
//
// A buffer lives from its allocation to the last use of any value that may be it (BufferAliases.h);
// a use inside a loop that the allocation is outside of keeps it alive to the loop's end. Scratch
// lives as long as its operation. The intervals are placed greedily, largest first, each at the
// lowest offset free over its life: not optimal in general, but within a few percent on such
// interval graphs, and predictable. Where that is more than the target has, the largest layout
// conversions are done in slices (SlicedExchange.h).

#include "compiler/Dialect/TileGPU/Transforms/BufferAliases.h"
#include "compiler/Dialect/TileGPU/Transforms/Passes.h"
#include "compiler/Layout/SlicedExchange.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace kiln {
namespace {

/// Storage that one operation asks for, alive over [begin, end] in the order of operations.
struct Storage {
  Operation *op;
  int64_t bytes;
  unsigned begin, end;
  int64_t offset = -1;
};

class Allocator {
public:
  Allocator(func::FuncOp kernel, const TargetInfo &target) : kernel(kernel), target(target) {
    unsigned next = 0;
    number(kernel, next);
  }

  LogicalResult run() {
    collect();
    int64_t total = placeApart();
    if (total > int64_t(target.maxSharedBytes) / 2)
      total = place();
    while (total > int64_t(target.maxSharedBytes) && sliceLargest())
      total = place();
    Builder builder(kernel.getContext());
    // The total is there for whoever asks why it failed.
    kernel->setAttr(tilegpu::TileGPUDialect::sharedBytesAttr, builder.getI32IntegerAttr(total));
    if (total > int64_t(target.maxSharedBytes))
      return report(total);
    for (const Storage &storage : storages)
      storage.op->setAttr(tilegpu::TileGPUDialect::offsetAttr,
                          builder.getI32IntegerAttr(storage.offset));
    return success();
  }

private:
  /// Numbers operations so that a region's lie between its operation's first and last number.
  void number(Operation *op, unsigned &next) {
    first[op] = next++;
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Operation &inner : block)
          number(&inner, next);
    last[op] = next++;
  }

  void collect() {
    collectBuffers();
    kernel.walk([&](tilegpu::ScratchOpInterface op) {
      if (int64_t bytes = op.getScratchBytes(target))
        storages.push_back({op, bytes, first[op], last[op]});
    });
  }

  //===-- life of a buffer
  //-----------------------------------------------------------------------===//

  /// From the allocation to the last use of any value that may be it.
  void collectBuffers() {
    BufferAliases aliases(kernel);
    llvm::MapVector<Operation *, Storage> buffers;
    kernel.walk([&](tilegpu::AllocOp alloc) {
      buffers[alloc] = {alloc, alloc.getType().getBytes(), first[alloc], first[alloc]};
    });
    kernel.walk([&](Operation *user) {
      for (Value operand : user->getOperands())
        if (isa<tilegpu::BufferType>(operand.getType()))
          for (tilegpu::AllocOp alloc : aliases.of(operand))
            extend(buffers[alloc], user);
    });
    for (auto &[alloc, storage] : buffers)
      storages.push_back(storage);
  }

  /// A use in a loop that the allocation is outside of keeps the buffer to the loop's end. One that
  /// comes before the allocation in a loop around both is in the next iteration: all of the loop.
  void extend(Storage &storage, Operation *user) {
    Operation *outermost = user;
    for (Operation *op = user->getParentOp(); op; op = op->getParentOp()) {
      if (!isa<LoopLikeOpInterface>(op))
        continue;
      bool isAroundBoth = op->isProperAncestor(storage.op);
      if (!isAroundBoth || first[user] < first[storage.op])
        outermost = op;
      if (isAroundBoth)
        break;
    }
    storage.begin = std::min(storage.begin, first[outermost]);
    storage.end = std::max(storage.end, last[outermost]);
  }

  //===-- placement
  //------------------------------------------------------------------------------===//

  /// place(), with scratch in loops alive as long as the loop.
  int64_t placeApart() {
    SmallVector<Storage> tight = storages;
    for (Storage &storage : storages)
      if (auto loop = storage.op->getParentOfType<LoopLikeOpInterface>();
          loop && !isa<tilegpu::AllocOp>(storage.op)) {
        storage.begin = first[loop];
        storage.end = last[loop];
      }
    int64_t total = place();
    for (auto [storage, lived] : llvm::zip(storages, tight)) {
      storage.begin = lived.begin;
      storage.end = lived.end;
    }
    return total;
  }

  int64_t place() {
    SmallVector<Storage *> order;
    for (Storage &storage : storages)
      order.push_back(&storage);
    llvm::sort(order, [&](Storage *a, Storage *b) {
      return std::pair(-a->bytes, first[a->op]) < std::pair(-b->bytes, first[b->op]);
    });
    int64_t total = 0;
    SmallVector<Storage *> placed;
    for (Storage *storage : order) {
      storage->offset = lowestFree(*storage, placed);
      total = std::max(total, storage->offset + storage->bytes);
      placed.push_back(storage);
    }
    return total;
  }

  /// Halves the scratch of the layout conversion that has the most, of those whose tiles can go
  /// through it in twice as many slices; false if there is none.
  bool sliceLargest() {
    Storage *largest = nullptr;
    for (Storage &storage : storages)
      if (slicesOf(storage.op) < maxSlicesOf(storage.op) &&
          (!largest || storage.bytes > largest->bytes))
        largest = &storage;
    if (!largest)
      return false;
    Builder builder(kernel.getContext());
    largest->op->setAttr(tilegpu::TileGPUDialect::slicesAttr,
                         builder.getI32IntegerAttr(2 * slicesOf(largest->op)));
    largest->bytes /= 2;
    return true;
  }

  static int64_t slicesOf(Operation *op) {
    auto slices = op->getAttrOfType<IntegerAttr>(tilegpu::TileGPUDialect::slicesAttr);
    return slices ? slices.getInt() : 1;
  }

  static int64_t maxSlicesOf(Operation *op) {
    auto convert = dyn_cast<tilegpu::ConvertLayoutOp>(op);
    return convert ? maxSlices(tilegpu::layoutOf(convert.getSource()),
                               tilegpu::layoutOf(convert.getResult()))
                   : 1;
  }

  static int64_t lowestFree(const Storage &storage, ArrayRef<Storage *> placed) {
    // Where a swizzle's pattern begins; a row of banks, so that planned wavefronts hold; 16 bytes
    // is the widest access.
    int64_t alignment = storage.bytes >= 1024 && isa<tilegpu::AllocOp>(storage.op) ? 1024
                        : storage.bytes >= 128                                     ? 128
                                                                                   : 16;
    int64_t offset = 0;
    bool moved = true;
    while (moved) {
      moved = false;
      for (const Storage *other : placed) {
        bool together = storage.begin <= other->end && other->begin <= storage.end;
        bool overlap =
            offset < other->offset + other->bytes && other->offset < offset + storage.bytes;
        if (together && overlap) {
          offset = llvm::alignTo(other->offset + other->bytes, alignment);
          moved = true;
        }
      }
    }
    return offset;
  }

  LogicalResult report(int64_t total) {
    const Storage *largest = &storages.front();
    for (const Storage &storage : storages)
      if (storage.bytes > largest->bytes)
        largest = &storage;
    InFlightDiagnostic diagnostic = kernel.emitError("expected at most ")
                                    << target.maxSharedBytes << " bytes of shared memory on "
                                    << target.name << ", got " << total;
    diagnostic.attachNote(largest->op->getLoc())
        << "the largest part, " << largest->bytes << " bytes, is needed here";
    return diagnostic;
  }

  func::FuncOp kernel;
  const TargetInfo &target;
  DenseMap<Operation *, unsigned> first, last;
  SmallVector<Storage> storages;
};

struct AllocateSharedMemoryPass
    : PassWrapper<AllocateSharedMemoryPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(AllocateSharedMemoryPass)

  StringRef getArgument() const override { return "kiln-allocate-shared-memory"; }
  StringRef getDescription() const override { return "Give buffers and scratch their offsets"; }

  void runOnOperation() override {
    llvm::Expected<TargetInfo> target = tilegpu::targetOf(getOperation());
    if (!target) {
      getOperation().emitError(llvm::toString(target.takeError()));
      return signalPassFailure();
    }
    if (failed(Allocator(getOperation(), *target).run()))
      signalPassFailure();
  }
};

} // namespace

std::unique_ptr<Pass> createAllocateSharedMemoryPass() {
  return std::make_unique<AllocateSharedMemoryPass>();
}

void registerTileGPUPasses() {
  PassRegistration<AllocateSharedMemoryPass>();
  registerPass([] { return createStageOperandsPass(); });
  registerPass([] { return createSpecialiseWarpsPass(); });
  registerPass([] { return createPipelineLoopsPass(); });
  registerPass([] { return createDelayDotsPass(); });
  registerPass([] { return createCopyBlocksPass(); });
  registerPass([] { return createInsertBarriersPass(); });
  registerPass([] { return createVersionBarriersPass(); });
}

} // namespace kiln
