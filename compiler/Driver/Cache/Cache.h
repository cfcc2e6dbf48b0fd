// kiln cache: the folder in which builds keep binaries.

#ifndef KILN_COMPILER_DRIVER_CACHE_CACHE_H
#define KILN_COMPILER_DRIVER_CACHE_CACHE_H

#include "compiler/Driver/CommandLine/Options.h"

namespace kiln {

/// Reads the names and sizes of the folder's files; removes those that --prune or --clear say.
/// Prints what is left, as a line or as JSON. The process's exit status: 0, or 1 after errors.
int runCache(const CommandLine &line);

} // namespace kiln

#endif
