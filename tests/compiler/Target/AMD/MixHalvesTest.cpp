//===- MixHalvesTest.cpp - Arithmetic on halves, before and after mixing -------===//

#include "compiler/Target/AMD/MixHalves.h"
#include "tests/compiler/Target/CPU/LoadedObject.h"
#include "tests/compiler/Target/EveryScalarKernel.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Target/TargetMachine.h"

#include <array>
#include <cstring>
#include <random>

using namespace kiln::testing;

namespace {

constexpr size_t numHalves = 8, numSingles = 4, numOutputs = 4;

/// What is done with vectors of two: `%h0` to `%h3` from f16, `%s0` and `%s1` of f32; `%r` is the
/// result of four f32, and `%t` of two f16.
std::string program(const std::string &body) {
  std::string text =
      "define void @f(ptr %halves, ptr %singles, ptr %out, ptr %halvesOut) {\n"
      "  %h = load <8 x half>, ptr %halves\n"
      "  %s = load <4 x float>, ptr %singles\n"
      "  %s0 = shufflevector <4 x float> %s, <4 x float> poison, <2 x i32> <i32 0, i32 1>\n"
      "  %s1 = shufflevector <4 x float> %s, <4 x float> poison, <2 x i32> <i32 2, i32 3>\n";
  for (unsigned pair = 0; pair < numHalves / 2; ++pair) {
    std::string name = std::to_string(pair);
    text += "  %p" + name + " = shufflevector <8 x half> %h, <8 x half> poison, <2 x i32> <i32 " +
            std::to_string(2 * pair) + ", i32 " + std::to_string(2 * pair + 1) + ">\n  %h" + name +
            " = fpext <2 x half> %p" + name + " to <2 x float>\n";
  }
  return text + body +
         "  store <4 x float> %r, ptr %out\n  store <2 x half> %t, ptr %halvesOut\n  ret void\n}\n";
}

unsigned countOf(const llvm::Module &module, unsigned opcode) {
  unsigned found = 0;
  for (const llvm::Instruction &instruction : llvm::instructions(*module.getFunction("f")))
    found += instruction.getOpcode() == opcode;
  return found;
}

unsigned countFused(const llvm::Module &module) {
  unsigned found = 0;
  for (const llvm::Instruction &instruction : llvm::instructions(*module.getFunction("f")))
    if (auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction))
      found += call->getIntrinsicID() == llvm::Intrinsic::fma;
  return found;
}

std::unique_ptr<llvm::Module> mixed(const std::string &body, bool packsSingles,
                                    llvm::LLVMContext &context, bool fusesProducts = true) {
  std::unique_ptr<llvm::Module> module = parseIR(program(body), context);
  kiln::mixHalves(*module->getFunction("f"), packsSingles, fusesProducts);
  EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs())) << body;
  return module;
}

struct Outputs {
  std::array<uint32_t, numOutputs> singles{};
  std::array<uint16_t, 2> halves{};
  bool operator==(const Outputs &other) const {
    return singles == other.singles && halves == other.halves;
  }
};

class Program {
public:
  explicit Program(std::unique_ptr<llvm::Module> module, llvm::TargetMachine &machine)
      : object((module->setDataLayout(machine.createDataLayout()), *module), machine, "f") {}

  Outputs run(const std::array<uint16_t, numHalves> &halves,
              const std::array<float, numSingles> &singles) const {
    alignas(16) std::array<uint16_t, numHalves> h = halves;
    alignas(16) std::array<float, numSingles> s = singles;
    alignas(16) Outputs out;
    object.as<void(void *, void *, void *, void *)>()(h.data(), s.data(), out.singles.data(),
                                                      out.halves.data());
    return out;
  }

private:
  LoadedObject object;
};

/// The same bits with and without, for halves of every kind and singles of many magnitudes. NaNs
/// are left out: their payloads may differ.
void checkBits(const std::string &body, bool packsSingles, bool fusesProducts = true) {
  SCOPED_TRACE(body);
  llvm::LLVMContext context;
  std::unique_ptr<llvm::TargetMachine> machine = hostMachine();
  Program before(parseIR(program(body), context), *machine);
  Program after(mixed(body, packsSingles, context, fusesProducts), *machine);
  std::mt19937 random(7);
  std::uniform_int_distribution<int> bits(0, 0xffff), exponent(-30, 20);
  std::uniform_real_distribution<float> mantissa(-2, 2);
  for (int trial = 0; trial < 4000; ++trial) {
    std::array<uint16_t, numHalves> halves;
    for (uint16_t &half : halves) {
      half = uint16_t(bits(random));
      if ((half & 0x7c00) == 0x7c00)
        half &= 0x83ff; // in place of infinities and NaNs: denormals
    }
    std::array<float, numSingles> singles;
    for (float &single : singles)
      single = trial % 5 == 0 ? -0.0f : std::ldexp(mantissa(random), exponent(random));
    if (trial % 7 == 0)
      halves = {0, 0x8000, 0, 0x8000, 0x8000, 0, 1, 0x8001};
    ASSERT_TRUE(before.run(halves, singles) == after.run(halves, singles)) << trial;
  }
}

constexpr const char *concatenated =
    "  %r = shufflevector <2 x float> %a, <2 x float> %b, <4 x i32> <i32 0, i32 1, i32 2, i32 3>\n";

TEST(MixHalves, SumsAndProductsTakeHalves) {
  std::string body = std::string("  %a = fadd <2 x float> %h0, %s0\n"
                                 "  %c = fsub <2 x float> %s1, %h1\n"
                                 "  %b = fmul <2 x float> %h2, %s0\n"
                                 "  %d = fsub <2 x float> %h3, %c\n"
                                 "  %t = fptrunc <2 x float> %d to <2 x half>\n") +
                     concatenated;
  for (bool packsSingles : {false, true}) {
    llvm::LLVMContext context;
    std::unique_ptr<llvm::Module> module = mixed(body, packsSingles, context);
    EXPECT_EQ(countFused(*module), 8u);
    for (unsigned opcode :
         {llvm::Instruction::FAdd, llvm::Instruction::FSub, llvm::Instruction::FMul})
      EXPECT_EQ(countOf(*module, opcode), 0u);
    checkBits(body, packsSingles);
  }
}

/// Elements `1` to the number's differences with one f32, four of which are worth the constants.
std::string differences(unsigned number) {
  std::string body =
                  "  %z = extractelement <4 x float> %s, i32 1\n  %r0 = insertelement <4 x float> "
                  "%s, float 0.0, i32 0\n",
              last = "%r0";
  for (unsigned i = 1; i <= number; ++i) {
    std::string n = std::to_string(i);
    body += "  %x" + n + " = extractelement <8 x half> %h, i32 " + n + "\n  %y" + n +
            " = fpext half %x" + n + " to float\n  %q" + n + " = fsub float %y" + n + ", %z\n  %r" +
            n + " = insertelement <4 x float> " + last + ", float %q" + n + ", i32 " +
            std::to_string(i % 4) + "\n";
    last = "%r" + n;
  }
  return body + "  %r = shufflevector <4 x float> " + last +
         ", <4 x float> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 3>\n"
         "  %t = shufflevector <8 x half> %h, <8 x half> poison, <2 x i32> <i32 0, i32 1>\n";
}

TEST(MixHalves, ElementsOnTheirOwn) {
  llvm::LLVMContext context;
  EXPECT_EQ(countFused(*mixed(differences(4), false, context)), 4u);
  checkBits(differences(4), false);
  EXPECT_EQ(countFused(*mixed(differences(3), false, context)), 0u);
}

/// A conversion that a comparison needs in any case, one that two sums share, each of which could
/// be half of an instruction, and constants.
TEST(MixHalves, NotWhereAConversionStays) {
  std::string body = std::string("  %a = fadd <2 x float> %h0, %s0\n"
                                 "  %m = fcmp olt <2 x float> %h0, %s0\n"
                                 "  %u = fadd <2 x float> %h1, %s0\n"
                                 "  %v = fadd <2 x float> %h1, %s1\n"
                                 "  %w = fmul <2 x float> %h2, splat (float 3.0)\n"
                                 "  %x = select <2 x i1> %m, <2 x float> %u, <2 x float> %v\n"
                                 "  %b = select <2 x i1> %m, <2 x float> %w, <2 x float> %x\n"
                                 "  %t = fptrunc <2 x float> %x to <2 x half>\n") +
                     concatenated;
  llvm::LLVMContext context;
  EXPECT_EQ(countFused(*mixed(body, true, context)), 0u);
}

const std::string productsInSums = std::string("  %x = fmul <2 x float> %s0, %h0\n"
                                               "  %a = fadd <2 x float> %x, %h1\n"
                                               "  %y = fmul <2 x float> %h2, %h3\n"
                                               "  %b = fsub <2 x float> %s1, %y\n"
                                               "  %t = fptrunc <2 x float> %a to <2 x half>\n") +
                                   concatenated;

/// A product that is added is one operation with the sum, which takes halves unless it is two at
/// once.
TEST(MixHalves, ProductsInSums) {
  llvm::LLVMContext context;
  EXPECT_EQ(countFused(*mixed(productsInSums, false, context)), 0u);
  std::unique_ptr<llvm::Module> module = mixed(productsInSums, true, context);
  EXPECT_EQ(countFused(*module), 4u);
  EXPECT_EQ(countOf(*module, llvm::Instruction::FMul), 0u);
  std::unique_ptr<llvm::TargetMachine> machine = hostMachine();
  Program fused(std::move(module), *machine);
  // Products of halves are exact, and so are these sums.
  Outputs out =
      fused.run({0x3c00, 0xc000, 0x3800, 0x4400, 0x4200, 0xbc00, 0x4000, 0x3400}, {3, 5, 100, -8});
  auto single = [&](size_t index) {
    float value;
    std::memcpy(&value, &out.singles[index], sizeof value);
    return value;
  };
  EXPECT_EQ(single(0), 3 * 1 + 0.5f);
  EXPECT_EQ(single(1), 5 * -2 + 4.0f);
  EXPECT_EQ(single(2), 100 - 3 * 2.0f);
  EXPECT_EQ(single(3), -8 + 1 * 0.25f);
}

/// Where products may not become part of sums, both round, and take halves each for itself.
TEST(MixHalves, ProductsBesideSums) {
  checkBits(productsInSums, /*packsSingles=*/true, /*fusesProducts=*/false);
}

/// A sum takes the first of its products, so that the second one converts by itself.
TEST(MixHalves, SecondProductsOfSums) {
  std::string body = std::string("  %x = fmul <2 x float> %h0, %h1\n"
                                 "  %y = fmul <2 x float> %h2, %h3\n"
                                 "  %a = fadd <2 x float> %x, %y\n"
                                 "  %z = fmul <2 x float> %s0, %s1\n"
                                 "  %w = fmul <2 x float> %h1, %h2\n"
                                 "  %b = fsub <2 x float> %z, %w\n"
                                 "  %t = fptrunc <2 x float> %b to <2 x half>\n") +
                     concatenated;
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module = mixed(body, false, context);
  EXPECT_EQ(countFused(*module), 4u);
  EXPECT_EQ(countOf(*module, llvm::Instruction::FMul), 2u);
  checkBits(body, false);
}

} // namespace
