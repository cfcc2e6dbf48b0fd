// Loads of several iterations of a loop made at once, in registers: ahead of the iterations, or at
// the beginning of the first.

#ifndef KILN_COMPILER_DIALECT_TILEGPU_TRANSFORMS_LOADSAHEAD_H
#define KILN_COMPILER_DIALECT_TILEGPU_TRANSFORMS_LOADSAHEAD_H

#include "compiler/Dialect/Tile/Tile.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace kiln {

/// Makes loads of an innermost loop `distance` iterations ahead, which is legal. `addresses` are
/// the operations of its body, in their order, that compute their operands, of nothing that the
/// loop carries.
void loadAhead(mlir::scf::ForOp loop, mlir::ArrayRef<tile::LoadOp> loads,
               mlir::ArrayRef<mlir::Operation *> addresses, unsigned distance);

/// Has the loop do `count` iterations in one, all of whose loads come first, if there are as many.
/// Nothing but loads touches memory in it; the rest is as above.
void loadTogether(mlir::scf::ForOp loop, mlir::ArrayRef<tile::LoadOp> loads,
                  mlir::ArrayRef<mlir::Operation *> addresses, unsigned count);

} // namespace kiln

#endif
