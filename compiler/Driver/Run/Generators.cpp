#include "compiler/Driver/Run/Generators.h"
#include "compiler/Basic/NameSuggestion.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

namespace kiln {
namespace {

/// FNV-1a: an argument's numbers do not depend on the order of the flags.
uint64_t hashOf(llvm::StringRef text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (char c : text)
    hash = (hash ^ uint8_t(c)) * 0x100000001b3;
  return hash;
}

/// Extents up to the first keyword, which stays in `others`.
bool parseShape(llvm::StringRef extents, llvm::StringRef &others, llvm::StringRef text,
                GeneratorCall &call, ValueMistakes &mistakes) {
  while (!extents.trim().empty()) {
    auto [item, after] = extents.split(',');
    if (item.contains('=') && others.empty()) {
      others = extents;
      break;
    }
    int64_t extent = 0;
    if (item.trim().getAsInteger(10, extent) || extent < 0) {
      mistakes.expected("extents that are whole numbers", text);
      return false;
    }
    call.shape.push_back(extent);
    extents = after;
  }
  if (call.shape.empty() || (call.name == "arange" && call.shape.size() != 1)) {
    mistakes.expected(call.name == "arange" ? "one extent" : "a shape", text);
    return false;
  }
  return true;
}

bool parseNumbers(llvm::StringRef others, llvm::StringRef text, GeneratorCall &call,
                  ValueMistakes &mistakes) {
  bool isUniform = call.name == "uniform" || call.name == "randint";
  llvm::StringRef firstName = isUniform               ? "low"
                              : call.name == "normal" ? "mean"
                              : call.name == "arange" ? "start"
                                                      : "value";
  llvm::StringRef secondName = isUniform               ? "high"
                               : call.name == "normal" ? "std"
                               : call.name == "arange" ? "step"
                                                       : "";
  while (!others.trim().empty()) {
    auto [item, after] = others.split(',');
    auto [key, number] = item.split('=');
    bool isPlain = number.empty() && call.name == "full" && !call.first;
    double value = 0;
    if ((isPlain ? key : number).trim().getAsDouble(value) || call.name == "zeros" ||
        call.name == "ones" || (!isPlain && key.trim() != firstName && key.trim() != secondName)) {
      mistakes.expected("numbers that '" + call.name + "' takes", text);
      return false;
    }
    (isPlain || key.trim() == firstName ? call.first : call.second) = value;
    others = after;
  }
  if (call.name == "full" && !call.first) {
    mistakes.expected("a value", text, "full((128, 64), 0.5)");
    return false;
  }
  return true;
}

} // namespace

std::optional<GeneratorCall> parseGenerator(llvm::StringRef text, ValueMistakes &mistakes) {
  static const llvm::StringRef known[] = {"arange",  "full",  "normal",  "ones",
                                          "randint", "randn", "uniform", "zeros"};
  size_t open = text.find('(');
  llvm::StringRef callee = text.take_front(open).trim();
  if (open == llvm::StringRef::npos || !text.ends_with(")"))
    return mistakes.expected(
        "an array", text,
        "@FILE.npy, zeros(…), ones(…), full((…), value), arange(n), uniform(…), "
        "randint(…) or normal(…)");
  GeneratorCall call;
  if (!llvm::is_contained(known, callee))
    return mistakes.expected("a generator", callee, suggestName(callee, known));
  call.name = callee == "randn" ? "normal" : callee;
  llvm::StringRef inside = text.slice(open + 1, text.size() - 1).trim();
  bool isTuple = inside.consume_front("(");
  llvm::StringRef extents = inside, others;
  if (isTuple) {
    std::tie(extents, others) = inside.split(')');
    others = others.ltrim();
    if (extents.size() == inside.size() || (!others.empty() && !others.consume_front(",")))
      return mistakes.expected("a shape in parentheses", text);
  } else if (callee == "full") {
    // full(n, value)
    std::tie(extents, others) = inside.split(',');
  }
  return parseShape(extents, others, text, call, mistakes) &&
                 parseNumbers(others, text, call, mistakes)
             ? std::optional(call)
             : std::nullopt;
}

NumberGenerator::NumberGenerator(const GeneratorCall &call, bool isFloat, llvm::StringRef name,
                                 uint64_t seed)
    : call(call), isFloat(isFloat), random(seed ^ hashOf(name)) {}

double NumberGenerator::next() {
  if (call.name == "full")
    return *call.first;
  if (call.name == "arange")
    return call.first.value_or(0) + double(index++) * call.second.value_or(1);
  if (call.name == "normal")
    return call.first.value_or(0) + call.second.value_or(1) * random.normal();
  if (call.name == "uniform" || call.name == "randint") {
    bool isWhole = !isFloat || call.name == "randint";
    double low = call.first.value_or(0);
    double value = low + (call.second.value_or(isWhole ? 100 : 1) - low) * random.uniform();
    return isWhole ? std::floor(value) : value;
  }
  return call.name == "ones" ? 1 : 0;
}

} // namespace kiln
