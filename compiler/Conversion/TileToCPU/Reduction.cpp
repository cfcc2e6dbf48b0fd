// Reductions and scans, with any combiner, and histograms.
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

/// Combines the elements of a stretch of the axis, the other coordinates being given. With lanes
/// along the axis there is one result, else one for each lane of the nest.
SmallVector<Value> KernelEmitter::accumulate(tile::ReduceOp op, Coords coords,
                                             const Stretch &stretch) {
  unsigned outer = level(), axis = op.getAxis();
  bool alongLanes = stretch.lanes > 1;
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
  if (stretch.vectors() == 1) {
    result = elements({kind, index(stretch.from), {}, 0});
  } else {
    setLevel(outer);
    coords[axis] = {kind, index(stretch.from), {}, 0};
    SmallVector<Value> start = identity(op, ordered ? 1 : lanesOf(coords));
    bool peeled = start.empty();
    if (peeled)
      start = elements({kind, index(stretch.from), {}, 0});
    int64_t next = stretch.from + (peeled ? stretch.lanes : 0);
    scf::ForOp loop = openLoop(next, stretch.to, stretch.lanes, start);
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
  bool alongLanes = nest.vectorAxis == axis;
  SmallVector<Buffer *> made;
  auto finish = [&](Coords coords, ArrayRef<Value> values) {
    setLevel(level());
    coords.erase(coords.begin() + axis);
    for (auto [number, value] : llvm::enumerate(values)) {
      Value result = op.getResult(number);
      auto type = dyn_cast<RankedTensorType>(result.getType());
      if (!type) {
        setScalar(result, value);
        continue;
      }
      unsigned minor = alongLanes ? type.getRank() - 1 : nest.vectorAxis - (nest.vectorAxis > axis);
      if (made.size() == number)
        made.push_back(arena.create(loc, lowered(type.getElementType()), type.getShape(), minor));
      storeBuffer(made[number], coords, value);
    }
  };
  beginNest();
  nestLanes = nest.lanes;
  Coords coords(shape.size());
  for (unsigned i = 0; i != shape.size(); ++i)
    if (i != axis && i != nest.vectorAxis)
      coords[i] = openLoop(shape[i], 1);
  unsigned outer = level();
  SmallVector<Value> total;
  for (const Stretch &stretch : stretchesOf(shape[nest.vectorAxis], nest.lanes)) {
    if (!alongLanes) {
      coords[nest.vectorAxis] = openStretch(stretch);
      finish(coords, accumulate(op, coords, {0, shape[axis], 1}));
      closeLoops(outer);
      continue;
    }
    nestLanes = stretch.lanes;
    SmallVector<Value> part = accumulate(op, coords, stretch);
    setLevel(level());
    llvm::append_range(total, part);
    if (total.size() > part.size())
      total = emitCombiner(op.getCombine(), total);
  }
  if (alongLanes)
    finish(coords, total);
  endNest();
  finishFills();
  for (auto [result, buffer] : llvm::zip(op.getResults(), made))
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
  nestLanes = 1;
  Coords coords(shape.size());
  for (unsigned i = 0; i != last; ++i)
    if (i != axis)
      coords[i] = openLoop(shape[i], 1);
  // Along the innermost axis elements follow one another; along another, the innermost runs in
  // vectors.
  if (axis == last) {
    scanAlong(op, coords, results);
  } else {
    SmallVector<Value> roots(op.getSources());
    auto lanes = unsigned(std::min<uint64_t>(options.vectorBits / widestElement(roots),
                                             llvm::bit_floor(uint64_t(shape[last]))));
    unsigned outer = level();
    for (const Stretch &stretch : stretchesOf(shape[last], lanes)) {
      coords[last] = openStretch(stretch);
      scanAlong(op, coords, results);
      closeLoops(outer);
    }
  }
  endNest();
  for (auto [result, buffer] : llvm::zip(op.getResults(), results))
    buffers[result] = buffer;
}

/// Scans along the axis, the other coordinates being given.
void KernelEmitter::scanAlong(tile::ScanOp op, Coords coords, ArrayRef<Buffer *> results) {
  unsigned axis = op.getAxis();
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
  int64_t extent = tile::shapeOf(op.getSources()[0].getType())[axis];
  coords[axis] = {Coord::Uniform, index(op.getReverse() ? extent - 1 : 0), {}, 0};
  SmallVector<Value> carried = elements();
  store(carried);
  if (extent == 1)
    return;
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

/// Counters in an array, to which elements add one after the other.
void KernelEmitter::emitHistogram(tile::HistogramOp op) {
  flushPending();
  loc = op.getLoc();
  int64_t bins = op.getType().getDimSize(0);
  Buffer *counters = arena.create(loc, b->getI32Type(), bins);
  LLVM::MemsetOp::create(*b, loc, counters->address, vectors().constant(0, b->getI8Type()),
                         index(counters->bytes), /*isVolatile=*/false);
  beginNest();
  Coords coords = openNest(op.getSource().getType().getShape());
  Value number = pull(op.getSource(), coords);
  Value mask = op.getMask() ? pull(op.getMask(), coords) : Value();
  setLevel(level());
  VectorBuilder v = vectors();
  Value isCounted = v.compare(arith::CmpIPredicate::ult, number, v.integer(bins, number));
  if (mask)
    isCounted = arith::AndIOp::create(*b, loc, isCounted, mask);
  auto branch = scf::IfOp::create(*b, loc, isCounted, /*withElseRegion=*/false);
  {
    OpBuilder::InsertionGuard guard(*b);
    b->setInsertionPointToStart(branch.thenBlock());
    Value place = arith::ExtUIOp::create(*b, loc, b->getI64Type(), number);
    Value counter = bufferAddress(counters, Coord{Coord::Uniform, place, {}, 0});
    Value count = LLVM::LoadOp::create(*b, loc, number.getType(), counter);
    LLVM::StoreOp::create(*b, loc, v.add(count, v.integer(1, count)), counter);
  }
  endNest();
  buffers[op.getResult()] = counters;
}

} // namespace kiln::cpu
