// Loop nests: their loops, and nests that fill a buffer.

#include "compiler/Conversion/FlattenControlFlow/LoopAnnotation.h"
#include "compiler/Conversion/TileToCPU/Emitter.h"

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

void KernelEmitter::beginNest(const Nest &planned) {
  nest = &planned;
  for (auto [value, buffer] : nest->stored)
    storing[value] = buffer;
  levels.clear();
  cache.clear();
  Block *block = b->getInsertionBlock();
  Operation *before = b->getInsertionPoint() == block->end() ? nullptr : &*b->getInsertionPoint();
  levels.push_back({block, before, levelSerial++, false});
}

void KernelEmitter::endNest() {
  closeLoops(0);
  cache.clear();
  for (auto [value, buffer] : nest->stored) {
    assert(arena.holds(buffer) && "a nest has not stored what it should");
    buffers[value] = buffer;
  }
  storing.clear();
  nest = nullptr;
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

Coords KernelEmitter::openNest(const Nest &planned) {
  beginNest(planned);
  nestLanes = 1;
  return llvm::map_to_vector<4>(planned.shape, [&](int64_t extent) { return openLoop(extent, 1); });
}

void KernelEmitter::walkNest(const Nest &planned, function_ref<void(const Coords &)> body) {
  beginNest(planned);
  nestLanes = 1;
  Coords coords(planned.shape.size());
  for (unsigned axis = 0; axis != planned.shape.size(); ++axis)
    if (axis != planned.vectorAxis)
      coords[axis] = openLoop(planned.shape[axis], 1);
  unsigned outer = level();
  for (const Stretch &stretch : stretchesOf(planned.shape[planned.vectorAxis], planned.lanes)) {
    coords[planned.vectorAxis] = openStretch(stretch);
    body(coords);
    closeLoops(outer);
  }
  endNest();
}

//--- Nests that fill a buffer ---

void KernelEmitter::emitFills(const std::vector<Fill> &fills) {
  for (const Fill &fill : fills)
    emitFill(fill);
}

void KernelEmitter::emitFill(const Fill &fill) {
  loc = fill.loc;
  allocate(fill.buffer);
  emitFills(fill.before);
  loc = fill.loc;
  const Buffer *own = buffers.lookup(fill.value);
  if (fill.source)
    buffers[fill.value] = fill.source;
  switch (fill.form) {
  case Fill::Elements:
    walkNest(fill.nest, [&](const Coords &coords) {
      Value computed = elements(fill.value, coords);
      setLevel(level());
      storeBuffer(fill.buffer, coords, computed);
    });
    break;
  case Fill::Panels:
    fillPanels(fill);
    break;
  case Fill::TransposedPanels:
    fillTransposedPanels(fill);
    break;
  }
  if (fill.isMaterialised)
    buffers[fill.value] = fill.buffer;
  else if (fill.source)
    buffers[fill.value] = own;
}

} // namespace kiln::cpu
