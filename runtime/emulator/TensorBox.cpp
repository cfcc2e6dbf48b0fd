#include "runtime/emulator/TensorBox.h"

#include <cstring>
#include <iterator>

namespace kiln::emulator {
namespace {

struct Element {
  uint32_t bytes;
  bool isFloat;
};
constexpr Element elements[] = {
#define KILN_TENSOR_ELEMENT(NAME, SPEC, BYTES, IS_FLOAT, ...) {BYTES, IS_FLOAT != 0},
#include "runtime/tensor_elements.def"
};

std::string number(uint64_t value) { return std::to_string(value); }

/// Of one axis of a map (CUDA Driver API, cuTensorMapEncodeTiled).
std::string problemOfAxis(const kiln_emu_tensor_map &map, uint32_t axis) {
  std::string of = " of axis " + number(axis) + " of the tensor map";
  if (map.box[axis] < 1 || map.box[axis] > 256)
    return "expected a box of 1 to 256 elements" + of + ", got " + number(map.box[axis]);
  if (axis && (map.strides[axis - 1] % 16 || map.strides[axis - 1] >> 40))
    return "expected a stride" + of + " that is a multiple of 16 bytes below 2^40, got " +
           number(map.strides[axis - 1]);
  return "";
}

} // namespace

std::string TensorBox::problemOf(const kiln_emu_tensor_map *address, uint32_t rank) {
  if (reinterpret_cast<uintptr_t>(address) % 64)
    return "expected a tensor map at a multiple of 64 bytes";
  const kiln_emu_tensor_map &map = *address;
  if (map.magic != KILN_EMU_TENSOR_MAP)
    return "expected the address of a tensor map, got one of something else";
  if (map.rank != rank)
    return "expected " + number(map.rank) + " coordinates, as the tensor map has axes, got " +
           number(rank);
  if (map.element >= std::size(elements) || map.element_bytes != elements[map.element].bytes)
    return "a tensor map of elements that there are not";
  for (uint32_t axis = 0; axis < rank; ++axis)
    if (std::string problem = problemOfAxis(map, axis); !problem.empty())
      return problem;
  if (reinterpret_cast<uintptr_t>(map.base) % 16)
    return "expected a tensor at a multiple of 16 bytes";
  uint32_t row = uint32_t(map.box[0]) * map.element_bytes, swizzle = map.swizzle_bytes;
  if (row % pieceBytes)
    return "expected rows of a box of a multiple of 16 bytes, got " + number(row);
  if (swizzle && swizzle != 32 && swizzle != 64 && swizzle != 128)
    return "expected a swizzle of 0, 32, 64 or 128 bytes, got " + number(swizzle);
  // Where shorter rows would be is not documented.
  if (swizzle && row != swizzle)
    return "expected rows of a box as long as its swizzle, " + number(swizzle) + " bytes, got " +
           number(row);
  if (map.fills_with_nan && !elements[map.element].isFloat)
    return "a tensor map that fills integers with NaNs";
  return "";
}

TensorBox::TensorBox(const kiln_emu_tensor_map &described, const int32_t *first) : map(described) {
  std::copy(first, first + map.rank, coordinates);
}

bool TensorBox::find(uint32_t row, char *&address) const {
  address = map.base;
  for (uint32_t axis = 1; axis < map.rank; ++axis) {
    int64_t at = int64_t(coordinates[axis]) + row % map.box[axis];
    if (at < 0 || at >= int64_t(map.extents[axis]))
      return false;
    address += at * int64_t(map.strides[axis - 1]);
    row /= map.box[axis];
  }
  return true;
}

void TensorBox::fill(unsigned char *to) const {
  std::memset(to, map.fills_with_nan ? 0xff : 0, bytes());
  // Of NaNs the one that PTX calls canonical: all bits but the sign.
  if (map.fills_with_nan)
    for (uint32_t end = map.element_bytes; end <= bytes(); end += map.element_bytes)
      to[end - 1] = 0x7f;
}

} // namespace kiln::emulator
