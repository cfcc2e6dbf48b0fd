// Loads of values that dots' operands are computed from, taken through buffers.
//
// Weights of 4 or 8 bits become operands in registers, so that their loads feed no buffer. A buffer
// in between, that each thread fills and reads for itself, makes them loads like others: they can
// become copies that run iterations ahead.

#ifndef KILN_COMPILER_DIALECT_TILEGPU_TRANSFORMS_LOADDETOURS_H
#define KILN_COMPILER_DIALECT_TILEGPU_TRANSFORMS_LOADDETOURS_H

#include "compiler/Dialect/TileGPU/TileGPU.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace kiln {

struct LoadDetour {
  tile::LoadOp load;
  tilegpu::AllocOp buffer;
  tilegpu::SharedStoreOp store;
  tilegpu::SharedLoadOp read;

  /// Leaves the loop as it was.
  void takeBack();
};

/// Stores, and loads again, what the loop's body loads for operands of its dots and computes with,
/// in tiles of two axes or more: those of one may be rows of scales, which all threads read.
llvm::SmallVector<LoadDetour> detourLoads(mlir::scf::ForOp loop, const TargetInfo &target);

} // namespace kiln

#endif
