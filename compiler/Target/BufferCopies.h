// Copies from AMD's buffers to shared memory, as assembly text.

#ifndef KILN_COMPILER_TARGET_BUFFERCOPIES_H
#define KILN_COMPILER_TARGET_BUFFERCOPIES_H

#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <optional>
#include <string>

namespace kiln {

/// A warp's copies, 16 bytes a lane each, that are one text.
struct BufferCopies {
  /// Of each copy, which of the halves of descriptors that the text takes are its buffer's.
  llvm::SmallVector<unsigned, 8> low = {0}, high = {1};
  /// How far the address in shared memory of each copy but the first is from that of the one
  /// before; none: the text takes it, as the first one's.
  llvm::SmallVector<std::optional<uint32_t>, 8> distances = {};

  std::optional<uint32_t> distanceOf(unsigned copy) const {
    return copy && copy <= distances.size() ? distances[copy - 1] : std::nullopt;
  }
};

/// The text takes the lanes' offset of each copy, halves of descriptors, and addresses in shared
/// memory.
std::string bufferCopyText(const BufferCopies &copies);
/// What LLVM has to know of the text's operands and registers.
std::string bufferCopyConstraints(const BufferCopies &copies);

} // namespace kiln

#endif
