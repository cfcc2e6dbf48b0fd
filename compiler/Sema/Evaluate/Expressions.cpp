// Evaluating expressions: literals, names, operators, conditionals, displays.

#include "compiler/Sema/Evaluate/Evaluator.h"
#include "compiler/Sema/Python/StringFormatting.h"

namespace kiln::sema {

Value Evaluator::evaluate(const ast::Expr &expr) {
  if (!unwinding().step())
    return Value();
  At at(*this, expr.range);
  Unwinding::Depth depth(unwinding());
  if (failed())
    return Value();
  if (!checkSyntax(expr))
    return Value();
  Value value = evaluateNode(expr);
  if (value.isOpaque() && frame() && frame()->mode == FunctionMode::Kernel)
    value = python().resolve(value);
  if (value.isError() && !failed())
    return failAgain();
  return failed() ? Value() : value;
}

Value Evaluator::evaluateNode(const ast::Expr &expr) {
  using ast::NodeKind;
  switch (expr.kind) {
  case NodeKind::NameExpr:
    return lookUp(llvm::cast<ast::NameExpr>(expr).name);
  case NodeKind::FormattedString:
    return formatString(llvm::cast<ast::FormattedString>(expr));
  case NodeKind::ListExpr:
    return evaluateDisplay(expr, llvm::cast<ast::ListExpr>(expr).elements);
  case NodeKind::TupleExpr:
    return evaluateDisplay(expr, llvm::cast<ast::TupleExpr>(expr).elements);
  case NodeKind::SetExpr:
    return evaluateDisplay(expr, llvm::cast<ast::SetExpr>(expr).elements);
  case NodeKind::DictExpr:
    return evaluateDict(llvm::cast<ast::DictExpr>(expr));
  case NodeKind::ComprehensionExpr:
    return evaluateComprehension(llvm::cast<ast::ComprehensionExpr>(expr));
  case NodeKind::UnaryExpr:
    return evaluateUnary(llvm::cast<ast::UnaryExpr>(expr));
  case NodeKind::BinaryExpr:
    return evaluateBinary(llvm::cast<ast::BinaryExpr>(expr));
  case NodeKind::BoolExpr:
    return evaluateBool(llvm::cast<ast::BoolExpr>(expr));
  case NodeKind::CompareExpr:
    return evaluateCompare(llvm::cast<ast::CompareExpr>(expr));
  case NodeKind::ConditionalExpr:
    return evaluateConditional(llvm::cast<ast::ConditionalExpr>(expr));
  case NodeKind::LambdaExpr:
    return evaluateLambda(llvm::cast<ast::LambdaExpr>(expr));
  case NodeKind::CallExpr:
    return evaluateCall(llvm::cast<ast::CallExpr>(expr));
  case NodeKind::AttributeExpr:
    return evaluateAttribute(llvm::cast<ast::AttributeExpr>(expr));
  case NodeKind::SubscriptExpr:
    return evaluateSubscript(llvm::cast<ast::SubscriptExpr>(expr));
  case NodeKind::SliceExpr:
    return evaluateSlice(llvm::cast<ast::SliceExpr>(expr));
  case NodeKind::NamedExpr:
    return evaluateNamed(llvm::cast<ast::NamedExpr>(expr));
  case NodeKind::StarredExpr:
    return error(DiagKind::SemaUnsupportedSyntax, "a starred expression");
  default:
    return tensors().literal(expr);
  }
}

Value Evaluator::evaluateDisplay(const ast::Expr &expr, ast::ExprList elements) {
  std::optional<std::vector<Value>> values = evaluateElements(elements);
  if (!values)
    return Value();
  if (expr.kind == ast::NodeKind::TupleExpr)
    return Value::tuple(std::move(*values));
  Value list = Value::list(std::move(*values));
  return expr.kind == ast::NodeKind::ListExpr
             ? list
             : tensors().callBuiltin(Library::Python, "set", {list});
}

Value Evaluator::evaluateUnary(const ast::UnaryExpr &expr) {
  Value operand = evaluate(*expr.operand);
  return failed() ? Value() : tensors().unary(expr.op, operand);
}

Value Evaluator::evaluateBinary(const ast::BinaryExpr &expr) {
  Value left = evaluate(*expr.left);
  Value right = failed() ? Value() : evaluate(*expr.right);
  return failed() ? Value() : tensors().checkedBinary(expr.op, left, right);
}

Value Evaluator::evaluateAttribute(const ast::AttributeExpr &expr) {
  Value base = evaluate(*expr.base);
  if (failed())
    return Value();
  At at(*this, expr.attribute.range);
  return getAttribute(base, expr.attribute.name);
}

Value Evaluator::evaluateSubscript(const ast::SubscriptExpr &expr) {
  Value base = evaluate(*expr.base);
  if (failed() || base.isOpaque())
    return failed() ? Value() : python().getAttribute(base, "[...]");
  Value index = evaluate(*expr.index);
  return failed() ? Value() : subscript(base, index);
}

Value Evaluator::evaluateSlice(const ast::SliceExpr &expr) {
  auto object = std::make_shared<SliceObject>();
  object->lower = expr.lower ? evaluate(*expr.lower) : Value::none();
  object->upper = expr.upper ? evaluate(*expr.upper) : Value::none();
  object->step = expr.step ? evaluate(*expr.step) : Value::none();
  return {ValueKind::Slice, object};
}

Value Evaluator::evaluateNamed(const ast::NamedExpr &expr) {
  Value value = evaluate(*expr.value);
  if (failed() || !assign(*expr.target, value, /*keepConstant=*/false))
    return Value();
  return lookUp(expr.target->name);
}

/// Triton evaluates every operand in order; a compile-time operand that decides ends the
/// evaluation, others drop out, and run-time operands are combined without short-circuit.
Value Evaluator::evaluateBool(const ast::BoolExpr &expr) {
  std::vector<Value> runTime;
  Value last;
  for (const ast::Expr *operand : expr.operands) {
    last = evaluate(*operand);
    if (failed())
      return Value();
    if (last.isTensor()) {
      runTime.push_back(last);
      continue;
    }
    bool isLast = operand == expr.operands.back();
    if (isLast && runTime.empty())
      return last;
    std::optional<bool> known = tensors().truth(last);
    if (!known)
      return Value();
    if (*known != expr.isAnd)
      return last;
  }
  if (runTime.empty())
    return last;
  while (runTime.size() > 1) {
    Value right = runTime.back();
    runTime.pop_back();
    runTime.back() = tensors().combineLogical(expr.isAnd, runTime.back(), right);
    if (failed())
      return Value();
  }
  return runTime.front();
}

Value Evaluator::evaluateCompare(const ast::CompareExpr &expr) {
  Value left = evaluate(*expr.left);
  Value result;
  for (const ast::Comparison &comparison : expr.comparisons) {
    Value right = failed() ? Value() : evaluate(*comparison.right);
    if (failed())
      return Value();
    Value one = tensors().compare(comparison.op, left, right);
    if (failed())
      return Value();
    if (&comparison == &expr.comparisons.front())
      result = one;
    else if (result.isTensor() && one.isTensor())
      result = tensors().combineLogical(true, result, one);
    else if (result.isTensor() != one.isTensor()) {
      const Value &known = result.isTensor() ? one : result;
      std::optional<bool> answer = tensors().truth(known);
      if (!answer)
        return Value();
      result = !*answer ? known : result.isTensor() ? result : one;
    } else
      result = one;
    if (!result.isTensor() && expr.comparisons.size() > 1) {
      std::optional<bool> answer = tensors().truth(result);
      if (!answer || !*answer)
        return failed() ? Value() : result;
    }
    left = right;
  }
  return result;
}

Value Evaluator::evaluateConditional(const ast::ConditionalExpr &expr) {
  Value test = evaluate(*expr.test);
  if (failed())
    return Value();
  if (!checkCondition(test))
    return Value();
  Tensor condition;
  std::optional<bool> known = tensors().truth(test, &condition);
  if (condition)
    return conditional(expr, condition);
  if (!known)
    return Value();
  return evaluate(*known ? *expr.body : *expr.orElse);
}

Value Evaluator::evaluateDict(const ast::DictExpr &expr) {
  Value dict(ValueKind::Dict, std::make_shared<DictObject>());
  Value update = Value::none();
  for (const ast::DictItem &item : expr.items) {
    Value value = evaluate(*item.value);
    if (failed())
      return Value();
    if (!item.key) {
      if (!value.is(ValueKind::Dict))
        return error(DiagKind::SemaInvalidArgument, "**", "a dict", describe(value));
      dict = tensors().pythonBinary(ast::BinaryOp::BitOr, dict, value);
      continue;
    }
    Value key = evaluate(*item.key);
    if (failed())
      return Value();
    auto single = std::make_shared<DictObject>();
    single->items.emplace_back(key, value);
    dict = tensors().pythonBinary(ast::BinaryOp::BitOr, dict, Value(ValueKind::Dict, single));
  }
  return dict;
}

Value Evaluator::evaluateLambda(const ast::LambdaExpr &expr) {
  auto object = std::make_shared<FunctionObject>();
  object->lambda = &expr;
  object->module = frame()->module;
  object->mode = frame()->mode;
  object->scope = frame()->enclosing;
  object->closure = frame()->closure ? std::make_shared<Environment>(*frame()->closure)
                                     : std::make_shared<Environment>();
  for (const auto &entry : frame()->names)
    (*object->closure)[entry.first] = entry.second;
  return {ValueKind::Function, object};
}

/// Runs `body` for every element of the clauses from `clause` on. False after an error.
bool Evaluator::runComprehension(const ast::ComprehensionExpr &expr, size_t clause,
                                 llvm::function_ref<bool()> body) {
  if (clause == expr.clauses.size())
    return body();
  const ast::ComprehensionClause &loop = expr.clauses[clause];
  Value iterable = evaluate(*loop.iterable);
  if (!checkComprehended(iterable))
    return false;
  std::optional<std::vector<Value>> items = iterate(iterable);
  if (!items)
    return false;
  for (const Value &item : *items) {
    if (!unwinding().step() || !assign(*loop.target, item, /*keepConstant=*/true))
      return false;
    bool taken = true;
    for (const ast::Expr *condition : loop.conditions) {
      std::optional<bool> answer = tensors().truth(evaluate(*condition));
      if (!answer)
        return false;
      taken = taken && *answer;
      if (!taken)
        break;
    }
    if (taken && !runComprehension(expr, clause + 1, body))
      return false;
  }
  return true;
}

Value Evaluator::evaluateComprehension(const ast::ComprehensionExpr &expr) {
  // The targets live in a scope of their own.
  Environment saved = frame()->names;
  std::vector<Value> elements;
  auto dict = std::make_shared<DictObject>();
  bool isDict = expr.form == ast::ComprehensionForm::Dict;
  Value result(ValueKind::Dict, dict);
  bool done = runComprehension(expr, 0, [&] {
    Value element = evaluate(*expr.element);
    if (failed())
      return false;
    if (!isDict) {
      elements.push_back(element);
      return true;
    }
    auto single = std::make_shared<DictObject>();
    single->items.emplace_back(element, evaluate(*expr.value));
    if (!failed())
      result = tensors().pythonBinary(ast::BinaryOp::BitOr, result, Value(ValueKind::Dict, single));
    return !failed();
  });
  frame()->names = std::move(saved);
  if (!done)
    return Value();
  if (isDict)
    return result;
  Value list = Value::list(std::move(elements));
  if (expr.form == ast::ComprehensionForm::Set)
    return call(builtins().get(Library::Python, "set"), {list}, {});
  return list;
}

Value Evaluator::formatString(const ast::FormattedString &expr) {
  std::string text;
  for (const ast::Expr *part : expr.parts) {
    if (const auto *literal = llvm::dyn_cast<ast::StringLiteral>(part)) {
      text += literal->value;
      continue;
    }
    const auto &field = *llvm::cast<ast::FormattedValue>(part);
    Value value = evaluate(*field.value);
    if (failed())
      return Value();
    std::string spec;
    if (field.formatSpec) {
      Value evaluated = formatString(*field.formatSpec);
      if (failed())
        return Value();
      spec = evaluated.getString().str();
    }
    if (field.conversion && !value.isTensor())
      value = Value::string(field.conversion == 's' ? str(value) : repr(value));
    std::optional<std::string> formatted = formatValue(*this, value, spec);
    if (!formatted)
      return Value();
    text += *formatted;
  }
  return Value::string(text);
}

} // namespace kiln::sema
