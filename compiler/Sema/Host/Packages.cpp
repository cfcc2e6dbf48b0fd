#include "compiler/Sema/Host/Packages.h"

#include "llvm/ADT/STLExtras.h"

namespace kiln::sema {

bool isHarmless(llvm::StringRef path) {
  llvm::StringRef head = path.split('.').first;
  static constexpr llvm::StringLiteral heads[] = {
      "torch",    "triton",     "numpy",    "np",         "logging", "warnings", "os",
      "sys",      "time",       "inspect",  "typing",     "re",      "json",     "hashlib",
      "struct",   "textwrap",   "pathlib",  "platform",   "abc",     "types",    "contextlib",
      "enum",     "datetime",   "math",     "functools",  "string",  "argparse", "itertools",
      "tempfile", "subprocess", "operator", "collections"};
  return llvm::is_contained(heads, head) || path == "super()";
}

bool mayRaise(llvm::StringRef path) {
  llvm::StringRef head = path.split('.').first;
  return !isHarmless(path) || head == "subprocess" || head == "pathlib" || head == "tempfile";
}

} // namespace kiln::sema
