// What kernels compute of their arguments in front of loops, for what stands behind them.

#ifndef KILN_COMPILER_TARGET_AMD_RELOADARGUMENTS_H
#define KILN_COMPILER_TARGET_AMD_RELOADARGUMENTS_H

namespace llvm {
class Function;
}

namespace kiln {

/// Loops of products hold no arguments that only what stands behind them uses, nor what is computed
/// of them: it loads them again.
void reloadArguments(llvm::Function &kernel);

} // namespace kiln

#endif
