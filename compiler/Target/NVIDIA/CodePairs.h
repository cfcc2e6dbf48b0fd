//===- CodePairs.h - 8-bit floats that are made two at a time -------------------===//

#ifndef KILN_COMPILER_TARGET_NVIDIA_CODEPAIRS_H
#define KILN_COMPILER_TARGET_NVIDIA_CODEPAIRS_H

namespace llvm {
class Module;
} // namespace llvm

namespace kiln {

/// Conversions to 8-bit floats give two codes in 16 bits. Vectors of bytes that are put together of
/// such halves are put together of 16 bits each, for LLVM takes them apart and ptxas does not see
/// that. Signs of NaNs are left out where both numbers are none, and bounds that the conversion
/// has by itself.
void keepCodesInPairs(llvm::Module &module);

} // namespace kiln

#endif // KILN_COMPILER_TARGET_NVIDIA_CODEPAIRS_H
