//===- LibraryText.h - what the writers know of a library -------*- C++ -*-===//
//
// Where each binary is stored, and what the generated source calls it. What is equal in every byte,
// wherever in the library, is stored once.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_CODEGEN_LIBRARYTEXT_H
#define KILN_CODEGEN_LIBRARYTEXT_H

#include "codegen/CWriter.h"
#include "codegen/LibrarySizes.h"
#include "codegen/Pack.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <set>

namespace kiln {

/// The images of a target, of one format, that are stored together.
struct TargetFrames {
  unsigned target;
  BinaryFormat format;
  FrameBuilder builder;
};

/// All entry points, the images that several of them use, and those that are stored together.
struct LibraryText {
  std::vector<EntryText> entries;
  std::set<std::string> sharedImages;
  std::vector<TargetFrames> frames;
  /// Of each GPU, where the model has packs.
  std::vector<Pack> packs;

  std::vector<ImageFrame> allFrames() const {
    std::vector<ImageFrame> all;
    for (const TargetFrames &target : frames)
      llvm::append_range(all, target.builder.frames);
    return all;
  }
};

/// Names everything, and compresses and packs images where the model says so.
llvm::Expected<LibraryText> makeLibraryText(const LibraryModel &model);

/// The same without the binaries, of which a model need not have any yet.
std::vector<EntryText> makeEntryTexts(const LibraryModel &model);

/// Calls `take` for each binary of the entry point that is stored and is no earlier one's.
void forEachStored(const EntryText &text,
                   llvm::function_ref<void(const TargetRow &, const NamedBinary &)> take);

LibrarySizes sizesOf(const LibraryModel &model, const LibraryText &text);

inline llvm::StringRef bytesOf(const DeviceBinary &binary) {
  return {binary.bytes.data(), binary.bytes.size()};
}

} // namespace kiln

#endif // KILN_CODEGEN_LIBRARYTEXT_H
