// Values of module-level names, in place of those in the sources: -D, and "constants" of the spec.

#ifndef KILN_COMPILER_DRIVER_PLANNING_DEFINITIONS_H
#define KILN_COMPILER_DRIVER_PLANNING_DEFINITIONS_H

#include "codegen/Spec.h"
#include "compiler/Driver/CommandLine/Options.h"
#include "compiler/Sema/Sema.h"

namespace kiln {

/// -D NAME=VALUE: a value as a signature writes it, else a string.
NamedConstants definitionsOf(const CompilerOptions &options);

/// Warns of definitions that no source could read; of those on the command line where all are there
/// to be asked.
void checkDefinitions(const Spec &spec, llvm::StringRef specFolder, const CompilerOptions &options,
                      DiagnosticEngine &diagnostics);

} // namespace kiln

#endif
