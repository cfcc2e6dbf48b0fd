// Which loops compare the next iteration's count with the end.

#include "compiler/Target/NextCounts.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SourceMgr.h"
#include "gtest/gtest.h"

namespace kiln {
namespace {

/// A loop from `start` on by `step`, with `body`, that goes on while `condition` (of `%i` and
/// `%next`) holds: its condition afterwards.
std::string conditionOf(const std::string &start, const std::string &step,
                        const std::string &condition, const std::string &body = "",
                        const std::string &type = "i32") {
  llvm::LLVMContext context;
  llvm::SMDiagnostic problem;
  std::string text = "declare void @use(i64)\ndefine void @f(i32 %n) {\nentry:\n br label %loop\n"
                     "loop:\n %i = phi " +
                     type + " [ " + start + ", %entry ], [ %next, %loop ]\n" + body +
                     " %next = add " + type + " %i, " + step + "\n %goes = icmp " + condition +
                     "\n br i1 %goes, label %loop, label %exit\nexit:\n ret void\n}\n";
  auto module = llvm::parseAssemblyString(text, problem, context);
  if (!module)
    return problem.getMessage().str();
  compareNextCounts(*module);
  EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs()));
  std::string result;
  llvm::raw_string_ostream stream(result);
  for (llvm::Instruction &instruction : llvm::instructions(module->getFunction("f")))
    if (auto *compare = llvm::dyn_cast<llvm::ICmpInst>(&instruction)) {
      stream << llvm::CmpInst::getPredicateName(compare->getPredicate()) << " ";
      compare->getOperand(0)->printAsOperand(stream);
      stream << ", ";
      compare->getOperand(1)->printAsOperand(stream, /*PrintType=*/false);
    }
  return result;
}

TEST(NextCounts, CompareTheNextCount) {
  EXPECT_EQ(conditionOf("0", "2048", "ult i32 %i, 14336"), "ult i32 %next, 16384");
  EXPECT_EQ(conditionOf("3", "5", "slt i32 %i, 14"), "ult i32 %next, 23");
  EXPECT_EQ(conditionOf("0", "16", "ne i32 %i, 64"), "ult i32 %next, 80");
  // An unrolled loop compares the last of its copies' counts.
  EXPECT_EQ(conditionOf("0", "16", "ult i32 %second, 1016", " %second = or disjoint i32 %i, 8\n"),
            "ult i32 %next, 1024");
}

TEST(NextCounts, CompareTheWiderCount) {
  EXPECT_EQ(conditionOf("0", "8", "ult i32 %i, 64",
                        " %w = zext i32 %i to i64\n call void @use(i64 %w)\n"),
            "ult i64 %0, 72");
}

TEST(NextCounts, StayAsTheyAre) {
  EXPECT_EQ(conditionOf("0", "8", "ult i32 %i, %n"), "ult i32 %i, %n");
  EXPECT_EQ(conditionOf("0", "8", "ult i32 %next, 64"), "ult i32 %next, 64");
  EXPECT_EQ(conditionOf("64", "-8", "ugt i32 %i, 8"), "ugt i32 %i, 8");
  // The next count would have a sign.
  EXPECT_EQ(conditionOf("0", "64", "ult i8 %i, 64", "", "i8"), "ult i8 %i, 64");
  EXPECT_EQ(conditionOf("%n", "8", "ult i32 %i, 64"), "ult i32 %i, 64");
}

} // namespace
} // namespace kiln
