// Diagnostics as texts, which cross from worker processes to the driver.

#ifndef KILN_COMPILER_DRIVER_REPORTING_RENDEREDDIAGNOSTIC_H
#define KILN_COMPILER_DRIVER_REPORTING_RENDEREDDIAGNOSTIC_H

#include "compiler/Basic/Diagnostics.h"
#include <string>
#include <vector>

namespace kiln {

/// A diagnostic as it will be printed. Workers load files of their own, so positions do not cross;
/// texts do.
struct RenderedDiagnostic {
  Severity severity = Severity::Error;
  /// The printed form, and the element of --diagnostics=json.
  std::string text, json;
  /// Equal when two variants report one mistake: its text, but for what Sema reports the kind, the
  /// place and the calls that led there, since types differ from config to config.
  std::string key;
};

std::vector<RenderedDiagnostic> renderDiagnostics(const DiagnosticEngine &diagnostics,
                                                  const SourceManager &sources);

} // namespace kiln

#endif
