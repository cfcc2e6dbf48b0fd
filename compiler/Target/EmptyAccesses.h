//===- EmptyAccesses.h - Accesses of buffers by nobody -------------------------===//
//
// Of a block that is larger than its array, as a power of two is than a row, some
// registers of a thread are nobody's. Their masks are known to be false, which leaves an
// offset that is a constant behind the buffer: the load brings zeros. LLVM knows nothing of
// that, and works on each such value by itself, where all that is made of zeros is alike.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_COMPILER_TARGET_EMPTYACCESSES_H
#define KILN_COMPILER_TARGET_EMPTYACCESSES_H

#include "llvm/IR/PassManager.h"

namespace kiln {

/// Puts zeros in the place of such loads, and erases such stores.
class LeaveOutEmptyAccesses : public llvm::PassInfoMixin<LeaveOutEmptyAccesses> {
public:
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);
};

} // namespace kiln

#endif // KILN_COMPILER_TARGET_EMPTYACCESSES_H
