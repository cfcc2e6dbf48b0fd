// Copies from AMD's buffers to shared memory, as assembly text.

#ifndef KILN_COMPILER_TARGET_BUFFERCOPIES_H
#define KILN_COMPILER_TARGET_BUFFERCOPIES_H

#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <string>

namespace kiln {

/// A warp's copies from one buffer, 16 bytes a lane each. The text takes the lanes' offset of each
/// copy, the two halves of the descriptor, and the address in shared memory of each copy; with
/// `distances` that of the first alone, from which each other is so far from the one before.
std::string bufferCopyText(unsigned copies, llvm::ArrayRef<uint32_t> distances = {});
/// What LLVM has to know of the text's operands and registers.
std::string bufferCopyConstraints(unsigned copies, llvm::ArrayRef<uint32_t> distances = {});

} // namespace kiln

#endif
