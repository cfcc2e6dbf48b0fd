//===- RoundInPairs.h - f32 become bf16 two at a time -------------------------===//

#ifndef KILN_COMPILER_TARGET_NVIDIA_ROUNDINPAIRS_H
#define KILN_COMPILER_TARGET_NVIDIA_ROUNDINPAIRS_H

namespace llvm {
class Module;
} // namespace llvm

namespace kiln {

/// Rounds what is computed with as bf16, or goes back to f32, two numbers at a time, or one and a
/// zero. One alone becomes a conversion on a slower unit (F2F): ptxas packs only what is stored in
/// pairs (F2FP). The bits are the same.
void roundInPairs(llvm::Module &module);

} // namespace kiln

#endif // KILN_COMPILER_TARGET_NVIDIA_ROUNDINPAIRS_H
