//===- ConstantOffsetsTest.cpp - Random comparisons and products, before and after ----===//

#include "compiler/Target/NVIDIA/ConstantOffsets.h"
#include "tests/compiler/Target/CPU/LoadedObject.h"
#include "tests/compiler/Target/EveryScalarKernel.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Target/TargetMachine.h"

#include <array>
#include <random>

using namespace kiln::testing;

namespace {

constexpr unsigned numResults = 24;
using Results = std::array<int64_t, numResults>;

/// Stores what comparisons of `column + constant` with `bound`, or products of such sums, give. The
/// column is one of the parameters, multiplied by 16, and the other, both as far from the limits of
/// 32 bits as `isSmall` says or as near.
class RandomProgram {
public:
  RandomProgram(unsigned seed, bool areProducts) : random(seed) {
    const char *extension = pick({"sext", "zext"});
    for (unsigned i = 0; i < 4; ++i) {
      line("%in" + std::to_string(i) + " = getelementptr i64, ptr %in, i64 " + std::to_string(i));
      line("%p" + std::to_string(i) + " = load i64, ptr %in" + std::to_string(i));
    }
    line("%a = trunc i64 %p0 to i32\n  %b = trunc i64 %p1 to i32\n  %n = trunc i64 %p2 to i32");
    line("%lane = and i32 %b, 7");
    line("%wide.a = sext i32 %a to i64");
    line("%start = shl i64 %wide.a, 4");
    line(std::string("%wide.lane = ") + extension + " i32 %lane to i64");
    line("%column = add i64 %start, %wide.lane");
    line("%first = shl i32 %lane, 4");
    bool isInner = below(2) == 0, isBoundWide = below(4) == 0;
    line(std::string("%bound = ") + (isBoundWide ? "mul i64 %p3, 1" : "sext i32 %n to i64"));
    for (unsigned i = 0; i < numResults; ++i) {
      std::string number = std::to_string(i), sum = "%sum" + number;
      if (isInner) { // the constant in the narrower part, of bits that are clear in it
        line("%narrow" + number + " = or disjoint i32 %first, " + std::to_string(below(16)));
        line("%inner" + number + " = zext nneg i32 %narrow" + number + " to i64");
        line(sum + " = add i64 %start, %inner" + number);
      } else {
        line(sum + " = add i64 %column, " + std::to_string(int(below(4000)) - 1000));
      }
      line("%result" + number + " = " +
           (areProducts ? product(sum) : comparison(sum, number, isBoundWide)));
      line("%at" + number + " = getelementptr i64, ptr %out, i64 " + number);
      line("store i64 %result" + number + ", ptr %at" + number);
    }
  }

  std::string text() const {
    return "define void @f(ptr %in, ptr %unused, ptr %neither, ptr %out) {\n" + body +
           "  ret void\n}\n";
  }

private:
  unsigned below(unsigned end) { return unsigned(random()) % end; }
  const char *pick(std::initializer_list<const char *> names) {
    return names.begin()[below(unsigned(names.size()))];
  }
  void line(const std::string &text) { body += "  " + text + "\n"; }

  std::string product(const std::string &sum) {
    return std::string(pick({"shl", "mul"})) + " i64 " + sum + ", " + std::to_string(below(40));
  }

  std::string comparison(const std::string &sum, const std::string &number, bool isEquality) {
    bool isSwapped = below(3) == 0;
    std::string predicate =
        isEquality ? pick({"eq", "ne"}) : pick({"eq", "ne", "slt", "sle", "sgt", "sge"});
    line("%is" + number + " = icmp " + predicate + " i64 " +
         (isSwapped ? "%bound, " + sum : sum + ", %bound"));
    return "zext i1 %is" + number + " to i64";
  }

  std::minstd_rand random;
  std::string body;
};

unsigned countOf(llvm::Module &module, unsigned opcode) {
  return unsigned(llvm::count_if(
      llvm::instructions(*module.getFunction("f")),
      [&](const llvm::Instruction &instruction) { return instruction.getOpcode() == opcode; }));
}

struct Program {
  explicit Program(const std::string &text) : module(parseIR(text, context)) {}

  Results run(int32_t a, int32_t b, int32_t n, int64_t p) {
    if (!object) {
      std::string broken;
      llvm::raw_string_ostream stream(broken);
      EXPECT_FALSE(llvm::verifyModule(*module, &stream)) << broken;
      std::unique_ptr<llvm::TargetMachine> machine = hostMachine();
      module->setDataLayout(machine->createDataLayout());
      object.emplace(*module, *machine, "f");
    }
    const std::array<int64_t, 4> numbers{a, b, n, p};
    Results results;
    object->as<void(const int64_t *, void *, void *, int64_t *)>()(numbers.data(), nullptr, nullptr,
                                                                   results.data());
    return results;
  }

  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module;
  std::optional<LoadedObject> object;
};

/// Random numbers, bounds that some of the sums reach, and extremes.
void expectSameResults(Program &before, Program &after, unsigned seed) {
  std::mt19937 random(seed);
  const std::array<int32_t, 4> extremes{INT32_MIN, INT32_MAX, 0, -1};
  for (unsigned call = 0; call < 40; ++call) {
    auto a = int32_t(random()), b = int32_t(random()), n = int32_t(random());
    if (call % 4 == 0)
      a = extremes[call / 4 % 4], n = extremes[call / 16 % 4];
    if (call % 4 == 1)
      a %= 1000, n = a * 16 + int32_t(random() % 64);
    int64_t p = int64_t(a) * 16 + (b & 7) + int64_t(random() % 16);
    EXPECT_EQ(before.run(a, b, n, p), after.run(a, b, n, p)) << a << " " << b << " " << n;
  }
}

TEST(ConstantOffsets, RandomComparisonsAreTheSame) {
  unsigned changed = 0, narrow = 0;
  for (unsigned seed = 1; seed <= 40; ++seed) {
    std::string text = RandomProgram(seed, /*areProducts=*/false).text();
    SCOPED_TRACE(text);
    Program before(text), after(text);
    kiln::compareDifferences(*after.module);
    changed += countOf(*after.module, llvm::Instruction::Freeze) > 0;
    narrow += countOf(*after.module, llvm::Instruction::Trunc) > 0;
    expectSameResults(before, after, seed);
  }
  EXPECT_EQ(changed, 40u);
  EXPECT_EQ(narrow, 40u);
}

TEST(ConstantOffsets, RandomProductsAreTheSame) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    std::string text = RandomProgram(seed, /*areProducts=*/true).text();
    SCOPED_TRACE(text);
    Program before(text), after(text);
    kiln::multiplyParts(*after.module);
    expectSameResults(before, after, seed);
  }
}

/// How many differences the comparisons of the body become.
unsigned differences(const std::string &body) {
  llvm::LLVMContext context;
  auto module = parseIR("declare void @use(...)\n"
                        "define void @f(i64 %x, i64 %y, i32 %a, i32 %b) {\n" +
                            body + "  ret void\n}\n",
                        context);
  kiln::compareDifferences(*module);
  EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs()));
  return countOf(*module, llvm::Instruction::Freeze);
}

std::string compare(const std::string &type, const std::string &predicate, unsigned number,
                    const std::string &x, const std::string &y) {
  std::string n = std::to_string(number);
  return "%s" + n + " = add " + type + " " + x + ", " + n + "\n%c" + n + " = icmp " + predicate +
         " " + type + " %s" + n + ", " + y + "\ncall void @use(i1 %c" + n + ")\n";
}

std::string compareAll(const std::string &type, const std::string &predicate, unsigned end,
                       const std::string &x, const std::string &y) {
  std::string body;
  for (unsigned number = 1; number <= end; ++number)
    body += compare(type, predicate, number, x, y);
  return body;
}

TEST(ConstantOffsets, OrderNeedsRoom) {
  EXPECT_EQ(differences(compareAll("i64", "eq", 4, "%x", "%y")), 1u);
  EXPECT_EQ(differences(compareAll("i64", "slt", 4, "%x", "%y")), 0u) << "the sum may wrap";
  std::string wide = "%wa = sext i32 %a to i64\n%wb = sext i32 %b to i64\n";
  EXPECT_EQ(differences(wide + compareAll("i64", "slt", 4, "%wa", "%wb")), 1u);
  EXPECT_EQ(differences(wide + compareAll("i64", "ult", 4, "%wa", "%wb")), 0u);
  EXPECT_EQ(differences(compareAll("i32", "slt", 4, "%a", "%b")), 0u);
  std::string narrow = "%na = and i32 %a, 65535\n%nb = and i32 %b, 65535\n";
  EXPECT_EQ(differences(narrow + compareAll("i32", "sge", 4, "%na", "%nb")), 1u);
}

TEST(ConstantOffsets, FewComparisonsStay) {
  EXPECT_EQ(differences(compareAll("i64", "eq", 3, "%x", "%y")), 0u);
  EXPECT_EQ(differences(compareAll("i64", "eq", 4, "%x", "7")), 0u) << "a constant";
  std::string used = "call void @use(i64 %s1)\n";
  EXPECT_EQ(differences(compareAll("i64", "eq", 4, "%x", "%y") + used), 0u)
      << "one of the sums is computed for another";
  EXPECT_EQ(differences(compareAll("i64", "eq", 8, "%x", "%y") + used), 1u);
}

} // namespace
