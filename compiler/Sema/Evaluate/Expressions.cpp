// Evaluating expressions: literals, names, operators, conditionals, displays.

#include "compiler/Sema/Host/Interpreter.h"
#include "compiler/Sema/Python/NodeNames.h"

namespace kiln::sema {
namespace {

Value fromLiteral(const ast::IntLiteral &literal, Evaluator &evaluator) {
  llvm::APInt value = literal.getValue();
  if (value.getActiveBits() > 126)
    return evaluator.error(DiagKind::SemaPython, "an integer is too large (more than 126 bits)");
  llvm::APInt wide = value.zextOrTrunc(128);
  auto high = static_cast<unsigned __int128>(wide.extractBitsAsZExtValue(64, 64));
  return Value::integer(static_cast<Int>((high << 64) | wide.extractBitsAsZExtValue(64, 0)));
}

} // namespace

Value Evaluator::evaluate(const ast::Expr &expr) {
  if (!step())
    return Value();
  At at(*this, expr.range);
  Depth depth(*this);
  if (hasFailed)
    return Value();
  Value value = evaluateNode(expr);
  if (value.isOpaque() && frame && frame->mode == FunctionMode::Kernel)
    value = host->resolve(value);
  if (value.isError() && !hasFailed)
    return failAgain();
  return hasFailed ? Value() : value;
}

static Value evaluateSlice(Evaluator &evaluator, const ast::SliceExpr &expr) {
  auto object = std::make_shared<SliceObject>();
  object->lower = expr.lower ? evaluator.evaluate(*expr.lower) : Value::none();
  object->upper = expr.upper ? evaluator.evaluate(*expr.upper) : Value::none();
  object->step = expr.step ? evaluator.evaluate(*expr.step) : Value::none();
  return {ValueKind::Slice, object};
}

Value Evaluator::evaluateNode(const ast::Expr &expr) {
  using ast::NodeKind;
  switch (expr.kind) {
  case NodeKind::NameExpr:
    return lookUp(llvm::cast<ast::NameExpr>(expr).name);
  case NodeKind::FormattedString:
    return formatString(llvm::cast<ast::FormattedString>(expr));
  case NodeKind::ListExpr:
  case NodeKind::TupleExpr:
  case NodeKind::SetExpr: {
    ast::ExprList elements =
        expr.kind == NodeKind::ListExpr    ? llvm::cast<ast::ListExpr>(expr).elements
        : expr.kind == NodeKind::TupleExpr ? llvm::cast<ast::TupleExpr>(expr).elements
                                           : llvm::cast<ast::SetExpr>(expr).elements;
    std::optional<std::vector<Value>> values = evaluateElements(elements);
    if (!values)
      return Value();
    Value list = Value::list(std::move(*values));
    if (expr.kind == NodeKind::ListExpr)
      return list;
    if (expr.kind == NodeKind::TupleExpr)
      return Value::tuple(list.getElements());
    return call(Value::builtin(*findBuiltin(Library::Python, "set")), {list}, {});
  }
  case NodeKind::DictExpr:
    return evaluateDict(llvm::cast<ast::DictExpr>(expr));
  case NodeKind::ComprehensionExpr:
    return evaluateComprehension(llvm::cast<ast::ComprehensionExpr>(expr));
  case NodeKind::UnaryExpr: {
    const auto &unaryExpr = llvm::cast<ast::UnaryExpr>(expr);
    Value operand = evaluate(*unaryExpr.operand);
    return hasFailed ? Value() : unary(unaryExpr.op, operand);
  }
  case NodeKind::BinaryExpr: {
    const auto &binaryExpr = llvm::cast<ast::BinaryExpr>(expr);
    Value left = evaluate(*binaryExpr.left);
    Value right = hasFailed ? Value() : evaluate(*binaryExpr.right);
    return hasFailed ? Value() : checkedBinary(binaryExpr.op, left, right);
  }
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
  case NodeKind::AttributeExpr: {
    const auto &attribute = llvm::cast<ast::AttributeExpr>(expr);
    Value base = evaluate(*attribute.base);
    if (hasFailed)
      return Value();
    At at(*this, attribute.attribute.range);
    return getAttribute(base, attribute.attribute.name);
  }
  case NodeKind::SubscriptExpr: {
    const auto &subscriptExpr = llvm::cast<ast::SubscriptExpr>(expr);
    Value base = evaluate(*subscriptExpr.base);
    if (hasFailed || base.isOpaque())
      return hasFailed ? Value() : host->getAttribute(base, "[...]");
    Value index = evaluate(*subscriptExpr.index);
    return hasFailed ? Value() : subscript(base, index);
  }
  case NodeKind::SliceExpr:
    return evaluateSlice(*this, llvm::cast<ast::SliceExpr>(expr));
  case NodeKind::NamedExpr: {
    const auto &named = llvm::cast<ast::NamedExpr>(expr);
    Value value = evaluate(*named.value);
    if (hasFailed || !assign(*named.target, value, /*keepConstant=*/false))
      return Value();
    return lookUp(named.target->name);
  }
  case NodeKind::StarredExpr:
    return error(DiagKind::SemaUnsupportedSyntax, "a starred expression");
  default:
    return evaluateLiteral(expr);
  }
}

Value Evaluator::evaluateLiteral(const ast::Expr &expr) {
  using ast::NodeKind;
  switch (expr.kind) {
  case NodeKind::NoneLiteral:
    return Value::none();
  case NodeKind::BoolLiteral:
    return Value::boolean(llvm::cast<ast::BoolLiteral>(expr).value);
  case NodeKind::EllipsisLiteral:
    return Value::ellipsis();
  case NodeKind::IntLiteral:
    return fromLiteral(llvm::cast<ast::IntLiteral>(expr), *this);
  case NodeKind::FloatLiteral:
    return Value::real(llvm::cast<ast::FloatLiteral>(expr).value);
  case NodeKind::StringLiteral:
    return Value::string(llvm::cast<ast::StringLiteral>(expr).value);
  default:
    return error(DiagKind::SemaUnsupportedSyntax, describeNode(expr.kind));
  }
}

std::optional<bool> Evaluator::truth(const Value &value, Tensor *tensor) {
  switch (value.getKind()) {
  case ValueKind::None:
    return false;
  case ValueKind::Bool:
  case ValueKind::Int:
    return value.getInt() != 0;
  case ValueKind::Float:
    return value.getReal() != 0;
  case ValueKind::String:
    return !value.getString().empty();
  case ValueKind::Tuple:
  case ValueKind::List:
  case ValueKind::Set:
    return !value.getElements().empty();
  case ValueKind::Dict:
    return !value.as<DictObject>().items.empty();
  case ValueKind::Opaque:
    notKnown(value);
    return std::nullopt;
  case ValueKind::Error:
    return std::nullopt;
  case ValueKind::Tensor:
    if (tensor) {
      *tensor = value.getTensor();
      return std::nullopt;
    }
    return fail(DiagKind::SemaNotConstant, "a condition", describe(value));
  default:
    return true;
  }
}

/// Triton evaluates every operand in order; a compile-time operand that decides ends the
/// evaluation, others drop out, and run-time operands are combined without short-circuit.
Value Evaluator::evaluateBool(const ast::BoolExpr &expr) {
  std::vector<Value> runTime;
  Value last;
  for (const ast::Expr *operand : expr.operands) {
    last = evaluate(*operand);
    if (hasFailed)
      return Value();
    if (last.isTensor()) {
      runTime.push_back(last);
      continue;
    }
    bool isLast = operand == expr.operands.back();
    if (isLast && runTime.empty())
      return last;
    std::optional<bool> known = truth(last);
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
    runTime.back() = combineLogical(expr.isAnd, runTime.back(), right);
    if (hasFailed)
      return Value();
  }
  return runTime.front();
}

Value Evaluator::combineLogical(bool isAnd, const Value &left, const Value &right) {
  Tensor a = toCondition(left.getTensor());
  Tensor b = a ? toCondition(right.getTensor()) : Tensor();
  if (!a || !b)
    return Value();
  return binary(isAnd ? ast::BinaryOp::BitAnd : ast::BinaryOp::BitOr, Value::tensor(a),
                Value::tensor(b));
}

Value Evaluator::evaluateCompare(const ast::CompareExpr &expr) {
  Value left = evaluate(*expr.left);
  Value result;
  for (const ast::Comparison &comparison : expr.comparisons) {
    Value right = hasFailed ? Value() : evaluate(*comparison.right);
    if (hasFailed)
      return Value();
    Value one = compare(comparison.op, left, right);
    if (hasFailed)
      return Value();
    if (&comparison == &expr.comparisons.front())
      result = one;
    else if (result.isTensor() && one.isTensor())
      result = combineLogical(true, result, one);
    else if (result.isTensor() != one.isTensor()) {
      const Value &known = result.isTensor() ? one : result;
      std::optional<bool> answer = truth(known);
      if (!answer)
        return Value();
      result = !*answer ? known : result.isTensor() ? result : one;
    } else
      result = one;
    if (!result.isTensor() && expr.comparisons.size() > 1) {
      std::optional<bool> answer = truth(result);
      if (!answer || !*answer)
        return hasFailed ? Value() : result;
    }
    left = right;
  }
  return result;
}

Value Evaluator::evaluateConditional(const ast::ConditionalExpr &expr) {
  Value test = evaluate(*expr.test);
  if (hasFailed)
    return Value();
  Tensor condition;
  std::optional<bool> known = truth(test, &condition);
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
    if (hasFailed)
      return Value();
    if (!item.key) {
      if (!value.is(ValueKind::Dict))
        return error(DiagKind::SemaInvalidArgument, "**", "a dict", describe(value));
      dict = pythonBinary(ast::BinaryOp::BitOr, dict, value);
      continue;
    }
    Value key = evaluate(*item.key);
    if (hasFailed)
      return Value();
    auto single = std::make_shared<DictObject>();
    single->items.emplace_back(key, value);
    dict = pythonBinary(ast::BinaryOp::BitOr, dict, Value(ValueKind::Dict, single));
  }
  return dict;
}

Value Evaluator::evaluateLambda(const ast::LambdaExpr &expr) {
  auto object = std::make_shared<FunctionObject>();
  object->lambda = &expr;
  object->module = frame->module;
  object->mode = frame->mode;
  object->scope = frame->enclosing;
  object->closure = frame->closure ? std::make_shared<Environment>(*frame->closure)
                                   : std::make_shared<Environment>();
  for (const auto &entry : frame->names)
    (*object->closure)[entry.first] = entry.second;
  return {ValueKind::Function, object};
}

/// Runs `body` for every element of the clauses from `clause` on. False after an error.
bool Evaluator::runComprehension(const ast::ComprehensionExpr &expr, size_t clause,
                                 llvm::function_ref<bool()> body) {
  if (clause == expr.clauses.size())
    return body();
  const ast::ComprehensionClause &loop = expr.clauses[clause];
  std::optional<std::vector<Value>> items = iterate(evaluate(*loop.iterable));
  if (!items)
    return false;
  for (const Value &item : *items) {
    if (!step() || !assign(*loop.target, item, /*keepConstant=*/true))
      return false;
    bool taken = true;
    for (const ast::Expr *condition : loop.conditions) {
      std::optional<bool> answer = truth(evaluate(*condition));
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
  Environment saved = frame->names;
  std::vector<Value> elements;
  auto dict = std::make_shared<DictObject>();
  bool isDict = expr.form == ast::ComprehensionForm::Dict;
  Value result(ValueKind::Dict, dict);
  bool done = runComprehension(expr, 0, [&] {
    Value element = evaluate(*expr.element);
    if (hasFailed)
      return false;
    if (!isDict) {
      elements.push_back(element);
      return true;
    }
    auto single = std::make_shared<DictObject>();
    single->items.emplace_back(element, evaluate(*expr.value));
    if (!hasFailed)
      result = pythonBinary(ast::BinaryOp::BitOr, result, Value(ValueKind::Dict, single));
    return !hasFailed;
  });
  frame->names = std::move(saved);
  if (!done)
    return Value();
  if (isDict)
    return result;
  Value list = Value::list(std::move(elements));
  if (expr.form == ast::ComprehensionForm::Set)
    return call(Value::builtin(*findBuiltin(Library::Python, "set")), {list}, {});
  return list;
}

//===----------------------------------------------------------------------===//
// Operators: on tensors when one takes part, else Python's
//===----------------------------------------------------------------------===//

static Value opaqueResult(const Value &a, const Value &b) { return a.isOpaque() ? a : b; }

Value Evaluator::binary(ast::BinaryOp op, const Value &left, const Value &right) {
  if (left.isTensor() || right.isTensor())
    return tensorBinary(op, left, right);
  if (left.isOpaque() || right.isOpaque())
    return opaqueResult(left, right);
  return pythonBinary(op, left, right);
}

Value Evaluator::compare(ast::CompareOp op, const Value &left, const Value &right) {
  if (op == ast::CompareOp::Is || op == ast::CompareOp::IsNot) {
    bool same =
        isIdentical(left, right) || (left.is(ValueKind::Type) && right.is(ValueKind::Type) &&
                                     left.getType() == right.getType());
    return Value::boolean(same == (op == ast::CompareOp::Is));
  }
  if (op != ast::CompareOp::In && op != ast::CompareOp::NotIn) {
    if (left.isTensor() || right.isTensor())
      return tensorCompare(op, left, right);
    if (left.isOpaque() || right.isOpaque())
      return opaqueResult(left, right);
  }
  return pythonCompare(op, left, right);
}

Value Evaluator::unary(ast::UnaryOp op, const Value &operand) {
  if (operand.isTensor()) {
    Tensor tensor = operand.getTensor();
    switch (op) {
    case ast::UnaryOp::Plus:
      return operand;
    case ast::UnaryOp::Minus:
      return Value::tensor(negate(tensor));
    case ast::UnaryOp::Invert:
      return Value::tensor(invert(tensor));
    case ast::UnaryOp::Not:
      return Value::tensor(logicalNot(tensor));
    }
  }
  if (op == ast::UnaryOp::Not) {
    std::optional<bool> answer = truth(operand);
    return answer ? Value::boolean(!*answer) : Value();
  }
  if (operand.isOpaque())
    return operand;
  if (operand.isIntegral()) {
    Int value = operand.getInt();
    return Value::integer(op == ast::UnaryOp::Minus    ? -value
                          : op == ast::UnaryOp::Invert ? ~value
                                                       : value);
  }
  if (operand.is(ValueKind::Float) && op != ast::UnaryOp::Invert)
    return Value::real(op == ast::UnaryOp::Minus ? -operand.getReal() : operand.getReal());
  return error(DiagKind::SemaOperand, ast::getSpelling(op), describe(operand));
}

} // namespace kiln::sema
