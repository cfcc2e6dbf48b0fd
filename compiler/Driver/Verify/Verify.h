// kiln verify: replays captured launches with the kernels of a spec, compiled as kiln build does,
// or those of a library that is built already, and compares what they leave in memory.

#ifndef KILN_COMPILER_DRIVER_VERIFY_VERIFY_H
#define KILN_COMPILER_DRIVER_VERIFY_VERIFY_H

#include "compiler/Driver/CommandLine/Options.h"

namespace kiln {

/// Reads the capture, and the spec with its sources, or loads the library. Prints one line for each
/// launch and a sum; reports what is wrong on standard error. The process's exit status: 0 where
/// all launches agree, else 1.
int runVerify(const CommandLine &line);

} // namespace kiln

#endif
