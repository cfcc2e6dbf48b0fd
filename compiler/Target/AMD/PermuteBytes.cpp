// A word of a transposed tile of bytes has one byte of each of four words. `v_perm_b32` picks four
// of two words' eight bytes, so a first one brings together what two words have for two results,
// and another one makes a result of two such pairs:
//
//     a0 b0 a1 b1   of a and b         a0 b0 c0 d0
//     c0 d0 c1 d1   of c and d         a1 b1 c1 d1
//
// LLVM shifts and ors bytes one by one where they go into vectors of more than a word.

#include "compiler/Target/AMD/PermuteBytes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/IR/ValueHandle.h"
#include "llvm/Transforms/Utils/Local.h"

#include <array>
#include <optional>
#include <utility>

namespace kiln {
namespace {

constexpr unsigned wordBytes = 4;

/// Four bytes of a value.
using Word = std::pair<llvm::Value *, unsigned>;

/// A byte of a word; of none: anything will do.
struct Byte {
  Word word = {nullptr, 0};
  unsigned place = 0;
  bool operator==(const Byte &other) const { return word == other.word && place == other.place; }
};

using Bytes = std::array<Byte, wordBytes>;

unsigned bytesOf(llvm::Type *type) { return type->getPrimitiveSizeInBits().getFixedValue() / 8; }

/// Vectors of bytes that words make up.
bool isOfBytes(llvm::Type *type) {
  auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  return vector && vector->getElementType()->isIntegerTy(8) &&
         vector->getNumElements() % wordBytes == 0;
}

std::optional<Byte> byteOf(llvm::Value *value, unsigned at);

/// The byte that an insertion puts there, or leaves.
std::optional<Byte> byteOf(llvm::InsertElementInst &insertion, unsigned at) {
  auto *index = llvm::dyn_cast<llvm::ConstantInt>(insertion.getOperand(2));
  if (!index)
    return std::nullopt;
  if (index->getZExtValue() != at)
    return byteOf(insertion.getOperand(0), at);
  auto *extraction = llvm::dyn_cast<llvm::ExtractElementInst>(insertion.getOperand(1));
  auto *from =
      extraction ? llvm::dyn_cast<llvm::ConstantInt>(extraction->getIndexOperand()) : nullptr;
  if (!from || !isOfBytes(extraction->getVectorOperandType()))
    return std::nullopt;
  return byteOf(extraction->getVectorOperand(), from->getZExtValue());
}

/// Where a byte of a vector comes from, through what only moves bytes.
std::optional<Byte> byteOf(llvm::Value *value, unsigned at) {
  if (llvm::isa<llvm::UndefValue>(value))
    return Byte();
  if (auto *insertion = llvm::dyn_cast<llvm::InsertElementInst>(value);
      insertion && isOfBytes(value->getType()))
    return byteOf(*insertion, at);
  if (auto *shuffle = llvm::dyn_cast<llvm::ShuffleVectorInst>(value);
      shuffle && isOfBytes(value->getType())) {
    auto *from = llvm::cast<llvm::FixedVectorType>(shuffle->getOperand(0)->getType());
    int place = shuffle->getMaskValue(at), size = int(from->getNumElements());
    if (place < 0)
      return Byte();
    return byteOf(shuffle->getOperand(place < size ? 0 : 1), unsigned(place % size));
  }
  if (auto *cast = llvm::dyn_cast<llvm::BitCastInst>(value))
    return byteOf(cast->getOperand(0), at);
  unsigned bytes = bytesOf(value->getType());
  if (llvm::isa<llvm::Constant>(value) || bytes == 0 || bytes % wordBytes != 0)
    return std::nullopt;
  return Byte{{value, at / wordBytes}, at % wordBytes};
}

/// Vectors whose bytes somebody wants who does not move them on.
bool isWanted(const llvm::Instruction &op) {
  return isOfBytes(op.getType()) &&
         llvm::isa<llvm::ShuffleVectorInst, llvm::InsertElementInst>(op) &&
         llvm::any_of(op.users(), [](const llvm::User *user) {
           return !llvm::isa<llvm::ShuffleVectorInst, llvm::InsertElementInst,
                             llvm::ExtractElementInst>(user);
         });
}

/// The words that bytes are of, in order.
llvm::SmallSetVector<Word, wordBytes> wordsOf(llvm::ArrayRef<Byte> bytes) {
  llvm::SmallSetVector<Word, wordBytes> words;
  for (const Byte &byte : bytes)
    if (byte.word.first)
      words.insert(byte.word);
  return words;
}

/// Whether the bytes are a word as it is.
bool isWhole(const Bytes &bytes) {
  auto words = wordsOf(bytes);
  return words.size() <= 1 && llvm::all_of(llvm::enumerate(bytes), [](auto indexed) {
           return !indexed.value().word.first || indexed.value().place == indexed.index();
         });
}

/// The vectors of a block.
class Permuter {
public:
  explicit Permuter(llvm::BasicBlock &block) : block(block) {}

  void run() {
    for (llvm::Instruction &op : block)
      if (isWanted(op))
        read(op);
    llvm::SmallVector<llvm::WeakTrackingVH> replaced;
    for (auto &[op, words] : vectors)
      if (!llvm::all_of(words, isWhole)) {
        replace(*op, words);
        replaced.push_back(op);
      }
    llvm::RecursivelyDeleteTriviallyDeadInstructionsPermissive(replaced);
  }

private:
  using Pair = std::pair<Byte, Byte>;

  void read(llvm::Instruction &op) {
    llvm::SmallVector<Bytes> words(bytesOf(op.getType()) / wordBytes);
    for (auto [number, word] : llvm::enumerate(words))
      for (auto [place, byte] : llvm::enumerate(word)) {
        std::optional<Byte> from = byteOf(&op, number * wordBytes + place);
        if (!from)
          return;
        byte = *from;
      }
    vectors.emplace_back(&op, std::move(words));
  }

  void replace(llvm::Instruction &op, llvm::ArrayRef<Bytes> words) {
    llvm::IRBuilder<> b(&op);
    llvm::Type *type = llvm::FixedVectorType::get(b.getInt32Ty(), words.size());
    llvm::Value *made = llvm::PoisonValue::get(type);
    // Pairs of bytes whose words are the same two, two of them at a time.
    llvm::SmallVector<std::pair<Pair, llvm::Value *>> pairs;
    for (auto [number, word] : llvm::enumerate(words))
      made = b.CreateInsertElement(made, wordOf(word, words.drop_front(number + 1), pairs, b),
                                   uint64_t(number));
    op.replaceAllUsesWith(b.CreateBitCast(made, op.getType()));
  }

  llvm::Value *wordOf(const Bytes &bytes, llvm::ArrayRef<Bytes> later,
                      llvm::SmallVectorImpl<std::pair<Pair, llvm::Value *>> &pairs,
                      llvm::IRBuilder<> &b) {
    auto words = wordsOf(bytes);
    if (words.empty())
      return llvm::PoisonValue::get(b.getInt32Ty());
    if (isWhole(bytes))
      return valueOf(words.front(), b);
    if (words.size() <= 2) {
      auto selector = [&](const Byte &byte) {
        return byte.word == words.back() ? byte.place : wordBytes + byte.place;
      };
      return permutation(
          valueOf(words.front(), b), valueOf(words.back(), b),
          {selector(bytes[0]), selector(bytes[1]), selector(bytes[2]), selector(bytes[3])}, b);
    }
    // The first pair's word is v_perm_b32's second operand, whose bytes are numbered first.
    auto [low, lowPlace] = pairOf({bytes[0], bytes[1]}, later, 0, pairs, b);
    auto [high, highPlace] = pairOf({bytes[2], bytes[3]}, later, 2, pairs, b);
    return permutation(
        high, low, {lowPlace, lowPlace + 1, wordBytes + highPlace, wordBytes + highPlace + 1}, b);
  }

  /// A word in which the pair is, and where it begins there. What a later word wants at the same
  /// place of the same two words is in the other half.
  std::pair<llvm::Value *, unsigned>
  pairOf(Pair pair, llvm::ArrayRef<Bytes> later, unsigned place,
         llvm::SmallVectorImpl<std::pair<Pair, llvm::Value *>> &pairs, llvm::IRBuilder<> &b) {
    for (auto [index, known] : llvm::enumerate(pairs))
      if (known.first == pair)
        return {known.second, index % 2 ? 2 : 0};
    Pair other = pair;
    for (const Bytes &bytes : later)
      if (Pair wanted{bytes[place], bytes[place + 1]};
          wanted.first.word == pair.first.word && wanted.second.word == pair.second.word &&
          llvm::none_of(pairs, [&](auto &known) { return known.first == wanted; })) {
        other = wanted;
        break;
      }
    // Bytes of the second word are numbered behind those of the first.
    auto first = [](const Byte &byte) { return byte.place; };
    auto second = [](const Byte &byte) { return wordBytes + byte.place; };
    llvm::Value *both = permutation(
        valueOf(pair.second.word, b), valueOf(pair.first.word, b),
        {first(pair.first), second(pair.second), first(other.first), second(other.second)}, b);
    pairs.push_back({pair, both});
    pairs.push_back({other, both});
    return {both, 0};
  }

  /// Four of the eight bytes: those of `low` are numbered from 0, those of `high` from 4.
  llvm::Value *permutation(llvm::Value *high, llvm::Value *low,
                           std::array<unsigned, wordBytes> bytes, llvm::IRBuilder<> &b) {
    uint32_t selector = 0;
    for (auto [place, byte] : llvm::enumerate(bytes))
      selector |= byte << 8 * place;
    return b.CreateIntrinsic(llvm::Intrinsic::amdgcn_perm, {}, {high, low, b.getInt32(selector)});
  }

  llvm::Value *valueOf(Word word, llvm::IRBuilder<> &b) {
    if (!word.first)
      return b.getInt32(0);
    unsigned count = bytesOf(word.first->getType()) / wordBytes;
    if (count == 1)
      return b.CreateBitCast(word.first, b.getInt32Ty());
    auto *type = llvm::FixedVectorType::get(b.getInt32Ty(), count);
    return b.CreateExtractElement(b.CreateBitCast(word.first, type), word.second);
  }

  llvm::BasicBlock &block;
  llvm::SmallVector<std::pair<llvm::Instruction *, llvm::SmallVector<Bytes>>> vectors;
};

} // namespace

void permuteBytes(llvm::Function &kernel) {
  for (llvm::BasicBlock &block : kernel)
    Permuter(block).run();
}

} // namespace kiln
