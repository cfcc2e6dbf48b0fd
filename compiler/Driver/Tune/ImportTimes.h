// Times that others have measured, as a tuning file.

#ifndef KILN_COMPILER_DRIVER_TUNE_IMPORTTIMES_H
#define KILN_COMPILER_DRIVER_TUNE_IMPORTTIMES_H

#include "codegen/ChoiceTable.h"
#include "compiler/Driver/Planning/BuildPlan.h"

namespace kiln {

/// What Triton's times of a kernel say about the variants of the plan's entry point for its only
/// target: a config is all variants with its values and options. `path` is for messages. Reports
/// what does not fit; empty then.
std::optional<TuningMeasurement> importTritonTimes(const BuildPlan &plan, unsigned entry,
                                                   const TritonTimes &times, llvm::StringRef path,
                                                   DiagnosticEngine &diagnostics);

/// The same of a table of choices. `where` says what an argument of the dispatch key is in a row of
/// the table, as an expression over M.
std::vector<TuningMeasurement>
importChoices(const BuildPlan &plan, unsigned entry, llvm::ArrayRef<Choice> choices,
              llvm::ArrayRef<std::pair<std::string, Expression>> where, llvm::StringRef path,
              DiagnosticEngine &diagnostics);

} // namespace kiln

#endif
