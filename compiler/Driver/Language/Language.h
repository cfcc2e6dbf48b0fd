// kiln language: what kernels can call.

#ifndef KILN_COMPILER_DRIVER_LANGUAGE_LANGUAGE_H
#define KILN_COMPILER_DRIVER_LANGUAGE_LANGUAGE_H

#include "compiler/Driver/CommandLine/Options.h"

namespace kiln {

/// Reads nothing. Prints one function's description, or the whole reference (docs/reference.md).
/// The process's exit status: 0, or 1 for a function that there is not.
int runLanguage(const CommandLine &line);

} // namespace kiln

#endif
