#include "compiler/Sema/Python/Unpacking.h"
#include "llvm/ADT/STLExtras.h"

namespace kiln::sema {

bool Unpacker::collectArguments(ast::ArgumentList arguments, std::vector<Value> &args,
                                Keywords &keywords) {
  for (const ast::Argument &argument : arguments) {
    Value value = evaluate(*argument.value);
    if (failed())
      return false;
    switch (argument.kind) {
    case ast::ArgumentKind::Positional:
      args.push_back(value);
      break;
    case ast::ArgumentKind::Keyword:
      keywords.emplace_back(argument.name.name.str(), value);
      break;
    case ast::ArgumentKind::Star: {
      std::optional<std::vector<Value>> items = iterate(value);
      if (!items)
        return false;
      llvm::append_range(args, *items);
      break;
    }
    case ast::ArgumentKind::DoubleStar:
      if (value.isOpaque())
        return iterate(value), false;
      if (!value.is(ValueKind::Dict))
        return raiseMistake("TypeError", "** needs a dict, got " + describe(value)), false;
      for (const auto &[key, item] : value.as<DictObject>().items)
        keywords.emplace_back(str(key), item);
      break;
    }
  }
  return true;
}

std::optional<std::vector<Value>> Unpacker::evaluateElements(ast::ExprList exprs) {
  std::vector<Value> values;
  for (const ast::Expr *expr : exprs) {
    const auto *starred = llvm::dyn_cast<ast::StarredExpr>(expr);
    Value value = evaluate(starred ? *starred->value : *expr);
    if (failed())
      return std::nullopt;
    if (!starred) {
      values.push_back(value);
      continue;
    }
    std::optional<std::vector<Value>> items = iterate(value);
    if (!items)
      return std::nullopt;
    llvm::append_range(values, *items);
  }
  return values;
}

bool Unpacker::unpack(ast::ExprList targets, const Value &value,
                      llvm::function_ref<bool(const ast::Expr &, const Value &)> assign) {
  auto withoutStar = [](const ast::Expr *target) -> const ast::Expr & {
    const auto *starred = llvm::dyn_cast<ast::StarredExpr>(target);
    return starred ? *starred->value : *target;
  };
  if (value.isOpaque())
    return llvm::all_of(targets, [&](auto *target) { return assign(withoutStar(target), value); });
  std::optional<std::vector<Value>> items = iterate(value);
  if (!items)
    return false;
  const auto *star = llvm::find_if(targets, llvm::IsaPred<ast::StarredExpr>);
  bool hasStar = star != targets.end();
  size_t single = targets.size() - hasStar;
  bool fits = items->size() == single || (items->size() > single && hasStar);
  if (!fits && (items->size() < single || !dropsSurplus(items->size(), single))) {
    raiseMistake("ValueError", "cannot unpack " + llvm::Twine(items->size()) + " values into " +
                                   llvm::Twine(targets.size()) + " targets");
    return false;
  }
  auto next = items->begin();
  for (const ast::Expr *target : targets) {
    bool takesRest = hasStar && target == *star;
    auto end = next + (takesRest ? items->size() - single : 1);
    Value part = takesRest ? Value::list({next, end}) : *next;
    next = end;
    if (!assign(withoutStar(target), part))
      return false;
  }
  return true;
}

} // namespace kiln::sema
