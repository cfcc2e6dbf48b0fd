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
