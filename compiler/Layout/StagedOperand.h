//===- StagedOperand.h - operands of products in shared memory --*- C++ -*-===//
//
// PROBLEM. Between global memory and a matrix unit an operand waits in shared
// memory, where the hardware has its own ways to write it (16 bytes a thread
// without registers, whole boxes by TMA) and to read it (ldmatrix, plain and
// transposed, wgmma's descriptors). Each asks something of the layout, and a
// layout made for two register layouts alone (SharedExchange.h) meets none of it.
//
// APPROACH. One family of layouts serves all of them. The tile is cut into panels
// whose rows run along the axis that is contiguous in global memory and are 128
// bytes long (or 64, 32 or 16, where the tile is narrower); the rows of a panel
// follow one another, and within a row the 16-byte pieces are permuted by an xor
// with the row's number, so that the same piece of 8 rows lies in different
// banks. This is what TMA writes and wgmma reads as its 128-, 64- and 32-byte
// swizzles (PTX ISA, "Tensor Swizzling Modes", "Strides" of wgmma), and it is
// linear over GF(2).
//
// Which accesses a given pair of layouts permits is then read off the map from
// (register, lane, warp) to offsets, never asserted by the one who chose it.
//
//===----------------------------------------------------------------------===//

#ifndef KILN_COMPILER_LAYOUT_STAGEDOPERAND_H
#define KILN_COMPILER_LAYOUT_STAGEDOPERAND_H

#include "compiler/Layout/LayoutConversion.h"

namespace kiln {

/// Bytes of a panel's row: the tile's extent along `axis`, at most 128.
unsigned swizzledRowBytes(llvm::ArrayRef<int64_t> shape, unsigned axis, unsigned elementBits);

/// The swizzled layout of a tile whose rows run along `axis`, one of the last two; the other of
/// these counts rows. Needs rows of at least 16 bytes.
SharedLayout swizzledShared(llvm::ArrayRef<int64_t> shape, unsigned axis, unsigned elementBits);

/// The layout in which a warp's lanes have pieces of 16 bytes that lie side by side in the buffer,
/// in the order of lanes, and threads nothing twice; none if the tile is too small, or padded.
std::optional<LinearLayout> sideBySideLayout(const SharedLayout &shared, unsigned elementBits,
                                             unsigned numLanes, unsigned numWarps);

/// Whether the accesses to the buffer are such.
bool isSideBySide(const SharedAccess &access, const SharedLayout &shared, unsigned elementBits);

/// How a warp reads a buffer by ldmatrix: a matrix is 8 rows of 16 bytes, which the instruction
/// spreads over the lanes, 4 bytes each; one instruction reads up to 4 matrices.
struct MatrixAccess {
  /// The two halves of a lane's word come from two rows (16-bit elements).
  bool transposed = false;
  unsigned matrices = 1; ///< of one instruction: 1, 2 or 4
  struct Part {
    /// The registers that an instruction fills: 32 / elementBits for each matrix.
    llvm::SmallVector<unsigned, 8> registers;
    uint64_t offset = 0; ///< in elements
  };
  llvm::SmallVector<Part, 8> parts;
  /// The row whose address a lane gives: the xor of the columns that its bits and the warp's
  /// select.
  BinaryColumns laneOffsets, warpOffsets;
  /// What all instructions cost a warp, in wavefronts.
  int64_t wavefronts = 0;
};

/// The widest ldmatrix that brings every register of `distributed` from `shared`; none if the two
/// do not fit together.
std::optional<MatrixAccess> planMatrixAccess(const LinearLayout &distributed,
                                             const SharedLayout &shared, unsigned elementBits);

/// How a wave reads a buffer of 16-bit or 8-bit elements across its rows, 8 bytes of registers an
/// instruction (ds_read_b64_tr_b16, ds_read_b64_tr_b8): of 16 lanes each gives the address of 8
/// bytes, 4 or 2 lanes those of a row, and gets one column of the 4 or 8 rows; none if the two do
/// not fit together. `laneOffsets` are of what a lane gives.
std::optional<SharedAccess> planTransposedAccess(const LinearLayout &distributed,
                                                 const SharedLayout &shared, unsigned elementBits);

/// A buffer between the layout that an operand is made in and who reads it, with what it costs a
/// warp: wavefronts and instructions. Stores of 16 bytes count nothing: they may be copies, which
/// need no registers and no instruction of the loop's own.
struct Staging {
  SharedLayout shared;
  int64_t cost = 0;
};

/// For registers of the layout `result`: swizzled rows that ldmatrix reads, where there is
/// `matrixLoads`, or what planSharedExchange says.
Staging planStaging(const LinearLayout &source, const LinearLayout &result, unsigned elementBits,
                    const SharedMemoryShape &memory, bool matrixLoads);

/// The buffer through which an operand goes to registers of the layout `result`. None where it
/// stays in registers: renamed, or passed from lane to lane. What a thread has whole pieces of goes
/// through a buffer also within a warp, where that costs less.
std::optional<Staging> planOperandStaging(const LinearLayout &source, const LinearLayout &result,
                                          unsigned elementBits, const SharedMemoryShape &memory,
                                          bool matrixLoads);

/// For a unit that reads shared memory, of a tile of two axes: where the unit can transpose, its
/// rows run along the axis of which a thread has more neighbours, or of as many that along which
/// stores conflict less.
Staging planUnitStaging(const LinearLayout &source, unsigned axisK, unsigned elementBits,
                        const SharedMemoryShape &memory);

/// Someone who reads a tile, with its axes in `order`, as an operand.
struct OperandReader {
  llvm::SmallVector<unsigned> order;
  /// The layout that a thread wants it in; none: a unit reads shared memory, along `axisK`.
  const LinearLayout *registers = nullptr;
  unsigned axisK = 0;
};

/// One buffer for all readers of a tile: swizzled rows along one of `axes` that each of them reads
/// as it is, by ldmatrix or by descriptors; none if there are no such, or if a buffer for each
/// reader costs less.
std::optional<Staging> planCommonStaging(const LinearLayout &source,
                                         llvm::ArrayRef<OperandReader> readers,
                                         llvm::ArrayRef<unsigned> axes, unsigned elementBits,
                                         const SharedMemoryShape &memory, bool matrixLoads);

/// An operand as wgmma's matrix descriptors tell it (PTX ISA, "Matrix Descriptor Format").
struct MatrixDescriptor {
  bool transposed = false;   ///< rows run along m or n, not along k
  unsigned swizzle = 0;      ///< 1, 2, 3: rows of 128, 64, 32 bytes
  uint64_t leadingBytes = 0; ///< from panel to panel
  uint64_t strideBytes = 0;  ///< from 8 rows to the next 8
};

/// How wgmma reads an operand of two axes, of which `axisK` is k; none if it cannot.
std::optional<MatrixDescriptor> describeOperand(const SharedLayout &shared, unsigned axisK,
                                                unsigned elementBits);

} // namespace kiln

#endif // KILN_COMPILER_LAYOUT_STAGEDOPERAND_H
