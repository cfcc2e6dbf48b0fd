// Arithmetic of f32 on numbers of f16.

#ifndef KILN_COMPILER_TARGET_AMD_MIXHALVES_H
#define KILN_COMPILER_TARGET_AMD_MIXHALVES_H

namespace llvm {
class Function;
}

namespace kiln {

/// Makes sums and products of f32 that only conversions from f16, or a conversion to it, stand
/// beside multiplications with addition, which convert by themselves (`v_fma_mix_f32`,
/// `v_fma_mixlo_f16`). The results are the same in every bit, but for the payload of a NaN, and but
/// that with `fusesProducts` a product becomes part of a sum, as LLVM may make it. `packsSingles`:
/// the target has operations on two f32.
void mixHalves(llvm::Function &kernel, bool packsSingles, bool fusesProducts = true);

} // namespace kiln

#endif
