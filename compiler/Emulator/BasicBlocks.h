// Counting of instructions: tables of what the basic blocks of a kernel hold, as the operations are
// before they become host code, and a call at the beginning of each block that says that a thread
// has come to it. Where nothing is counted, that costs a test for each block.
//
// Refused: a call for each instruction, which would cost more than the instructions do; two copies
// of the code, one that counts, which would double the time to compile it.

#ifndef KILN_COMPILER_EMULATOR_BASICBLOCKS_H
#define KILN_COMPILER_EMULATOR_BASICBLOCKS_H

#include "compiler/Emulator/ThreadCode.h"

namespace kiln {

/// kiln_emu_basic_block and kiln_emu_instructions (runtime/emulator/kiln_emu.h), as words.
struct BlockTables {
  std::vector<int32_t> blocks, instructions;
  unsigned numBlocks = 0;
};

/// Erases operations whose results nobody uses: every back end does, so they are not counted.
void eraseUnused(mlir::LLVM::LLVMFuncOp function);

/// Writes the tables of a thread's function, whose own operations begin with `first`, and inserts
/// the calls.
BlockTables countBasicBlocks(mlir::LLVM::LLVMFuncOp function, mlir::Operation *first,
                             ThreadCode &code);

/// When all else is host code: the calls are made only where the launch counts.
void guardCounting(mlir::LLVM::LLVMFuncOp function, ThreadCode &code);

} // namespace kiln

#endif
