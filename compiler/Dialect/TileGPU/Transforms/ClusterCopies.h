// Copies of blocks that all blocks of threads of a cluster make alike.
//
// The blocks of a cluster that shares a program (kiln-split-programs) multiply different rows by
// the same columns: what one operand's copies bring is the same for all. Hopper's copy engine
// brings that to the shared memory of all of them at once (multicast), so that each starts a part
// of the copy, and the second-level cache is read once.

#ifndef KILN_COMPILER_DIALECT_TILEGPU_TRANSFORMS_CLUSTERCOPIES_H
#define KILN_COMPILER_DIALECT_TILEGPU_TRANSFORMS_CLUSTERCOPIES_H

#include "compiler/Dialect/TileGPU/TileGPU.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace kiln {

class ClusterCopies {
public:
  explicit ClusterCopies(mlir::func::FuncOp kernel);

  /// How many blocks can make this load of the launcher's map together; 1: each makes its own. All
  /// loads by a map are made alike, as the map says what one copy brings.
  unsigned sharersOf(tile::DescriptorLoadOp load) const;

private:
  bool isAlike(tile::DescriptorLoadOp load) const;

  unsigned blocks;
};

} // namespace kiln

#endif
