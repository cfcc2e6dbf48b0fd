#include "compiler/Target/AMD/ReadInSteps.h"
#include "tests/compiler/Target/EveryScalarKernel.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/IR/Verifier.h"

using namespace kiln::testing;

namespace {

/// A thread's part of a product, which reads four numbers along k at a time.
struct Product {
  unsigned rows, columns, depth;
  std::string ofA = ""; ///< what the block computes %y of the first element of A as

  std::string text() const {
    std::string loads, sums;
    for (unsigned k = 0; k < depth; k += 4) {
      for (unsigned i = 0; i < rows; ++i)
        loads += read("a", i, k);
      for (unsigned j = 0; j < columns; ++j)
        loads += read("b", j, k);
    }
    for (unsigned k = 0; k < depth; ++k)
      for (unsigned i = 0; i < rows; ++i)
        for (unsigned j = 0; j < columns; ++j)
          sums += sum(i, j, k);
    return "declare float @llvm.fma.f32(float, float, float)\n"
           "declare void @llvm.amdgcn.s.barrier()\n"
           "define void @f(ptr addrspace(3) %p, ptr addrspace(1) %out) {\n" +
           loads + ofA + sums + "  call void @llvm.amdgcn.s.barrier()\n" + stores() +
           "  ret void\n}";
  }

private:
  /// Elements of it, too.
  static std::string read(const std::string &of, unsigned line, unsigned k) {
    std::string name = of + std::to_string(line) + "_" + std::to_string(k);
    std::string text = "  %p" + name + " = getelementptr i8, ptr addrspace(3) %p, i32 " +
                       std::to_string(1024 * line + 4 * k + (of == "b" ? 32768 : 0)) + "\n  %" +
                       name + " = load <4 x float>, ptr addrspace(3) %p" + name + "\n";
    for (unsigned at = 0; at < 4; ++at)
      text += "  %" + of + std::to_string(line) + "x" + std::to_string(k + at) +
              " = extractelement <4 x float> %" + name + ", i32 " + std::to_string(at) + "\n";
    return text;
  }

  static std::string nameOf(unsigned i, unsigned j, unsigned k) {
    return "%s" + std::to_string(k) + "_" + std::to_string(i) + std::to_string(j);
  }

  std::string sum(unsigned i, unsigned j, unsigned k) const {
    bool isFirst = i + j + k == 0;
    std::string a =
        isFirst && !ofA.empty() ? "%y" : "%a" + std::to_string(i) + "x" + std::to_string(k);
    return "  " + nameOf(i, j, k) + " = call float @llvm.fma.f32(float " + a + ", float %b" +
           std::to_string(j) + "x" + std::to_string(k) + ", float " +
           (k ? nameOf(i, j, k - 1) : "0.0") + ")\n";
  }

  std::string stores() const {
    std::string text;
    for (unsigned i = 0; i < rows; ++i)
      for (unsigned j = 0; j < columns; ++j)
        text += "  store volatile float " + nameOf(i, j, depth - 1) + ", ptr addrspace(1) %out\n";
    return text;
  }
};

/// Reads, sums ("f") and barriers for the scheduler ("|") of the function, with the number of those
/// that follow one another; the sums by name if `named`.
std::string after(const Product &product, bool inPairs = false, bool named = false) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module = parseIR(product.text(), context);
  kiln::readInSteps(*module->getFunction("f"), inPairs);
  EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs()));
  std::vector<std::pair<std::string, unsigned>> order;
  auto add = [&](const std::string &what) {
    if (order.empty() || order.back().first != what)
      order.push_back({what, 0});
    ++order.back().second;
  };
  for (llvm::Instruction &op : module->getFunction("f")->getEntryBlock()) {
    auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&op);
    if (llvm::isa<llvm::LoadInst>(op))
      add("r");
    else if (call && call->getIntrinsicID() == llvm::Intrinsic::fma)
      add(named ? op.getName().str() : "f");
    else if (call && call->getIntrinsicID() == llvm::Intrinsic::amdgcn_sched_barrier)
      add("|");
  }
  std::vector<std::string> words;
  for (const auto &[what, count] : order)
    words.push_back((what == "|" || count == 1 ? "" : std::to_string(count)) + what);
  return llvm::join(words, " ");
}

TEST(ReadInSteps, ReadsStandAStepAheadOfWhatTakesThem) {
  EXPECT_EQ(after({2, 4, 16}), "| 12r 32f | 6r 32f | 6r 32f | 32f |");
}

/// Of two the reads stand together in any case.
TEST(ReadInSteps, TwoStepsAreAsTheyWere) { EXPECT_EQ(after({2, 4, 8}), "12r 64f"); }

/// Four numbers along k of one row and one column are 8 words: four times that is a step.
TEST(ReadInSteps, AStepHasAsManyNumbersAsFit) {
  EXPECT_EQ(after({1, 1, 48}), "| 16r 16f | 8r 16f | 16f |");
}

/// Of 64 words that the first multiply-adds of all sums take, 32 are a step.
TEST(ReadInSteps, AStepEndsAmongSumsThatTakeMore) {
  EXPECT_EQ(after({8, 8, 8}), "| 16r 7f | 8r 249f | 8r 7f | 249f |");
}

/// As elements that lanes exchange: LLVM would hold them from the first step on.
TEST(ReadInSteps, WhatTheBlockComputesOtherwiseIsNotHeld) {
  EXPECT_EQ(after({2, 4, 16, "  %y = fadd float %a0x0, %a0x0\n"}),
            "| 12r 32f | 6r 32f | 6r 32f | 32f |");
  EXPECT_EQ(after({2, 4, 16,
                   "  %x = ptrtoint ptr addrspace(1) %out to i32\n"
                   "  %y = bitcast i32 %x to float\n"}),
            "24r 128f");
}

/// Neighbours are of other rows and columns, and of other places along k.
TEST(ReadInSteps, SumsComeInPairs) {
  std::string order = after({2, 2, 24}, /*inPairs=*/true, /*named=*/true);
  EXPECT_EQ(order.substr(0, 65),
            "| 16r s0_00 s0_01 s1_00 s0_11 s1_01 s0_10 s2_00 s1_11 s2_01 s1_10");
}

} // namespace
