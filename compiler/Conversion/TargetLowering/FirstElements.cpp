#include "compiler/Conversion/TargetLowering/FirstElements.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace kiln {

/// A vector may be put together of elements.
bool isZeroOrNothing(Value value) {
  while (auto insertion = value.getDefiningOp<LLVM::InsertElementOp>()) {
    if (!isZeroOrNothing(insertion.getValue()))
      return false;
    value = insertion.getVector();
  }
  return matchPattern(value, m_Zero()) || matchPattern(value, m_PosZeroFloat()) ||
         isa_and_nonnull<LLVM::PoisonOp, LLVM::UndefOp, LLVM::ZeroOp>(value.getDefiningOp());
}

/// A word of a vector of shorter elements, zeros where these are not: all of the word where its
/// last element is there, less and less of it where only an earlier one is. The bits that stay are
/// known before the word is loaded. With `isZeroWithout` it is zero where its first element is not
/// there. In LLVM's operations: accesses are expanded when there are no others left.
static Value wordWithin(const ScalarBuilder &s, Value word, ValueRange areThere,
                        bool isZeroWithout) {
  OpBuilder &b = s.builder();
  Location loc = s.location();
  auto constant = [&](uint32_t value) -> Value {
    return LLVM::ConstantOp::create(b, loc, b.getI32Type(), b.getI32IntegerAttr(int32_t(value)));
  };
  unsigned bits = 32 / unsigned(areThere.size());
  Value kept = isZeroWithout ? Value() : constant(0);
  for (auto [index, isThere] : llvm::enumerate(areThere)) {
    Value part = constant(~uint32_t(0) >> (32 - unsigned(index + 1) * bits));
    kept = kept ? LLVM::SelectOp::create(b, loc, isThere, part, kept).getResult() : part;
  }
  return LLVM::AndOp::create(b, loc, word, kept);
}

Value chooseFirst(const ScalarBuilder &s, Value loaded, ValueRange areThere, Value other) {
  auto type = cast<VectorType>(loaded.getType());
  unsigned bits = scalarBits(type.getElementType()), perWord = 32 / bits;
  SmallVector<Value> chosen;
  if (bits >= 32 || !isZeroOrNothing(other) || perWord > areThere.size()) {
    for (auto [isThere, value, instead] :
         llvm::zip_equal(areThere, s.unpack(loaded), s.unpack(other)))
      chosen.push_back(LLVM::SelectOp::create(s.builder(), s.location(), isThere, value, instead));
    return s.pack(chosen);
  }
  Type words = VectorType::get(int64_t(areThere.size()) / perWord, s.builder().getI32Type());
  for (auto [index, word] : llvm::enumerate(s.unpack(s.bitcast(loaded, words))))
    chosen.push_back(wordWithin(s, word, areThere.slice(index * perWord, perWord), index == 0));
  return s.bitcast(s.pack(chosen), type);
}

} // namespace kiln
