// Paths and the spec: those in it start in its folder, and names of sources in what kiln writes
// (manifests, line tables, pieces) do where they can.

#ifndef KILN_COMPILER_DRIVER_JOBS_PORTABLEPATH_H
#define KILN_COMPILER_DRIVER_JOBS_PORTABLEPATH_H

#include "compiler/Driver/CommandLine/Options.h"

namespace kiln {

/// A path that the spec names, seen from where its folder is. An empty folder is the current one.
std::string besideSpec(llvm::StringRef specFolder, llvm::StringRef path);

/// The same text wherever the build stands and however its spec was named: relative to the import
/// root or the spec's folder that holds the file ("scale.py", "../shared/scale.py"), else, far from
/// both, the file's name alone. Never absolute.
std::string portablePath(llvm::StringRef path, const CompilerOptions &options);

/// Absolute and without "." and "..", by text alone: symbolic links stay as they were named.
std::string absolutePath(llvm::StringRef name);

/// The path from the spec's folder, up to the root where it must be: for another run of the tool
/// over the same spec, which sees the file as specFolder / path.
std::string pathFromSpec(llvm::StringRef path, const CompilerOptions &options);

} // namespace kiln

#endif
