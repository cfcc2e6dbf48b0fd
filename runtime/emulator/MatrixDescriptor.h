// Where in shared memory the elements of a matrix are that a descriptor describes.
//
// PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions": "Matrix Descriptor Format",
// "Strides" and "Shared Memory Matrix Layout". Sixteen bytes that lie together are a unit: of a
// K-major matrix they are neighbours in k of one row (of A; one column of B), of an MN-major one
// eight rows at one k. Units form patterns of 8 lines, each as long as the swizzle says, and the
// patterns repeat at the descriptor's two offsets. A swizzle is an exclusive or of bits of the
// address, whatever was added to reach it.

#ifndef KILN_RUNTIME_EMULATOR_MATRIXDESCRIPTOR_H
#define KILN_RUNTIME_EMULATOR_MATRIXDESCRIPTOR_H

#include <cstdint>

namespace kiln::emulator {

class MatrixDescriptor {
public:
  static constexpr uint32_t unitBytes = 16, addressBits = 18;

  explicit MatrixDescriptor(uint64_t bits) : bits(bits) {}

  /// The unit `part` (0 or 1) of row `row` of a K-major matrix: an address of 18 bits.
  uint32_t unitOfRow(uint32_t row, uint32_t part) const {
    uint32_t line = row % 8 * lineBytes() + row / 8 * stride();
    return swizzled(line + part * (isSwizzled() ? unitBytes : leading()));
  }
  /// Rows 8 * `group` to 8 * `group` + 7 at `k` of an MN-major matrix.
  uint32_t unitOfColumn(uint32_t group, uint32_t k) const {
    if (!isSwizzled())
      return swizzled(group * stride() + k % 8 * unitBytes + k / 8 * leading());
    uint32_t perLine = lineBytes() / unitBytes;
    return swizzled(group % perLine * unitBytes + group / perLine * leading() +
                    k % 8 * lineBytes() + k / 8 * stride());
  }

  /// Where the pattern begins if that is no multiple of its size; not emulated unless 0.
  uint32_t baseOffset() const { return uint32_t(bits >> 49 & 7); }
  /// Whether the bits that mean nothing are 0.
  bool isWellFormed() const { return !(bits & 0x3ff1c000c000c000); }

private:
  uint32_t field(unsigned shift) const { return uint32_t(bits >> shift & 0x3fff) * unitBytes; }
  uint32_t start() const { return field(0); }
  uint32_t leading() const { return field(16); }
  uint32_t stride() const { return field(32); }
  /// 0: none, 1: of 128 bytes, 2: of 64, 3: of 32.
  uint32_t mode() const { return uint32_t(bits >> 62); }
  bool isSwizzled() const { return mode() != 0; }
  uint32_t lineBytes() const { return isSwizzled() ? 256u >> mode() : unitBytes; }

  /// Bits 4 to 6 become different by bits 7 to 9; of narrower patterns fewer bits.
  uint32_t swizzled(uint32_t offset) const {
    uint32_t address = (start() + offset) & ((1u << addressBits) - 1);
    return address ^ (address >> 3 & (lineBytes() - unitBytes));
  }

  uint64_t bits;
};

} // namespace kiln::emulator

#endif
