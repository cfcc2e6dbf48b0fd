// Which bytes of a tensor in global memory, and which of shared memory, an instruction of the copy
// engine (TMA) moves.
//
// PTX ISA, "Tensors": "Tensor Dimension, size and format", "Tiled mode", "Out of boundary access"
// and "Swizzling modes". In shared memory the rows of a box lie one behind the other. A swizzle
// permutes the pieces of 16 bytes in rows of its width, by an exclusive or of bits of the address
// itself, as matrix descriptors have it (MatrixDescriptor.h).

#ifndef KILN_RUNTIME_EMULATOR_TENSORBOX_H
#define KILN_RUNTIME_EMULATOR_TENSORBOX_H

#include "runtime/emulator/kiln_emu.h"
#include <algorithm>
#include <string>

namespace kiln::emulator {

class TensorBox {
public:
  static constexpr uint32_t maxRank = 5, pieceBytes = 16, alignment = 128;

  /// Why there is no box of `rank` coordinates by this map; "" if there is one.
  static std::string problemOf(const kiln_emu_tensor_map *map, uint32_t rank);

  /// `first`: the coordinates of the first element, which may lie outside of the tensor.
  TensorBox(const kiln_emu_tensor_map &map, const int32_t *first);

  /// In shared memory, those of elements outside of the tensor among them.
  uint32_t bytes() const { return numRows() * rowBytes(); }
  uint32_t elementBytes() const { return map.element_bytes; }
  uint32_t element() const { return map.element; }

  /// Where the byte `offset` of the box is, which begins at address `start` of shared memory.
  uint32_t place(uint32_t start, uint32_t offset) const {
    uint32_t address = start + offset;
    return map.swizzle_bytes ? address ^ (address >> 3 & (map.swizzle_bytes - pieceBytes))
                             : address;
  }

  /// Calls `visit(address, offset, bytes)` for each row that has elements in the tensor: where
  /// these are in global memory and in the box.
  template <typename Visit> void forRows(Visit visit) const;
  /// Calls `visit(address, offset, bytes)` for these, piece by piece: where they are in the box and
  /// in shared memory.
  template <typename Visit> void forPieces(uint32_t start, Visit visit) const;

  /// Writes what elements outside of the tensor are to all of `to`.
  void fill(unsigned char *to) const;

private:
  uint32_t rowBytes() const { return uint32_t(map.box[0]) * map.element_bytes; }
  uint32_t numRows() const {
    uint32_t rows = 1;
    for (uint32_t axis = 1; axis < map.rank; ++axis)
      rows *= map.box[axis];
    return rows;
  }
  /// Of the first element of row `number`: false if the row is outside of the tensor.
  bool find(uint32_t number, char *&address) const;

  kiln_emu_tensor_map map;
  int32_t coordinates[maxRank] = {};
};

template <typename Visit> void TensorBox::forRows(Visit visit) const {
  int64_t first = std::max<int64_t>(0, -int64_t(coordinates[0])),
          end = std::min<int64_t>(map.box[0], int64_t(map.extents[0]) - coordinates[0]);
  char *address;
  for (uint32_t row = 0; row < numRows() && first < end; ++row)
    if (find(row, address))
      visit(address + (coordinates[0] + first) * map.element_bytes,
            row * rowBytes() + uint32_t(first) * map.element_bytes,
            uint32_t(end - first) * map.element_bytes);
}

template <typename Visit> void TensorBox::forPieces(uint32_t start, Visit visit) const {
  forRows([&](char *, uint32_t offset, uint32_t bytes) {
    for (uint32_t end = offset + bytes; offset < end;) {
      uint32_t next = std::min(end, (offset / pieceBytes + 1) * pieceBytes);
      visit(offset, place(start, offset), next - offset);
      offset = next;
    }
  });
}

} // namespace kiln::emulator

#endif
