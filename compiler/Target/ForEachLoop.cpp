//===- ForEachLoop.cpp - A module's loops, with what LLVM knows of them --------===//

#include "compiler/Target/ForEachLoop.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Module.h"

namespace kiln {

void forEachLoop(llvm::Module &module,
                 llvm::function_ref<void(llvm::Loop &, llvm::ScalarEvolution &)> visit) {
  llvm::TargetLibraryInfoImpl functions(module.getTargetTriple());
  llvm::TargetLibraryInfo library(functions);
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    llvm::DominatorTree dominators(function);
    llvm::LoopInfo loops(dominators);
    llvm::AssumptionCache assumptions(function);
    llvm::ScalarEvolution evolution(function, library, assumptions, dominators, loops);
    for (llvm::Loop *loop : loops.getLoopsInPreorder())
      visit(*loop, evolution);
  }
}

} // namespace kiln
