// AMD GPUs: what the shared lowering asks, in ROCDL operations; and branches for target operations.

#ifndef KILN_COMPILER_CONVERSION_TILEGPUTOROCDL_ROCDLLOWERING_H
#define KILN_COMPILER_CONVERSION_TILEGPUTOROCDL_ROCDLLOWERING_H

#include "compiler/Conversion/TargetLowering/TargetLowering.h"

namespace kiln {

std::unique_ptr<TargetLowering> makeROCDLLowering(const TargetInfo &info);

/// A predicated access becomes a branch around a plain one.
mlir::LogicalResult expandLoadToBranch(tilegpu::GlobalLoadOp op, mlir::OpBuilder &b);
mlir::LogicalResult expandStoreToBranch(tilegpu::GlobalStoreOp op, mlir::OpBuilder &b);
mlir::LogicalResult expandPrintToNothing(tilegpu::PrintOp op, const TargetInfo &target);
mlir::LogicalResult expandFailToTrap(tilegpu::FailOp op, mlir::OpBuilder &b);

} // namespace kiln

#endif
