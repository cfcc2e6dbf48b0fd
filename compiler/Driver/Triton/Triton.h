// The commands with the interface of Triton's own tools, compile.py and link.py.
//
// Each reports what is wrong on standard error and returns the process's exit status: 0, or 1 after
// errors. Outputs appear whole or not at all.

#ifndef KILN_COMPILER_DRIVER_TRITON_TRITON_H
#define KILN_COMPILER_DRIVER_TRITON_TRITON_H

#include "compiler/Driver/CommandLine/Options.h"

namespace kiln {

/// kiln compile: one kernel, with the flags of compile.py. Reads the source and what it imports;
/// writes a library of this one kernel beside the path of -o, with Triton's functions for
/// --triton-compat; or, for --emit, one stage of the kernel to -o or to standard output.
int runCompile(const CommandLine &line);

/// kiln link --triton-compat: link.py. Reads headers that kiln compile --triton-compat has written;
/// writes a header and a C file that choose among their kernels, at the path of -o.
int runTritonLink(const CommandLine &line);

} // namespace kiln

#endif
