#include "compiler/Sema/Evaluate/Evaluator.h"

#include "compiler/Basic/NameSuggestion.h"

namespace kiln::sema {

Evaluator::Evaluator(SourceManager &sources, const BuiltinTable &builtins, PythonRunner &python,
                     TensorTarget target, const NamedConstants &defines, DiagnosticEngine &diags)
    : Reporting(state), state(diags, target.context != nullptr), runner(python),
      tensorBuilder(state, builtins, *this, sources, std::move(target)),
      scope(state, builtins, sources, python, *this, tensorBuilder.getTarget(), defines) {}

static ActiveCall &located(Evaluator &evaluator, Frame &frame) {
  bool isInlined = evaluator.tensors().buildsIR() && evaluator.unwinding().getCall() &&
                   frame.mode == FunctionMode::Kernel;
  if (isInlined)
    frame.callLocation = evaluator.tensors().loc();
  return frame;
}

FrameGuard::FrameGuard(Evaluator &evaluator, Frame &frame)
    : entered(evaluator.unwinding(), located(evaluator, frame)) {}

void Evaluator::replace(llvm::StringRef name, const Value &old, const Value &value) {
  auto bound = frame()->names.find(name);
  if (bound != frame()->names.end() && isIdentical(bound->second, old))
    bound->second = value;
}

Value Evaluator::lookUp(llvm::StringRef name) {
  if (!frame()->globals.count(name)) {
    if (auto found = frame()->names.find(name); found != frame()->names.end())
      return tensors().use(name, found->second);
    if (frame()->closure)
      if (auto found = frame()->closure->find(name); found != frame()->closure->end())
        return tensors().use(name, found->second);
    if (const Value *found = findEnclosing(frame()->enclosing, name))
      return outerName(name, known(*found));
  }
  if (frame()->module)
    if (std::optional<Value> global = python().findGlobal(*frame()->module, name))
      return outerName(name, *global, frame()->module);
  if (failed())
    return Value();
  if (const BuiltinInfo *info = builtins().find(Library::Python, name))
    return outerName(name, Value::builtin(*info));
  if (name.ends_with("Error") || name.ends_with("Exception") || name.ends_with("Warning"))
    return Value::opaque(name);
  if (name == "__name__")
    return Value::string("__kiln__");
  if (name == "__file__")
    return Value::string(frame()->module ? frame()->module->module->path : "");
  if (name == "NotImplemented" || name == "property" || name == "super" || name == "classmethod")
    return Value::opaque(name);

  if (frame()->module && frame()->module->starred.isOpaque())
    return python().getAttribute(frame()->module->starred, name);
  std::vector<llvm::StringRef> candidates = builtins().getNames(Library::Python);
  for (const auto &entry : frame()->names)
    candidates.push_back(entry.first);
  if (frame()->module)
    for (const auto &entry : frame()->module->scope->names)
      candidates.push_back(entry.first);
  return errorWithHint(suggestName(name, candidates), DiagKind::SemaUnknownName, name);
}

} // namespace kiln::sema
