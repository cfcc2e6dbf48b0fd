//===- TritonInterface.h - the C interface of Triton's own tools -*- C++ -*-===//
//
// Triton's compile.py writes a function for each signature and config, and link.py one that chooses
// among them. Programs that call these find the same names, types and headers here, over a library
// of Kiln's. What differs, on purpose: float arguments are float (Triton declares double, and its
// kernels read the wrong bytes), errors come back where Triton exits, and names are C where Triton
// puts a constant's '.' or '-' into them.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_CODEGEN_TRITONINTERFACE_H
#define KILN_CODEGEN_TRITONINTERFACE_H

#include "codegen/GenerateLibrary.h"
#include "codegen/Spec.h"

namespace kiln {

/// What compile.py is asked for; and options of the config, which it has none of but the warps and
/// stages: a function with others has a name of its own, so that it stands beside those without.
struct TritonRequest {
  std::string outName, signature;
  SpecOptions options;
};

struct TritonNames {
  /// "1a2b3c4d_0d1d": of what is asked for; between a file's stem and its extension.
  std::string specialization;
  /// "add_1a2b3c4d_0d1d": the function.
  std::string symbol;
  /// "1024_warps4xstages3": what link.py numbers.
  std::string algorithm;

  /// Of Kiln's own library behind the function. (C keeps names with two underscores together.)
  std::string library() const { return symbol + (symbol.back() == '_' ? "kiln" : "_kiln"); }
};

TritonNames tritonNames(const TritonRequest &request);

/// Fails for targets of several vendors or of none, and for arguments that the interface has no
/// type for. A model need not have binaries yet; it has one entry point, with a grid.
llvm::Error checkTritonInterface(const LibraryModel &model);

/// The library's files, with the function in the source, which is called
/// `<stem>.<specialization>.c` then, and a header of the same name.
std::vector<OutputFile> addTritonInterface(const LibraryModel &model, const TritonNames &names,
                                           llvm::StringRef stem, GeneratedLibrary library);

/// `<stem>.h` and `<stem>.c` of link.py, for headers of addTritonInterface: names and texts. Other
/// headers among them are passed over.
llvm::Expected<std::vector<OutputFile>> linkTritonHeaders(llvm::ArrayRef<OutputFile> headers,
                                                          llvm::StringRef stem);

} // namespace kiln

#endif // KILN_CODEGEN_TRITONINTERFACE_H
