// Matrix products: their register tiles, the buffers of their packed operands, and where the sums
// go. Dot.cpp has the micro-kernel.

#include "compiler/Conversion/TileToCPU/Planner.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace kiln::cpu {

/// The lanes of the widest vectors that an axis divides into.
static unsigned vectorLanes(int64_t extent, unsigned most) {
  return unsigned(std::min<int64_t>(most, extent & -extent));
}

static DotTiling tilingOf(tile::DotOp op, const CPUOptions &options, Type sumType) {
  ArrayRef<int64_t> a = tile::shapeOf(op.getA().getType()),
                    c = tile::shapeOf(op.getResult().getType());
  DotTiling t;
  t.isBatched = a.size() == 3;
  t.batch = t.isBatched ? a[0] : 1;
  t.m = c[c.size() - 2];
  t.n = c.back();
  t.k = a.back();
  // Half of the registers hold sums; the rest is for operands.
  unsigned budget = options.vectorRegisters / 2;
  t.lanes = vectorLanes(t.n, options.vectorBits / sumType.getIntOrFloatBitWidth());
  t.vectors = t.n / t.lanes % 2 == 0 ? 2 : 1;
  t.rows = std::min<int64_t>(t.m, budget / t.vectors);
  while (t.m % t.rows != 0)
    --t.rows;
  return t;
}

static Type sumTypeOf(tile::DotOp op) {
  Type element = op.getResult().getType().getElementType();
  return element.isF16() || element.isBF16() ? Float32Type::get(op.getContext()) : element;
}

/// B in panels: [batch, n / width, k, width].
const Buffer *Planner::packPanels(tile::DotOp op, int64_t width, Type sumType,
                                  std::vector<Fill> &fills) {
  Value value = op.getB();
  auto known = packed.find({value.getAsOpaquePointer(), width, sumType.getAsOpaquePointer()});
  if (known != packed.end())
    return known->second;
  ArrayRef<int64_t> shape = cast<RankedTensorType>(value.getType()).getShape();
  unsigned rank = shape.size();
  int64_t batch = rank == 3 ? shape[0] : 1, k = shape[rank - 2], n = shape[rank - 1];
  Fill panels(op.getLoc(), value, newBuffer(sumType, {batch, n / width, k, width}));
  panels.form = Fill::Panels;
  panels.nest = nests.choose(shape, value);
  unsigned native = options().vectorBits / sumType.getIntOrFloatBitWidth();
  if (panels.nest.vectorAxis == rank - 2 && k % native == 0 && width % native == 0) {
    // Neighbours in memory are along k.
    panels.form = Fill::TransposedPanels;
    panels.nest.lanes = native;
  } else if (panels.nest.vectorAxis == rank - 1) {
    panels.nest.lanes = std::min<int64_t>(panels.nest.lanes, width);
  }
  complete(panels.nest, value, {});
  fills.push_back(std::move(panels));
  return fills.back().buffer;
}

/// A, converted, in any order of its axes.
const Buffer *Planner::packRows(tile::DotOp op, Type sumType, std::vector<Fill> &fills) {
  Value value = op.getA();
  const Buffer *own = buffers.lookup(value);
  if (own && own->element == sumType)
    return own;
  auto known = packed.find({value.getAsOpaquePointer(), 0, sumType.getAsOpaquePointer()});
  if (known != packed.end())
    return known->second;
  ArrayRef<int64_t> shape = cast<RankedTensorType>(value.getType()).getShape();
  const Buffer *rows = newBuffer(sumType, shape, nests.choose(shape, value).vectorAxis);
  fills.push_back(fill(op.getLoc(), rows, value));
  return rows;
}

std::vector<Fill> Planner::packInvariants(Operation *loop) {
  std::vector<Fill> fills;
  loop->walk([&](tile::DotOp dot) {
    Type sumType = sumTypeOf(dot);
    auto isOutside = [&](Value value) {
      return !loop->isAncestor(value.getParentBlock()->getParentOp());
    };
    auto key = [&](Value value, int64_t width) {
      return std::tuple(value.getAsOpaquePointer(), width, sumType.getAsOpaquePointer());
    };
    if (isOutside(dot.getA()))
      packed[key(dot.getA(), 0)] = packRows(dot, sumType, fills);
    int64_t width = tilingOf(dot, options(), sumType).width();
    if (isOutside(dot.getB()))
      packed[key(dot.getB(), width)] = packPanels(dot, width, sumType, fills);
  });
  return fills;
}

/// The buffer that the sums go to. It is not `rows`, which is read while sums are written.
const Buffer *Planner::accumulator(tile::DotOp op, const Buffer *rows, OperationPlan &plan) {
  Value c = op.getC();
  auto type = cast<RankedTensorType>(c.getType());
  if (plan.dot->startsFromZero)
    return newBuffer(type.getElementType(), type.getShape());
  if (mayUpdateInPlace(c, op) && buffers.lookup(c) != rows)
    return buffers.lookup(c);
  // c may be computed from a buffer that nobody needs any more, element by element: there.
  const Buffer *target = nullptr;
  DenseSet<const Buffer *> elsewhere{rows};
  visitFused(c, [&](Value value, bool direct) {
    const Buffer *buffer = buffers.lookup(value);
    if (buffer && !(direct && value.getType() == c.getType() && mayUpdateInPlace(value, op)))
      elsewhere.insert(buffer);
    else if (buffer)
      target = buffer;
    return true;
  });
  if (!target || elsewhere.contains(target))
    target = newBuffer(type.getElementType(), type.getShape());
  plan.before.push_back(fill(op.getLoc(), target, c));
  return target;
}

OperationPlan Planner::planDot(tile::DotOp op) {
  OperationPlan plan;
  plan.before = flush();
  Type sumType = sumTypeOf(op);
  DotTiling tiling = tilingOf(op, options(), sumType);
  const Buffer *rows = packRows(op, sumType, plan.before);
  const Buffer *panels = packPanels(op, tiling.width(), sumType, plan.before);
  bool startsFromZero =
      matchPattern(op.getC(), m_AnyZeroFloat()) || matchPattern(op.getC(), m_Zero());
  plan.dot = DotPlan{tiling, sumType, rows, panels, startsFromZero};
  plan.results.push_back(accumulator(op, rows, plan));
  bind(op->getResults(), plan.results);
  return plan;
}

} // namespace kiln::cpu
