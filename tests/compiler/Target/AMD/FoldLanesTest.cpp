//===- FoldLanesTest.cpp - Lanes at a constant distance from one another ----------===//

#include "compiler/Target/AMD/FoldLanes.h"
#include "tests/compiler/Target/AMD/ProductLoop.h"
#include "llvm/IR/Module.h"
#include <gtest/gtest.h>

using namespace kiln::testing;

namespace {

const std::string entry = R"(
  %second = or disjoint i32 %thread, 8
  %third = add i32 %thread, 16
  %fourth = or disjoint i32 %thread, 24
  %far = add i32 %thread, 65536
  %across = xor i32 %thread, 4
)";

std::string move(const std::string &name, const std::string &lane) {
  return "  %" + name + " = call i32 @llvm.amdgcn.ds.bpermute(i32 %" + lane + ", i32 %moved)\n";
}

/// What the loop computes around its product, in order: a loaded number, and what lanes take of it.
std::string loopAfter(const std::string &moves) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module = parseIR(
      productLoop("ptr addrspace(1) %from, i32 %thread, <16 x half> %a", entry,
                  "  %moved = load i32, ptr addrspace(1) %from\n" + moves + productOf("%a", "%a")),
      context);
  llvm::Function &kernel = *module->getFunction("f");
  kiln::foldLanes(kernel);
  EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs()));
  std::string result;
  for (llvm::BasicBlock &block : kernel)
    for (llvm::Instruction &op : block) {
      auto *call = llvm::dyn_cast<llvm::CallInst>(&op);
      if (block.getName() != "loop" || llvm::isa<llvm::PHINode>(op) || op.getName() == "d" ||
          op.isTerminator())
        continue;
      if (call && call->isInlineAsm())
        result += "hidden ";
      else
        result += (op.hasName() ? op.getName().str() : op.getOpcodeName()) + " ";
    }
  return result;
}

TEST(FoldLanes, SumsStandNextToTheirMoves) {
  EXPECT_EQ(loopAfter(move("one", "thread") + move("two", "second") + move("three", "third") +
                      move("four", "fourth")),
            "moved one hidden or two add three or four ");
}

TEST(FoldLanes, TwoAreNotWorthACopy) {
  EXPECT_EQ(loopAfter(move("two", "second") + move("three", "third")), "moved two three ");
}

TEST(FoldLanes, OtherNumbersStay) {
  EXPECT_EQ(loopAfter(move("two", "second") + move("three", "third") + move("five", "far") +
                      move("six", "across")),
            "moved two three five six ");
}

} // namespace
