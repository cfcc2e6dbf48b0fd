// Reductions and scans, with any combiner, and histograms.
//
// A reduction keeps its partial results in a vector. Along an axis that is not the vectors' own,
// lanes are separate results. Along the vectors' axis, a commutative combiner takes whole vectors
// and then the lanes of the last one; any other combines neighbouring lanes of each vector first,
// so that elements meet in increasing order. The order depends on shapes and vector width only:
// results are reproducible.

#include "compiler/Conversion/TileToCPU/Emitter.h"
#include "compiler/Dialect/Tile/Combiners.h"

using namespace mlir;

namespace kiln::cpu {

/// The combiner's neutral element in `lanes` lanes, for combiners that have one.
SmallVector<Value> KernelEmitter::identity(tile::ReduceOp op, unsigned lanes) {
  TypedAttr neutral = tile::neutralElement(op.getSingleCombiner());
  if (!neutral)
    return {};
  Value constant = arith::ConstantOp::create(*b, loc, neutral);
  return {vectors().splat(constant, lanes)};
}

/// One element per value from the lanes of each. `ordered`: neighbours first.
SmallVector<Value> KernelEmitter::combineLanes(Region &combiner, SmallVector<Value> values,
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
  bool ordered = alongLanes && !tile::commutes(op);
  Coord::Kind kind = alongLanes ? Coord::Step : Coord::Uniform;
  auto elementsAt = [&](Coord at) {
    coords[axis] = at;
    SmallVector<Value> values;
    for (Value source : op.getSources())
      values.push_back(elementVector(source, coords));
    setLevel(level());
    return ordered ? combineLanes(op.getCombine(), values, true) : values;
  };
  SmallVector<Value> result;
  if (stretch.vectors() == 1) {
    result = elementsAt({kind, index(stretch.from), {}, 0});
  } else {
    setLevel(outer);
    coords[axis] = {kind, index(stretch.from), {}, 0};
    SmallVector<Value> start = identity(op, ordered ? 1 : lanesOf(coords));
    bool peeled = start.empty();
    if (peeled)
      start = elementsAt({kind, index(stretch.from), {}, 0});
    int64_t next = stretch.from + (peeled ? stretch.lanes : 0);
    scf::ForOp loop = openLoop(next, stretch.to, stretch.lanes, start);
    SmallVector<Value> arguments(loop.getRegionIterArgs());
    llvm::append_range(arguments, elementsAt({kind, loop.getInductionVar(), {}, level()}));
    closeLoop(emitCombiner(op.getCombine(), arguments));
    result.assign(loop.result_begin(), loop.result_end());
  }
  return alongLanes && !ordered ? combineLanes(op.getCombine(), result, false) : result;
}

void KernelEmitter::emitReduce(tile::ReduceOp op) {
  const OperationPlan &planned = plan.of(op);
  const Nest &nest = planned.nest;
  unsigned axis = op.getAxis();
  bool alongLanes = nest.vectorAxis == axis;
  auto finish = [&](Coords coords, ArrayRef<Value> values) {
    setLevel(level());
    coords.erase(coords.begin() + axis);
    for (auto [result, value, buffer] : llvm::zip_equal(op.getResults(), values, planned.results)) {
      if (!buffer) {
        setScalar(result, value);
        continue;
      }
      allocate(buffer);
      storeBuffer(buffer, coords, value);
    }
  };
  beginNest(nest);
  nestLanes = nest.lanes;
  Coords coords(nest.shape.size());
  for (unsigned i = 0; i != nest.shape.size(); ++i)
    if (i != axis && i != nest.vectorAxis)
      coords[i] = openLoop(nest.shape[i], 1);
  unsigned outer = level();
  SmallVector<Value> total;
  for (const Stretch &stretch : stretchesOf(nest.shape[nest.vectorAxis], nest.lanes)) {
    if (!alongLanes) {
      coords[nest.vectorAxis] = openStretch(stretch);
      finish(coords, accumulate(op, coords, {0, nest.shape[axis], 1}));
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
  bind(op.getResults(), planned.results);
}

void KernelEmitter::emitScan(tile::ScanOp op) {
  const OperationPlan &planned = plan.of(op);
  const Nest &nest = planned.nest;
  unsigned axis = op.getAxis(), last = nest.shape.size() - 1;
  for (const Buffer *buffer : planned.results)
    allocate(buffer);
  beginNest(nest);
  nestLanes = 1;
  Coords coords(nest.shape.size());
  for (unsigned i = 0; i != last; ++i)
    if (i != axis)
      coords[i] = openLoop(nest.shape[i], 1);
  unsigned outer = level();
  if (axis == last)
    scanAlong(op, coords, planned.results);
  else
    for (const Stretch &stretch : stretchesOf(nest.shape[last], nest.lanes)) {
      coords[last] = openStretch(stretch);
      scanAlong(op, coords, planned.results);
      closeLoops(outer);
    }
  endNest();
  bind(op.getResults(), planned.results);
}

/// Scans along the axis, the other coordinates being given.
void KernelEmitter::scanAlong(tile::ScanOp op, Coords coords, ArrayRef<const Buffer *> results) {
  unsigned axis = op.getAxis();
  auto current = [&] {
    SmallVector<Value> values;
    for (Value source : op.getSources())
      values.push_back(elementVector(source, coords));
    setLevel(level());
    return values;
  };
  auto store = [&](ArrayRef<Value> values) {
    for (auto [buffer, value] : llvm::zip(results, values))
      storeBuffer(buffer, coords, value);
  };
  int64_t extent = tile::shapeOf(op.getSources()[0].getType())[axis];
  coords[axis] = {Coord::Uniform, index(op.getReverse() ? extent - 1 : 0), {}, 0};
  SmallVector<Value> carried = current();
  store(carried);
  if (extent == 1)
    return;
  scf::ForOp loop = openLoop(1, extent, 1, carried);
  Value at = loop.getInductionVar();
  if (op.getReverse())
    at = vectors().sub(index(extent - 1), at);
  coords[axis] = {Coord::Uniform, at, {}, level()};
  SmallVector<Value> arguments(loop.getRegionIterArgs());
  llvm::append_range(arguments, current());
  carried = emitCombiner(op.getCombine(), arguments);
  store(carried);
  closeLoop(carried);
}

/// Counters in a buffer, to which elements add one after the other.
void KernelEmitter::emitHistogram(tile::HistogramOp op) {
  const OperationPlan &planned = plan.of(op);
  int64_t bins = op.getType().getDimSize(0);
  const Buffer *counters = planned.results[0];
  allocate(counters);
  LLVM::MemsetOp::create(*b, loc, arena.address(counters), vectors().constant(0, b->getI8Type()),
                         index(counters->bytes), /*isVolatile=*/false);
  Coords coords = openNest(planned.nest);
  Value number = elements(op.getSource(), coords);
  Value mask = op.getMask() ? elements(op.getMask(), coords) : Value();
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
  bind(op->getResults(), planned.results);
}

} // namespace kiln::cpu
