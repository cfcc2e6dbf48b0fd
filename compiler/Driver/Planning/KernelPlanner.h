// The compilations of one kernel of a spec.

#ifndef KILN_COMPILER_DRIVER_PLANNING_KERNELPLANNER_H
#define KILN_COMPILER_DRIVER_PLANNING_KERNELPLANNER_H

#include "codegen/Spec.h"
#include "compiler/Driver/Planning/BuildPlan.h"

namespace kiln {

/// Adds the kernel's entry points, their variants and the jobs to the plan. Reports mistakes, each
/// once.
void planKernel(const Spec &spec, const SpecKernel &kernel, llvm::StringRef specFolder,
                ModuleLoader &loader, const CompilerOptions &options, DiagnosticEngine &diagnostics,
                BuildPlan &plan);

} // namespace kiln

#endif
