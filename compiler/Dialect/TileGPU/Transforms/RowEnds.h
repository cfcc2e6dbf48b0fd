// What is known of rows that do not reach into each other.
//
// Rows of a run-time stride, `x + row * stride + column`, may overlap, for all that the address
// says. But columns from 0 to below the stride are one row's alone: two elements meet only where
// both their rows and their columns are equal. A mask says so by itself where it compares columns
// with the stride, and in most other kernels with a number that the stride is no less than, which
// can be asked once, before the kernel begins.
//
// Masks go where a loop's last iteration stands behind it. So what they say is written down on the
// accesses before: it stays true of any part of them.

#ifndef KILN_COMPILER_DIALECT_TILEGPU_TRANSFORMS_ROWENDS_H
#define KILN_COMPILER_DIALECT_TILEGPU_TRANSFORMS_ROWENDS_H

#include "mlir/IR/Operation.h"
#include "mlir/Pass/Pass.h"
#include <optional>

namespace kiln {

/// Of an access: what of its address is multiplied by the argument `stride` is rows, and what is
/// made of indices of the tile, of iterations and constants, in elements, is columns, which are 0
/// or more and less than the argument `end`. Arguments are integers, by their numbers.
struct RowEnds {
  unsigned stride, end;
  bool operator==(const RowEnds &other) const { return stride == other.stride && end == other.end; }
};

/// What is written down on the access; none: nothing is known.
std::optional<RowEnds> rowEndsOf(mlir::Operation *access);

/// "kiln-find-row-ends": writes it down.
std::unique_ptr<mlir::Pass> createFindRowEndsPass();

} // namespace kiln

#endif
