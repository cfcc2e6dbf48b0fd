// Matrices in shared memory as wgmma reads them, written down from the PTX ISA ("Shared Memory
// Matrix Layout", "Strides", "Matrix Descriptor Format") element by element, apart from the
// emulator.

#ifndef KILN_TESTS_RUNTIME_EMULATOR_WARPGROUPLAYOUTS_H
#define KILN_TESTS_RUNTIME_EMULATOR_WARPGROUPLAYOUTS_H

#include <cstdint>

namespace kiln::emulator::testing {

/// A matrix of `rows` x (steps * 32 bytes of k), from `base` on, a multiple of 1024.
struct SharedMatrix {
  uint32_t base, rows, steps, elementBytes;
  uint32_t mode; ///< of the swizzle: 0 none, 1 128 bytes, 2 64 bytes, 3 32 bytes
  bool isMajorInRows = false;
  /// Mistakes of the descriptor, in bytes.
  uint32_t extraLeading = 0, extraStride = 0;

  uint32_t line() const { return mode ? 256u >> mode : 16; }
  uint32_t depth() const { return 32 / elementBytes; }

  /// Bytes from the start of one step's matrix to unit strides; they go into the descriptor.
  uint32_t leading() const {
    if (!isMajorInRows)
      return mode ? 16 : rows * 16; // a swizzled K-major matrix has no use for it
    return mode ? 16 * line() : 128;
  }
  uint32_t stride() const {
    if (!isMajorInRows)
      return mode ? 8 * line() : 128;
    return mode ? 8 * line() : 256;
  }

  /// Of a step: its first byte before the swizzle.
  uint32_t start(uint32_t step) const {
    if (isMajorInRows)
      return base + step * (mode ? (rows * 2 + line() - 1) / line() * leading() : rows / 8 * 256);
    if (!mode)
      return base + step * rows * 32;
    uint32_t perLine = line() / 32; // steps that lie side by side
    return base + step / perLine * rows * line() + step % perLine * 32;
  }
  uint32_t bytes() const { return (start(steps) + 32 + 1023) / 1024 * 1024 - base + rows * line(); }

  /// Byte address of element (row, k), k counted over all steps.
  uint32_t address(uint32_t row, uint32_t k) const {
    uint32_t inStep = k % depth(), address = start(k / depth());
    if (isMajorInRows) {
      uint32_t perLine = mode ? line() / 2 : 8; // rows of a line
      address += row % perLine * 2 + row / perLine * (mode ? leading() : stride()) +
                 inStep % 8 * line() + inStep / 8 * (mode ? stride() : leading());
    } else {
      uint32_t byte = inStep * elementBytes;
      address +=
          row % 8 * line() + row / 8 * stride() + byte % 16 + byte / 16 * (mode ? 16 : leading());
    }
    switch (mode) {
    case 1:
      return address ^ (address >> 7 & 7) << 4;
    case 2:
      return address ^ (address >> 7 & 3) << 4;
    case 3:
      return address ^ (address >> 7 & 1) << 4;
    default:
      return address;
    }
  }

  uint64_t descriptor(uint32_t step) const {
    return uint64_t(start(step) & 0x3ffff) >> 4 | uint64_t((leading() + extraLeading) >> 4) << 16 |
           uint64_t((stride() + extraStride) >> 4) << 32 | uint64_t(mode) << 62;
  }
};

} // namespace kiln::emulator::testing

#endif
