// kiln verify: replays captured launches with the kernels of a spec, compiled as kiln build does,
// and compares what they leave in memory.

#ifndef KILN_COMPILER_DRIVER_VERIFY_VERIFY_H
#define KILN_COMPILER_DRIVER_VERIFY_VERIFY_H

#include "compiler/Driver/CommandLine/Options.h"

namespace kiln {

/// Reads the spec, its sources and the capture. Prints one line for each launch and a sum; reports
/// what is wrong on standard error. The process's exit status: 0 where all launches agree, else 1.
int runVerify(const CommandLine &line);

} // namespace kiln

#endif
