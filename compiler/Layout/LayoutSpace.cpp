//===- LayoutSpace.cpp - named dimensions of a layout's two sides ---------===//

#include "compiler/Layout/LayoutSpace.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <cassert>

using namespace llvm;

namespace kiln {

std::string Dim::name() const {
  if (isAxis())
    return "dim" + std::to_string(axisIndex());
  static const char *const names[] = {"register", "lane", "warp", "block", "offset"};
  return names[code];
}

LayoutSpace::LayoutSpace(ArrayRef<Entry> entries) : list(entries.begin(), entries.end()) {
  llvm::sort(list, [](const Entry &a, const Entry &b) { return a.dim < b.dim; });
  for (size_t i = 1; i < list.size(); ++i)
    assert(list[i - 1].dim != list[i].dim && "a dimension is named twice");
  assert(totalBits() <= 62 && "a flat index must fit 62 bits");
}

LayoutSpace LayoutSpace::ofShape(ArrayRef<int64_t> shape) {
  SmallVector<Entry, 4> entries;
  for (auto [axis, size] : enumerate(shape)) {
    assert(size > 0 && isPowerOf2_64(size) && "tile sizes are powers of two");
    entries.push_back({Dim::axis(axis), Log2_64(size)});
  }
  return LayoutSpace(entries);
}

SmallVector<LayoutSpace::Entry, 4> LayoutSpace::entriesForText() const {
  SmallVector<Entry, 4> result;
  for (const Entry &entry : list)
    if (!entry.dim.isAxis())
      result.push_back(entry);
  for (const Entry &entry : reverse(list))
    if (entry.dim.isAxis())
      result.push_back(entry);
  return result;
}

bool LayoutSpace::contains(Dim dim) const {
  return any_of(list, [&](const Entry &entry) { return entry.dim == dim; });
}

unsigned LayoutSpace::bits(Dim dim) const {
  for (const Entry &entry : list)
    if (entry.dim == dim)
      return entry.bits;
  return 0;
}

unsigned LayoutSpace::totalBits() const {
  unsigned total = 0;
  for (const Entry &entry : list)
    total += entry.bits;
  return total;
}

unsigned LayoutSpace::position(Dim dim) const {
  unsigned position = 0;
  for (const Entry &entry : list) {
    if (entry.dim == dim)
      return position;
    position += entry.bits;
  }
  assert(false && "dimension is not in this space");
  return 0;
}

uint64_t LayoutSpace::mask(Dim dim) const {
  return contains(dim) ? (uint64_t(size(dim)) - 1) << position(dim) : 0;
}

unsigned LayoutSpace::rank() const {
  return count_if(list, [](const Entry &entry) { return entry.dim.isAxis(); });
}

SmallVector<int64_t, 4> LayoutSpace::shape() const {
  SmallVector<int64_t, 4> result;
  for (unsigned axis = 0, e = rank(); axis != e; ++axis) {
    assert(contains(Dim::axis(axis)) && "axes must be dense to have a shape");
    result.push_back(size(Dim::axis(axis)));
  }
  return result;
}

uint64_t LayoutSpace::coordinate(uint64_t flat, Dim dim) const {
  return contains(dim) ? (flat & mask(dim)) >> position(dim) : 0;
}

uint64_t LayoutSpace::with(uint64_t flat, Dim dim, uint64_t value) const {
  if (value == 0)
    return flat;
  assert(value < uint64_t(size(dim)) && "coordinate exceeds the dimension");
  return flat | value << position(dim);
}

uint64_t LayoutSpace::pack(ArrayRef<int64_t> coordinates) const {
  uint64_t flat = 0;
  for (auto [axis, value] : enumerate(coordinates))
    flat = with(flat, Dim::axis(axis), value);
  return flat;
}

SmallVector<int64_t, 4> LayoutSpace::unpack(uint64_t flat) const {
  SmallVector<int64_t, 4> result;
  for (unsigned axis = 0, e = rank(); axis != e; ++axis)
    result.push_back(coordinate(flat, Dim::axis(axis)));
  return result;
}

uint64_t LayoutSpace::transfer(uint64_t flat, const LayoutSpace &other) const {
  if (*this == other)
    return flat;
  uint64_t result = 0;
  for (const Entry &entry : list)
    result = other.with(result, entry.dim, coordinate(flat, entry.dim));
  return result;
}

LayoutSpace LayoutSpace::withBits(Dim dim, unsigned bits) const {
  SmallVector<Entry, 4> entries(without(dim).list);
  entries.push_back({dim, bits});
  return LayoutSpace(entries);
}

LayoutSpace LayoutSpace::without(Dim dim) const {
  SmallVector<Entry, 4> entries;
  for (const Entry &entry : list)
    if (entry.dim != dim)
      entries.push_back(entry);
  return LayoutSpace(entries);
}

} // namespace kiln
