// Conversions of short integers to f16.

#ifndef KILN_COMPILER_TARGET_AMD_SHORTCONVERSIONS_H
#define KILN_COMPILER_TARGET_AMD_SHORTCONVERSIONS_H

namespace llvm {
class Function;
}

namespace kiln {

/// Has integers of 32 bits that 16 bits hold, as unpacked weights of 4 or 8 bits, become f16 by one
/// instruction, `v_cvt_f16_i16` or `v_cvt_f16_u16`. LLVM converts any such integer to f32 first.
/// The results are the same in every bit: both ways round once, as f32 has all of 16 bits.
/// `packsHalves`: the target makes a word of two f16 of two f32 (`v_cvt_pk_f16_f32`): bytes that
/// become words, whose f32 are an instruction each, stay as they are.
void shortenConversions(llvm::Function &kernel, bool packsHalves);

} // namespace kiln

#endif
