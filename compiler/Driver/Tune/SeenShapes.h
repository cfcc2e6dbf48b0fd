// Shapes that a program was called with (kiln_dump_shapes), in place of those that a spec declares.

#ifndef KILN_COMPILER_DRIVER_TUNE_SEENSHAPES_H
#define KILN_COMPILER_DRIVER_TUNE_SEENSHAPES_H

#include "codegen/Spec.h"
#include "compiler/Basic/Diagnostics.h"

namespace kiln {

/// Gives each kernel of the spec that `file` has calls of those shapes to be timed in, each once;
/// others keep theirs. Calls that no variant took are left out. False, with a report, for a file
/// that is no such one, or about other kernels.
bool applySeenShapes(const SourceFile &file, Spec &spec, DiagnosticEngine &diagnostics);

} // namespace kiln

#endif
