#include "compiler/Target/OpaqueValue.h"
#include "llvm/IR/InlineAsm.h"

namespace kiln {

llvm::CallInst *opaque(llvm::IRBuilderBase &b, llvm::Value *value, llvm::StringRef constraint,
                       bool hasSideEffects) {
  auto *type = llvm::FunctionType::get(value->getType(), {value->getType()}, false);
  std::string constraints = ("=" + constraint + ",0").str();
  return b.CreateCall(type, llvm::InlineAsm::get(type, "", constraints, hasSideEffects), {value});
}

void makeOpaque(llvm::Instruction &value, llvm::StringRef constraint, bool hasSideEffects) {
  llvm::IRBuilder<> b(value.getNextNode());
  llvm::CallInst *result = opaque(b, &value, constraint, hasSideEffects);
  value.replaceUsesWithIf(result, [&](llvm::Use &use) { return use.getUser() != result; });
}

} // namespace kiln
