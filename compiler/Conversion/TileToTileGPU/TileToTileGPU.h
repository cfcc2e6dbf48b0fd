// From Tile IR to TileGPU IR: every tensor gets a layout, chosen for the target.
//
// The one pass that assigns layouts. Anchors propose (LayoutProposals.h), proposals spread through
// the operations that can pass them on (LayoutGraph.h), a search picks one for each operation so
// that accesses, redundant work and the conversions that remain cost least (LayoutCosts.h,
// LayoutSearch.h), and the result is written into the IR: encodings on all tensors, cheap
// producers repeated in each layout that is wanted of them, tilegpu.convert_layout only where the
// layouts of a value and its use differ, tilegpu.dot for tile.dot.

#ifndef KILN_COMPILER_CONVERSION_TILETOTILEGPU_TILETOTILEGPU_H
#define KILN_COMPILER_CONVERSION_TILETOTILEGPU_TILETOTILEGPU_H

#include "compiler/Target/TargetInfo.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace kiln {

/// Assigns layouts to all tensors of a kernel (a func.func with tile.num_warps). Fails with an
/// error on an operation on tensors that it does not know.
llvm::LogicalResult assignLayouts(mlir::func::FuncOp kernel, const TargetInfo &target);

/// The pass around it, on a module. `target` as parseTarget reads it; if empty the module must name
/// one already (tilegpu.target); afterwards it does.
std::unique_ptr<mlir::Pass> createTileToTileGPUPass(std::string target = "");

/// Registers `kiln-tile-to-tilegpu`.
void registerTileToTileGPUPass();

} // namespace kiln

#endif
