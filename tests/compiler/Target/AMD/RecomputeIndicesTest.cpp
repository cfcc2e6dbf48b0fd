//===- RecomputeIndicesTest.cpp - Indices computed again behind loops of products -===//

#include "compiler/Target/AMD/RecomputeIndices.h"
#include "tests/compiler/Target/AMD/ProductLoop.h"
#include "tests/compiler/Target/EveryScalarKernel.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Verifier.h"

using namespace kiln::testing;

namespace {

using kiln::HeldNumber;
using kiln::IndexPlaces;

/// What blocks named `taker` use of the values of one named `giver`, once each: "%thread, %n".
std::string usedOf(llvm::Function &function, llvm::StringRef giver, llvm::StringRef taker) {
  std::vector<std::string> used;
  for (llvm::Instruction &op : llvm::instructions(function))
    if (op.getParent()->getName() == giver && llvm::any_of(op.users(), [&](llvm::User *user) {
          return llvm::cast<llvm::Instruction>(user)->getParent()->getName() == taker;
        }))
      used.push_back("%" + op.getName().str());
  return llvm::join(used, ", ");
}

/// What the block `taker` behind the loop uses of the values of another, `giver`.
std::string heldBy(const std::string &entry, const std::string &loop, const std::string &end,
                   IndexPlaces places = IndexPlaces::BehindLoop, llvm::StringRef giver = "entry",
                   llvm::StringRef taker = "end", HeldNumber held = HeldNumber::Thread) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module = parseIR(declareWmma + R"(
declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.workgroup.id.x()
define void @f(i32 %n, i1 %any, i1 %again, ptr addrspace(1) %out, <16 x half> %a) {
entry:
  %thread = call i32 @llvm.amdgcn.workitem.id.x()
  %program = call i32 @llvm.amdgcn.workgroup.id.x()
)" + entry + R"(
  br i1 %any, label %loop, label %end
loop:
  %c = phi <8 x float> [ zeroinitializer, %entry ], [ %d, %loop ]
)" + loop + R"(
  br i1 %again, label %loop, label %end
end:
  %sum = phi <8 x float> [ zeroinitializer, %entry ], [ %d, %loop ]
  store <8 x float> %sum, ptr addrspace(1) %out
)" + end + R"(
  ret void
})",
                                                 context);
  llvm::Function &kernel = *module->getFunction("f");
  kiln::recomputeIndices(kernel, places, held);
  EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs()));
  return usedOf(kernel, giver, taker);
}

const std::string product = productOf("%a", "%a");

const std::string store = R"(
  %p = getelementptr i32, ptr addrspace(1) %out, i32 %row
  store i32 %column, ptr addrspace(1) %p
)";

const std::string ofThread = R"(
  %row = and i32 %thread, 31
  %column = lshr i32 %thread, 5
)";

TEST(RecomputeIndices, TheLoopHoldsTheThreadsNumberAndScalars) {
  EXPECT_EQ(heldBy(R"(
  %first = mul i32 %program, %n
  %part = and i32 %thread, 31
  %row = add i32 %first, %part
  %shifted = lshr i32 %thread, 5
  %column = mul i32 %shifted, 8
)",
                   product, store),
            "%thread, %first");
}

/// Which a scalar register has.
TEST(RecomputeIndices, TheLoopHoldsTheNumberOfTheWavesFirstThread) {
  EXPECT_EQ(heldBy(ofThread, product, store, IndexPlaces::BehindLoop, "entry", "end",
                   HeldNumber::FirstOfWave),
            "%wave");
}

TEST(RecomputeIndices, TheLoopHoldsNothingWhereTheProcessorKnowsTheWave) {
  EXPECT_EQ(
      heldBy(ofThread, product, store, IndexPlaces::BehindLoop, "entry", "end", HeldNumber::None),
      "");
}

TEST(RecomputeIndices, WhatTakesDivisionsOrIsLoadedIsHeld) {
  EXPECT_EQ(heldBy(R"(
  %row = urem i32 %thread, %n
  %place = getelementptr i32, ptr addrspace(1) %out, i32 %thread
  %column = load i32, ptr addrspace(1) %place
)",
                   product, store),
            "%row, %column");
}

/// Code behind the loop whose last block uses what the first computes.
const std::string severalBlocks = store + R"(
  %later = or i32 %row, 32
  %q = getelementptr i32, ptr addrspace(1) %out, i32 %later
  store i32 %column, ptr addrspace(1) %q
  br i1 %any, label %some, label %last
some:
  br label %last
last:
  %r = getelementptr i32, ptr addrspace(1) %out, i32 %later
  store i32 %row, ptr addrspace(1) %r
)";

TEST(RecomputeIndices, OneBlockHoldsIndicesForTheNext) {
  EXPECT_EQ(heldBy(ofThread, product, severalBlocks, IndexPlaces::BehindLoop, "end", "last"),
            "%, %later");
}

TEST(RecomputeIndices, EachBlockComputesIndicesWhereThatIsAskedFor) {
  EXPECT_EQ(heldBy(ofThread, product, severalBlocks, IndexPlaces::EachBlock, "end", "last"), "");
  EXPECT_EQ(heldBy(ofThread, product, severalBlocks, IndexPlaces::EachBlock, "entry", "last"),
            "%thread");
}

TEST(RecomputeIndices, LoopsBehindTheLoopHoldIndices) {
  EXPECT_EQ(heldBy(ofThread, product, store + R"(
  br label %next
next:
  store i32 %row, ptr addrspace(1) %out
  br i1 %again, label %next, label %last
last:
)",
                   IndexPlaces::EachBlock, "next", "next"),
            "");
}

/// The rows that a loop compares with an end, and an offset that it adds to.
const std::string inLoop = R"(
entry:
  %thread = call i32 @llvm.amdgcn.workitem.id.x()
  %shifted = lshr i32 %thread, 3
  %row = add i32 %shifted, %first
  %low = and i32 %thread, 7
  %wide = shl i32 %low, 4
  %offset = or disjoint i32 %wide, %shifted
  br label %loop
loop:
  %c = phi <8 x float> [ zeroinitializer, %entry ], [ %d, %loop ]
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %at = add i32 %row, %i
  %place = add i32 %offset, %i
  %next = add i32 %i, 64
  %isThere = icmp ult i32 %at, %end
  %to = select i1 %isThere, i32 %place, i32 -1
  store i32 %to, ptr addrspace(1) %out
)" + productOf("%a", "%a") +
                           R"(
  %again = icmp ult i32 %next, %end
  br i1 %again, label %loop, label %behind
behind:
  store <8 x float> %d, ptr addrspace(1) %out
  ret void
})";

/// The same loop, which does not end at its latch.
std::string withOtherLatch() {
  std::string loop = inLoop;
  for (auto [from, to] :
       {std::pair("%next, %loop ]", "%next, %latch ]"), std::pair("%d, %loop ]", "%d, %latch ]"),
        std::pair("label %loop, label %behind\n",
                  "label %latch, label %behind\nlatch:\n  br label %loop\n")})
    loop.replace(loop.find(from), std::string(from).size(), to);
  return loop;
}

/// What the loop takes of its entry, where it computes again what so many instructions make; and
/// when that is taken back.
std::string heldIn(unsigned instructions, bool isTakenBack = false,
                   const std::string &loop = inLoop) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module = parseIR(declareWmma + R"(
declare i32 @llvm.amdgcn.workitem.id.x()
define void @f(i32 %first, i32 %end, ptr addrspace(1) %out, <16 x half> %a) {
)" + loop,
                                                 context);
  llvm::Function &kernel = *module->getFunction("f");
  kiln::HeldIndices held = kiln::recomputeInLoops(kernel, instructions, HeldNumber::FirstOfWave);
  if (isTakenBack)
    kiln::holdAgain(held);
  EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs()));
  return usedOf(kernel, "entry", "loop");
}

TEST(RecomputeIndices, LoopsComputeWhatFewInstructionsMake) {
  EXPECT_EQ(heldIn(1), "%row, %offset");
  EXPECT_EQ(heldIn(2), "%wave, %offset");
  EXPECT_EQ(heldIn(4), "%wave");
}

TEST(RecomputeIndices, LoopsHoldIndicesAgain) {
  EXPECT_EQ(heldIn(4, /*isTakenBack=*/true), "%row, %offset");
}

TEST(RecomputeIndices, LoopsThatDoNotEndAtTheirLatchHoldIndices) {
  EXPECT_EQ(heldIn(4, /*isTakenBack=*/false, withOtherLatch()), "%row, %offset");
}

TEST(RecomputeIndices, LoopsWithoutProductsAreLeftAlone) {
  EXPECT_EQ(heldBy(ofThread, "  %d = fadd <8 x float> %c, %c\n", store), "%row, %column");
}

} // namespace
