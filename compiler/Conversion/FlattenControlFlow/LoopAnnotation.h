// What LLVM is told about loops, on its way from scf.for to the branch back.

#ifndef KILN_COMPILER_CONVERSION_FLATTENCONTROLFLOW_LOOPANNOTATION_H
#define KILN_COMPILER_CONVERSION_FLATTENCONTROLFLOW_LOOPANNOTATION_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringRef.h"

namespace kiln {

/// Where scf.for keeps LLVM's loop annotation, and the conversions to branches with it.
inline constexpr llvm::StringLiteral loopAnnotationAttr = "llvm.loop_annotation";

/// Keeps LLVM from unrolling the loop.
void forbidUnrolling(mlir::Operation *loop);

/// Of branches of the LLVM dialect: the conversions leave the annotation as an attribute of theirs,
/// which is not where LLVM looks.
void placeLoopAnnotations(mlir::ModuleOp module);

} // namespace kiln

#endif // KILN_COMPILER_CONVERSION_FLATTENCONTROLFLOW_LOOPANNOTATION_H
