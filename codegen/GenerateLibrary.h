//===- GenerateLibrary.h - from a model to the files of a library -*- C++ -*-===//
//
// The entry point of codegen/. Pure: equal models give equal bytes, and nothing is written; hand
// the files to writeOutputs (OutputTransaction.h).
//
//===----------------------------------------------------------------------===//
#ifndef KILN_CODEGEN_GENERATELIBRARY_H
#define KILN_CODEGEN_GENERATELIBRARY_H

#include "codegen/LibraryModel.h"
#include "codegen/LibrarySizes.h"
#include "codegen/OutputTransaction.h"

namespace kiln {

struct GeneratedLibrary {
  /// `<name>.h`, `<name>.c`, `<name>.json` and `lib<name>.a`; for further host architectures
  /// `lib<name>-<architecture>.a`; `<name>_torch.cpp`, `<name>.hpp` and
  /// `<name>.<architecture>.kpack` where the model asks for them.
  std::vector<OutputFile> files;
  LibrarySizes sizes;
};

/// The names of the files that generateLibrary() makes of a model with this name and these targets.
std::vector<std::string> libraryFileNames(const LibraryModel &model);

/// `<name>.h` of a model, which need not have binaries yet: the same text as long as no variant is
/// left out.
std::string generateHeader(const LibraryModel &model);
/// The same of `<name>.hpp`.
std::string generateCxxHeader(const LibraryModel &model);

/// Fails when checkModel does, when a host object cannot be linked beside others, or when the
/// archive holds more bytes of them than the size budget (the message lists the largest).
llvm::Expected<GeneratedLibrary> generateLibrary(const LibraryModel &model);

} // namespace kiln

#endif // KILN_CODEGEN_GENERATELIBRARY_H
