// Where evaluation is, what has gone wrong there, and how far errors unwind.
//
// After an error has been reported `failed()` is true, every evaluation gives an Error value, and
// everything unwinds without further messages, in device code to the statement, which is then given
// up (Evaluate/Recovery.cpp). The source position that errors and operations carry is that of the
// node being evaluated (`At` keeps it). Steps and depth are bounded: spending them is an error,
// too.
#ifndef KILN_COMPILER_SEMA_UNWINDING_UNWINDING_H
#define KILN_COMPILER_SEMA_UNWINDING_UNWINDING_H

#include "compiler/Basic/Diagnostics.h"
#include "compiler/Sema/Values/Builtin.h"

#include "mlir/IR/Location.h"

#include <set>

namespace kiln::sema {

/// Sets and dicts are searched from the front: what one step of the budget pays for.
inline constexpr uint64_t searchedPerStep = 32;

/// One function call in progress: what messages and locations say of it.
struct ActiveCall {
  llvm::StringRef name;
  FunctionMode mode = FunctionMode::Python;
  ActiveCall *caller = nullptr;
  SourceRange callRange;
  std::optional<mlir::Location> callLocation;
};

/// A call in the source while its arguments are bound and, for a builtin, while its handler runs.
struct CallSite {
  const ast::CallExpr *expr = nullptr;
  const BuiltinInfo *info = nullptr;
  /// Parameters that the call does not write: the object of a method.
  size_t numBound = 0;
};

class Unwinding {
public:
  /// `buildsIR` is false on the host side, where nothing is resumed.
  Unwinding(DiagnosticEngine &diags, bool buildsIR);

  //===-- Reporting --===//

  /// An error is unwinding.
  bool failed() const { return hasFailed; }
  /// Errors that have been reported, whether or not evaluation went on.
  size_t countErrors() const { return errors.size(); }
  /// Reports `diagnostic`, with the chain of calls as notes.
  void report(Diagnostic diagnostic);
  /// A warning at the current position; one for each.
  void warn(DiagKind kind, std::vector<DiagArg> slots);
  /// Reports that something needs an opaque value, with where it came from.
  void reportUnknown(const Value &value);
  /// Hands the collected errors to the engine.
  void flush();

  //===-- Going on --===//

  /// Runs `body`; when it fails, forgets its errors and returns false. `why` gets the first one's
  /// message.
  bool attempt(llvm::function_ref<void()> body, std::string *why = nullptr);
  /// Unwinds without a message: something needs a value that an earlier error left unknown.
  void failAgain();
  /// Ends the unwinding, where device code can go on without what failed; false elsewhere.
  bool resume();
  /// What was asserted does not hold, so that the rest of the function is not to be trusted.
  bool mustLeaveFunction() const { return leavesFunction; }

  //===-- An error as an exception of Python's --===//

  /// The error that unwinds; it is no exception but says that a value is not known.
  const Diagnostic &lastFailure() const { return *latest; }
  bool needsUnknown() const { return latestNeedsUnknown; }
  /// Ends the unwinding, and forgets the error.
  Diagnostic takeFailure();
  /// Errors so far: which one an exception belongs to.
  uint64_t getNumFailures() const { return numFailures; }
  /// Nothing may go on, neither after a spent budget nor with what an earlier error left unknown.
  bool mustUnwind() const { return isStuck || failsAgain; }

  //===-- Limits --===//

  /// Spends steps of the budget; false when none are left, or after an error.
  bool step(uint64_t count = 1);
  /// Bounds the C++ stack.
  struct Depth {
    explicit Depth(Unwinding &unwinding);
    ~Depth() { --unwinding.evaluationDepth; }
    Unwinding &unwinding;
  };
  /// Code at module level runs: on a budget of its own, below nothing.
  struct ModuleRun {
    explicit ModuleRun(Unwinding &unwinding);
    ~ModuleRun();
    Unwinding &unwinding;
    ActiveCall *call;
    SourceRange position;
    uint64_t steps, stepLimit;
    unsigned callDepth, evaluationDepth;
    bool isOutermost;
  };

  //===-- Where evaluation is --===//

  SourceRange getPosition() const { return position; }
  /// Sets the current position while it lives.
  struct At {
    At(Unwinding &unwinding, SourceRange range) : unwinding(unwinding), saved(unwinding.position) {
      if (range.isValid())
        unwinding.position = range;
    }
    ~At() { unwinding.position = saved; }
    Unwinding &unwinding;
    SourceRange saved;
  };

  /// The function whose code is evaluated; null between functions.
  ActiveCall *getCall() const { return innermost; }
  bool isDeviceCode() const { return innermost && innermost->mode == FunctionMode::Kernel; }
  /// Enters a function call and leaves it at the end of the scope.
  struct Entered {
    Entered(Unwinding &unwinding, ActiveCall &call);
    ~Entered();
    Unwinding &unwinding;
  };
  /// Makes a call the one at hand until the end of the scope.
  struct Site {
    Site(Unwinding &unwinding, CallSite site);
    ~Site() { unwinding.callSite = saved; }
    Unwinding &unwinding;
    CallSite saved;
  };
  /// The name of a keyword argument of the call at hand; the current position if there is none.
  SourceRange keywordRange(llvm::StringRef name) const;
  /// What the call at hand gives for a parameter of the builtin; the current position if unknown.
  SourceRange argumentRange(llvm::StringRef name) const;

private:
  void forgetErrors(size_t count);

  DiagnosticEngine &diags;
  bool buildsIR;
  std::vector<Diagnostic> errors;
  bool hasFailed = false;
  /// While unwinding: nothing may go on; the function that failed has ended; an earlier error is
  /// the reason.
  bool isStuck = false, leavesFunction = false, failsAgain = false;
  /// Calls of attempt() in progress.
  unsigned attempts = 0;
  /// Warnings that have been given, by kind and offset.
  std::set<std::pair<DiagKind, uint32_t>> warned;
  SourceRange position;
  ActiveCall *innermost = nullptr;
  CallSite callSite;
  uint64_t steps = 0, stepLimit;
  /// Steps of code at module level, and how deep it is nested.
  uint64_t moduleSteps = 0, moduleStepLimit;
  unsigned moduleRuns = 0;
  /// The error that was reported last, and how many there were before it.
  std::optional<Diagnostic> latest;
  size_t errorsBefore = 0;
  uint64_t numFailures = 0;
  bool latestNeedsUnknown = false;
  unsigned callDepth = 0, evaluationDepth = 0;
};

/// What reports its errors where evaluation is.
class Reporting {
public:
  explicit Reporting(Unwinding &unwinding) : state(unwinding) {}

  Unwinding &unwinding() const { return state; }

  /// An error is unwinding.
  bool failed() const { return state.failed(); }
  /// Reports at the current position. Returns an Error value.
  template <typename... Args> Value error(DiagKind kind, const Args &...args) const {
    return errorWithHint("", kind, args...);
  }
  template <typename... Args>
  Value errorWithHint(const llvm::Twine &hint, DiagKind kind, const Args &...args) const {
    if (failed())
      return Value();
    std::vector<DiagArg> slots = Diagnostic::pack(args...);
    // Where the first slot names a parameter of the builtin at hand, that argument is the place.
    Diagnostic diagnostic(
        kind, slots.empty() ? state.getPosition() : state.argumentRange(slots.front().str()),
        slots);
    if (!hint.isTriviallyEmpty() && !hint.str().empty())
      diagnostic.withHint(hint);
    state.report(std::move(diagnostic));
    return Value();
  }
  template <typename... Args> std::nullopt_t fail(DiagKind kind, const Args &...args) const {
    error(kind, args...);
    return std::nullopt;
  }
  template <typename... Args> void warn(DiagKind kind, const Args &...args) const {
    state.warn(kind, Diagnostic::pack(args...));
  }
  /// Something needs a value that is not known. Returns an Error value.
  Value notKnown(const Value &value) const {
    state.reportUnknown(value);
    return Value();
  }
  /// Something needs a value that an earlier error left unknown. Returns an Error value.
  Value failAgain() const {
    state.failAgain();
    return Value();
  }

private:
  Unwinding &state;
};

/// Sets the current position while it lives.
struct At : Unwinding::At {
  At(const Reporting &reporting, SourceRange range) : Unwinding::At(reporting.unwinding(), range) {}
};

} // namespace kiln::sema

#endif // KILN_COMPILER_SEMA_UNWINDING_UNWINDING_H
