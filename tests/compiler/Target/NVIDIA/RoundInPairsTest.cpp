//===- RoundInPairsTest.cpp - f32 become bf16 two at a time ----------------------===//

#include "compiler/Target/NVIDIA/RoundInPairs.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

using namespace kiln;

namespace {

std::string rounded(const std::string &body) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic problem;
  auto module = llvm::parseAssemblyString(
      "define float @f(float %a, float %b, ptr %p) {\n" + body + "\n}", problem, context);
  EXPECT_TRUE(module) << problem.getMessage().str();
  if (!module)
    return "";
  roundInPairs(*module);
  EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs()));
  std::string text;
  llvm::raw_string_ostream(text) << *module;
  return text;
}

bool has(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

TEST(RoundInPairs, Neighbours) {
  std::string text = rounded("%x = fptrunc float %a to bfloat\n"
                             "%y = fptrunc float %b to bfloat\n"
                             "%u = fpext bfloat %x to float\n"
                             "%v = fpext bfloat %y to float\n"
                             "%s = fsub float %u, %v\n"
                             "ret float %s");
  EXPECT_TRUE(has(text, "@llvm.nvvm.ff2bf16x2.rn(float %b, float %a)")) << text;
  EXPECT_FALSE(has(text, "fptrunc"));
  // The first is the lower one.
  EXPECT_TRUE(has(text, "%2 = extractelement <2 x bfloat> %1, i64 0")) << text;
  EXPECT_TRUE(has(text, "%u = fpext bfloat %2")) << text;
}

TEST(RoundInPairs, OneThatAnotherHangsOn) {
  std::string text = rounded("%x = fptrunc float %a to bfloat\n"
                             "%u = fpext bfloat %x to float\n"
                             "%y = fptrunc float %u to bfloat\n"
                             "%v = fpext bfloat %y to float\n"
                             "ret float %v");
  EXPECT_TRUE(has(text, "ff2bf16x2.rn(float 0.000000e+00, float %a)")) << text;
  EXPECT_TRUE(has(text, "ff2bf16x2.rn(float 0.000000e+00, float %u)")) << text;
}

TEST(RoundInPairs, NotWhatIsStored) {
  std::string text = rounded("%x = fptrunc float %a to bfloat\n"
                             "store bfloat %x, ptr %p\n"
                             "%h = fptrunc float %b to half\n"
                             "%v = fpext half %h to float\n"
                             "ret float %v");
  EXPECT_FALSE(has(text, "ff2bf16x2")) << text;
}

} // namespace
