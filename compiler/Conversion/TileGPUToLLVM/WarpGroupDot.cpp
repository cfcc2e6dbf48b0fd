// Dots on units that read shared memory by themselves.
//
// Four warps carry out an instruction, and groups of four share the dot as warps do elsewhere
// (Dot.cpp). An operand in shared memory is told by a descriptor: where it begins, and the strides
// of its swizzled layout. The tile of a group and a step begins where the layout has its first
// element: rows come in eights there, so the swizzle adds nothing to it, and the parts of the
// group, of the tile and of the step simply add up.

#include "compiler/Conversion/TileGPUToLLVM/WarpGroupDot.h"

#include "compiler/Layout/StagedOperand.h"
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

} // namespace

SmallVector<Value> multiplyInWarpGroups(const ScalarBuilder &s, const Lowering &lowering,
                                        tilegpu::DotOp op, ValueRange a, ValueRange b,
                                        ValueRange c) {
  OpBuilder &builder = s.builder();
  if (!op.readsBuffers()) {
    op.emitError() << "expected a buffer as operand B, got " << op.getB().getType();
    return {};
  }
  MatrixTiling tiling = op.getUnit()->getTiling();
  const MatrixInstruction &unit = *tiling.instruction;
  Value group = groupNumber(s, lowering);
  auto operand = [&](MatrixOperand which, Value value, Value address) {
    return SharedOperand(s, lowering, tiling, which, cast<tilegpu::BufferType>(value.getType()),
                         address, group);
  };
  std::optional<SharedOperand> sharedA;
  Places placesA;
  unsigned sizeA = tiling.fragment(MatrixOperand::A).numRegisters();
  if (isa<tilegpu::BufferType>(op.getA().getType()))
    sharedA = operand(MatrixOperand::A, op.getA(), a[0]);
  else
    placesA = placesOf(tilegpu::layoutOf(op.getA()), sizeA);
  SharedOperand sharedB = operand(MatrixOperand::B, op.getB(), b[0]);
  if (!sharedB.description || (sharedA && !sharedA->description)) {
    op.emitError() << "expected buffers that a matrix descriptor can tell, got "
                   << op.getB().getType();
    return {};
  }

  unsigned sizeC = tiling.fragment(MatrixOperand::C).numRegisters();
  int64_t depth = tilegpu::shapeOfOperand(op.getA()).back();
  SmallVector<Value> results(c.size());
  bool follows = false, startsAtZero = matchPattern(op.getC(), m_AnyZeroFloat()) ||
                                       matchPattern(op.getC(), m_Zero());
  Value addsToSum = startsAtZero ? s.boolean(false) : Value();
  for (const auto &[place, firstC] : placesOf(tilegpu::layoutOf(op.getC()), sizeC)) {
    SmallVector<Value> factorA, factorB;
    for (int64_t k = 0; k < depth; k += unit.k) {
      factorB.push_back(sharedB.descriptorAt(s, {k, place[1]}));
      if (sharedA)
        factorA.push_back(sharedA->descriptorAt(s, {place[0], k}));
      else
        llvm::append_range(
            factorA, lowering.device.packFragment(builder, op.getLoc(), unit, MatrixOperand::A,
                                                  a.slice(placesA.at({place[0], k}), sizeA)));
    }
    SmallVector<Value> sum = lowering.device.packFragment(builder, op.getLoc(), unit,
                                                          MatrixOperand::C, c.slice(firstC, sizeC));
    // Registers that the first step does not look at need not be made zero.
    if (startsAtZero)
      for (Value &word : sum)
        word = LLVM::PoisonOp::create(builder, op.getLoc(), word.getType());
    auto product = tilegpu::WgmmaOp::create(
        builder, op.getLoc(), TypeRange(ValueRange(sum)), factorA, factorB, sum, addsToSum, unit.n,
        nameInPTX(unit.operand), nameInPTX(unit.accumulator),
        sharedA && sharedA->description->transposed, sharedB.description->transposed,
        /*follows=*/follows);
    follows = true;
    unsigned reg = firstC;
    for (Value word : product.getResults())
      for (Value element : s.unpack(word))
        results[reg++] = element;
  }
  lowering.device.commitProducts(builder, op.getLoc());
  return op.getIsAsync() ? results : waitForProducts(s, ValueRange(results), 0).front();
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
