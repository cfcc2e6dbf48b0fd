#include "compiler/Sema/Evaluator.h"

#include "compiler/Basic/NameSuggestion.h"

namespace kiln::sema {
namespace {

/// Far above what any kernel needs (unrolled loops included), and a few seconds at most.
constexpr uint64_t maxSteps = 4'000'000;
constexpr unsigned maxCallDepth = 96;

} // namespace

Evaluator::Evaluator(ModuleLoader &loader, const TargetAnswers &target,
                     const NamedConstants &definesList, DiagnosticEngine &diags,
                     mlir::MLIRContext *context)
    : builder(context), context(context), loader(loader), target(target), diags(diags) {
  for (const auto &[name, value] : definesList)
    defines[name] = value;
}

Evaluator::~Evaluator() = default;

FrameGuard::FrameGuard(Evaluator &evaluator, Frame &frame)
    : evaluator(evaluator), saved(evaluator.frame) {
  frame.caller = saved;
  frame.callRange = evaluator.position;
  if (evaluator.buildsIR() && saved && frame.mode == FunctionMode::Kernel)
    frame.callLocation = evaluator.loc();
  evaluator.frame = &frame;
  if (++evaluator.callDepth > maxCallDepth)
    evaluator.error(DiagKind::SemaRecursion);
}

FrameGuard::~FrameGuard() {
  --evaluator.callDepth;
  evaluator.frame = saved;
}

bool Evaluator::attempt(llvm::function_ref<void()> body) {
  if (hasFailed)
    return false;
  size_t count = errors.size();
  ++attempts;
  body();
  --attempts;
  if (!hasFailed)
    return true;
  // Neither a spent budget nor what an earlier error left unknown decides which branch of a `try`
  // is taken.
  if (isStuck || failsAgain)
    return false;
  errors.resize(count, Diagnostic(DiagKind::SemaRecursion, DiagPlace(), {}));
  hasFailed = leavesFunction = false;
  return false;
}

void Evaluator::flush() {
  for (Diagnostic &diagnostic : errors)
    diags.add(std::move(diagnostic));
  errors.clear();
}

bool Evaluator::step() {
  if (++steps == maxSteps + 1)
    error(DiagKind::SemaBudget, maxSteps);
  return !hasFailed;
}

mlir::Location Evaluator::loc() {
  mlir::Location here = mlir::UnknownLoc::get(context);
  if (position.isValid()) {
    const SourceFile &file = loader.getSources().get(position.file);
    LineColumn at = file.getLineColumn(position.begin);
    here = mlir::FileLineColLoc::get(context, file.getPath(), at.line, at.column);
  }
  if (frame && frame->callLocation)
    return mlir::CallSiteLoc::get(here, *frame->callLocation);
  return here;
}

Value Evaluator::use(llvm::StringRef name, const Value &value) {
  if (value.isError())
    return failAgain();
  if (value.is(ValueKind::Undefined)) {
    llvm::StringRef reason = value.as<UndefinedObject>().reason;
    std::string hint =
        reason.contains("branch") ? ("give '" + name + "' a value of one type on every path").str()
        : reason.contains("may not run") ? ("give '" + name + "' a value before the loop").str()
                                         : "";
    return errorWithHint(hint, DiagKind::SemaUnboundName, name, reason);
  }
  return value;
}

Value Evaluator::lookUp(llvm::StringRef name) {
  if (!frame->globals.count(name)) {
    if (auto found = frame->names.find(name); found != frame->names.end())
      return use(name, found->second);
    if (frame->closure)
      if (auto found = frame->closure->find(name); found != frame->closure->end())
        return use(name, found->second);
  }
  if (frame->module)
    if (std::optional<Value> global = findGlobal(*frame->module, name, frame->before))
      return *global;
  if (hasFailed)
    return Value();
  if (const BuiltinInfo *info = findBuiltin(Library::Python, name))
    return Value::builtin(*info);
  if (name.ends_with("Error") || name.ends_with("Exception") || name.ends_with("Warning"))
    return Value::opaque(name);
  if (name == "__name__")
    return Value::string("__kiln__");
  if (name == "__file__")
    return Value::string(frame->module ? frame->module->module->path : "");
  if (name == "NotImplemented" || name == "property" || name == "super" || name == "classmethod")
    return Value::opaque(name);

  std::vector<llvm::StringRef> candidates = getBuiltinNames(Library::Python);
  for (const auto &entry : frame->names)
    candidates.push_back(entry.first);
  if (frame->module)
    for (const auto &entry : frame->module->bindings)
      candidates.push_back(entry.first);
  return errorWithHint(suggestName(name, candidates), DiagKind::SemaUnknownName, name);
}

} // namespace kiln::sema
