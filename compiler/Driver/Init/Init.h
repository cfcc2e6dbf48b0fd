// kiln init: writes a spec for the kernels of a file, for somebody to complete.

#ifndef KILN_COMPILER_DRIVER_INIT_INIT_H
#define KILN_COMPILER_DRIVER_INIT_INIT_H

#include "compiler/Driver/CommandLine/Options.h"

namespace kiln {

/// Reads the source and what it imports. Writes the spec, but over no file; prints what is left to
/// choose. The process's exit status: 0, or 1 after errors.
int runInit(const CommandLine &line);

} // namespace kiln

#endif
