// The commands that make a library: at once (build), not at all (check), or in pieces that build
// systems compile (plan, build --objects, link). docs/cli.md describes their options.
//
// All read a spec, the sources of its kernels with what they import, and its tuning files. Each
// reports what is wrong on standard error and returns the process's exit status: 0, or 1 after
// errors. Outputs appear whole or not at all.

#ifndef KILN_COMPILER_DRIVER_LIBRARY_LIBRARY_H
#define KILN_COMPILER_DRIVER_LIBRARY_LIBRARY_H

#include "compiler/Driver/CommandLine/Options.h"

namespace kiln {

/// kiln build: compiles the spec's variants. Writes the library's files into -o, or what was
/// compiled into --objects; nothing for --only without these. Also what --depfile and --timing ask
/// for.
int runBuild(const CommandLine &line);

/// kiln check: evaluates the kernels of all variants and generates nothing. Writes what --timing
/// asks for.
int runCheck(const CommandLine &line);

/// kiln plan: what the library will be made of, as JSON or as names (--list), to -o or to standard
/// output; and its header, to --header. Compiles nothing.
int runPlan(const CommandLine &line);

/// kiln link: reads files of pieces, too, which have to be whole, of the same tool, options and
/// sources as now, and all that the plan wants. Writes the same files as one build of all would,
/// and what --depfile asks for.
int runLink(const CommandLine &line);

} // namespace kiln

#endif
