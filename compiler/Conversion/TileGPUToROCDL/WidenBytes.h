// Floats of 8 bits become wider ones a word at a time, by instructions for it or others.

#ifndef KILN_COMPILER_CONVERSION_TILEGPUTOROCDL_WIDENBYTES_H
#define KILN_COMPILER_CONVERSION_TILEGPUTOROCDL_WIDENBYTES_H

#include "compiler/Conversion/TargetLowering/ScalarBuilder.h"

namespace kiln {

/// The values of four codes (i8) in a format that the target converts, as `to`: f32, or on CDNA 4
/// f16 or bf16 (v_cvt_scalef32_pk_f16_fp8).
llvm::SmallVector<mlir::Value> convertBytes(const ScalarBuilder &s,
                                            llvm::ArrayRef<mlir::Value> codes, mlir::Type format,
                                            mlir::Type to);

/// CDNA 4: what tile.widen_scaled gives, as f16, bf16 or f32, of four codes (i8) with a scale (i8)
/// each.
llvm::SmallVector<mlir::Value> widenScaledBytes(const ScalarBuilder &s,
                                                llvm::ArrayRef<mlir::Value> codes,
                                                llvm::ArrayRef<mlir::Value> scales,
                                                mlir::Type format, mlir::Type to);
/// The same of the lower or upper numbers of four pairs of e2m1. An instruction gives both: what
/// has been asked for both of these is one instruction in the end.
llvm::SmallVector<mlir::Value> widenScaledPairs(const ScalarBuilder &s,
                                                llvm::ArrayRef<mlir::Value> codes,
                                                llvm::ArrayRef<mlir::Value> scales, bool isUpper,
                                                mlir::Type to);

/// The f16 values of four codes (i8) in E4M3FN or its FNUZ form, with the bits that
/// widenByteFloat's f32 become; empty for other formats.
llvm::SmallVector<mlir::Value>
widenBytesToHalves(const ScalarBuilder &s, llvm::ArrayRef<mlir::Value> codes, mlir::Type format);

} // namespace kiln

#endif
