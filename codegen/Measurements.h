//===- Measurements.h - from tuning files to an entry point -----*- C++ -*-===//
//
// What the measurements of a tuning file say about the variants of one entry point for one target.
//
// Several measurements may have one dispatch key: other strides, another device of the same target,
// another run. Each says how many times slower than its fastest a variant was; the geometric mean
// of that stands, times the geometric mean of the fastest times. A variant that failed in one of
// them is none to choose there. Where there is no time, but variants that somebody has chosen,
// these are taken to be the fastest.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_CODEGEN_MEASUREMENTS_H
#define KILN_CODEGEN_MEASUREMENTS_H

#include "codegen/LibraryModel.h"
#include "codegen/TuningFile.h"

namespace kiln {

/// Empty devices and shapes where the file has nothing about the entry and target. Reports
/// measurements that do not say all of the dispatch key.
MeasuredTarget measuredTarget(const EntryModel &entry, const LibraryModel &model, unsigned target,
                              const TuningFile &tuning, llvm::StringRef path,
                              DiagnosticEngine &diagnostics);

} // namespace kiln

#endif // KILN_CODEGEN_MEASUREMENTS_H
