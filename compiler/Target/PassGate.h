//===- PassGate.h - Passes of code generation that are left out ---------------===//

#ifndef KILN_COMPILER_TARGET_PASSGATE_H
#define KILN_COMPILER_TARGET_PASSGATE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/IR/OptBisect.h"

namespace llvm {
class LLVMContext;
class Module;
} // namespace llvm

namespace kiln {

/// Leaves passes of code generation out while it exists.
///
/// Where functions of the module are too long for them (HugeFunctions.h): straight-line strength
/// reduction, which weighs every pair of instructions of the same form (4096 elements in a thread:
/// two minutes); global value numbering; and where blocks were cut, the pass that would join them
/// again.
///
/// Where a loop's copies to shared memory run ahead on sm_80 to sm_89: loop strength reduction.
/// Each copy has a pointer of its own, carried and moved by one addition. LLVM counts registers,
/// and takes a thread's part out of these pointers, to add it again at each copy; or carries one
/// number for all of them, and every copy adds it to a base. Loops of sm_80's products have up to
/// 19 instructions more with it. On an H200 loops of mma.sync are up to 9% slower without it.
class PassGate : public llvm::OptPassGate {
public:
  PassGate(llvm::Module &module, llvm::StringRef processor);
  ~PassGate() override;
  bool isEnabled() const override { return leavesOut; }
  bool shouldRunPass(llvm::StringRef pass, llvm::StringRef) const override;

private:
  llvm::LLVMContext &context;
  bool withoutStrengthReduction, withoutValueNumbering, keepsBlocks, keepsPointers, leavesOut;
};

} // namespace kiln

#endif // KILN_COMPILER_TARGET_PASSGATE_H
