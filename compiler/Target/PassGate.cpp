//===- PassGate.cpp - Passes of code generation that are left out -------------===//

#include "compiler/Target/PassGate.h"
#include "compiler/Target/HugeFunctions.h"
#include "llvm/IR/Module.h"

namespace kiln {

/// Copies that run ahead are committed in groups.
static bool hasAsyncCopies(const llvm::Module &module) {
  return module.getFunction("llvm.nvvm.cp.async.commit.group");
}

PassGate::PassGate(llvm::Module &module, llvm::StringRef processor) : context(module.getContext()) {
  unsigned longest = longestFunction(module);
  withoutStrengthReduction = longest > 4096;
  withoutValueNumbering = isHuge(longest);
  keepsBlocks = hasCutBlocks(module);
  keepsPointers = processor.starts_with("sm_8") && hasAsyncCopies(module);
  leavesOut = withoutStrengthReduction || withoutValueNumbering || keepsBlocks || keepsPointers;
  if (leavesOut)
    context.setOptPassGate(*this);
}

PassGate::~PassGate() {
  if (leavesOut)
    context.setOptPassGate(llvm::getGlobalPassGate());
}

bool PassGate::shouldRunPass(llvm::StringRef pass, llvm::StringRef) const {
  if (pass == "slsr")
    return !withoutStrengthReduction;
  if (pass == "gvn")
    return !withoutValueNumbering;
  // Passes over loops go by their titles.
  if (pass == "Loop Strength Reduction")
    return !keepsPointers;
  return pass != "codegenprepare" || !keepsBlocks;
}

} // namespace kiln
