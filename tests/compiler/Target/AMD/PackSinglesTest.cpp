//===- PackSinglesTest.cpp - Random arithmetic, before and after packing -------===//

#include "compiler/Target/AMD/PackSingles.h"
#include "tests/compiler/Target/CPU/LoadedObject.h"
#include "tests/compiler/Target/EveryScalarKernel.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Target/TargetMachine.h"

#include <array>
#include <cstring>
#include <random>
#include <regex>

using namespace kiln::testing;

namespace {

constexpr unsigned numVectors = 3, width = 4, numStored = 24;
using Inputs = std::array<float, numVectors * width>;
using Outputs = std::array<float, numStored>;

/// A program of sums, products and square roots of what vectors hold, most of it done alike to two
/// neighbours, in an order in which their users may come between.
class RandomProgram {
public:
  explicit RandomProgram(unsigned seed) : random(seed) {
    for (unsigned vector = 0; vector < numVectors; ++vector) {
      std::string name = "%v" + std::to_string(vector);
      line(name + " = load <4 x float>, ptr %in" + std::to_string(vector) + "");
      for (unsigned element = 0; element < width; ++element)
        values.push_back(
            define("extractelement <4 x float> " + name + ", i32 " + std::to_string(element)));
    }
    for (unsigned step = 0; step < numStored; ++step)
      addStep();
    for (unsigned i = 0; i < numStored; ++i) {
      line("%o" + std::to_string(i) + " = getelementptr float, ptr %out, i32 " + std::to_string(i));
      line("store float " + values[values.size() - 1 - i] + ", ptr %o" + std::to_string(i));
    }
  }

  std::string text() const {
    return "declare float @llvm.sqrt.f32(float)\ndeclare float @llvm.fabs.f32(float)\n"
           "define void @f(ptr %in0, ptr %in1, ptr %in2, ptr %out) {\n" +
           body + "  ret void\n}\n";
  }

private:
  unsigned below(unsigned end) { return unsigned(random()) % end; }
  void line(const std::string &text) { body += "  " + text + "\n"; }
  std::string define(const std::string &what) {
    std::string name = "%x" + std::to_string(numDefined++);
    line(name + " = " + what);
    return name;
  }

  std::string operation(const std::string &a, const std::string &b, unsigned kind) {
    static const char *const names[] = {"fadd", "fsub", "fmul"};
    if (kind == 3) {
      std::string magnitude = define("call float @llvm.fabs.f32(float " + a + ")");
      return define("call float @llvm.sqrt.f32(float " + magnitude + ")");
    }
    return define(std::string(names[kind]) + " float " + a + ", " + b);
  }

  void addStep() {
    // Neighbours begin at even places; so that some do not, any may be the first.
    size_t first = below(values.size() - 1), other = below(values.size() - 1);
    bool isSplat = below(3) == 0, isSwapped = below(2) == 0;
    unsigned kind = below(4);
    std::string low = values[first], high = values[first + 1];
    std::string a = values[other], b = isSplat ? a : values[other + 1];
    auto add = [&](const std::string &x, const std::string &y) {
      values.push_back(isSwapped ? operation(y, x, kind) : operation(x, y, kind));
    };
    add(low, a);
    if (below(4) == 0) // uses the first of two before the second is there
      values.push_back(operation(values.back(), low, 0));
    add(high, b);
  }

  std::minstd_rand random;
  std::string body;
  std::vector<std::string> values;
  unsigned numDefined = 0;
};

unsigned packedOperations(const llvm::Module &module) {
  unsigned count = 0;
  for (const llvm::Instruction &instruction : llvm::instructions(*module.getFunction("f")))
    count += instruction.isBinaryOp() && instruction.getType()->isVectorTy();
  return count;
}

/// What the program makes of the inputs, and how many of its operations are on two numbers.
Outputs run(const std::string &text, bool isPacked, const Inputs &inputs, unsigned &packed) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module = parseIR(text, context);
  if (isPacked)
    kiln::packSingles(*module->getFunction("f"));
  std::string broken;
  llvm::raw_string_ostream stream(broken);
  EXPECT_FALSE(llvm::verifyModule(*module, &stream)) << broken << text;
  packed = packedOperations(*module);
  std::unique_ptr<llvm::TargetMachine> machine = hostMachine();
  module->setDataLayout(machine->createDataLayout());
  LoadedObject object(*module, *machine, "f");
  auto *function = object.as<void(const float *, const float *, const float *, float *)>();
  Outputs outputs;
  alignas(16) Inputs aligned = inputs;
  function(&aligned[0], &aligned[width], &aligned[2 * width], outputs.data());
  return outputs;
}

TEST(PackSingles, RandomProgramsGiveTheSameBits) {
  unsigned total = 0;
  for (unsigned seed = 1; seed <= 60; ++seed) {
    std::string text = RandomProgram(seed).text();
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> numbers(-2, 2);
    Inputs inputs;
    for (float &number : inputs)
      number = numbers(random);
    unsigned none = 0, packed = 0;
    Outputs expected = run(text, /*isPacked=*/false, inputs, none);
    Outputs actual = run(text, /*isPacked=*/true, inputs, packed);
    EXPECT_EQ(none, 0u);
    EXPECT_EQ(std::memcmp(expected.data(), actual.data(), sizeof(Outputs)), 0) << seed << text;
    total += packed;
  }
  EXPECT_GT(total, 60u);
}

/// Vector operations of the function's body once it is packed.
unsigned packedOf(const std::string &body) {
  llvm::LLVMContext context;
  auto module = parseIR("declare float @llvm.sqrt.f32(float)\n"
                        "define void @f(<4 x float> %v, <4 x float> %w, float %s, ptr %out) {\n" +
                            body + "  ret void\n}\n",
                        context);
  kiln::packSingles(*module->getFunction("f"));
  EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs()));
  return packedOperations(*module);
}

const char *const neighbours = "  %a = extractelement <4 x float> %v, i32 2\n"
                               "  %b = extractelement <4 x float> %v, i32 3\n";

TEST(PackSingles, FollowsPairsThroughCalls) {
  // Attention's scores: scaled, less a maximum; what is made of them, times another pair.
  EXPECT_EQ(packedOf(std::string(neighbours) + R"(
  %c = extractelement <4 x float> %w, i32 0
  %d = extractelement <4 x float> %w, i32 1
  %a1 = fmul float %a, %s
  %b1 = fmul float %b, %s
  %a2 = fsub float %a1, %s
  %b2 = fsub float %b1, %s
  %a3 = call float @llvm.sqrt.f32(float %a2)
  %b3 = call float @llvm.sqrt.f32(float %b2)
  %a4 = fmul float %a3, %c
  %b4 = fmul float %b3, %d
  store float %a4, ptr %out
  %next = getelementptr float, ptr %out, i32 1
  store float %b4, ptr %next
)"),
            3u);
}

TEST(PackSingles, IsThereForTheFirstUse) {
  // As of a sigmoid, the first of which is computed before the second begins.
  EXPECT_EQ(packedOf(std::string(neighbours) + R"(
  %a1 = fmul float %a, %s
  %a2 = call float @llvm.sqrt.f32(float %a1)
  %b1 = fmul float %b, %s
  %b2 = call float @llvm.sqrt.f32(float %b1)
  %sum = fadd float %a2, %b2
  store float %sum, ptr %out
)"),
            1u);
}

TEST(PackSingles, MultipliesByReciprocals) {
  // The numerators are a pair; in a vector, too; what has to be exact stays.
  const std::string body = R"(
  %d = extractelement <4 x float> %w, i32 0
  %e = extractelement <4 x float> %w, i32 1
  %x = fdiv afn float %a, %d
  %y = fdiv afn float %b, %e
  %sum = fadd float %x, %y
  store float %sum, ptr %out
)";
  EXPECT_EQ(packedOf(std::string(neighbours) + body), 1u);
  const std::string exact = std::regex_replace(body, std::regex("fdiv afn"), "fdiv");
  EXPECT_EQ(packedOf(std::string(neighbours) + exact), 0u);
  EXPECT_EQ(
      packedOf("  %p = shufflevector <4 x float> %v, <4 x float> %w, <2 x i32> <i32 0, i32 5>\n"
               "  %q = fdiv afn <2 x float> splat (float 1.0), %p\n"
               "  store <2 x float> %q, ptr %out\n"),
      1u);
}

TEST(PackSingles, CarriesPairsAsVectors) {
  // Rows that a loop has loaded ahead.
  EXPECT_EQ(packedOf(R"(
  %c = extractelement <4 x float> %w, i32 0
  %d = extractelement <4 x float> %w, i32 1
  br label %loop
loop:
  %b1 = phi float [ %d, %0 ], [ %b2, %loop ]
  %a1 = phi float [ %c, %0 ], [ %a2, %loop ]
  %x = fsub float %a1, %s
  %y = fsub float %b1, %s
  %sum = fadd float %x, %y
  store float %sum, ptr %out
  %next = load <4 x float>, ptr %out
  %a2 = extractelement <4 x float> %next, i32 2
  %b2 = extractelement <4 x float> %next, i32 3
  %again = fcmp olt float %sum, %s
  br i1 %again, label %loop, label %done
done:
)"),
            1u);
}

TEST(PackSingles, LeavesOthersAlone) {
  // Other operations, operands that are no pair, values that are no neighbours, a use before the
  // other operand is there.
  for (const char *body : {"  %x = fadd float %a, %s\n  %y = fsub float %b, %s\n",
                           "  %x = fadd float %a, %s\n  %y = fadd float %b, %a\n",
                           "  %c = extractelement <4 x float> %v, i32 1\n"
                           "  %x = fadd float %c, %s\n  %y = fadd float %a, %s\n",
                           "  %a1 = call float @llvm.sqrt.f32(float %a)\n"
                           "  %x = fadd float %a1, %s\n  store float %x, ptr %out\n"
                           "  %b1 = call float @llvm.sqrt.f32(float %b)\n"
                           "  %y = fadd float %b1, %s\n"}) {
    std::string text = std::string(neighbours) + body;
    EXPECT_EQ(packedOf(text + "  %sum = fmul float %x, %y\n  store float %sum, ptr %out\n"), 0u)
        << text;
  }
}

} // namespace
