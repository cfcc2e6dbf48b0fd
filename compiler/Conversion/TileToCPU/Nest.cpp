// Loop nests: their vector axis and width, their loops, and nests that fill an array.

#include "compiler/Analysis/AxisInfo.h"
#include "compiler/Conversion/TileToCPU/CountedLoops.h"
#include "compiler/Conversion/TileToCPU/Emitter.h"
#include "compiler/Conversion/TileToCPU/MathFunctions.h"

using namespace mlir;

namespace kiln::cpu {

Value KernelEmitter::index(int64_t value) {
  Value &constant = indexConstants[value];
  if (!constant) {
    OpBuilder builder = OpBuilder::atBlockBegin(entry);
    constant = arith::ConstantIntOp::create(builder, loc, value, 64);
  }
  return constant;
}

//--- The choice of a vector axis and width ---

/// Bits of the widest element that the nest computes with; addresses do not count.
unsigned KernelEmitter::widestElement(ArrayRef<Value> roots) {
  unsigned bits = 8;
  auto visit = [&](Value value, bool) {
    Type element = tile::elementTypeOf(value.getType());
    if (element.isIntOrFloat())
      bits =
          std::max(bits, element.isInteger(64)                 ? 32u
                         : element.isF16() || element.isBF16() ? 32u
                                                               : element.getIntOrFloatBitWidth());
    auto load = value.getDefiningOp<tile::LoadOp>();
    return !load && !buffers.contains(value);
  };
  for (Value root : roots)
    visitPulled(root, true, visit);
  return bits;
}

/// Instructions for one access of `lanes` neighbours along `axis`.
double KernelEmitter::pointerCost(Value pointers, unsigned axis, unsigned lanes) {
  double scattered = 1.5 * lanes;
  std::optional<int64_t> stride = facts.stride(pointers, axis);
  AxisInfo info = axes->get(pointers);
  if ((stride && (*stride == 0 || *stride == 1)) || info.contiguity[axis] >= int64_t(lanes))
    return 1;
  Progress progress = facts.progress(pointers, axis);
  if (stride || (progress != Progress::Affine && progress != Progress::Wrapped))
    return scattered;
  // A stride that only the caller knows is 1 along one axis at most: the one where it must be, or
  // else the last.
  ArrayRef<int64_t> shape = tile::shapeOf(pointers.getType());
  unsigned likely = 0;
  for (unsigned other = 0; other != shape.size(); ++other) {
    if (shape[other] == 1)
      continue;
    if (facts.stride(pointers, other) == 1 || info.contiguity[other] > 1)
      return scattered;
    likely = other;
  }
  return axis == likely ? 3 : scattered;
}

/// Instructions per vector for the memory accesses that a value needs when `axis` runs in vectors.
double KernelEmitter::accessCost(Value root, unsigned axis, unsigned lanes,
                                 DenseSet<std::pair<Value, unsigned>> &seen) {
  auto type = dyn_cast<RankedTensorType>(root.getType());
  if (!type || !seen.insert({root, axis}).second || type.getDimSize(axis) == 1)
    return 0;
  auto found = buffers.find(root);
  if (found != buffers.end())
    return found->second->strides[axis] == 1 ? 1 : lanes;
  Operation *op = root.getDefiningOp();
  if (!op)
    return 0;
  if (auto load = dyn_cast<tile::LoadOp>(op)) {
    double cost = pointerCost(load.getPtr(), axis, lanes);
    return cost + (load.getMask() ? accessCost(load.getMask(), axis, lanes, seen) : 0);
  }
  if (auto expand = dyn_cast<tile::ExpandDimsOp>(op))
    return accessCost(expand.getSource(), axis - (axis > expand.getAxis()), lanes, seen);
  if (auto trans = dyn_cast<tile::TransOp>(op))
    return accessCost(trans.getSource(), trans.getOrder()[axis], lanes, seen);
  if (auto reshape = dyn_cast<tile::ReshapeOp>(op)) {
    unsigned last = tile::shapeOf(reshape.getSource().getType()).size() - 1;
    return accessCost(reshape.getSource(), last, lanes, seen) *
           (axis + 1 == type.getRank() ? 1 : lanes);
  }
  if (auto gather = dyn_cast<tile::GatherOp>(op))
    return accessCost(gather.getIndices(), axis, lanes, seen) + lanes;
  double cost = isMathFunction(op) ? 10 : isa<tile::MapOp>(op) ? lanes : 0;
  for (Value operand : op->getOperands())
    cost += accessCost(operand, axis, lanes, seen);
  return cost;
}

SmallVector<Stretch, 4> stretchesOf(int64_t extent, unsigned lanes) {
  SmallVector<Stretch, 4> stretches;
  for (int64_t from = 0; from != extent; lanes = std::max(1u, lanes / 4))
    if (int64_t to = extent - (extent - from) % lanes; to != from) {
      stretches.push_back({from, to, lanes});
      from = to;
    }
  return stretches;
}

NestShape KernelEmitter::chooseNest(ArrayRef<int64_t> shape, ArrayRef<Value> roots,
                                    ArrayRef<Value> pointers, unsigned unroll) {
  unsigned native = std::max(2u, options.vectorBits / widestElement(roots) * unroll);
  NestShape best{shape, shape.empty() ? 0 : unsigned(shape.size() - 1), 1};
  double least = -1;
  for (int axis = int(shape.size()) - 1; axis >= 0; --axis) {
    auto lanes = unsigned(std::min<uint64_t>(native, llvm::bit_floor(uint64_t(shape[axis]))));
    DenseSet<std::pair<Value, unsigned>> seen;
    double cost = 1;
    for (Value root : roots)
      cost += accessCost(root, axis, lanes, seen);
    for (Value pointer : pointers)
      cost += pointerCost(pointer, axis, lanes);
    int64_t vectors = 0;
    for (const Stretch &stretch : stretchesOf(shape[axis], lanes))
      vectors += stretch.vectors();
    cost *= double(vectors) / double(shape[axis]);
    if (least < 0 || cost < least * 0.99) {
      least = cost;
      best = {shape, unsigned(axis), lanes};
    }
  }
  return best;
}

//--- Loops ---

void KernelEmitter::beginNest() {
  levels.clear();
  cache.clear();
  Block *block = b->getInsertionBlock();
  Operation *before = b->getInsertionPoint() == block->end() ? nullptr : &*b->getInsertionPoint();
  levels.push_back({block, before, levelSerial++, false});
}

void KernelEmitter::endNest() {
  closeLoops(0);
  cache.clear();
}

void KernelEmitter::setLevel(unsigned level) {
  Level &at = levels[level];
  if (at.before)
    b->setInsertionPoint(at.before);
  else
    b->setInsertionPointToEnd(at.block);
}

scf::ForOp KernelEmitter::openLoop(int64_t from, int64_t to, int64_t step, ValueRange carried) {
  setLevel(level());
  Value low = index(from), high = index(to), by = index(step);
  auto loop = scf::ForOp::create(*b, loc, low, high, by, carried);
  Block *body = loop.getBody();
  levels.back().before = loop;
  levels.push_back({body, body->empty() ? nullptr : &body->back(), levelSerial++, true});
  setLevel(level());
  return loop;
}

Coord KernelEmitter::openLoop(int64_t extent, int64_t step) {
  if (extent == step)
    return {step > 1 ? Coord::Step : Coord::Uniform, index(0), {}, 0};
  scf::ForOp loop = openLoop(0, extent, step, {});
  return {step > 1 ? Coord::Step : Coord::Uniform, loop.getInductionVar(), {}, level()};
}

/// Ends the innermost loop, which carries these values to its next iteration.
void KernelEmitter::closeLoop(ValueRange results) {
  setLevel(level());
  if (!results.empty())
    scf::YieldOp::create(*b, loc, results);
  closeLoops(level() - 1);
}

/// Keeps LLVM from unrolling loops that are not small and innermost: it would copy gathers and
/// exponentials for nothing, and compile for seconds.
static void limitUnrolling(Operation *loop) {
  constexpr unsigned smallBody = 120;
  unsigned operations = 0;
  bool isInnermost = true;
  loop->walk([&](Operation *op) {
    isInnermost &= op == loop || !isa<scf::ForOp>(op);
    operations += !isa<arith::ConstantOp>(op);
  });
  if (!isInnermost || operations > smallBody)
    forbidUnrolling(loop);
}

void KernelEmitter::closeLoops(unsigned target) {
  while (level() > target) {
    Operation *loop = levels.back().block->getParentOp();
    limitUnrolling(loop);
    levels.pop_back();
    Operation *next = loop->getNextNode();
    levels.back().before = next;
  }
  setLevel(target);
}

Coord KernelEmitter::openStretch(const Stretch &stretch) {
  nestLanes = stretch.lanes;
  Coord::Kind kind = stretch.lanes > 1 ? Coord::Step : Coord::Uniform;
  if (stretch.vectors() == 1)
    return {kind, index(stretch.from), {}, 0};
  scf::ForOp loop = openLoop(stretch.from, stretch.to, stretch.lanes, {});
  return {kind, loop.getInductionVar(), {}, level()};
}

Coords KernelEmitter::openNest(ArrayRef<int64_t> shape) {
  nestLanes = 1;
  return llvm::map_to_vector<4>(shape, [&](int64_t extent) { return openLoop(extent, 1); });
}

void KernelEmitter::walkNest(const NestShape &nest, function_ref<void(const Coords &)> body) {
  beginNest();
  nestLanes = 1;
  Coords coords(nest.shape.size());
  for (unsigned axis = 0; axis != nest.shape.size(); ++axis)
    if (axis != nest.vectorAxis)
      coords[axis] = openLoop(nest.shape[axis], 1);
  unsigned outer = level();
  for (const Stretch &stretch : stretchesOf(nest.shape[nest.vectorAxis], nest.lanes)) {
    coords[nest.vectorAxis] = openStretch(stretch);
    body(coords);
    closeLoops(outer);
  }
  endNest();
}

//--- Arrays ---

void KernelEmitter::fillInto(Buffer *buffer, Value value) {
  prepare(value);
  // The array's own order decides between equals; a pull is never worse off for it.
  walkNest(chooseNest(buffer->shape, value, {}), [&](const Coords &coords) {
    Value elements = pull(value, coords);
    setLevel(level());
    storeBuffer(buffer, coords, elements);
  });
  finishFills();
}

/// Computes a materialised value into a new array.
Buffer *KernelEmitter::fill(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  pending.remove(value);
  loc = value.getLoc();
  NestShape nest = chooseNest(type.getShape(), value, {});
  Buffer *buffer =
      arena.create(loc, lowered(type.getElementType()), type.getShape(), nest.vectorAxis);
  fillInto(buffer, value);
  buffers[value] = buffer;
  return buffer;
}

} // namespace kiln::cpu
