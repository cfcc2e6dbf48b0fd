// What tuners measured, in a build: the tables of dispatch, and the variants that they make
// needless.

#ifndef KILN_COMPILER_DRIVER_PLANNING_TUNING_H
#define KILN_COMPILER_DRIVER_PLANNING_TUNING_H

#include "compiler/Driver/Planning/BuildPlan.h"

namespace kiln {

/// Checks the shapes that the spec declares, and reads its tuning files, relative to the spec, into
/// the plan. Where they are embedded, jobs of variants that the spec's bounds do without are taken
/// out of it. Reports what is wrong, and what was measured of something else.
void applyTuning(const Spec &spec, llvm::StringRef specPath, TuningUse use, BuildPlan &plan,
                 SourceManager &sources, DiagnosticEngine &diagnostics);

/// With all binaries: warns of variants whose code is not what was measured.
void checkMeasuredCode(const LibraryModel &model, DiagnosticEngine &diagnostics);

} // namespace kiln

#endif
