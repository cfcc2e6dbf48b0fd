// MLIR's diagnostics as Kiln's: same form, same source lines, same list.

#ifndef KILN_COMPILER_PIPELINE_DIAGNOSTICBRIDGE_H
#define KILN_COMPILER_PIPELINE_DIAGNOSTICBRIDGE_H

#include "compiler/Basic/Diagnostics.h"
#include "mlir/IR/Diagnostics.h"

namespace kiln {

/// While it lives, every error, warning and note of `context` goes to `diagnostics`. Locations that
/// Sema made find their file in `sources` by its printed path; the call chain of an inlined helper
/// becomes notes. Remarks are dropped.
class DiagnosticBridge : public mlir::ScopedDiagnosticHandler {
public:
  DiagnosticBridge(mlir::MLIRContext *context, DiagnosticEngine &diagnostics,
                   const SourceManager &sources);
};

/// The file position of a location, through fused, named and call-site locations; an invalid range
/// if it has none. The positions of the calls that led there are appended to `calls`, innermost
/// first.
SourceRange sourceRangeOf(mlir::Location location, const SourceManager &sources,
                          llvm::SmallVectorImpl<SourceRange> *calls = nullptr);

} // namespace kiln

#endif
