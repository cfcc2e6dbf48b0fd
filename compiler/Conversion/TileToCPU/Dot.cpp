// Matrix products: operands in panels, and a register-tiled micro-kernel over them.
//
// Packing converts to the type of the sums and puts B into panels as wide as the register tile,
// each contiguous:
//     B[k][n]  ->  panel n / width, row k, column n % width
// so that the micro-kernel reads B with whole vectors from one stream, whatever the kernel's
// strides. A needs no panels: the micro-kernel broadcasts single elements of `rows` rows. For each
// panel and each group of rows it holds rows x width sums in registers over the whole of K; they
// come from and go to the result's array, which is the loop's own array when the sums are carried
// by a loop: nothing is copied between iterations.

#include "compiler/Conversion/TileToCPU/Emitter.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace kiln::cpu {

namespace {
/// Extents of a product and of its register tile.
struct Tiling {
  int64_t batch = 1, m, n, k;
  bool isBatched;
  unsigned lanes, vectors, rows; // one tile: rows x (vectors * lanes)

  int64_t width() const { return int64_t(lanes) * vectors; }
};
} // namespace

/// The lanes of the widest vectors that an axis divides into.
static unsigned vectorLanes(int64_t extent, unsigned most) {
  return unsigned(std::min<int64_t>(most, extent & -extent));
}

static Tiling tilingOf(tile::DotOp op, const CPUOptions &options, Type sumType) {
  ArrayRef<int64_t> a = tile::shapeOf(op.getA().getType()),
                    c = tile::shapeOf(op.getResult().getType());
  Tiling t;
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
void KernelEmitter::packTransposed(Value value, Buffer *panels, unsigned lanes) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(value.getType()).getShape();
  unsigned rank = shape.size();
  int64_t width = panels->shape[3];
  beginNest();
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
  for (unsigned row = 0; row != lanes; ++row) {
    Coords coords{moved(column, Coord::Uniform, row)};
    coords.insert(coords.begin(), moved(k, Coord::Step, 0));
    if (rank == 3)
      coords.insert(coords.begin(), first);
    Value elements = pullVector(value, coords);
    setLevel(level());
    rows.push_back(convertElement(elements, panels->element));
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
  finishFills();
}

/// B in panels: [batch, n / width, k, width].
Buffer *KernelEmitter::packPanels(Value value, int64_t width, Type sumType) {
  auto known = packed.find({value.getAsOpaquePointer(), width, sumType.getAsOpaquePointer()});
  if (known != packed.end())
    return known->second;
  auto type = cast<RankedTensorType>(value.getType());
  ArrayRef<int64_t> shape = type.getShape();
  unsigned rank = shape.size();
  int64_t batch = rank == 3 ? shape[0] : 1, k = shape[rank - 2], n = shape[rank - 1];
  Buffer *panels = arena.create(loc, sumType, {batch, n / width, k, width});
  prepare(value);
  NestShape nest = chooseNest(shape, value, {});
  unsigned native = options.vectorBits / sumType.getIntOrFloatBitWidth();
  if (nest.vectorAxis == rank - 2 && k % native == 0 && width % native == 0) {
    packTransposed(value, panels, native);
    return panels;
  }
  if (nest.vectorAxis == rank - 1)
    nest.lanes = std::min<int64_t>(nest.lanes, width);
  walkNest(nest, [&](const Coords &coords) {
    Value elements = pull(value, coords);
    setLevel(level());
    VectorBuilder v = vectors();
    Coord column = coords[rank - 1], panel{Coord::Uniform, {}, {}, column.level}, within = column;
    panel.base = v.shiftRight(column.base, llvm::Log2_64(width), false);
    within.base = v.bitAnd(column.base, index(width - 1));
    Coord first = rank == 3 ? coords[0] : Coord{Coord::Uniform, index(0), {}, 0};
    storeBuffer(panels, {first, panel, coords[rank - 2], within}, elements);
  });
  finishFills();
  return panels;
}

/// A, converted, in any order of its axes.
Buffer *KernelEmitter::packRows(Value value, Type sumType) {
  auto found = buffers.find(value);
  if (found != buffers.end() && found->second->element == sumType)
    return found->second;
  auto known = packed.find({value.getAsOpaquePointer(), 0, sumType.getAsOpaquePointer()});
  if (known != packed.end())
    return known->second;
  auto type = cast<RankedTensorType>(value.getType());
  prepare(value);
  NestShape nest = chooseNest(type.getShape(), value, {});
  Buffer *rows = arena.create(loc, sumType, type.getShape(), nest.vectorAxis);
  fillInto(rows, value);
  return rows;
}

static Type sumTypeOf(tile::DotOp op, OpBuilder &builder) {
  Type element = op.getResult().getType().getElementType();
  return element.isF16() || element.isBF16() ? builder.getF32Type() : element;
}

/// Packs what dots inside the loop read from outside, once.
void KernelEmitter::packInvariants(Operation *loop) {
  loop->walk([&](tile::DotOp dot) {
    Type sumType = sumTypeOf(dot, *b);
    auto isOutside = [&](Value value) {
      return !loop->isAncestor(value.getParentBlock()->getParentOp());
    };
    loc = dot.getLoc();
    if (isOutside(dot.getA()))
      packed[{dot.getA().getAsOpaquePointer(), 0, sumType.getAsOpaquePointer()}] =
          packRows(dot.getA(), sumType);
    int64_t width = tilingOf(dot, options, sumType).width();
    if (isOutside(dot.getB()))
      packed[{dot.getB().getAsOpaquePointer(), width, sumType.getAsOpaquePointer()}] =
          packPanels(dot.getB(), width, sumType);
  });
}

/// The array that the sums go to, holding c if `startsFromZero` is false afterwards. It is not
/// `rows`, which is read while sums are written.
Buffer *KernelEmitter::accumulatorFor(tile::DotOp op, Buffer *rows, bool &startsFromZero) {
  Value c = op.getC();
  auto type = cast<RankedTensorType>(c.getType());
  startsFromZero = matchPattern(c, m_AnyZeroFloat()) || matchPattern(c, m_Zero());
  if (startsFromZero)
    return arena.create(loc, type.getElementType(), type.getShape());
  if (mayUpdateInPlace(c, op) && buffers[c] != rows)
    return buffers[c];
  // c may be computed from an array that nobody needs any more, element by element: there.
  Buffer *target = nullptr;
  DenseSet<Buffer *> elsewhere{rows};
  visitPulled(c, true, [&](Value value, bool direct) {
    Buffer *buffer = buffers.lookup(value);
    if (buffer && !(direct && value.getType() == c.getType() && mayUpdateInPlace(value, op)))
      elsewhere.insert(buffer);
    else if (buffer)
      target = buffer;
    return true;
  });
  if (!target || elsewhere.contains(target))
    target = arena.create(loc, type.getElementType(), type.getShape());
  fillInto(target, c);
  return target;
}

void KernelEmitter::emitDot(tile::DotOp op) {
  flushPending();
  Type sumType = sumTypeOf(op, *b);
  Tiling t = tilingOf(op, options, sumType);
  Buffer *rows = packRows(op.getA(), sumType);
  loc = op.getLoc();
  Buffer *panels = packPanels(op.getB(), t.width(), sumType);
  loc = op.getLoc();
  bool startsFromZero = false;
  Buffer *sums = accumulatorFor(op, rows, startsFromZero);
  loc = op.getLoc();

  beginNest();
  nestLanes = t.lanes;
  Coord zero{Coord::Uniform, index(0), {}, 0};
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
      accumulators.push_back(startsFromZero
                                 ? v.constant(0, vectorOf(sumType, t.lanes))
                                 : convertElement(loadBuffer(sums, sumCoords(i, j)), sumType));
  auto multiplyAdd = [&](Value x, Value y, Value sum) -> Value {
    x = v.splat(x, t.lanes);
    if (isa<FloatType>(sumType) && options.hasFMA)
      return math::FmaOp::create(*b, loc, x, y, sum);
    return v.mad(x, y, sum);
  };
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
    accumulators = step(zero, accumulators);
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
  buffers[op.getResult()] = sums;
}

} // namespace kiln::cpu
