// Conversion of f32 to bf16, two at a time.

#ifndef KILN_COMPILER_TARGET_AMD_ROUNDPAIRS_H
#define KILN_COMPILER_TARGET_AMD_ROUNDPAIRS_H

namespace llvm {
class Function;
}

namespace kiln {

/// Rounds what vectors of bf16 are put together of in pairs: for targets that have no instruction
/// for it. The bits are those of `fptrunc`, but for the payload of a NaN.
void roundPairs(llvm::Function &kernel);

} // namespace kiln

#endif
