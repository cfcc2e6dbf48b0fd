//===- StagedOperand.cpp - operands of products in shared memory ----------===//

#include "compiler/Layout/StagedOperand.h"

#include "compiler/Layout/LayoutConversion.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <cassert>

using namespace llvm;

namespace kiln {

//===----------------------------------------------------------------------===//
// Swizzled layouts
//===----------------------------------------------------------------------===//

constexpr unsigned pieceBytes = 16, mostRowBytes = 128;

unsigned swizzledRowBytes(ArrayRef<int64_t> shape, unsigned axis, unsigned elementBits) {
  return std::min<int64_t>(mostRowBytes, shape[axis] * elementBits / 8);
}

SharedLayout swizzledShared(ArrayRef<int64_t> shape, unsigned axis, unsigned elementBits) {
  unsigned rank = shape.size(), rowBytes = swizzledRowBytes(shape, axis, elementBits);
  assert(rank >= 2 && axis + 2 >= rank && rowBytes >= pieceBytes && "no axis for rows of pieces");
  unsigned rowAxis = axis == rank - 1 ? rank - 2 : rank - 1;
  LayoutSpace out = LayoutSpace::ofShape(shape);
  auto along = [&](unsigned which, unsigned bit) {
    return uint64_t(1) << (out.position(Dim::axis(which)) + bit);
  };
  unsigned rowBits = Log2_32(rowBytes * 8 / elementBits),
           pieceBits = Log2_32(pieceBytes * 8 / elementBits);
  BinaryColumns columns;
  for (unsigned bit = 0; bit < rowBits; ++bit)
    columns.push_back(along(axis, bit));
  // The permutation repeats every 8 lines of 128 bytes: shorter rows share a line.
  unsigned rowsPerLine = Log2_32(mostRowBytes / rowBytes);
  for (unsigned bit = 0; bit < out.bits(Dim::axis(rowAxis)); ++bit) {
    uint64_t column = along(rowAxis, bit);
    if (bit >= rowsPerLine && pieceBits + bit - rowsPerLine < rowBits)
      column |= along(axis, pieceBits + bit - rowsPerLine);
    columns.push_back(column);
  }
  for (unsigned bit = rowBits; bit < out.bits(Dim::axis(axis)); ++bit)
    columns.push_back(along(axis, bit));
  for (unsigned batch = rank - 2; batch-- > 0;)
    for (unsigned bit = 0; bit < out.bits(Dim::axis(batch)); ++bit)
      columns.push_back(along(batch, bit));
  LayoutSpace in({{Dim::Offset, unsigned(columns.size())}});
  return {LinearLayout(in, out, columns)};
}

//===----------------------------------------------------------------------===//
// Pieces of a warp side by side
//===----------------------------------------------------------------------===//

std::optional<LinearLayout> sideBySideLayout(const SharedLayout &shared, unsigned elementBits,
                                             unsigned numLanes, unsigned numWarps) {
  ArrayRef<BinaryVector> offsets = shared.map.columns(Dim::Offset);
  unsigned pieceBits = Log2_32(pieceBytes * 8 / elementBits), laneBits = Log2_32(numLanes),
           warpBits = Log2_32(numWarps), ofWarps = pieceBits + laneBits;
  if (shared.padInterval || offsets.size() < ofWarps + warpBits)
    return std::nullopt;
  BinaryColumns columns(offsets.take_front(pieceBits));
  append_range(columns, offsets.drop_front(ofWarps + warpBits));
  append_range(columns, offsets.slice(pieceBits, laneBits));
  append_range(columns, offsets.slice(ofWarps, warpBits));
  LayoutSpace in({{Dim::Register, unsigned(offsets.size() - laneBits - warpBits)},
                  {Dim::Lane, laneBits},
                  {Dim::Warp, warpBits},
                  {Dim::Block, 0}});
  return LinearLayout(in, shared.map.out(), columns);
}

bool isSideBySide(const SharedAccess &access, const SharedLayout &shared, unsigned elementBits) {
  uint64_t piece = access.vector, ofWarp = piece << access.laneOffsets.size();
  if (shared.padInterval || piece * elementBits != pieceBytes * 8 || access.freeLanes ||
      access.freeWarps)
    return false;
  for (auto [lane, offset] : enumerate(access.laneOffsets))
    if (offset != piece << lane)
      return false;
  auto isOfWarp = [&](uint64_t offset) { return offset % ofWarp == 0; };
  return all_of(access.warpOffsets, isOfWarp) &&
         all_of(access.parts,
                [&](const SharedAccess::Part &part) { return isOfWarp(part.offset); });
}

//===----------------------------------------------------------------------===//
// ldmatrix
//===----------------------------------------------------------------------===//

namespace {
/// Offsets of a distributed layout's bits, taken apart as ldmatrix wants them.
struct MatrixBits {
  unsigned pieceBits;
  ArrayRef<BinaryVector> registers, lanes, warps;

  bool isPlace(BinaryVector offset, unsigned bit) const { return offset == uint64_t(1) << bit; }
  /// Whole pieces only.
  bool isAligned(BinaryVector offset) const {
    return (offset & ((uint64_t(1) << pieceBits) - 1)) == 0;
  }
  bool areAligned(ArrayRef<BinaryVector> offsets) const {
    return all_of(offsets, [&](BinaryVector offset) { return isAligned(offset); });
  }
};
} // namespace

/// The rows' columns if words lie along rows: a lane's word, then four lanes, make a piece.
static std::optional<BinaryColumns> plainRows(const MatrixBits &bits, unsigned wordBits) {
  for (unsigned bit = 0; bit < wordBits; ++bit)
    if (!bits.isPlace(bits.registers[bit], bit))
      return std::nullopt;
  for (unsigned bit = 0; bit < 2; ++bit)
    if (!bits.isPlace(bits.lanes[bit], wordBits + bit))
      return std::nullopt;
  BinaryColumns rows(bits.lanes.drop_front(2));
  return bits.areAligned(rows) ? std::optional(rows) : std::nullopt;
}

/// The same if words lie across rows of 16-bit elements: eight lanes make a piece.
static std::optional<BinaryColumns> transposedRows(const MatrixBits &bits) {
  for (unsigned bit = 0; bit < 3; ++bit)
    if (!bits.isPlace(bits.lanes[2 + bit], bit))
      return std::nullopt;
  BinaryColumns rows{bits.registers[0], bits.lanes[0], bits.lanes[1]};
  return bits.areAligned(rows) ? std::optional(rows) : std::nullopt;
}

/// How often the banks must be read for 8 rows.
static int64_t wavefrontsOfRows(ArrayRef<BinaryVector> rows, unsigned pieceBits) {
  BinaryColumns pieces;
  for (BinaryVector row : rows)
    pieces.push_back(row >> pieceBits & (mostRowBytes / pieceBytes - 1));
  return int64_t(1) << (rows.size() - rank(pieces));
}

std::optional<MatrixAccess> planMatrixAccess(const LinearLayout &distributed,
                                             const SharedLayout &shared, unsigned elementBits) {
  constexpr unsigned laneBits = 5;
  if (shared.padInterval || elementBits > 32 || elementBits < 8 ||
      distributed.in().bits(Dim::Lane) != laneBits)
    return std::nullopt;
  LinearLayout offsets = distributed.invertAndCompose(shared.map)
                             .sublayout({Dim::Register, Dim::Lane, Dim::Warp}, {Dim::Offset});
  MatrixBits bits{Log2_32(pieceBytes * 8 / elementBits), offsets.columns(Dim::Register),
                  offsets.columns(Dim::Lane), offsets.columns(Dim::Warp)};
  unsigned wordBits = Log2_32(32 / elementBits);
  if (bits.registers.size() < wordBits)
    return std::nullopt;
  MatrixAccess access;
  std::optional<BinaryColumns> rows = plainRows(bits, wordBits);
  if (!rows && elementBits == 16) {
    rows = transposedRows(bits);
    access.transposed = true;
  }
  ArrayRef<BinaryVector> others = bits.registers.drop_front(wordBits);
  if (!rows || !bits.areAligned(others) || !bits.areAligned(bits.warps))
    return std::nullopt;

  // The first two bits that are no repetitions select a matrix of an instruction.
  SmallVector<unsigned> selecting, repeating;
  for (unsigned bit = wordBits; bit < bits.registers.size(); ++bit)
    (bits.registers[bit] && selecting.size() < 2 ? selecting : repeating).push_back(bit);
  access.matrices = 1u << selecting.size();
  access.laneOffsets = *rows;
  for (unsigned bit : selecting)
    access.laneOffsets.push_back(bits.registers[bit]);
  access.laneOffsets.resize(laneBits, 0);
  access.warpOffsets.assign(bits.warps.begin(), bits.warps.end());
  auto spread = [](ArrayRef<unsigned> places, unsigned number) {
    unsigned reg = 0;
    for (auto [index, place] : enumerate(places))
      reg |= (number >> index & 1) << place;
    return reg;
  };
  for (unsigned number = 0; number < 1u << repeating.size(); ++number) {
    MatrixAccess::Part part;
    unsigned first = spread(repeating, number);
    part.offset = multiply(bits.registers, first);
    for (unsigned matrix = 0; matrix < access.matrices; ++matrix)
      for (unsigned element = 0; element < 1u << wordBits; ++element)
        part.registers.push_back(first | spread(selecting, matrix) | element);
    access.parts.push_back(std::move(part));
  }
  access.wavefronts =
      int64_t(access.parts.size()) * access.matrices * wavefrontsOfRows(*rows, bits.pieceBits);
  return access;
}

//===----------------------------------------------------------------------===//
// Reads across rows
//===----------------------------------------------------------------------===//

std::optional<SharedAccess> planTransposedAccess(const LinearLayout &distributed,
                                                 const SharedLayout &shared, unsigned elementBits) {
  constexpr unsigned laneBits = 6;
  if (shared.padInterval || !isReadAcross(elementBits) ||
      distributed.in().bits(Dim::Lane) != laneBits)
    return std::nullopt;
  // As many elements of a row as rows.
  unsigned rowBits = bitsOfRowsAcross(elementBits), vector = 1u << rowBits;
  LinearLayout offsets = distributed.invertAndCompose(shared.map)
                             .sublayout({Dim::Register, Dim::Lane, Dim::Warp}, {Dim::Offset});
  ArrayRef<BinaryVector> registers = offsets.columns(Dim::Register),
                         lanes = offsets.columns(Dim::Lane), warps = offsets.columns(Dim::Warp);
  auto isWhole = [vector](BinaryVector offset) { return offset % vector == 0; };
  if (registers.size() < rowBits || !all_of(lanes.drop_front(rowBits), isWhole) ||
      !all_of(registers, isWhole) || !all_of(warps, isWhole))
    return std::nullopt;
  for (unsigned bit = 0; bit < rowBits; ++bit)
    if (lanes[bit] != uint64_t(1) << bit)
      return std::nullopt;
  SharedAccess access;
  access.vector = vector;
  append_range(access.laneOffsets, lanes.slice(rowBits, bitsOfColumnsAcross - rowBits));
  append_range(access.laneOffsets, registers.take_front(rowBits));
  append_range(access.laneOffsets, lanes.drop_front(bitsOfColumnsAcross));
  access.warpOffsets.assign(warps.begin(), warps.end());
  for (unsigned first = 0; first < 1u << registers.size(); first += vector) {
    SharedAccess::Part part;
    part.offset = multiply(registers, first);
    for (unsigned row = 0; row < vector; ++row)
      part.registers.push_back(first | row);
    access.parts.push_back(std::move(part));
  }
  return access;
}

//===----------------------------------------------------------------------===//
// Choosing a buffer
//===----------------------------------------------------------------------===//

/// What it costs to fill a buffer. Where threads put pieces together themselves, none is a copy.
static int64_t storeCost(const LinearLayout &source, const SharedLayout &shared,
                         unsigned elementBits, const SharedMemoryShape &memory) {
  SharedAccess store = planSharedAccess(source, shared, elementBits, memory);
  int64_t repacked = memory.countsRepackedWords ? repackedWords(source, shared, elementBits) : 0;
  if (store.vector * elementBits / 8 >= pieceBytes && !repacked)
    return 0;
  return countWavefronts(store, shared, elementBits, memory).wavefronts +
         int64_t(store.parts.size()) + repacked;
}

/// Rows that are read across, where there are such reads.
static std::optional<Staging> planAcross(const LinearLayout &source, const LinearLayout &result,
                                         unsigned elementBits, const SharedMemoryShape &memory) {
  std::optional<SharedLayout> shared;
  if (memory.transposedReads)
    shared = planTransposedShared(source, result, elementBits, memory);
  std::optional<SharedAccess> load;
  if (shared)
    load = planTransposedAccess(result, *shared, elementBits);
  if (!load)
    return std::nullopt;
  return Staging{*shared, storeCost(source, *shared, elementBits, memory) +
                              countWavefronts(*load, *shared, elementBits, memory).wavefronts +
                              int64_t(load->parts.size())};
}

Staging planStaging(const LinearLayout &source, const LinearLayout &result, unsigned elementBits,
                    const SharedMemoryShape &memory, bool matrixLoads) {
  SharedExchange plan = planSharedExchange(source, result, elementBits, memory);
  Staging best{plan.shared, plan.cost()};
  if (std::optional<Staging> across = planAcross(source, result, elementBits, memory);
      across && across->cost < best.cost)
    best = *across;
  SmallVector<int64_t, 4> shape = source.shape();
  if (!matrixLoads || shape.size() < 2)
    return best;
  for (unsigned axis : {unsigned(shape.size()) - 1, unsigned(shape.size()) - 2}) {
    if (swizzledRowBytes(shape, axis, elementBits) < pieceBytes)
      continue;
    SharedLayout shared = swizzledShared(shape, axis, elementBits);
    std::optional<MatrixAccess> load = planMatrixAccess(result, shared, elementBits);
    if (!load)
      continue;
    int64_t cost = storeCost(source, shared, elementBits, memory) + load->wavefronts +
                   int64_t(load->parts.size());
    if (cost < best.cost)
      best = {shared, cost};
  }
  return best;
}

std::optional<Staging> planOperandStaging(const LinearLayout &source, const LinearLayout &result,
                                          unsigned elementBits, const SharedMemoryShape &memory,
                                          bool matrixLoads) {
  ConversionKind kind = classifyConversion(source, result);
  if (kind == ConversionKind::None || kind == ConversionKind::Registers)
    return std::nullopt;
  if (kind == ConversionKind::Shuffle && !matrixLoads)
    return std::nullopt;
  Staging staging = planStaging(source, result, elementBits, memory, matrixLoads);
  if (kind == ConversionKind::Shared)
    return staging;
  LayoutConversion other = planConversion(source, result, elementBits, memory);
  int64_t barriers = 2 * barrierCostOf(source);
  int64_t cost = other.kind == ConversionKind::Shuffle ? other.shuffleCost(elementBits)
                                                       : other.shared->cost() + barriers;
  bool costsLess = staging.cost + barriers < cost;
  bool isWhole = storeCost(source, staging.shared, elementBits, memory) == 0;
  return costsLess && isWhole ? std::optional(staging) : std::nullopt;
}

Staging planUnitStaging(const LinearLayout &source, unsigned axisK, unsigned elementBits,
                        const SharedMemoryShape &memory) {
  auto neighbours = [&](unsigned axis) { return source.contiguousRegisters({axis, 1 - axis}); };
  auto rowsAlong = [&](unsigned axis) {
    SharedLayout shared = swizzledShared(source.shape(), axis, elementBits);
    return Staging{shared, storeCost(source, shared, elementBits, memory)};
  };
  unsigned other = 1 - axisK;
  if (elementBits != 16 || neighbours(other) < neighbours(axisK) ||
      swizzledRowBytes(source.shape(), other, elementBits) < 2 * pieceBytes)
    return rowsAlong(axisK);
  if (neighbours(other) > neighbours(axisK))
    return rowsAlong(other);
  Staging plain = rowsAlong(axisK), transposed = rowsAlong(other);
  return transposed.cost < plain.cost ? transposed : plain;
}

//===----------------------------------------------------------------------===//
// wgmma
//===----------------------------------------------------------------------===//

std::optional<MatrixDescriptor> describeOperand(const SharedLayout &shared, unsigned axisK,
                                                unsigned elementBits) {
  SmallVector<int64_t, 4> shape = shared.map.shape();
  if (shape.size() != 2)
    return std::nullopt;
  for (unsigned axis : {axisK, 1 - axisK}) {
    unsigned rowBytes = swizzledRowBytes(shape, axis, elementBits);
    if (rowBytes < 2 * pieceBytes || !(swizzledShared(shape, axis, elementBits) == shared))
      continue;
    MatrixDescriptor descriptor;
    descriptor.transposed = axis != axisK;
    descriptor.swizzle = Log2_32(mostRowBytes / rowBytes) + 1;
    descriptor.strideBytes = 8 * rowBytes;
    // Along k the instruction never leaves a panel, and does not look at it.
    descriptor.leadingBytes = descriptor.transposed ? shape[axisK] * rowBytes : pieceBytes;
    // Only 16-bit elements can be transposed on the way.
    if (descriptor.transposed && elementBits != 16)
      return std::nullopt;
    return descriptor;
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// One buffer for several readers
//===----------------------------------------------------------------------===//

/// What it costs the reader to read the buffer as it is; none if it cannot.
static std::optional<int64_t> readCost(const OperandReader &reader, const SharedLayout &shared,
                                       unsigned elementBits, bool matrixLoads) {
  SharedLayout seen{shared.map.transpose(reader.order), shared.padInterval, shared.padAmount};
  if (!reader.registers)
    return describeOperand(seen, reader.axisK, elementBits) ? std::optional<int64_t>(0)
                                                            : std::nullopt;
  std::optional<MatrixAccess> load;
  if (matrixLoads)
    load = planMatrixAccess(*reader.registers, seen, elementBits);
  if (!load)
    return std::nullopt;
  return load->wavefronts + int64_t(load->parts.size());
}

/// Of a buffer of the reader's own.
static int64_t costAlone(const LinearLayout &source, const OperandReader &reader,
                         unsigned elementBits, const SharedMemoryShape &memory, bool matrixLoads) {
  LinearLayout seen = source.transpose(reader.order);
  if (!reader.registers)
    return planUnitStaging(seen, reader.axisK, elementBits, memory).cost;
  return planStaging(seen, *reader.registers, elementBits, memory, matrixLoads).cost;
}

std::optional<Staging> planCommonStaging(const LinearLayout &source,
                                         ArrayRef<OperandReader> readers, ArrayRef<unsigned> axes,
                                         unsigned elementBits, const SharedMemoryShape &memory,
                                         bool matrixLoads) {
  int64_t apart = 0;
  for (const OperandReader &reader : readers)
    apart += costAlone(source, reader, elementBits, memory, matrixLoads);
  std::optional<Staging> best;
  for (unsigned axis : axes) {
    if (swizzledRowBytes(source.shape(), axis, elementBits) < pieceBytes)
      continue;
    Staging staging{swizzledShared(source.shape(), axis, elementBits)};
    staging.cost = storeCost(source, staging.shared, elementBits, memory);
    bool serves = all_of(readers, [&](const OperandReader &reader) {
      std::optional<int64_t> cost = readCost(reader, staging.shared, elementBits, matrixLoads);
      staging.cost += cost.value_or(0);
      return cost.has_value();
    });
    if (serves && staging.cost <= apart && (!best || staging.cost < best->cost))
      best = staging;
  }
  return best;
}

} // namespace kiln
