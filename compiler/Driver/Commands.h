// One function for each command of kiln. Each returns the process's exit status: 0, or 1 after
// errors.

#ifndef KILN_COMPILER_DRIVER_COMMANDS_H
#define KILN_COMPILER_DRIVER_COMMANDS_H

#include "compiler/Driver/Options.h"

namespace kiln {

int runBuild(const CommandLine &line);
int runShowPlan(const CommandLine &line);
int runLink(const CommandLine &line);
/// kiln link --triton-compat.
int runTritonLink(const CommandLine &line);
int runCheck(const CommandLine &line);
int runCompile(const CommandLine &line);
int runRun(const CommandLine &line);
int runInspect(const CommandLine &line);
int runTune(const CommandLine &line);
int runReport(const CommandLine &line);
int runCache(const CommandLine &line);
int runLanguage(const CommandLine &line);
int runCompletion(const CommandLine &line);

} // namespace kiln

#endif
