//===- CodePairs.cpp - 8-bit floats that are made two at a time -----------------===//

#include "compiler/Target/NVIDIA/CodePairs.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/Local.h"

namespace kiln {

using namespace llvm::PatternMatch;

//===-- signs of NaNs
//----------------------------------------------------------------------------------------------===//

/// The conversion in `codes | (bytes & 0x8080)`, the upper bytes of what it converts, where neither
/// of the two is NaN: all other codes have their signs.
static llvm::Value *withoutSigns(llvm::Instruction &instruction) {
  llvm::Value *bytes, *low, *high, *codes;
  auto signs = m_And(m_Trunc(m_Value(bytes)), m_SpecificInt(0x8080));
  if (!match(&instruction, m_c_Or(signs, m_Value(codes))) ||
      !match(bytes, m_Intrinsic<llvm::Intrinsic::nvvm_prmt>(
                        m_BitCast(m_Value(low)), m_BitCast(m_Value(high)), m_SpecificInt(0x7373))))
    return nullptr;
  auto isOf = [&](llvm::Value *made) {
    return match(made, m_Intrinsic<llvm::Intrinsic::nvvm_ff_to_e4m3x2_rn>(m_Specific(high),
                                                                          m_Specific(low))) ||
           match(made, m_Intrinsic<llvm::Intrinsic::nvvm_ff_to_e5m2x2_rn>(m_Specific(high),
                                                                          m_Specific(low)));
  };
  llvm::SimplifyQuery query(instruction.getDataLayout(), &instruction);
  bool isNumber =
      isOf(codes) && llvm::isKnownNeverNaN(low, query) && llvm::isKnownNeverNaN(high, query);
  return isNumber ? codes : nullptr;
}

//===-- bounds of numbers
//----------------------------------------------------------------------------------------------===//

/// What the conversion takes without minima and maxima that change nothing: it makes numbers beyond
/// the largest code that code. NaN, which they would make a number, there is none.
static llvm::Value *withoutBounds(llvm::Value *number, double largest,
                                  const llvm::SimplifyQuery &query) {
  llvm::Value *inner;
  const llvm::APFloat *bound;
  bool isAbove =
      match(number, m_Intrinsic<llvm::Intrinsic::minnum>(m_Value(inner), m_APFloat(bound)));
  if (!isAbove &&
      !match(number, m_Intrinsic<llvm::Intrinsic::maxnum>(m_Value(inner), m_APFloat(bound))))
    return number;
  double distance = isAbove ? bound->convertToDouble() : -bound->convertToDouble();
  return distance >= largest && llvm::isKnownNeverNaN(inner, query)
             ? withoutBounds(inner, largest, query)
             : number;
}

static void removeBounds(llvm::Instruction &instruction,
                         llvm::SmallVectorImpl<llvm::WeakTrackingVH> &unused) {
  auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  if (!call || (call->getIntrinsicID() != llvm::Intrinsic::nvvm_ff_to_e4m3x2_rn &&
                call->getIntrinsicID() != llvm::Intrinsic::nvvm_ff_to_e5m2x2_rn))
    return;
  double largest = call->getIntrinsicID() == llvm::Intrinsic::nvvm_ff_to_e4m3x2_rn ? 448 : 57344;
  llvm::SimplifyQuery query(instruction.getDataLayout(), &instruction);
  for (unsigned i : {0u, 1u}) {
    llvm::Value *number = call->getArgOperand(i);
    llvm::Value *inner = withoutBounds(number, largest, query);
    if (inner == number)
      continue;
    call->setArgOperand(i, inner);
    unused.push_back(number);
  }
}

//===-- vectors of bytes
//----------------------------------------------------------------------------------------------===//

/// The 16 bits whose lower and upper byte these are.
static llvm::Value *halvesOf(llvm::Value *low, llvm::Value *high) {
  llvm::Value *both;
  bool isPair = match(low, m_Trunc(m_Value(both))) && both->getType()->isIntegerTy(16) &&
                match(high, m_Trunc(m_LShr(m_Specific(both), m_SpecificInt(8))));
  return isPair ? both : nullptr;
}

/// The elements, of 16 bits, of the vector of bytes that ends with `last`; none if one of them is
/// not known.
static llvm::SmallVector<llvm::Value *> pairsOf(llvm::InsertElementInst &last) {
  auto *type = llvm::dyn_cast<llvm::FixedVectorType>(last.getType());
  if (!type || !type->getElementType()->isIntegerTy(8) || type->getNumElements() % 2)
    return {};
  llvm::SmallVector<llvm::Value *> bytes(type->getNumElements());
  llvm::Value *rest = &last, *byte, *before;
  uint64_t index;
  while (match(rest, m_InsertElt(m_Value(before), m_Value(byte), m_ConstantInt(index))) &&
         index < bytes.size()) {
    if (!bytes[index])
      bytes[index] = byte;
    rest = before;
  }
  llvm::Value *firsts = nullptr;
  auto *halves = llvm::FixedVectorType::get(llvm::Type::getInt16Ty(last.getContext()),
                                            unsigned(bytes.size() / 2));
  if (match(rest, m_BitCast(m_Value(firsts))) && firsts->getType() != halves)
    firsts = nullptr;
  llvm::SmallVector<llvm::Value *> pairs;
  for (unsigned i = 0; i < bytes.size(); i += 2) {
    llvm::Value *pair = bytes[i] && bytes[i + 1] ? halvesOf(bytes[i], bytes[i + 1])
                        : !bytes[i] && !bytes[i + 1] && firsts
                            ? llvm::findScalarElement(firsts, i / 2)
                            : nullptr;
    if (!pair)
      return {};
    pairs.push_back(pair);
  }
  return pairs;
}

static llvm::Value *vectorOf(llvm::ArrayRef<llvm::Value *> pairs, llvm::InsertElementInst &last) {
  llvm::IRBuilder<> builder(&last);
  auto *type = llvm::FixedVectorType::get(builder.getInt16Ty(), unsigned(pairs.size()));
  llvm::Value *vector = llvm::PoisonValue::get(type);
  for (auto [index, pair] : llvm::enumerate(pairs))
    vector = builder.CreateInsertElement(vector, pair, index);
  return builder.CreateBitCast(vector, last.getType());
}

static bool isContinued(const llvm::InsertElementInst &insertion) {
  return insertion.hasOneUse() && llvm::isa<llvm::InsertElementInst>(insertion.user_back());
}

void keepCodesInPairs(llvm::Module &module) {
  llvm::SmallVector<llvm::WeakTrackingVH> unused;
  auto replace = [&](llvm::Instruction &instruction, llvm::Value *value) {
    instruction.replaceAllUsesWith(value);
    unused.push_back(&instruction);
  };
  for (llvm::Function &function : module) {
    for (llvm::Instruction &instruction : llvm::instructions(function))
      if (llvm::Value *codes = withoutSigns(instruction))
        replace(instruction, codes);
    for (llvm::Instruction &instruction : llvm::instructions(function))
      removeBounds(instruction, unused);
    for (llvm::Instruction &instruction : llvm::instructions(function)) {
      auto *last = llvm::dyn_cast<llvm::InsertElementInst>(&instruction);
      if (!last || isContinued(*last))
        continue;
      if (llvm::SmallVector<llvm::Value *> pairs = pairsOf(*last); !pairs.empty())
        replace(*last, vectorOf(pairs, *last));
    }
  }
  llvm::RecursivelyDeleteTriviallyDeadInstructionsPermissive(unused);
}

} // namespace kiln
