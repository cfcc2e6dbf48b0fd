// What is wrong with the text of an argument.

#ifndef KILN_COMPILER_DRIVER_RUN_VALUEMISTAKES_H
#define KILN_COMPILER_DRIVER_RUN_VALUEMISTAKES_H

#include "compiler/Basic/Diagnostics.h"
#include <optional>

namespace kiln {

/// Of the argument `name`.
class ValueMistakes {
public:
  ValueMistakes(llvm::StringRef name, DiagnosticEngine &diagnostics)
      : name(name), diagnostics(diagnostics) {}

  std::nullopt_t expected(const llvm::Twine &what, llvm::StringRef got,
                          const llvm::Twine &hint = "") {
    auto &report = diagnostics.report(DiagKind::DriverArgumentValue, DiagPlace(), name, what, got);
    if (!hint.isTriviallyEmpty())
      report.withHint(hint);
    return std::nullopt;
  }

  std::nullopt_t tooLarge() {
    diagnostics.report(DiagKind::DriverArrayTooLarge, DiagPlace(), name);
    return std::nullopt;
  }

private:
  llvm::StringRef name;
  DiagnosticEngine &diagnostics;
};

} // namespace kiln

#endif
