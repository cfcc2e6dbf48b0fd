// Where a thread's elements are: a linear layout evaluated at run time.

#include "compiler/Conversion/TileGPUToLLVM/ThreadIndex.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace kiln {

BinaryColumns threadColumns(const LinearLayout &layout, const TargetInfo &target) {
  BinaryColumns columns(layout.columns(Dim::Lane));
  columns.resize(llvm::Log2_32(target.warpSize), 0);
  llvm::append_range(columns, layout.columns(Dim::Warp));
  return columns;
}

/// Consecutive input bits whose columns are consecutive single bits move as one field.
static unsigned fieldLength(ArrayRef<BinaryVector> columns, unsigned first) {
  if (!llvm::isPowerOf2_64(columns[first]))
    return 1;
  unsigned length = 1;
  while (first + length < columns.size() && columns[first + length] == columns[first] << length)
    ++length;
  return length;
}

/// The field of `length` bits at `from`, moved to bit `to`.
static Value moveField(const ScalarBuilder &s, Value bits, unsigned from, unsigned to,
                       unsigned length) {
  int64_t mask = int64_t((uint64_t(1) << length) - 1) << from;
  Value field = s.bitAnd(bits, mask);
  return to >= from ? s.shiftLeft(field, to - from) : s.shiftRight(field, from - to);
}

Value applyColumns(const ScalarBuilder &s, ArrayRef<BinaryVector> columns, Value bits) {
  Value sum;
  uint64_t possible = 0;
  for (unsigned bit = 0; bit < columns.size();) {
    uint64_t column = columns[bit];
    unsigned length = fieldLength(columns, bit);
    if (column == 0) {
      ++bit;
      continue;
    }
    Value part;
    uint64_t partBits = column;
    if (llvm::isPowerOf2_64(column)) {
      part = moveField(s, bits, bit, llvm::Log2_64(column), length);
      partBits = column * ((uint64_t(1) << length) - 1);
    } else {
      // All the column's bits or none: multiply one bit by the column.
      part = s.mul(moveField(s, bits, bit, 0, 1), int64_t(column));
    }
    if (!sum)
      sum = part;
    else
      sum = (possible & partBits) ? s.bitXor(sum, part) : s.bitOr(sum, part);
    possible |= partBits;
    bit += length;
  }
  return sum ? sum : s.i32(0);
}

Value combineParts(const ScalarBuilder &s, Value thread, uint64_t possible, uint64_t constant) {
  if (possible == 0)
    return s.i32(constant);
  if (constant == 0)
    return thread;
  return (possible & constant) ? s.bitXor(thread, s.i32(constant)) : s.add(thread, s.i32(constant));
}

static uint64_t unionOf(ArrayRef<BinaryVector> columns) {
  uint64_t all = 0;
  for (uint64_t column : columns)
    all |= column;
  return all;
}

/// The run-time and the constant part, for every register.
static SmallVector<Value> perRegister(const ScalarBuilder &s, ArrayRef<BinaryVector> registers,
                                      ArrayRef<BinaryVector> threads, Value threadId) {
  Value thread = applyColumns(s, threads, threadId);
  uint64_t possible = unionOf(threads);
  SmallVector<Value> values;
  for (uint64_t reg = 0; reg < uint64_t(1) << registers.size(); ++reg)
    values.push_back(combineParts(s, thread, possible, multiply(registers, reg)));
  return values;
}

SmallVector<Value> flatOutputs(const ScalarBuilder &s, const LinearLayout &layout, Value threadId,
                               const TargetInfo &target) {
  return perRegister(s, layout.columns(Dim::Register), threadColumns(layout, target), threadId);
}

SmallVector<Value> coordinatesAlong(const ScalarBuilder &s, const LinearLayout &layout,
                                    unsigned axis, Value threadId, const TargetInfo &target) {
  auto along = [&](ArrayRef<BinaryVector> columns) {
    BinaryColumns result;
    for (uint64_t column : columns)
      result.push_back(layout.out().coordinate(column, Dim::axis(axis)));
    return result;
  };
  return perRegister(s, along(layout.columns(Dim::Register)), along(threadColumns(layout, target)),
                     threadId);
}

Value isOwner(const ScalarBuilder &s, const LinearLayout &layout, Value threadId,
              const TargetInfo &target) {
  uint64_t lanes = layout.freeBits(Dim::Lane), warps = layout.freeBits(Dim::Warp);
  // A layout with fewer lanes than the warp has repeats in the others.
  lanes |= uint64_t(target.warpSize) - (uint64_t(1) << layout.in().bits(Dim::Lane));
  uint64_t duplicates = lanes | warps << llvm::Log2_32(target.warpSize);
  if (duplicates == 0)
    return {};
  return s.equal(s.bitAnd(threadId, duplicates), 0);
}

} // namespace kiln
