// Conditionals whose condition is known at run time only.
//
// Each branch is evaluated into a region of its own, with its own copy of the names; the operation
// is made afterwards, when it is known what the branches return and which names they change.
//
//   * Both branches fall through: `scf.if` yields the names that differ.
//   * Both return: `scf.if` yields the return value.
//   * One returns: what follows belongs to the other branch. Emission simply goes on inside that
//     branch's region, and the operation is made when the enclosing region ends (PendingIf).
//   * A branch returns on some of its paths: the conditional yields a flag beside everything else,
//   and
//     what follows goes into a second conditional on that flag.
//
// Refused: copying what follows into both branches (exponential), and `cf` branches (nothing after
// Sema would be structured).

#include "compiler/Sema/Evaluate/Evaluator.h"
#include "compiler/Sema/Tensors/Merging.h"

namespace kiln::sema {
namespace {

bool returnsAlways(const Branch &branch) { return branch.flow == Flow::Returned; }
bool returnsSometimes(const Branch &branch) { return bool(branch.returned); }
bool fallsThrough(const Branch &branch) { return branch.flow == Flow::Normal && !branch.returned; }
mlir::Block *endOf(const Branch &branch) { return &branch.region->front(); }

std::unique_ptr<mlir::Region> emptyRegion() {
  auto region = std::make_unique<mlir::Region>();
  region->push_back(new mlir::Block);
  return region;
}

} // namespace

Branch Evaluator::runBranch(llvm::function_ref<Flow()> body, llvm::ArrayRef<mlir::Type> arguments) {
  Branch branch;
  branch.region = emptyRegion();
  for (mlir::Type type : arguments)
    branch.region->front().addArgument(type, loc());
  mlir::OpBuilder::InsertionGuard guard(builder());
  builder().setInsertionPointToStart(&branch.region->front());
  frame()->scopes.emplace_back();
  // What the branch assigns to fields is the branch's.
  for (auto &entry : frame()->names)
    if (entry.second.is(ValueKind::Instance))
      entry.second = detached(entry.second);
  branch.flow = body();
  if (!failed())
    closeScope(branch.flow, branch.returned);
  frame()->scopes.pop_back();
  branch.names = frame()->names;
  branch.returnValue = frame()->returnValue;
  return branch;
}

mlir::Value Evaluator::flag(bool value, mlir::Block *at) {
  mlir::OpBuilder::InsertionGuard guard(builder());
  builder().setInsertionPointToEnd(at);
  return tensors().constant(Scalar::Int1, Value::boolean(value)).ir;
}

void Evaluator::appendPoison(llvm::ArrayRef<mlir::Value> like, mlir::Block *at,
                             llvm::SmallVectorImpl<mlir::Value> &parts) {
  mlir::OpBuilder::InsertionGuard guard(builder());
  builder().setInsertionPointToEnd(at);
  for (mlir::Value value : like)
    parts.push_back(tensors().emit<mlir::ub::PoisonOp>(value.getType()));
}

mlir::scf::IfOp Evaluator::createIf(mlir::Value condition, std::unique_ptr<mlir::Region> thenRegion,
                                    std::unique_ptr<mlir::Region> elseRegion,
                                    llvm::ArrayRef<mlir::Value> thenParts,
                                    llvm::ArrayRef<mlir::Value> elseParts) {
  mlir::OpBuilder::InsertionGuard guard(builder());
  auto op = mlir::scf::IfOp::create(builder(), loc(), mlir::ValueRange(thenParts).getTypes(),
                                    condition, /*addThenBlock=*/false, /*addElseBlock=*/false);
  op.getThenRegion().takeBody(*thenRegion);
  op.getElseRegion().takeBody(*elseRegion);
  builder().setInsertionPointToEnd(&op.getThenRegion().front());
  mlir::scf::YieldOp::create(builder(), loc(), thenParts);
  builder().setInsertionPointToEnd(&op.getElseRegion().front());
  mlir::scf::YieldOp::create(builder(), loc(), elseParts);
  return op;
}

//===----------------------------------------------------------------------===//
// The conditional statement
//===----------------------------------------------------------------------===//

Flow Evaluator::executeIf(const ast::IfStmt &stmt) {
  Value test = evaluate(*stmt.test);
  if (failed())
    return Flow::Failed;
  Tensor condition;
  At at(*this, stmt.test->range);
  if (!checkCondition(test))
    return Flow::Failed;
  std::optional<bool> known = tensors().truth(test, &condition);
  if (condition) {
    condition = tensors().toCondition(condition);
    if (condition && condition.isBlock() && condition.type.getNumElements() == 1)
      condition = tensors().unsplat(condition);
    if (condition && condition.isBlock()) {
      errorWithHint("choose element by element with tl.where, or reduce the condition first: "
                    "tl.max(condition, 0)",
                    DiagKind::SemaCondition, condition.type.str());
      // It is known at run time only, so both branches count.
      if (unwinding().resume())
        condition = tensors().poison(TensorType(Scalar::Int1));
    }
    return failed() ? Flow::Failed : executeRunTimeIf(stmt, condition);
  }
  if (!known)
    return Flow::Failed;
  return execute(*known ? stmt.body : stmt.orElse);
}

Flow Evaluator::executeRunTimeIf(const ast::IfStmt &stmt, Tensor condition) {
  At at(*this, stmt.range);
  Environment before = frame()->names;
  Branch thenBranch = runBranch([&] { return execute(stmt.body); });
  frame()->names = before;
  if (failed())
    return Flow::Failed;
  Branch elseBranch = runBranch([&] { return execute(stmt.orElse); });
  frame()->names = before;
  if (failed())
    return Flow::Failed;

  if (fallsThrough(thenBranch) && fallsThrough(elseBranch))
    return mergeFallThrough(condition, thenBranch, elseBranch, before);
  if (returnsAlways(thenBranch) && returnsAlways(elseBranch))
    return mergeReturned(condition, thenBranch, elseBranch);
  if (returnsSometimes(thenBranch) || returnsSometimes(elseBranch))
    return mergePartial(condition, thenBranch, elseBranch, before);
  bool openIsThen = fallsThrough(thenBranch);
  Branch &open = openIsThen ? thenBranch : elseBranch;
  Branch &closed = openIsThen ? elseBranch : thenBranch;
  openPending(condition.ir, std::move(thenBranch.region), std::move(elseBranch.region), openIsThen,
              closed.returnValue, before, std::move(open.names));
  return Flow::Normal;
}

void Evaluator::mergeName(llvm::StringRef name, Branch &a, Branch &b, Merged &merged) {
  auto inA = a.names.find(name), inB = b.names.find(name);
  bool hasA = inA != a.names.end(), hasB = inB != b.names.end();
  // After a branch that always returns, only the other's names are seen.
  if (returnsAlways(a) || returnsAlways(b)) {
    Branch &seen = returnsAlways(a) ? b : a;
    auto found = seen.names.find(name);
    if (found == seen.names.end())
      return;
    llvm::SmallVector<mlir::Value> parts;
    flatten(found->second, parts);
    (returnsAlways(a) ? merged.partsB : merged.partsA).append(parts);
    appendPoison(parts, endOf(returnsAlways(a) ? a : b),
                 returnsAlways(a) ? merged.partsA : merged.partsB);
    merged.names[name] = found->second;
    merged.changed.push_back(name);
    return;
  }
  if ((hasA && inA->second.isError()) || (hasB && inB->second.isError())) {
    merged.names[name] = Value();
    return;
  }
  if (!hasA || !hasB) {
    merged.names[name] =
        Value::undefined("it is bound in only one branch of a conditional on a run-time value");
    return;
  }
  Value valueA = inA->second, valueB = inB->second;
  if (isIdentical(valueA, valueB)) {
    merged.names[name] = valueA;
    return;
  }
  std::string why;
  if (!unify(tensors(), valueA, endOf(a), valueB, endOf(b), why)) {
    merged.names[name] =
        valueA.is(ValueKind::Undefined)
            ? valueA
            : Value::undefined("the branches of a conditional on a run-time value bind it to " +
                               why);
    return;
  }
  flatten(valueA, merged.partsA);
  flatten(valueB, merged.partsB);
  merged.names[name] = valueA;
  merged.changed.push_back(name);
}

void Evaluator::mergeNames(const Environment &before, Branch &a, Branch &b, Merged &merged) {
  llvm::StringSet<> seen;
  for (const Environment *names : {&before, const_cast<const Environment *>(&a.names),
                                   const_cast<const Environment *>(&b.names)})
    for (const auto &entry : *names)
      if (seen.insert(entry.first).second)
        mergeName(entry.first, a, b, merged);
}

Flow Evaluator::mergeFallThrough(Tensor condition, Branch &thenBranch, Branch &elseBranch,
                                 const Environment &before) {
  Merged merged;
  mergeNames(before, thenBranch, elseBranch, merged);
  if (failed())
    return Flow::Failed;
  auto op = createIf(condition.ir, std::move(thenBranch.region), std::move(elseBranch.region),
                     merged.partsA, merged.partsB);
  llvm::SmallVector<mlir::Value> results(op.getResults());
  llvm::ArrayRef<mlir::Value> parts = results;
  for (llvm::StringRef name : merged.changed)
    merged.names[name] = rebuild(merged.names[name], parts);
  frame()->names = std::move(merged.names);
  return Flow::Normal;
}

//===----------------------------------------------------------------------===//
// Returns
//===----------------------------------------------------------------------===//

/// Undefined stands for the end of a function without `return`: any value merges with it.
bool Evaluator::mergeReturns(Value &a, mlir::Block *atA, Value &b, mlir::Block *atB) {
  if (a.isError() || b.isError()) {
    a = b = Value();
    return true;
  }
  bool noA = a.is(ValueKind::Undefined), noB = b.is(ValueKind::Undefined);
  if (noA || noB) {
    if (noA && noB)
      return true;
    const Value &known = noA ? b : a;
    llvm::SmallVector<mlir::Value> parts, poisons;
    flatten(known, parts);
    appendPoison(parts, noA ? atA : atB, poisons);
    llvm::ArrayRef<mlir::Value> rest = poisons;
    (noA ? a : b) = rebuild(known, rest);
    return true;
  }
  std::string why;
  if (unify(tensors(), a, atA, b, atB, why))
    return true;
  // The last one that was evaluated; the other has been before it.
  At at(*this, frame()->returnRange);
  errorWithHint("every return gives the same number of values, each of one type and shape",
                DiagKind::SemaReturnTypes, frame()->name, why);
  a = b = Value();
  return unwinding().resume();
}

Flow Evaluator::mergeReturned(Tensor condition, Branch &thenBranch, Branch &elseBranch) {
  Value a = thenBranch.returnValue, b = elseBranch.returnValue;
  if (!mergeReturns(a, endOf(thenBranch), b, endOf(elseBranch)))
    return Flow::Failed;
  llvm::SmallVector<mlir::Value> partsA, partsB;
  flatten(a, partsA);
  flatten(b, partsB);
  auto op = createIf(condition.ir, std::move(thenBranch.region), std::move(elseBranch.region),
                     partsA, partsB);
  llvm::SmallVector<mlir::Value> results(op.getResults());
  llvm::ArrayRef<mlir::Value> rest = results;
  frame()->returnValue = rebuild(a, rest);
  return Flow::Returned;
}

Flow Evaluator::mergePartial(Tensor condition, Branch &thenBranch, Branch &elseBranch,
                             const Environment &before) {
  Merged merged;
  auto flagOf = [&](Branch &branch) {
    return branch.returned ? branch.returned : flag(returnsAlways(branch), endOf(branch));
  };
  merged.partsA.push_back(flagOf(thenBranch));
  merged.partsB.push_back(flagOf(elseBranch));

  Value none = Value::undefined("");
  Value a = fallsThrough(thenBranch) ? none : thenBranch.returnValue;
  Value b = fallsThrough(elseBranch) ? none : elseBranch.returnValue;
  if (!mergeReturns(a, endOf(thenBranch), b, endOf(elseBranch)))
    return Flow::Failed;
  flatten(a, merged.partsA);
  flatten(b, merged.partsB);
  mergeNames(before, thenBranch, elseBranch, merged);
  if (failed())
    return Flow::Failed;

  auto op = createIf(condition.ir, std::move(thenBranch.region), std::move(elseBranch.region),
                     merged.partsA, merged.partsB);
  llvm::SmallVector<mlir::Value> results(op.getResults());
  llvm::ArrayRef<mlir::Value> parts = llvm::ArrayRef(results).drop_front();
  Value returnValue = rebuild(a, parts);
  for (llvm::StringRef name : merged.changed)
    merged.names[name] = rebuild(merged.names[name], parts);
  Environment names = merged.names;
  openPending(results.front(), emptyRegion(), emptyRegion(), /*openIsThen=*/false, returnValue,
              merged.names, std::move(names));
  return Flow::Normal;
}

void Evaluator::openPending(mlir::Value condition, std::unique_ptr<mlir::Region> thenRegion,
                            std::unique_ptr<mlir::Region> elseRegion, bool openIsThen,
                            Value closedReturn, const Environment &before, Environment openNames) {
  PendingIf pending;
  pending.condition = condition;
  pending.openIsThen = openIsThen;
  pending.closedReturn = closedReturn;
  pending.before = before;
  pending.outside = builder().saveInsertionPoint();
  pending.range = unwinding().getPosition();
  builder().setInsertionPointToEnd(openIsThen ? &thenRegion->front() : &elseRegion->front());
  pending.thenRegion = std::move(thenRegion);
  pending.elseRegion = std::move(elseRegion);
  frame()->names = std::move(openNames);
  frame()->scopes.back().pending.push_back(std::move(pending));
}

void Evaluator::closeScope(Flow &flow, mlir::Value &returned) {
  std::vector<PendingIf> &pending = frame()->scopes.back().pending;
  while (!pending.empty() && !failed()) {
    PendingIf last = std::move(pending.back());
    pending.pop_back();
    closePending(last, flow, returned);
  }
}

/// Makes the operation of a conditional whose open branch ends now, with `flow` and `returned` as
/// the outcome of that branch; they become the outcome of the whole.
void Evaluator::closePending(PendingIf &pending, Flow &flow, mlir::Value &returned) {
  At at(*this, pending.range);
  mlir::Block *thenBlock = &pending.thenRegion->front();
  mlir::Block *elseBlock = &pending.elseRegion->front();
  mlir::Block *open = pending.openIsThen ? thenBlock : elseBlock;
  mlir::Block *closed = pending.openIsThen ? elseBlock : thenBlock;
  llvm::SmallVector<mlir::Value> openParts, closedParts;

  bool partial = flow != Flow::Returned;
  if (partial) {
    openParts.push_back(returned ? returned : flag(false, open));
    closedParts.push_back(flag(true, closed));
  }
  Value openReturn = partial && !returned ? Value::undefined("") : frame()->returnValue;
  Value closedReturn = pending.closedReturn;
  if (!mergeReturns(openReturn, open, closedReturn, closed))
    return;
  flatten(openReturn, openParts);
  flatten(closedReturn, closedParts);

  std::vector<llvm::StringRef> changed;
  if (partial)
    for (const auto &[name, value] : frame()->names) {
      auto old = pending.before.find(name);
      if (old != pending.before.end() && isIdentical(old->second, value))
        continue;
      llvm::SmallVector<mlir::Value> parts;
      flatten(value, parts);
      openParts.append(parts);
      appendPoison(parts, closed, closedParts);
      changed.push_back(name);
    }

  builder().restoreInsertionPoint(pending.outside);
  auto op = createIf(pending.condition, std::move(pending.thenRegion),
                     std::move(pending.elseRegion), pending.openIsThen ? openParts : closedParts,
                     pending.openIsThen ? closedParts : openParts);
  llvm::SmallVector<mlir::Value> results(op.getResults());
  llvm::ArrayRef<mlir::Value> parts = results;
  if (partial) {
    returned = parts.front();
    parts = parts.drop_front();
  }
  frame()->returnValue = rebuild(openReturn, parts);
  for (llvm::StringRef name : changed)
    frame()->names[name] = rebuild(frame()->names[name], parts);
}

//===----------------------------------------------------------------------===//
// The conditional expression
//===----------------------------------------------------------------------===//

Value Evaluator::conditional(const ast::ConditionalExpr &expr, Tensor condition) {
  condition = tensors().toCondition(condition);
  if (condition && condition.isBlock()) {
    At at(*this, expr.test->range);
    return errorWithHint("choose element by element: tl.where(condition, x, y)",
                         DiagKind::SemaCondition, condition.type.str());
  }
  if (failed())
    return Value();
  Environment before = frame()->names;
  Value values[2];
  const ast::Expr *exprs[2] = {expr.body, expr.orElse};
  Branch branches[2];
  for (int i = 0; i < 2; ++i) {
    branches[i] = runBranch([&] {
      values[i] = evaluate(*exprs[i]);
      return failed() ? Flow::Failed : Flow::Normal;
    });
    frame()->names = before;
    if (failed())
      return Value();
  }
  std::string why;
  if (!unify(tensors(), values[0], endOf(branches[0]), values[1], endOf(branches[1]), why))
    return error(DiagKind::SemaBranchTypes, why);
  llvm::SmallVector<mlir::Value> partsA, partsB;
  flatten(values[0], partsA);
  flatten(values[1], partsB);
  auto op = createIf(condition.ir, std::move(branches[0].region), std::move(branches[1].region),
                     partsA, partsB);
  llvm::SmallVector<mlir::Value> results(op.getResults());
  llvm::ArrayRef<mlir::Value> rest = results;
  return rebuild(values[0], rest);
}

} // namespace kiln::sema
