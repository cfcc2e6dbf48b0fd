//===- CarryDescriptorsTest.cpp - Loops that move buffers, and what they read --===//
//
// Loops run on the host, before the pass and after it, where a descriptor is the number that the
// hardware takes, and an access asks it for the base and the bytes in range.
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/AMD/CarryDescriptors.h"
#include "compiler/Target/MemoryFeatures.h"
#include "tests/compiler/Target/CPU/LoadedObject.h"
#include "tests/compiler/Target/EveryScalarKernel.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Target/TargetMachine.h"

#include <array>

using namespace kiln::testing;

namespace {

const std::string start = std::to_string(kiln::movedBufferStart);
const std::string bytesOfSmall = std::to_string(uint32_t(kiln::movedBufferBytes));
constexpr const char *beyond = "-16";

/// What descriptors and accesses mean (CDNA3 ISA, "Buffer Resource Descriptor"); a descriptor whose
/// upper bits of the base are others than zero has another meaning, and gives -1.
constexpr const char *hardware = R"(
declare ptr addrspace(8) @llvm.amdgcn.make.buffer.rsrc.p8.p1(ptr addrspace(1), i16, i64, i32)
declare i32 @llvm.amdgcn.raw.ptr.buffer.load.i32(ptr addrspace(8), i32, i32, i32 immarg)
define i128 @describe(i64 %base, i64 %bytes, i32 %flags) {
  %address = and i64 %base, 281474976710655
  %low = zext i64 %address to i128
  %short = trunc i64 %bytes to i32
  %number = zext i32 %short to i128
  %third = shl i128 %number, 64
  %last = zext i32 %flags to i128
  %fourth = shl i128 %last, 96
  %half = or i128 %low, %third
  %all = or i128 %half, %fourth
  ret i128 %all
}
define i32 @access(i128 %descriptor, i32 %offset) {
  %low = trunc i128 %descriptor to i64
  %stride = lshr i64 %low, 48
  %upper = lshr i128 %descriptor, 64
  %bytes = trunc i128 %upper to i32
  %isOther = icmp ne i64 %stride, 0
  br i1 %isOther, label %other, label %check
other:
  ret i32 -1
check:
  %isIn = icmp ult i32 %offset, %bytes
  br i1 %isIn, label %in, label %out
out:
  ret i32 0
in:
  %wide = zext i32 %offset to i64
  %sum = add i64 %low, %wide
  %address = inttoptr i64 %sum to ptr
  %value = load i32, ptr %address
  ret i32 %value
}
)";

struct Load {
  std::string array = "%a", bytes = bytesOfSmall, offset = "%lane", step = "%step";
  /// It takes the descriptor by halves, as copies to shared memory do.
  bool byHalves = false;
};

std::string accessOf(const Load &load, const std::string &n) {
  if (!load.byHalves)
    return "  %x" + n + " = call i32 @llvm.amdgcn.raw.ptr.buffer.load.i32(ptr addrspace(8) %d" + n +
           ", i32 " + load.offset + ", i32 0, i32 0)\n";
  return "  %h" + n + " = ptrtoint ptr addrspace(8) %d" + n + " to i128\n  %low" + n +
         " = trunc i128 %h" + n + " to i64\n  %upper" + n + " = lshr i128 %h" + n + ", 64\n  %l" +
         n + " = zext i64 %low" + n + " to i128\n  %u" + n + " = shl i128 %upper" + n +
         ", 64\n  %both" + n + " = or i128 %l" + n + ", %u" + n + "\n  %x" + n +
         " = call i32 @access(i128 %both" + n + ", i32 " + load.offset + ")\n";
}

/// A loop of `n` iterations, at least one, that adds up what it loads; %isOdd holds in every other
/// one, and `before` stands in front of it. Arrays begin `from` bytes from their pointer.
std::string loopOf(const std::vector<Load> &loads, const std::string &from = start,
                   const std::string &before = "") {
  std::string body;
  for (auto [number, load] : llvm::enumerate(loads)) {
    std::string n = std::to_string(number),
                last = number ? "%s" + std::to_string(number - 1) : "%sum";
    body += "  %m" + n + " = mul nsw i64 %wide, " + load.step + "\n  %f" + n + " = add i64 %m" + n +
            ", " + from + "\n  %p" + n + " = getelementptr i8, ptr addrspace(1) " + load.array +
            ", i64 %f" + n + "\n  %d" + n +
            " = call ptr addrspace(8) @llvm.amdgcn.make.buffer.rsrc.p8.p1(ptr addrspace(1) %p" + n +
            ", i16 0, i64 " + load.bytes + ", i32 159744)\n" + accessOf(load, n) + "  %s" + n +
            " = add i32 " + last + ", %x" + n + "\n";
  }
  std::string total = "%s" + std::to_string(loads.size() - 1);
  return std::string(hardware) + R"(
define void @f(ptr addrspace(1) %a, ptr addrspace(1) %b, ptr %arguments, ptr %result) {
entry:
  %n = load i32, ptr %arguments
  %second = getelementptr i8, ptr %arguments, i64 8
  %step = load i64, ptr %second
  %last = getelementptr i8, ptr %arguments, i64 16
  %first = load i32, ptr %last
  %lane = sub i32 %first, )" +
         start + "\n  %next = add i32 %lane, 4\n  %third = add i32 %lane, 8\n" + before + R"(
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %i1, %loop ]
  %sum = phi i32 [ 0, %entry ], [ )" +
         total + R"(, %loop ]
  %wide = sext i32 %i to i64
  %bit = and i32 %i, 1
  %isOdd = icmp ne i32 %bit, 0
  %some = select i1 %isOdd, i32 %lane, i32 )" +
         beyond + "\n  %others = select i1 %isOdd, i32 " + beyond + R"(, i32 %next
  %bytes = select i1 %isOdd, i64 )" +
         bytesOfSmall + ", i64 0\n" + body + R"(
  %i1 = add nsw i32 %i, 1
  %again = icmp slt i32 %i1, %n
  br i1 %again, label %loop, label %end
end:
  store i32 )" +
         total + ", ptr %result\n  ret void\n}\n";
}

llvm::Value *describedBy(llvm::Value *buffer, llvm::IRBuilder<> &b) {
  if (auto *cast = llvm::dyn_cast<llvm::IntToPtrInst>(buffer))
    return cast->getOperand(0);
  auto *make = llvm::cast<llvm::IntrinsicInst>(buffer);
  return b.CreateCall(make->getModule()->getFunction("describe"),
                      {b.CreatePtrToInt(make->getArgOperand(0), b.getInt64Ty()),
                       make->getArgOperand(2), make->getArgOperand(3)});
}

/// The host has no buffers, and no registers of the assembly's names.
void replaceDeviceOperations(llvm::Function &function) {
  llvm::SmallSetVector<llvm::Instruction *, 8> buffers;
  for (llvm::Instruction &instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
    auto *call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    auto *whole = llvm::dyn_cast<llvm::PtrToIntInst>(&instruction);
    if (!call && !(whole && whole->getPointerAddressSpace() == 8))
      continue;
    llvm::IRBuilder<> b(&instruction);
    llvm::Value *value = nullptr;
    if (whole) {
      value = describedBy(whole->getOperand(0), b);
      buffers.insert(llvm::cast<llvm::Instruction>(whole->getOperand(0)));
    } else if (call->isInlineAsm() ||
               call->getIntrinsicID() == llvm::Intrinsic::amdgcn_readfirstlane)
      value = call->getArgOperand(0);
    else if (call->getIntrinsicID() == llvm::Intrinsic::amdgcn_raw_ptr_buffer_load) {
      value = b.CreateCall(call->getModule()->getFunction("access"),
                           {describedBy(call->getArgOperand(0), b), call->getArgOperand(1)});
      buffers.insert(llvm::cast<llvm::Instruction>(call->getArgOperand(0)));
    }
    if (!value)
      continue;
    instruction.replaceAllUsesWith(value);
    instruction.eraseFromParent();
  }
  for (llvm::Instruction *buffer : buffers)
    buffer->eraseFromParent();
}

/// As the function loads them.
struct Arguments {
  int32_t n = 0;
  int64_t step = 0;
  int32_t first = 0;
};

/// What the function gives for arrays of different numbers, whose middle it gets.
std::vector<int32_t> results(llvm::Module &module, llvm::ArrayRef<Arguments> calls) {
  auto machine = hostMachine();
  module.setDataLayout(machine->createDataLayout());
  module.setTargetTriple(machine->getTargetTriple());
  replaceDeviceOperations(*module.getFunction("f"));
  LoadedObject object(module, *machine, "f");
  auto *function =
      object.as<void(const int32_t *, const int32_t *, const Arguments *, int32_t *)>();
  constexpr int32_t middle = 512;
  std::array<int32_t, size_t(2) * middle> a, b;
  for (int32_t i = 0; i < 2 * middle; ++i) {
    a[i] = 1 + i * i;
    b[i] = 7 + 5 * i * i;
  }
  std::vector<int32_t> given(calls.size());
  for (auto [call, result] : llvm::zip_equal(calls, given))
    function(&a[middle], &b[middle], &call, &result);
  return given;
}

/// How many descriptors and offsets the loop carries: "descriptors: 1, offsets: 0", and bases, if
/// there are such, once it is seen that it reads the same.
std::string carriedBy(const std::string &text, bool mayMoveOffsets = true) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> before = parseIR(text, context), after = parseIR(text, context);
  kiln::carryDescriptors(*after->getFunction("f"), mayMoveOffsets);
  EXPECT_FALSE(llvm::verifyModule(*after, &llvm::errs()));
  unsigned descriptors = 0, offsets = 0, bases = 0;
  for (const llvm::BasicBlock &block : *after->getFunction("f"))
    for (const llvm::PHINode &phi : block.phis()) {
      descriptors += phi.getName().starts_with("descriptor");
      offsets += phi.getName().starts_with("offset");
      bases += phi.getName().starts_with("base");
    }
  constexpr Arguments calls[] = {{1, 16, 0},  {2, 16, 4}, {7, 64, 8},
                                 {9, -64, 0}, {6, 0, 12}, {8, 4, -40}};
  EXPECT_EQ(results(*after, calls), results(*before, calls));
  return "descriptors: " + std::to_string(descriptors) + ", offsets: " + std::to_string(offsets) +
         (bases ? ", bases: " + std::to_string(bases) : "");
}

TEST(CarryDescriptors, LanesOfSmallArraysMoveInPlaceOfTheBase) {
  EXPECT_EQ(carriedBy(loopOf({{}})), "descriptors: 0, offsets: 1");
  EXPECT_EQ(carriedBy(loopOf({{.bytes = "%bytes"}})), "descriptors: 1, offsets: 1");
}

TEST(CarryDescriptors, LanesOutOfRangeStayThere) {
  EXPECT_EQ(carriedBy(loopOf({{.offset = "%some"}})), "descriptors: 0, offsets: 1");
  EXPECT_EQ(carriedBy(loopOf({{.offset = "%others"}})), "descriptors: 0, offsets: 1");
}

/// What is out of range in front of the loop would come into it.
TEST(CarryDescriptors, LanesOutOfRangeFromTheBeginningDoNotMove) {
  std::string mask = "  %isIn = icmp sgt i32 %first, 0\n"
                     "  %masked = select i1 %isIn, i32 %lane, i32 -16\n";
  EXPECT_EQ(carriedBy(loopOf({{.offset = "%masked"}}, start, mask)), "descriptors: 1, offsets: 0");
}

TEST(CarryDescriptors, TheBaseMovesWhereThereAreManyOffsets) {
  EXPECT_EQ(carriedBy(loopOf({{}, {.offset = "%next"}, {.offset = "%third"}})),
            "descriptors: 1, offsets: 0");
}

TEST(CarryDescriptors, ArraysThatMoveAlikeShareOffsets) {
  EXPECT_EQ(carriedBy(loopOf({{}, {.array = "%b"}})), "descriptors: 0, offsets: 1");
  EXPECT_EQ(carriedBy(loopOf({{}, {.array = "%b", .step = "8"}})), "descriptors: 0, offsets: 2");
  EXPECT_EQ(carriedBy(loopOf({{},
                              {.offset = "%next"},
                              {.offset = "%third"},
                              {.array = "%b"},
                              {.array = "%b", .offset = "%next"}})),
            "descriptors: 0, offsets: 3");
}

/// Where a thread lacks registers.
TEST(CarryDescriptors, TheBaseMovesWhereOffsetsMayNot) {
  EXPECT_EQ(carriedBy(loopOf({{.offset = "%some"}}), /*mayMoveOffsets=*/false),
            "descriptors: 1, offsets: 0");
}

/// What copies take by halves has its base alone carried, whatever the number of bytes.
TEST(CarryDescriptors, CopiesMoveBases) {
  EXPECT_EQ(carriedBy(loopOf({{.byHalves = true}})), "descriptors: 0, offsets: 0, bases: 1");
  EXPECT_EQ(carriedBy(loopOf({{.bytes = "%bytes", .byHalves = true},
                              {.array = "%b", .bytes = "%bytes", .step = "8", .byHalves = true}})),
            "descriptors: 0, offsets: 0, bases: 2");
  EXPECT_EQ(carriedBy(loopOf({{.byHalves = true}, {.array = "%b"}})),
            "descriptors: 0, offsets: 1, bases: 1");
}

/// Arrays of any size, and those of which a bound is known.
TEST(CarryDescriptors, OtherBasesMove) {
  std::string lane = "  %own = mul i32 %first, 1\n";
  EXPECT_EQ(carriedBy(loopOf({{.bytes = "64", .offset = "%own"}}, "0", lane)),
            "descriptors: 1, offsets: 0");
}

/// As where the last iteration stands behind the loop, which may be the first.
TEST(CarryDescriptors, ABranchMayLeadToTheLoopAndElsewhere) {
  std::string text = loopOf({{}}, start, "  %isLong = icmp sgt i32 %n, 1\n");
  const std::string entering = "br label %loop\n";
  text.replace(text.find(entering), entering.size(), "br i1 %isLong, label %loop, label %none\n");
  text.insert(text.rfind('}'), "none:\n  store i32 0, ptr %result\n  ret void\n");
  EXPECT_EQ(carriedBy(text), "descriptors: 0, offsets: 1");
}

TEST(CarryDescriptors, WhatDoesNotMoveStays) {
  EXPECT_EQ(carriedBy(loopOf({{.step = "0"}})), "descriptors: 0, offsets: 0");
}

} // namespace
