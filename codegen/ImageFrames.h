//===- ImageFrames.h - images that are compressed together ------*- C++ -*-===//
//
// The variants of a kernel are much alike, so images compress best side by side: 155 images of a
// matrix product, 2.7 MB, take 858 KB one by one, 459 KB with a trained dictionary for each target,
// 307 KB in one zstd frame for each target, and 334 KB in frames of 1 MiB. The last is what Kiln
// does: to load one image the runtime has to unpack 1 MiB at most, which takes about a millisecond
// and is given back at once.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_CODEGEN_IMAGEFRAMES_H
#define KILN_CODEGEN_IMAGEFRAMES_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <string>
#include <vector>

namespace kiln {

/// Images of one target and format, one behind the other.
struct ImageFrame {
  /// Of what is stored.
  std::string symbol;
  std::string unpacked;
  /// What the archive or the pack holds.
  std::string stored;
  /// In a pack: its symbol, where the frame is in it, and the checksum that the runtime compares.
  std::string pack;
  uint64_t packOffset = 0, checksum = 0;
};

/// The most bytes of a frame; a larger image has one of its own.
inline constexpr uint64_t kFrameBytes = 1 << 20;

/// Frames of the images of one target and format, in the order in which they come.
class FrameBuilder {
public:
  /// Frames are called `stem`_0, `stem`_1 ...
  explicit FrameBuilder(std::string stem) : stem(std::move(stem)) {}

  struct Place {
    std::string frame;
    uint64_t offset;
  };
  Place add(llvm::StringRef image);
  /// Decides what is stored. Equal images give equal bytes, with equal versions of libzstd.
  llvm::Error store(bool isCompressed);

  std::vector<ImageFrame> frames;

private:
  std::string stem;
};

/// One zstd frame that states its size and ends with a checksum (RFC 8878).
llvm::Expected<std::string> compressZstd(llvm::StringRef bytes);
/// "1.5.4"
llvm::StringRef zstdVersion();

} // namespace kiln

#endif // KILN_CODEGEN_IMAGEFRAMES_H
