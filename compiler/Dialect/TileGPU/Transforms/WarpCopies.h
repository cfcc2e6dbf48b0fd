// Loads of a loop as copies that a warp makes together (TargetInfo::warpCopies).

#ifndef KILN_COMPILER_DIALECT_TILEGPU_TRANSFORMS_WARPCOPIES_H
#define KILN_COMPILER_DIALECT_TILEGPU_TRANSFORMS_WARPCOPIES_H

#include "compiler/Dialect/TileGPU/Transforms/Rings.h"

namespace kiln {

/// The loop's loads, if all feed dots and warps can copy them, once their layouts are those of
/// copies; else none.
StagedLoads findWarpCopies(mlir::scf::ForOp loop, const AxisInfoAnalysis &facts,
                           const TargetInfo &target);

/// The layout in which warps copy the load; in which it is stored to its buffer.
tilegpu::LayoutAttr layoutOfCopy(const StagedLoad &load, const TargetInfo &target);

/// Whether all loads have it.
bool areArranged(const StagedLoads &staged, const TargetInfo &target);

/// How many copies of a thread all the loads are.
unsigned countCopies(const StagedLoads &staged);

/// As many stages as are asked for and as leave a processor the warps that it needs; one where the
/// loop had better bring its operands through registers.
RingPlan planWarpCopies(mlir::func::FuncOp kernel, mlir::scf::ForOp loop, const StagedLoads &staged,
                        const TargetInfo &target);

} // namespace kiln

#endif
