// Which shuffles become one, and which stay.

#include "compiler/Target/NVIDIA/ShuffleChains.h"
#include "llvm/ADT/StringExtras.h"
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

std::string exchange(const std::string &name, const std::string &given, int lanes,
                     const std::string &members = "-1", int clamp = 31) {
  return "%" + name + " = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 " + members + ", i32 %" +
         given + ", i32 " + std::to_string(lanes) + ", i32 " + std::to_string(clamp) + ")\n";
}

/// What is left of the function: shuffles as "x^3", by what they are given, and other operations.
std::string left(const std::string &body) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic problem;
  auto module = llvm::parseAssemblyString("define i32 @f(i32 %x, i16 %h, i1 %c) {\n" + body +
                                              "}\ndeclare i32 @llvm.nvvm.shfl.sync.bfly.i32("
                                              "i32, i32, i32, i32)",
                                          problem, context);
  if (!module)
    return problem.getMessage().str();
  shortenShuffleChains(*module);
  EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs()));
  llvm::SmallVector<std::string> list;
  for (llvm::Instruction &instruction : llvm::instructions(module->getFunction("f"))) {
    auto *call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    if (call)
      list.push_back(
          (call->getArgOperand(1)->hasName() ? call->getArgOperand(1)->getName().str()
                                             : std::string("?")) +
          "^" +
          std::to_string(llvm::cast<llvm::ConstantInt>(call->getArgOperand(2))->getZExtValue()));
    else if (!instruction.isTerminator())
      list.push_back(instruction.getOpcodeName());
  }
  return llvm::join(list, " ");
}

TEST(ShuffleChains, BecomeOneShuffle) {
  EXPECT_EQ(left(exchange("a", "x", 1) + exchange("b", "a", 2) + exchange("c1", "b", 4) +
                 "ret i32 %c1\n"),
            "x^7");
}

TEST(ShuffleChains, UndoEachOther) {
  EXPECT_EQ(left(exchange("a", "x", 1) + exchange("b", "a", 2) + exchange("c1", "b", 3) +
                 "ret i32 %c1\n"),
            "");
}

TEST(ShuffleChains, OfPartsOfWords) {
  std::string low = "%m = and i32 %a, 65535\n";
  EXPECT_EQ(left("%w = zext i16 %h to i32\n" + exchange("a", "w", 1) + low + exchange("b", "m", 2) +
                 "ret i32 %b\n"),
            "zext w^3");
  EXPECT_EQ(left(exchange("a", "x", 1) + low + exchange("b", "m", 2) + "ret i32 %b\n"), "x^3 and");
}

/// Several at a time, each through so many masks that taking one away takes others along.
TEST(ShuffleChains, OfManyWords) {
  std::string body, sum = "x", expected;
  for (int word = 0; word < 64; ++word) {
    std::string id = std::to_string(word), given = "w" + id;
    body +=
        "%h" + id + " = add i16 %h, " + id + "\n%" + given + " = zext i16 %h" + id + " to i32\n";
    std::string last;
    for (int lanes : {1, 2, 4, 1, 2, 4, 8}) {
      last = given;
      std::string got = given + "_" + std::to_string(lanes);
      body += exchange(got, given, lanes) + "%" + got + "m = and i32 %" + got + ", 65535\n";
      given = got + "m";
    }
    body += "%s" + id + " = xor i32 %" + sum + ", %" + given + "\n";
    sum = "s" + id;
    // Six of the seven undo each other.
    expected += (word ? " add zext and " : "add zext and ") + last + "^8 and xor";
  }
  EXPECT_EQ(left(body + "ret i32 %" + sum + "\n"), expected);
}

TEST(ShuffleChains, WhatIsReadInBetweenStays) {
  EXPECT_EQ(
      left(exchange("a", "x", 1) + exchange("b", "a", 2) + "%s = add i32 %a, %b\nret i32 %s\n"),
      "x^1 x^3 add");
}

TEST(ShuffleChains, OnlyOfWholeWarpsInOneBlock) {
  EXPECT_EQ(left(exchange("a", "x", 1, "15") + exchange("b", "a", 2, "15") + "ret i32 %b\n"),
            "x^1 a^2");
  EXPECT_EQ(left(exchange("a", "x", 1, "-1", 7199) + exchange("b", "a", 2) + "ret i32 %b\n"),
            "x^1 a^2");
  EXPECT_EQ(left(exchange("a", "x", 1) + "br i1 %c, label %then, label %end\nthen:\n" +
                 exchange("b", "a", 2) + "ret i32 %b\nend:\nret i32 %x\n"),
            "x^1 a^2");
}

} // namespace
} // namespace kiln
