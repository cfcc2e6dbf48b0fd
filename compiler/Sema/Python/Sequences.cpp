// Sequences: what Python's loops go through, indices and slices; and literals.

#include "compiler/Sema/Python/NodeNames.h"
#include "compiler/Sema/Python/PythonOperations.h"

namespace kiln::sema {

Value PythonOperations::callBuiltin(Library library, llvm::StringRef name, std::vector<Value> args,
                                    Keywords keywords) {
  return code.call(table.get(library, name), std::move(args), std::move(keywords));
}

Value PythonOperations::use(llvm::StringRef name, const Value &value) {
  if (value.isError())
    return failAgain();
  if (value.is(ValueKind::Undefined)) {
    llvm::StringRef reason = value.as<UndefinedObject>().reason;
    std::string hint =
        reason.contains("branch") ? ("give '" + name + "' a value of one type on every path").str()
        : reason.contains("may not run") ? ("give '" + name + "' a value before the loop").str()
                                         : "";
    return errorWithHint(hint, DiagKind::SemaUnboundName, name, reason);
  }
  return value;
}

/// Python's rules for the bounds of a slice.
static void clampSlice(Int size, const SliceObject &slice, Int step, Int &lower, Int &upper) {
  auto bound = [&](const Value &value, Int missing) {
    if (!value.isIntegral())
      return missing;
    Int at = value.getInt();
    if (at < 0)
      at += size;
    Int least = step < 0 ? -1 : 0, most = step < 0 ? size - 1 : size;
    return at < least ? least : at > most ? most : at;
  };
  lower = bound(slice.lower, step < 0 ? size - 1 : 0);
  upper = bound(slice.upper, step < 0 ? -1 : size);
}

Value PythonOperations::subscriptSequence(const Value &base, const Value &index) {
  std::vector<Value> elements;
  if (base.isString())
    for (char c : base.getString())
      elements.push_back(Value::string(llvm::StringRef(&c, 1)));
  else if (std::optional<std::vector<Value>> items = iterate(base))
    elements = *items;
  else
    return Value();
  Int size = Int(elements.size());
  if (index.is(ValueKind::Slice)) {
    const auto &slice = index.as<SliceObject>();
    for (const Value *part : {&slice.lower, &slice.upper, &slice.step})
      if (!part->isNone() && !constantInt(*part, "a slice bound"))
        return Value();
    Int step = slice.step.isNone() ? 1 : slice.step.getInt();
    if (step == 0)
      return error(DiagKind::SemaPython, "slice step cannot be zero");
    Int lower, upper;
    clampSlice(size, slice, step, lower, upper);
    std::vector<Value> result;
    for (Int at = lower; step > 0 ? at < upper : at > upper; at += step)
      result.push_back(elements[size_t(at)]);
    if (base.isString()) {
      std::string text;
      for (const Value &letter : result)
        text += letter.getString();
      return Value::string(text);
    }
    return base.is(ValueKind::List) ? Value::list(result) : Value::tuple(result);
  }
  std::optional<Int> at = constantInt(index, "an index");
  if (!at)
    return Value();
  Int position = *at < 0 ? *at + size : *at;
  if (position < 0 || position >= size)
    return error(DiagKind::SemaPython,
                 "index " + toString(*at) + " is out of range for " + toString(size) + " elements");
  return elements[size_t(position)];
}

std::optional<std::vector<Value>> PythonOperations::iterate(const Value &iterable) {
  std::vector<Value> items;
  switch (iterable.getKind()) {
  case ValueKind::Error:
    return std::nullopt;
  case ValueKind::Tuple:
  case ValueKind::List:
  case ValueKind::Set:
    return iterable.getElements();
  case ValueKind::String:
    for (char c : iterable.getString())
      items.push_back(Value::string(llvm::StringRef(&c, 1)));
    return items;
  case ValueKind::Dict:
    for (const auto &item : iterable.as<DictObject>().items)
      items.push_back(item.first);
    return items;
  case ValueKind::Range: {
    const auto &range = iterable.as<RangeObject>();
    for (Int at = range.start; range.step > 0 ? at < range.stop : at > range.stop;
         at += range.step) {
      if (!unwinding().step())
        return std::nullopt;
      items.push_back(Value::integer(at));
    }
    return items;
  }
  case ValueKind::Opaque:
    notKnown(iterable);
    return std::nullopt;
  case ValueKind::Iterator:
  case ValueKind::Class:
  case ValueKind::Instance:
    return code.iterateObject(iterable);
  default:
    return fail(DiagKind::SemaUnsupportedSyntax, "iterating over " + describe(iterable));
  }
}

static Value fromLiteral(const ast::IntLiteral &literal, const Reporting &python) {
  llvm::APInt value = literal.getValue();
  if (value.getActiveBits() > 126)
    return python.error(DiagKind::SemaPython, "an integer is too large (more than 126 bits)");
  llvm::APInt wide = value.zextOrTrunc(128);
  auto high = static_cast<unsigned __int128>(wide.extractBitsAsZExtValue(64, 64));
  return Value::integer(static_cast<Int>((high << 64) | wide.extractBitsAsZExtValue(64, 0)));
}

Value PythonOperations::literal(const ast::Expr &expr) {
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

} // namespace kiln::sema
