//===- KeepOffsetsTest.cpp - Which constants accesses to buffers do not add ----===//

#include "compiler/Target/AMD/KeepOffsets.h"
#include "tests/compiler/Target/EveryScalarKernel.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Pass.h"

using namespace kiln::testing;

namespace {

std::string loadAt(const std::string &offset) {
  return "  %first.value = call i32 @llvm.amdgcn.raw.ptr.buffer.load.i32(ptr addrspace(8) %buffer, "
         "i32 " +
         offset + ", i32 0, i32 0)\n";
}

bool isKept(llvm::Value *offset) {
  auto *call = llvm::dyn_cast<llvm::CallInst>(offset);
  return call && call->isInlineAsm();
}

/// What a load and a store take as their offset in a loop that counts from `start` on: "kept", a
/// sum computed in front of the access, "behind" one, or "added", by the access.
std::string offsetsOf(const std::string &start, const std::string &offset,
                      const std::string &step = "1024") {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module = parseIR(R"(
declare i32 @llvm.amdgcn.raw.ptr.buffer.load.i32(ptr addrspace(8), i32, i32, i32)
declare i32 @llvm.amdgcn.mul.i24.i32(i32, i32)
declare void @llvm.amdgcn.raw.ptr.buffer.store.i32(i32, ptr addrspace(8), i32, i32, i32)
define void @f(ptr addrspace(8) %buffer, i32 range(i32 0, 64) %lane, i32 %n) {
entry:
  %early = add i32 %lane, -1024
  %frozen = freeze i32 %early
  br label %loop
loop:
  %i = phi i32 [ )" + start + R"(, %entry ], [ %next, %loop ]
  %next = add i32 %i, )" + step + R"(
  %x = add i32 %i, %lane
)" + offset + R"(
  %value = call i32 @llvm.amdgcn.raw.ptr.buffer.load.i32(ptr addrspace(8) %buffer, i32 %offset, i32 0, i32 0)
  call void @llvm.amdgcn.raw.ptr.buffer.store.i32(i32 %value, ptr addrspace(8) %buffer, i32 %offset, i32 0, i32 0)
  %goes = icmp slt i32 %i, %n
  br i1 %goes, label %loop, label %exit
exit:
  ret void
})",
                                                 context);
  llvm::legacy::PassManager passes;
  passes.add(kiln::createKeepOffsets());
  passes.run(*module);
  EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs()));
  std::string result;
  for (llvm::BasicBlock &block : *module->getFunction("f"))
    for (llvm::Instruction &instruction : block) {
      auto *access = llvm::dyn_cast<llvm::CallInst>(&instruction);
      if (!access || access->isInlineAsm() ||
          !access->getCalledFunction()->getName().contains("buffer"))
        continue;
      bool isStore = access->getType()->isVoidTy();
      llvm::Value *taken = access->getArgOperand(isStore ? 2 : 1);
      auto *sum = llvm::dyn_cast<llvm::BinaryOperator>(taken);
      result += isKept(taken) ? "kept " : sum && isKept(sum->getOperand(0)) ? "behind " : "added ";
    }
  return result;
}

TEST(KeepOffsets, OfNumbersThatBeginBelowZero) {
  EXPECT_EQ(offsetsOf("-1024", "  %offset = add i32 %x, 1024"), "kept kept ");
  EXPECT_EQ(offsetsOf("%early", "  %offset = add i32 %i, 1056"), "kept kept ");
  EXPECT_EQ(offsetsOf("%frozen", "  %offset = add i32 %x, 4095"), "kept kept ");
}

TEST(KeepOffsets, OfNumbersThatEndBelowZero) {
  EXPECT_EQ(offsetsOf("%n", "  %offset = add i32 %x, 1024", "-1024"), "kept kept ");
  EXPECT_EQ(offsetsOf("%n", "  %offset = add i32 %x, 992\n" + loadAt("%x"), "-1024"),
            "added added added ");
}

TEST(KeepOffsets, OfLanesThatCountDown) {
  const std::string back = "  %back = sub i32 0, %lane\n  %bytes = shl i32 %back, 1\n"
                           "  %y = add i32 %i, %bytes\n";
  EXPECT_EQ(offsetsOf("120", back + "  %offset = add i32 %y, 256"), "kept kept ");
  EXPECT_EQ(offsetsOf("120", back + "  %z = add i32 %bytes, 256\n  %offset = add i32 %z, %i"),
            "kept kept ");
  EXPECT_EQ(offsetsOf("120", back + "  %z = sub i32 348, %lane\n  %offset = add i32 %z, %i"),
            "kept kept ");
  EXPECT_EQ(offsetsOf("120", "  %z = call i32 @llvm.amdgcn.mul.i24.i32(i32 %lane, i32 -4)\n"
                             "  %y = add i32 %z, 348\n  %offset = add i32 %y, %i"),
            "kept kept ");
  EXPECT_EQ(offsetsOf("120", back + "  %some = icmp ult i32 %lane, 60\n"
                                    "  %chosen = select i1 %some, i32 %y, i32 -2147483648\n"
                                    "  %offset = add i32 %chosen, 256"),
            "kept kept ");
}

TEST(KeepOffsets, OfRemainders) {
  EXPECT_EQ(offsetsOf("0", "  %more = add i32 %x, 32\n  %rest = urem i32 %more, 7\n"
                           "  %offset = shl i32 %rest, 2"),
            "kept kept ");
  // Of 64 bits, as LLVM divides them.
  EXPECT_EQ(offsetsOf("0", "  %wide = zext i32 %x to i64\n  %sevenths = udiv i32 %x, 7\n"
                           "  %whole = mul i32 %sevenths, 7\n  %less = sub i32 32, %whole\n"
                           "  %rest = zext i32 %less to i64\n  %sum = add i64 %wide, %rest\n"
                           "  %offset = trunc i64 %sum to i32"),
            "kept kept ");
}

TEST(KeepOffsets, OfNumbersThatMayBeBelowZero) {
  const std::string rows = "  %rows = mul i32 %lane, %n\n  %y = add i32 %rows, %i\n";
  EXPECT_EQ(offsetsOf("0", rows + "  %offset = add i32 %y, 132"), "kept kept ");
  EXPECT_EQ(offsetsOf("0", rows + "  %more = add i32 %y, 33\n  %offset = shl i32 %more, 2"),
            "kept kept ");
  EXPECT_EQ(offsetsOf("%n", "  %offset = add i32 %x, 1024"), "kept kept ");
  // What follows adds to the first.
  EXPECT_EQ(offsetsOf("0", rows + "  %first = add i32 %y, 132\n  %offset = add i32 %y, 196\n" +
                               loadAt("%first")),
            "kept behind behind ");
  // The first adds nothing.
  EXPECT_EQ(offsetsOf("0", rows + "  %offset = add i32 %y, 132\n" + loadAt("%y")),
            "added added added ");
}

TEST(KeepOffsets, OthersAreAddedByTheAccess) {
  EXPECT_EQ(offsetsOf("0", "  %offset = add i32 %x, 1024"), "added added ");
  EXPECT_EQ(offsetsOf("0", "  %some = icmp ult i32 %lane, 60\n"
                           "  %chosen = select i1 %some, i32 %lane, i32 -2147483648\n"
                           "  %offset = add i32 %chosen, 256"),
            "added added ");
  EXPECT_EQ(offsetsOf("%n", "  %offset = add i32 %x, 1024\n" + loadAt("%x")), "added added added ");
  // The sum begins below zero, too: nothing is there, whoever adds.
  EXPECT_EQ(offsetsOf("-1024", "  %offset = add i32 %x, 512"), "added added ");
  EXPECT_EQ(offsetsOf("-1024", "  %offset = add i32 %x, -4"), "added added ");
}

} // namespace
