//===- RoundPairsTest.cpp - Every upper half, rounded to bf16 in pairs ---------===//

#include "compiler/Target/AMD/RoundPairs.h"
#include "tests/compiler/Target/CPU/LoadedObject.h"
#include "tests/compiler/Target/EveryScalarKernel.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Target/TargetMachine.h"

#include <array>

using namespace kiln::testing;

namespace {

unsigned conversionsOf(const llvm::Module &module) {
  unsigned count = 0;
  for (const llvm::Instruction &instruction : llvm::instructions(*module.getFunction("f")))
    count += llvm::isa<llvm::FPTruncInst>(instruction);
  return count;
}

/// The module once it is rounded in pairs.
std::unique_ptr<llvm::Module> rounded(const std::string &text, llvm::LLVMContext &context) {
  std::unique_ptr<llvm::Module> module = parseIR(text, context);
  kiln::roundPairs(*module->getFunction("f"));
  EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs())) << text;
  return module;
}

/// To nearest, ties to even, in integers; a NaN stays one of its sign.
bool isRounded(uint32_t bits, uint16_t result) {
  bool isNaN = (bits & 0x7fffffff) > 0x7f800000;
  if (isNaN)
    return (result & 0x7fff) > 0x7f80 && result >> 15 == bits >> 31;
  return result == uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/// Four numbers as bf16, from each of the ways in which vectors of them are made.
void checkAll(const std::string &body) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module =
      rounded("define void @f(ptr %in, ptr %none0, ptr %none1, ptr %out) {\n  %v = load <4 x "
              "float>, ptr %in\n" +
                  body + "  store <4 x bfloat> %r, ptr %out\n  ret void\n}\n",
              context);
  EXPECT_EQ(conversionsOf(*module), 0u) << body;
  std::unique_ptr<llvm::TargetMachine> machine = hostMachine();
  module->setDataLayout(machine->createDataLayout());
  LoadedObject object(*module, *machine, "f");
  auto *function = object.as<void(const uint32_t *, void *, void *, uint16_t *)>();
  constexpr std::array<uint32_t, 6> lowerHalves{0, 1, 0x7fff, 0x8000, 0x8001, 0xffff};
  unsigned wrong = 0;
  for (uint32_t upper = 0; upper <= 0xffff; ++upper)
    for (uint32_t lower : lowerHalves) {
      // The other one of the pair must not matter.
      uint32_t number = upper << 16 | lower, other = ~number;
      alignas(16) std::array<uint32_t, 4> in{number, other, other, number};
      alignas(16) std::array<uint16_t, 4> out;
      function(in.data(), nullptr, nullptr, out.data());
      for (unsigned i = 0; i < in.size(); ++i)
        wrong += !isRounded(in[i], out[i]);
    }
  EXPECT_EQ(wrong, 0u) << body;
}

const char *const elements = "  %a = extractelement <4 x float> %v, i32 0\n"
                             "  %b = extractelement <4 x float> %v, i32 1\n"
                             "  %c = extractelement <4 x float> %v, i32 2\n"
                             "  %d = extractelement <4 x float> %v, i32 3\n";
const char *const conversions = "  %a1 = fptrunc float %a to bfloat\n"
                                "  %b1 = fptrunc float %b to bfloat\n"
                                "  %c1 = fptrunc float %c to bfloat\n"
                                "  %d1 = fptrunc float %d to bfloat\n";
const char *const insertions = "  %r1 = insertelement <4 x bfloat> poison, bfloat %b1, i32 1\n"
                               "  %r2 = insertelement <4 x bfloat> %r1, bfloat %a1, i32 0\n"
                               "  %r3 = insertelement <4 x bfloat> %r2, bfloat %c1, i32 2\n"
                               "  %r = insertelement <4 x bfloat> %r3, bfloat %d1, i32 3\n";

TEST(RoundPairs, RoundsEveryUpperHalf) {
  checkAll("  %r = fptrunc <4 x float> %v to <4 x bfloat>\n");
  checkAll(std::string(elements) + conversions + insertions);
  // Half of the vector comes from elsewhere.
  checkAll(std::string(elements) + "  %a1 = fptrunc float %a to bfloat\n"
                                   "  %b1 = fptrunc float %b to bfloat\n"
                                   "  %p1 = insertelement <4 x bfloat> poison, bfloat %b1, i32 1\n"
                                   "  %p = insertelement <4 x bfloat> %p1, bfloat %a1, i32 0\n"
                                   "  %w = shufflevector <4 x float> %v, <4 x float> poison, "
                                   "<2 x i32> <i32 2, i32 3>\n"
                                   "  %x = fptrunc <2 x float> %w to <2 x bfloat>\n"
                                   "  %q = shufflevector <2 x bfloat> %x, <2 x bfloat> poison, "
                                   "<4 x i32> <i32 0, i32 1, i32 poison, i32 poison>\n"
                                   "  %r = shufflevector <4 x bfloat> %p, <4 x bfloat> %q, "
                                   "<4 x i32> <i32 0, i32 1, i32 4, i32 5>\n");
}

TEST(RoundPairs, LeavesOthersAlone) {
  // Elements that are needed alone, too; one that is not rounded; vectors that are no pairs.
  const std::string whole = std::string(elements) + conversions + insertions;
  const std::pair<std::string, unsigned> bodies[] = {
      {whole + "  store bfloat %a1, ptr %out\n  store <4 x bfloat> %r, ptr %out\n", 4},
      {whole + "  %s = insertelement <4 x bfloat> %r, bfloat 1.0, i32 3\n"
               "  store <4 x bfloat> %s, ptr %out\n",
       4},
      {std::string(elements) + conversions + "  store bfloat %a1, ptr %out\n", 4},
      {"  %r = fptrunc <4 x float> %v to <4 x half>\n  store <4 x half> %r, ptr %out\n", 1},
      {"  %w = shufflevector <4 x float> %v, <4 x float> poison, <3 x i32> <i32 0, i32 1, i32 2>\n"
       "  %r = fptrunc <3 x float> %w to <3 x bfloat>\n  store <3 x bfloat> %r, ptr %out\n",
       1},
  };
  for (const auto &[body, expected] : bodies) {
    llvm::LLVMContext context;
    auto module =
        rounded("define void @f(<4 x float> %v, ptr %out) {\n" + body + "  ret void\n}\n", context);
    EXPECT_EQ(conversionsOf(*module), expected) << body;
  }
}

TEST(RoundPairs, QuietsWhatNoArithmeticHasMade) {
  auto quieted = [](const std::string &body) {
    llvm::LLVMContext context;
    auto module = rounded(
        "define <2 x bfloat> @f(<2 x float> %v, <2 x half> %h, <2 x bfloat> %b) {\n" + body +
            "  %r = fptrunc <2 x float> %x to <2 x bfloat>\n"
            "  ret <2 x bfloat> %r\n}\n",
        context);
    unsigned count = 0;
    for (const llvm::Instruction &instruction : llvm::instructions(*module->getFunction("f")))
      if (auto *call = llvm::dyn_cast<llvm::CallInst>(&instruction))
        count += call->getCalledFunction()->getName().starts_with("llvm.canonicalize");
    return count;
  };
  EXPECT_EQ(quieted("  %x = fmul <2 x float> %v, splat (float 2.0)\n"), 0u);
  EXPECT_EQ(quieted("  %x = fpext <2 x half> %h to <2 x float>\n"), 0u);
  EXPECT_EQ(quieted("  %x = fpext <2 x bfloat> %b to <2 x float>\n"), 2u);
  EXPECT_EQ(quieted("  %x = fneg <2 x float> %v\n"), 2u);
}

} // namespace
