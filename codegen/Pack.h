//===- Pack.h - the images of one target in a file of their own -*- C++ -*-===//
//
// A program for many GPUs need not carry the code of all: with packs the archive has none, and next
// to the program stands a file for each architecture that it may meet. The library's records name
// the file, where each frame is in it, and by hashes what it must hold; the runtime reads a frame
// when a variant first loads (runtime/pack.c, which describes the file).
//
//===----------------------------------------------------------------------===//
#ifndef KILN_CODEGEN_PACK_H
#define KILN_CODEGEN_PACK_H

#include "codegen/ImageFrames.h"
#include "codegen/LibraryModel.h"
#include "llvm/ADT/ArrayRef.h"

namespace kiln {

struct Pack {
  /// Index into LibraryModel::targets.
  unsigned target = 0;
  std::string symbol;
  /// "matmul.sm_90a.kpack"
  std::string fileName;
  /// Digits of the hash of all that is behind the header.
  std::string identity;
  std::string contents;
};

/// The targets whose images packs hold: indices into LibraryModel::targets.
std::vector<unsigned> packedTargets(const LibraryModel &model);

/// "LIBRARY.sm_90a.kpack", of the target "cuda:sm_90a".
std::string packFileName(llvm::StringRef library, llvm::StringRef target);

/// Lays the frames out, tells each where it is, and fills in the contents.
void writePack(Pack &pack, llvm::ArrayRef<ImageFrame *> frames);

} // namespace kiln

#endif // KILN_CODEGEN_PACK_H
