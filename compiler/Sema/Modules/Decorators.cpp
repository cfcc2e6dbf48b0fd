// Decorators of a kernel that are read through. What launches, tunes, caches or traces a kernel
// leaves alone what it computes, and real kernels wear such wrappers of many packages. What else a
// decorator does is not known, as Python is not run: its author hears of it.

#include "compiler/Sema/Modules/ModuleScope.h"

namespace kiln::sema {

/// By the words in its name: what the wrappers of public packages of kernels are called.
static bool isLaunchWrapper(llvm::StringRef path) {
  static constexpr llvm::StringLiteral packages[] = {"triton", "gluon", "tl",
                                                     "torch",  "numba", "pytest"};
  static constexpr llvm::StringLiteral words[] = {
      "jit",      "tune",  "heuristic", "libentry",  "cache",           "trace",
      "metadata", "aot",   "kernel",    "pointwise", "must_use_result", "method",
      "property", "class", "profile",   "constexpr", "extern",          "builtin"};
  llvm::StringRef package = path.split('.').first;
  return package.starts_with("triton") || llvm::is_contained(packages, package) ||
         llvm::any_of(words, [&](llvm::StringRef word) { return path.contains_insensitive(word); });
}

void ModuleScope::checkDecorators(const FunctionObject &function) const {
  if (!function.definition)
    return;
  for (const ast::Expr *decorator : function.definition->decorators) {
    const auto *call = llvm::dyn_cast<ast::CallExpr>(decorator);
    SourceRange range = (call ? call->callee : decorator)->range;
    llvm::StringRef path = sources.get(range.file).getText(range);
    At at(*this, range);
    if (!isLaunchWrapper(path))
      warn(DiagKind::SemaDecoratorIgnored, path, function.getName());
  }
}

} // namespace kiln::sema
