// What kernels compute of their arguments in front of loops, for what stands behind them.

#ifndef KILN_COMPILER_TARGET_AMD_RELOADARGUMENTS_H
#define KILN_COMPILER_TARGET_AMD_RELOADARGUMENTS_H

#include <cstdint>

namespace llvm {
class Argument;
class Function;
} // namespace llvm

namespace kiln {

/// Bytes in front of a kernel's argument, which lie one behind the other (LLVM, "User Guide for
/// AMDGPU Backend", "Kernarg Segment").
uint64_t argumentOffset(const llvm::Argument &argument);

/// Loops of products hold no arguments that only what stands behind them uses, nor what is computed
/// of them: it loads them again.
void reloadArguments(llvm::Function &kernel);

} // namespace kiln

#endif
