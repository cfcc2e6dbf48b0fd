// What an atomic of Tile IR is in LLVM's words: for every target alike.

#ifndef KILN_COMPILER_EXPANSION_ATOMICINSTRUCTIONS_ATOMICINSTRUCTIONS_H
#define KILN_COMPILER_EXPANSION_ATOMICINSTRUCTIONS_ATOMICINSTRUCTIONS_H

#include "compiler/Dialect/Tile/Tile.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace kiln {

/// The ordering of the access itself.
mlir::LLVM::AtomicOrdering atomicOrderingOf(tile::MemorySemantic semantic);

/// The read-modify-write instruction of a kind.
mlir::LLVM::AtomicBinOp atomicInstructionOf(tile::AtomicKind kind);

} // namespace kiln

#endif
