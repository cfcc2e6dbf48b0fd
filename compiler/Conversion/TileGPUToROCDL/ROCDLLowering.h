// AMD GPUs: what the shared lowering asks, in ROCDL operations; and branches for target operations.

#ifndef KILN_COMPILER_CONVERSION_TILEGPUTOROCDL_ROCDLLOWERING_H
#define KILN_COMPILER_CONVERSION_TILEGPUTOROCDL_ROCDLLOWERING_H

#include "compiler/Conversion/TileGPUToLLVM/TargetLowering.h"

namespace kiln {

std::unique_ptr<TargetLowering> makeROCDLLowering(const TargetInfo &info);

//--- Buffers (TargetLowering::makeBuffer, loadBuffer, storeBuffer) ---
mlir::Value makeBufferResource(mlir::OpBuilder &b, mlir::Location loc, mlir::Value base,
                               mlir::Value bytes, const TargetInfo &info);
mlir::Value loadFromBuffer(mlir::OpBuilder &b, mlir::Location loc, mlir::Type type,
                           mlir::Value buffer, mlir::Value offset, int32_t bits);
void storeToBuffer(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value, mlir::Value buffer,
                   mlir::Value offset, int32_t bits);
/// What an access's instruction says of caches.
int32_t cacheBits(const TargetInfo &info, bool isStore, tile::CacheModifier cache,
                  tile::EvictionPolicy evict);

/// A predicated access becomes a branch around a plain one.
mlir::LogicalResult expandLoadToBranch(tilegpu::GlobalLoadOp op, mlir::OpBuilder &b);
mlir::LogicalResult expandStoreToBranch(tilegpu::GlobalStoreOp op, mlir::OpBuilder &b);
/// The same of an addition: an atomic of the value, of which `annotate` says more.
mlir::LogicalResult expandReduceToBranch(tilegpu::GlobalReduceOp op, llvm::StringRef scope,
                                         llvm::function_ref<void(mlir::LLVM::AtomicRMWOp)> annotate,
                                         mlir::OpBuilder &b);
/// The buffer of messages, as runtime/hip_messages.h says it.
struct AMDMessageLayout {
  enum Kind : int64_t { Line = 1, Failure = 2, None = 3 };
  static constexpr int64_t headBytes = 64, recordBytes = (1 << 20) - headBytes;
};

/// A message becomes a record in the runtime's buffer; one that fails ends its wave.
mlir::LogicalResult expandPrintToRecord(tilegpu::PrintOp op, mlir::OpBuilder &b);
mlir::LogicalResult expandFailToRecord(tilegpu::FailOp op, mlir::OpBuilder &b);

/// Splits the block after `op`: the builder stands in a new block that runs only if `predicate`;
/// what follows `op` continues in the block returned, which has an argument if `otherwise` is
/// given.
mlir::Block *branchAround(mlir::Operation *op, mlir::Value predicate, mlir::Value otherwise,
                          mlir::OpBuilder &b);

} // namespace kiln

#endif
