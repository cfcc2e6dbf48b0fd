//===- ReachForwardTest.cpp - Accesses of loops from the lowest of their offsets -===//

#include "compiler/Target/AMD/ReachForward.h"
#include "tests/compiler/Target/CPU/LoadedObject.h"
#include "tests/compiler/Target/EveryScalarKernel.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Target/TargetMachine.h"

#include <array>

using namespace kiln::testing;

namespace {

constexpr unsigned iterations = 3, accesses = 4;
using Offsets = std::array<std::array<uint32_t, accesses>, iterations>;

/// A loop of accesses at `%o0` to `%o3`, which the body has, of a lane's number, a counter from
/// `%begin` on and what that times `%step` is, of the buffer that the body calls so.
std::string loopOf(const std::string &body, const std::string &buffer) {
  std::string loads;
  for (unsigned i = 0; i < accesses; ++i)
    loads += "  call i32 @llvm.amdgcn.raw.ptr.buffer.load.i32(ptr addrspace(8) " + buffer +
             ", i32 %o" + std::to_string(i) + ", i32 0, i32 0)\n";
  return R"(
declare i32 @llvm.amdgcn.raw.ptr.buffer.load.i32(ptr addrspace(8), i32, i32, i32 immarg)
declare ptr addrspace(8) @llvm.amdgcn.make.buffer.rsrc.p8.p1(ptr addrspace(1), i16, i64, i32)
define void @f(ptr %numbers, ptr %none, ptr %other, ptr %out) {
entry:
  %all = load <4 x i32>, ptr %numbers
  %lane = extractelement <4 x i32> %all, i32 0
  %begin = extractelement <4 x i32> %all, i32 1
  %step = extractelement <4 x i32> %all, i32 2
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %count = add i32 %i, %begin
  %moved = mul i32 %count, %step
  %at = add i32 %moved, %lane
)" + body +
         loads + R"(
  %next = add i32 %i, 1
  %again = icmp ult i32 %next, 3
  br i1 %again, label %loop, label %end
end:
  ret void
})";
}

/// On the host an access writes down where it is.
void writeOffsets(llvm::Function &function) {
  llvm::Instruction *counter = &*function.begin()->getNextNode()->begin();
  while (counter->getName() != "i")
    counter = counter->getNextNode();
  unsigned place = 0;
  for (llvm::Instruction &instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
    auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
    if (!call || call->getIntrinsicID() != llvm::Intrinsic::amdgcn_raw_ptr_buffer_load)
      continue;
    llvm::IRBuilder<> b(call);
    llvm::Type *row = llvm::ArrayType::get(b.getInt32Ty(), accesses);
    b.CreateStore(call->getArgOperand(1),
                  b.CreateGEP(row, function.getArg(3), {counter, b.getInt32(place++)}));
    auto *buffer = llvm::dyn_cast<llvm::Instruction>(call->getArgOperand(0));
    call->eraseFromParent();
    if (buffer && buffer->use_empty())
      buffer->eraseFromParent();
  }
}

Offsets offsetsOf(llvm::Module &module) {
  std::unique_ptr<llvm::TargetMachine> machine = hostMachine();
  module.setDataLayout(machine->createDataLayout());
  writeOffsets(*module.getFunction("f"));
  LoadedObject object(module, *machine, "f");
  alignas(16) const std::array<uint32_t, 4> numbers{0xfffffe00, 7, 0x2000, 0};
  Offsets out{};
  object.as<void(const uint32_t *, void *, void *, uint32_t *)>()(numbers.data(), nullptr, nullptr,
                                                                  out.front().data());
  return out;
}

/// One number for all offsets from `end` on.
Offsets below(uint32_t end, Offsets offsets) {
  for (auto &row : offsets)
    for (uint32_t &offset : row)
      offset = std::min(offset, end);
  return offsets;
}

/// Instructions that `counts` counts in the function behind the pass. What offsets in front of
/// `end` come to must stay, and others must not come there.
unsigned countIn(const std::string &body,
                 llvm::function_ref<bool(const llvm::Instruction &)> counts,
                 llvm::function_ref<void(llvm::Function &)> pass = kiln::reachForward,
                 const std::string &buffer = "null", uint32_t end = -1) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> before = parseIR(loopOf(body, buffer), context),
                                after = parseIR(loopOf(body, buffer), context);
  llvm::Function &function = *after->getFunction("f");
  pass(function);
  EXPECT_FALSE(llvm::verifyModule(*after, &llvm::errs()));
  auto count = unsigned(llvm::count_if(llvm::instructions(function), counts));
  EXPECT_EQ(below(end, offsetsOf(*after)), below(end, offsetsOf(*before))) << body;
  return count;
}

/// Numbers that the loop carries for offsets.
unsigned carriedIn(const std::string &body) {
  return countIn(body, [](const llvm::Instruction &op) {
    return llvm::isa<llvm::PHINode>(op) && op.getName().starts_with("offset");
  });
}

TEST(ReachForward, FromTheLowestOffset) {
  EXPECT_EQ(carriedIn(R"(
  %o0 = add i32 %at, 3072
  %o1 = add i32 %at, -16
  %o2 = add i32 %at, 1024
  %o3 = add i32 %at, 1024
)"),
            1u);
}

/// 4095 bytes are what an access has room for.
TEST(ReachForward, AsFarAsAccessesReach) {
  EXPECT_EQ(carriedIn(R"(
  %o0 = add i32 %at, 4
  %o1 = add i32 %at, 4099
  %o2 = add i32 %at, 4100
  %o3 = add i32 %at, 8195
)"),
            2u);
}

/// Additions behind selections.
unsigned chosenBeforeAdded(const std::string &body) {
  return countIn(body, [](const llvm::Instruction &op) {
    return op.getOpcode() == llvm::Instruction::Add &&
           llvm::isa<llvm::SelectInst>(op.getOperand(0));
  });
}

/// Of disjoint bits and of sums, whichever alternative is out of range.
TEST(ReachForward, ConstantsBehindMasks) {
  EXPECT_EQ(chosenBeforeAdded(R"(
  %bit = and i32 %i, 1
  %mask = icmp eq i32 %bit, 0
  %small = and i32 %lane, 255
  %x0 = add i32 %small, 512
  %x1 = or disjoint i32 %small, 1024
  %x2 = add i32 %small, 4095
  %o0 = select i1 %mask, i32 %x0, i32 -2147483136
  %o1 = select i1 %mask, i32 -2147482624, i32 %x1
  %o2 = select i1 %mask, i32 %x2, i32 -2147479553
  %o3 = select i1 %mask, i32 %small, i32 -2147483648
)"),
            3u);
}

/// What may be below zero and wrap, what is further than accesses reach, and other numbers.
TEST(ReachForward, OtherMasksAreLeft) {
  EXPECT_EQ(chosenBeforeAdded(R"(
  %bit = and i32 %i, 1
  %mask = icmp eq i32 %bit, 0
  %small = and i32 %lane, 255
  %x0 = add i32 %lane, 512
  %x1 = add i32 %small, 4096
  %x2 = add i32 %small, 512
  %o0 = select i1 %mask, i32 %x0, i32 -2147483136
  %o1 = select i1 %mask, i32 %x1, i32 -2147479552
  %o2 = select i1 %mask, i32 %x2, i32 -16
  %o3 = select i1 %mask, i32 %small, i32 -2147483648
)"),
            0u);
}

/// Selections of the loop between numbers and what it has from in front of it, and how many such
/// offsets there are.
std::pair<unsigned, unsigned> chosenOffsets(const std::string &body) {
  llvm::DenseSet<const llvm::Value *> offsets;
  unsigned chosen = countIn(body, [&](const llvm::Instruction &op) {
    auto *choice = llvm::dyn_cast<llvm::SelectInst>(&op);
    if (!choice || choice->use_empty())
      return false;
    for (const llvm::Value *value : {choice->getTrueValue(), choice->getFalseValue()})
      if (!llvm::isa<llvm::ConstantInt>(value))
        offsets.insert(value);
    return true;
  });
  return {chosen, offsets.size()};
}

/// Two rows of two pieces, from either of the alternatives, below zero and above.
TEST(ReachForward, OffsetsThatMasksChoose) {
  std::string rows = R"(
  %bit = and i32 %i, 1
  %mask = icmp eq i32 %bit, 0
  %row = mul i32 %lane, %begin
  %x0 = add i32 %lane, -64
  %x1 = add i32 %lane, 512
  %x2 = add i32 %row, 128
  %x3 = add i32 %row, 704
  %o0 = select i1 %mask, i32 %x0, i32 -16
  %o1 = select i1 %mask, i32 -16, i32 %x1
  %o2 = select i1 %mask, i32 %x2, i32 -16
)";
  EXPECT_EQ(chosenOffsets(rows + "  %o3 = select i1 %mask, i32 %x3, i32 -16\n"), std::pair(4u, 2u));
  // As many numbers as offsets less; and another alternative that a lane may access.
  EXPECT_EQ(chosenOffsets(rows + "  %o3 = add i32 %x3, %bit\n"), std::pair(3u, 3u));
  EXPECT_EQ(chosenOffsets(rows + "  %o3 = select i1 %mask, i32 %x3, i32 0\n"), std::pair(4u, 4u));
}

/// Of offsets that masks choose and the loop moves it carries the lowest.
TEST(ReachForward, MovedOffsetsThatMasksChoose) {
  EXPECT_EQ(carriedIn(R"(
  %bit = and i32 %i, 1
  %mask = icmp eq i32 %bit, 0
  %row = mul i32 %lane, %begin
  %below = add i32 %moved, %row
  %x0 = add i32 %at, 96
  %x1 = add i32 %at, 32
  %x2 = add i32 %below, 4
  %x3 = add i32 %below, 68
  %o0 = select i1 %mask, i32 %x0, i32 -16
  %o1 = select i1 %mask, i32 %x1, i32 -16
  %o2 = select i1 %mask, i32 -16, i32 %x2
  %o3 = select i1 %mask, i32 %x3, i32 -16
)"),
            2u);
}

TEST(ReachForward, OthersAreLeft) {
  // As many numbers as before; offsets that the loop does not move, or moves by others.
  EXPECT_EQ(carriedIn(R"(
  %o0 = add i32 %at, 0
  %o1 = add i32 %at, 4096
  %o2 = add i32 %at, 8192
  %o3 = add i32 %at, 12288
)"),
            0u);
  EXPECT_EQ(carriedIn(R"(
  %o0 = add i32 %lane, 4
  %o1 = add i32 %lane, 8
  %o2 = xor i32 %at, 1
  %twice = mul i32 %moved, 2
  %o3 = add i32 %twice, %lane
)"),
            0u);
}

/// Selections that accesses to a buffer of so many bytes take behind the pass.
unsigned selectionsIn(const std::string &body, const std::string &bytes) {
  std::string buffer = R"(
  %buffer = call ptr addrspace(8) @llvm.amdgcn.make.buffer.rsrc.p8.p1(ptr addrspace(1) null, i16 0, i64 )" +
                       bytes + ", i32 0)\n";
  return countIn(
      body + buffer,
      [](const llvm::Instruction &op) {
        return llvm::isa<llvm::SelectInst>(op) && !op.use_empty();
      },
      kiln::shareMaskedOffsets, "%buffer", uint32_t(1) << 31);
}

/// The lowest comes last; one is of disjoint bits.
const std::string underOneMask = R"(
  %bit = and i32 %i, 1
  %mask = icmp eq i32 %bit, 0
  %row = and i32 %lane, 65280
  %x0 = add i32 %row, 4095
  %x1 = or disjoint i32 %row, 64
  %x2 = add i32 %row, 128
  %o0 = select i1 %mask, i32 %x0, i32 -16
  %o1 = select i1 %mask, i32 %x1, i32 -16
  %o2 = select i1 %mask, i32 %x2, i32 -2147483648
  %o3 = select i1 %mask, i32 %row, i32 -16
)";

TEST(ShareMaskedOffsets, OneSelectionForConstantsApart) {
  EXPECT_EQ(selectionsIn(underOneMask, "2147483647"), 1u);
  EXPECT_EQ(selectionsIn(underOneMask, "2147483648"), 1u);
}

/// What is out of range with 4095 bytes more might be in front of the buffer's beginning.
TEST(ShareMaskedOffsets, BuffersThatEndFurtherAreLeft) {
  EXPECT_EQ(selectionsIn(underOneMask, "4294967280"), 4u);
}

/// Another mask, the same one of which the other value is wanted, and what is too far.
TEST(ShareMaskedOffsets, OthersHaveTheirOwn) {
  EXPECT_EQ(selectionsIn(R"(
  %bit = and i32 %i, 1
  %mask = icmp eq i32 %bit, 0
  %late = icmp ugt i32 %i, 0
  %row = and i32 %lane, 65280
  %x1 = add i32 %row, 64
  %x2 = add i32 %row, 128
  %x3 = add i32 %row, 4096
  %o0 = select i1 %mask, i32 %row, i32 -16
  %o1 = select i1 %mask, i32 -16, i32 %x1
  %o2 = select i1 %late, i32 %x2, i32 -16
  %o3 = select i1 %mask, i32 %x3, i32 -16
)",
                         "2147483647"),
            4u);
}

/// Selections of one value in another place each become one, where accesses reach so many bytes.
unsigned selectedBehind(int64_t reach) {
  return countIn(
      R"(
  %mask = icmp ult i32 %i, 7
  %bits = and i32 %lane, 16368
  %row = and i32 %bits, 4080
  %x1 = add nuw nsw i32 %row, 2048
  %x2 = add nuw nsw i32 %row, 4096
  %x3 = or i32 %bits, 12288
  %o0 = select i1 %mask, i32 %row, i32 -2147483648
  %o1 = select i1 %mask, i32 %x1, i32 -2147481600
  %o2 = select i1 %mask, i32 %x2, i32 -2147479552
  %o3 = select i1 %mask, i32 %x3, i32 -2147471360
)",
      [](const llvm::Instruction &op) {
        auto *choice = llvm::dyn_cast<llvm::SelectInst>(&op);
        return choice && !choice->use_empty() && choice->getTrueValue()->getName() == "row";
      },
      [=](llvm::Function &kernel) { kiln::reachBehindMasks(kernel, reach); });
}

TEST(ReachBehindMasks, ConstantsAreAddedBehindTheMask) {
  EXPECT_EQ(selectedBehind(2048), 1u);
  EXPECT_EQ(selectedBehind(4096), 2u);
  EXPECT_EQ(selectedBehind(1 << 23), 4u);
}

} // namespace
