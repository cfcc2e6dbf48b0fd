// Loads from, stores to and atomic operations on AMD's buffers, as LLVM's IR has them.

#ifndef KILN_COMPILER_TARGET_BUFFERACCESSES_H
#define KILN_COMPILER_TARGET_BUFFERACCESSES_H

namespace llvm {
class Use;
class User;
} // namespace llvm

namespace kiln {

/// The lanes' offsets of an access to a buffer; null: it is something else. In front of them among
/// the operands is the buffer, behind them what is added for all lanes.
llvm::Use *offsetOfBufferAccess(llvm::User *user);

} // namespace kiln

#endif
