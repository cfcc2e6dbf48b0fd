//===- ForEachLoop.h - A module's loops, with what LLVM knows of them ----------===//

#ifndef KILN_COMPILER_TARGET_FOREACHLOOP_H
#define KILN_COMPILER_TARGET_FOREACHLOOP_H

#include "llvm/ADT/STLFunctionalExtras.h"

namespace llvm {
class Loop;
class Module;
class ScalarEvolution;
} // namespace llvm

namespace kiln {

/// Calls `visit` for the loops of all functions, outer ones first; it may not add or remove any.
void forEachLoop(llvm::Module &module,
                 llvm::function_ref<void(llvm::Loop &, llvm::ScalarEvolution &)> visit);

} // namespace kiln

#endif // KILN_COMPILER_TARGET_FOREACHLOOP_H
