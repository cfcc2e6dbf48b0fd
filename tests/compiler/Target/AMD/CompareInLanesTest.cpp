//===- CompareInLanesTest.cpp - Whether arguments are equal, by scalars and by lanes -===//

#include "compiler/Target/AMD/CompareInLanes.h"
#include "tests/compiler/Target/EveryScalarKernel.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/IR/Verifier.h"

using namespace kiln::testing;

namespace {

using Pairs = std::vector<std::pair<unsigned, unsigned>>;

/// A kernel of so many pointers that returns from its first branch if some pair's lower words are
/// equal, and from the second one if none's are.
std::string kernelFor(unsigned arguments, const Pairs &pairs) {
  std::string text = "define amdgpu_kernel void @f(";
  for (unsigned i = 0; i < arguments; ++i)
    text += (i ? ", ptr addrspace(1) %p" : "ptr addrspace(1) %p") + std::to_string(i);
  text += ") {\nentry:\n";
  for (unsigned i = 0; i < arguments; ++i) {
    std::string n = std::to_string(i);
    text += "  %a" + n + " = ptrtoint ptr addrspace(1) %p" + n + " to i64\n  %w" + n +
            " = trunc i64 %a" + n + " to i32\n";
  }
  std::string least;
  for (auto [first, second] : pairs) {
    std::string n = std::to_string(first) + "x" + std::to_string(second);
    text += "  %d" + n + " = xor i32 %w" + std::to_string(first) + ", %w" + std::to_string(second) +
            "\n";
    if (!least.empty())
      text += "  %m" + n + " = call i32 @llvm.umin.i32(i32 " + least + ", i32 %d" + n + ")\n";
    least = (least.empty() ? "%d" : "%m") + n;
  }
  return text + "  %same = icmp eq i32 " + least +
         ", 0\n  br i1 %same, label %equal, label %next\nnext:\n"
         "  br i1 %same, label %equal, label %different\n"
         "equal:\n  ret void\ndifferent:\n  ret void\n}\n";
}

/// What the lanes of a wave hold.
class Wave {
public:
  using Lanes = std::vector<uint64_t>;

  Wave(const std::vector<uint64_t> &arguments, unsigned lanes)
      : arguments(arguments), numLanes(lanes) {}

  Lanes valueOf(const llvm::Value *value) const {
    if (auto *constant = llvm::dyn_cast<llvm::ConstantInt>(value))
      return Lanes(numLanes, constant->getZExtValue());
    if (auto *argument = llvm::dyn_cast<llvm::Argument>(value))
      return Lanes(numLanes, arguments[argument->getArgNo()]);
    auto *op = llvm::cast<llvm::Instruction>(value);
    // Assembly that makes a number opaque.
    if (auto *other = llvm::dyn_cast<llvm::CallInst>(op); other && other->isInlineAsm())
      return valueOf(other->getArgOperand(0));
    std::vector<Lanes> operands;
    auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(op);
    for (const llvm::Use &use : call ? call->args() : op->operands())
      operands.push_back(valueOf(use.get()));
    Lanes result(numLanes);
    for (unsigned lane = 0; lane < numLanes; ++lane)
      result[lane] = call ? called(*call, operands, lane) : computed(*op, operands, lane);
    return result;
  }

private:
  static uint64_t called(const llvm::IntrinsicInst &call, const std::vector<Lanes> &operands,
                         unsigned lane) {
    switch (call.getIntrinsicID()) {
    case llvm::Intrinsic::amdgcn_writelane:
      return operands[operands[1][lane] == lane ? 0 : 2][lane];
    case llvm::Intrinsic::amdgcn_ballot: {
      uint64_t ones = 0;
      for (size_t other = 0; other < operands[0].size(); ++other)
        ones |= operands[0][other] << other;
      return ones;
    }
    case llvm::Intrinsic::umin:
      return std::min(operands[0][lane], operands[1][lane]);
    default:
      ADD_FAILURE() << call.getCalledFunction()->getName().str();
      return 0;
    }
  }

  static uint64_t computed(const llvm::Instruction &op, const std::vector<Lanes> &operands,
                           unsigned lane) {
    uint64_t first = operands[0][lane], second = operands.back()[lane];
    unsigned bits = op.getType()->getScalarSizeInBits();
    switch (op.getOpcode()) {
    case llvm::Instruction::PtrToInt:
    case llvm::Instruction::Trunc:
      return bits < 64 ? first & ((uint64_t(1) << bits) - 1) : first;
    case llvm::Instruction::And:
      return first & second;
    case llvm::Instruction::Or:
      return first | second;
    case llvm::Instruction::Xor:
      return first ^ second;
    case llvm::Instruction::ICmp: {
      bool isEqual = first == second;
      return llvm::cast<llvm::ICmpInst>(op).getPredicate() == llvm::ICmpInst::ICMP_EQ ? isEqual
                                                                                      : !isEqual;
    }
    default:
      ADD_FAILURE() << op.getOpcodeName();
      return 0;
    }
  }

  const std::vector<uint64_t> &arguments;
  unsigned numLanes;
};

struct Counts {
  unsigned writes = 0, comparisons = 0, selections = 0, differences = 0;

  bool operator==(const Counts &other) const {
    return writes == other.writes && comparisons == other.comparisons &&
           selections == other.selections && differences == other.differences;
  }
};

void PrintTo(const Counts &counts, std::ostream *out) {
  *out << counts.writes << " writes, " << counts.comparisons << " comparisons, "
       << counts.selections << " selections, " << counts.differences << " differences";
}

Counts countIn(const llvm::Function &function) {
  Counts counts;
  for (const llvm::Instruction &op : llvm::instructions(function)) {
    auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&op);
    llvm::Intrinsic::ID id = call ? call->getIntrinsicID() : llvm::Intrinsic::not_intrinsic;
    counts.writes += id == llvm::Intrinsic::amdgcn_writelane;
    counts.comparisons += id == llvm::Intrinsic::amdgcn_ballot;
    counts.selections += op.getOpcode() == llvm::Instruction::And;
    counts.differences += op.getOpcode() == llvm::Instruction::Xor;
  }
  return counts;
}

/// Whether each branch goes where words are equal for exactly the pairs, whatever two are.
void checkBranches(llvm::Function &function, unsigned arguments, const Pairs &pairs,
                   unsigned warpSize) {
  for (unsigned first = 0; first < arguments; ++first)
    for (unsigned second = first; second < arguments; ++second) {
      std::vector<uint64_t> addresses;
      for (unsigned i = 0; i < arguments; ++i)
        addresses.push_back(0x7f0000001000 + 0x200000000 * i + 0x100 * i);
      addresses[second] = addresses[first] + (second == first ? 0 : 0x300000000);
      bool isAsked = llvm::is_contained(pairs, std::pair(first, second));
      Wave wave(addresses, warpSize);
      for (llvm::BasicBlock &block : function)
        if (auto *branch = llvm::dyn_cast<llvm::BranchInst>(block.getTerminator()))
          EXPECT_EQ(wave.valueOf(branch->getCondition()), Wave::Lanes(warpSize, isAsked))
              << first << " and " << second;
    }
}

Counts countsAfter(unsigned arguments, const Pairs &pairs, unsigned warpSize) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module = parseIR(kernelFor(arguments, pairs), context);
  llvm::Function &function = *module->getFunction("f");
  kiln::compareInLanes(function, warpSize);
  EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs()));
  checkBranches(function, arguments, pairs, warpSize);
  return countIn(function);
}

/// The written ones, from `firstWritten` on, with all before them.
Pairs allPairs(unsigned arguments, unsigned firstWritten) {
  Pairs pairs;
  for (unsigned written = firstWritten; written < arguments; ++written)
    for (unsigned other = 0; other < written; ++other)
      pairs.push_back({other, written});
  return pairs;
}

TEST(CompareInLanes, EachWrittenArrayWithAllOthers) {
  for (unsigned warpSize : {32, 64})
    EXPECT_EQ(countsAfter(9, allPairs(9, 5), warpSize), (Counts{7, 4, 0, 0}));
}

/// Two that are compared with nothing but what is read do not meet each other.
TEST(CompareInLanes, WordsAreWrittenWhenTheyAreNeeded) {
  Pairs pairs = allPairs(8, 5);
  llvm::erase(pairs, std::pair(6u, 7u));
  EXPECT_EQ(countsAfter(8, pairs, 32), (Counts{6, 3, 0, 0}));
}

TEST(CompareInLanes, LanesThatAreNotAskedForAreLeftOut) {
  Pairs pairs;
  for (unsigned written : {8, 9})
    for (unsigned other = 0; other < 4; ++other) {
      pairs.push_back({other, written});
      pairs.push_back({other + 4, written + 2});
    }
  llvm::sort(pairs);
  EXPECT_EQ(countsAfter(12, pairs, 32), (Counts{7, 4, 2, 0}));
}

TEST(CompareInLanes, FewPairsStayDifferences) {
  EXPECT_EQ(countsAfter(5, allPairs(5, 4), 32), (Counts{0, 0, 0, 4}));
}

} // namespace
