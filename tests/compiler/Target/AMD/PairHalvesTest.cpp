//===- PairHalvesTest.cpp - Words of two halves in one instruction ----------------===//

#include "compiler/Target/AMD/PairHalves.h"
#include "tests/compiler/Target/EveryScalarKernel.h"
#include "llvm/Analysis/ConstantFolding.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/IR/Verifier.h"

using namespace kiln::testing;

namespace {

/// What a function of two vectors of four 16-bit numbers stores, for 0 to 7, and by how many
/// instructions for words.
struct Outcome {
  std::vector<int> elements; ///< -1: any
  unsigned permutations = 0;

  bool operator==(const Outcome &other) const {
    return elements == other.elements && permutations == other.permutations;
  }
};

void PrintTo(const Outcome &outcome, std::ostream *out) {
  for (int element : outcome.elements)
    *out << element << ' ';
  *out << "by " << outcome.permutations;
}

llvm::Constant *numbersFrom(unsigned first, llvm::Type *type) {
  std::vector<llvm::Constant *> numbers;
  for (unsigned i = 0; i < llvm::cast<llvm::FixedVectorType>(type)->getNumElements(); ++i)
    numbers.push_back(llvm::ConstantInt::get(type->getScalarType(), first + i));
  return llvm::ConstantVector::get(numbers);
}

/// LLVM folds all that the function computes, also the instruction for words.
Outcome outcomeOf(const std::string &body, kiln::PairedHalves which = kiln::PairedHalves::Any,
                  bool condition = false) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module =
      parseIR("define void @f(<4 x i16> %a, <4 x i16> %b, i16 %one, i1 %c, ptr %p) {\n" + body +
                  "  store <4 x i16> %r, ptr %p\n  ret void\n}",
              context);
  llvm::Function &function = *module->getFunction("f");
  kiln::pairHalves(function, which);
  EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs()));
  for (unsigned argument : {0, 1})
    function.getArg(argument)->replaceAllUsesWith(
        numbersFrom(4 * argument, function.getArg(argument)->getType()));
  function.getArg(2)->replaceAllUsesWith(
      llvm::ConstantInt::get(function.getArg(2)->getType(), 100));
  function.getArg(3)->replaceAllUsesWith(
      llvm::ConstantInt::getBool(function.getArg(3)->getType(), condition));
  Outcome outcome;
  for (llvm::Instruction &op : llvm::instructions(function)) {
    auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&op);
    outcome.permutations += call && call->getIntrinsicID() == llvm::Intrinsic::amdgcn_perm;
    if (llvm::Constant *folded = llvm::ConstantFoldInstruction(&op, module->getDataLayout()))
      op.replaceAllUsesWith(folded);
    if (auto *store = llvm::dyn_cast<llvm::StoreInst>(&op))
      for (unsigned i = 0; i < 4; ++i) {
        auto *element = llvm::dyn_cast<llvm::ConstantInt>(
            llvm::cast<llvm::Constant>(store->getValueOperand())->getAggregateElement(i));
        outcome.elements.push_back(element ? int(element->getZExtValue()) : -1);
      }
  }
  return outcome;
}

TEST(PairHalves, WordsOfTwoVectorsAreOneInstructionEach) {
  EXPECT_EQ(outcomeOf("  %r = shufflevector <4 x i16> %a, <4 x i16> %b, "
                      "<4 x i32> <i32 0, i32 4, i32 3, i32 7>\n"),
            (Outcome{{0, 4, 3, 7}, 2}));
  EXPECT_EQ(outcomeOf("  %r = shufflevector <4 x i16> %a, <4 x i16> %b, "
                      "<4 x i32> <i32 5, i32 2, i32 2, i32 5>\n"),
            (Outcome{{5, 2, 2, 5}, 2}));
}

/// Both halves of a wave have exchanged a word, and want both words in one order.
TEST(PairHalves, WordsThatLanesChooseAreNotChosen) {
  const std::string words =
      "  %x = shufflevector <4 x i16> %a, <4 x i16> poison, <2 x i32> <i32 0, i32 1>\n"
      "  %y = shufflevector <4 x i16> %b, <4 x i16> poison, <2 x i32> <i32 2, i32 3>\n"
      "  %v = bitcast <2 x i16> %x to i32\n"
      "  %w = bitcast <2 x i16> %y to i32\n";
  const std::string choices = "  %s = select i1 %c, i32 %v, i32 %w\n"
                              "  %t = select i1 %c, i32 %w, i32 %v\n"
                              "  %f = bitcast i32 %s to <2 x i16>\n"
                              "  %g = bitcast i32 %t to <2 x i16>\n";
  const std::string interleaved = words + choices +
                                  "  %r = shufflevector <2 x i16> %f, <2 x i16> %g, "
                                  "<4 x i32> <i32 0, i32 2, i32 1, i32 3>\n";
  // Of one choice taken twice.
  const std::string twice = words + choices +
                            "  %r = shufflevector <2 x i16> %f, <2 x i16> %f, "
                            "<4 x i32> <i32 1, i32 2, i32 3, i32 0>\n";
  for (kiln::PairedHalves which :
       {kiln::PairedHalves::Any, kiln::PairedHalves::OfChoicesAndStores}) {
    EXPECT_EQ(outcomeOf(interleaved, which, true), (Outcome{{0, 6, 1, 7}, 2}));
    EXPECT_EQ(outcomeOf(interleaved, which, false), (Outcome{{6, 0, 7, 1}, 2}));
    EXPECT_EQ(outcomeOf(twice, which, true), (Outcome{{1, 0, 1, 0}, 2}));
    EXPECT_EQ(outcomeOf(twice, which, false), (Outcome{{7, 6, 7, 6}, 2}));
  }
}

TEST(PairHalves, OthersStayWhereChoicesAndStoresAloneAreWanted) {
  const std::string columns = " = shufflevector <4 x i16> %a, <4 x i16> %b, "
                              "<4 x i32> <i32 0, i32 4, i32 3, i32 7>\n",
                    used = "  %r = add <4 x i16> %x, zeroinitializer\n";
  auto outcome = [](const std::string &body) {
    return outcomeOf(body, kiln::PairedHalves::OfChoicesAndStores);
  };
  EXPECT_EQ(outcome("  %r" + columns), (Outcome{{0, 4, 3, 7}, 2}));
  EXPECT_EQ(outcome("  %x" + columns + used), (Outcome{{0, 4, 3, 7}, 0}));
  // Two conditions, or other words.
  const std::string apart =
      "  %d = xor i1 %c, true\n"
      "  %f = shufflevector <4 x i16> %a, <4 x i16> poison, <2 x i32> <i32 0, i32 1>\n"
      "  %g = shufflevector <4 x i16> %b, <4 x i16> poison, <2 x i32> <i32 0, i32 1>\n"
      "  %h = shufflevector <4 x i16> %b, <4 x i16> poison, <2 x i32> <i32 2, i32 3>\n"
      "  %s = select i1 %c, <2 x i16> %f, <2 x i16> %g\n";
  const std::string end =
      "  %x = shufflevector <2 x i16> %s, <2 x i16> %t, <4 x i32> <i32 0, i32 2, i32 1, i32 3>\n" +
      used;
  for (const char *choice : {"  %t = select i1 %d, <2 x i16> %g, <2 x i16> %f\n",
                             "  %t = select i1 %c, <2 x i16> %h, <2 x i16> %f\n"})
    EXPECT_EQ(outcome(apart + choice + end).permutations, 0u);
}

TEST(PairHalves, WordsThatAreThereStay) {
  EXPECT_EQ(outcomeOf("  %r = shufflevector <4 x i16> %a, <4 x i16> %b, "
                      "<4 x i32> <i32 6, i32 7, i32 1, i32 0>\n"),
            (Outcome{{6, 7, 1, 0}, 1}));
  EXPECT_EQ(outcomeOf("  %r = shufflevector <4 x i16> %a, <4 x i16> %b, "
                      "<4 x i32> <i32 6, i32 7, i32 0, i32 1>\n"),
            (Outcome{{6, 7, 0, 1}, 0}));
}

/// A half that nobody cares about costs nothing where the other one stays in its place.
TEST(PairHalves, HalvesThatNobodyCaresAboutAreAny) {
  Outcome outcome = outcomeOf("  %r = shufflevector <4 x i16> %a, <4 x i16> %b, "
                              "<4 x i32> <i32 poison, i32 3, i32 3, i32 poison>\n");
  EXPECT_EQ(outcome.elements[1], 3);
  EXPECT_EQ(outcome.elements[2], 3);
  EXPECT_EQ(outcome.permutations, 1u);
}

TEST(PairHalves, ElementsAreFollowedThroughShufflesInsertionsAndExtractions) {
  EXPECT_EQ(outcomeOf(R"(
  %x = shufflevector <4 x i16> %a, <4 x i16> %b, <4 x i32> <i32 3, i32 7, i32 poison, i32 poison>
  %y = shufflevector <4 x i16> %x, <4 x i16> %b, <4 x i32> <i32 1, i32 0, i32 4, i32 poison>
  %e = extractelement <4 x i16> %a, i64 1
  %r = insertelement <4 x i16> %y, i16 %e, i64 3
)"),
            (Outcome{{7, 3, 4, 1}, 2}));
}

/// A conversion takes either half of a word.
TEST(PairHalves, ConvertedHalvesStay) {
  EXPECT_EQ(outcomeOf(R"(
  %h = bitcast <4 x i16> %a to <4 x half>
  %s = shufflevector <4 x half> %h, <4 x half> poison, <2 x i32> <i32 0, i32 3>
  %f = fpext <2 x half> %s to <2 x float>
  %t = fptrunc <2 x float> %f to <2 x half>
  %u = bitcast <2 x half> %t to <2 x i16>
  %r = shufflevector <2 x i16> %u, <2 x i16> poison, <4 x i32> <i32 0, i32 1, i32 poison, i32 poison>
)"),
            (Outcome{{0, 3, -1, -1}, 0}));
}

/// A number that comes alone is no half of a word.
TEST(PairHalves, VectorsOfOtherNumbersStay) {
  EXPECT_EQ(outcomeOf(R"(
  %x = shufflevector <4 x i16> %a, <4 x i16> %b, <4 x i32> <i32 0, i32 4, i32 3, i32 7>
  %r = insertelement <4 x i16> %x, i16 %one, i64 1
)"),
            (Outcome{{0, 100, 3, 7}, 0}));
}

} // namespace
