// Integers that are known to be small become f16 and bf16 by way of f32.

#include "compiler/Target/NVIDIA/IntegersToHalves.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"
#include "gtest/gtest.h"

namespace kiln {
namespace {

/// The kinds of the function's casts, from the first on: "and,uitofp,fptrunc" without the others.
std::string casts(const std::string &parameters, const std::string &body) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic problem;
  auto module = llvm::parseAssemblyString("define void @f(" + parameters + ") {\n" + body +
                                              "\nret void\n}\ndeclare void @use(...)",
                                          problem, context);
  if (!module)
    return problem.getMessage().str();
  convertThroughF32(*module);
  std::string list;
  for (llvm::Instruction &instruction : llvm::instructions(module->getFunction("f")))
    if (auto *cast = llvm::dyn_cast<llvm::CastInst>(&instruction)) {
      std::string to;
      llvm::raw_string_ostream(to) << *cast->getDestTy();
      list += (list.empty() ? "" : ", ") + std::string(cast->getOpcodeName()) + " " + to;
    }
  return list;
}

std::string cast(const std::string &kind, const std::string &from, const std::string &to) {
  return casts(from + " %x",
               "%y = " + kind + " " + from + " %x to " + to + "\ncall void @use(" + to + " %y)");
}

TEST(IntegersToHalves, NarrowTypes) {
  EXPECT_EQ(cast("sitofp", "i8", "half"), "sext i32, sitofp float, fptrunc half");
  EXPECT_EQ(cast("uitofp", "i16", "bfloat"), "zext i32, uitofp float, fptrunc bfloat");
  EXPECT_EQ(cast("uitofp", "<2 x i8>", "<2 x half>"),
            "zext <2 x i32>, uitofp <2 x float>, fptrunc <2 x half>");
}

TEST(IntegersToHalves, KnownBits) {
  auto masked = [](const std::string &mask) {
    return casts("i32 %x", "%m = and i32 %x, " + mask +
                               "\n%y = uitofp i32 %m to half\ncall void @use(half %y)");
  };
  EXPECT_EQ(masked("15"), "uitofp float, fptrunc half");
  EXPECT_EQ(masked("16777215"), "uitofp float, fptrunc half");
  EXPECT_EQ(masked("33554431"), "uitofp half") << "f32 would round, too";
  EXPECT_EQ(casts("i32 %x", "%m = ashr i32 %x, 8\n%y = sitofp i32 %m to half\n"
                            "call void @use(half %y)"),
            "sitofp float, fptrunc half");
  EXPECT_EQ(casts("i64 %x", "%m = and i64 %x, 255\n%y = sitofp i64 %m to half\n"
                            "call void @use(half %y)"),
            "trunc i32, sitofp float, fptrunc half");
}

TEST(IntegersToHalves, Others) {
  EXPECT_EQ(cast("sitofp", "i32", "half"), "sitofp half");
  EXPECT_EQ(cast("uitofp", "i8", "float"), "uitofp float");
  EXPECT_EQ(cast("uitofp", "i8", "double"), "uitofp double");
  EXPECT_EQ(cast("uitofp", "i1", "half"), "uitofp half") << "a choice of two constants";
}

} // namespace
} // namespace kiln
