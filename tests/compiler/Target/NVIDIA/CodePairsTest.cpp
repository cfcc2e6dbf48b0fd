//===- CodePairsTest.cpp - 8-bit floats that are made two at a time --------------===//

#include "compiler/Target/NVIDIA/CodePairs.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

using namespace kiln;

namespace {

std::string kept(const std::string &type, const std::string &body) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic problem;
  auto module = llvm::parseAssemblyString(
      "declare i16 @llvm.nvvm.ff.to.e4m3x2.rn(float, float)\n"
      "declare i32 @llvm.nvvm.prmt(i32, i32, i32)\n"
      "declare float @llvm.minnum.f32(float, float)\n"
      "declare float @llvm.maxnum.f32(float, float)\n"
      "define " +
          type + " @f(float %a, float %b, i16 %x, i16 %y, i16 %z) {\n" + body + "\n}",
      problem, context);
  EXPECT_TRUE(module) << problem.getMessage().str();
  if (!module)
    return "";
  keepCodesInPairs(*module);
  EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs()));
  std::string text;
  llvm::raw_string_ostream(text) << *module->getFunction("f");
  return text;
}

bool has(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

/// The halves of `name`.
std::string bytesOf(const std::string &name) {
  return "%" + name + "0 = trunc i16 %" + name + " to i8\n%" + name + "s = lshr i16 %" + name +
         ", 8\n%" + name + "1 = trunc i16 %" + name + "s to i8\n";
}
std::string insert(const std::string &to, const std::string &from, const std::string &byte,
                   int place) {
  return "%" + to + " = insertelement <4 x i8> " + from + ", i8 %" + byte + ", i64 " +
         std::to_string(place) + "\n";
}

TEST(CodePairs, Vectors) {
  std::string text = kept("<4 x i8>", bytesOf("x") + bytesOf("y") + insert("p", "poison", "x0", 0) +
                                          insert("q", "%p", "x1", 1) + insert("r", "%q", "y0", 2) +
                                          insert("s", "%r", "y1", 3) + "ret <4 x i8> %s");
  EXPECT_TRUE(has(text, "insertelement <2 x i16> poison, i16 %x, i64 0")) << text;
  EXPECT_TRUE(has(text, "i16 %y, i64 1"));
  EXPECT_FALSE(has(text, "trunc"));
}

/// What LLVM has recognised by itself.
TEST(CodePairs, VectorsThatBeginAsPairs) {
  std::string text = kept("<4 x i8>", "%p = insertelement <2 x i16> poison, i16 %x, i64 0\n"
                                      "%q = bitcast <2 x i16> %p to <4 x i8>\n" +
                                          bytesOf("y") + insert("r", "%q", "y0", 2) +
                                          insert("s", "%r", "y1", 3) + "ret <4 x i8> %s");
  EXPECT_TRUE(has(text, "i16 %y, i64 1")) << text;
  EXPECT_FALSE(has(text, "trunc"));
}

TEST(CodePairs, OtherBytes) {
  std::string begin = bytesOf("x") + bytesOf("y") + insert("p", "poison", "x0", 0);
  std::string end = insert("r", "%q", "y0", 2) + insert("s", "%r", "y1", 3) + "ret <4 x i8> %s";
  for (std::string other : {insert("q", "%p", "y1", 1), insert("q", "%p", "x0", 1),
                            std::string("%q = freeze <4 x i8> %p\n")}) {
    std::string text = kept("<4 x i8>", begin + other + end);
    EXPECT_TRUE(has(text, "insertelement <4 x i8> %r, i8 %y1, i64 3")) << text;
  }
}

/// The codes of two numbers, with the signs of NaNs.
std::string codesOf(const std::string &low, const std::string &high, int selection = 0x7373) {
  return "%c = call i16 @llvm.nvvm.ff.to.e4m3x2.rn(float %" + high + ", float %" + low +
         ")\n%l = bitcast float %" + low + " to i32\n%h = bitcast float %" + high +
         " to i32\n%w = call i32 @llvm.nvvm.prmt(i32 %l, i32 %h, i32 " + std::to_string(selection) +
         ")\n%t = trunc i32 %w to i16\n%m = and i16 %t, -32640\n%o = or i16 %m, %c\nret i16 %o";
}

TEST(CodePairs, SignsOfNumbers) {
  std::string numbers = "%u = call float @llvm.minnum.f32(float %a, float 448.0)\n"
                        "%v = call float @llvm.minnum.f32(float %b, float 448.0)\n";
  std::string text = kept("i16", numbers + codesOf("u", "v"));
  EXPECT_TRUE(has(text, "ret i16 %c")) << text;
  EXPECT_FALSE(has(text, "prmt"));
  EXPECT_TRUE(has(kept("i16", numbers + codesOf("a", "v")), "ret i16 %o"));
  EXPECT_TRUE(has(kept("i16", numbers + codesOf("u", "b")), "ret i16 %o"));
  EXPECT_TRUE(has(kept("i16", numbers + codesOf("u", "v", 0x7337)), "ret i16 %o"));
}

/// The code of `%a` between two bounds.
std::string bounded(const std::string &inner, const std::string &first, const std::string &outer,
                    const std::string &second) {
  return kept("i16", "%u = call float @llvm." + inner + "num.f32(float %a, float " + first +
                         ")\n%v = call float @llvm." + outer + "num.f32(float %u, float " + second +
                         ")\n%c = call i16 @llvm.nvvm.ff.to.e4m3x2.rn(float %v, float %v)\n"
                         "ret i16 %c");
}

TEST(CodePairs, BoundsOfNumbers) {
  const char *const converted = "rn(float %u, float %u)", *const bound = "rn(float %v, float %v)";
  // The first one makes a number of NaN.
  EXPECT_TRUE(has(bounded("max", "-448.0", "min", "448.0"), converted));
  EXPECT_TRUE(has(bounded("min", "448.0", "max", "-448.0"), converted));
  EXPECT_TRUE(has(bounded("max", "-448.0", "min", "512.0"), converted));
  EXPECT_TRUE(has(bounded("max", "-448.0", "min", "416.0"), bound));
  EXPECT_TRUE(has(bounded("max", "-448.0", "max", "-416.0"), bound));
}

} // namespace
