// NVIDIA GPUs: what the shared lowering asks, in NVVM operations; and PTX text for target
// operations.

#ifndef KILN_COMPILER_CONVERSION_TILEGPUTONVVM_NVVMLOWERING_H
#define KILN_COMPILER_CONVERSION_TILEGPUTONVVM_NVVMLOWERING_H

#include "compiler/Conversion/TargetLowering/TargetLowering.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

namespace kiln {

std::unique_ptr<TargetLowering> makeNVVMLowering(const TargetInfo &info);

/// A predicated or modified access as one PTX instruction; a plain one as an LLVM load or store.
mlir::LogicalResult expandLoadToPTX(tilegpu::GlobalLoadOp op, mlir::OpBuilder &b);
mlir::LogicalResult expandStoreToPTX(tilegpu::GlobalStoreOp op, mlir::OpBuilder &b);
/// One `red`; an error where the target has none for this type and size.
mlir::LogicalResult expandReduceToPTX(tilegpu::GlobalReduceOp op, const TargetInfo &target,
                                      mlir::OpBuilder &b);
/// Calls of vprintf and __assertfail, which the driver provides (CUDA C++ Programming Guide,
/// "Formatted Output" and "Assertion").
mlir::LogicalResult expandPrintToCall(tilegpu::PrintOp op, mlir::OpBuilder &b);
mlir::LogicalResult expandFailToCall(tilegpu::FailOp op, mlir::OpBuilder &b);
/// A product of a warp group, and those that follow it, fence and all steps, as one assembly text:
/// nothing to do for those that follow. And a wait for products.
mlir::LogicalResult expandWgmmaToPTX(tilegpu::WgmmaOp op);
mlir::LogicalResult expandWgmmaWaitToPTX(tilegpu::WgmmaWaitOp op, mlir::OpBuilder &b);
/// Only whole pieces can pass by the first level of the cache.
mlir::NVVM::LoadCacheModifierKind cacheOfCopy(unsigned bytes);
/// A copy of some threads as one instruction under a predicate.
mlir::LogicalResult expandCopyToPTX(tilegpu::GlobalCopyOp op, mlir::OpBuilder &b);
/// A copy of all bytes or none with the choice as its operand; others stay what they are.
mlir::LogicalResult expandCopyToPTX(mlir::NVVM::CpAsyncOp op, mlir::OpBuilder &b);
/// TargetLowering::writeMapField and mapElement.
void replaceMapField(mlir::OpBuilder &b, mlir::Location loc, mlir::Value image, MapField field,
                     unsigned axis, mlir::Value value);
unsigned numberOfMapElement(mlir::Type type, bool isSigned);
/// Tensor maps that the kernel makes: a record for them, from an area of the module's; the record's
/// end; a map's way to global memory.
mlir::LogicalResult expandClaimToPTX(tilegpu::ClaimMapsOp op, mlir::OpBuilder &b);
mlir::LogicalResult expandReleaseToPTX(tilegpu::ReleaseMapsOp op, mlir::OpBuilder &b);
mlir::LogicalResult expandPublishToPTX(tilegpu::PublishMapOp op, mlir::OpBuilder &b);
/// TargetLowering::shareDivisors.
void shareDivisors(mlir::ModuleOp module);
/// Tries until the phase is complete.
mlir::LogicalResult expandPhaseWaitToPTX(mlir::NVVM::MBarrierTryWaitParityOp op,
                                         mlir::OpBuilder &b);

} // namespace kiln

#endif
