// Dots in types that the target's matrix units take.

#ifndef KILN_COMPILER_CONVERSION_TILETOTILEGPU_LEGALIZEDOTS_H
#define KILN_COMPILER_CONVERSION_TILETOTILEGPU_LEGALIZEDOTS_H

#include "compiler/Dialect/TileGPU/TileGPU.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace kiln {

/// Which units a dot may have: such as read shared memory, and only such of which all warps have
/// rows of their own.
struct UnitUse {
  bool fromShared = true, isAlongM = false;
};

/// The matrix unit for a dot as it stands, if there is one. f32 operands that may be rounded to
/// tf32 take an f32 unit where there is no tf32 unit.
std::optional<MatrixTiling> matrixTilingOf(tile::DotOp dot, const TargetInfo &target,
                                           unsigned numWarps, UnitUse use = {});

/// Widens what no unit of the target takes, where a unit takes the wider types: fp8 operands (two
/// different ones, or in a format that the unit does not read) become f16, an f16 or bf16
/// accumulator becomes f32 for the dot. Neither changes which values can be represented; sums get
/// more exact. f32 operands of precision tf32x3, bf16x3 or bf16x6 become sums of two or three
/// narrower numbers, whose products are three or six dots. What remains without a unit is computed
/// by fused multiply-adds.
void legalizeDots(mlir::func::FuncOp kernel, const TargetInfo &target, unsigned numWarps);

} // namespace kiln

#endif
