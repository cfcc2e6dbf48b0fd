#include "compiler/Sema/Unwinding/Unwinding.h"

namespace kiln::sema {
namespace {

/// Far above what any kernel needs (unrolled loops included), and a few seconds at most.
constexpr uint64_t maxSteps = 4'000'000;
/// Of all code at module level; and of each later statement, once these are spent.
constexpr uint64_t maxModuleSteps = 1'000'000, spareSteps = 2'000;
constexpr unsigned maxCallDepth = 96;
/// Bounds the C++ stack: the tree's own depth times nested calls could exceed it.
constexpr unsigned maxEvaluationDepth = 2500;

bool haveSameNotes(const Diagnostic &a, const Diagnostic &b) {
  return a.notes.size() == b.notes.size() &&
         llvm::all_of(llvm::zip(a.notes, b.notes), [](const auto &pair) {
           return std::get<0>(pair).place.range == std::get<1>(pair).place.range;
         });
}

bool haveSamePlace(const Diagnostic &a, const Diagnostic &b) {
  return a.kind == b.kind && a.place.range == b.place.range && a.place.name == b.place.name;
}

} // namespace

Unwinding::Unwinding(DiagnosticEngine &diags, bool buildsIR)
    : diags(diags), buildsIR(buildsIR), stepLimit(maxSteps), moduleStepLimit(maxModuleSteps) {}

//===----------------------------------------------------------------------===//
// Reporting
//===----------------------------------------------------------------------===//

void Unwinding::report(Diagnostic diagnostic) {
  hasFailed = true;
  ++numFailures;
  latestNeedsUnknown = false;
  errorsBefore = errors.size();
  // Calls of calls that go too deep would each go on, and a spent budget is spent.
  isStuck |= diagnostic.kind == DiagKind::SemaRecursion || diagnostic.kind == DiagKind::SemaBudget;
  // What was asserted does not hold, so what follows is not to be trusted.
  leavesFunction |=
      diagnostic.kind == DiagKind::SemaStaticAssert || diagnostic.kind == DiagKind::SemaRaised;
  for (ActiveCall *at = innermost; at && at->caller; at = at->caller)
    if (at->callRange.isValid())
      diagnostic.note(DiagKind::SemaCalledFromHere, at->callRange, at->name);
  latest = diagnostic;
  // Unrolled loops and functions that are called twice meet one mistake again: in the same words,
  // or reached by the same calls.
  bool isRepetition = llvm::any_of(errors, [&](const Diagnostic &known) {
    return haveSamePlace(known, diagnostic) &&
           (known.message == diagnostic.message || (innermost && haveSameNotes(known, diagnostic)));
  });
  if (!isRepetition)
    errors.push_back(std::move(diagnostic));
}

void Unwinding::warn(DiagKind kind, std::vector<DiagArg> slots) {
  if (!attempts && warned.insert({kind, position.begin}).second)
    diags.add(Diagnostic(kind, position, std::move(slots)));
}

void Unwinding::reportUnknown(const Value &value) {
  if (hasFailed)
    return;
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
  report(std::move(failure));
  isStuck = false;
  latestNeedsUnknown = true;
}

void Unwinding::flush() {
  for (Diagnostic &diagnostic : errors)
    diags.add(std::move(diagnostic));
  errors.clear();
}

//===----------------------------------------------------------------------===//
// Going on
//===----------------------------------------------------------------------===//

void Unwinding::forgetErrors(size_t count) {
  errors.resize(std::min(errors.size(), count),
                Diagnostic(DiagKind::SemaRecursion, DiagPlace(), {}));
}

bool Unwinding::attempt(llvm::function_ref<void()> body, std::string *why) {
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
  if (mustUnwind())
    return false;
  if (why && errors.size() > count)
    *why = errors[count].message;
  forgetErrors(count);
  hasFailed = leavesFunction = false;
  return false;
}

void Unwinding::failAgain() {
  assert(!errors.empty() && "an Error value without an error");
  hasFailed = failsAgain = true;
}

bool Unwinding::resume() {
  bool mayGoOn = buildsIR && (!innermost || isDeviceCode());
  if (attempts || isStuck || !mayGoOn)
    return false;
  hasFailed = failsAgain = leavesFunction = false;
  return true;
}

Diagnostic Unwinding::takeFailure() {
  if (latest->kind == DiagKind::SemaBudget)
    stepLimit = steps + spareSteps;
  hasFailed = isStuck = leavesFunction = failsAgain = false;
  forgetErrors(errorsBefore);
  return *latest;
}

//===----------------------------------------------------------------------===//
// Limits
//===----------------------------------------------------------------------===//

bool Unwinding::step(uint64_t count) {
  steps += count;
  if (steps > stepLimit && !hasFailed)
    Reporting(*this).error(DiagKind::SemaBudget, moduleRuns ? maxModuleSteps : maxSteps);
  return !hasFailed;
}

Unwinding::Depth::Depth(Unwinding &unwinding) : unwinding(unwinding) {
  if (++unwinding.evaluationDepth > maxEvaluationDepth)
    Reporting(unwinding).error(DiagKind::SemaRecursion);
}

Unwinding::ModuleRun::ModuleRun(Unwinding &unwinding)
    : unwinding(unwinding), call(std::exchange(unwinding.innermost, nullptr)),
      position(unwinding.position), steps(unwinding.steps), stepLimit(unwinding.stepLimit),
      callDepth(std::exchange(unwinding.callDepth, 0)),
      evaluationDepth(std::exchange(unwinding.evaluationDepth, 0)),
      isOutermost(!unwinding.moduleRuns++) {
  if (!isOutermost)
    return;
  unwinding.steps = unwinding.moduleSteps;
  unwinding.stepLimit = unwinding.moduleStepLimit;
}

Unwinding::ModuleRun::~ModuleRun() {
  unwinding.innermost = call;
  unwinding.position = position;
  unwinding.callDepth = callDepth;
  unwinding.evaluationDepth = evaluationDepth;
  --unwinding.moduleRuns;
  if (!isOutermost)
    return;
  unwinding.moduleSteps = std::exchange(unwinding.steps, steps);
  unwinding.moduleStepLimit = std::exchange(unwinding.stepLimit, stepLimit);
}

Unwinding::Entered::Entered(Unwinding &unwinding, ActiveCall &call) : unwinding(unwinding) {
  call.caller = unwinding.innermost;
  call.callRange = unwinding.position;
  unwinding.innermost = &call;
  if (++unwinding.callDepth > maxCallDepth)
    Reporting(unwinding).error(DiagKind::SemaRecursion);
}

Unwinding::Entered::~Entered() {
  --unwinding.callDepth;
  unwinding.innermost = unwinding.innermost->caller;
}

} // namespace kiln::sema
