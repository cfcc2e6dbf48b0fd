// Where an argument of the call at hand stands in the source: errors about one argument point there
// and not at the whole call.

#include "compiler/Sema/Unwinding/Unwinding.h"

namespace kiln::sema {

Unwinding::Site::Site(Unwinding &unwinding, CallSite site)
    : unwinding(unwinding), saved(std::exchange(unwinding.callSite, site)) {}

/// The argument that the call gives for `name`; null when it is not written there by itself.
static const ast::Argument *findArgument(const CallSite &site, llvm::StringRef name) {
  size_t position = 0, index = SIZE_MAX;
  if (site.info)
    for (const auto &[i, parameter] : llvm::enumerate(site.info->getParameters()))
      if (parameter.name == name && i >= site.numBound)
        index = i - site.numBound;
  for (const ast::Argument &argument : site.expr->arguments) {
    if (argument.kind == ast::ArgumentKind::Keyword && argument.name.name == name)
      return &argument;
    if (argument.kind == ast::ArgumentKind::Star)
      index = SIZE_MAX;
    if (argument.kind == ast::ArgumentKind::Positional && position++ == index)
      return &argument;
  }
  return nullptr;
}

SourceRange Unwinding::keywordRange(llvm::StringRef name) const {
  if (callSite.expr)
    for (const ast::Argument &argument : callSite.expr->arguments)
      if (argument.kind == ast::ArgumentKind::Keyword && argument.name.name == name)
        return argument.name.range;
  return position;
}

SourceRange Unwinding::argumentRange(llvm::StringRef name) const {
  // Errors inside of a function that the builtin calls are not about its arguments.
  if (!callSite.expr || !(callSite.expr->range == position))
    return position;
  const ast::Argument *argument = findArgument(callSite, name);
  return argument ? argument->value->range : position;
}

} // namespace kiln::sema
