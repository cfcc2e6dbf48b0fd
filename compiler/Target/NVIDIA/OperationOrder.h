//===- OperationOrder.h - Arithmetic next to where it is used ------------------===//
//
// A kernel's IR is written operation by operation: all bytes of a tile are widened,
// then all are multiplied, then all are rounded. Between two of them the whole tile
// lives, and ptxas, which moves instructions about to hide how long they take, does not
// undo that: it gives each value a register. So each result is computed right before its
// first use, as deep in a tile's expression as that goes, and a tile that is made of
// packed elements, and packed again, never lives unpacked.
//
//===---------------------------------------------------------------------------===//

#ifndef KILN_COMPILER_TARGET_NVIDIA_OPERATIONORDER_H
#define KILN_COMPILER_TARGET_NVIDIA_OPERATIONORDER_H

#include <memory>

namespace llvm {
class Module;
} // namespace llvm

namespace kiln {

/// Moves what neither touches memory nor concerns other threads down to its first use, where less
/// lives at a time by that, as it does not of sums; but not behind a barrier or a wait, nor in
/// functions with matrix instructions: what stands around those is where it is on purpose. Where no
/// more than so many registers live at a time all stays: with 64 half of the threads that a
/// processor can hold have room, and the assembler's own choices are worth more. Returns a copy of
/// the module as it was, as the assembler may make more of that; null where nothing moved.
std::unique_ptr<llvm::Module> computeNearUses(llvm::Module &module, unsigned registers = 64);

} // namespace kiln

#endif // KILN_COMPILER_TARGET_NVIDIA_OPERATIONORDER_H
