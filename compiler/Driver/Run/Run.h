// kiln run: compiles one kernel of a spec as kiln build does, and runs it once on this machine.

#ifndef KILN_COMPILER_DRIVER_RUN_RUN_H
#define KILN_COMPILER_DRIVER_RUN_RUN_H

#include "compiler/Driver/CommandLine/Options.h"

namespace kiln {

/// Reads the spec, its sources and the files of --arg. Writes the arrays of --out and the counts of
/// --count-json and --count-html, all or none; prints the counts of --count. Reports what is wrong,
/// and what --check has found, on standard error. The process's exit status: 0, or 1 after errors.
int runRun(const CommandLine &line);

} // namespace kiln

#endif
