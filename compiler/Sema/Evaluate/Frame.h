// Calls of functions in progress: names, and conditionals that are still open.
#ifndef KILN_COMPILER_SEMA_EVALUATE_FRAME_H
#define KILN_COMPILER_SEMA_EVALUATE_FRAME_H

#include "compiler/Sema/Modules/ModuleState.h"
#include "compiler/Sema/Unwinding/Unwinding.h"

#include "mlir/IR/Builders.h"

namespace kiln::sema {

/// How a block of statements ended on the path that is still open.
enum class Flow : uint8_t { Normal, Returned, Break, Continue, Failed };

/// A run-time `if` one branch of which has returned: code goes on inside the other branch, and the
/// operation is made when the enclosing region ends.
struct PendingIf {
  mlir::Value condition;
  std::unique_ptr<mlir::Region> thenRegion, elseRegion;
  bool openIsThen = false;
  /// What the closed branch returned.
  Value closedReturn;
  /// Names as they were before the conditional.
  Environment before;
  mlir::OpBuilder::InsertPoint outside;
  SourceRange range;
};

/// The conditionals that wait for the end of one region (a function's body, a branch).
struct ReturnScope {
  std::vector<PendingIf> pending;

  ReturnScope() = default;
  ReturnScope(ReturnScope &&) = default;
  ReturnScope &operator=(ReturnScope &&) = default;
  /// Only after an error is anything left. Later ones use values of earlier ones' regions.
  ~ReturnScope() {
    while (!pending.empty())
      pending.pop_back();
  }
};

/// One branch of a run-time conditional, evaluated into a region of its own.
struct Branch {
  std::unique_ptr<mlir::Region> region;
  Environment names;
  Flow flow = Flow::Normal;
  /// Set when the branch returns on some paths only: true on those.
  mlir::Value returned;
  /// What it returned, on the paths that do.
  Value returnValue;
};

/// One function call in progress, with its names.
struct Frame : ActiveCall {
  ModuleState *module = nullptr;
  Environment names;
  /// Names of enclosing functions of device code, and of Python.
  std::shared_ptr<Environment> closure;
  std::shared_ptr<Scope> enclosing;
  /// Names that `global` statements give to the module.
  llvm::StringSet<> globals;
  /// Names that were annotated `x: tl.constexpr` without a value.
  llvm::StringSet<> pendingConstexprs;
  std::vector<ReturnScope> scopes;
  /// What the open path has returned, after Flow::Returned.
  Value returnValue;
  /// The `return` that was evaluated last.
  SourceRange returnRange;
  /// The body of an `__init__`, which Python runs for Triton.
  bool isConstructor = false;
  unsigned runTimeLoops = 0;
  /// A statement with a `return` was given up after an error.
  bool mayHaveReturned = false;
};

} // namespace kiln::sema

#endif // KILN_COMPILER_SEMA_EVALUATE_FRAME_H
