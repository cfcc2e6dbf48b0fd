//===- MoveBoundsTest.cpp - Rows compared with what is left of their end -------===//

#include "compiler/Target/AMD/MoveBounds.h"
#include "compiler/Target/CodeGeneration.h"
#include "tests/compiler/Target/CPU/LoadedObject.h"
#include "tests/compiler/Target/EveryScalarKernel.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include <array>

using namespace kiln::testing;

namespace {

/// A loop of three iterations, each of which adds four bits to what is stored: of the comparisons
/// `%c` to `%f`. `body` computes them of `%first`, a multiple of 16, of `%end`, and of `%row` and
/// `%row1` to `%row3`, 0 to 15, all of them with `bits` bits.
std::string loopOf(const std::string &body, unsigned bits) {
  std::string type = "i" + std::to_string(bits);
  auto row = [&](unsigned number) {
    std::string name = "%row" + (number ? std::to_string(number) : "");
    std::string word = "  " + name + ".word = or disjoint i32 %fours, " + std::to_string(number);
    return word + "\n  " + name + " = " +
           (bits == 32 ? "add i32 " + name + ".word, 0\n"
                       : "zext nneg i32 " + name + ".word to i64\n");
  };
  return R"(
declare i32 @llvm.amdgcn.workitem.id.x()
define amdgpu_kernel void @f(ptr addrspace(1) %out, ptr addrspace(1) %starts,
                             ptr addrspace(1) %ends, ptr addrspace(1) %threads) {
entry:
  %start = load )" +
         type + ", ptr addrspace(1) %starts\n  %end = load " + type + R"(, ptr addrspace(1) %ends
  %thread = call i32 @llvm.amdgcn.workitem.id.x()
  %shifted.thread = shl i32 %thread, 2
  %fours = and i32 %shifted.thread, 12
)" + row(0) +
         row(1) + row(2) + row(3) + "  %begin = and " + type + R"( %start, -16
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %i1, %loop ]
  %first = phi )" +
         type + R"( [ %begin, %entry ], [ %first1, %loop ]
  %known = phi i32 [ 0, %entry ], [ %all, %loop ]
)" + body +
         R"(
  %c1 = zext i1 %c to i32
  %d1 = select i1 %d, i32 2, i32 0
  %e1 = select i1 %e, i32 4, i32 0
  %f1 = select i1 %f, i32 8, i32 0
  %cd = or i32 %c1, %d1
  %ef = or i32 %e1, %f1
  %four = or i32 %cd, %ef
  %shifted = shl i32 %known, 4
  %all = or i32 %shifted, %four
  %first1 = add )" +
         type + R"( %first, 16
  %i1 = add i32 %i, 1
  %goes = icmp ult i32 %i1, 3
  br i1 %goes, label %loop, label %end.block
end.block:
  store i32 %all, ptr addrspace(1) %out
  ret void
})";
}

unsigned unsignedComparisonsOf(const llvm::Module &module) {
  unsigned count = 0;
  for (const llvm::Instruction &op : llvm::instructions(*module.getFunction("f")))
    if (auto *comparison = llvm::dyn_cast<llvm::ICmpInst>(&op))
      count += comparison->isUnsigned() && comparison->getOperand(0)->getType()->isIntegerTy(32) &&
               comparison->getName() != "goes";
  return count;
}

/// For this machine, with what is at the last argument for the thread's number.
LoadedObject loaded(llvm::Module &module) {
  llvm::Function &kernel = *module.getFunction("f");
  for (llvm::Instruction &op : llvm::make_early_inc_range(llvm::instructions(kernel)))
    if (auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&op)) {
      call->replaceAllUsesWith(
          new llvm::LoadInst(call->getType(), kernel.getArg(3), "", call->getIterator()));
      call->eraseFromParent();
    }
  kernel.setCallingConv(llvm::CallingConv::C);
  std::unique_ptr<llvm::TargetMachine> host = hostMachine();
  module.setTargetTriple(host->getTargetTriple());
  module.setDataLayout(host->createDataLayout());
  return LoadedObject(module, *host, "f");
}

constexpr std::array<int32_t, 14> words{
    INT32_MIN, INT32_MIN + 1, INT32_MIN + 40, -33,      -16, -1, 0, 1, 15, 16,
    47,        100,           INT32_MAX - 50, INT32_MAX};
constexpr std::array<int64_t, 20> doubleWords{INT64_MIN,
                                              INT64_MIN + 40,
                                              -(1LL << 32) - 1,
                                              INT32_MIN,
                                              -33,
                                              -1,
                                              0,
                                              15,
                                              16,
                                              47,
                                              100,
                                              INT32_MAX,
                                              1LL << 31,
                                              (1LL << 32) - 17,
                                              1LL << 32,
                                              (1LL << 32) + 1,
                                              (1LL << 32) + 63,
                                              1LL << 40,
                                              INT64_MAX - 50,
                                              INT64_MAX};

/// Runs both with each of the numbers for the start and the end.
template <typename Int, size_t size>
void expectAlike(llvm::Module &before, llvm::Module &after, const std::array<Int, size> &numbers) {
  using Function = void(uint32_t *, const Int *, const Int *, const int32_t *);
  LoadedObject was = loaded(before), is = loaded(after);
  for (Int start : numbers)
    for (Int end : numbers)
      for (int32_t thread : {0, 3, 7}) {
        uint32_t expected = 0, result = 0;
        was.as<Function>()(&expected, &start, &end, &thread);
        is.as<Function>()(&result, &start, &end, &thread);
        EXPECT_EQ(result, expected) << start << " " << end << " " << thread;
      }
}

/// How many rows are compared with what is left, having found that all are as before.
unsigned moved(const std::string &body, unsigned bits = 32, bool movesWords = true) {
  SCOPED_TRACE(body);
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module = parseIR(loopOf(body, bits), context);
  auto machine = llvm::cantFail(kiln::createMachine(target("hip:gfx942"), {}));
  module->setTargetTriple(machine->getTargetTriple());
  module->setDataLayout(machine->createDataLayout());
  std::unique_ptr<llvm::Module> before = llvm::CloneModule(*module);
  kiln::moveBounds(*module->getFunction("f"), *machine, movesWords);
  EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs()));
  unsigned count = unsignedComparisonsOf(*module);
  if (bits == 32)
    expectAlike(*before, *module, words);
  else
    expectAlike(*before, *module, doubleWords);
  return count;
}

/// Four comparisons of `first` and each row.
std::string fourOf(const std::string &sum, const std::string &first, const std::string &c,
                   const std::string &others) {
  const char *const names[] = {"c", "d", "e", "f"};
  const char *const rows[] = {"%row", "%row1", "%row2", "%row3"};
  std::string body;
  for (unsigned i = 0; i < 4; ++i) {
    std::string at = std::string("%sum.") + names[i];
    body += "  " + at + " = " + sum + " i32 " + first + ", " + rows[i] + "\n";
    body +=
        std::string("  %") + names[i] + " = icmp " + (i ? others : c) + " i32 " + at + ", %end\n";
  }
  return body;
}

TEST(MoveBounds, ComparesRowsWithWhatIsLeft) {
  EXPECT_EQ(moved(fourOf("or disjoint", "%first", "slt", "slt")), 4u);
  EXPECT_EQ(moved(fourOf("or disjoint", "%first", "sge", "slt")), 4u);
}

TEST(MoveBounds, LeavesWordsWhereItIsTold) {
  EXPECT_EQ(moved(fourOf("or disjoint", "%first", "slt", "slt"), 32, /*movesWords=*/false), 0u);
}

/// Of 64 bits, each row's sum compared twice.
std::string eightOf(const std::string &sum, const std::string &first) {
  std::string body;
  for (auto [name, row] : {std::pair("c", ""), {"d", "1"}, {"e", "2"}, {"f", "3"}}) {
    std::string at = std::string("%sum.") + name, value = std::string("%") + name;
    body += "  " + at + " = " + sum + " i64 " + first + ", %row" + row + "\n";
    body += "  " + value + ".is = icmp slt i64 " + at + ", %end\n";
    body += "  " + value + ".isnot = icmp sge i64 " + at + ", %end\n";
    body += "  " + value + " = icmp ugt i1 " + value + ".is, " + value + ".isnot\n";
  }
  return body;
}

TEST(MoveBounds, ComparesWordsWhereEndsHave64Bits) {
  for (bool movesWords : {false, true})
    EXPECT_EQ(moved(eightOf("or disjoint", "%first"), 64, movesWords), 8u);
  EXPECT_EQ(moved(eightOf("add", "%first"), 64), 0u);
}

TEST(MoveBounds, LeavesFewRowsAndOtherUses) {
  EXPECT_EQ(moved(fourOf("or disjoint", "%first", "eq", "slt")), 0u);
  EXPECT_EQ(moved(fourOf("or disjoint", "%first", "slt", "slt") +
                  "  %other = and i32 %sum.d, 3\n  %big = icmp eq i32 %other, 1\n"
                  "  store i1 %big, ptr addrspace(1) %out\n"),
            0u);
}

/// A sum that may wrap around is not below an end that is less than what is added to.
TEST(MoveBounds, LeavesSumsThatMayWrap) {
  EXPECT_EQ(moved(fourOf("add", "%first", "slt", "slt")), 0u);
}

TEST(MoveBounds, LeavesWhatLanesBeginWith) {
  EXPECT_EQ(moved("  %own = shl i32 %thread, 8\n  %sum = add i32 %first, %own\n" +
                  fourOf("or disjoint", "%sum", "slt", "slt")),
            0u);
}

} // namespace
