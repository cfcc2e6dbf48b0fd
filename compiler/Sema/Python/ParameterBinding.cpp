#include "compiler/Sema/Python/ParameterBinding.h"
#include "compiler/Basic/NameSuggestion.h"
#include "llvm/ADT/STLExtras.h"

namespace kiln::sema {
namespace {

using Mistake = std::optional<ArgumentsMistake>;

class ParameterBinder {
public:
  ParameterBinder(const FunctionObject &function, llvm::ArrayRef<Value> args,
                  const Keywords &keywords, Environment &names)
      : function(function), args(args), keywords(keywords), names(names), used(keywords.size()) {}

  Mistake bind() {
    // First: a misspelt keyword also leaves its parameter without a value.
    if (Mistake mistake = checkNames())
      return mistake;
    for (auto [index, parameter] : llvm::enumerate(function.getParameters()))
      if (Mistake mistake = bind(parameter, index))
        return mistake;
    if (next < args.size())
      return ArgumentsMistake{"takes " + std::to_string(next) + " arguments, got " +
                                  std::to_string(args.size()),
                              "", ""};
    for (auto [keyword, isUsed] : llvm::zip(keywords, used))
      if (!isUsed)
        return ArgumentsMistake{"takes '" + keyword.first + "' by position only", "",
                                keyword.first};
    return std::nullopt;
  }

private:
  Mistake checkNames() const {
    std::vector<llvm::StringRef> known;
    for (const ast::Parameter &parameter : function.getParameters()) {
      if (parameter.kind == ast::ParameterKind::VarKeywords)
        return std::nullopt;
      known.push_back(parameter.name.name);
    }
    for (const auto &keyword : keywords)
      if (!llvm::is_contained(known, llvm::StringRef(keyword.first)))
        return ArgumentsMistake{"has no parameter '" + keyword.first + "'",
                                suggestName(keyword.first, known), keyword.first};
    return std::nullopt;
  }

  Mistake bind(const ast::Parameter &parameter, size_t index) {
    llvm::StringRef name = parameter.name.name;
    if (parameter.kind == ast::ParameterKind::VarArgs) {
      names[name] = Value::tuple(args.drop_front(std::min(next, args.size())).vec());
      next = args.size();
      return std::nullopt;
    }
    if (parameter.kind == ast::ParameterKind::VarKeywords) {
      names[name] = otherKeywords();
      return std::nullopt;
    }
    std::optional<Value> value;
    if (parameter.kind != ast::ParameterKind::KeywordOnly && next < args.size())
      value = args[next++];
    if (parameter.kind != ast::ParameterKind::PositionalOnly)
      for (size_t i = 0; i < keywords.size(); ++i)
        if (keywords[i].first == name) {
          if (value)
            return ArgumentsMistake{"got two values for '" + name.str() + "'", "", name.str()};
          value = keywords[i].second;
          used[i] = true;
        }
    if (!value && index < function.defaults.size() && !function.defaults[index].isError())
      value = function.defaults[index];
    if (!value)
      return ArgumentsMistake{"needs a value for '" + name.str() + "'", "", ""};
    names[name] = *value;
    return std::nullopt;
  }

  Value otherKeywords() {
    auto dict = std::make_shared<DictObject>();
    for (size_t i = 0; i < keywords.size(); ++i)
      if (!used[i]) {
        dict->items.emplace_back(Value::string(keywords[i].first), keywords[i].second);
        used[i] = true;
      }
    return {ValueKind::Dict, dict};
  }

  const FunctionObject &function;
  llvm::ArrayRef<Value> args;
  const Keywords &keywords;
  Environment &names;
  std::vector<bool> used; ///< by keyword
  size_t next = 0;        ///< of the arguments by position
};

} // namespace

std::optional<ArgumentsMistake> bindParameters(const FunctionObject &function,
                                               llvm::ArrayRef<Value> args, const Keywords &keywords,
                                               Environment &names) {
  return ParameterBinder(function, args, keywords, names).bind();
}

} // namespace kiln::sema
