// AMD GPUs: what the shared lowering asks, in ROCDL operations; and what becomes of target
// operations.

#ifndef KILN_COMPILER_CONVERSION_TILEGPUTOROCDL_ROCDLLOWERING_H
#define KILN_COMPILER_CONVERSION_TILEGPUTOROCDL_ROCDLLOWERING_H

#include "compiler/Conversion/TargetLowering/TargetLowering.h"

namespace kiln {

std::unique_ptr<TargetLowering> makeROCDLLowering(const TargetInfo &info);

//--- Buffers (TargetLowering::makeBuffer, loadBuffer, storeBuffer, reduceBuffer) ---
mlir::Value makeBufferResource(mlir::OpBuilder &b, mlir::Location loc, mlir::Value base,
                               mlir::Value bytes, const TargetInfo &info);
mlir::Value loadFromBuffer(mlir::OpBuilder &b, mlir::Location loc, mlir::Type type,
                           mlir::Value buffer, mlir::Value offset, int32_t bits,
                           bool bypassesCaches);
void storeToBuffer(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value, mlir::Value buffer,
                   mlir::Value offset, int32_t bits);
mlir::Value reduceInBuffer(mlir::OpBuilder &b, mlir::Location loc, tile::AtomicKind kind,
                           mlir::Value value, mlir::Value buffer, mlir::Value offset, int32_t bits);
/// What an atomic operation's instruction says of its scope, within the device.
int32_t scopeBits(const TargetInfo &info, tile::MemoryScope scope);
/// What an access's instruction says of caches.
int32_t cacheBits(const TargetInfo &info, bool isStore, tile::CacheModifier cache,
                  tile::EvictionPolicy evict);

/// A predicated load reads zeros of the module's where its predicate is false; a predicated store
/// becomes a branch around a plain one.
mlir::LogicalResult expandGlobalLoad(tilegpu::GlobalLoadOp op, mlir::OpBuilder &b);
mlir::LogicalResult expandGlobalStore(tilegpu::GlobalStoreOp op, mlir::OpBuilder &b);
/// The same of an addition: an atomic of the value, of which `annotate` says more.
mlir::LogicalResult expandGlobalReduce(tilegpu::GlobalReduceOp op, llvm::StringRef scope,
                                       llvm::function_ref<void(mlir::LLVM::AtomicRMWOp)> annotate,
                                       mlir::OpBuilder &b);

/// A copy to shared memory that LLVM does not know of.
mlir::LogicalResult expandWarpCopy(tilegpu::WarpCopyOp op, mlir::OpBuilder &b);
mlir::LogicalResult expandWarpCopy(tilegpu::WarpBufferCopyOp op, mlir::OpBuilder &b);
/// Operand of s_waitcnt: at most so many accesses to global memory are in flight, whatever else is.
int32_t waitForLoads(unsigned pending);
/// 16 bytes of zeros that the module has.
mlir::Value zerosOfModule(mlir::Operation *op, mlir::OpBuilder &b);

/// A message becomes a record in the runtime's buffer; one that fails ends its wave.
mlir::LogicalResult expandPrintToRecord(tilegpu::PrintOp op, mlir::OpBuilder &b);
mlir::LogicalResult expandFailToRecord(tilegpu::FailOp op, mlir::OpBuilder &b);

/// Splits the block after `op`: the builder stands in a new block that runs only if `predicate`;
/// what follows `op` continues in the block returned.
mlir::Block *branchAround(mlir::Operation *op, mlir::Value predicate, mlir::OpBuilder &b);

} // namespace kiln

#endif
