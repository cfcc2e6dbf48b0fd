// Expressions of host code.

#include "compiler/Sema/Host/Interpreter.h"
#include "compiler/Sema/Python/NodeNames.h"
#include "compiler/Sema/Python/StringFormatting.h"

namespace kiln::sema {

Value HostInterpreter::evaluate(const ast::Expr &expr) {
  if (!core->unwinding().step())
    return Value();
  At at(*core, expr.range);
  Unwinding::Depth depth(core->unwinding());
  return core->failed() ? Value() : settle(evaluateNode(expr));
}

/// What an operator of tl.constexpr gives is one.
static Value ofConstexprs(const Value &left, const Value &right, const Value &result) {
  return result.asConstexpr(left.isConstexpr() || right.isConstexpr());
}

static Value makeSlice(const Value &lower, const Value &upper, const Value &step) {
  auto object = std::make_shared<SliceObject>();
  object->lower = lower;
  object->upper = upper;
  object->step = step;
  return {ValueKind::Slice, object};
}

Value HostInterpreter::evaluateNode(const ast::Expr &expr) {
  using ast::NodeKind;
  switch (expr.kind) {
  case NodeKind::NameExpr:
    return lookUp(llvm::cast<ast::NameExpr>(expr).name);
  case NodeKind::FormattedString:
    return evaluateFormatted(llvm::cast<ast::FormattedString>(expr));
  case NodeKind::BytesLiteral:
  case NodeKind::ImaginaryLiteral:
    return unknown(describeNode(expr.kind));
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
  case NodeKind::YieldExpr:
  case NodeKind::YieldFromExpr:
    return evaluateYield(expr);
  default:
    return core->tensors().literal(expr);
  }
}

Value HostInterpreter::evaluateUnary(const ast::UnaryExpr &expr) {
  Value operand = evaluate(*expr.operand);
  if (core->failed())
    return Value();
  return unary(expr.op, operand).asConstexpr(operand.isConstexpr() && expr.op != ast::UnaryOp::Not);
}

Value HostInterpreter::evaluateBinary(const ast::BinaryExpr &expr) {
  Value left = evaluate(*expr.left);
  Value right = core->failed() ? Value() : evaluate(*expr.right);
  return core->failed() ? Value() : ofConstexprs(left, right, binary(expr.op, left, right));
}

Value HostInterpreter::evaluateAttribute(const ast::AttributeExpr &expr) {
  Value base = evaluate(*expr.base);
  if (core->failed())
    return Value();
  At at(*core, expr.attribute.range);
  return getAttribute(base, expr.attribute.name);
}

Value HostInterpreter::evaluateSubscript(const ast::SubscriptExpr &expr) {
  Value base = evaluate(*expr.base);
  Value index = core->failed() ? Value() : evaluate(*expr.index);
  return core->failed() ? Value() : subscript(base, index);
}

Value HostInterpreter::evaluateSlice(const ast::SliceExpr &expr) {
  auto part = [&](const ast::Expr *child) { return child ? evaluate(*child) : Value::none(); };
  Value lower = part(expr.lower);
  Value upper = core->failed() ? Value() : part(expr.upper);
  Value step = core->failed() ? Value() : part(expr.step);
  return core->failed() ? Value() : makeSlice(lower, upper, step);
}

Value HostInterpreter::evaluateNamed(const ast::NamedExpr &expr) {
  Value value = evaluate(*expr.value);
  if (!core->failed())
    bind(expr.target->name, value);
  return core->failed() ? Value() : value;
}

Value HostInterpreter::evaluateDisplay(const ast::Expr &expr, ast::ExprList elements) {
  std::optional<std::vector<Value>> values = evaluateElements(elements);
  if (!values)
    return Value();
  if (expr.kind == ast::NodeKind::TupleExpr)
    return Value::tuple(std::move(*values));
  Value list = Value::list(std::move(*values));
  if (expr.kind == ast::NodeKind::ListExpr)
    return list;
  return call(core->tensors().builtins().get(Library::Python, "set"), {list}, {});
}

Value HostInterpreter::evaluateDict(const ast::DictExpr &expr) {
  Value dict(ValueKind::Dict, std::make_shared<DictObject>());
  for (const ast::DictItem &item : expr.items) {
    Value key = item.key ? evaluate(*item.key) : Value::none();
    Value value = core->failed() ? Value() : evaluate(*item.value);
    if (core->failed())
      return Value();
    if (item.key) {
      if (!assignSubscript(dict, key, value))
        return Value();
      continue;
    }
    if (value.isOpaque())
      return value;
    if (!value.is(ValueKind::Dict))
      return raise("TypeError", "** needs a dict, got " + describe(value));
    for (const auto &[name, content] : value.as<DictObject>().items)
      assignSubscript(dict, name, content);
  }
  return dict;
}

Value HostInterpreter::evaluateBool(const ast::BoolExpr &expr) {
  Value last;
  for (size_t at = 0; at < expr.operands.size(); ++at) {
    Value why;
    last = evaluate(*expr.operands[at]);
    if (core->failed() || at + 1 == expr.operands.size())
      break;
    std::optional<bool> answer = truth(last, &why);
    if (core->failed())
      return Value();
    if (!answer) { // The others may be evaluated, or not; what they change is in doubt.
      return evaluateEither(
          why, [&] { return last; },
          [&] {
            for (const ast::Expr *rest : expr.operands.drop_front(at + 1)) {
              Value value = evaluate(*rest);
              if (core->failed())
                return Value();
              (void)value;
            }
            return why;
          });
    }
    if (*answer != expr.isAnd)
      return last;
  }
  return core->failed() ? Value() : last;
}

Value HostInterpreter::evaluateCompare(const ast::CompareExpr &expr) {
  Value left = evaluate(*expr.left), result;
  for (const ast::Comparison &comparison : expr.comparisons) {
    Value right = core->failed() ? Value() : evaluate(*comparison.right);
    result = core->failed()
                 ? Value()
                 : ofConstexprs(left, right, settle(compare(comparison.op, left, right)));
    if (core->failed())
      return Value();
    if (&comparison == &expr.comparisons.back())
      break;
    Value why;
    std::optional<bool> answer = truth(result, &why);
    if (!answer || !*answer)
      return core->failed() ? Value() : result;
    left = right;
  }
  return result;
}

Value HostInterpreter::evaluateConditional(const ast::ConditionalExpr &expr) {
  Value test = evaluate(*expr.test), why;
  std::optional<bool> answer = core->failed() ? std::nullopt : truth(test, &why);
  if (core->failed())
    return Value();
  if (answer)
    return evaluate(*answer ? *expr.body : *expr.orElse);
  return evaluateEither(
      why, [&] { return evaluate(*expr.body); }, [&] { return evaluate(*expr.orElse); });
}

Value HostInterpreter::evaluateLambda(const ast::LambdaExpr &expr) {
  auto object = std::make_shared<FunctionObject>();
  object->lambda = &expr;
  object->module = current->module;
  object->scope = current->scope->kind == Scope::Module ? nullptr : current->scope;
  evaluateDefaults(*object);
  return core->failed() ? Value() : Value(ValueKind::Function, object);
}

Value HostInterpreter::evaluateYield(const ast::Expr &expr) {
  const auto *from = llvm::dyn_cast<ast::YieldFromExpr>(&expr);
  const ast::Expr *given = from ? from->value : llvm::cast<ast::YieldExpr>(expr).value;
  Value value = given ? evaluate(*given) : Value::none();
  if (core->failed())
    return Value();
  if (!current->yields)
    return core->error(DiagKind::SemaUnsupportedSyntax, describeNode(expr.kind));
  if (!from) {
    current->yields->push_back(value);
    return Value::none();
  }
  if (value.isOpaque())
    return core->error(DiagKind::SemaNotEvaluated, repr(value));
  if (std::optional<std::vector<Value>> items = iterate(value))
    llvm::append_range(*current->yields, *items);
  return Value::none();
}

Value HostInterpreter::evaluateFormatted(const ast::FormattedString &expr) {
  std::string text;
  for (const ast::Expr *part : expr.parts) {
    if (const auto *literal = llvm::dyn_cast<ast::StringLiteral>(part)) {
      text += literal->value;
      continue;
    }
    const auto &field = *llvm::cast<ast::FormattedValue>(part);
    Value value = evaluate(*field.value);
    Value spec = Value::string("");
    if (!core->failed() && field.formatSpec)
      spec = evaluate(*field.formatSpec);
    if (core->failed())
      return Value();
    for (const Value &operand : {value, spec})
      if (std::shared_ptr<OpaqueObject> why = findUnknown(operand))
        return {ValueKind::Opaque, why};
    bool isPlain = !field.conversion || field.conversion == 's';
    if (value.is(ValueKind::Instance)) {
      Value shown = call(core->tensors().builtins().get(Library::Python, isPlain ? "str" : "repr"),
                         {value}, {});
      if (core->failed() || shown.isOpaque())
        return shown;
      value = shown;
    } else if (field.conversion)
      value = Value::string(isPlain ? str(value) : repr(value));
    std::optional<std::string> formatted = formatValue(*core, value, spec.getString());
    if (!formatted)
      return Value();
    text += *formatted;
  }
  return Value::string(text);
}

//===----------------------------------------------------------------------===//
// Comprehensions
//===----------------------------------------------------------------------===//

/// Runs `body` for every element of the clauses from `clause` on; `first` is what the first one
/// goes through. False after an error.
bool HostInterpreter::runClauses(const ast::ComprehensionExpr &expr, size_t clause,
                                 const Value &first, llvm::function_ref<bool()> body) {
  if (clause == expr.clauses.size())
    return body();
  const ast::ComprehensionClause &loop = expr.clauses[clause];
  Value iterable = clause ? evaluate(*loop.iterable) : first;
  Value iterator = core->failed() ? Value() : settle(makeIterator(iterable));
  if (core->failed())
    return false;
  if (iterator.isOpaque())
    return core->notKnown(iterator), false;
  while (true) {
    std::optional<Value> item = core->unwinding().step() ? next(iterator) : std::nullopt;
    if (core->failed() || !item)
      return !core->failed();
    // The targets are the comprehension's own.
    std::shared_ptr<Scope> scope = current->scope;
    scope->kind = Scope::Function;
    bool assigned = assign(*loop.target, *item);
    scope->kind = Scope::Comprehension;
    if (!assigned)
      return false;
    bool taken = true;
    for (const ast::Expr *condition : loop.conditions) {
      Value test = evaluate(*condition), why;
      std::optional<bool> answer = core->failed() ? std::nullopt : truth(test, &why);
      if (!answer)
        return core->failed() ? false : (core->notKnown(why), false);
      taken = *answer;
      if (!taken)
        break;
    }
    if (taken && !runClauses(expr, clause + 1, first, body))
      return false;
  }
}

Value HostInterpreter::evaluateComprehension(const ast::ComprehensionExpr &expr) {
  // The first iterable belongs to the scope around it.
  Value first = evaluate(*expr.clauses.front().iterable);
  if (core->failed() || first.isOpaque())
    return first;
  auto scope = std::make_shared<Scope>();
  scope->kind = Scope::Comprehension;
  scope->parent = current->scope->kind == Scope::Module ? nullptr : current->scope;
  using Form = ast::ComprehensionForm;
  auto run = [this, &expr, first, scope, module = current->module](std::vector<Value> &elements,
                                                                   const Value &dict) {
    Activation activation;
    activation.scope = scope;
    activation.module = module;
    activation.caller = current;
    activation.self = current ? current->self : Value();
    activation.cls = nullptr;
    activation.function = current ? current->function : nullptr;
    Activation *saved = std::exchange(current, &activation);
    bool done = runClauses(expr, 0, first, [&] {
      Value element = evaluate(*expr.element);
      if (core->failed())
        return false;
      if (expr.form != Form::Dict) {
        elements.push_back(element);
        return true;
      }
      Value value = evaluate(*expr.value);
      return !core->failed() && assignSubscript(dict, element, value);
    });
    current = saved;
    return done;
  };
  Value dict(ValueKind::Dict, std::make_shared<DictObject>());
  if (expr.form == Form::Generator) {
    auto iterator = std::make_shared<IteratorObject>();
    iterator->kind = IteratorObject::Generator;
    iterator->run = [run, dict](std::vector<Value> &items) { run(items, dict); };
    return {ValueKind::Iterator, iterator};
  }
  std::vector<Value> elements;
  if (!run(elements, dict))
    return Value();
  if (expr.form == Form::Dict)
    return dict;
  Value list = Value::list(std::move(elements));
  if (expr.form == Form::Set)
    return call(core->tensors().builtins().get(Library::Python, "set"), {list}, {});
  return list;
}

} // namespace kiln::sema
