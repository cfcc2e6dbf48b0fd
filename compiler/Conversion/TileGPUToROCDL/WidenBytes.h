// Floats of 8 bits become such of 16 by words, where no instruction converts them.

#ifndef KILN_COMPILER_CONVERSION_TILEGPUTOROCDL_WIDENBYTES_H
#define KILN_COMPILER_CONVERSION_TILEGPUTOROCDL_WIDENBYTES_H

#include "compiler/Conversion/TargetLowering/ScalarBuilder.h"

namespace kiln {

/// The f16 values of four codes (i8) in E4M3FN or its FNUZ form, with the bits that
/// widenByteFloat's f32 become; empty for other formats.
llvm::SmallVector<mlir::Value>
widenBytesToHalves(const ScalarBuilder &s, llvm::ArrayRef<mlir::Value> codes, mlir::Type format);

} // namespace kiln

#endif
