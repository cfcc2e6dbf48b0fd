// Operands that loops' products take from registers rather than from shared memory.
//
// A unit that reads both operands from shared memory reads, for each instruction, 64 rows of A and
// as many columns of B as the instruction has. Of 64 columns or fewer A is half of that or more,
// and both together are all that shared memory gives in the time of the product. An A that is made
// in front of a loop is read only once, if threads hold it through the loop. Its buffer is free
// then for what the loop copies ahead.
//
//     store(x, a); for … { dot(a, b[i]) }      store(x, a); h = load(a); for … { dot(h, b[i]) }
//
// Registers may be worth more as blocks: it is done where threads have them, and as many blocks run
// on a processor as would by the shared memory that buffers and rings take.

#ifndef KILN_COMPILER_DIALECT_TILEGPU_TRANSFORMS_HOLDOPERANDS_H
#define KILN_COMPILER_DIALECT_TILEGPU_TRANSFORMS_HOLDOPERANDS_H

#include "compiler/Dialect/TileGPU/TileGPU.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace kiln {

/// For a kernel whose dots' operands are in buffers, before its loops are pipelined.
void holdOperands(mlir::func::FuncOp kernel, const TargetInfo &target);

} // namespace kiln

#endif
