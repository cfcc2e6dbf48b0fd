// kiln tune: a program that times the variants of a spec's kernels, and files of such times.

#ifndef KILN_COMPILER_DRIVER_TUNE_TUNE_H
#define KILN_COMPILER_DRIVER_TUNE_TUNE_H

#include "compiler/Driver/CommandLine/Options.h"

namespace kiln {

/// Reads the spec and its sources, or what --merge or --import names. Writes one of these:
///   - a library with all variants, and the C source of its tuner (-o FOLDER), for the spec's
///   shapes
///     or those of --shapes;
///   - a tuning file, put together (--merge) or out of what others have measured (--import);
///   - a table of measured shapes that programs load (--table).
/// Reports what is wrong on standard error. The process's exit status: 0, or 1 after errors.
int runTune(const CommandLine &line);

} // namespace kiln

#endif
