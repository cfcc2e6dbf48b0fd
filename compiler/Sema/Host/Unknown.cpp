// What is not known: where it comes from, and what it makes unknown in turn.

#include "compiler/Sema/Host/Interpreter.h"
#include "compiler/Sema/Python/AssignedNames.h"
#include "compiler/Syntax/Walk.h"

namespace kiln::sema {

Value HostInterpreter::unknown(const llvm::Twine &path) {
  Value value = Value::opaque(path);
  value.as<OpaqueObject>().steps.push_back({core->unwinding().getPosition(), ""});
  return value;
}

Value HostInterpreter::unknownAfterFailure() {
  Diagnostic failure = core->unwinding().takeFailure();
  Value value = unknown("this");
  value.as<OpaqueObject>().cause = std::make_shared<Diagnostic>(std::move(failure));
  return value;
}

Value HostInterpreter::settle(const Value &value) {
  if (!core->failed()) {
    Value result = known(value);
    return result.isOpaque() && result.as<OpaqueObject>().late.importer ? resolveLate(result)
                                                                        : result;
  }
  return isException() || core->unwinding().mustUnwind() ? Value() : unknownAfterFailure();
}

Value HostInterpreter::traced(const Value &value, llvm::StringRef name, SourceRange range) {
  constexpr size_t longest = 8;
  const auto &from = value.as<OpaqueObject>();
  bool isLong = from.steps.size() >= longest;
  if (isLong || llvm::any_of(from.steps, [&](const auto &step) { return step.name == name; }))
    return value;
  auto object = std::make_shared<OpaqueObject>(from);
  object->steps.push_back({range, name.str()});
  return {ValueKind::Opaque, object};
}

void HostInterpreter::lose(const Value &value, const Value &why) {
  const std::shared_ptr<Object> &object = value.getObject();
  if (!object || object->lost)
    return;
  std::vector<Value> parts;
  bool isMutable = true;
  switch (value.getKind()) {
  case ValueKind::Tuple:
    isMutable = false;
    parts = value.getElements();
    break;
  case ValueKind::List:
  case ValueKind::Set:
    parts = value.getElements();
    break;
  case ValueKind::Dict:
    for (const auto &item : value.as<DictObject>().items)
      parts.push_back(item.second);
    break;
  case ValueKind::Instance:
    // Kiln's own kinds do not change.
    isMutable = !value.as<InstanceObject>().cls.isNone();
    for (const auto &field : value.as<InstanceObject>().fields)
      parts.push_back(field.second);
    break;
  case ValueKind::Iterator:
    break;
  default:
    return;
  }
  if (isMutable) {
    journal.willWrite(object);
    object->lost = why.share<OpaqueObject>();
  }
  for (const Value &part : parts)
    lose(part, why);
}

/// The name that `a.b[c].d` begins with.
static llvm::StringRef rootOf(const ast::Expr *expr) {
  while (true) {
    if (const auto *attribute = llvm::dyn_cast<ast::AttributeExpr>(expr))
      expr = attribute->base;
    else if (const auto *subscript = llvm::dyn_cast<ast::SubscriptExpr>(expr))
      expr = subscript->base;
    else if (const auto *call = llvm::dyn_cast<ast::CallExpr>(expr))
      expr = call->callee;
    else
      break;
  }
  const auto *name = llvm::dyn_cast<ast::NameExpr>(expr);
  return name ? name->name : llvm::StringRef();
}

/// Names whose objects a node may change: those that targets, methods and arguments begin with.
static void visitChanged(const ast::Node &node, llvm::function_ref<void(llvm::StringRef)> visit) {
  auto visitTarget = [&](const ast::Expr *target) {
    if (target && !llvm::isa<ast::NameExpr>(target))
      visit(rootOf(target));
  };
  walk(node, [&](const ast::Node &child) {
    if (const auto *assignment = llvm::dyn_cast<ast::AssignStmt>(&child))
      llvm::for_each(assignment->targets, visitTarget);
    else if (const auto *update = llvm::dyn_cast<ast::AugAssignStmt>(&child))
      visit(rootOf(update->target));
    else if (const auto *deletion = llvm::dyn_cast<ast::DeleteStmt>(&child))
      llvm::for_each(deletion->targets, visitTarget);
    else if (const auto *call = llvm::dyn_cast<ast::CallExpr>(&child)) {
      visit(rootOf(call->callee));
      for (const ast::Argument &argument : call->arguments)
        visit(rootOf(argument.value));
    }
    return true;
  });
}

void HostInterpreter::loseThrough(const FunctionObject &function, const Value &why,
                                  std::set<const void *> &visited) {
  const ast::Node *body = function.definition ? static_cast<const ast::Node *>(function.definition)
                                              : static_cast<const ast::Node *>(function.lambda);
  if (!function.module || !visited.insert(body).second)
    return;
  const FunctionNames &names = namesOf(function);
  for (const auto &global : names.globals)
    bindIn(function.module->scope, intern(global.getKey()), why);
  for (const auto &name : names.nonlocals)
    for (std::shared_ptr<Scope> at = function.scope; at; at = at->parent)
      if (at->names.count(name.getKey()))
        bindIn(at, intern(name.getKey()), why);
  visitChanged(*body, [&](llvm::StringRef name) {
    if (name.empty() || names.locals.contains(name))
      return;
    const Value *found = findEnclosing(function.scope, name);
    if (!found)
      if (auto global = function.module->scope->names.find(name);
          global != function.module->scope->names.end())
        found = &global->second;
    if (!found)
      return;
    Value value = *found;
    if (value.is(ValueKind::Function))
      loseThrough(value.as<FunctionObject>(), why, visited);
    else
      lose(value, why);
  });
}

void HostInterpreter::loseEffects(const ast::Node &node, const Value &why) {
  std::set<const void *> visited;
  walk(node, [&](const ast::Node &child) {
    visitBoundNames(child, [&](llvm::StringRef name) {
      if (!name.empty())
        bind(name, why);
    });
    using ast::NodeKind;
    return child.kind != NodeKind::FunctionDef && child.kind != NodeKind::ClassDef &&
           child.kind != NodeKind::LambdaExpr;
  });
  visitChanged(node, [&](llvm::StringRef name) {
    const Value *found = name.empty() ? nullptr : findEnclosing(current->scope, name);
    if (!found && !name.empty())
      if (auto global = current->module->scope->names.find(name);
          global != current->module->scope->names.end())
        found = &global->second;
    if (!found)
      return;
    Value value = *found;
    if (value.is(ValueKind::Function))
      loseThrough(value.as<FunctionObject>(), why, visited);
    else
      lose(value, why);
  });
}

//===----------------------------------------------------------------------===//
// Running code that may not run
//===----------------------------------------------------------------------===//

HostInterpreter::Outcome HostInterpreter::speculate(llvm::function_ref<Exit()> body) {
  Outcome outcome;
  Doubt doubt = std::exchange(current->doubt, Doubt());
  Value returnValue = std::exchange(current->returnValue, Value());
  journal.begin();
  outcome.exit = body();
  if (core->failed()) {
    outcome.exit = Exit::Raised;
    if (core->unwinding().mustUnwind()) {
      journal.keep();
      return outcome;
    }
    outcome.failure = core->unwinding().takeFailure();
    outcome.exception = std::exchange(raised, Value());
  }
  outcome.changes = journal.undo();
  outcome.returnValue = std::exchange(current->returnValue, returnValue);
  outcome.doubt = std::exchange(current->doubt, doubt);
  return outcome;
}

/// Makes what an outcome would have done happen.
Exit HostInterpreter::redo(Outcome &outcome) {
  for (auto &[object, change] : outcome.changes) {
    journal.willWrite(change.object);
    if (change.after)
      change.object->restore(*change.after);
  }
  if (outcome.exit == Exit::Returned)
    current->returnValue = outcome.returnValue;
  noteDoubt(outcome.doubt);
  if (outcome.failure)
    core->unwinding().report(*outcome.failure);
  raised = outcome.exception;
  raisedBy = core->unwinding().getNumFailures();
  return outcome.exit;
}

Value HostInterpreter::mergeValues(const Value &a, const Value &b, const Value &why,
                                   llvm::StringRef name) {
  if (a.isError() || b.isError())
    return a.isError() ? b : a;
  if (isIdentical(a, b))
    return a;
  if (a.getKind() == b.getKind() && !findUnknown(a) && !findUnknown(b) &&
      isEqual(a, b).value_or(false) && repr(a) == repr(b))
    return a;
  return name.empty() ? why : traced(why, name, core->unwinding().getPosition());
}

void HostInterpreter::merge(Outcome &a, Outcome &b, const Value &why) {
  auto combine = [&](const Value &x, const Value &y, llvm::StringRef name) {
    return mergeValues(x, y, why, name);
  };
  auto mergeObject = [&](Journal::Change &change, const Object *first, const Object *second) {
    if (!change.before)
      return;
    journal.willWrite(change.object);
    // What the other branch leaves alone.
    std::shared_ptr<Object> now = change.object->save();
    const Object &x = first ? *first : *now, &y = second ? *second : *now;
    change.object->restore(x);
    if (x.lost || y.lost)
      change.object->lost = x.lost ? x.lost : y.lost;
    else
      change.object->merge(y, combine, why.share<OpaqueObject>());
  };
  for (auto &[object, change] : a.changes) {
    auto other = b.changes.find(object);
    mergeObject(change, change.after.get(),
                other == b.changes.end() ? nullptr : other->second.after.get());
  }
  for (auto &[object, change] : b.changes)
    if (!a.changes.count(object))
      mergeObject(change, nullptr, change.after.get());
}

void HostInterpreter::noteDoubt(const Doubt &doubt) {
  Doubt &own = current->doubt;
  if (!doubt.any())
    return;
  if (doubt.mayReturn)
    own.returned =
        own.mayReturn ? mergeValues(own.returned, doubt.returned, doubt.why, "") : doubt.returned;
  own.mayReturn |= doubt.mayReturn;
  own.mayBreak |= doubt.mayBreak;
  own.mayContinue |= doubt.mayContinue;
  own.why = doubt.why;
}

/// That code may have ended so.
static Doubt doubtOf(Exit exit, const Value &returned, const Value &why) {
  Doubt doubt;
  doubt.mayReturn = exit == Exit::Returned;
  doubt.mayBreak = exit == Exit::Break;
  doubt.mayContinue = exit == Exit::Continue;
  doubt.returned = returned;
  doubt.why = why;
  return doubt;
}

Exit HostInterpreter::runEither(const Value &why, llvm::function_ref<Exit()> first,
                                llvm::function_ref<Exit()> second) {
  Outcome a = speculate(first);
  if (core->failed())
    return Exit::Raised;
  Outcome b = speculate(second);
  if (core->failed())
    return Exit::Raised;
  // A program that goes on has not raised.
  if (a.exit == Exit::Raised || b.exit == Exit::Raised) {
    if (!tries.empty() && a.exit != b.exit)
      tries.back().doubt = why;
    return redo(a.exit == Exit::Raised ? b : a);
  }
  merge(a, b, why);
  noteDoubt(a.doubt);
  noteDoubt(b.doubt);
  if (a.exit == b.exit) {
    if (a.exit == Exit::Returned)
      current->returnValue = mergeValues(a.returnValue, b.returnValue, why, "");
    return a.exit;
  }
  // The weaker of the two is what goes on; the other one may have happened.
  Outcome &weaker = a.exit < b.exit ? a : b, &stronger = a.exit < b.exit ? b : a;
  if (weaker.exit == Exit::Normal) {
    noteDoubt(doubtOf(stronger.exit, stronger.returnValue, why));
    return Exit::Normal;
  }
  if (weaker.exit == Exit::Returned) { // and the other one leaves a round or the loop
    noteDoubt(doubtOf(Exit::Returned, weaker.returnValue, why));
    return stronger.exit;
  }
  noteDoubt(doubtOf(Exit::Break, Value(), why));
  return Exit::Continue;
}

Exit HostInterpreter::runInDoubt(llvm::function_ref<Exit()> rest) {
  Doubt doubt = std::exchange(current->doubt, Doubt());
  Outcome run = speculate(rest);
  if (core->failed())
    return Exit::Raised;
  Outcome nothing;
  if (run.exit == Exit::Raised) {
    run.changes.clear();
    run.exit = Exit::Normal;
  }
  merge(nothing, run, doubt.why);
  noteDoubt(run.doubt);
  bool mayGoRound = doubt.mayBreak || doubt.mayContinue;
  Exit exit = run.exit;
  if (exit == Exit::Returned && (doubt.mayReturn || mayGoRound)) {
    Value returned = doubt.mayReturn ? mergeValues(doubt.returned, run.returnValue, doubt.why, "")
                                     : run.returnValue;
    if (!mayGoRound) {
      current->returnValue = returned;
      return exit;
    }
    doubt.mayReturn = true;
    doubt.returned = returned;
    exit = Exit::Normal;
  } else if (exit == Exit::Break || exit == Exit::Continue) {
    doubt.mayBreak |= exit == Exit::Break;
    doubt.mayContinue |= exit == Exit::Continue;
    exit = Exit::Normal;
  } else if (exit == Exit::Returned)
    current->returnValue = run.returnValue;
  noteDoubt(doubt);
  return exit;
}

Value HostInterpreter::evaluateEither(const Value &why, llvm::function_ref<Value()> first,
                                      llvm::function_ref<Value()> second) {
  Value a, b;
  Exit exit = runEither(
      why,
      [&] {
        a = first();
        return core->failed() ? Exit::Raised : Exit::Normal;
      },
      [&] {
        b = second();
        return core->failed() ? Exit::Raised : Exit::Normal;
      });
  return exit == Exit::Raised ? Value() : mergeValues(a, b, why, "");
}

} // namespace kiln::sema
