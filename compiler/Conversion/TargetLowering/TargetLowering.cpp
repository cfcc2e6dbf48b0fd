// What targets do not have.

#include "compiler/Conversion/TargetLowering/TargetLowering.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;

namespace kiln {

TargetLowering::~TargetLowering() = default;

/// What only targets have whose TargetInfo, `lanesOfRow`, `swapsLanes` or `totalsToLastLane` says
/// so.
static void expectNever() {
  llvm_unreachable("expected a target that has this, by its TargetInfo");
}
void TargetLowering::copyAsync(OpBuilder &, Location, Value, Value, unsigned, Value, Value) const {
  expectNever();
}
std::pair<Value, Value> TargetLowering::swapLanes(OpBuilder &, Location, Value, Value,
                                                  unsigned) const {
  expectNever();
  return {};
}
Value TargetLowering::shiftInRow(OpBuilder &, Location, Value, Value, unsigned, bool) const {
  expectNever();
  return {};
}
Value TargetLowering::lastBefore(OpBuilder &, Location, Value, unsigned) const {
  expectNever();
  return {};
}
Value TargetLowering::ofLastLane(OpBuilder &, Location, Value) const {
  expectNever();
  return {};
}
Value TargetLowering::makeBuffer(OpBuilder &, Location, Value, Value) const {
  expectNever();
  return {};
}
Value TargetLowering::loadBuffer(OpBuilder &, Location, Type, Value, Value, tile::CacheModifier,
                                 tile::EvictionPolicy) const {
  expectNever();
  return {};
}
void TargetLowering::storeBuffer(OpBuilder &, Location, Value, Value, Value, tile::CacheModifier,
                                 tile::EvictionPolicy) const {
  expectNever();
}
Value TargetLowering::reduceBuffer(OpBuilder &, Location, tile::AtomicKind, Value, Value, Value,
                                   tile::MemoryScope) const {
  expectNever();
  return {};
}
void TargetLowering::commitCopies(OpBuilder &, Location) const { expectNever(); }
void TargetLowering::waitForCopies(OpBuilder &, Location, unsigned) const { expectNever(); }
Value TargetLowering::warpNumber(OpBuilder &, Location) const {
  expectNever();
  return {};
}
void TargetLowering::copyByWarp(OpBuilder &, Location, Value, Value, Value) const { expectNever(); }
void TargetLowering::copyBufferByWarp(OpBuilder &, Location, Value, Value, Value) const {
  expectNever();
}
SmallVector<Value> TargetLowering::loadMatrices(OpBuilder &, Location, Value, unsigned,
                                                bool) const {
  expectNever();
  return {};
}
Value TargetLowering::readTransposed(OpBuilder &, Location, Type, Value) const {
  expectNever();
  return {};
}
void TargetLowering::barrierOfAll(OpBuilder &, Location, unsigned) const { expectNever(); }
void TargetLowering::waitForStores(OpBuilder &, Location) const { expectNever(); }
void TargetLowering::warpBarrier(OpBuilder &, Location) const { expectNever(); }
void TargetLowering::arrive(OpBuilder &, Location, Value) const { expectNever(); }
void TargetLowering::initMBarrier(OpBuilder &, Location, Value, unsigned) const { expectNever(); }
void TargetLowering::invalidateMBarrier(OpBuilder &, Location, Value) const { expectNever(); }
void TargetLowering::fenceMBarriers(OpBuilder &, Location) const { expectNever(); }
void TargetLowering::announceBytes(OpBuilder &, Location, Value, int64_t) const { expectNever(); }
void TargetLowering::copyBox(OpBuilder &, Location, Value, Value, ValueRange, Value,
                             unsigned) const {
  expectNever();
}
Value TargetLowering::clusterRank(OpBuilder &, Location) const {
  expectNever();
  return {};
}
Value TargetLowering::addressInBlock(OpBuilder &, Location, Value, Value) const {
  expectNever();
  return {};
}
void TargetLowering::arriveAtCluster(OpBuilder &, Location) const { expectNever(); }
void TargetLowering::waitForCluster(OpBuilder &, Location) const { expectNever(); }
void TargetLowering::copyBoxBack(OpBuilder &, Location, Value, Value, ValueRange,
                                 std::optional<tile::AtomicKind>) const {
  expectNever();
}
void TargetLowering::waitForCopiesBack(OpBuilder &, Location, bool) const { expectNever(); }
void TargetLowering::writeMapField(OpBuilder &, Location, Value, MapField, unsigned, Value) const {
  expectNever();
}
unsigned TargetLowering::mapElement(Type, bool) const {
  expectNever();
  return 0;
}
void TargetLowering::acquireMap(OpBuilder &, Location, Value) const { expectNever(); }
void TargetLowering::waitForPhase(OpBuilder &, Location, Value, Value) const { expectNever(); }
void TargetLowering::fenceForEngine(OpBuilder &, Location) const { expectNever(); }
void TargetLowering::setRegisters(OpBuilder &, Location, unsigned, bool) const { expectNever(); }
void TargetLowering::fenceForUnits(OpBuilder &, Location) const { expectNever(); }
void TargetLowering::commitProducts(OpBuilder &, Location) const { expectNever(); }

static LogicalResult refuse(Operation *op, const TargetInfo &target) {
  return op->emitError() << "'" << op->getName() << "' is not supported on " << target.name;
}
LogicalResult TargetLowering::expandReduce(tilegpu::GlobalReduceOp op, OpBuilder &) const {
  return refuse(op, info);
}
LogicalResult TargetLowering::expandWgmma(tilegpu::WgmmaOp op, OpBuilder &) const {
  return refuse(op, info);
}
LogicalResult TargetLowering::expandWgmmaWait(tilegpu::WgmmaWaitOp op, OpBuilder &) const {
  return refuse(op, info);
}

LogicalResult TargetLowering::expandCopy(tilegpu::GlobalCopyOp op, OpBuilder &) const {
  return refuse(op, info);
}
LogicalResult TargetLowering::expandCopy(NVVM::CpAsyncOp op, OpBuilder &) const {
  return refuse(op, info);
}
LogicalResult TargetLowering::expandCopy(tilegpu::WarpCopyOp op, OpBuilder &) const {
  return refuse(op, info);
}
LogicalResult TargetLowering::expandCopy(tilegpu::WarpBufferCopyOp op, OpBuilder &) const {
  return refuse(op, info);
}

LogicalResult TargetLowering::expandClaim(tilegpu::ClaimMapsOp op, OpBuilder &) const {
  return refuse(op, info);
}
LogicalResult TargetLowering::expandRelease(tilegpu::ReleaseMapsOp op, OpBuilder &) const {
  return refuse(op, info);
}
LogicalResult TargetLowering::expandPublish(tilegpu::PublishMapOp op, OpBuilder &) const {
  return refuse(op, info);
}

LogicalResult TargetLowering::expandPhaseWait(NVVM::MBarrierTryWaitParityOp op, OpBuilder &) const {
  return refuse(op, info);
}

} // namespace kiln
