// Floats of 8 bits become such of 16 two at a time, where no instruction converts them.

#ifndef KILN_COMPILER_CONVERSION_TILEGPUTOROCDL_WIDENBYTES_H
#define KILN_COMPILER_CONVERSION_TILEGPUTOROCDL_WIDENBYTES_H

#include "compiler/Conversion/TargetLowering/ScalarBuilder.h"

namespace kiln {

/// The f16 values of two codes (i8) in E4M3FN or its FNUZ form, as a vector, with the bits that
/// widenByteFloat's f32 become; null for other formats.
mlir::Value widenBytesToHalves(const ScalarBuilder &s, mlir::Value low, mlir::Value high,
                               mlir::Type format);

} // namespace kiln

#endif
