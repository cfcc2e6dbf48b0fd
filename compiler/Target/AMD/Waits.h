// Waits of a wave for what it has in flight, as instructions that LLVM keeps.

#ifndef KILN_COMPILER_TARGET_AMD_WAITS_H
#define KILN_COMPILER_TARGET_AMD_WAITS_H

#include "llvm/IR/IRBuilder.h"

namespace kiln {

struct TargetInfo;

struct Waits {
  bool ofShared = false; ///< accesses to shared memory
  bool ofLoads = false;  ///< of global memory, by vector and by scalar instructions
  bool ofStores = false; ///< to global memory
};

/// Until nothing of that is in flight. Where one counter is for several, for those, too.
void waitFor(Waits waits, llvm::IRBuilder<> &b, const TargetInfo &target);

} // namespace kiln

#endif
