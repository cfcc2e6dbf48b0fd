#include "compiler/Dialect/Tile/Transforms/EngineAccesses.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace kiln {

using tile::DescriptorType;

Value withoutHints(Value value) {
  while (auto hint = value.getDefiningOp<tile::HintOp>())
    value = hint.getSource();
  return value;
}

MapUse mapUseOf(tile::AtomicKind kind) {
  bool isSigned = kind == tile::AtomicKind::SMin || kind == tile::AtomicKind::SMax;
  return isSigned ? MapUse::ComparedSigned : MapUse::Written;
}

namespace {

int64_t blockBytes(DescriptorType type) {
  return type.getBlockType().getNumElements() * type.getElementBytes();
}

bool hasWholePieces(DescriptorType type) {
  return llvm::all_of(type.getShape(), llvm::isPowerOf2_64) &&
         type.getShape().back() * type.getElementBytes() >= DescriptorType::alignment;
}

/// PTX ISA, "cp.reduce.async.bulk": the operations of each type.
bool isReducedByEngine(tile::AtomicKind kind, Type element) {
  using tile::AtomicKind;
  bool isHalf = element.isF16() || element.isBF16();
  switch (kind) {
  case AtomicKind::FAdd:
    return isHalf || element.isF32() || element.isF64();
  case AtomicKind::FMin:
  case AtomicKind::FMax:
    return isHalf;
  case AtomicKind::Exchange:
    return false;
  default:
    return element.isInteger(32) || element.isInteger(64);
  }
}

/// The engine counts in 32 bits.
bool areNarrow(ValueRange offsets) {
  return llvm::all_of(offsets, [](Value offset) {
    APInt constant;
    if (matchPattern(offset, m_ConstantInt(&constant)))
      return constant.isSignedIntN(32);
    auto widened = withoutHints(offset).getDefiningOp<arith::ExtSIOp>();
    return widened && widened.getIn().getType().getIntOrFloatBitWidth() <= 32;
  });
}

/// Boxes begin at multiples of 128 bytes of shared memory, as buffers do that are no shorter.
bool fillsLine(DescriptorType type) { return blockBytes(type) >= 128; }

/// What is stored goes through shared memory, beside what comes in the meantime.
bool hasRoom(DescriptorType type) {
  constexpr int64_t mostBytes = 64 * 1024;
  return blockBytes(type) <= mostBytes;
}

} // namespace

EngineAccesses::EngineAccesses(func::FuncOp kernel)
    : hasProducts(
          kernel.walk([](tile::DotOp) { return WalkResult::interrupt(); }).wasInterrupted()),
      facts(kernel) {}

bool EngineAccesses::brings(tile::DescriptorLoadOp load) const {
  DescriptorType type = load.getDescriptor().getType();
  return load.getType().getRank() == 2 && isBlockOfRows(type) && begins(type, load.getOffsets()) &&
         isMultiplied(load, type, /*axisOfRows=*/1);
}

/// What a product's threads hold is far from rows of 16 bytes; others store as well by themselves.
bool EngineAccesses::writes(tile::DescriptorStoreOp store) const {
  DescriptorType type = store.getDescriptor().getType();
  return hasProducts && type.getRank() == 2 && isBlockOfRows(type) &&
         begins(type, store.getOffsets()) && hasRoom(type);
}

bool EngineAccesses::combines(tile::DescriptorReduceOp reduce) const {
  DescriptorType type = reduce.getDescriptor().getType();
  return isReducedByEngine(reduce.getKind(), type.getElementType()) && hasWholePieces(type) &&
         begins(type, reduce.getOffsets()) && fillsLine(type) && hasRoom(type);
}

/// At a box that begins within a piece of 16 bytes an H200 stops with an illegal instruction.
bool EngineAccesses::begins(DescriptorType type, ValueRange offsets) const {
  return areNarrow(offsets) && areWholePieces(type, offsets.back());
}

bool EngineAccesses::areWholePieces(DescriptorType type, Value elements) const {
  return facts.get(elements).divisibility.front() * type.getElementBytes() %
             DescriptorType::alignment ==
         0;
}

bool EngineAccesses::beginsInside(ValueRange offsets) const {
  return llvm::all_of(offsets, [&](Value offset) { return facts.get(offset).nonNegative; });
}

bool EngineAccesses::endsWithPiece(tile::MakeDescriptorOp make) const {
  return areWholePieces(make.getType(), make.getExtents().back());
}

bool EngineAccesses::isBlockOfRows(DescriptorType type) {
  constexpr int64_t leastRows = 8;
  // The engine counts 8-bit floats among the integers, which have no NaN.
  if (type.getPadding() == tile::Padding::NaN && type.getElementBytes() == 1)
    return false;
  ArrayRef<int64_t> shape = type.getSqueezedBlockType().getShape();
  return shape.size() == 2 && type.getShape().back() > 1 &&
         llvm::all_of(shape, llvm::isPowerOf2_64) && shape[0] >= leastRows &&
         shape[1] * type.getElementBytes() >= DescriptorType::alignment;
}

bool EngineAccesses::isMultiplied(Value block, DescriptorType type, unsigned axisOfRows) {
  bool transposes = type.getElementBytes() == 2;
  return !block.use_empty() && llvm::all_of(block.getUses(), [&](OpOperand &use) {
    if (auto trans = dyn_cast<tile::TransOp>(use.getOwner()))
      return isMultiplied(trans, type, trans.getOrder()[axisOfRows]);
    unsigned axisOfK = use.getOperandNumber() == 0 ? 1 : 0;
    return isa<tile::DotOp>(use.getOwner()) && use.getOperandNumber() < 2 &&
           (transposes || axisOfRows == axisOfK);
  });
}

} // namespace kiln
