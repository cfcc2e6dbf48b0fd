#include "compiler/Dialect/TileGPU/Transforms/Rings.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace kiln {

//===-- numbers of slots
//---------------------------------------------------------------------------===//

static Value constant(OpBuilder &b, Location loc, int64_t value) {
  return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(int32_t(value)));
}

Value numberAfter(OpBuilder &b, Location loc, Value slot, unsigned slots, Value &isEnd) {
  Value more = arith::AddIOp::create(b, loc, slot, constant(b, loc, 1));
  isEnd = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, more, constant(b, loc, slots));
  return arith::SelectOp::create(b, loc, isEnd, constant(b, loc, 0), more);
}

RingState stateAfter(OpBuilder &b, Location loc, RingState state, unsigned slots) {
  Value isEnd, slot = numberAfter(b, loc, state.slot, slots, isEnd);
  Value turn = arith::ExtUIOp::create(b, loc, state.phase.getType(), isEnd);
  return {slot, arith::XOrIOp::create(b, loc, state.phase, turn)};
}

Value numberBefore(OpBuilder &b, Location loc, Value slot, unsigned slots) {
  Value isFirst =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, slot, constant(b, loc, 0));
  Value less = arith::SubIOp::create(b, loc, slot, constant(b, loc, 1));
  return arith::SelectOp::create(b, loc, isFirst, constant(b, loc, slots - 1), less);
}

//===-- readers
//------------------------------------------------------------------------------------===//

Operation *firstReader(const StagedLoads &staged) {
  Operation *reader = nullptr;
  for (const StagedLoad &load : staged.loads)
    for (Operation *user : load.buffer->getUsers())
      if (user != load.store && (!reader || user->isBeforeInBlock(reader)))
        reader = user;
  return reader;
}

void eraseFences(RewriterBase &rewriter, scf::ForOp loop, const StagedLoads &staged) {
  auto isCopied = [&](tilegpu::SharedStoreOp store) {
    return llvm::any_of(staged.loads, [&](const StagedLoad &load) { return load.store == store; });
  };
  if (!llvm::all_of(loop.getBody()->getOps<tilegpu::SharedStoreOp>(), isCopied))
    return;
  for (auto fence : llvm::make_early_inc_range(loop.getBody()->getOps<tilegpu::ProxyFenceOp>()))
    rewriter.eraseOp(fence);
}

void replaceBySlots(RewriterBase &rewriter, const StagedLoads &staged, Operation *arrival,
                    ValueRange rings, Value number) {
  for (auto [load, ring] : llvm::zip(staged.loads, rings)) {
    rewriter.setInsertionPointAfter(arrival);
    Value slot = tilegpu::SlotOp::create(rewriter, load.load->getLoc(), ring, number);
    rewriter.eraseOp(load.store);
    rewriter.replaceOp(load.buffer, slot);
    for (tile::TransOp trans : llvm::reverse(load.transpositions))
      rewriter.eraseOp(trans);
    rewriter.eraseOp(load.load);
  }
}

//===-- room
//---------------------------------------------------------------------------------------===//

int64_t RingBudget::slotBytes(const StagedLoads &staged) {
  int64_t bytes = 0;
  for (const StagedLoad &load : staged.loads)
    bytes += tilegpu::AllocOp(load.buffer).getType().getBytes();
  return bytes;
}

RingPlan RingBudget::planFor(scf::ForOp loop, const StagedLoads &staged, const DotsInFlight &flight,
                             int64_t replacedBytes, Operation *life) {
  constexpr int64_t mbarrierBytes = 256;
  int64_t slot = slotBytes(staged);
  int64_t beside = bytesBeside(loop, life) - replacedBytes + mbarrierBytes;
  int64_t room = (target.maxSharedBytes - beside) / slot;
  RingPlan plan;
  plan.stages = plan.slots = std::min(wishedStages(loop), room);
  SmallVector<tilegpu::DotOp> dots(loop.getBody()->getOps<tilegpu::DotOp>());
  // Registers of addresses and masks beside the accumulators: the copy engine wants next to none.
  bool onlyBlocks =
      llvm::all_of(staged.loads, [](const StagedLoad &load) { return load.isBlock(); });
  int64_t registers = onlyBlocks ? 24 : 64;
  for (tilegpu::DotOp dot : dots)
    registers += registersOf(dot);
  auto blocksWithSlots = [&](int64_t slots) {
    return unsigned(blocksWith(beside + slots * slot, registers));
  };
  plan.blocks = blocksWithSlots(plan.slots);
  // Of programs that walk over tiles there are rarely more than processors.
  bool walksOverTiles = life != loop;
  if (flight.any() && plan.slots < room &&
      (walksOverTiles || blocksWithSlots(plan.slots + 1) == plan.blocks))
    ++plan.slots;
  return plan;
}

int64_t RingBudget::wishedStages(scf::ForOp loop) {
  for (Operation *op : {loop.getOperation(), kernel.getOperation()})
    if (auto stages = op->getAttrOfType<IntegerAttr>(tile::TileDialect::numStagesAttr))
      return stages.getInt();
  return 1;
}

/// Shared memory that is in use while the ring is there, buffers' first slots included. Scratch in
/// the loop is there all the time, that around it one after the other.
int64_t RingBudget::bytesBeside(scf::ForOp loop, Operation *life) {
  int64_t buffers = 0, inLoop = 0, around = 0;
  kernel.walk([&](tilegpu::AllocOp alloc) { buffers += alloc.getType().getBytes(); });
  life->walk([&](tile::DescriptorStoreOp store) {
    tile::DescriptorType type = store.getDescriptor().getType();
    around = std::max(around, type.getBlockType().getNumElements() * type.getElementBytes());
  });
  life->walk([&](tilegpu::ScratchOpInterface op) {
    int64_t bytes = llvm::alignTo(op.getScratchBytes(target), 128);
    if (loop->isAncestor(op))
      inLoop += bytes;
    else
      around = std::max(around, bytes);
  });
  return buffers + std::max(inLoop, around);
}

/// Blocks that a processor can hold, by shared memory and by registers of a thread.
int64_t RingBudget::blocksWith(int64_t sharedBytes, int64_t registers) {
  // A processor's registers (CUDA C++ Programming Guide, "Compute Capabilities").
  constexpr int64_t allRegisters = 65536;
  int64_t threads = target.threadsPerBlock(tilegpu::numWarpsOf(kernel));
  return std::min(target.maxSharedBytes / std::max<int64_t>(1, sharedBytes),
                  allRegisters / (threads * registers));
}

} // namespace kiln
