//===- IntegersToHalves.cpp - Integers become 16-bit floats ---------------------===//

#include "compiler/Target/NVIDIA/IntegersToHalves.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"

namespace kiln {

//===-- bytes
//----------------------------------------------------------------------------------------------===//

namespace {

/// A word, and whether its bytes are numbers with a sign (1) or without (0).
using Word = std::pair<llvm::Value *, unsigned>;

constexpr unsigned numBytes = 4;

struct WordByte {
  Word word;
  unsigned number;
};

/// The conversions of each byte of a word.
using ByteCasts = std::array<llvm::SmallVector<llvm::CastInst *, 1>, numBytes>;

} // namespace

/// The byte that `integer`, which is converted as a number with a sign or without, is.
static std::optional<WordByte> byteOf(llvm::Value *integer, bool isSigned) {
  using namespace llvm::PatternMatch;
  llvm::Value *narrow, *word;
  bool isZeroExtended = match(integer, m_ZExt(m_Value(narrow)));
  if ((isZeroExtended || (isSigned && match(integer, m_SExt(m_Value(narrow))))) &&
      narrow->getType()->isIntegerTy(8)) {
    integer = narrow;
    isSigned &= !isZeroExtended;
  }
  uint64_t shift = 0;
  bool isByte = integer->getType()->isIntegerTy(8);
  if (isByte ? !match(integer, m_Trunc(m_Value(integer)))
             : !match(integer, m_And(m_Value(integer), m_SpecificInt(255)))) {
    // The highest byte needs no mask.
    bool isHighest = match(integer, m_LShr(m_Value(word), m_ConstantInt(shift))) && shift == 24;
    if (isByte || !isHighest || !word->getType()->isIntegerTy(32))
      return std::nullopt;
    return WordByte{{word, false}, 3};
  }
  if (!match(integer, m_Shr(m_Value(word), m_ConstantInt(shift))))
    word = integer;
  if (!word->getType()->isIntegerTy(32) || shift % 8 || shift >= 32)
    return std::nullopt;
  // A wider number of which only a byte is not zero has no sign.
  return WordByte{{word, isByte && isSigned}, unsigned(shift / 8)};
}

/// Two neighbouring bytes of a word as halves: 0x6400 above a byte is 1024 more than it, exactly.
/// Bytes with a sign are 128 more to begin with.
static llvm::Value *pairOfHalves(llvm::IRBuilder<> &builder, llvm::Value *word, bool isSigned,
                                 unsigned firstByte) {
  if (isSigned)
    word = builder.CreateXor(word, 0x80808080u);
  // Byte 4 is the lowest of the second operand.
  llvm::Value *selection = builder.getInt32(0x4040 | firstByte | (firstByte + 1) << 8);
  llvm::Value *bits = builder.CreateIntrinsic(llvm::Intrinsic::nvvm_prmt, {},
                                              {word, builder.getInt32(0x64), selection});
  auto *type = llvm::FixedVectorType::get(builder.getHalfTy(), 2);
  return builder.CreateFSub(builder.CreateBitCast(bits, type),
                            llvm::ConstantFP::get(type, isSigned ? 1152 : 1024));
}

static void convertBytes(Word word, const ByteCasts &casts) {
  auto *made = llvm::dyn_cast<llvm::Instruction>(word.first);
  for (unsigned first = 0; first < numBytes; first += 2) {
    if (casts[first].empty() || casts[first + 1].empty())
      continue;
    std::optional<llvm::BasicBlock::iterator> place;
    if (made)
      place = made->getInsertionPointAfterDef();
    if (!place)
      continue;
    llvm::IRBuilder<> builder((*place)->getParent(), *place);
    llvm::Value *pair = pairOfHalves(builder, word.first, word.second, first);
    for (unsigned i : {0u, 1u}) {
      llvm::Value *half = builder.CreateExtractElement(pair, uint64_t(i));
      for (llvm::CastInst *cast : casts[first + i]) {
        cast->replaceAllUsesWith(half);
        cast->eraseFromParent();
      }
    }
  }
}

/// The vector of bytes that `cast` converts: whole words of them, whose signs, if they have any, it
/// goes by.
static llvm::Value *bytesOf(const llvm::CastInst &cast) {
  using namespace llvm::PatternMatch;
  llvm::Value *bytes = cast.getOperand(0), *narrow;
  bool isSigned = llvm::isa<llvm::SIToFPInst>(cast);
  if (isSigned ? match(bytes, m_SExt(m_Value(narrow))) : match(bytes, m_ZExt(m_Value(narrow))))
    bytes = narrow;
  auto *type = llvm::dyn_cast<llvm::FixedVectorType>(bytes->getType());
  bool isOfWords =
      type && type->getElementType()->isIntegerTy(8) && type->getNumElements() % numBytes == 0;
  return isOfWords ? bytes : nullptr;
}

static void convertVector(llvm::CastInst &cast, llvm::Value *bytes) {
  llvm::IRBuilder<> builder(&cast);
  unsigned count = llvm::cast<llvm::FixedVectorType>(bytes->getType())->getNumElements() / numBytes;
  llvm::Value *words =
      builder.CreateBitCast(bytes, llvm::FixedVectorType::get(builder.getInt32Ty(), count));
  llvm::SmallVector<llvm::Value *> pairs;
  for (unsigned i = 0; i < count; ++i)
    for (unsigned first : {0u, 2u})
      pairs.push_back(pairOfHalves(builder, builder.CreateExtractElement(words, uint64_t(i)),
                                   llvm::isa<llvm::SIToFPInst>(cast), first));
  cast.replaceAllUsesWith(llvm::concatenateVectors(builder, pairs));
  cast.eraseFromParent();
}

void convertBytesInPairs(llvm::Module &module) {
  for (llvm::Function &function : module) {
    llvm::MapVector<Word, ByteCasts> words;
    for (llvm::Instruction &instruction :
         llvm::make_early_inc_range(llvm::instructions(function))) {
      auto *cast = llvm::dyn_cast<llvm::CastInst>(&instruction);
      if (!cast || !llvm::isa<llvm::SIToFPInst, llvm::UIToFPInst>(cast) ||
          !cast->getType()->getScalarType()->isHalfTy())
        continue;
      if (cast->getType()->isVectorTy()) {
        if (llvm::Value *bytes = bytesOf(*cast))
          convertVector(*cast, bytes);
        continue;
      }
      if (auto byte = byteOf(cast->getOperand(0), llvm::isa<llvm::SIToFPInst>(cast)))
        words[byte->word][byte->number].push_back(cast);
    }
    for (auto &[word, casts] : words)
      convertBytes(word, casts);
  }
}

//===-- fields of bits
//----------------------------------------------------------------------------------------------===//

namespace {

/// Some bits of a word, from `shift` on, as a number to which `offset` is added.
struct WordField {
  llvm::Value *word;
  unsigned shift, bits;
  int64_t offset = 0;
  bool isSigned = false;

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

/// The field that `cast` converts, if it is one of so few bits.
static std::optional<WordField> fieldOf(const llvm::CastInst &cast) {
  using namespace llvm::PatternMatch;
  llvm::Value *integer = cast.getOperand(0), *inner;
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
  CountingFloat counting = countingFloatOf(cast.getType());
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
  auto inBoth = [&](uint32_t bits) { return builder.getInt32(bits | bits << halfBits); };
  llvm::Value *bits =
      builder.CreateAnd(builder.CreateLShr(low.word, low.shift), inBoth((1u << low.bits) - 1));
  bits = builder.CreateXor(bits, inBoth(counting.bits | low.signBit()));
  auto *vector = llvm::FixedVectorType::get(type, 2);
  int64_t excess = counting.value + low.signBit() - low.offset;
  llvm::Value *both = builder.CreateFSub(builder.CreateBitCast(bits, vector),
                                         llvm::ConstantFP::get(vector, double(excess)));
  auto *first = llvm::cast<llvm::Instruction>(builder.CreateExtractElement(both, uint64_t(0)));
  auto *second = llvm::cast<llvm::Instruction>(builder.CreateExtractElement(both, uint64_t(1)));
  pair.low->replaceAllUsesWith(first);
  pair.high->replaceAllUsesWith(second);
  pair.low->eraseFromParent();
  pair.high->eraseFromParent();
  workOnPair(both, first, second);
}

void convertFieldsInPairs(llvm::Module &module) {
  for (llvm::Function &function : module) {
    // Of one block: a word may be there for two versions of the code.
    using Kind = std::tuple<llvm::BasicBlock *, llvm::Value *, llvm::Type *, unsigned, unsigned,
                            int64_t, unsigned>;
    llvm::MapVector<Kind, std::pair<WordField, FieldPair>> pairs;
    for (llvm::Instruction &instruction : llvm::instructions(function)) {
      auto *cast = llvm::dyn_cast<llvm::CastInst>(&instruction);
      if (!cast || !llvm::isa<llvm::SIToFPInst, llvm::UIToFPInst>(cast) ||
          !(cast->getType()->isHalfTy() || cast->getType()->isBFloatTy()))
        continue;
      std::optional<WordField> field = fieldOf(*cast);
      if (!field || field->shift % halfBits + field->bits > halfBits)
        continue;
      bool isHigh = field->shift >= halfBits;
      field->shift %= halfBits;
      auto &[low, pair] = pairs[{cast->getParent(), field->word, cast->getType(), field->shift,
                                 field->bits, field->offset, field->signBit()}];
      low = *field;
      llvm::CastInst *&part = isHigh ? pair.high : pair.low;
      if (!part)
        part = cast;
    }
    for (auto &[kind, found] : pairs)
      if (found.second.low && found.second.high)
        convertFields(found.first, found.second);
  }
}

//===-- other integers
//----------------------------------------------------------------------------------------------===//

/// Whether every value that the operand can have is one of f32.
static bool isExactInF32(const llvm::CastInst &cast, const llvm::DataLayout &layout) {
  constexpr unsigned significandBits = 24;
  const llvm::Value *integer = cast.getOperand(0);
  unsigned bits = integer->getType()->getScalarSizeInBits();
  if (llvm::isa<llvm::SIToFPInst>(cast))
    return bits + 1 - llvm::ComputeNumSignBits(integer, layout) <= significandBits;
  return llvm::computeKnownBits(integer, layout).countMaxActiveBits() <= significandBits;
}

static llvm::Value *throughF32(llvm::CastInst &cast) {
  llvm::IRBuilder<> builder(&cast);
  llvm::Value *integer = cast.getOperand(0);
  bool isSigned = llvm::isa<llvm::SIToFPInst>(cast);
  // There is no such instruction for narrower integers.
  llvm::Type *word = integer->getType()->getWithNewBitWidth(32);
  llvm::Value *wide = builder.CreateIntCast(integer, word, isSigned);
  llvm::Type *single = word->getWithNewType(builder.getFloatTy());
  llvm::Value *exact =
      isSigned ? builder.CreateSIToFP(wide, single) : builder.CreateUIToFP(wide, single);
  return builder.CreateFPTrunc(exact, cast.getType());
}

void convertThroughF32(llvm::Module &module) {
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction :
         llvm::make_early_inc_range(llvm::instructions(function))) {
      auto *cast = llvm::dyn_cast<llvm::CastInst>(&instruction);
      if (!cast || !llvm::isa<llvm::SIToFPInst, llvm::UIToFPInst>(cast) ||
          cast->getType()->getScalarSizeInBits() != 16 ||
          cast->getSrcTy()->getScalarSizeInBits() == 1 || // a choice of two constants
          !isExactInF32(*cast, module.getDataLayout()))
        continue;
      cast->replaceAllUsesWith(throughF32(*cast));
      cast->eraseFromParent();
    }
}

} // namespace kiln
