//===- MatrixUnits.cpp - matrix instructions as records -------------------===//
//
// Fragments by family. Every one is a product of short identities, written in
// the order "this many register bits along k, then lanes along …"; the sections
// of the manuals are named in MatrixUnits.def.
//
//===----------------------------------------------------------------------===//

#include "compiler/Layout/MatrixUnits.h"

#include "compiler/Layout/TileLayouts.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <cassert>

using namespace llvm;

namespace kiln {

unsigned elementBits(MatrixElement element) {
  switch (element) {
  case MatrixElement::F16:
  case MatrixElement::BF16:
    return 16;
  case MatrixElement::TF32:
  case MatrixElement::F32:
  case MatrixElement::I32:
    return 32;
  case MatrixElement::F64:
    return 64;
  case MatrixElement::I8:
  case MatrixElement::F8E4M3:
  case MatrixElement::F8E5M2:
  case MatrixElement::E2M1x2:
    return 8;
  }
  llvm_unreachable("unknown matrix element");
}

StringRef elementName(MatrixElement element) {
  static const char *const names[] = {"f16", "bf16", "tf32", "f32",  "f64",
                                      "i8",  "i32",  "e4m3", "e5m2", "e2m1x2"};
  return names[unsigned(element)];
}

//===----------------------------------------------------------------------===//
// Fragments
//===----------------------------------------------------------------------===//

namespace {
/// Builds a fragment as a product: each step deals 2^bits places of one input along one axis.
class FragmentBuilder {
public:
  FragmentBuilder() {
    layout = LinearLayout(LayoutSpace({{Dim::Register, 0}, {Dim::Lane, 0}}),
                          LayoutSpace({{Dim::axis(0), 0}, {Dim::axis(1), 0}}), {});
  }
  FragmentBuilder &registers(unsigned size, unsigned axis) {
    return step(Dim::Register, size, axis);
  }
  FragmentBuilder &lanes(unsigned size, unsigned axis) { return step(Dim::Lane, size, axis); }
  FragmentBuilder &warps(unsigned size, unsigned axis) { return step(Dim::Warp, size, axis); }
  FragmentBuilder &sameWarps(unsigned size) {
    layout = layout * LinearLayout::zeros(Log2_32(size), Dim::Warp, Dim::axis(0));
    return *this;
  }
  FragmentBuilder &sameLanes(unsigned size) {
    layout = layout * LinearLayout::zeros(Log2_32(size), Dim::Lane, Dim::axis(0));
    return *this;
  }
  LinearLayout layout;

private:
  FragmentBuilder &step(Dim in, unsigned size, unsigned axis) {
    layout = layout * LinearLayout::identity(Log2_32(size), in, Dim::axis(axis));
    return *this;
  }
};
} // namespace

// PTX ISA, "Matrix Fragments for mma.m16n8k*": groupID = lane / 4 selects the
// row (A, C) or column (B), lane % 4 the place along the other axis. A 32-bit
// operand register holds 32 / bits neighbours along k.
static LinearLayout mmaSyncFragment(const MatrixInstruction &unit, MatrixOperand operand) {
  unsigned packed = 32 / elementBits(unit.operand);
  switch (operand) {
  case MatrixOperand::A:
    return FragmentBuilder()
        .registers(packed, 1)
        .lanes(4, 1)
        .lanes(8, 0)
        .registers(2, 0)
        .registers(unit.k / (packed * 4), 1)
        .layout;
  case MatrixOperand::B:
    return FragmentBuilder()
        .registers(packed, 0)
        .lanes(4, 0)
        .lanes(8, 1)
        .registers(unit.k / (packed * 4), 0)
        .layout;
  case MatrixOperand::C:
    return FragmentBuilder().registers(2, 1).lanes(4, 1).lanes(8, 0).registers(2, 0).layout;
  }
  llvm_unreachable("unknown matrix operand");
}

// PTX ISA, "Register Fragments" of wgmma: each of the four warps has 16 rows, and in them what
// mma.m16n8 gives it, repeated along n.
static LinearLayout wgmmaFragment(const MatrixInstruction &unit, MatrixOperand operand) {
  unsigned packed = 32 / elementBits(unit.operand);
  switch (operand) {
  case MatrixOperand::A:
    return FragmentBuilder()
        .registers(packed, 1)
        .lanes(4, 1)
        .lanes(8, 0)
        .registers(2, 0)
        .registers(unit.k / (packed * 4), 1)
        .warps(4, 0)
        .layout;
  case MatrixOperand::B:
    return FragmentBuilder()
        .registers(packed, 0)
        .lanes(4, 0)
        .lanes(8, 1)
        .registers(unit.k / (packed * 4), 0)
        .registers(unit.n / 8, 1)
        .sameWarps(4)
        .layout;
  case MatrixOperand::C:
    return FragmentBuilder()
        .registers(2, 1)
        .lanes(4, 1)
        .lanes(8, 0)
        .registers(2, 0)
        .registers(unit.n / 8, 1)
        .warps(4, 0)
        .layout;
  }
  llvm_unreachable("unknown matrix operand");
}

/// How many of a lane's elements are neighbours along k.
static unsigned neighboursOf(const MatrixInstruction &unit, unsigned perLane) {
  switch (unit.family) {
  case MatrixFamily::MfmaBy4:
    return 4;
  case MatrixFamily::MfmaBy16:
  case MatrixFamily::MfmaScaled:
    return 16;
  default:
    return perLane;
  }
}

// Instinct ISA, "Matrix Arithmetic Instructions": the low lanes select the row
// of A or the column of B, the high lanes which group of neighbours along k; of
// products with scales (composable_kernel, test/mx_mfma_op) 16 bytes are a group,
// and of 8-bit numbers a lane has a second one behind the first of all lanes.
// Accumulators hold groups of four rows; lanes beyond the columns select the next group.
static LinearLayout mfmaFragment(const MatrixInstruction &unit, MatrixOperand operand) {
  unsigned groups = 64 / unit.m, perLane = unit.depth(operand) / groups,
           together = neighboursOf(unit, perLane);
  switch (operand) {
  case MatrixOperand::A:
    return FragmentBuilder()
        .registers(together, 1)
        .lanes(unit.m, 0)
        .lanes(groups, 1)
        .registers(perLane / together, 1)
        .layout;
  case MatrixOperand::B:
    return FragmentBuilder()
        .registers(together, 0)
        .lanes(unit.n, 1)
        .lanes(groups, 0)
        .registers(perLane / together, 0)
        .layout;
  case MatrixOperand::C:
    // Of f64 lanes beyond the columns select the next row.
    if (unit.accumulator == MatrixElement::F64)
      return FragmentBuilder()
          .lanes(unit.n, 1)
          .lanes(groups, 0)
          .registers(unit.m / groups, 0)
          .layout;
    return FragmentBuilder()
        .registers(4, 0)
        .lanes(unit.n, 1)
        .lanes(groups, 0)
        .registers(unit.m / (4 * groups), 0)
        .layout;
  }
  llvm_unreachable("unknown matrix operand");
}

LinearLayout MatrixInstruction::scaleFragment() const {
  assert(isScaled() && m == n && "expected one layout for both sides");
  return FragmentBuilder().lanes(m, 0).lanes(numScales(), 1).layout;
}

// RDNA3 ISA, "Wave Matrix Multiply Accumulate": a lane holds a whole row of A
// or column of B, and lanes 16-31 repeat lanes 0-15; accumulator register r of
// lane l is row 2r + l / 16, column l % 16.
static LinearLayout wmmaGfx11Fragment(const MatrixInstruction &unit, MatrixOperand operand) {
  switch (operand) {
  case MatrixOperand::A:
    return FragmentBuilder().registers(16, 1).lanes(16, 0).sameLanes(2).layout;
  case MatrixOperand::B:
    return FragmentBuilder().registers(16, 0).lanes(16, 1).sameLanes(2).layout;
  case MatrixOperand::C:
    return FragmentBuilder().lanes(16, 1).lanes(2, 0).registers(8, 0).layout;
  }
  llvm_unreachable("unknown matrix operand");
}

// The same, the elements along k in the order in which the halves of a wave have an accumulator's
// rows: every second one, then those between. A and B agree, so the sum is the same.
static LinearLayout wmmaGfx11By2Fragment(const MatrixInstruction &unit, MatrixOperand operand) {
  LinearLayout plain = wmmaGfx11Fragment(unit, operand);
  if (operand == MatrixOperand::C)
    return plain;
  BinaryColumns columns(plain.columns());
  auto registers = MutableArrayRef(columns).take_front(plain.in().bits(Dim::Register));
  std::rotate(registers.begin(), registers.begin() + 1, registers.end());
  return LinearLayout(plain.in(), plain.out(), columns);
}

// RDNA4 ISA, same section: the halves of the wave hold the halves of k, and
// accumulator register r of lane l is row r + 8 (l / 16).
static LinearLayout wmmaGfx12Fragment(const MatrixInstruction &unit, MatrixOperand operand) {
  switch (operand) {
  case MatrixOperand::A:
    return FragmentBuilder().registers(8, 1).lanes(16, 0).lanes(2, 1).layout;
  case MatrixOperand::B:
    return FragmentBuilder().registers(8, 0).lanes(16, 1).lanes(2, 0).layout;
  case MatrixOperand::C:
    return FragmentBuilder().registers(8, 0).lanes(16, 1).lanes(2, 0).layout;
  }
  llvm_unreachable("unknown matrix operand");
}

unsigned MatrixInstruction::depth(MatrixOperand which) const {
  bool isOfA = which == MatrixOperand::A;
  MatrixElement own = isOfA ? operand : operandB, other = isOfA ? operandB : operand;
  return own == MatrixElement::E2M1x2 && other != own ? k / 2 : k;
}

// "mfma.32x32x8x2.f16.f32"
unsigned MatrixInstruction::numSteps() const {
  StringRef shape = name.split('.').second.split('.').first;
  unsigned steps = 1;
  if (family == MatrixFamily::Mfma && shape.count('x') == 3)
    shape.rsplit('x').second.getAsInteger(10, steps);
  return steps;
}

LinearLayout MatrixInstruction::fragment(MatrixOperand which) const {
  switch (family) {
  case MatrixFamily::MmaSync:
    return mmaSyncFragment(*this, which);
  case MatrixFamily::Wgmma:
    return wgmmaFragment(*this, which);
  case MatrixFamily::Mfma:
  case MatrixFamily::MfmaBy4:
  case MatrixFamily::MfmaBy16:
  case MatrixFamily::MfmaScaled:
    return mfmaFragment(*this, which);
  case MatrixFamily::WmmaGfx11:
    return wmmaGfx11Fragment(*this, which);
  case MatrixFamily::WmmaGfx11By2:
    return wmmaGfx11By2Fragment(*this, which);
  case MatrixFamily::WmmaGfx12:
    return wmmaGfx12Fragment(*this, which);
  }
  llvm_unreachable("unknown matrix family");
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

ArrayRef<MatrixInstruction> allMatrixInstructions() {
  static const MatrixInstruction table[] = {
#define KILN_MATRIX_OF_TWO(NAME, FAMILY, M, N, K, A, B, ACCUMULATOR, REQUIRES, ISSUE)              \
  {NAME,                                                                                           \
   MatrixFamily::FAMILY,                                                                           \
   M,                                                                                              \
   N,                                                                                              \
   K,                                                                                              \
   MatrixElement::A,                                                                               \
   MatrixElement::B,                                                                               \
   MatrixElement::ACCUMULATOR,                                                                     \
   [](const MatrixFeatures &features) -> bool { return REQUIRES; },                                \
   ISSUE},
#include "compiler/Layout/MatrixUnits.def"
  };
  return table;
}

const MatrixInstruction *findMatrixInstruction(StringRef name) {
  for (const MatrixInstruction &instruction : allMatrixInstructions())
    if (instruction.name == name)
      return &instruction;
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Tiling
//===----------------------------------------------------------------------===//

/// The places of a unit's rows in the tile, by bits, such that a lane has `neighbours` of a
/// result's column: those that registers tell apart come first, then those that lanes do.
static BinaryColumns placesOfRows(const LinearLayout &result, unsigned neighbours) {
  unsigned position = result.out().position(Dim::axis(0)), bits = result.out().bits(Dim::axis(0));
  uint64_t mask = ((uint64_t(1) << bits) - 1) << position;
  BinaryColumns inOrder;
  auto append = [&](ArrayRef<BinaryVector> columns) {
    for (BinaryVector column : columns)
      if (column & mask)
        inOrder.push_back(column);
  };
  append(result.columns(Dim::Register));
  unsigned first = std::min<unsigned>(Log2_32(neighbours), inOrder.size());
  BinaryColumns rest(ArrayRef<BinaryVector>(inOrder).drop_front(first));
  inOrder.truncate(first);
  append(result.columns(Dim::Lane));
  inOrder.append(rest.begin(), rest.end());
  BinaryColumns places(bits);
  for (auto [place, column] : enumerate(inOrder))
    places[Log2_64(column) - position] = uint64_t(1) << place;
  return places;
}

/// The layout with its rows at such places.
static LinearLayout withRowsAt(const LinearLayout &layout, ArrayRef<BinaryVector> places) {
  unsigned position = layout.out().position(Dim::axis(0));
  BinaryColumns columns(layout.columns());
  for (BinaryVector &column : columns)
    for (auto [bit, place] : enumerate(places))
      if (column == uint64_t(1) << (bit + position)) {
        column = place << position;
        break;
      }
  return LinearLayout(layout.in(), layout.out(), columns);
}

LinearLayout MatrixTiling::fragment(MatrixOperand operand) const {
  MatrixOperand slot = !swapped || operand == MatrixOperand::C ? operand
                       : operand == MatrixOperand::A           ? MatrixOperand::B
                                                               : MatrixOperand::A;
  LinearLayout fragment = instruction->fragment(slot);
  if (neighbours && slot != MatrixOperand::B) {
    LinearLayout result = instruction->fragment(MatrixOperand::C);
    fragment = withRowsAt(fragment, placesOfRows(result, neighbours));
  }
  return swapped ? fragment.transpose({1, 0}) : fragment;
}

SmallVector<unsigned> MatrixTiling::fragmentRegisters(MatrixOperand operand,
                                                      ArrayRef<int64_t> shape) const {
  LinearLayout whole = fragment(operand);
  ArrayRef<int64_t> extents = shape.take_back(2);
  SmallVector<unsigned> registers = {0};
  unsigned next = 1;
  for (unsigned bit = 0; bit < whole.in().bits(Dim::Register); ++bit) {
    auto place = whole.coordinates(1u << bit, 0, 0);
    bool isThere = place[0] < extents[0] && place[1] < extents[1];
    for (unsigned reg = 0, e = registers.size(); reg < e; ++reg)
      registers.push_back(registers[reg] + (isThere ? next : 0));
    next <<= isThere;
  }
  return registers;
}

LinearLayout MatrixTiling::layout(MatrixOperand operand, ArrayRef<int64_t> shape) const {
  unsigned batch = shape.size() - 2;
  LinearLayout tile = fragment(operand);
  auto warps = [&](unsigned count, bool dealt, unsigned axis) {
    unsigned bits = Log2_32(count);
    tile = tile * (dealt ? LinearLayout::identity(bits, Dim::Warp, Dim::axis(axis))
                         : LinearLayout::zeros(bits, Dim::Warp, Dim::axis(axis)));
  };
  warps(warpsN, operand != MatrixOperand::A, 1);
  warps(warpsM, operand != MatrixOperand::B, 0);
  tile = tile.withInBits(Dim::Block, 0);
  for (unsigned axis = 0; axis < batch; ++axis)
    tile = tile.expandAxis(0);
  return tile.fitToShape(shape, rowMajorOrder(shape.size()));
}

LinearLayout MatrixTiling::scaleLayout(MatrixOperand operand, ArrayRef<int64_t> shape) const {
  auto warps = [](unsigned count, bool dealt) {
    unsigned bits = Log2_32(count);
    return dealt ? LinearLayout::identity(bits, Dim::Warp, Dim::axis(0))
                 : LinearLayout::zeros(bits, Dim::Warp, Dim::axis(0));
  };
  LinearLayout tile = instruction->scaleFragment() * warps(warpsN, operand == MatrixOperand::B) *
                      warps(warpsM, operand == MatrixOperand::A);
  return tile.withInBits(Dim::Block, 0).fitToShape(shape, rowMajorOrder(shape.size()));
}

/// Operand elements one warp reads per step of k, the cost of a way to deal warps.
static int64_t warpTraffic(const MatrixTiling &tiling, const MatrixProblem &problem) {
  auto perWarp = [](int64_t extent, int64_t tile, int64_t warps) {
    return std::max(tile, extent / warps);
  };
  return perWarp(problem.m, tiling.tileM(), tiling.warpsM) +
         perWarp(problem.n, tiling.tileN(), tiling.warpsN);
}

/// Deals warps (or groups of them), preferring no duplicated work, then the least traffic, then
/// warps along m.
static void dealWarps(MatrixTiling &tiling, const MatrixProblem &problem) {
  std::pair<int64_t, int64_t> best{INT64_MAX, INT64_MAX};
  MatrixTiling chosen = tiling;
  unsigned count = problem.numWarps / tiling.instruction->numWarps();
  unsigned least = problem.isAlongM ? count : 1;
  for (unsigned warpsM = count; warpsM >= least; warpsM /= 2) {
    tiling.warpsM = warpsM;
    tiling.warpsN = count / warpsM;
    int64_t idle = std::max<int64_t>(1, tiling.tileM() * warpsM / problem.m) *
                   std::max<int64_t>(1, tiling.tileN() * tiling.warpsN / problem.n);
    std::pair<int64_t, int64_t> cost{idle, warpTraffic(tiling, problem)};
    if (cost < best) {
      best = cost;
      chosen = tiling;
    }
  }
  tiling = chosen;
}

/// Whether the problem has as many rows, columns and steps as an instruction; or, with `repeats`,
/// but for the shorter of the instruction's sides, on which what is missing is repeated.
static bool hasRoomFor(const MatrixTiling &tiling, const MatrixProblem &problem, bool repeats) {
  const MatrixInstruction &unit = *tiling.instruction;
  bool hasRows = problem.m >= tiling.tileM(), hasColumns = problem.n >= tiling.tileN();
  unsigned shorter = std::min(unit.m, unit.n);
  if (repeats && !unit.readsSharedMemory() && !unit.isScaled()) {
    bool repeatsRows = hasColumns && tiling.tileM() == shorter;
    bool repeatsColumns = hasRows && tiling.tileN() == shorter;
    hasRows |= repeatsRows;
    hasColumns |= repeatsColumns;
  }
  return hasRows && hasColumns && problem.k >= unit.k;
}

/// Of the problem's size alone, if it names one.
static std::optional<MatrixTiling>
selectOfSize(const TargetInfo &target, const MatrixProblem &problem, bool repeats = false) {
  std::optional<MatrixTiling> wide;
  MatrixElement ofB = problem.operandB.value_or(problem.operand);
  for (const MatrixInstruction &unit : allMatrixInstructions()) {
    // A lane's accumulators lie along the unit's m, and its operand's elements along k: the
    // transposed product makes them lie along n, which is k of a product that the result goes to.
    // On mma.sync it takes products of 8 rows.
    bool hasFewRows = unit.family == MatrixFamily::MmaSync && problem.m < unit.m;
    bool swapped = unit.isMfma() || unit.isWmma() || hasFewRows;
    if (!unit.isLegal(target.matrix) || unit.numLanes() != target.warpSize ||
        unit.operand != (swapped ? ofB : problem.operand) ||
        unit.operandB != (swapped ? problem.operand : ofB) ||
        unit.accumulator != problem.accumulator || problem.numWarps % unit.numWarps() != 0 ||
        (unit.readsSharedMemory() && !problem.fromShared) || unit.isScaled() != problem.isScaled ||
        (problem.size && unit.m != problem.size) || (problem.isSingle && unit.numSteps() > 1))
      continue;
    MatrixTiling tiling{&unit, swapped};
    if (!hasRoomFor(tiling, problem, repeats))
      continue;
    dealWarps(tiling, problem);
    bool idle = int64_t(tiling.tileM()) * tiling.warpsM > problem.m ||
                int64_t(tiling.tileN()) * tiling.warpsN > problem.n;
    if (!idle)
      return tiling;
    // Every warp busy is worth a smaller instruction, if there is one.
    if (!wide)
      wide = tiling;
  }
  return problem.isAlongM ? std::nullopt : wide;
}

std::optional<MatrixTiling> selectMatrixTiling(const TargetInfo &target,
                                               const MatrixProblem &problem) {
  if (std::optional<MatrixTiling> ofSize = selectOfSize(target, problem))
    return ofSize;
  MatrixProblem other = problem;
  other.isAlongM = false;
  if (problem.size && selectOfSize(target, other))
    return std::nullopt;
  other.isAlongM = problem.isAlongM;
  other.size = 0;
  if (std::optional<MatrixTiling> ofAny = selectOfSize(target, other))
    return ofAny;
  // The shortest instructions first: what is repeated is work for nothing.
  for (unsigned size : {16u, 32u, 64u}) {
    other.size = size;
    if (std::optional<MatrixTiling> repeating = selectOfSize(target, other, /*repeats=*/true))
      return repeating;
  }
  return std::nullopt;
}

LinearLayout fmaOperandLayout(const LinearLayout &result, MatrixOperand operand, int64_t k) {
  assert(operand != MatrixOperand::C && "the result's own layout is given");
  unsigned rank = result.out().rank();
  unsigned shared = operand == MatrixOperand::A ? rank - 1 : rank - 2;
  LinearLayout slim = result.shrinkAxis(shared);
  SmallVector<int64_t, 4> shape = slim.shape();
  shape[shared] = k;
  return slim.fitToShape(shape, {shared});
}

} // namespace kiln
