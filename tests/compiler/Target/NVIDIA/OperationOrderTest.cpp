// What is computed near its use, and what stays.

#include "compiler/Target/NVIDIA/OperationOrder.h"
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

/// The names of what the function computes, in order; "!" where it has no result.
std::string orderIn(llvm::Module &module) {
  std::string list;
  for (llvm::Instruction &instruction : llvm::instructions(module.getFunction("f")))
    if (!instruction.isTerminator())
      list += (list.empty() ? "" : " ") +
              (instruction.hasName() ? instruction.getName().str() : std::string("!"));
  return list;
}

/// Those behind computeNearUses(), and into `before` those of the copy that it returns, if any.
std::string order(const std::string &body, std::string *before = nullptr) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic problem;
  auto module = llvm::parseAssemblyString(
      "define void @f(ptr %p, ptr %q, float %x, i16 %h, i1 %c) {\n" + body +
          "\n}\ndeclare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)\n"
          "declare float @llvm.nvvm.shfl.sync.bfly.f32(i32, float, i32, i32)\n"
          "declare {float, float, float, float} @llvm.nvvm.mma.m16n8k4.row.col.tf32("
          "i32, i32, i32, float, float, float, float)\n",
      problem, context);
  if (!module)
    return problem.getMessage().str();
  std::unique_ptr<llvm::Module> asWritten = computeNearUses(*module, /*registers=*/0);
  EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs()));
  if (before)
    *before = asWritten ? orderIn(*asWritten) : "none";
  return orderIn(*module);
}

TEST(OperationOrder, EachElementByItself) {
  EXPECT_EQ(order("%a = load i16, ptr %p\n%b = load i16, ptr %q\n"
                  "%a1 = zext i16 %a to i64\n%b1 = zext i16 %b to i64\n"
                  "%a2 = add i64 %a1, 1\n%b2 = add i64 %b1, 1\n"
                  "store i64 %a2, ptr %p\nstore i64 %b2, ptr %q\nret void"),
            "a b a1 a2 ! b1 b2 !");
}

TEST(OperationOrder, ACopyAsItWasWhereSomethingMoved) {
  std::string before;
  order("%a = zext i16 %h to i128\n%b = zext i16 %h to i128\n"
        "store i128 %a, ptr %p\nstore i128 %b, ptr %q\nret void",
        &before);
  EXPECT_EQ(before, "a b ! !");
  order("%a = zext i16 %h to i128\nstore i128 %a, ptr %p\nret void", &before);
  EXPECT_EQ(before, "none");
}

TEST(OperationOrder, NothingWhereAsMuchLives) {
  EXPECT_EQ(order("%a = load float, ptr %p\n%b = load float, ptr %q\n"
                  "%a1 = fmul float %a, %x\n%b1 = fmul float %b, %x\n"
                  "%a2 = fadd float %a1, %x\n%b2 = fadd float %b1, %x\n"
                  "store float %a2, ptr %p\nstore float %b2, ptr %q\nret void"),
            "a b a1 b1 a2 b2 ! !");
}

TEST(OperationOrder, LanesExchangeInBetween) {
  EXPECT_EQ(order("%a = zext i16 %h to i128\n%b = zext i16 %h to i128\n"
                  "%s = call float @llvm.nvvm.shfl.sync.bfly.f32(i32 -1, float %x, i32 1, i32 31)\n"
                  "store float %s, ptr %p\nstore i128 %a, ptr %p\nstore i128 %b, ptr %q\n"
                  "ret void"),
            "s ! a ! b !");
}

TEST(OperationOrder, NotBehindBarriers) {
  std::string barrier = "call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n";
  EXPECT_EQ(order("%a = fmul float %x, %x\n%b = fadd float %x, %x\nstore float %b, ptr %p\n" +
                  barrier + "store float %a, ptr %q\nret void"),
            "a b ! ! !");
  EXPECT_EQ(order("%a = fmul float %x, %x\n%b = fadd float %x, %x\nstore float %b, ptr %p\n"
                  "call void asm sideeffect \"cp.async.wait_all;\", \"~{memory}\"()\n"
                  "store float %a, ptr %q\nret void"),
            "a b ! ! !");
}

TEST(OperationOrder, NotIntoOtherBlocks) {
  EXPECT_EQ(order("%a = fmul float %x, %x\n%b = fadd float %x, %x\nstore float %b, ptr %p\n"
                  "br i1 %c, label %then, label %end\nthen:\nstore float %a, ptr %q\n"
                  "br label %end\nend:\n%m = phi float [ %a, %then ], [ %b, %0 ]\n"
                  "store float %m, ptr %p\nret void"),
            "a b ! ! m !");
}

TEST(OperationOrder, NotAmongMatrixInstructions) {
  EXPECT_EQ(order("%a = fmul float %x, %x\n%b = fadd float %x, %x\n"
                  "%d = call {float, float, float, float} @llvm.nvvm.mma.m16n8k4.row.col.tf32("
                  "i32 0, i32 0, i32 0, float %b, float %b, float %b, float %b)\n"
                  "store float %a, ptr %q\nret void"),
            "a b d !");
}

} // namespace
} // namespace kiln
