// Costs of a nest's axes: see the header.

#include "compiler/Conversion/TileToCPU/NestChoice.h"
#include "compiler/Conversion/TileToCPU/Fusion.h"
#include "compiler/Conversion/TileToCPU/MathFunctions.h"

using namespace mlir;

namespace kiln::cpu {

/// Bits of an element as it is computed with; of addresses, which do not count, 0.
static unsigned computedBits(Type element) {
  if (!element.isIntOrFloat())
    return 0;
  bool isWider = element.isInteger(64) || element.isF16() || element.isBF16();
  return isWider ? 32 : element.getIntOrFloatBitWidth();
}

unsigned NestChoice::nativeLanes(ArrayRef<Value> roots) {
  unsigned bits = 8;
  auto isInBuffer = [&](Value value) { return buffers.contains(value); };
  for (Value root : roots)
    visitFused(root, isInBuffer, [&](Value value, bool) {
      bits = std::max(bits, computedBits(tile::elementTypeOf(value.getType())));
      return !value.getDefiningOp<tile::LoadOp>();
    });
  return options.vectorBits / bits;
}

/// Instructions per vector for the memory accesses that a value needs when `axis` runs in vectors.
double NestChoice::cost(Value root, unsigned axis, unsigned lanes, Visited &seen) {
  auto type = dyn_cast<RankedTensorType>(root.getType());
  if (!type || !seen.insert({root, axis}).second || type.getDimSize(axis) == 1)
    return 0;
  if (const Buffer *buffer = buffers.lookup(root))
    return buffer->strides[axis] == 1 ? 1 : lanes;
  Operation *op = root.getDefiningOp();
  if (!op)
    return 0;
  if (auto load = dyn_cast<tile::LoadOp>(op)) {
    double access = facts.cost(load.getPtr(), axis, lanes);
    return access + (load.getMask() ? cost(load.getMask(), axis, lanes, seen) : 0);
  }
  if (auto expand = dyn_cast<tile::ExpandDimsOp>(op))
    return cost(expand.getSource(), axis - (axis > expand.getAxis()), lanes, seen);
  if (auto trans = dyn_cast<tile::TransOp>(op))
    return cost(trans.getSource(), trans.getOrder()[axis], lanes, seen);
  if (auto reshape = dyn_cast<tile::ReshapeOp>(op)) {
    unsigned last = tile::shapeOf(reshape.getSource().getType()).size() - 1;
    return cost(reshape.getSource(), last, lanes, seen) * (axis + 1 == type.getRank() ? 1 : lanes);
  }
  if (auto gather = dyn_cast<tile::GatherOp>(op))
    return cost(gather.getIndices(), axis, lanes, seen) + lanes;
  double sum = isMathFunction(op) ? 10 : isa<tile::MapOp>(op) ? lanes : 0;
  for (Value operand : op->getOperands())
    sum += cost(operand, axis, lanes, seen);
  return sum;
}

Nest NestChoice::choose(ArrayRef<int64_t> shape, ArrayRef<Value> roots, ArrayRef<Value> pointers,
                        unsigned unroll) {
  unsigned native = std::max(2u, nativeLanes(roots) * unroll);
  Nest best;
  best.shape.assign(shape.begin(), shape.end());
  best.vectorAxis = shape.empty() ? 0 : unsigned(shape.size() - 1);
  double least = -1;
  for (int axis = int(shape.size()) - 1; axis >= 0; --axis) {
    auto lanes = unsigned(std::min<uint64_t>(native, llvm::bit_floor(uint64_t(shape[axis]))));
    Visited seen;
    double all = 1;
    for (Value root : roots)
      all += cost(root, axis, lanes, seen);
    for (Value pointer : pointers)
      all += facts.cost(pointer, axis, lanes);
    int64_t vectors = 0;
    for (const Stretch &stretch : stretchesOf(shape[axis], lanes))
      vectors += stretch.vectors();
    all *= double(vectors) / double(shape[axis]);
    if (least < 0 || all < least * 0.99) {
      least = all;
      best.vectorAxis = unsigned(axis);
      best.lanes = lanes;
    }
  }
  return best;
}

} // namespace kiln::cpu
