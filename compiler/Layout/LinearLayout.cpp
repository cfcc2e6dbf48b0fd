//===- LinearLayout.cpp - where every element of a tile lives -------------===//

#include "compiler/Layout/LinearLayout.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <cassert>

using namespace llvm;

namespace kiln {

LinearLayout::LinearLayout(LayoutSpace in, LayoutSpace out, ArrayRef<BinaryVector> columns)
    : inSpace(std::move(in)), outSpace(std::move(out)), matrix(columns.begin(), columns.end()) {
  assert(matrix.size() == inSpace.totalBits() && "one column per input bit");
  assert(all_of(matrix, [&](BinaryVector c) { return c < uint64_t(outSpace.totalSize()); }) &&
         "a column exceeds the output space");
}

LinearLayout LinearLayout::identity(unsigned bits, Dim in, Dim out) {
  return LinearLayout(LayoutSpace({{in, bits}}), LayoutSpace({{out, bits}}), unitVectors(bits));
}

LinearLayout LinearLayout::zeros(unsigned bits, Dim in, Dim out, unsigned outBits) {
  return LinearLayout(LayoutSpace({{in, bits}}), LayoutSpace({{out, outBits}}),
                      BinaryColumns(bits, 0));
}

ArrayRef<BinaryVector> LinearLayout::columns(Dim in) const {
  if (!inSpace.contains(in))
    return {};
  return ArrayRef<BinaryVector>(matrix).slice(inSpace.position(in), inSpace.bits(in));
}

uint64_t LinearLayout::basis(Dim in, unsigned bit, Dim out) const {
  return outSpace.coordinate(columns(in)[bit], out);
}

uint64_t LinearLayout::apply(ArrayRef<std::pair<Dim, uint64_t>> point) const {
  uint64_t flat = 0;
  for (auto [dim, value] : point)
    flat = inSpace.with(flat, dim, value);
  return apply(flat);
}

SmallVector<int64_t, 4> LinearLayout::coordinates(uint64_t reg, uint64_t lane, uint64_t warp,
                                                  uint64_t block) const {
  return outSpace.unpack(
      apply({{Dim::Register, reg}, {Dim::Lane, lane}, {Dim::Warp, warp}, {Dim::Block, block}}));
}

//===----------------------------------------------------------------------===//
// Algebra
//===----------------------------------------------------------------------===//

/// The dimensions of both spaces, sizes multiplied.
static LayoutSpace productSpace(const LayoutSpace &a, const LayoutSpace &b) {
  LayoutSpace result = a;
  for (const LayoutSpace::Entry &entry : b.entries())
    result = result.withBits(entry.dim, result.bits(entry.dim) + entry.bits);
  return result;
}

/// `flat` of `major` moved above the bits of `minor` in the product space.
static uint64_t liftMajor(uint64_t flat, const LayoutSpace &minor, const LayoutSpace &major,
                          const LayoutSpace &product) {
  uint64_t result = 0;
  for (const LayoutSpace::Entry &entry : major.entries())
    result =
        product.with(result, entry.dim, major.coordinate(flat, entry.dim) << minor.bits(entry.dim));
  return result;
}

LinearLayout LinearLayout::operator*(const LinearLayout &major) const {
  LayoutSpace in = productSpace(inSpace, major.inSpace);
  LayoutSpace out = productSpace(outSpace, major.outSpace);
  BinaryColumns result;
  for (const LayoutSpace::Entry &entry : in.entries()) {
    for (BinaryVector column : columns(entry.dim))
      result.push_back(outSpace.transfer(column, out));
    for (BinaryVector column : major.columns(entry.dim))
      result.push_back(liftMajor(column, outSpace, major.outSpace, out));
  }
  return LinearLayout(in, out, result);
}

LinearLayout LinearLayout::compose(const LinearLayout &outer) const {
  BinaryColumns result;
  for (BinaryVector column : matrix)
    result.push_back(outer.apply(outSpace.transfer(column, outer.inSpace)));
  return LinearLayout(inSpace, outer.outSpace, result);
}

LinearLayout LinearLayout::invert() const {
  std::optional<BinaryColumns> columns = inverse(matrix);
  assert(columns && isSurjective() && "only a bijective layout has an inverse");
  return LinearLayout(outSpace, inSpace, *columns);
}

LinearLayout LinearLayout::invertAndCompose(const LinearLayout &outer) const {
  BinarySpan span(outer.matrix);
  BinaryColumns result;
  for (const LayoutSpace::Entry &entry : inSpace.entries()) {
    for (auto [bit, column] : enumerate(columns(entry.dim))) {
      uint64_t target = outSpace.transfer(column, outer.outSpace);
      if (bit < outer.inSpace.bits(entry.dim)) {
        uint64_t same = uint64_t(1) << (outer.inSpace.position(entry.dim) + bit);
        if (outer.apply(same) == target) {
          result.push_back(same);
          continue;
        }
      }
      std::optional<uint64_t> source = span.solve(target);
      assert(source && "the outer layout does not reach every element");
      result.push_back(*source);
    }
  }
  return LinearLayout(inSpace, outer.inSpace, result);
}

//===----------------------------------------------------------------------===//
// Reshaping the two sides
//===----------------------------------------------------------------------===//

/// `flat` of `from` with the bits that `to` lacks dropped.
static uint64_t project(uint64_t flat, const LayoutSpace &from, const LayoutSpace &to) {
  uint64_t result = 0;
  for (const LayoutSpace::Entry &entry : to.entries())
    result =
        to.with(result, entry.dim, from.coordinate(flat, entry.dim) & (to.size(entry.dim) - 1));
  return result;
}

LinearLayout LinearLayout::sublayout(ArrayRef<Dim> ins, ArrayRef<Dim> outs) const {
  SmallVector<LayoutSpace::Entry, 4> in, out;
  for (Dim dim : ins)
    in.push_back({dim, inSpace.bits(dim)});
  for (Dim dim : outs)
    out.push_back({dim, outSpace.bits(dim)});
  LayoutSpace subIn(in), subOut(out);
  BinaryColumns result;
  for (const LayoutSpace::Entry &entry : subIn.entries())
    for (BinaryVector column : columns(entry.dim))
      result.push_back(project(column, outSpace, subOut));
  return LinearLayout(subIn, subOut, result);
}

/// The layout whose output axis i is `from`'s axis source(i); `shape` is the result's.
template <typename SourceFn>
static LinearLayout renameAxes(const LinearLayout &from, ArrayRef<int64_t> shape, SourceFn source) {
  LayoutSpace out = LayoutSpace::ofShape(shape);
  BinaryColumns result;
  for (BinaryVector column : from.columns()) {
    uint64_t flat = 0;
    for (unsigned axis = 0; axis < shape.size(); ++axis)
      if (std::optional<unsigned> old = source(axis))
        flat = out.with(flat, Dim::axis(axis), from.out().coordinate(column, Dim::axis(*old)));
    result.push_back(flat);
  }
  return LinearLayout(from.in(), out, result);
}

LinearLayout LinearLayout::transpose(ArrayRef<unsigned> order) const {
  SmallVector<int64_t, 4> old = shape(), now;
  for (unsigned axis : order)
    now.push_back(old[axis]);
  return renameAxes(*this, now,
                    [&](unsigned axis) -> std::optional<unsigned> { return order[axis]; });
}

LinearLayout LinearLayout::reshape(ArrayRef<int64_t> shape) const {
  LayoutSpace out = LayoutSpace::ofShape(shape);
  assert(out.totalBits() == outSpace.totalBits() && "a reshape keeps the number of elements");
  return LinearLayout(inSpace, out, matrix);
}

LinearLayout LinearLayout::expandAxis(unsigned axis) const {
  SmallVector<int64_t, 4> now = shape();
  now.insert(now.begin() + axis, 1);
  return reshape(now);
}

LinearLayout LinearLayout::squeezeAxis(unsigned axis) const {
  SmallVector<int64_t, 4> now = shape();
  assert(now[axis] == 1 && "only an axis of size 1 can be squeezed");
  now.erase(now.begin() + axis);
  return reshape(now);
}

LinearLayout LinearLayout::shrinkAxis(unsigned axis) const {
  LayoutSpace out = outSpace.withBits(Dim::axis(axis), 0);
  BinaryColumns result;
  for (BinaryVector column : matrix)
    result.push_back(project(column, outSpace, out));
  return LinearLayout(inSpace, out, result).withoutFreeRegisters();
}

LinearLayout LinearLayout::growAxis(unsigned axis, int64_t size, bool overLanes) const {
  LayoutSpace out = outSpace.withBits(Dim::axis(axis), llvm::Log2_64(size));
  BinaryColumns result;
  for (BinaryVector column : matrix)
    result.push_back(project(column, outSpace, out));
  unsigned dealt = 0, bits = out.bits(Dim::axis(axis));
  auto step = [&](unsigned bit) { return out.with(0, Dim::axis(axis), uint64_t(1) << bit); };
  if (overLanes)
    for (BinaryVector &column :
         MutableArrayRef(result).slice(inSpace.position(Dim::Lane), inSpace.bits(Dim::Lane)))
      if (column == 0 && dealt < bits)
        column = step(dealt++);
  LinearLayout grown(inSpace, out, result);
  ArrayRef<BinaryVector> registers = grown.columns(Dim::Register);
  auto stepsOutside = [&](BinaryVector column) {
    for (unsigned outer = 0; outer < axis; ++outer)
      if (out.coordinate(column, Dim::axis(outer)) != 0)
        return true;
    return false;
  };
  unsigned first = llvm::find_if(registers, stepsOutside) - registers.begin();
  for (unsigned bit = dealt; bit < bits; ++bit)
    grown = grown.insertRegisterBit(first + bit - dealt, step(bit));
  return grown;
}

LinearLayout LinearLayout::slice(unsigned axis) const { return shrinkAxis(axis).squeezeAxis(axis); }

LinearLayout LinearLayout::insertRegisterBit(unsigned bit, BinaryVector column) const {
  LayoutSpace in = inSpace.withBits(Dim::Register, inSpace.bits(Dim::Register) + 1);
  BinaryColumns result(matrix);
  result.insert(result.begin() + in.position(Dim::Register) + bit, column);
  return LinearLayout(in, outSpace, result);
}

LinearLayout LinearLayout::fitToShape(ArrayRef<int64_t> shape, ArrayRef<unsigned> order) const {
  LayoutSpace out = LayoutSpace::ofShape(shape);
  BinaryColumns result;
  for (BinaryVector column : matrix)
    result.push_back(project(column, outSpace, out));
  LinearLayout fitted = LinearLayout(inSpace, out, result);
  if (!inSpace.contains(Dim::Register))
    fitted = fitted.withInBits(Dim::Register, 0);
  fitted = fitted.withoutFreeRegisters();
  for (unsigned axis : order)
    for (unsigned bit = outSpace.bits(Dim::axis(axis)); bit < out.bits(Dim::axis(axis)); ++bit)
      fitted = fitted.insertRegisterBit(fitted.in().bits(Dim::Register),
                                        out.with(0, Dim::axis(axis), uint64_t(1) << bit));
  return fitted;
}

LinearLayout LinearLayout::withoutFreeRegisters() const {
  if (!inSpace.contains(Dim::Register))
    return *this;
  unsigned position = inSpace.position(Dim::Register);
  BinaryColumns kept = complementWithin({}, columns(Dim::Register)), result(matrix);
  result.erase(result.begin() + position, result.begin() + position + inSpace.bits(Dim::Register));
  result.insert(result.begin() + position, kept.begin(), kept.end());
  return LinearLayout(inSpace.withBits(Dim::Register, kept.size()), outSpace, result);
}

LinearLayout LinearLayout::withInBits(Dim in, unsigned bits) const {
  unsigned old = inSpace.bits(in);
  assert(bits >= old && "input bits can only be added");
  LayoutSpace space = inSpace.withBits(in, bits);
  BinaryColumns result(matrix);
  result.insert(result.begin() + space.position(in) + old, bits - old, 0);
  return LinearLayout(space, outSpace, result);
}

//===----------------------------------------------------------------------===//
// Questions
//===----------------------------------------------------------------------===//

uint64_t LinearLayout::freeBits(Dim in) const {
  if (!inSpace.contains(in))
    return 0;
  uint64_t free = ~pivotColumns(matrix);
  return inSpace.coordinate(free, in);
}

int64_t LinearLayout::contiguousRegisters(ArrayRef<unsigned> order) const {
  ArrayRef<BinaryVector> registers = columns(Dim::Register);
  unsigned count = 0;
  for (unsigned axis : order)
    for (unsigned bit = 0; bit < outSpace.bits(Dim::axis(axis)); ++bit, ++count) {
      uint64_t wanted = outSpace.with(0, Dim::axis(axis), uint64_t(1) << bit);
      if (count == registers.size() || registers[count] != wanted)
        return int64_t(1) << count;
    }
  return int64_t(1) << count;
}

hash_code hash_value(const LinearLayout &layout) {
  hash_code code = hash_combine_range(layout.matrix.begin(), layout.matrix.end());
  for (const LayoutSpace *space : {&layout.inSpace, &layout.outSpace})
    for (const LayoutSpace::Entry &entry : space->entries())
      code = hash_combine(code, entry.dim.isAxis() ? 16 + entry.dim.axisIndex() : 0,
                          entry.dim.name(), entry.bits);
  return code;
}

Error LinearLayout::check(const LayoutSpace &in, const LayoutSpace &out,
                          ArrayRef<BinaryVector> columns) {
  if (columns.size() != in.totalBits())
    return createStringError("expected " + std::to_string(in.totalBits()) + " bases, got " +
                             std::to_string(columns.size()));
  for (BinaryVector column : columns)
    if (column >= uint64_t(out.totalSize()))
      return createStringError("a basis exceeds the output sizes");
  return Error::success();
}

} // namespace kiln
