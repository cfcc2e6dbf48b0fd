//===- SinkAddressesTest.cpp - Addresses in shared memory, computed in loops -----===//

#include "compiler/Target/AMD/SinkAddresses.h"
#include "tests/compiler/Target/AMD/ProductLoop.h"
#include "tests/compiler/Target/EveryScalarKernel.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Verifier.h"
#include <vector>

using namespace kiln::testing;

namespace {

const std::string entry = R"(
  %other = xor i32 %thread, 32
  %p = getelementptr i8, ptr addrspace(3) @kiln_shared, i32 %thread
  %q = getelementptr i8, ptr addrspace(3) @kiln_shared, i32 %other
  %r = getelementptr i8, ptr addrspace(3) %q, i32 1024
)";

/// What the loop has then: "xors: 2, places: 1", of values that LLVM does not see through.
std::string loopAfter(const std::string &body) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module =
      parseIR(productLoop("i32 %thread, <16 x half> %a", entry, body), context);
  kiln::sinkAddresses(*module->getFunction("f"), kiln::HiddenOfAddresses::Places);
  EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs()));
  unsigned xors = 0, places = 0;
  for (llvm::Instruction &instruction : llvm::instructions(*module->getFunction("f"))) {
    if (instruction.getParent()->getName() != "loop")
      continue;
    xors += instruction.getOpcode() == llvm::Instruction::Xor;
    auto *call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    places += call && call->isInlineAsm();
  }
  return "xors: " + std::to_string(xors) + ", places: " + std::to_string(places);
}

const std::string product = productOf("%a", "%b");

TEST(SinkAddresses, AccessesBetweenBarriersShareAPlace) {
  EXPECT_EQ(loopAfter(R"(
  %x = load <8 x half>, ptr addrspace(3) %p
  %y = load <8 x half>, ptr addrspace(3) %q
  %b = shufflevector <8 x half> %x, <8 x half> %y, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
)" + product),
            "xors: 1, places: 1");
}

TEST(SinkAddresses, EachSideOfABarrierHasItsOwn) {
  EXPECT_EQ(loopAfter(R"(
  %x = load <8 x half>, ptr addrspace(3) %q
  %y = load <8 x half>, ptr addrspace(3) %r
  call void @llvm.amdgcn.s.barrier()
  store <8 x half> %x, ptr addrspace(3) %r
  %b = shufflevector <8 x half> %x, <8 x half> %y, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
)" + product),
            "xors: 2, places: 2");
}

/// A place that the next barrier's side needs, too, would be copied for each; a constant is not.
TEST(SinkAddresses, XorsCountFromTheFirstOne) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module = parseIR(
      productLoop("i32 %thread, <16 x half> %a",
                  entry + "  %more = xor i32 %thread, 48\n"
                          "  %t = getelementptr i8, ptr addrspace(3) @kiln_shared, i32 %more\n",
                  "  %x = load <8 x half>, ptr addrspace(3) %q\n"
                  "  %y = load <8 x half>, ptr addrspace(3) %t\n"
                  "  %z = load volatile <8 x half>, ptr addrspace(3) %p\n"
                  "  %b = shufflevector <8 x half> %x, <8 x half> %y, <16 x i32> <i32 0, i32 1, "
                  "i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 "
                  "12, i32 13, i32 14, i32 15>\n" +
                      product),
      context);
  llvm::Function &kernel = *module->getFunction("f");
  kiln::sinkAddresses(kernel, kiln::HiddenOfAddresses::Constants);
  EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs()));
  std::vector<const llvm::Instruction *> xors;
  for (const llvm::Instruction &op : llvm::instructions(kernel))
    if (op.getParent()->getName() == "loop" && op.getOpcode() == llvm::Instruction::Xor)
      xors.push_back(&op);
  ASSERT_EQ(xors.size(), 2u);
  auto *hidden = llvm::dyn_cast<llvm::CallInst>(xors[0]->getOperand(1));
  ASSERT_TRUE(hidden && hidden->isInlineAsm());
  auto constantOf = [](const llvm::Value *value) {
    return llvm::cast<llvm::ConstantInt>(value)->getZExtValue();
  };
  EXPECT_EQ(constantOf(hidden->getArgOperand(0)), 32u);
  EXPECT_EQ(xors[0]->getOperand(0), kernel.getArg(2));
  EXPECT_EQ(xors[1]->getOperand(0), xors[0]);
  EXPECT_EQ(constantOf(xors[1]->getOperand(1)), 32u ^ 48u);
}

/// Five accesses to a product are not those of its operands.
TEST(SinkAddresses, OtherBlocksStayAsTheyAre) {
  EXPECT_EQ(loopAfter(R"(
  %x = load <8 x half>, ptr addrspace(3) %p
  %y = load <8 x half>, ptr addrspace(3) %q
  store <8 x half> %x, ptr addrspace(3) %p
  store <8 x half> %x, ptr addrspace(3) %q
  store <8 x half> %x, ptr addrspace(3) %r
  %b = shufflevector <8 x half> %x, <8 x half> %y, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
)" + product),
            "xors: 0, places: 0");
}

} // namespace
