// Scalars that only one thread needs.
//
// A scalar is in every thread: all load it, one of them, its owner, stores it. So where a program
// counts in memory (`store(p, load(p) + 1)`), a barrier has to stand between the two, and another
// before the next time. What only goes into what owners store, its owner may load alone: the one
// thread keeps its own order.

#ifndef KILN_COMPILER_DIALECT_TILEGPU_TRANSFORMS_OWNERLOADS_H
#define KILN_COMPILER_DIALECT_TILEGPU_TRANSFORMS_OWNERLOADS_H

#include "compiler/Dialect/Tile/Tile.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace kiln {

class GlobalOrder;

/// Whether the scalar is loaded by its owner alone (tile.load, tilegpu.global_load); in other
/// threads it is anything, and as the address is theirs, too, hardware may read it there.
bool isLoadedByOwner(mlir::Operation *load);
void setLoadedByOwner(mlir::Operation *load);

/// Has owners load scalars that nobody else needs, where that saves a barrier: where a scalar is
/// stored that the load could meet.
void loadByOwners(mlir::func::FuncOp kernel, GlobalOrder &order);

} // namespace kiln

#endif
