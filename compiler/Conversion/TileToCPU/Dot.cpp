// Matrix products: operands in panels, and a register-tiled micro-kernel over them.
//
// Packing converts to the type of the sums and puts B into panels as wide as the register tile,
// each contiguous:
//     B[k][n]  ->  panel n / width, row k, column n % width
// so that the micro-kernel reads B with whole vectors from one stream, whatever the kernel's
// strides. A needs no panels: the micro-kernel broadcasts single elements of `rows` rows. For each
// panel and each group of rows it holds rows x width sums in registers over the whole of K; they
// come from and go to the result's buffer, which is the loop's own buffer when the sums are carried
// by a loop: nothing is copied between iterations.

#include "compiler/Conversion/TileToCPU/Emitter.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace kiln::cpu {

Value KernelEmitter::convertElement(Value value, Type element) {
  Type from = laneType(value.getType());
  if (from == element)
    return value;
  VectorBuilder v = vectors();
  if (isa<IntegerType>(from))
    return v.resize(value, element);
  bool widens = from.getIntOrFloatBitWidth() < element.getIntOrFloatBitWidth();
  return widens ? v.extendFloat(value, element) : v.truncateFloat(value, element);
}

/// The square matrix whose rows are these vectors, transposed: in each round, rows that are
/// `distance` apart exchange the blocks of `distance` lanes off the diagonal.
static void transpose(VectorBuilder &v, SmallVectorImpl<Value> &rows) {
  int32_t count = rows.size();
  for (int32_t distance = 1; distance != count; distance *= 2) {
    SmallVector<int32_t> upper, lower;
    for (int32_t lane = 0; lane != count; ++lane) {
      bool moves = lane & distance;
      upper.push_back(moves ? count + lane - distance : lane);
      lower.push_back(moves ? count + lane : lane + distance);
    }
    for (int32_t row = 0; row != count; ++row)
      if (!(row & distance)) {
        Value a = rows[row], c = rows[row + distance];
        rows[row] = v.shuffle(a, c, upper);
        rows[row + distance] = v.shuffle(a, c, lower);
      }
  }
}

/// Packs a B whose neighbours in memory are along k, in squares that are transposed in registers.
void KernelEmitter::fillTransposedPanels(const Fill &fill) {
  const Buffer *panels = fill.buffer;
  ArrayRef<int64_t> shape = fill.nest.shape;
  unsigned rank = shape.size(), lanes = fill.nest.lanes;
  int64_t width = panels->shape[3];
  beginNest(fill.nest);
  nestLanes = lanes;
  Coord first = rank == 3 ? openLoop(shape[0], 1) : Coord{Coord::Uniform, index(0), {}, 0};
  Coord column = openLoop(shape[rank - 1], lanes), k = openLoop(shape[rank - 2], lanes);
  VectorBuilder v = vectors();
  auto moved = [&](Coord coord, Coord::Kind kind, unsigned by) {
    setLevel(coord.level);
    coord.base = v.add(coord.base, index(by));
    coord.kind = kind;
    return coord;
  };
  SmallVector<Value> rows;
  for (unsigned i = 0; i != lanes; ++i) {
    Coords coords{moved(column, Coord::Uniform, i)};
    coords.insert(coords.begin(), moved(k, Coord::Step, 0));
    if (rank == 3)
      coords.insert(coords.begin(), first);
    Value row = elementVector(fill.value, coords);
    setLevel(level());
    rows.push_back(convertElement(row, panels->element));
  }
  transpose(v, rows);
  Coord panel{Coord::Uniform, v.shiftRight(column.base, llvm::Log2_64(width), false), {}, level()};
  Coord within{Coord::Step, v.bitAnd(column.base, index(width - 1)), {}, level()};
  for (unsigned row = 0; row != lanes; ++row) {
    Coord at = moved(k, Coord::Uniform, row);
    setLevel(level());
    storeBuffer(panels, {first, panel, at, within}, rows[row]);
  }
  endNest();
}

void KernelEmitter::fillPanels(const Fill &fill) {
  unsigned rank = fill.nest.shape.size();
  int64_t width = fill.buffer->shape[3];
  walkNest(fill.nest, [&](const Coords &coords) {
    Value packed = elements(fill.value, coords);
    setLevel(level());
    VectorBuilder v = vectors();
    Coord column = coords[rank - 1], panel{Coord::Uniform, {}, {}, column.level}, within = column;
    panel.base = v.shiftRight(column.base, llvm::Log2_64(width), false);
    within.base = v.bitAnd(column.base, index(width - 1));
    Coord first = rank == 3 ? coords[0] : Coord{Coord::Uniform, index(0), {}, 0};
    storeBuffer(fill.buffer, {first, panel, coords[rank - 2], within}, packed);
  });
}

/// sum + x * y, of floats in one instruction if there is one.
Value KernelEmitter::multiplyAdd(Value x, Value y, Value sum) {
  VectorBuilder v = vectors();
  x = v.splat(x, laneCount(sum));
  if (isa<FloatType>(laneType(sum.getType())) && options.hasFMA)
    return math::FmaOp::create(*b, loc, x, y, sum);
  return v.mad(x, y, sum);
}

void KernelEmitter::emitDot(tile::DotOp op) {
  const OperationPlan &planned = plan.of(op);
  const DotTiling &t = planned.dot->tiling;
  Type sumType = planned.dot->sumType;
  const Buffer *rows = planned.dot->rows, *panels = planned.dot->panels, *sums = planned.results[0];
  allocate(sums);
  beginNest(planned.nest);
  nestLanes = t.lanes;
  Coord batch = openLoop(t.batch, 1), panel = openLoop(t.n / t.width(), 1),
        row = openLoop(t.m, t.rows);
  row.kind = Coord::Uniform;
  VectorBuilder v = vectors();
  setLevel(level());
  auto moved = [&](Coord coord, int64_t by) {
    coord.base = v.add(coord.base, index(by));
    coord.level = level();
    return coord;
  };
  auto inBatch = [&](Coord first, Coord second) {
    return t.isBatched ? Coords{batch, first, second} : Coords{first, second};
  };
  Coord::Kind kind = t.lanes > 1 ? Coord::Step : Coord::Uniform;
  auto sumCoords = [&](unsigned i, unsigned j) {
    Coord column = moved({kind, v.mul(panel.base, index(t.width())), {}, 0}, int64_t(j) * t.lanes);
    return inBatch(moved(row, i), column);
  };
  SmallVector<Value> accumulators;
  for (unsigned i = 0; i != t.rows; ++i)
    for (unsigned j = 0; j != t.vectors; ++j)
      accumulators.push_back(planned.dot->startsFromZero
                                 ? v.constant(0, vectorOf(sumType, t.lanes))
                                 : convertElement(loadBuffer(sums, sumCoords(i, j)), sumType));
  auto step = [&](Coord k, ValueRange carried) {
    SmallVector<Value> columns, next;
    for (unsigned j = 0; j != t.vectors; ++j)
      columns.push_back(
          loadBuffer(panels, {batch, panel, k, {kind, index(int64_t(j) * t.lanes), {}, 0}}));
    for (unsigned i = 0; i != t.rows; ++i) {
      Value x = loadBuffer(rows, inBatch(moved(row, i), k));
      for (unsigned j = 0; j != t.vectors; ++j)
        next.push_back(multiplyAdd(x, columns[j], carried[i * t.vectors + j]));
    }
    return next;
  };
  if (t.k == 1) {
    accumulators = step({Coord::Uniform, index(0), {}, 0}, accumulators);
  } else {
    scf::ForOp loop = openLoop(0, t.k, 1, accumulators);
    closeLoop(
        step({Coord::Uniform, loop.getInductionVar(), {}, level()}, loop.getRegionIterArgs()));
    accumulators.assign(loop.result_begin(), loop.result_end());
  }
  setLevel(level());
  for (unsigned i = 0; i != t.rows; ++i)
    for (unsigned j = 0; j != t.vectors; ++j)
      storeBuffer(sums, sumCoords(i, j), accumulators[i * t.vectors + j]);
  endNest();
  bind(op->getResults(), planned.results);
}

} // namespace kiln::cpu
