// Fields of a word become f16 and bf16 in pairs.

#include "compiler/Target/FieldsToHalves.h"
#include "llvm/Analysis/ConstantFolding.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"
#include "gtest/gtest.h"
#include <random>

namespace kiln {
namespace {

/// A function of one word, which it makes a pair of floats of.
class WordFunction {
public:
  explicit WordFunction(const std::string &body, const std::string &type = "half") {
    llvm::SMDiagnostic problem;
    module = llvm::parseAssemblyString("define <2 x " + type + "> @f(i32 %w) {\n" + body +
                                           "\n%p = insertelement <2 x " + type + "> poison, " +
                                           type + " %a, i64 0\n%q = insertelement <2 x " + type +
                                           "> %p, " + type + " %b, i64 1\nret <2 x " + type +
                                           "> %q\n}\ndeclare half @llvm.fma.f16(half, half, half)",
                                       problem, context);
    if (!module)
      ADD_FAILURE() << problem.getMessage().str();
  }

  unsigned count(unsigned opcode) {
    return llvm::count_if(llvm::instructions(function()),
                          [&](auto &op) { return op.getOpcode() == opcode; });
  }

  /// The result's text, by folding each instruction.
  std::string at(uint32_t word) {
    llvm::DenseMap<llvm::Value *, llvm::Constant *> values;
    values[function().getArg(0)] = llvm::ConstantInt::get(llvm::Type::getInt32Ty(context), word);
    for (llvm::Instruction &instruction : llvm::instructions(function())) {
      llvm::SmallVector<llvm::Constant *> operands;
      for (llvm::Value *operand : instruction.operands()) {
        auto *constant = llvm::dyn_cast<llvm::Constant>(operand);
        operands.push_back(constant ? constant : values.lookup(operand));
      }
      if (instruction.isTerminator()) {
        std::string text;
        llvm::raw_string_ostream(text) << *operands[0];
        return text;
      }
      values[&instruction] =
          llvm::ConstantFoldInstOperands(&instruction, operands, module->getDataLayout());
    }
    return "nothing";
  }

  void convert(FieldConversions target = {/*subtractsBF16=*/true}) {
    convertFieldsInPairs(function(), target);
  }

private:
  llvm::Function &function() { return *module->getFunction("f"); }

  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module;
};

/// Converts it, with so many conversions left, to a function with the same results.
void expectConversions(const std::string &body, unsigned left, const std::string &type = "half") {
  WordFunction before(body, type), now(body, type);
  now.convert();
  EXPECT_EQ(now.count(llvm::Instruction::SIToFP) + now.count(llvm::Instruction::UIToFP), left)
      << body;
  std::mt19937 random(1);
  for (uint32_t word : {0u, ~0u, 0x80000000u, 0x7fffffffu, 0x08080808u, 0x88888888u})
    EXPECT_EQ(now.at(word), before.at(word)) << body << "\n" << word;
  for (int i = 0; i < 300; ++i) {
    uint32_t word = uint32_t(random());
    ASSERT_EQ(now.at(word), before.at(word)) << body << "\n" << word;
  }
}

TEST(FieldsInPairs, WithoutSign) {
  const std::string nibbles = "%s = lshr i32 %w, 4\n%x = and i32 %s, 15\n%t = lshr i32 %w, 20\n"
                              "%y = and i32 %t, 15\n";
  const std::string casts = "%a = uitofp i32 %x to half\n%b = uitofp i32 %y to half";
  expectConversions(nibbles + casts, 0);
  // The highest needs no mask; the lowest no shift.
  expectConversions("%x = and i32 %w, 1023\n%s = lshr i32 %w, 16\n%y = and i32 %s, 1023\n" + casts,
                    0);
  expectConversions("%s = lshr i32 %w, 12\n%x = and i32 %s, 15\n%y = lshr i32 %w, 28\n" + casts, 0);
  expectConversions("%s = ashr i32 %w, 8\n%x = and i32 %s, 15\n%t = ashr i32 %w, 24\n"
                    "%y = and i32 %t, 15\n" +
                        casts,
                    0);
  // Of bytes of a vector, and narrower numbers.
  expectConversions(
      "%v = bitcast i32 %w to <4 x i8>\n%m = extractelement <4 x i8> %v, i64 1\n"
      "%n = extractelement <4 x i8> %v, i64 3\n%x = lshr i8 %m, 4\n%y = lshr i8 %n, 4\n"
      "%a = uitofp i8 %x to half\n%b = uitofp i8 %y to half",
      0);
  expectConversions("%s = lshr i32 %w, 16\n%m = trunc i32 %w to i8\n%n = trunc i32 %s to i8\n"
                    "%x = and i8 %m, 15\n%y = and i8 %n, 15\n"
                    "%a = sitofp i8 %x to half\n%b = sitofp i8 %y to half",
                    0);
  expectConversions("%s = lshr i32 %w, 3\n%x = and i32 %s, 127\n%t = lshr i32 %w, 19\n"
                    "%y = and i32 %t, 127\n%a = uitofp i32 %x to bfloat\n"
                    "%b = uitofp i32 %y to bfloat",
                    0, "bfloat");
}

TEST(FieldsInPairs, WithSign) {
  expectConversions("%l = shl i32 %w, 24\n%x = ashr i32 %l, 28\n%m = shl i32 %w, 8\n"
                    "%y = ashr i32 %m, 28\n%a = sitofp i32 %x to half\n%b = sitofp i32 %y to half",
                    0);
  expectConversions("%l = shl i32 %w, 16\n%x = ashr i32 %l, 28\n%y = ashr i32 %w, 28\n"
                    "%a = sitofp i32 %x to half\n%b = sitofp i32 %y to half",
                    0);
  // A zero point.
  for (const char *offset : {"-8", "7", "-1000"})
    expectConversions("%m = and i32 %w, 15\n%s = lshr i32 %w, 16\n%n = and i32 %s, 15\n"
                      "%x = add i32 %m, " +
                          std::string(offset) + "\n%y = add i32 %n, " + offset +
                          "\n%a = sitofp i32 %x to half\n%b = sitofp i32 %y to half",
                      0);
}

/// Of weights and zeros in the same places of two words.
TEST(FieldsInPairs, Differences) {
  auto difference = [](unsigned shift, unsigned shiftOfZero, const std::string &type) {
    std::string text = "%z = mul i32 %w, 40503\n";
    for (unsigned part : {0, 1}) {
      std::string n = std::to_string(part), low = std::to_string(shift + 16 * part),
                  zero = std::to_string(shiftOfZero + 16 * part);
      text += "%s" + n + " = lshr i32 %w, " + low + "\n%t" + n + " = lshr i32 %z, " + zero +
              "\n%m" + n + " = and i32 %s" + n + ", 15\n%n" + n + " = and i32 %t" + n + ", 15\n%d" +
              n + " = sub i32 %m" + n + ", %n" + n + "\n%" + (part ? "b" : "a") +
              " = sitofp i32 %d" + n + " to " + type + "\n";
    }
    return text;
  };
  for (unsigned shift : {0, 4, 12})
    for (const char *type : {"half", "bfloat"})
      expectConversions(difference(shift, shift, type), 0, type);
  expectConversions(difference(4, 8, "half"), 2);
  WordFunction other(difference(4, 4, "bfloat"), "bfloat");
  other.convert({/*subtractsBF16=*/false});
  EXPECT_EQ(other.count(llvm::Instruction::SIToFP), 2u);
}

/// Of bytes a target may have conversions.
TEST(FieldsInPairs, Bytes) {
  const std::string body = "%x = and i32 %w, 255\n%s = lshr i32 %w, 16\n%y = and i32 %s, 255\n"
                           "%a = uitofp i32 %x to half\n%b = uitofp i32 %y to half";
  expectConversions(body, 0);
  WordFunction now(body);
  now.convert({/*subtractsBF16=*/true, /*takesBytes=*/true});
  EXPECT_EQ(now.count(llvm::Instruction::UIToFP), 2u);
}

TEST(FieldsInPairs, WhatIsDoneToBoth) {
  const std::string nibbles = "%x = and i32 %w, 15\n%s = lshr i32 %w, 16\n%y = and i32 %s, 15\n"
                              "%c = uitofp i32 %x to half\n%d = uitofp i32 %y to half\n"
                              "%k = trunc i32 %w to i16\n%h = bitcast i16 %k to half\n";
  const std::string body = nibbles + "%e = fsub half %c, 8.0\n%f = fsub half %d, 8.0\n"
                                     "%a = call half @llvm.fma.f16(half %e, half %h, half 2.0)\n"
                                     "%b = call half @llvm.fma.f16(half %f, half %h, half 2.0)";
  expectConversions(body, 0);
  WordFunction now(body);
  now.convert();
  EXPECT_EQ(now.count(llvm::Instruction::Call), 1u);
  EXPECT_EQ(now.count(llvm::Instruction::FSub), 2u) << "one makes the floats";
  // Not alike.
  expectConversions(nibbles + "%a = fsub half %c, 8.0\n%b = fsub half 8.0, %d", 0);
  expectConversions(nibbles + "%a = fmul half %c, %d\n%b = fadd half %h, %h", 0);
}

/// Each pair where it is.
TEST(FieldsInPairs, InTwoBlocks) {
  auto part = [](const std::string &n) {
    return "%x" + n + " = and i32 %w, 15\n%s" + n + " = lshr i32 %w, 16\n%y" + n + " = and i32 %s" +
           n + ", 15\n%a" + n + " = uitofp i32 %x" + n + " to half\n%b" + n + " = uitofp i32 %y" +
           n + " to half\n";
  };
  WordFunction now("%i = trunc i32 %w to i1\nbr i1 %i, label %one, label %two\none:\n" + part("1") +
                   "br label %end\ntwo:\n" + part("2") + "br label %end\nend:\n" +
                   "%a = phi half [ %a1, %one ], [ %a2, %two ]\n"
                   "%b = phi half [ %b1, %one ], [ %b2, %two ]");
  now.convert();
  EXPECT_EQ(now.count(llvm::Instruction::UIToFP), 0u);
  EXPECT_EQ(now.count(llvm::Instruction::FSub), 2u);
}

TEST(FieldsInPairs, Others) {
  auto halves = [](const std::string &from) {
    return "%a = uitofp " + from + " %x to half\n%b = uitofp " + from + " %y to half";
  };
  // Not as far apart, of other lengths, too long.
  expectConversions(
      "%x = and i32 %w, 15\n%s = lshr i32 %w, 12\n%y = and i32 %s, 15\n" + halves("i32"), 2);
  expectConversions(
      "%x = and i32 %w, 15\n%s = lshr i32 %w, 16\n%y = and i32 %s, 7\n" + halves("i32"), 2);
  expectConversions(
      "%x = and i32 %w, 2047\n%s = lshr i32 %w, 16\n%y = and i32 %s, 2047\n" + halves("i32"), 2);
  // A sum that wraps, and a sign in the highest bit of a byte.
  expectConversions("%v = bitcast i32 %w to <4 x i8>\n%m = extractelement <4 x i8> %v, i64 0\n"
                    "%n = extractelement <4 x i8> %v, i64 2\n%o = and i8 %m, 127\n"
                    "%p1 = and i8 %n, 127\n%x = add i8 %o, 100\n%y = add i8 %p1, 100\n"
                    "%a = sitofp i8 %x to half\n%b = sitofp i8 %y to half",
                    2);
  expectConversions("%v = bitcast i32 %w to <4 x i8>\n%x = extractelement <4 x i8> %v, i64 0\n"
                    "%y = extractelement <4 x i8> %v, i64 2\n%a = sitofp i8 %x to half\n"
                    "%b = sitofp i8 %y to half",
                    2);
}

} // namespace
} // namespace kiln
