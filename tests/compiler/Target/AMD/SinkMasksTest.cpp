//===- SinkMasksTest.cpp - Where masks are computed --------------------------------===//

#include "compiler/Target/AMD/SinkMasks.h"
#include "tests/compiler/Target/EveryScalarKernel.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Verifier.h"

using namespace kiln::testing;

namespace {

/// How many of `count` elements, whose indices are compared in front of all loads, are compared
/// right in front of their choices behind the pass.
unsigned numAdjacent(unsigned count) {
  std::string comparisons, loads, choices;
  for (unsigned i = 0; i != count; ++i) {
    std::string n = std::to_string(i);
    comparisons += "  %i" + n + " = or i32 %thread, " + std::to_string(256 * i) + "\n  %c" + n +
                   " = icmp slt i32 %i" + n + ", %end\n";
    loads += "  %x" + n + " = load volatile float, ptr addrspace(1) %p\n";
    choices += "  %y" + n + " = select i1 %c" + n + ", float %x" + n + ", float 0.0\n" +
               "  store volatile float %y" + n + ", ptr addrspace(1) %p\n";
  }
  llvm::LLVMContext context;
  auto module = parseIR("define void @f(ptr addrspace(1) %p, i32 %thread, i32 %end) {\n" +
                            comparisons + loads + choices + "  ret void\n}",
                        context);
  llvm::Function &function = *module->getFunction("f");
  kiln::sinkMasks(function);
  EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs()));
  unsigned adjacent = 0;
  for (llvm::Instruction &op : llvm::instructions(function))
    if (auto *choice = llvm::dyn_cast<llvm::SelectInst>(&op)) {
      auto *comparison = llvm::cast<llvm::Instruction>(choice->getCondition());
      auto *index = llvm::cast<llvm::Instruction>(comparison->getOperand(0));
      adjacent += comparison->getNextNode() == choice && index->getNextNode() == comparison;
    }
  return adjacent;
}

TEST(SinkMasks, ManyStandInFrontOfTheirChoices) { EXPECT_EQ(numAdjacent(64), 64u); }

TEST(SinkMasks, AFewStayWhereTheyAre) { EXPECT_EQ(numAdjacent(40), 0u); }

} // namespace
