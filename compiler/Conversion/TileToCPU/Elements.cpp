// Computing the elements of a tensor at an index vector: the producers that are fused into a nest.
//
// An index vector has one coordinate per axis (struct Coord). Changes of shape only rearrange
// coordinates, so that they cost nothing; what does not depend on the lanes is computed once, as a
// scalar; what does not depend on the inner loops is computed outside of them.

#include "compiler/Conversion/TileToCPU/Emitter.h"
#include "compiler/Conversion/TileToCPU/Fusion.h"
#include "compiler/Dialect/Tile/ByteFloats.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace kiln::cpu {

unsigned KernelEmitter::lanesOf(ArrayRef<Coord> coords) const {
  bool scalar = llvm::all_of(coords, [](const Coord &c) { return c.kind == Coord::Uniform; });
  return scalar ? 1 : nestLanes;
}

unsigned KernelEmitter::levelOf(ArrayRef<Coord> coords) const {
  unsigned level = 0;
  for (const Coord &coord : coords)
    level = std::max(level, coord.level);
  return level;
}

Coords KernelEmitter::firstLane(ArrayRef<Coord> coords) const {
  Coords first(coords.begin(), coords.end());
  for (Coord &coord : first) {
    assert(coord.kind != Coord::Lanes && "no first lane to speak of");
    coord.firstOfStep |= coord.kind == Coord::Step;
    coord.kind = Coord::Uniform;
  }
  return first;
}

/// The first lane of a value that this nest stores. All lanes are computed: nothing else may ask
/// for the others, and the buffer must be whole.
Value KernelEmitter::firstElementWhileStoring(Value value, ArrayRef<Coord> coords) {
  Coords all(coords.begin(), coords.end());
  for (Coord &coord : all)
    if (coord.firstOfStep) {
      coord.kind = Coord::Step;
      coord.firstOfStep = false;
    }
  Value lanes = elements(value, all);
  setLevel(levelOf(coords));
  return laneCount(lanes) > 1 ? vectors().extract(lanes, 0u) : lanes;
}

/// The coordinate in every lane, as a vector of i64.
Value KernelEmitter::coordVector(const Coord &coord, unsigned lanes) {
  VectorBuilder v = vectors();
  if (coord.kind == Coord::Lanes)
    return coord.lanes;
  Value base = v.splat(coord.base, lanes);
  return coord.kind == Coord::Step ? v.add(base, v.iota(b->getI64Type(), lanes)) : base;
}

Value KernelEmitter::elements(Value value, ArrayRef<Coord> coords) {
  if (!isa<RankedTensorType>(value.getType()))
    return scalar(value);
  std::vector<const void *> key{value.getAsOpaquePointer()};
  for (const Coord &coord : coords) {
    key.push_back(coord.kind == Coord::Lanes ? coord.lanes.getAsOpaquePointer()
                                             : coord.base.getAsOpaquePointer());
    key.push_back(reinterpret_cast<const void *>(uintptr_t(coord.kind)));
  }
  auto found = cache.find(key);
  if (found != cache.end()) {
    const CacheEntry &entry = found->second;
    if (entry.level < levels.size() && levels[entry.level].serial == entry.serial)
      return entry.value;
  }
  unsigned at = levelOf(coords);
  Location outer = loc;
  Value result;
  const Buffer *target = storing.lookup(value);
  bool isPart =
      target && llvm::any_of(coords, [](const Coord &coord) { return coord.firstOfStep; });
  if (isPart) {
    result = firstElementWhileStoring(value, coords);
  } else if (const Buffer *source = buffers.lookup(value)) {
    setLevel(at);
    result = loadBuffer(source, coords);
  } else {
    loc = value.getLoc();
    result = compute(value, coords);
  }
  if (target && !isPart) {
    allocate(target);
    setLevel(at);
    storeBuffer(target, coords, result);
  }
  loc = outer;
  cache[key] = {result, at, levels[at].serial};
  return result;
}

/// The same with one element per lane, even where all are equal.
Value KernelEmitter::elementVector(Value value, ArrayRef<Coord> coords) {
  Value result = elements(value, coords);
  setLevel(levelOf(coords));
  return vectors().splat(result, lanesOf(coords));
}

Value KernelEmitter::emitConstant(TypedAttr value) {
  auto real = dyn_cast<FloatAttr>(value);
  if (real && tile::isByteFloat(real.getType()))
    value = b->getIntegerAttr(b->getI8Type(), real.getValue().bitcastToAPInt());
  return arith::ConstantOp::create(*b, loc, value);
}

Value KernelEmitter::compute(Value value, ArrayRef<Coord> coords) {
  Operation *op = value.getDefiningOp();
  assert(op && isProducer(op) && "a tensor that is neither computed in nests nor in a buffer");
  assert(nest->fused.contains(value) && "the plan does not fuse this into the nest");
  unsigned at = levelOf(coords);
  VectorBuilder v = vectors();
  if (auto load = dyn_cast<tile::LoadOp>(op))
    return loadAt(load, coords);
  if (auto range = dyn_cast<tile::ArangeOp>(op)) {
    setLevel(at);
    unsigned lanes = lanesOf(coords);
    Type i32 = b->getI32Type();
    Value start = v.constant(range.getStart(), i32);
    if (coords[0].kind == Coord::Lanes)
      return v.add(v.resize(coords[0].lanes, i32), start);
    Value first = v.add(v.resize(coords[0].base, i32), start);
    return lanes == 1 ? first : v.add(v.splat(first, lanes), v.iota(i32, lanes));
  }
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    setLevel(at);
    return emitConstant(cast<SplatElementsAttr>(constant.getValue()).getSplatValue<TypedAttr>());
  }
  if (isa<ub::PoisonOp>(op)) {
    setLevel(at);
    return LLVM::PoisonOp::create(*b, loc, lowered(tile::elementTypeOf(value.getType())));
  }
  if (auto splat = dyn_cast<tile::SplatOp>(op))
    return scalar(splat.getSource());
  if (auto broadcast = dyn_cast<tile::BroadcastOp>(op)) {
    Coords source(coords.begin(), coords.end());
    for (auto [axis, extent] : llvm::enumerate(tile::shapeOf(broadcast.getSource().getType())))
      if (extent == 1)
        source[axis] = {Coord::Uniform, index(0), {}, 0};
    return elements(broadcast.getSource(), source);
  }
  if (auto expand = dyn_cast<tile::ExpandDimsOp>(op)) {
    Coords source(coords.begin(), coords.end());
    source.erase(source.begin() + expand.getAxis());
    return elements(expand.getSource(), source);
  }
  if (auto trans = dyn_cast<tile::TransOp>(op)) {
    Coords source(coords.size());
    for (auto [axis, from] : llvm::enumerate(trans.getOrder()))
      source[from] = coords[axis];
    return elements(trans.getSource(), source);
  }
  if (auto reshape = dyn_cast<tile::ReshapeOp>(op)) {
    setLevel(at);
    return elements(reshape.getSource(),
                    reshapeCoords(tile::shapeOf(reshape.getType()),
                                  tile::shapeOf(reshape.getSource().getType()), coords, at));
  }
  if (auto gather = dyn_cast<tile::GatherOp>(op))
    return elements(gather.getSource(), gatherCoords(gather, coords));
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(elements(operand, coords));
  setLevel(at);
  return emitElementwise(op, operands)[cast<OpResult>(value).getResultNumber()];
}

/// Where in its source a gather finds the elements at `coords`. Indices outside of the source lead
/// to its last element, so that nothing is read beyond buffers.
Coords KernelEmitter::gatherCoords(tile::GatherOp gather, ArrayRef<Coord> coords) {
  unsigned axis = gather.getAxis(), at = levelOf(coords);
  Value picked = elements(gather.getIndices(), coords);
  setLevel(at);
  VectorBuilder v = vectors();
  picked = v.resize(picked, b->getI64Type());
  int64_t last = tile::shapeOf(gather.getSource().getType())[axis] - 1;
  picked = arith::MinUIOp::create(*b, loc, picked, v.integer(last, picked));
  Coords source(coords.begin(), coords.end());
  if (!isa<VectorType>(picked.getType())) {
    source[axis] = {Coord::Uniform, picked, {}, at};
    return source;
  }
  // Lanes lead anywhere: the other axis that counted along them does so explicitly.
  for (Coord &coord : source)
    if (coord.kind == Coord::Step)
      coord = {Coord::Lanes, {}, coordVector(coord, nestLanes), at};
  source[axis] = {Coord::Lanes, {}, picked, at};
  return source;
}

/// The number of an element in row-major order.
struct KernelEmitter::ElementNumber {
  Value first;                 ///< of the first lane
  std::optional<int64_t> step; ///< from lane to lane, where that is all they differ by
  bool isAligned = true;       ///< so many lanes begin at a multiple of their count
  Value lanes;                 ///< what is added in each lane, where that is anything else
};

KernelEmitter::ElementNumber KernelEmitter::numberOf(ArrayRef<int64_t> shape,
                                                     ArrayRef<Coord> coords) {
  VectorBuilder v = vectors();
  const unsigned lanes = lanesOf(coords);
  ElementNumber number;
  number.first = index(0);
  int64_t stride = 1;
  for (int axis = int(coords.size()) - 1; axis >= 0; stride *= shape[axis--]) {
    const Coord &coord = coords[axis];
    if (coord.kind == Coord::Lanes) {
      Value part = v.mul(coord.lanes, v.constant(stride, coord.lanes.getType()));
      number.lanes = number.lanes ? v.add(number.lanes, part) : part;
      continue;
    }
    number.first = v.add(number.first, v.mul(coord.base, index(stride)));
    if (coord.kind == Coord::Step) {
      number.step = stride;
      number.isAligned = shape[axis] % lanes == 0 ||
                         llvm::all_of(shape.take_front(axis), [](int64_t n) { return n == 1; });
    }
  }
  return number;
}

/// The coordinates in `shape` of the element of that number.
Coords KernelEmitter::coordsOf(ElementNumber number, unsigned lanes, ArrayRef<int64_t> shape,
                               unsigned level) {
  VectorBuilder v = vectors();
  // One axis takes whole vectors if it has the lanes' step and divides into them.
  int stepAxis = -1;
  int64_t stride = 1;
  for (int axis = int(shape.size()) - 1; axis >= 0; stride *= shape[axis--])
    if (number.step == stride && !number.lanes && number.isAligned && shape[axis] % lanes == 0)
      stepAxis = axis;
  if (number.step && stepAxis < 0) {
    Value part = v.iota(b->getI64Type(), lanes, *number.step);
    number.lanes = number.lanes ? v.add(number.lanes, part) : part;
  }
  if (number.lanes)
    number.lanes = v.add(number.lanes, v.splat(number.first, lanes));
  Coords result(shape.size(), Coord{Coord::Uniform, index(0), {}, 0});
  stride = 1;
  for (int axis = int(shape.size()) - 1; axis >= 0; stride *= shape[axis--]) {
    if (shape[axis] == 1)
      continue;
    auto digit = [&](Value whole) { return v.remainder(v.quotient(whole, stride), shape[axis]); };
    if (number.lanes)
      result[axis] = {Coord::Lanes, {}, digit(number.lanes), level};
    else
      result[axis] = {
          axis == stepAxis ? Coord::Step : Coord::Uniform, digit(number.first), {}, level};
  }
  return result;
}

/// The index in the shape `to` of the element at `coords` of `from`, both in row-major order. Equal
/// axes at either end keep their coordinates; the others go through the element's number.
Coords KernelEmitter::reshapeCoords(ArrayRef<int64_t> from, ArrayRef<int64_t> to,
                                    ArrayRef<Coord> coords, unsigned level) {
  Coords result(to.size(), Coord{Coord::Uniform, index(0), {}, 0});
  unsigned head = 0, tail = 0;
  while (head < std::min(from.size(), to.size()) && from[head] == to[head]) {
    result[head] = coords[head];
    ++head;
  }
  while (tail < std::min(from.size(), to.size()) - head &&
         from[from.size() - 1 - tail] == to[to.size() - 1 - tail]) {
    result[to.size() - 1 - tail] = coords[from.size() - 1 - tail];
    ++tail;
  }
  ArrayRef<Coord> middle = coords.slice(head, from.size() - head - tail);
  ElementNumber number = numberOf(from.slice(head, middle.size()), middle);
  Coords others = coordsOf(number, lanesOf(middle), to.slice(head, to.size() - head - tail), level);
  llvm::copy(others, result.begin() + head);
  return result;
}

} // namespace kiln::cpu
