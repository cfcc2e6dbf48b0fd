#include "compiler/Dialect/TileGPU/Transforms/StoragePlan.h"
#include "compiler/Dialect/TileGPU/Transforms/BufferAliases.h"
#include "compiler/Dialect/TileGPU/Transforms/RegisterEstimate.h"
#include "compiler/Dialect/TileGPU/Transforms/StagedLoads.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace kiln {

StoragePlan::StoragePlan(func::FuncOp kernel, const TargetInfo &target)
    : kernel(kernel), target(&target) {
  unsigned next = 0;
  number(kernel, next);
  collectBuffers();
  kernel.walk([&](tilegpu::ScratchOpInterface op) {
    if (int64_t bytes = op.getScratchBytes(target))
      all.push_back({op, bytes, first[op], last[op], /*isBuffer=*/false, bytes});
  });
}

void StoragePlan::number(Operation *op, unsigned &next) {
  first[op] = next++;
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (Operation &inner : block)
        number(&inner, next);
  last[op] = next++;
}

//===-- life of a buffer
//---------------------------------------------------------------------------===//

/// From the allocation to the last use of any value that may be it.
void StoragePlan::collectBuffers() {
  BufferAliases aliases(kernel);
  llvm::MapVector<Operation *, Storage> buffers;
  kernel.walk([&](tilegpu::AllocOp alloc) {
    int64_t bytes = alloc.getType().getBytes();
    buffers[alloc] = {alloc,
                      bytes,
                      first[alloc],
                      first[alloc],
                      /*isBuffer=*/true,
                      alloc.getType().getSlotBytes()};
  });
  kernel.walk([&](Operation *user) {
    for (Value operand : user->getOperands())
      if (isa<tilegpu::BufferType>(operand.getType()))
        for (tilegpu::AllocOp alloc : aliases.of(operand))
          extend(buffers[alloc], user);
  });
  collectBlocks([&](tilegpu::AllocOp buffer, Operation *load) { extend(buffers[buffer], load); });
  for (auto &[alloc, storage] : buffers)
    all.push_back(storage);
}

/// The engine copies a block to the buffer that it is stored to, if any, where the load stands.
void StoragePlan::collectBlocks(llvm::function_ref<void(tilegpu::AllocOp, Operation *)> extend) {
  DenseSet<Operation *> staged;
  kernel.walk([&](tilegpu::SharedStoreOp store) {
    std::optional<StagedLoad> load = loadBehind(store);
    if (!load || !load->isBlock())
      return;
    staged.insert(load->load);
    extend(load->buffer, load->load);
  });
  auto addOwn = [&](Operation *op, tile::DescriptorType type) {
    int64_t bytes = type.getBlockType().getNumElements() * type.getElementBytes();
    all.push_back({op, bytes, first[op], last[op], /*isBuffer=*/true, bytes});
  };
  kernel.walk([&](tile::DescriptorLoadOp load) {
    if (!staged.contains(load))
      addOwn(load, load.getDescriptor().getType());
  });
  kernel.walk(
      [&](tile::DescriptorStoreOp store) { addOwn(store, store.getDescriptor().getType()); });
  kernel.walk(
      [&](tile::DescriptorReduceOp reduce) { addOwn(reduce, reduce.getDescriptor().getType()); });
}

/// A use in a loop that the allocation is outside of keeps the buffer to the loop's end. One that
/// comes before the allocation in a loop around both is in the next iteration: all of the loop.
void StoragePlan::extend(Storage &storage, Operation *user) {
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
//----------------------------------------------------------------------------------===//

Operation *innermostLoopOf(Operation *op) {
  auto loop = op->getParentOfType<LoopLikeOpInterface>();
  bool hasOthers =
      loop && loop->walk([&](LoopLikeOpInterface inner) {
                    return inner == loop ? WalkResult::advance() : WalkResult::interrupt();
                  })
                  .wasInterrupted();
  return hasOthers ? nullptr : loop.getOperation();
}

int64_t StoragePlan::place() {
  int64_t apart = placeApart();
  if (apart > int64_t(target->maxSharedBytes) / 2)
    return placeWithin(roomOfAsMany(placeTightly()));
  // From so many warps on others work while one waits at a barrier.
  constexpr int64_t fewWarps = 8;
  int64_t blocks = blocksWith(*target, apart);
  if (!target->asyncCopies || blocks * tilegpu::numWarpsOf(kernel) > fewWarps)
    return apart;
  int64_t more = blocksWith(*target, placeTightly());
  if (more > blocks) {
    // ptxas takes about half as many registers again.
    unsigned uncounted = estimateRegisters(kernel, *target) / 2;
    more = std::min<int64_t>(more, blocksByRegisters(kernel, *target, uncounted));
  }
  return more > blocks ? placeWithin(bytesOfShare(*target, more)) : placeApart();
}

/// What each of so many blocks takes of a processor of NVIDIA's beside its bytes (CUDA C++
/// Programming Guide, "Compute Capabilities").
static int64_t reservedBytes(const TargetInfo &target) {
  return target.matrix.mfmaGeneration || target.matrix.wmmaGeneration ? 0 : 1024;
}

int64_t StoragePlan::blocksWith(const TargetInfo &target, int64_t bytes) {
  int64_t reserved = reservedBytes(target);
  return (int64_t(target.maxSharedBytes) + reserved) / std::max<int64_t>(bytes + reserved, 1);
}

/// The most bytes with which a processor holds as many blocks as with `bytes`. RDNA's have the
/// memory of two that a block can have.
int64_t StoragePlan::roomOfAsMany(int64_t bytes) const {
  auto most = int64_t(target->maxSharedBytes);
  if (!target->matrix.wmmaGeneration)
    return bytesOfShare(*target, std::max<int64_t>(blocksWith(*target, bytes), 1));
  return std::min(most, 2 * most / std::max<int64_t>(2 * most / bytes, 1));
}

int64_t StoragePlan::blocksOf(func::FuncOp kernel, const TargetInfo &target, int uncounted) {
  return std::min<int64_t>(blocksWith(target, StoragePlan(kernel, target).place()),
                           blocksByRegisters(kernel, target, uncounted));
}

int64_t StoragePlan::bytesOfShare(const TargetInfo &target, int64_t blocks) {
  int64_t reserved = reservedBytes(target);
  return (int64_t(target.maxSharedBytes) + reserved) / blocks - reserved;
}

int64_t StoragePlan::bytesWith(ArrayRef<Operation *> replaced, ArrayRef<int64_t> slotBytes,
                               unsigned slots, Operation *life) const {
  StoragePlan other = *this;
  llvm::erase_if(other.all,
                 [&](const Storage &storage) { return llvm::is_contained(replaced, storage.op); });
  for (int64_t bytes : slotBytes)
    other.all.push_back(
        {life, slots * bytes, first.lookup(life), last.lookup(life), /*isBuffer=*/true, bytes});
  return other.place();
}

int64_t StoragePlan::placeApart() { return placeWithin(std::numeric_limits<int64_t>::max()); }

/// With scratch in innermost loops alive as long as the loop, smaller ones first, as far as there
/// is room.
int64_t StoragePlan::placeWithin(int64_t room) {
  SmallVector<Storage> tight = all;
  SmallVector<Storage *> scratch;
  for (Storage &storage : all)
    if (innermostLoopOf(storage.op) && !storage.isBuffer)
      scratch.push_back(&storage);
  llvm::sort(scratch, [](Storage *a, Storage *b) {
    return std::pair(a->bytes, a->begin) < std::pair(b->bytes, b->begin);
  });
  bool hasRoom = room == std::numeric_limits<int64_t>::max();
  for (Storage *storage : scratch) {
    Operation *loop = innermostLoopOf(storage->op);
    std::pair<unsigned, unsigned> life(storage->begin, storage->end);
    std::tie(storage->begin, storage->end) = std::pair(first[loop], last[loop]);
    if (!hasRoom && placeTightly() > room)
      std::tie(storage->begin, storage->end) = life;
  }
  int64_t total = placeTightly();
  for (auto [storage, lived] : llvm::zip(all, tight)) {
    storage.begin = lived.begin;
    storage.end = lived.end;
  }
  return total;
}

static int64_t lowestFree(const Storage &storage, ArrayRef<Storage *> placed) {
  // Where a swizzle's pattern begins, which is no larger than its slot; a row of banks, so that
  // planned wavefronts hold; 16 bytes is the widest access.
  int64_t most = storage.isBuffer ? 1024 : 128;
  int64_t alignment =
      storage.bytes < 128
          ? 16
          : std::clamp<int64_t>(llvm::bit_floor(uint64_t(storage.slotBytes)), 128, most);
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

int64_t StoragePlan::placeTightly() {
  SmallVector<Storage *> order;
  for (Storage &storage : all)
    order.push_back(&storage);
  llvm::sort(order, [&](Storage *a, Storage *b) {
    return std::tuple(-a->bytes, first[a->op], a) < std::tuple(-b->bytes, first[b->op], b);
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

} // namespace kiln
