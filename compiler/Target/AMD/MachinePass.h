// Kiln's passes between LLVM's over machine code.

#ifndef KILN_COMPILER_TARGET_AMD_MACHINEPASS_H
#define KILN_COMPILER_TARGET_AMD_MACHINEPASS_H

#include "llvm/CodeGen/MachineFunctionPass.h"

namespace kiln {

/// One that changes instructions, not blocks. A Rewrite has a `name`, is made of a function, and
/// its `run()` says whether it has changed something.
template <typename Rewrite> class MachinePass final : public llvm::MachineFunctionPass {
public:
  MachinePass() : MachineFunctionPass(id) {}

  llvm::StringRef getPassName() const override { return Rewrite::name; }

  void getAnalysisUsage(llvm::AnalysisUsage &usage) const override {
    usage.setPreservesCFG();
    MachineFunctionPass::getAnalysisUsage(usage);
  }

  bool runOnMachineFunction(llvm::MachineFunction &function) override {
    return Rewrite(function).run();
  }

private:
  static inline char id = 0;
};

} // namespace kiln

#endif // KILN_COMPILER_TARGET_AMD_MACHINEPASS_H
