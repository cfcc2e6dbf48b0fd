// Whether the programs that a build takes besides Kiln are there and work.

#ifndef KILN_COMPILER_DRIVER_JOBS_TOOLCHECK_H
#define KILN_COMPILER_DRIVER_JOBS_TOOLCHECK_H

#include "compiler/Driver/Jobs/CompileVariant.h"
#include "compiler/Driver/Planning/BuildPlan.h"

namespace kiln {

/// Reports the first of the chosen jobs' targets whose tools do not work, and gives false then;
/// also after an interrupt.
bool checkTools(const BuildPlan &plan, llvm::ArrayRef<unsigned> chosen,
                const CompilerOptions &options, const VariantGoal &goal,
                DiagnosticEngine &diagnostics);

} // namespace kiln

#endif
