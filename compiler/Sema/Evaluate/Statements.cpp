// Executing statements that do not branch: assignments, returns, assertions, imports.

#include "compiler/Sema/Evaluate/Evaluator.h"
#include "compiler/Sema/Python/Annotations.h"
#include "compiler/Sema/Python/NodeNames.h"

namespace kiln::sema {

Flow Evaluator::execute(ast::Block block) {
  for (const ast::Stmt *stmt : block) {
    mlir::OpBuilder::InsertPoint before = builder().saveInsertionPoint();
    Flow flow = execute(*stmt);
    if (failed()) {
      builder().restoreInsertionPoint(before);
      flow = resumeAfter(*stmt);
    }
    if (flow != Flow::Normal)
      return flow;
  }
  return Flow::Normal;
}

Flow Evaluator::execute(const ast::Stmt &stmt) {
  using ast::NodeKind;
  if (!unwinding().step())
    return Flow::Failed;
  At at(*this, stmt.range);
  if (!checkSyntax(stmt))
    return Flow::Failed;
  switch (stmt.kind) {
  case NodeKind::ExprStmt: {
    discarded = llvm::cast<ast::ExprStmt>(stmt).value;
    evaluate(*discarded);
    return failed() ? Flow::Failed : Flow::Normal;
  }
  case NodeKind::AssignStmt:
    return executeAssign(llvm::cast<ast::AssignStmt>(stmt));
  case NodeKind::AugAssignStmt:
    return executeAugAssign(llvm::cast<ast::AugAssignStmt>(stmt));
  case NodeKind::AnnAssignStmt:
    return executeAnnAssign(llvm::cast<ast::AnnAssignStmt>(stmt));
  case NodeKind::ReturnStmt:
    return executeReturn(llvm::cast<ast::ReturnStmt>(stmt));
  case NodeKind::IfStmt:
    return executeIf(llvm::cast<ast::IfStmt>(stmt));
  case NodeKind::ForStmt:
    return executeFor(llvm::cast<ast::ForStmt>(stmt));
  case NodeKind::WhileStmt:
    return executeWhile(llvm::cast<ast::WhileStmt>(stmt));
  case NodeKind::AssertStmt:
    return executeAssert(llvm::cast<ast::AssertStmt>(stmt));
  case NodeKind::PassStmt:
    return Flow::Normal;
  case NodeKind::BreakStmt:
  case NodeKind::ContinueStmt:
    return executeJump(stmt);
  case NodeKind::RaiseStmt:
    return executeRaise(llvm::cast<ast::RaiseStmt>(stmt));
  case NodeKind::TryStmt:
    return executeTry(llvm::cast<ast::TryStmt>(stmt));
  case NodeKind::WithStmt:
    return executeWith(llvm::cast<ast::WithStmt>(stmt));
  case NodeKind::ImportStmt:
  case NodeKind::ImportFromStmt:
    return executeImport(stmt);
  case NodeKind::GlobalStmt:
    for (const ast::Identifier &name : llvm::cast<ast::GlobalStmt>(stmt).names)
      frame()->globals.insert(name.name);
    return Flow::Normal;
  case NodeKind::DeleteStmt:
    return executeDelete(llvm::cast<ast::DeleteStmt>(stmt));
  case NodeKind::FunctionDef:
    return executeFunction(llvm::cast<ast::FunctionDef>(stmt));
  default:
    error(DiagKind::SemaUnsupportedSyntax, describeNode(stmt.kind));
    return Flow::Failed;
  }
}

/// `break`, `continue`.
Flow Evaluator::executeJump(const ast::Stmt &stmt) {
  bool isBreak = stmt.kind == ast::NodeKind::BreakStmt;
  if (!unwinding().isDeviceCode())
    return isBreak ? Flow::Break : Flow::Continue;
  errorWithHint(isBreak ? "put the condition into a 'while' loop" : "put the rest under an 'if'",
                DiagKind::SemaUnsupportedSyntax, isBreak ? "'break'" : "'continue'");
  return Flow::Failed;
}

//===----------------------------------------------------------------------===//
// Assignments
//===----------------------------------------------------------------------===//

/// A plain assignment in a kernel makes numbers tensors, inside tuples too. Everything else stays
/// what it is.
Value Evaluator::sanitize(const Value &value) {
  if (frame()->mode != FunctionMode::Kernel)
    return value;
  if (value.isNumber())
    return Value::tensor(tensors().toTensor(value));
  if (!value.is(ValueKind::Tuple) && !value.is(ValueKind::List))
    return checkAssigned(value) ? value : Value();
  auto object = std::make_shared<SequenceObject>();
  object->fields = value.as<SequenceObject>().fields;
  for (const Value &element : value.getElements())
    object->elements.push_back(sanitize(element));
  return failed() ? Value() : Value(ValueKind::Tuple, object);
}

bool Evaluator::assign(const ast::Expr &target, Value value, bool keepConstant) {
  At at(*this, target.range);
  if (failed())
    return false;
  if (const auto *name = llvm::dyn_cast<ast::NameExpr>(&target)) {
    if (!keepConstant && !frame()->pendingConstexprs.contains(name->name))
      value = sanitize(value);
    if (!failed())
      frame()->names[name->name] = value;
    return !failed();
  }
  auto assignPart = [&](const ast::Expr &part, const Value &item) {
    return assign(part, item, keepConstant);
  };
  if (const auto *tuple = llvm::dyn_cast<ast::TupleExpr>(&target))
    return unpack(tuple->elements, value, assignPart);
  if (const auto *list = llvm::dyn_cast<ast::ListExpr>(&target))
    return unpack(list->elements, value, assignPart);
  if (const auto *subscriptExpr = llvm::dyn_cast<ast::SubscriptExpr>(&target))
    return assignSubscript(*subscriptExpr, value);
  if (const auto *attribute = llvm::dyn_cast<ast::AttributeExpr>(&target)) {
    Value base = evaluate(*attribute->base);
    if (failed())
      return false;
    if (base.is(ValueKind::Instance)) {
      if (isPortable()) {
        tensors().notPortable("an assignment to a field",
                              "make another object: tl.aggregate_replace(x, field=...)");
        return false;
      }
      if (!keepConstant && !isConstexprField(base, attribute->attribute.name))
        value = sanitize(value);
      auto &fields = base.as<InstanceObject>().fields;
      for (auto &field : fields)
        if (field.first == attribute->attribute.name) {
          field.second = value;
          return true;
        }
      fields.emplace_back(attribute->attribute.name.str(), value);
      return true;
    }
    if (base.isOpaque())
      return true;
  }
  error(DiagKind::SemaUnsupportedSyntax, "this target of an assignment");
  return false;
}

void Evaluator::raiseMistake(llvm::StringRef, const llvm::Twine &message) {
  error(DiagKind::SemaPython, message.str());
}

/// Triton gives each target of a kernel its value and drops the rest.
bool Evaluator::dropsSurplus(size_t items, size_t targets) {
  if (frame()->mode != FunctionMode::Kernel)
    return false;
  warn(DiagKind::SemaSurplusValues, items, targets);
  return true;
}

bool Evaluator::assignSubscript(const ast::SubscriptExpr &target, const Value &value) {
  Value base = evaluate(*target.base);
  Value index = failed() ? Value() : evaluate(*target.index);
  if (failed())
    return false;
  if (base.isOpaque())
    return true;
  if (isPortable() && base.is(ValueKind::List)) {
    tensors().notPortable("an assignment to an element", "make another tuple");
    return false;
  }
  if (base.is(ValueKind::Dict)) {
    for (auto &item : base.as<DictObject>().items)
      if (isEqual(item.first, index).value_or(false)) {
        item.second = value;
        return true;
      }
    base.as<DictObject>().items.emplace_back(index, value);
    return true;
  }
  if (base.is(ValueKind::List)) {
    std::optional<Int> at = tensors().constantInt(index, "an index");
    if (!at)
      return false;
    Int size = Int(base.getElements().size());
    Int element = *at < 0 ? *at + size : *at;
    if (element >= 0 && element < size) {
      base.getElements()[size_t(element)] = value;
      return true;
    }
  }
  errorWithHint(base.isTensor() ? "a tensor with other elements at some places is tl.where(...); "
                                  "memory is written with tl.store"
                                : "",
                DiagKind::SemaUnsupportedSyntax, "assigning to an element of " + describe(base));
  return false;
}

Flow Evaluator::executeAssign(const ast::AssignStmt &stmt) {
  Value value = evaluate(*stmt.value);
  for (const ast::Expr *target : stmt.targets)
    if (failed() || !assign(*target, value, /*keepConstant=*/false))
      return Flow::Failed;
  return Flow::Normal;
}

Flow Evaluator::executeAugAssign(const ast::AugAssignStmt &stmt) {
  Value left = evaluate(*stmt.target);
  Value right = failed() ? Value() : evaluate(*stmt.value);
  Value value = failed() ? Value() : tensors().checkedBinary(stmt.op, left, right);
  return !failed() && assign(*stmt.target, value, /*keepConstant=*/false) ? Flow::Normal
                                                                          : Flow::Failed;
}

Flow Evaluator::executeAnnAssign(const ast::AnnAssignStmt &stmt) {
  bool isConstexpr = isConstexprAnnotation(*stmt.annotation);
  if (!stmt.value) {
    const auto *name = llvm::dyn_cast<ast::NameExpr>(stmt.target);
    if (name && isConstexpr)
      frame()->pendingConstexprs.insert(name->name);
    return Flow::Normal;
  }
  Value value = evaluate(*stmt.value);
  return !failed() && assign(*stmt.target, value, isConstexpr) ? Flow::Normal : Flow::Failed;
}

/// A function inside a kernel: it sees the kernel's names, and is device code like it.
Flow Evaluator::executeFunction(const ast::FunctionDef &stmt) {
  auto object = std::make_shared<FunctionObject>();
  object->definition = &stmt;
  object->module = frame()->module;
  object->scope = frame()->enclosing;
  object->mode = FunctionMode::Kernel;
  for (const ast::Parameter &parameter : stmt.parameters) {
    object->defaults.push_back(parameter.defaultValue ? evaluate(*parameter.defaultValue)
                                                      : Value());
    if (failed())
      return Flow::Failed;
  }
  Value function(ValueKind::Function, object);
  auto closure = frame()->closure ? std::make_shared<Environment>(*frame()->closure)
                                  : std::make_shared<Environment>();
  for (const auto &entry : frame()->names)
    (*closure)[entry.first] = entry.second;
  (*closure)[stmt.name.name] = function;
  object->closure = closure;
  frame()->names[stmt.name.name] = function;
  return Flow::Normal;
}

Flow Evaluator::executeDelete(const ast::DeleteStmt &stmt) {
  for (const ast::Expr *target : stmt.targets)
    if (const auto *name = llvm::dyn_cast<ast::NameExpr>(target))
      frame()->names[name->name] = Value::undefined("it was deleted");
  return Flow::Normal;
}

//===----------------------------------------------------------------------===//
// Others
//===----------------------------------------------------------------------===//

Flow Evaluator::executeReturn(const ast::ReturnStmt &stmt) {
  if (frame()->runTimeLoops) {
    errorWithHint("keep the value in a name, and return behind the loop",
                  DiagKind::SemaReturnInLoop);
    return Flow::Failed;
  }
  frame()->returnRange = stmt.range;
  frame()->returnValue = stmt.value ? evaluate(*stmt.value) : Value::none();
  return failed() ? Flow::Failed : Flow::Returned;
}

/// In a kernel `assert` of a run-time condition is Triton's device_assert, which does nothing
/// unless debugging is on.
Flow Evaluator::executeAssert(const ast::AssertStmt &stmt) {
  Value test = evaluate(*stmt.test);
  if (failed())
    return Flow::Failed;
  if (test.isTensor() && tensors().getKernel() && tensors().getKernel()->debug) {
    Value message = stmt.message ? evaluate(*stmt.message) : Value::string("");
    tensors().emitAssertion(failed() ? Tensor() : tensors().toCondition(test.getTensor()),
                            str(message));
    return failed() ? Flow::Failed : Flow::Normal;
  }
  if (test.isTensor() || test.isOpaque())
    return Flow::Normal;
  std::optional<bool> holds = tensors().truth(test);
  if (!holds || *holds)
    return holds ? Flow::Normal : Flow::Failed;
  if (frame()->mode == FunctionMode::Kernel &&
      !(tensors().getKernel() && tensors().getKernel()->debug)) {
    warn(DiagKind::SemaAssertIgnored);
    return Flow::Normal;
  }
  std::string message;
  if (stmt.message)
    message = ": " + str(evaluate(*stmt.message));
  error(DiagKind::SemaStaticAssert, message);
  return Flow::Failed;
}

Flow Evaluator::executeRaise(const ast::RaiseStmt &stmt) {
  std::string what = "an exception";
  if (const auto *callExpr = llvm::dyn_cast_or_null<ast::CallExpr>(stmt.exception)) {
    what = modules().getSources().get(callExpr->range.file).getText(callExpr->callee->range).str();
    for (const ast::Argument &argument : callExpr->arguments) {
      Value message;
      if (unwinding().attempt([&] { message = evaluate(*argument.value); }) && message.isString())
        what += ": " + message.getString().str();
      break;
    }
  } else if (stmt.exception)
    what = modules().getSources().get(stmt.range.file).getText(stmt.exception->range).str();
  error(DiagKind::SemaRaised, what);
  return Flow::Failed;
}

Flow Evaluator::executeTry(const ast::TryStmt &stmt) {
  Flow flow = Flow::Failed;
  if (unwinding().attempt([&] { flow = execute(stmt.body); })) {
    if (flow == Flow::Normal)
      flow = execute(stmt.orElse);
  } else if (!failed())
    flow = stmt.handlers.empty() ? Flow::Normal : execute(stmt.handlers.front().body);
  if (failed())
    return Flow::Failed;
  Flow last = execute(stmt.finalBody);
  return last == Flow::Normal ? flow : last;
}

/// Context managers have no meaning at compile time; the body counts.
Flow Evaluator::executeWith(const ast::WithStmt &stmt) {
  for (const ast::WithItem &item : stmt.items) {
    Value manager = Value::opaque("a context manager");
    if (item.target && !assign(*item.target, manager, true))
      return Flow::Failed;
  }
  return execute(stmt.body);
}

Flow Evaluator::executeImport(const ast::Stmt &stmt) {
  if (const auto *import = llvm::dyn_cast<ast::ImportStmt>(&stmt)) {
    for (const ast::ImportedName &imported : import->names) {
      llvm::StringRef full = imported.name.name;
      bool whole = !imported.alias.empty();
      std::optional<Value> module =
          python().importModule(*frame()->module, 0, whole ? full : full.split('.').first);
      if (!module) {
        error(DiagKind::SemaImport, full, full);
        return Flow::Failed;
      }
      frame()->names[whole ? imported.alias.name : full.split('.').first] = *module;
    }
    return Flow::Normal;
  }
  const auto &from = llvm::cast<ast::ImportFromStmt>(stmt);
  for (const ast::ImportedName &imported : from.names) {
    std::optional<Value> value =
        python().importName(*frame()->module, from.level, from.module.name, imported.name.name);
    if (!value) {
      error(DiagKind::SemaImport, imported.name.name, from.module.name);
      return Flow::Failed;
    }
    frame()->names[imported.alias.empty() ? imported.name.name : imported.alias.name] = *value;
  }
  return Flow::Normal;
}

} // namespace kiln::sema
