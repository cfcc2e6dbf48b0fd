// The name of a source file in what kiln writes: manifests and line tables.

#ifndef KILN_COMPILER_DRIVER_JOBS_PORTABLEPATH_H
#define KILN_COMPILER_DRIVER_JOBS_PORTABLEPATH_H

#include "compiler/Driver/CommandLine/Options.h"

namespace kiln {

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
