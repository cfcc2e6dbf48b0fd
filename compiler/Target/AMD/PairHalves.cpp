// Elements of 16 bits change places in registers where rows become columns: those that come from
// memory along m or n, and those that two reads of shared memory bring of one operand. With 16-bit
// registers (RDNA 3) LLVM moves each half by itself, and copies words that it has overwritten. One
// instruction (v_perm_b32) makes a word of any two halves. It takes which halves from a register,
// so that of two words of which lanes choose one in either order, as those that halves of a wave
// have exchanged, nothing is chosen but that.
//
// Each element of a vector is traced back through the shuffles, insertions and extractions that
// LLVM has made of the program's; a word whose halves are not one word already becomes that
// instruction. Conversions to singles take each half where it is.

#include "compiler/Target/AMD/PairHalves.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace kiln {
namespace {

/// An element of a vector that no shuffle made; null: nobody cares which.
struct Half {
  llvm::Value *vector = nullptr;
  unsigned index = 0;

  unsigned word() const { return index / 2; }
  bool isUpper() const { return index % 2; }
};

/// A vector of words of two elements each; null if the type is another.
llvm::FixedVectorType *halvesOf(llvm::Type *type) {
  auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  bool isOfWords =
      vector && vector->getScalarSizeInBits() == 16 && vector->getNumElements() % 2 == 0;
  return isOfWords ? vector : nullptr;
}

bool isPutTogether(const llvm::Value *value) {
  return llvm::isa<llvm::ShuffleVectorInst, llvm::InsertElementInst>(value) &&
         halvesOf(value->getType());
}

/// Where the element comes from; none: from no vector of words.
std::optional<Half> origin(llvm::Value *vector, unsigned index) {
  while (true) {
    if (llvm::isa<llvm::UndefValue>(vector))
      return Half();
    if (auto *shuffle = llvm::dyn_cast<llvm::ShuffleVectorInst>(vector)) {
      int from = shuffle->getMaskValue(index);
      if (from < 0)
        return Half();
      unsigned of =
          llvm::cast<llvm::FixedVectorType>(shuffle->getOperand(0)->getType())->getNumElements();
      vector = shuffle->getOperand(unsigned(from) >= of);
      index = unsigned(from) % of;
      continue;
    }
    auto *insertion = llvm::dyn_cast<llvm::InsertElementInst>(vector);
    if (!insertion)
      break;
    auto *place = llvm::dyn_cast<llvm::ConstantInt>(insertion->getOperand(2));
    if (!place)
      return std::nullopt;
    if (place->getZExtValue() != index) {
      vector = insertion->getOperand(0);
      continue;
    }
    auto *element = llvm::dyn_cast<llvm::ExtractElementInst>(insertion->getOperand(1));
    auto *taken = element ? llvm::dyn_cast<llvm::ConstantInt>(element->getIndexOperand()) : nullptr;
    if (!taken)
      return std::nullopt;
    vector = element->getVectorOperand();
    index = unsigned(taken->getZExtValue());
  }
  return halvesOf(vector->getType()) ? std::optional(Half{vector, index}) : std::nullopt;
}

/// One vector, written as words.
class Words {
public:
  /// False where an element comes from no vector of words, or no word is worth an instruction.
  bool find(llvm::Instruction &value, PairedHalves which) {
    vector = &value;
    bool isPaired = false, areChoices = true;
    for (unsigned index = 0; index < halvesOf(value.getType())->getNumElements(); ++index) {
      std::optional<Half> half = origin(&value, index);
      if (!half)
        return false;
      halves.push_back(*half);
      if (index % 2 == 0 || wholeWord(halves[index - 1], halves[index]))
        continue;
      isPaired = true;
      areChoices &= areOfOneChoice(halves[index - 1], halves[index]);
    }
    return isPaired && (areChoices || which == PairedHalves::Any || isStoredAlone(*vector));
  }

  void write() const {
    llvm::IRBuilder<> b(vector);
    unsigned count = unsigned(halves.size()) / 2;
    auto *type = llvm::FixedVectorType::get(b.getInt32Ty(), count);
    llvm::Value *words = llvm::PoisonValue::get(type);
    for (unsigned word = 0; word < count; ++word)
      if (llvm::Value *value = make(halves[2 * word], halves[2 * word + 1], b))
        words = b.CreateInsertElement(words, value, word);
    vector->replaceAllUsesWith(b.CreateBitCast(words, vector->getType()));
  }

private:
  static bool isStoredAlone(const llvm::Value &value) {
    return llvm::all_of(value.users(), [](const llvm::User *user) {
      return llvm::isa<llvm::StoreInst>(user) ||
             (llvm::isa<llvm::BitCastInst>(user) && isStoredAlone(*user));
    });
  }

  /// Whether both are a word in their places.
  static bool wholeWord(const Half &low, const Half &high) {
    return (!low.vector || !low.isUpper()) && (!high.vector || high.isUpper()) &&
           (!low.vector || !high.vector ||
            (low.vector == high.vector && low.word() == high.word()));
  }

  /// Null: nobody cares.
  static llvm::Value *make(const Half &low, const Half &high, llvm::IRBuilder<> &b) {
    if (!low.vector && !high.vector)
      return nullptr;
    if (wholeWord(low, high))
      return wordOf(low.vector ? low : high, b);
    const Half &lower = low.vector ? low : high, &upper = high.vector ? high : low;
    if (areOfOneChoice(lower, upper)) {
      llvm::SelectInst *choice = choiceOf(lower);
      llvm::Value *first = choice->getTrueValue(), *second = choice->getFalseValue();
      bool isSwapped = choiceOf(upper)->getTrueValue() != first;
      llvm::Value *selector = b.CreateSelect(
          choice->getCondition(), b.getInt32(selectorOf({false, lower}, {isSwapped, upper})),
          b.getInt32(selectorOf({true, lower}, {!isSwapped, upper})));
      return permute(b, asWord(first, b), asWord(second, b), selector);
    }
    return permute(b, wordOf(lower, b), wordOf(upper, b),
                   b.getInt32(selectorOf({false, lower}, {true, upper})));
  }

  /// Of which of two words a half is, and which one.
  using Place = std::pair<bool, Half>;

  static uint32_t selectorOf(const Place &low, const Place &high) {
    auto bytesOf = [](const Place &place) {
      constexpr uint32_t lowHalf = 0x0100, step = 0x0202, second = 0x0404;
      return lowHalf + place.second.isUpper() * step + place.first * second;
    };
    return bytesOf(low) | bytesOf(high) << 16;
  }

  /// AMD, "RDNA3 ISA", V_PERM_B32: bytes 0 to 3 are the second operand's, 4 to 7 the first one's.
  static llvm::Value *permute(llvm::IRBuilder<> &b, llvm::Value *first, llvm::Value *second,
                              llvm::Value *selector) {
    return b.CreateIntrinsic(llvm::Intrinsic::amdgcn_perm, {}, {second, first, selector});
  }

  /// The choice of which a half's vector, one word, is the result.
  static llvm::SelectInst *choiceOf(const Half &half) {
    if (halvesOf(half.vector->getType())->getNumElements() != 2)
      return nullptr;
    auto *cast = llvm::dyn_cast<llvm::BitCastInst>(half.vector);
    return llvm::dyn_cast<llvm::SelectInst>(cast ? cast->getOperand(0) : half.vector);
  }

  /// Whether both are of the same two words, of which one condition chooses.
  static bool areOfOneChoice(const Half &low, const Half &high) {
    llvm::SelectInst *one = low.vector ? choiceOf(low) : nullptr,
                     *other = high.vector ? choiceOf(high) : nullptr;
    auto both = [](const llvm::SelectInst &choice) {
      return std::minmax<const llvm::Value *>({choice.getTrueValue(), choice.getFalseValue()});
    };
    return one && other && one->getCondition() == other->getCondition() &&
           both(*one) == both(*other);
  }

  static llvm::Value *asWord(llvm::Value *value, llvm::IRBuilder<> &b) {
    return b.CreateBitCast(value, b.getInt32Ty());
  }

  static llvm::Value *wordOf(const Half &half, llvm::IRBuilder<> &b) {
    unsigned count = halvesOf(half.vector->getType())->getNumElements() / 2;
    auto *type = llvm::FixedVectorType::get(b.getInt32Ty(), count);
    return b.CreateExtractElement(b.CreateBitCast(half.vector, type), half.word());
  }

  llvm::Instruction *vector = nullptr;
  llvm::SmallVector<Half, 16> halves;
};

} // namespace

void pairHalves(llvm::Function &kernel, PairedHalves which) {
  llvm::SmallVector<llvm::Instruction *> vectors;
  for (llvm::Instruction &instruction : llvm::instructions(kernel))
    if (isPutTogether(&instruction) && llvm::any_of(instruction.users(), [](llvm::User *user) {
          return !isPutTogether(user) &&
                 !llvm::isa<llvm::ExtractElementInst, llvm::FPExtInst>(user);
        }))
      vectors.push_back(&instruction);
  for (llvm::Instruction *vector : vectors)
    if (Words words; words.find(*vector, which))
      words.write();
}

} // namespace kiln
