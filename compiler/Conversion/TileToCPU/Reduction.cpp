// Reductions and scans, with any combiner.
//
// A reduction keeps its partial results in a vector. Along an axis that is not the vectors' own,
// lanes are separate results. Along the vectors' axis, a commutative combiner folds whole vectors
// and then the lanes of the last one; any other folds neighbouring lanes of each vector first, so
// that elements meet in increasing order. The order depends on shapes and vector width only:
// results are reproducible.

#include "compiler/Conversion/TileToCPU/Emitter.h"
#include "compiler/Conversion/TileToCPU/MathFunctions.h"
#include "compiler/Dialect/Tile/Combiners.h"

using namespace mlir;

namespace kiln::cpu {

static bool isCommutative(Operation *combiner) { return bool(tile::neutralElement(combiner)); }

/// The combiner's neutral element in `lanes` lanes, for combiners that have one.
SmallVector<Value> KernelEmitter::identity(tile::ReduceOp op, unsigned lanes) {
  TypedAttr neutral = tile::neutralElement(op.getSingleCombiner());
  if (!neutral)
    return {};
  Value constant = arith::ConstantOp::create(*b, loc, neutral);
  return {vectors().splat(constant, lanes)};
}

/// One element per value from the lanes of each. `ordered`: neighbours first.
SmallVector<Value> KernelEmitter::foldLanes(Region &combiner, SmallVector<Value> values,
                                            bool ordered) {
  VectorBuilder v = vectors();
  for (unsigned lanes = laneCount(values[0]); lanes > 1; lanes /= 2) {
    SmallVector<int32_t> left, right;
    for (unsigned lane = 0; lane != lanes / 2; ++lane) {
      left.push_back(ordered ? 2 * lane : lane);
      right.push_back(ordered ? 2 * lane + 1 : lane + lanes / 2);
    }
    SmallVector<Value> arguments;
    for (Value value : values)
      arguments.push_back(v.shuffle(value, value, left));
    for (Value value : values)
      arguments.push_back(v.shuffle(value, value, right));
    values = emitCombiner(combiner, arguments);
  }
  return values;
}

/// Combines the elements along the axis, in steps of `lanes`, the other coordinates being given.
/// The result has as many lanes as a vector if these are along another axis, and one otherwise.
SmallVector<Value> KernelEmitter::accumulate(tile::ReduceOp op, Coords coords, unsigned lanes) {
  unsigned axis = op.getAxis(), outer = level();
  int64_t extent = tile::shapeOf(op.getSources()[0].getType())[axis];
  bool alongLanes = lanes > 1;
  bool ordered = alongLanes && !isCommutative(op.getSingleCombiner());
  Coord::Kind kind = alongLanes ? Coord::Step : Coord::Uniform;
  auto elements = [&](Coord at) {
    coords[axis] = at;
    SmallVector<Value> values;
    for (Value source : op.getSources())
      values.push_back(pullVector(source, coords));
    setLevel(level());
    return ordered ? foldLanes(op.getCombine(), values, true) : values;
  };
  SmallVector<Value> result;
  int64_t step = alongLanes ? lanes : 1;
  if (extent == step) {
    result = elements({kind, index(0), {}, 0});
  } else {
    setLevel(outer);
    coords[axis] = {kind, index(0), {}, 0};
    SmallVector<Value> start = identity(op, ordered ? 1 : lanesOf(coords));
    bool peeled = start.empty();
    if (peeled)
      start = elements({kind, index(0), {}, 0});
    scf::ForOp loop = openLoop(peeled ? step : 0, extent, step, start);
    SmallVector<Value> arguments(loop.getRegionIterArgs());
    llvm::append_range(arguments, elements({kind, loop.getInductionVar(), {}, level()}));
    closeLoop(emitCombiner(op.getCombine(), arguments));
    result.assign(loop.result_begin(), loop.result_end());
  }
  return alongLanes && !ordered ? foldLanes(op.getCombine(), result, false) : result;
}

void KernelEmitter::emitReduce(tile::ReduceOp op) {
  ArrayRef<int64_t> shape = tile::shapeOf(op.getSources()[0].getType());
  unsigned axis = op.getAxis();
  SmallVector<Value> roots(op.getSources());
  prepare(roots);
  // Several vectors at once hide the combiner's latency, unless the elements are long work
  // themselves.
  bool heavy = false;
  for (Value root : roots)
    visitPulled(root, true, [&](Value value, bool) {
      heavy |= value.getDefiningOp() && isMathFunction(value.getDefiningOp()) &&
               !buffers.contains(value);
      return true;
    });
  NestShape nest = chooseNest(shape, roots, {}, heavy ? 2 : 4);
  loc = op.getLoc();
  beginNest();
  nestLanes = nest.lanes;
  Coords coords(shape.size()), kept;
  auto open = [&](unsigned i) {
    coords[i] = openLoop(shape[i], i == nest.vectorAxis ? nest.lanes : 1);
  };
  for (unsigned i = 0; i != shape.size(); ++i)
    if (i != axis && i != nest.vectorAxis)
      open(i);
  if (nest.vectorAxis != axis)
    open(nest.vectorAxis);
  for (unsigned i = 0; i != shape.size(); ++i)
    if (i != axis)
      kept.push_back(coords[i]);
  SmallVector<Value> values = accumulate(op, coords, nest.vectorAxis == axis ? nest.lanes : 1);
  setLevel(level());
  SmallVector<std::pair<Value, Buffer *>> made;
  for (auto [result, value] : llvm::zip(op.getResults(), values)) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    if (!type) {
      setScalar(result, value);
      continue;
    }
    unsigned minor = type.getRank() - 1;
    if (nest.vectorAxis != axis)
      minor = nest.vectorAxis - (nest.vectorAxis > axis);
    Buffer *buffer = arena.create(loc, lowered(type.getElementType()), type.getShape(), minor);
    storeBuffer(buffer, kept, value);
    made.push_back({result, buffer});
  }
  endNest();
  finishFills();
  for (auto [result, buffer] : made)
    buffers[result] = buffer;
}

void KernelEmitter::emitScan(tile::ScanOp op) {
  ArrayRef<int64_t> shape = tile::shapeOf(op.getSources()[0].getType());
  unsigned axis = op.getAxis(), last = shape.size() - 1;
  flushPending();
  loc = op.getLoc();
  SmallVector<Buffer *> results;
  for (Value result : op.getResults())
    results.push_back(arena.create(loc, lowered(tile::elementTypeOf(result.getType())), shape));
  beginNest();
  // Along the innermost axis elements follow one another; along another, the innermost runs in
  // vectors.
  SmallVector<Value> roots(op.getSources());
  nestLanes =
      axis == last ? 1 : vectorLanes(shape[last], options.vectorBits / widestElement(roots));
  Coords coords(shape.size());
  for (unsigned i = 0; i != shape.size(); ++i)
    if (i != axis)
      coords[i] = openLoop(shape[i], i == last ? nestLanes : 1);
  auto elements = [&] {
    SmallVector<Value> values;
    for (Value source : op.getSources())
      values.push_back(pullVector(source, coords));
    setLevel(level());
    return values;
  };
  auto store = [&](ArrayRef<Value> values) {
    for (auto [buffer, value] : llvm::zip(results, values))
      storeBuffer(buffer, coords, value);
  };
  int64_t extent = shape[axis];
  coords[axis] = {Coord::Uniform, index(op.getReverse() ? extent - 1 : 0), {}, 0};
  SmallVector<Value> carried = elements();
  store(carried);
  if (extent > 1) {
    scf::ForOp loop = openLoop(1, extent, 1, carried);
    Value at = loop.getInductionVar();
    if (op.getReverse())
      at = vectors().sub(index(extent - 1), at);
    coords[axis] = {Coord::Uniform, at, {}, level()};
    SmallVector<Value> arguments(loop.getRegionIterArgs());
    llvm::append_range(arguments, elements());
    carried = emitCombiner(op.getCombine(), arguments);
    store(carried);
    closeLoop(carried);
  }
  endNest();
  for (auto [result, buffer] : llvm::zip(op.getResults(), results))
    buffers[result] = buffer;
}

} // namespace kiln::cpu
