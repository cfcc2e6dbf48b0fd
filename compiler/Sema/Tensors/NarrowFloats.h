// Floats that MLIR has no type for. In Triton without an element type of their own: e2m1 (4 bits:
// 0, 0.5, 1, 1.5, 2, 3, 4, 6 and their negatives, two in a byte) and e8m0 (8 bits: powers of two),
// of the OCP microscaling formats.
#ifndef KILN_COMPILER_SEMA_TENSORS_NARROWFLOATS_H
#define KILN_COMPILER_SEMA_TENSORS_NARROWFLOATS_H

#include "compiler/Sema/Tensors/TensorBuilder.h"

namespace kiln::sema {

/// The lower and the upper four bits of bytes.
std::array<Tensor, 2> unpackNibbles(TensorBuilder &build, Tensor bytes);
/// Codes below 16 (uint8) as numbers of `type`, exactly.
Tensor decodeE2M1(TensorBuilder &build, Tensor codes, DType type);
/// The two e2m1 numbers of each byte, as fp16 or fp32 numbers that are too small by 2^exponent.
std::array<Tensor, 2> decodeE2M1Pairs(TensorBuilder &build, Tensor bytes, DType type,
                                      int &exponent);
Tensor timesPowerOfTwo(TensorBuilder &build, Tensor numbers, int exponent);
/// Scales (fp32) for numbers that are too small by 2^exponent, but for those beyond 2^(127 -
/// exponent), which become less: numbers from 2^-exponent on times these are infinite in fp16, zero
/// is not NaN.
Tensor raisedScale(TensorBuilder &build, Tensor scale, int exponent);
/// fp32 numbers cut off to bf16: those that bf16 has, exactly.
Tensor upperHalves(TensorBuilder &build, Tensor numbers);
/// Codes (uint8) of the nearest numbers, ties to even; 6 where out of range or NaN.
Tensor encodeE2M1(TensorBuilder &build, Tensor numbers);
/// 2^(code - 127) as fp32; code 255 is NaN.
Tensor decodeE8M0(TensorBuilder &build, Tensor codes);
/// fp8e4b15 as fp16, exactly: its exponent has fp16's bias, so its numbers are fp16's of seven bits
/// fewer. There are no infinities and NaNs.
Tensor decodeE4B15(TensorBuilder &build, Tensor numbers);
/// The reverse, as Triton does on NVIDIA GPUs: what exceeds 1.75 becomes that, NaN too, and halves
/// round away from zero.
Tensor encodeE4B15(TensorBuilder &build, Tensor numbers);
/// Numbers whose magnitude exceeds the largest of `type` become that, infinities included.
Tensor clampToFinite(TensorBuilder &build, Tensor numbers, DType type);

} // namespace kiln::sema

#endif // KILN_COMPILER_SEMA_TENSORS_NARROWFLOATS_H
