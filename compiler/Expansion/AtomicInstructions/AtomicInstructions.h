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

/// LLVM's intrinsic of AMD's for the instruction on an element, or two of 16 bits, of a buffer,
/// which there is for what tilegpu::bufferReductionBits permits.
llvm::StringRef bufferIntrinsicOf(mlir::LLVM::AtomicBinOp instruction);

/// The other way round; none: it is no such intrinsic.
std::optional<mlir::LLVM::AtomicBinOp> bufferInstructionOf(llvm::StringRef intrinsic);

/// The instructions on the bits of floats that find the larger or smaller one in IEEE 754's total
/// order. Integers compare as floats do if one is positive, and the other way round if
/// both are negative.
struct BitwiseExtreme {
  mlir::LLVM::AtomicBinOp ofPositive, ofNegative; ///< by the operand's sign bit
};

/// Of FMax and FMin on 32 and 64 bits: memory has these instructions, where that of floats would be
/// a loop of compare-and-swap.
std::optional<BitwiseExtreme> bitwiseExtremeOf(tile::AtomicKind kind, mlir::Type element);

} // namespace kiln

#endif
