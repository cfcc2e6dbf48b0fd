// Dots on units that read shared memory by themselves.
//
// Four warps carry out an instruction, and groups of four share the dot as warps do elsewhere
// (Dot.cpp). An operand in shared memory is told by a descriptor: where it begins, and the strides
// of its swizzled layout. The tile of a group and a step begins where the layout has its first
// element: rows come in eights there, so the swizzle adds nothing to it, and the parts of the
// group, of the tile and of the step simply add up.

#include "compiler/Conversion/TileGPUToLLVM/WarpGroupDot.h"
#include "compiler/Conversion/TileGPUToLLVM/ExactOperands.h"
#include "compiler/Dialect/Tile/Transforms/TrimDots.h"
#include "compiler/Dialect/TileGPU/Transforms/ResetSums.h"

#include "compiler/Layout/StagedOperand.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace kiln {
namespace {

/// PTX's name of an element type.
StringRef nameInPTX(MatrixElement element) {
  switch (element) {
  case MatrixElement::I8:
    return "s8";
  case MatrixElement::I32:
    return "s32";
  default:
    return elementName(element);
  }
}

/// An operand in shared memory: what its descriptors share, and how they differ.
class SharedOperand {
public:
  SharedOperand(const ScalarBuilder &s, const Lowering &lowering, const MatrixTiling &tiling,
                MatrixOperand which, tilegpu::BufferType buffer, Value address, Value group)
      : bytes(tilegpu::storageBits(buffer.getElementType()) / 8),
        offsets(buffer.getLayout().getMap().invert()) {
    description = describeOperand(buffer.getLayout().getShared(),
                                  /*axisK=*/which == MatrixOperand::A ? 1 : 0, 8 * bytes);
    if (!description)
      return;
    // The warps of a group find their rows by themselves.
    LinearLayout layout = tiling.layout(which, buffer.getShape());
    BinaryColumns columns;
    for (uint64_t coordinates : layout.columns(Dim::Warp).drop_front(2))
      columns.push_back(offsets.apply(coordinates) * bytes);
    OpBuilder &b = s.builder();
    Value begin = s.byteOffset(address, applyColumns(s, columns, group));
    Value number = LLVM::PtrToIntOp::create(b, s.location(), b.getI64Type(), begin);
    Value start = s.shiftRight(s.bitAnd(number, 0x3ffff), 4);
    uint64_t strides = description->leadingBytes >> 4 << 16 | description->strideBytes >> 4 << 32 |
                       uint64_t(description->swizzle) << 62;
    first = s.bitOr(start, s.integer(b.getI64Type(), int64_t(strides)));
  }

  std::optional<MatrixDescriptor> description;

  Value descriptorAt(const ScalarBuilder &s, ArrayRef<int64_t> place) const {
    uint64_t offset = offsets.apply(offsets.in().pack(place)) * bytes;
    return s.add(first, s.integer(first.getType(), int64_t(offset >> 4)));
  }

private:
  unsigned bytes;
  LinearLayout offsets; ///< coordinates → offset
  Value first;
};

/// Which group of four warps the thread is in: the same in all its threads, and known to be.
Value groupNumber(const ScalarBuilder &s, const Lowering &lowering) {
  if (lowering.numWarps == 4)
    return s.i32(0);
  OpBuilder &b = s.builder();
  Value thread = lowering.device.threadId(b, s.location());
  Value group = s.shiftRight(thread, llvm::Log2_32(4 * lowering.target().warpSize));
  return lowering.device.shuffleIndex(b, s.location(), group, s.i32(0));
}

/// The instructions of a dot.
class WarpGroupProduct {
public:
  WarpGroupProduct(const ScalarBuilder &s, const Lowering &lowering, tilegpu::DotOp op,
                   ValueRange a, ValueRange b)
      : s(s), lowering(lowering), op(op), registersA(a), tiling(op.getUnit()->getTiling()),
        unit(*tiling.instruction), sizeA(tiling.fragment(MatrixOperand::A).numRegisters()) {
    Value group = groupNumber(s, lowering);
    auto operand = [&](MatrixOperand which, Value value, Value address) {
      return SharedOperand(s, lowering, tiling, which, cast<tilegpu::BufferType>(value.getType()),
                           address, group);
    };
    if (isa<tilegpu::BufferType>(op.getA().getType()))
      sharedA = operand(MatrixOperand::A, op.getA(), a[0]);
    else
      placesA = placesOf(tilegpu::layoutOf(op.getA()), sizeA);
    sharedB = operand(MatrixOperand::B, op.getB(), b[0]);
  }

  bool isDescribed() const { return sharedB->description && (!sharedA || sharedA->description); }

  /// Starts, as a group of its own, c plus the products of k from `begin` up to `end`; these alone
  /// where `fromZero`, or where c is chosen to be zero.
  SmallVector<Value> start(ValueRange c, bool fromZero, int64_t begin, int64_t end) const {
    OpBuilder &builder = s.builder();
    unsigned sizeC = tiling.fragment(MatrixOperand::C).numRegisters();
    SmallVector<Value> results(c);
    bool follows = false;
    Value addsToSum = fromZero ? s.boolean(false) : Value();
    SmallVector<Value> chosen;
    if (Value isReset = fromZero ? Value() : resetOf(c, chosen)) {
      addsToSum = s.bitXor(isReset, s.boolean(true));
      c = chosen;
    }
    for (const auto &[place, firstC] : placesOf(tilegpu::layoutOf(op.getC()), sizeC)) {
      unsigned columns = columnsAt(place[1]);
      if (columns == 0)
        continue;
      auto [factorA, factorB] = factors(place, begin, end);
      SmallVector<Value> sum =
          lowering.device.packFragment(builder, op.getLoc(), unit, MatrixOperand::C,
                                       c.slice(firstC, sizeC * columns / unit.n), /*isExact=*/true);
      // Registers that the first step does not look at need not be made zero.
      if (fromZero)
        for (Value &word : sum)
          word = LLVM::PoisonOp::create(builder, op.getLoc(), word.getType());
      auto product = tilegpu::WgmmaOp::create(
          builder, op.getLoc(), TypeRange(ValueRange(sum)), factorA, factorB, sum, addsToSum,
          columns, nameInPTX(unit.operand), nameInPTX(unit.accumulator),
          sharedA && sharedA->description->transposed, sharedB->description->transposed,
          /*follows=*/follows);
      follows = true;
      unsigned reg = firstC;
      for (Value word : product.getResults())
        for (Value element : s.unpack(word))
          results[reg++] = element;
    }
    lowering.device.commitProducts(builder, op.getLoc());
    return results;
  }

private:
  /// Where all registers of the sum are zero by one condition: that, and what they are otherwise.
  static Value resetOf(ValueRange c, SmallVectorImpl<Value> &otherwise) {
    Value condition;
    for (Value value : c) {
      arith::SelectOp select = resetOfSum(value);
      if (!select || (condition && condition != select.getCondition()))
        return Value();
      condition = select.getCondition();
      otherwise.push_back(select.getFalseValue());
    }
    return condition;
  }

  /// Of an instruction's columns from `first` on, how many are wanted. A thread has the columns of
  /// an instruction one after the other.
  unsigned columnsAt(int64_t first) const {
    // Groups of warps side by side are at different columns by the same instruction.
    if (tiling.warpsN > 1 || tiling.swapped || op.getSumDepth() != 0)
      return unit.n;
    unsigned step = unit.accumulator == MatrixElement::I32 ? 16 : 8;
    int64_t used = usedExtent(op, usedColumnsAttr, op.getType().getShape().back());
    return std::min<int64_t>(llvm::alignTo(std::max<int64_t>(used - first, 0), step), unit.n);
  }

  /// Descriptors or registers of A, and descriptors of B, for the steps of one tile of c.
  std::pair<SmallVector<Value>, SmallVector<Value>> factors(ArrayRef<int64_t> place, int64_t begin,
                                                            int64_t end) const {
    SmallVector<Value> factorA, factorB;
    for (int64_t k = begin; k < end; k += unit.k) {
      factorB.push_back(sharedB->descriptorAt(s, {k, place[1]}));
      if (sharedA)
        factorA.push_back(sharedA->descriptorAt(s, {place[0], k}));
      else
        llvm::append_range(factorA, lowering.device.packFragment(
                                        s.builder(), op.getLoc(), unit, MatrixOperand::A,
                                        registersA.slice(placesA.at({place[0], k}), sizeA),
                                        isExact(op, MatrixOperand::A)));
    }
    return {factorA, factorB};
  }

  const ScalarBuilder &s;
  const Lowering &lowering;
  mutable tilegpu::DotOp op;
  ValueRange registersA;
  MatrixTiling tiling;
  const MatrixInstruction &unit;
  unsigned sizeA;
  Places placesA;
  std::optional<SharedOperand> sharedA, sharedB;
};

} // namespace

SmallVector<Value> multiplyInWarpGroups(const ScalarBuilder &s, const Lowering &lowering,
                                        tilegpu::DotOp op, ValueRange a, ValueRange b,
                                        ValueRange c) {
  if (!op.readsBuffers()) {
    op.emitError() << "expected a buffer as operand B, got " << op.getB().getType();
    return {};
  }
  WarpGroupProduct product(s, lowering, op, a, b);
  if (!product.isDescribed()) {
    op.emitError() << "expected buffers that a matrix descriptor can tell, got "
                   << op.getB().getType();
    return {};
  }
  int64_t depth = tilegpu::shapeOfOperand(op.getA()).back();
  depth = std::min<int64_t>(
      llvm::alignTo(usedExtent(op, usedDepthAttr, depth), op.getUnit()->getTiling().instruction->k),
      depth);
  auto wait = [&](const SmallVector<Value> &started) {
    return waitForProducts(s, ValueRange(started), 0).front();
  };
  if (op.getSumDepth() == 0) {
    bool startsAtZero =
        matchPattern(op.getC(), m_AnyZeroFloat()) || matchPattern(op.getC(), m_Zero());
    SmallVector<Value> results = product.start(c, startsAtZero, 0, depth);
    return op.getIsAsync() ? results : wait(results);
  }
  SmallVector<Value> sum(c);
  int64_t step = llvm::alignTo(op.getSumDepth(), op.getUnit()->getTiling().instruction->k);
  for (int64_t k = 0; k < depth; k += step) {
    SmallVector<Value> part =
        wait(product.start(c, /*fromZero=*/true, k, std::min(k + step, depth)));
    for (auto [total, more] : llvm::zip(sum, part))
      total = LLVM::FAddOp::create(s.builder(), s.location(), total, more);
  }
  return sum;
}

SmallVector<SmallVector<Value>>
waitForProducts(const ScalarBuilder &s, ArrayRef<ValueRange> accumulators, unsigned pending) {
  SmallVector<Value> words;
  auto perWord = [](ValueRange registers) { return 32 / scalarBits(registers[0].getType()); };
  for (ValueRange registers : accumulators)
    for (unsigned first = 0; first < registers.size(); first += perWord(registers))
      words.push_back(s.pack(registers.slice(first, perWord(registers))));
  auto wait = tilegpu::WgmmaWaitOp::create(s.builder(), s.location(), TypeRange(ValueRange(words)),
                                           words, pending);
  SmallVector<SmallVector<Value>> results;
  unsigned next = 0;
  for (ValueRange registers : accumulators) {
    SmallVector<Value> &elements = results.emplace_back();
    while (elements.size() < registers.size())
      llvm::append_range(elements, s.unpack(wait.getResult(next++)));
  }
  return results;
}

} // namespace kiln
