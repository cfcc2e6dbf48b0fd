// Diagnostics as a SARIF log (OASIS, version 2.1.0), which code hosts and editors show beside the
// source.

#ifndef KILN_COMPILER_DRIVER_REPORTING_SARIF_H
#define KILN_COMPILER_DRIVER_REPORTING_SARIF_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/JSON.h"
#include <string>

namespace kiln {

/// Of the elements that --diagnostics=json prints. The kinds that occur are the log's rules.
llvm::json::Value sarifLog(llvm::ArrayRef<std::string> diagnostics);

} // namespace kiln

#endif
