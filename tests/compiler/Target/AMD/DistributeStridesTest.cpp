//===- DistributeStridesTest.cpp - Strides of what loops change, once for all rows -===//

#include "compiler/Target/AMD/DistributeStrides.h"
#include "tests/compiler/Target/CPU/LoadedObject.h"
#include "tests/compiler/Target/EveryScalarKernel.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Target/TargetMachine.h"

#include <array>

using namespace kiln::testing;

namespace {

using Row = std::array<uint32_t, 4>;

/// A loop over four numbers, each `%first` once; its body stores four, from `%to` on.
std::string loopOf(const std::string &body) {
  return R"(
define void @f(ptr %in, ptr %numbers, ptr %none, ptr %out) {
entry:
  %all = load <4 x i32>, ptr %numbers
  %stride = extractelement <4 x i32> %all, i32 0
  %a = extractelement <4 x i32> %all, i32 1
  %b = extractelement <4 x i32> %all, i32 2
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %from = getelementptr i32, ptr %in, i32 %i
  %first = load i32, ptr %from
  %to = getelementptr [4 x i32], ptr %out, i32 %i
)" + body +
         R"(
  %next = add i32 %i, 1
  %again = icmp ult i32 %next, 4
  br i1 %again, label %loop, label %end
end:
  ret void
})";
}

std::string storeOf(unsigned place, const std::string &value) {
  std::string pointer = "%p" + std::to_string(place);
  return "  " + pointer + " = getelementptr i32, ptr %to, i32 " + std::to_string(place) +
         "\n  store i32 %" + value + ", ptr " + pointer + "\n";
}

/// What the loop stores, of numbers that overflow and others.
std::array<Row, 4> resultsOf(llvm::Module &module) {
  std::unique_ptr<llvm::TargetMachine> machine = hostMachine();
  module.setDataLayout(machine->createDataLayout());
  LoadedObject object(module, *machine, "f");
  alignas(16) const Row in{7, 0x7fffffff, 0x80000000, 0xfffffff3};
  alignas(16) const Row numbers{0x12345677, 0xfffffffb, 0x40000001, 0};
  std::array<Row, 4> out{};
  object.as<void(const uint32_t *, const uint32_t *, void *, Row *)>()(in.data(), numbers.data(),
                                                                       nullptr, out.data());
  return out;
}

/// Multiplications that the loop is left with. Its results must stay.
unsigned productsIn(const std::string &body) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> before = parseIR(loopOf(body), context),
                                after = parseIR(loopOf(body), context);
  kiln::distributeStrides(*after->getFunction("f"));
  EXPECT_FALSE(llvm::verifyModule(*after, &llvm::errs()));
  unsigned products = 0;
  for (const llvm::Instruction &op : llvm::instructions(*after->getFunction("f")))
    products += op.getOpcode() == llvm::Instruction::Mul && op.getParent()->getName() == "loop";
  EXPECT_EQ(resultsOf(*after), resultsOf(*before)) << body;
  return products;
}

TEST(DistributeStrides, RowsShareTheProductOfWhatTheLoopChanges) {
  EXPECT_EQ(productsIn(R"(
  %row0 = add i32 %first, %a
  %row1 = add i32 %first, %b
  %o0 = mul i32 %row0, %stride
  %o1 = mul i32 %stride, %row1
)" + storeOf(0, "o0") + storeOf(1, "o1")),
            1u);
}

/// Sums of three, differences, disjoint bits and shifts divide as well; so do two strides.
TEST(DistributeStrides, OffsetsDivideWhateverTheyAreComputedBy) {
  EXPECT_EQ(productsIn(R"(
  %tile = shl i32 %first, 2
  %row0 = or disjoint i32 %tile, 3
  %row1 = sub i32 %tile, %b
  %column = sub i32 %b, %i
  %r0 = mul i32 %row0, %stride
  %r1 = mul i32 %row1, %stride
  %s0 = add i32 %r0, %column
  %s1 = add i32 %r1, %column
  %t0 = mul i32 %s0, 12
  %t1 = mul i32 %s1, 12
  %o0 = shl i32 %t0, 1
  %o1 = shl i32 %t1, 1
)" + storeOf(0, "o0") + storeOf(1, "o1") +
                       storeOf(2, "row0")),
            2u);
}

/// A difference from what the loop does not change has the other's negative.
TEST(DistributeStrides, WhatIsTakenAwayIsNegated) {
  EXPECT_EQ(productsIn(R"(
  %row0 = sub i32 %a, %first
  %row1 = sub i32 %b, %first
  %o0 = mul i32 %row0, %stride
  %o1 = mul i32 %row1, %stride
)" + storeOf(0, "o0") + storeOf(1, "o1")),
            1u);
}

TEST(DistributeStrides, OthersAreLeft) {
  // One row alone; rows that the loop loads each; a stride that it changes.
  EXPECT_EQ(
      productsIn("  %row = add i32 %first, %a\n  %o = mul i32 %row, %stride\n" + storeOf(0, "o")),
      1u);
  EXPECT_EQ(productsIn(R"(
  %second = xor i32 %first, 5
  %row0 = add i32 %first, %a
  %row1 = add i32 %second, %b
  %o0 = mul i32 %row0, %stride
  %o1 = mul i32 %row1, %stride
)" + storeOf(0, "o0") + storeOf(1, "o1")),
            2u);
  EXPECT_EQ(productsIn(R"(
  %row0 = add i32 %first, %a
  %row1 = add i32 %first, %b
  %o0 = mul i32 %row0, %i
  %o1 = mul i32 %row1, %i
)" + storeOf(0, "o0") + storeOf(1, "o1")),
            2u);
}

/// Offsets of as many rows from `first` on, and `all` of them in one number.
std::string rowsFrom(const std::string &first, unsigned count, std::string &all) {
  std::string body;
  for (unsigned i = 0; i < count; ++i) {
    std::string n = first + std::to_string(i);
    body += "  %a" + n + " = add i32 %" + first + ", " + std::to_string(i + 1) + "\n  %row" + n +
            " = add i32 %a" + n + ", %a\n  %o" + n + " = mul i32 %row" + n + ", %stride\n  %x" + n +
            " = xor i32 %o" + n + ", " + all + "\n";
    all = "%x" + n;
  }
  return body;
}

/// As many rows as said, each of which would hold a register.
std::string manyRows(unsigned count) {
  std::string all = "0", body = rowsFrom("first", count, all);
  return body + storeOf(0, all.substr(1));
}

TEST(DistributeStrides, ManyOffsetsAreLeft) {
  EXPECT_EQ(productsIn(manyRows(16)), 1u);
  EXPECT_EQ(productsIn(manyRows(17)), 17u);
}

/// Two iterations in one, whose rows have what they hold in common.
std::string rowsOfTwo(unsigned count) {
  std::string all = "0", body = "  %second = xor i32 %first, 5\n";
  body += rowsFrom("first", count, all);
  body += rowsFrom("second", count, all);
  return body + storeOf(0, all.substr(1));
}

TEST(DistributeStrides, RowsOfSeveralIterationsHoldTheSame) {
  EXPECT_EQ(productsIn(rowsOfTwo(12)), 2u);
  EXPECT_EQ(productsIn(rowsOfTwo(17)), 34u);
}

} // namespace
