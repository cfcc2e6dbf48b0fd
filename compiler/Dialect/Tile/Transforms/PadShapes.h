// Tiles whose extents are not powers of two, for targets whose layouts know powers of two only.
//
// Every extent is rounded up to a power of two. What a tensor holds outside of its original shape
// (in its padding) means nothing, so that all elementwise work goes on as it was; only what would
// let padding be seen is changed:
//
//   loads, stores, atomics   the mask excludes padding; a load without `other` gets zeros
//   reductions, scans        padding holds the combiner's neutral element, or is left out by a
//                            flag that travels with the elements
//   dots                     padding along K is zero in both operands
//   reshapes                 as they are where only outer extents grow, else a gather
//   integer divisions        divisors in padding are one
//   prints                   say what to print (`printedShape`)
//
// A kernel whose extents all are powers of two is not touched.
//
// The alternative, layouts of any extent, would give up the algebra over single bits that layouts,
// conversions and reductions rest on (docs/layout.md); it would save the masks, not the lanes.

#ifndef KILN_COMPILER_DIALECT_TILE_TRANSFORMS_PADSHAPES_H
#define KILN_COMPILER_DIALECT_TILE_TRANSFORMS_PADSHAPES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace kiln {

/// Fails after an error at each operation that has no padded form; the kernel is unchanged then.
llvm::LogicalResult padShapes(mlir::func::FuncOp kernel);

/// The shape of what a print's tensor held before it was padded. What lies outside is not printed.
llvm::ArrayRef<int64_t> printedShape(mlir::Operation *print);

/// `padShapes` as a pass on func.func, `kiln-pad-shapes`.
std::unique_ptr<mlir::Pass> createPadShapesPass();
void registerPadShapesPass();

} // namespace kiln

#endif
