// kiln completion: a script by which a shell completes what is typed behind "kiln".

#ifndef KILN_COMPILER_DRIVER_COMPLETION_COMPLETION_H
#define KILN_COMPILER_DRIVER_COMPLETION_COMPLETION_H

#include "compiler/Driver/CommandLine/Options.h"

namespace kiln {

/// Reads nothing but the command line's own tables. Prints the script. The process's exit status,
/// 0.
int runCompletion(const CommandLine &line);

} // namespace kiln

#endif
