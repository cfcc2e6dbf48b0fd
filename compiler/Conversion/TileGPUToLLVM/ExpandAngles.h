// Sines, cosines and tangents of f32, of several angles at once.

#ifndef KILN_COMPILER_CONVERSION_TILEGPUTOLLVM_EXPANDANGLES_H
#define KILN_COMPILER_CONVERSION_TILEGPUTOLLVM_EXPANDANGLES_H

#include "compiler/Expansion/Math/MathPrimitives.h"

namespace kiln {

/// Replaces math.sin, math.cos and math.tan of scalars of f32, which are in the order of the code.
void expandAngles(llvm::ArrayRef<mlir::Operation *> functions, const MathPrimitives &target);

} // namespace kiln

#endif // KILN_COMPILER_CONVERSION_TILEGPUTOLLVM_EXPANDANGLES_H
