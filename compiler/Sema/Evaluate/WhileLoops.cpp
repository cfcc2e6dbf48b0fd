// `while`: at compile time, and as `scf.while`.

#include "compiler/Sema/Evaluate/Evaluator.h"
#include "compiler/Sema/Python/AssignedNames.h"

namespace kiln::sema {

Flow Evaluator::executeWhile(const ast::WhileStmt &stmt) {
  if (frame()->mode == FunctionMode::Kernel)
    return executeRunTimeWhile(stmt);
  while (true) {
    std::optional<bool> goesOn = tensors().truth(evaluate(*stmt.test));
    if (!goesOn)
      return Flow::Failed;
    if (!*goesOn)
      return execute(stmt.orElse);
    Flow flow = execute(stmt.body);
    if (flow == Flow::Break)
      return Flow::Normal;
    if (flow == Flow::Returned || flow == Flow::Failed)
      return flow;
  }
}

/// The condition of a loop, evaluated, as a scalar; null after an error, and where it is `known`.
static Tensor loopCondition(Evaluator &evaluator, const Value &value, std::optional<bool> &known) {
  Tensor condition;
  known = evaluator.tensors().truth(value, &condition);
  if (!condition)
    return {};
  condition = evaluator.tensors().toCondition(condition);
  if (condition && condition.isBlock())
    condition =
        condition.type.getNumElements() == 1 ? evaluator.tensors().unsplat(condition) : Tensor();
  if (condition)
    return condition;
  evaluator.errorWithHint("reduce it first: tl.max(condition, 0)", DiagKind::SemaCondition,
                          describe(value));
  // It is known at run time only, so the body counts.
  return evaluator.unwinding().resume() ? evaluator.tensors().poison(Scalar::Int1) : Tensor();
}

/// The condition, in the region before the body; `known` where it does not depend on the device.
Flow Evaluator::runWhileTest(const ast::Expr &test, const Carried &carried,
                             std::optional<bool> &known) {
  mlir::Block &block = *builder().getInsertionBlock();
  bindCarried(carried, block, 0);
  Value value = evaluate(test);
  At at(*this, test.range);
  Tensor condition = loopCondition(*this, value, known);
  if (condition)
    mlir::scf::ConditionOp::create(builder(), loc(), condition.ir, block.getArguments());
  return failed() ? Flow::Failed : Flow::Normal;
}

Flow Evaluator::executeRunTimeWhile(const ast::WhileStmt &stmt) {
  llvm::StringSet<> assigned, promoted;
  findAssignedNames(stmt.body, assigned);
  Environment before;
  Carried carried;
  Branch test, body;
  llvm::SmallVector<mlir::Value> yields;
  std::optional<bool> known;
  size_t promotedBefore, errorsBefore = unwinding().countErrors();
  do {
    promotedBefore = promoted.size();
    carried = findCarried(assigned, promoted);
    before = frame()->names;
    yields.clear();
    test = runBranch([&] { return runWhileTest(*stmt.test, carried, known); }, carried.types);
    frame()->names = before;
    if (failed())
      return Flow::Failed;
    if (known && !*known)
      return Flow::Normal;
    body = runBranch(
        [&] {
          bindCarried(carried, *builder().getInsertionBlock(), 0);
          ++frame()->runTimeLoops;
          Flow flow = execute(stmt.body);
          --frame()->runTimeLoops;
          return failed() || !yieldCarried(carried, stmt.body, yields) ? Flow::Failed : flow;
        },
        carried.types);
    frame()->names = before;
    if (failed() || !promoteChanged(before, body.names, carried, stmt.body, "", promoted))
      return Flow::Failed;
  } while (promoted.size() != promotedBefore && unwinding().countErrors() == errorsBefore);
  if (known) {
    error(DiagKind::SemaUnsupportedSyntax, "a loop that never ends");
    return Flow::Failed;
  }

  auto op = mlir::scf::WhileOp::create(builder(), loc(), carried.types, carried.inits);
  op.getBefore().takeBody(*test.region);
  op.getAfter().takeBody(*body.region);
  {
    mlir::OpBuilder::InsertionGuard guard(builder());
    builder().setInsertionPointToEnd(&op.getAfter().front());
    mlir::scf::YieldOp::create(builder(), loc(), yields);
  }
  llvm::SmallVector<mlir::Value> results(op.getResults());
  bindResults(carried, before, body.names, results, "");
  return Flow::Normal;
}

} // namespace kiln::sema
