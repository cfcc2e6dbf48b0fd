#include "compiler/Sema/Evaluate/Evaluator.h"

#include "compiler/Basic/NameSuggestion.h"
#include "compiler/Sema/Host/InterpreterPool.h"

namespace kiln::sema {
namespace {

/// Far above what any kernel needs (unrolled loops included), and a few seconds at most.
constexpr uint64_t maxSteps = 4'000'000;
/// Of all code at module level; and of each later statement, once these are spent.
constexpr uint64_t maxModuleSteps = 1'000'000, spareSteps = 2'000;
constexpr unsigned maxCallDepth = 96;
/// Bounds the C++ stack: the tree's own depth times nested calls could exceed it.
constexpr unsigned maxEvaluationDepth = 2500;

/// The module and everything that code at module level can ask.
std::string keyOf(const LoadedModule &module, const TargetAnswers &target,
                  const NamedConstants &defines, bool buildsIR) {
  std::string key;
  llvm::raw_string_ostream out(key);
  out << static_cast<const void *>(&module) << ' ' << target.backend << ' ' << target.arch << ' '
      << target.archName << ' ' << target.warpSize << ' ' << target.takesAssembly << ' '
      << buildsIR;
  for (const auto &[name, value] : defines)
    out << '\n' << name << '=' << value.str();
  return key;
}

} // namespace

Evaluator::Evaluator(ModuleLoader &loader, const LoadedModule &module, const TargetAnswers &target,
                     const NamedConstants &definesList, DiagnosticEngine &diags,
                     mlir::MLIRContext *context)
    : builder(context), context(context), hostKey(keyOf(module, target, definesList, context)),
      host(loader.interpreters().take(hostKey)), loader(loader), target(target), diags(diags),
      stepLimit(maxSteps), moduleStepLimit(maxModuleSteps) {
  host->serve(*this);
  for (const auto &[name, value] : definesList)
    defines[name] = value;
}

Evaluator::~Evaluator() {
  if (host->release())
    loader.interpreters().put(std::move(hostKey), std::move(host));
}

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

bool Evaluator::attempt(llvm::function_ref<void()> body, std::string *why) {
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
  if (why && errors.size() > count)
    *why = errors[count].message;
  errors.resize(count, Diagnostic(DiagKind::SemaRecursion, DiagPlace(), {}));
  hasFailed = leavesFunction = false;
  return false;
}

void Evaluator::flush() {
  for (Diagnostic &diagnostic : errors)
    diags.add(std::move(diagnostic));
  errors.clear();
}

bool Evaluator::step(uint64_t count) {
  steps += count;
  if (steps > stepLimit && !hasFailed)
    error(DiagKind::SemaBudget, moduleRuns ? maxModuleSteps : maxSteps);
  return !hasFailed;
}

Evaluator::Depth::Depth(Evaluator &evaluator) : evaluator(evaluator) {
  if (++evaluator.evaluationDepth > maxEvaluationDepth)
    evaluator.error(DiagKind::SemaRecursion);
}
Evaluator::Depth::~Depth() { --evaluator.evaluationDepth; }

Evaluator::ModuleRun::ModuleRun(Evaluator &evaluator)
    : evaluator(evaluator), frame(std::exchange(evaluator.frame, nullptr)),
      position(evaluator.position), steps(evaluator.steps), stepLimit(evaluator.stepLimit),
      callDepth(std::exchange(evaluator.callDepth, 0)),
      evaluationDepth(std::exchange(evaluator.evaluationDepth, 0)),
      isOutermost(!evaluator.moduleRuns++) {
  if (!isOutermost)
    return;
  evaluator.steps = evaluator.moduleSteps;
  evaluator.stepLimit = evaluator.moduleStepLimit;
}

Evaluator::ModuleRun::~ModuleRun() {
  evaluator.frame = frame;
  evaluator.position = position;
  evaluator.callDepth = callDepth;
  evaluator.evaluationDepth = evaluationDepth;
  --evaluator.moduleRuns;
  if (!isOutermost)
    return;
  evaluator.moduleSteps = std::exchange(evaluator.steps, steps);
  evaluator.moduleStepLimit = std::exchange(evaluator.stepLimit, stepLimit);
}

Diagnostic Evaluator::takeFailure() {
  if (latest->kind == DiagKind::SemaBudget)
    stepLimit = steps + spareSteps;
  hasFailed = isStuck = leavesFunction = failsAgain = false;
  errors.resize(std::min(errors.size(), errorsBefore),
                Diagnostic(DiagKind::SemaRecursion, DiagPlace(), {}));
  return *latest;
}

Value Evaluator::notKnown(const Value &value) {
  if (hasFailed)
    return Value();
  const auto &opaque = value.as<OpaqueObject>();
  Diagnostic failure = opaque.cause ? *opaque.cause
                                    : Diagnostic(DiagKind::SemaNotEvaluated, position,
                                                 Diagnostic::pack(repr(value)));
  for (const OpaqueObject::Step &step : opaque.steps)
    if (!step.name.empty())
      failure.note(DiagKind::SemaUnknownThrough, step.range, step.name);
    else if (!opaque.cause && !(step.range == position))
      failure.note(DiagKind::SemaUnknownFrom, step.range);
  if (opaque.cause && !(failure.place.range == position))
    failure.note(DiagKind::SemaNeededHere, position);
  addError(std::move(failure));
  isStuck = false;
  latestNeedsUnknown = true;
  return Value();
}

const Literal *Evaluator::findDefine(llvm::StringRef name) const {
  auto found = defines.find(name);
  return found == defines.end() ? nullptr : &found->second;
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
    if (const Value *found = HostInterpreter::findEnclosing(frame->enclosing, name))
      return known(*found);
  }
  if (frame->module)
    if (std::optional<Value> global = findGlobal(*frame->module, name))
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

  if (frame->module && frame->module->starred.isOpaque())
    return host->getAttribute(frame->module->starred, name);
  std::vector<llvm::StringRef> candidates = getBuiltinNames(Library::Python);
  for (const auto &entry : frame->names)
    candidates.push_back(entry.first);
  if (frame->module)
    for (const auto &entry : frame->module->scope->names)
      candidates.push_back(entry.first);
  return errorWithHint(suggestName(name, candidates), DiagKind::SemaUnknownName, name);
}

} // namespace kiln::sema
