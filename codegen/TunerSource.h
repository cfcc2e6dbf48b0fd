//===- TunerSource.h - the C of a tuner -------------------------*- C++ -*-===//
//
// `<library>_tuner.c`: tables of the calls to time, and main(). What it does with them is
// runtime/tuner's.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_CODEGEN_TUNERSOURCE_H
#define KILN_CODEGEN_TUNERSOURCE_H

#include "codegen/LibraryModel.h"
#include "codegen/TuningShapes.h"

namespace kiln {

/// An entry point and what is to be timed of it.
struct TunedEntry {
  const EntryModel *entry = nullptr;
  std::vector<TunedCall> calls;
  std::optional<double> tolerance;
};

/// `entries` are some of the model's, at least one, each with a grid and a call.
std::string writeTunerSource(const LibraryModel &model, llvm::ArrayRef<TunedEntry> entries);

} // namespace kiln

#endif // KILN_CODEGEN_TUNERSOURCE_H
