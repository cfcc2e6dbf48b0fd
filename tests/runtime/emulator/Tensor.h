// A tensor in memory and its map, and where the bytes of a box belong, element by element.

#ifndef KILN_TESTS_RUNTIME_EMULATOR_TENSOR_H
#define KILN_TESTS_RUNTIME_EMULATOR_TENSOR_H

#include "runtime/emulator/kiln_emu.h"
#include "runtime/kiln.h"
#include <cstring>
#include <functional>
#include <vector>

namespace kiln::emulator::testing {

inline uint32_t bytesOfElement(uint32_t element) {
  const uint32_t bytes[] = {1, 2, 4, 4, 8, 8, 2, 2, 4, 8};
  return bytes[element];
}

/// Rows have 16 bytes more than the tensor needs, as have the axes behind them.
class Tensor {
public:
  using Coordinates = std::vector<int32_t>;

  alignas(64) kiln_emu_tensor_map map = {};

  Tensor(uint32_t element, std::vector<uint32_t> extents, std::vector<uint32_t> box,
         uint32_t swizzle = 0) {
    map.magic = KILN_EMU_TENSOR_MAP;
    map.rank = uint8_t(extents.size());
    map.element = uint8_t(element);
    map.element_bytes = uint8_t(bytesOfElement(element));
    map.swizzle_bytes = uint8_t(swizzle);
    uint64_t stride = map.element_bytes;
    for (uint32_t axis = 0; axis < map.rank; ++axis) {
      map.extents[axis] = extents[axis];
      map.box[axis] = uint16_t(box[axis]);
      stride = (stride * extents[axis] + 31) / 16 * 16;
      if (axis < 4)
        map.strides[axis] = stride;
    }
    memory.resize(stride + 64);
    for (size_t i = 0; i < memory.size(); ++i)
      memory[i] = uint8_t(i * 37 + i / 256 * 11);
    auto address = reinterpret_cast<uintptr_t>(memory.data());
    map.base = reinterpret_cast<char *>((address + 31) / 16 * 16);
  }
  Tensor(const Tensor &) = delete;

  uint32_t bytes() const {
    uint32_t result = map.element_bytes;
    for (uint32_t axis = 0; axis < map.rank; ++axis)
      result *= map.box[axis];
    return result;
  }
  /// Where the last element ends.
  const char *end() const {
    Coordinates last;
    for (uint32_t axis = 0; axis < map.rank; ++axis)
      last.push_back(int32_t(map.extents[axis]) - 1);
    return at(last) + map.element_bytes;
  }
  char *at(const Coordinates &where) const {
    int64_t offset = int64_t(where[0]) * map.element_bytes;
    for (uint32_t axis = 1; axis < map.rank; ++axis)
      offset += int64_t(where[axis]) * int64_t(map.strides[axis - 1]);
    return map.base + offset;
  }

  /// Calls `visit(address, offset)` for each element of the box: where it is in the tensor, null
  /// outside of it, and in shared memory, of which the box begins at `start`.
  void forElements(uint32_t start, const Coordinates &first,
                   const std::function<void(char *, uint32_t)> &visit) const {
    for (uint32_t number = 0; number < bytes() / map.element_bytes; ++number) {
      Coordinates where;
      bool isInside = true;
      uint32_t rest = number;
      for (uint32_t axis = 0; axis < map.rank; rest /= map.box[axis++]) {
        int64_t coordinate = int64_t(first[axis]) + rest % map.box[axis];
        isInside &= coordinate >= 0 && coordinate < map.extents[axis];
        where.push_back(isInside ? int32_t(coordinate) : 0);
      }
      visit(isInside ? at(where) : nullptr, swizzled(start + number * map.element_bytes));
    }
  }

private:
  /// PTX ISA, "Swizzling modes": of the pieces of 16 bytes in a row of the swizzle's width, the one
  /// whose number differs by that of the 128 bytes, as far as the width goes.
  uint32_t swizzled(uint32_t offset) const {
    if (!map.swizzle_bytes)
      return offset;
    uint32_t pieces = map.swizzle_bytes / 16, piece = offset / 16 % pieces,
             line = offset / 128 % pieces;
    return offset - 16 * piece + 16 * (piece ^ line);
  }

  std::vector<uint8_t> memory;
};

} // namespace kiln::emulator::testing

#endif
