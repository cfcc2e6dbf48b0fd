//===- CxxHeader.h - a library's kernels for C++17 --------------*- C++ -*-===//
//
// `<library>.hpp`: the functions of `<library>.h` as those of a namespace, with spans and tensors
// of kiln.hpp for pointers, and results for statuses. docs/library.md describes its use.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_CODEGEN_CXXHEADER_H
#define KILN_CODEGEN_CXXHEADER_H

#include "codegen/CWriter.h"

namespace kiln {

std::string cxxHeaderName(const LibraryModel &model);
std::string writeCxxHeader(const LibraryModel &model, const std::vector<EntryText> &entries);

} // namespace kiln

#endif // KILN_CODEGEN_CXXHEADER_H
