// Control flow of host code. A condition that is known decides; under one that is not, both ways
// run, and what they do not agree on is unknown.

#include "compiler/Sema/Host/Interpreter.h"

namespace kiln::sema {

Exit HostInterpreter::executeIf(const ast::IfStmt &stmt) {
  Value test = evaluate(*stmt.test), why;
  std::optional<bool> answer = core->failed() ? std::nullopt : truth(test, &why);
  if (core->failed())
    return Exit::Raised;
  if (answer)
    return execute(*answer ? stmt.body : stmt.orElse);
  return runEither(
      why, [&] { return execute(stmt.body); }, [&] { return execute(stmt.orElse); });
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// `advance` prepares a round: false at the end, empty after an error. Of rounds that may not
/// happen at all, as one before may have left the loop, each nests in the one before.
Exit HostInterpreter::loop(const ast::Stmt &stmt, llvm::function_ref<std::optional<bool>()> advance,
                           ast::Block body, ast::Block orElse, unsigned depth) {
  constexpr unsigned mostDepth = 64;
  while (true) {
    std::optional<bool> more = core->unwinding().step() ? advance() : std::nullopt;
    if (!more)
      return Exit::Raised;
    if (!*more)
      return execute(orElse);
    Exit exit = execute(body);
    if (exit == Exit::Returned || exit == Exit::Raised)
      return exit;
    current->doubt.mayContinue = false;
    if (exit == Exit::Break) {
      current->doubt.mayBreak = false;
      return Exit::Normal;
    }
    if (!current->doubt.any())
      continue;
    auto next = [&] {
      std::optional<bool> more = advance();
      return !more ? Exit::Raised : *more ? execute(body) : Exit::Normal;
    };
    Value why = current->doubt.why;
    exit = runInDoubt([&] {
      return depth < mostDepth ? loop(stmt, advance, body, orElse, depth + 1)
                               : loopInDoubt(why, stmt, next, orElse);
    });
    current->doubt.mayBreak = current->doubt.mayContinue = false;
    return exit;
  }
}

/// A loop whose rounds nobody can count: what one more round would change is unknown.
Exit HostInterpreter::loopInDoubt(const Value &why, const ast::Stmt &stmt,
                                  llvm::function_ref<Exit()> round, ast::Block orElse) {
  constexpr unsigned mostRounds = 6;
  for (unsigned i = 0; i < mostRounds; ++i) {
    Outcome once = speculate(round), nothing;
    if (core->failed())
      return Exit::Raised;
    bool changes = !once.changes.empty();
    if (once.exit != Exit::Raised)
      merge(nothing, once, why);
    once.doubt.mayBreak = once.doubt.mayContinue = false;
    noteDoubt(once.doubt);
    if (once.exit == Exit::Returned) {
      Doubt doubt;
      doubt.mayReturn = true;
      doubt.returned = once.returnValue;
      doubt.why = why;
      noteDoubt(doubt);
    }
    if (!changes)
      break;
  }
  // Whatever has not settled by then.
  loseEffects(stmt, why);
  return runInDoubt([&] { return execute(orElse); });
}

Exit HostInterpreter::executeFor(const ast::ForStmt &stmt) {
  Value iterable = evaluate(*stmt.iterable);
  if (core->failed())
    return Exit::Raised;
  Value iterator = iterable.isOpaque() ? iterable : settle(makeIterator(iterable));
  if (core->failed())
    return Exit::Raised;
  if (iterator.isOpaque())
    return loopInDoubt(
        iterator, stmt,
        [&] { return assign(*stmt.target, iterator) ? execute(stmt.body) : Exit::Raised; },
        stmt.orElse);
  return loop(
      stmt,
      [&]() -> std::optional<bool> {
        std::optional<Value> item = next(iterator);
        if (core->failed())
          return std::nullopt;
        if (item && !assign(*stmt.target, *item))
          return std::nullopt;
        return item.has_value();
      },
      stmt.body, stmt.orElse);
}

Exit HostInterpreter::executeWhile(const ast::WhileStmt &stmt) {
  Value why;
  bool hasEnded = false;
  Exit exit = loop(stmt,
                   [&]() -> std::optional<bool> {
                     Value test = evaluate(*stmt.test);
                     std::optional<bool> answer = core->failed() ? std::nullopt : truth(test, &why);
                     if (core->failed())
                       return std::nullopt;
                     hasEnded = answer == false;
                     return answer.value_or(false);
                   },
                   stmt.body, {});
  if (exit != Exit::Normal)
    return exit;
  if (hasEnded)
    return execute(stmt.orElse);
  if (!why.isOpaque())
    return exit;
  return loopInDoubt(
      why, stmt, [&] { return execute(stmt.body); }, stmt.orElse);
}

//===----------------------------------------------------------------------===//
// Exceptions
//===----------------------------------------------------------------------===//

Exit HostInterpreter::executeTry(const ast::TryStmt &stmt) {
  tries.push_back({&stmt, Value()});
  journal.begin();
  Exit exit = execute(stmt.body);
  Value doubt = tries.back().doubt;
  tries.pop_back();
  Journal::Changes changes = journal.keep();
  bool failed = core->failed();
  if (failed && (core->unwinding().mustUnwind() || !isException()))
    return Exit::Raised;
  if (failed) {
    exit = executeHandlers(stmt);
  } else if (doubt.isOpaque() && !stmt.handlers.empty()) {
    // Something may have raised an exception: the body has run, or a handler has.
    Outcome done;
    done.exit = exit;
    done.returnValue = current->returnValue;
    for (auto &[object, change] : changes) {
      change.after = change.object->save();
      if (change.before)
        change.object->restore(*change.before);
    }
    done.changes = std::move(changes);
    exit = runEither(
        doubt,
        [&] {
          Exit again = redo(done);
          return again == Exit::Normal ? execute(stmt.orElse) : again;
        },
        [&] {
          for (const ast::ExceptHandler &handler : stmt.handlers) {
            if (!handler.name.empty())
              bind(handler.name.name, doubt);
            Exit handlerExit = execute(handler.body);
            if (handlerExit != Exit::Normal)
              return handlerExit;
          }
          return Exit::Normal;
        });
  } else if (exit == Exit::Normal)
    exit = execute(stmt.orElse);
  return executeFinally(stmt, exit);
}

/// The first handler for the exception in flight; none leaves it in flight.
Exit HostInterpreter::executeHandlers(const ast::TryStmt &stmt) {
  Diagnostic failure = core->unwinding().lastFailure();
  Value exception = takeException();
  for (const ast::ExceptHandler &handler : stmt.handlers) {
    if (handler.type) {
      Value type = evaluate(*handler.type);
      if (core->failed())
        return Exit::Raised;
      if (!isCaught(exception, type))
        continue;
    }
    if (!handler.name.empty())
      bind(handler.name.name, exception);
    handled.push_back(exception);
    Exit exit = execute(handler.body);
    handled.pop_back();
    if (!handler.name.empty() && scopeOf(handler.name.name)->names.count(handler.name.name) &&
        !core->failed())
      unbind(handler.name.name);
    return exit;
  }
  core->unwinding().report(failure);
  raised = exception;
  raisedBy = core->unwinding().getNumFailures();
  return Exit::Raised;
}

Exit HostInterpreter::executeFinally(const ast::TryStmt &stmt, Exit exit) {
  if (stmt.finalBody.empty() || (core->failed() && core->unwinding().mustUnwind()))
    return exit;
  std::optional<Diagnostic> failure;
  Value exception, returnValue = current->returnValue;
  if (core->failed()) {
    failure = core->unwinding().lastFailure();
    exception = takeException();
  }
  Exit last = execute(stmt.finalBody);
  if (last != Exit::Normal)
    return last;
  current->returnValue = returnValue;
  if (failure) {
    core->unwinding().report(*failure);
    raised = exception;
    raisedBy = core->unwinding().getNumFailures();
  }
  return exit;
}

Exit HostInterpreter::executeRaise(const ast::RaiseStmt &stmt) {
  if (!stmt.exception) {
    if (handled.empty())
      raise("RuntimeError", "no exception is being handled");
    else
      raiseAgain(handled.back());
    return Exit::Raised;
  }
  Value exception = evaluate(*stmt.exception);
  if (core->failed())
    return Exit::Raised;
  if (exception.is(ValueKind::Class))
    exception = settle(call(exception, {}, {}));
  if (core->failed())
    return Exit::Raised;
  raiseAgain(exception);
  return Exit::Raised;
}

Exit HostInterpreter::executeAssert(const ast::AssertStmt &stmt) {
  Value test = evaluate(*stmt.test), why;
  std::optional<bool> holds = core->failed() ? std::nullopt : truth(test, &why);
  if (core->failed())
    return Exit::Raised;
  if (holds.value_or(true)) // A program that goes on has not failed.
    return Exit::Normal;
  Value message = stmt.message ? evaluate(*stmt.message) : Value();
  if (!core->failed()) {
    core->error(DiagKind::SemaStaticAssert, stmt.message ? ": " + str(message) : "");
    std::vector<Value> args;
    if (stmt.message)
      args.push_back(message);
    raised = makeException(exceptionClass("AssertionError"), args);
    raisedBy = core->unwinding().getNumFailures();
  }
  return Exit::Raised;
}

//===----------------------------------------------------------------------===//
// with
//===----------------------------------------------------------------------===//

Exit HostInterpreter::executeWith(const ast::WithStmt &stmt, size_t item) {
  if (item == stmt.items.size())
    return execute(stmt.body);
  Value manager = evaluate(*stmt.items[item].context);
  if (core->failed())
    return Exit::Raised;
  const ast::Expr *target = stmt.items[item].target;
  bool isKnown = manager.is(ValueKind::Instance) &&
                 manager.as<InstanceObject>().cls.is(ValueKind::Class) &&
                 manager.as<InstanceObject>().cls.as<ClassObject>().find("__enter__");
  if (!isKnown) {
    Value opaque = manager.isOpaque() ? manager : unknown("a context manager");
    if (target && !assign(*target, opaque))
      return Exit::Raised;
    Exit exit = executeWith(stmt, item + 1);
    if (!core->failed() || core->unwinding().mustUnwind() || !isException())
      return exit;
    // Whether it lets the exception pass is unknown; a program that goes on has gone on.
    takeException();
    loseEffects(stmt, opaque);
    return Exit::Normal;
  }
  std::optional<Value> entered = special(manager, "__enter__", {});
  if (core->failed() || (target && !assign(*target, *entered)))
    return Exit::Raised;
  Exit exit = executeWith(stmt, item + 1);
  if (core->failed() && core->unwinding().mustUnwind())
    return exit;
  if (!core->failed()) {
    Value returnValue = current->returnValue;
    special(manager, "__exit__", {Value::none(), Value::none(), Value::none()});
    current->returnValue = returnValue;
    return core->failed() ? Exit::Raised : exit;
  }
  Diagnostic failure = core->unwinding().lastFailure();
  Value exception = takeException(), why;
  Value cls = exception.is(ValueKind::Instance) ? exception.as<InstanceObject>().cls : exception;
  std::optional<Value> answer = special(manager, "__exit__", {cls, exception, Value::none()});
  if (core->failed())
    return Exit::Raised;
  if (answer && truth(*answer, &why).value_or(true) && !core->failed())
    return Exit::Normal;
  core->unwinding().report(failure);
  raised = exception;
  raisedBy = core->unwinding().getNumFailures();
  return Exit::Raised;
}

} // namespace kiln::sema
