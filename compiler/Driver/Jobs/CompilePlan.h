// Carries out a plan's compilations in worker processes.

#ifndef KILN_COMPILER_DRIVER_JOBS_COMPILEPLAN_H
#define KILN_COMPILER_DRIVER_JOBS_COMPILEPLAN_H

#include "compiler/Driver/Jobs/CompileVariant.h"
#include "compiler/Driver/Reporting/Reporter.h"

namespace kiln {

/// Compiles the jobs that the plan has chosen and reports what they say. Results are in the order
/// of the jobs, whatever the order in which they ended; one that crashed or hung has no binary and
/// has been reported. Jobs that were not chosen have empty results.
std::vector<VariantResult> compilePlan(const BuildPlan &plan, ModuleLoader &loader,
                                       const CompilerOptions &options, const VariantGoal &goal,
                                       Reporter &reporter);

} // namespace kiln

#endif
