// Values that LLVM does not see through.

#ifndef KILN_COMPILER_TARGET_OPAQUEVALUE_H
#define KILN_COMPILER_TARGET_OPAQUEVALUE_H

#include "llvm/IR/IRBuilder.h"

namespace kiln {

/// The same value, by way of a register of the kind `constraint` and empty assembly text. With side
/// effects that is neither moved nor left out.
llvm::CallInst *opaque(llvm::IRBuilderBase &b, llvm::Value *value, llvm::StringRef constraint,
                       bool hasSideEffects = false);

/// Has all that takes the value take an opaque one, which stands directly behind it.
void makeOpaque(llvm::Instruction &value, llvm::StringRef constraint, bool hasSideEffects = false);

} // namespace kiln

#endif // KILN_COMPILER_TARGET_OPAQUEVALUE_H
