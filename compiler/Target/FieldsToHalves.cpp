// Fields of bits of a word, as unpacked weights are, become 16-bit floats two at a time.

#include "compiler/Target/FieldsToHalves.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/PatternMatch.h"

namespace kiln {
namespace {

/// Some bits of a word, from `shift` on, as a number to which `offset` is added, or from which the
/// same bits of another word are taken.
struct WordField {
  llvm::Value *word;
  unsigned shift, bits;
  int64_t offset = 0;
  bool isSigned = false;
  llvm::Value *minus = nullptr;

  bool isByte() const { return bits == 8 && shift % bits == 0 && !minus && !isSigned && !offset; }
  uint32_t signBit() const { return isSigned ? 1u << (bits - 1) : 0; }
};

/// Fields whose lowest bits are 16 bits apart lie below each other when the word is one of halves.
struct FieldPair {
  llvm::CastInst *low = nullptr, *high = nullptr;
};

/// A 16-bit float that counts by ones: its bits, and below how many bits others have its exponent.
struct CountingFloat {
  uint32_t bits;
  int64_t value;
  unsigned fieldBits;
};

} // namespace

constexpr unsigned wordBits = 32, halfBits = 16;

static CountingFloat countingFloatOf(const llvm::Type *type) {
  return type->isHalfTy() ? CountingFloat{0x6400, 1024, 10} : CountingFloat{0x4300, 128, 7};
}

/// The bits of a word that an integer without a sign is.
static std::optional<WordField> bitsOf(llvm::Value *integer) {
  using namespace llvm::PatternMatch;
  llvm::Value *inner;
  uint64_t amount;
  const llvm::APInt *mask;
  unsigned width = integer->getType()->getScalarSizeInBits();
  std::optional<WordField> field;
  if (match(integer, m_ZExt(m_Value(inner))) || match(integer, m_Trunc(m_Value(inner)))) {
    if ((field = bitsOf(inner)))
      field->bits = std::min(field->bits, width);
  } else if (match(integer, m_And(m_Value(inner), m_APInt(mask))) && mask->isMask()) {
    // What a shift has brought from a sign is above what is kept.
    llvm::Value *shifted;
    if (match(inner, m_AShr(m_Value(shifted), m_ConstantInt(amount))) &&
        mask->getActiveBits() + amount <= width) {
      if ((field = bitsOf(shifted)) && field->bits == width)
        field->shift += amount;
      else
        return std::nullopt;
    } else {
      field = bitsOf(inner);
    }
    if (field)
      field->bits = std::min(field->bits, mask->getActiveBits());
  } else if (match(integer, m_LShr(m_Value(inner), m_ConstantInt(amount)))) {
    if (!(field = bitsOf(inner)) || amount >= field->bits)
      return std::nullopt;
    field->shift += amount;
    field->bits -= amount;
  } else if (match(integer, m_ExtractElt(m_BitCast(m_Value(inner)), m_ConstantInt(amount))) &&
             inner->getType()->isIntegerTy(wordBits)) {
    field = WordField{inner, unsigned(amount) * width, width};
  } else if (integer->getType()->isIntegerTy(wordBits)) {
    field = WordField{integer, 0, wordBits};
  }
  return field;
}

/// The difference of two fields of equal places, which the integer has bits for.
static std::optional<WordField> differenceOf(llvm::Value *integer) {
  using namespace llvm::PatternMatch;
  llvm::Value *first, *second;
  if (!match(integer, m_Sub(m_Value(first), m_Value(second))))
    return std::nullopt;
  std::optional<WordField> field = bitsOf(first), other = bitsOf(second);
  if (!field || !other || field->shift != other->shift || field->bits != other->bits ||
      field->bits >= integer->getType()->getScalarSizeInBits())
    return std::nullopt;
  field->minus = other->word;
  return field;
}

/// The field that `cast` converts, if it is one of so few bits.
static std::optional<WordField> fieldOf(const llvm::CastInst &cast) {
  using namespace llvm::PatternMatch;
  llvm::Value *integer = cast.getOperand(0), *inner;
  CountingFloat counting = countingFloatOf(cast.getType());
  if (llvm::isa<llvm::SIToFPInst>(cast))
    if (std::optional<WordField> difference = differenceOf(integer))
      return difference->bits <= counting.fieldBits ? difference : std::nullopt;
  const llvm::APInt *added;
  uint64_t left, right;
  int64_t offset = 0;
  if (llvm::isa<llvm::SIToFPInst>(cast) && match(integer, m_Add(m_Value(inner), m_APInt(added)))) {
    offset = added->getSExtValue();
    integer = inner;
  }
  std::optional<WordField> field;
  unsigned width = integer->getType()->getScalarSizeInBits();
  if (llvm::isa<llvm::SIToFPInst>(cast) &&
      match(integer, m_AShr(m_Value(inner), m_ConstantInt(right)))) {
    llvm::Value *before;
    if (match(inner, m_Shl(m_Value(before), m_ConstantInt(left))))
      inner = before;
    else
      left = 0;
    if (left > right || !(field = bitsOf(inner)) || field->bits < width - left)
      return std::nullopt;
    field->shift += right - left;
    field->bits = width - right;
    field->isSigned = true;
  } else {
    field = bitsOf(integer);
  }
  if (!field || field->bits > counting.fieldBits)
    return std::nullopt;
  field->offset = offset;
  if (llvm::isa<llvm::SIToFPInst>(cast)) {
    // The sum must not wrap, and what is taken off be a float as well.
    int64_t least = offset - field->signBit(), most = least + (int64_t(1) << field->bits) - 1;
    if (!llvm::isIntN(width, least) || !llvm::isIntN(width, most) ||
        std::abs(counting.value - least) > 2 * counting.value)
      return std::nullopt;
  }
  return field;
}

/// Does to the pair what is done to both of its parts alike, and to that again.
static void workOnPair(llvm::Value *pair, llvm::Instruction *low, llvm::Instruction *high) {
  while (low->hasOneUse() && high->hasOneUse()) {
    auto *ofLow = llvm::cast<llvm::Instruction>(low->user_back());
    auto *ofHigh = llvm::cast<llvm::Instruction>(high->user_back());
    bool isFma =
        llvm::PatternMatch::match(ofLow, llvm::PatternMatch::m_Intrinsic<llvm::Intrinsic::fma>());
    if (ofLow == ofHigh || ofLow->getParent() != ofHigh->getParent() ||
        !ofLow->isSameOperationAs(ofHigh) || (!isFma && !llvm::isa<llvm::BinaryOperator>(ofLow)))
      return;
    unsigned numOperands = isFma ? 3 : 2;
    bool isAlike = llvm::all_of(llvm::seq(numOperands), [&](unsigned i) {
      llvm::Value *a = ofLow->getOperand(i), *b = ofHigh->getOperand(i);
      return (a == low && b == high) || (a == b && a != low && a != high);
    });
    if (!isAlike)
      return;
    llvm::IRBuilder<> builder(ofLow->comesBefore(ofHigh) ? ofLow : ofHigh);
    llvm::SmallVector<llvm::Value *> operands;
    for (unsigned i : llvm::seq(numOperands)) {
      llvm::Value *operand = ofLow->getOperand(i);
      operands.push_back(operand == low ? pair : builder.CreateVectorSplat(2, operand));
    }
    auto opcode = llvm::Instruction::BinaryOps(ofLow->getOpcode());
    pair = isFma ? builder.CreateIntrinsic(llvm::Intrinsic::fma, {pair->getType()}, operands)
                 : builder.CreateBinOp(opcode, operands[0], operands[1]);
    if (auto *made = llvm::dyn_cast<llvm::Instruction>(pair)) {
      made->copyIRFlags(ofLow);
      made->andIRFlags(ofHigh);
    }
    std::pair<llvm::Instruction *, llvm::Instruction *> before{low, high};
    low = llvm::cast<llvm::Instruction>(builder.CreateExtractElement(pair, uint64_t(0)));
    high = llvm::cast<llvm::Instruction>(builder.CreateExtractElement(pair, uint64_t(1)));
    ofLow->replaceAllUsesWith(low);
    ofHigh->replaceAllUsesWith(high);
    ofLow->eraseFromParent();
    ofHigh->eraseFromParent();
    before.first->eraseFromParent();
    before.second->eraseFromParent();
  }
}

/// Two fields of a word, converted in one block, as floats: below a float that counts by ones they
/// are that much more.
static void convertFields(const WordField &low, FieldPair pair) {
  llvm::Type *type = pair.low->getType();
  CountingFloat counting = countingFloatOf(type);
  llvm::IRBuilder<> builder(pair.low->comesBefore(pair.high) ? pair.low : pair.high);
  auto *vector = llvm::FixedVectorType::get(type, 2);
  auto inBoth = [&](uint32_t bits) { return builder.getInt32(bits | bits << halfBits); };
  auto countingFrom = [&](llvm::Value *word) {
    llvm::Value *bits =
        builder.CreateAnd(builder.CreateLShr(word, low.shift), inBoth((1u << low.bits) - 1));
    llvm::Value *above = inBoth(counting.bits | low.signBit());
    bits = low.isSigned ? builder.CreateXor(bits, above) : builder.CreateOr(bits, above);
    return builder.CreateBitCast(bits, vector);
  };
  int64_t excess = counting.value + low.signBit() - low.offset;
  llvm::Value *taken =
      low.minus ? countingFrom(low.minus) : llvm::ConstantFP::get(vector, double(excess));
  llvm::Value *both = builder.CreateFSub(countingFrom(low.word), taken);
  auto *first = llvm::cast<llvm::Instruction>(builder.CreateExtractElement(both, uint64_t(0)));
  auto *second = llvm::cast<llvm::Instruction>(builder.CreateExtractElement(both, uint64_t(1)));
  pair.low->replaceAllUsesWith(first);
  pair.high->replaceAllUsesWith(second);
  pair.low->eraseFromParent();
  pair.high->eraseFromParent();
  workOnPair(both, first, second);
}

void convertFieldsInPairs(llvm::Function &function, FieldConversions target) {
  // Of one block: a word may be there for two versions of the code.
  using Kind = std::tuple<llvm::BasicBlock *, llvm::Value *, llvm::Value *, llvm::Type *, unsigned,
                          unsigned, int64_t, unsigned>;
  llvm::MapVector<Kind, std::pair<WordField, FieldPair>> pairs;
  for (llvm::Instruction &instruction : llvm::instructions(function)) {
    auto *cast = llvm::dyn_cast<llvm::CastInst>(&instruction);
    if (!cast || !llvm::isa<llvm::SIToFPInst, llvm::UIToFPInst>(cast) ||
        !(cast->getType()->isHalfTy() || (target.subtractsBF16 && cast->getType()->isBFloatTy())))
      continue;
    std::optional<WordField> field = fieldOf(*cast);
    if (!field || field->shift % halfBits + field->bits > halfBits ||
        (target.takesBytes && field->isByte()))
      continue;
    bool isHigh = field->shift >= halfBits;
    field->shift %= halfBits;
    auto &[low, pair] = pairs[{cast->getParent(), field->word, field->minus, cast->getType(),
                               field->shift, field->bits, field->offset, field->signBit()}];
    low = *field;
    llvm::CastInst *&part = isHigh ? pair.high : pair.low;
    if (!part)
      part = cast;
  }
  for (auto &[kind, found] : pairs)
    if (found.second.low && found.second.high)
      convertFields(found.first, found.second);
}

} // namespace kiln
