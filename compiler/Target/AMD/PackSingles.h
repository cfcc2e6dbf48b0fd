// Arithmetic on two f32 at a time.

#ifndef KILN_COMPILER_TARGET_AMD_PACKSINGLES_H
#define KILN_COMPILER_TARGET_AMD_PACKSINGLES_H

namespace llvm {
class Function;
}

namespace kiln {

/// Computes on neighbours of what comes as a vector in pairs: for targets that have v_pk_fma_f32
/// and its like.
void packSingles(llvm::Function &kernel);

} // namespace kiln

#endif
