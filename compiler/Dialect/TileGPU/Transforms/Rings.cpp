#include "compiler/Dialect/TileGPU/Transforms/Rings.h"

#include "compiler/Dialect/TileGPU/Transforms/RegisterEstimate.h"
#include "compiler/Dialect/TileGPU/Transforms/StoragePlan.h"
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

SmallVector<Operation *> readersOf(const StagedLoad &load) {
  SmallVector<Operation *> readers = usersOf(load.buffer);
  llvm::erase(readers, tilegpu::SharedStoreOp(load.store));
  return readers;
}

Operation *firstReader(ArrayRef<StagedLoad> loads) {
  Operation *first = nullptr;
  for (const StagedLoad &load : loads)
    for (Operation *reader : readersOf(load))
      if (!first || reader->isBeforeInBlock(first))
        first = reader;
  return first;
}

void eraseFences(RewriterBase &rewriter, scf::ForOp loop, ArrayRef<StagedLoad> loads) {
  auto isCopied = [&](tilegpu::SharedStoreOp store) {
    return llvm::any_of(loads, [&](const StagedLoad &load) { return load.store == store; });
  };
  bool isUnseen = false; ///< whether threads have stored behind the last fence
  auto go = [&](bool erases) {
    for (Operation &op : llvm::make_early_inc_range(*loop.getBody())) {
      if (isa<tilegpu::ProxyFenceOp>(op)) {
        if (erases && !isUnseen)
          rewriter.eraseOp(&op);
        isUnseen = false;
        continue;
      }
      op.walk([&](tilegpu::SharedStoreOp store) { isUnseen |= !isCopied(store); });
    }
  };
  // The second time with what the iteration before has stored.
  go(/*erases=*/false);
  go(/*erases=*/true);
}

/// Transpositions of the buffer come behind `slot`, each behind what it transposes.
static void moveTranspositions(RewriterBase &rewriter, Value buffer, Operation *slot) {
  for (Operation *user : buffer.getUsers())
    if (auto trans = dyn_cast<tilegpu::TransBufferOp>(user);
        trans && trans->isBeforeInBlock(slot)) {
      rewriter.moveOpAfter(trans, slot);
      moveTranspositions(rewriter, trans, trans);
    }
}

void replaceBySlots(RewriterBase &rewriter, ArrayRef<StagedLoad> loads, Operation *arrival,
                    ValueRange rings, Value number) {
  for (auto [load, ring] : llvm::zip_equal(loads, rings)) {
    rewriter.setInsertionPointAfter(arrival);
    Value slot = tilegpu::SlotOp::create(rewriter, load.load->getLoc(), ring, number);
    rewriter.eraseOp(load.store);
    moveTranspositions(rewriter, load.buffer->getResult(0), slot.getDefiningOp());
    rewriter.replaceOp(load.buffer, slot);
    for (tile::TransOp trans : llvm::reverse(load.transpositions))
      rewriter.eraseOp(trans);
    rewriter.eraseOp(load.load);
  }
}

//===-- room
//---------------------------------------------------------------------------------------===//

void RingPlan::fillOnce(scf::ForOp loop) {
  std::optional<APInt> times = loop.getStaticTripCount();
  if (!times || times->ult(2) || times->ugt(stages))
    return;
  slots = unsigned(times->getZExtValue());
  stages = slots + 1;
}

SmallVector<Operation *> RingBudget::buffersOf(const StagedLoads &staged) {
  return llvm::map_to_vector(staged.loads, [](const StagedLoad &load) -> Operation * {
    return tilegpu::AllocOp(load.buffer);
  });
}

/// Whether threads compute on a dot's result in the loop, as attention does. Meanwhile the units
/// stand idle, unless another block keeps them busy.
static bool worksOnProducts(scf::ForOp loop) {
  return llvm::any_of(loop.getBody()->getOps<tilegpu::DotOp>(), [](tilegpu::DotOp dot) {
    return !llvm::all_of(dot->getUsers(), llvm::IsaPred<scf::YieldOp>);
  });
}

/// Operands that the loop does not change, in bytes, where threads do not have registers for them
/// beside its `registers`: they will be read from shared memory (kiln-share-buffers).
static int64_t bytesOfOperands(scf::ForOp loop, int64_t registers) {
  llvm::SmallSetVector<Value, 4> operands;
  for (auto dot : loop.getBody()->getOps<tilegpu::DotOp>())
    for (Value operand : {dot.getA(), dot.getB()})
      if (isa<RankedTensorType>(operand.getType()) && loop.isDefinedOutsideOfLoop(operand))
        operands.insert(operand);
  int64_t bytes = 0;
  for (Value operand : operands) {
    auto type = cast<RankedTensorType>(operand.getType());
    registers += registersOf(operand);
    bytes += type.getNumElements() * tilegpu::storageBits(type.getElementType()) / 8;
  }
  return registers > mostRegisters ? bytes : 0;
}

RingPlan RingBudget::planFor(scf::ForOp loop, const StagedLoads &staged, const DotsInFlight &flight,
                             ArrayRef<Operation *> replaced, Operation *life) {
  StoragePlan storage(kernel, target);
  auto bytesWith = [&](unsigned slots) {
    return storage.bytesWith(replaced, slotBytes(staged), slots, life);
  };
  unsigned wished = staged.loads.empty() ? 1 : wishedStages(loop), room = 0;
  while (room <= wished && bytesWith(room + 1) <= int64_t(target.maxSharedBytes))
    ++room;
  int64_t registers = std::min(registersOfAddresses(staged) + registersOfDots(loop), mostRegisters);
  int64_t operands = bytesOfOperands(loop, registers);
  auto blocksWith = [&](unsigned slots) {
    return this->blocksWith(bytesWith(slots) + operands, registers);
  };
  RingPlan plan;
  plan.stages = std::min(wished, room);
  // Of programs that walk over tiles there are rarely more than processors.
  bool walksOverTiles = life != loop;
  // Copies two iterations ahead are in time, and a second block brings more than a fourth stage.
  // Where indices are loaded ahead of the copies, these are one of the two.
  const unsigned stagesInTime = staged.isByIndex() ? 2 : 3;
  if (!walksOverTiles && worksOnProducts(loop) && blocksWith(stagesInTime) > 1)
    while (plan.stages > stagesInTime && blocksWith(plan.stages) < 2)
      --plan.stages;
  // With fewer warps than a processor has schedulers, one more block brings more than one more copy
  // in flight.
  if (!walksOverTiles && !flight.any() && plan.stages > stagesInTime &&
      tilegpu::numWarpsOf(kernel) < schedulers &&
      blocksWith(plan.stages - 1) > blocksWith(plan.stages))
    --plan.stages;
  plan.slots = plan.stages;
  plan.blocks = unsigned(blocksWith(plan.slots));
  if (flight.any() && plan.slots < room &&
      (walksOverTiles || blocksWith(plan.slots + 1) == plan.blocks))
    ++plan.slots;
  return plan;
}

/// Whether all products have so few rows or columns that they take less time than their operands.
static bool areThin(scf::ForOp loop) {
  constexpr int64_t fewRows = 32;
  return llvm::all_of(loop.getBody()->getOps<tilegpu::DotOp>(), [](tilegpu::DotOp dot) {
    return llvm::any_of(dot.getType().getShape().take_back(2),
                        [](int64_t extent) { return extent <= fewRows; });
  });
}

void RingBudget::tryToRefill(RingPlan &plan, scf::ForOp loop, const StagedLoads &staged) {
  // From there on others work while a warp waits, the earlier if it waits longer, for the only
  // slot. Units that read the slots by themselves wait for nobody but their own group of warps.
  bool readBuffers = llvm::any_of(loop.getBody()->getOps<tilegpu::DotOp>(),
                                  [](tilegpu::DotOp dot) { return dot.readsBuffers(); });
  const unsigned fewWarps = readBuffers ? schedulers : (plan.stages > 2 ? 4 : 3) * schedulers;
  if (plan.blocks * tilegpu::numWarpsOf(kernel) > fewWarps ||
      !(worksOnProducts(loop) || areThin(loop)))
    return;
  int64_t ofLoop = std::min(registersOfAddresses(staged) + registersOfDots(loop), mostRegisters);
  // ptxas takes about half as many again as the estimate.
  int64_t registers =
      std::clamp<int64_t>(estimateRegisters(kernel, target) * 3 / 2, ofLoop, mostRegisters);
  int64_t bytes = StoragePlan(kernel, target)
                      .bytesWith(buffersOf(staged), slotBytes(staged), plan.stages - 1, loop);
  auto blocks = unsigned(blocksWith(bytes + bytesOfOperands(loop, ofLoop), registers));
  if (blocks <= std::max(plan.blocks, 1u))
    return;
  plan.slots = plan.stages - 1;
  plan.isRefilled = true;
  plan.blocks = blocks;
}

unsigned RingBudget::wishedStages(scf::ForOp loop) {
  for (Operation *op : {loop.getOperation(), kernel.getOperation()})
    if (auto stages = op->getAttrOfType<IntegerAttr>(tile::TileDialect::numStagesAttr))
      return stages.getInt();
  return 1;
}

/// Of each ring, that of two mbarriers for each slot too.
SmallVector<int64_t> RingBudget::slotBytes(const StagedLoads &staged) {
  constexpr int64_t ofMBarriers = 16;
  SmallVector<int64_t> bytes(staged.loads.size(), ofMBarriers);
  for (const StagedLoad &load : staged.loads)
    bytes.push_back(tilegpu::AllocOp(load.buffer).getType().getBytes());
  return bytes;
}

/// By shared memory and by registers of a thread.
int64_t RingBudget::blocksWith(int64_t sharedBytes, int64_t registers) {
  constexpr int64_t allRegisters = 65536;
  int64_t threads = target.threadsPerBlock(tilegpu::numWarpsOf(kernel));
  return std::min(StoragePlan::blocksWith(target, sharedBytes),
                  allRegisters / (threads * registers));
}

} // namespace kiln
