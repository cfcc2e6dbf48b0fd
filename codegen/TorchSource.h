//===- TorchSource.h - a library's kernels as PyTorch operators --*- C++ -*-===//
//
// `<library>_torch.cpp`, which registers each entry point as torch.ops.<library>.<entry>: schemas,
// checks of element types and devices, the functions for the devices that the library has targets
// for, and meta functions, which only check. docs/python.md describes its use.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_CODEGEN_TORCHSOURCE_H
#define KILN_CODEGEN_TORCHSOURCE_H

#include "codegen/CWriter.h"

namespace kiln {

std::string torchSourceName(const LibraryModel &model);
/// Fails for a library without a target whose arrays PyTorch has.
llvm::Expected<std::string> writeTorchSource(const LibraryModel &model,
                                             const std::vector<EntryText> &entries);

} // namespace kiln

#endif // KILN_CODEGEN_TORCHSOURCE_H
