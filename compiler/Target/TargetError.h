//===- TargetError.h - An error with a place in the kernel --------------------===//

#ifndef KILN_COMPILER_TARGET_TARGETERROR_H
#define KILN_COMPILER_TARGET_TARGETERROR_H

#include "llvm/Support/Error.h"
#include <string>

namespace kiln {

/// An error that only code generation found: in the user's kernel (then with a place, where the
/// module has locations) or from a tool behind the target.
class TargetError : public llvm::ErrorInfo<TargetError> {
public:
  static char ID;
  TargetError(std::string message, std::string path = "", unsigned line = 0, unsigned column = 0)
      : message(std::move(message)), path(std::move(path)), line(line), column(column) {}

  /// "path:line:column: message", or the message alone.
  void log(llvm::raw_ostream &os) const override;
  std::error_code convertToErrorCode() const override { return llvm::inconvertibleErrorCode(); }

  std::string message, path;
  unsigned line, column;
};

/// A TargetError without a place, from pieces that are printed one after the other.
template <typename... Args> llvm::Error targetError(const Args &...args) {
  std::string text;
  llvm::raw_string_ostream os(text);
  (os << ... << args);
  return llvm::make_error<TargetError>(std::move(text));
}

} // namespace kiln

#endif // KILN_COMPILER_TARGET_TARGETERROR_H
