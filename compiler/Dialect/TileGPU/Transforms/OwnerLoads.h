// What only one of the threads that have it needs.
//
// A scalar is in every thread: all load it, one of them, its owner, stores it. So where a program
// counts in memory (`store(p, load(p) + 1)`), a barrier has to stand between the two, and another
// before the next time. What only goes into what owners store, its owner may load alone: the one
// thread keeps its own order. The same goes for a tile of fewer elements than the block has
// threads, of whose elements only those at the same indices are computed.

#ifndef KILN_COMPILER_DIALECT_TILEGPU_TRANSFORMS_OWNERLOADS_H
#define KILN_COMPILER_DIALECT_TILEGPU_TRANSFORMS_OWNERLOADS_H

#include "compiler/Dialect/Tile/Tile.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace kiln {

class GlobalOrder;

/// Whether owners alone load it (tile.load, tilegpu.buffer_load, tilegpu.global_load); in other
/// threads it is anything, and as the address is theirs, too, hardware may read it there.
bool isLoadedByOwner(mlir::Operation *load);
void setLoadedByOwner(mlir::Operation *load);

/// Has owners load what nobody else needs, where that saves a barrier: where what they store could
/// meet the load.
void loadByOwners(mlir::func::FuncOp kernel, GlobalOrder &order);

} // namespace kiln

#endif
