//===- ProductLoop.h - A loop around a product of RDNA's matrix unit ------------===//

#ifndef KILN_TESTS_COMPILER_TARGET_AMD_PRODUCTLOOP_H
#define KILN_TESTS_COMPILER_TARGET_AMD_PRODUCTLOOP_H

#include "tests/compiler/Target/EveryScalarKernel.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Verifier.h"

#include <string>

namespace kiln::testing {

inline const std::string wmma = "@llvm.amdgcn.wmma.f32.16x16x16.f16.v8f32.v16f16";
inline const std::string declareWmma =
    "declare <8 x float> " + wmma + "(<16 x half>, <16 x half>, <8 x float>)\n";

/// %d: the product of two values of 16 halfs, and %c.
inline std::string productOf(const std::string &a, const std::string &b) {
  return "  %d = call <8 x float> " + wmma + "(<16 x half> " + a + ", <16 x half> " + b +
         ", <8 x float> %c)\n";
}

/// @f, whose blocks are entry, loop and end: the loop's body makes %d of %c, what it made before.
inline std::string productLoop(const std::string &parameters, const std::string &entry,
                               const std::string &body) {
  return declareWmma + R"(
@kiln_shared = external addrspace(3) global [32768 x i8], align 16
declare void @llvm.amdgcn.s.barrier()
define void @f(i1 %again, ptr addrspace(1) %out, )" +
         parameters + ") {\nentry:\n" + entry + R"(
  br label %loop
loop:
  %c = phi <8 x float> [ zeroinitializer, %entry ], [ %d, %loop ]
)" + body +
         R"(
  br i1 %again, label %loop, label %end
end:
  store <8 x float> %d, ptr addrspace(1) %out
  ret void
})";
}

inline std::string nameOf(const llvm::Instruction &op) {
  if (llvm::isa<llvm::StoreInst>(op))
    return "write";
  if (auto *fence = llvm::dyn_cast<llvm::FenceInst>(&op))
    return llvm::toIRString(fence->getOrdering());
  auto *call = llvm::dyn_cast<llvm::CallInst>(&op);
  bool isNamed = !call || !call->getType()->isVoidTy();
  return isNamed ? op.getName().str() : call->getCalledFunction()->getName().str();
}

/// What the loop of the body calls, fences, writes and computes after the pass, in order.
inline std::string loopAfter(void (*pass)(llvm::Function &), const std::string &body) {
  const std::string parameters = "ptr addrspace(1) %from, ptr addrspace(3) %p, <16 x half> %other",
                    ofShared = "!0 = !{!\"amdgpu-synchronize-as\", !\"local\"}\n";
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module =
      parseIR(productLoop(parameters, "", body) + "\n" + ofShared, context);
  pass(*module->getFunction("f"));
  EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs()));
  std::vector<std::string> order;
  for (llvm::BasicBlock &block : *module->getFunction("f"))
    for (llvm::Instruction &op : block)
      if (block.getName() == "loop" && !llvm::isa<llvm::PHINode>(op) && !op.isTerminator())
        order.push_back(nameOf(op));
  return llvm::join(order, " ");
}

} // namespace kiln::testing

#endif // KILN_TESTS_COMPILER_TARGET_AMD_PRODUCTLOOP_H
