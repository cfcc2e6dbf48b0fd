// Any text is an expression or an error. What an expression is rewritten to has its value, and
// fails where it fails.
#include "codegen/Expression.h"
#include "llvm/Support/DJB.h"

using kiln::Expression;
using kiln::TextError;

namespace {

/// Numbers that differ with the input and the name, small and large ones.
int64_t numberOf(llvm::StringRef name, size_t size) {
  int64_t number = static_cast<int64_t>(llvm::djbHash(name, size));
  return number % 3 == 0 ? number % 17 : (number - (int64_t(1) << 31)) << (number % 5 * 8);
}

void check(const Expression &expression, size_t size) {
  auto lookup = [&](llvm::StringRef name) -> std::optional<int64_t> {
    return numberOf(name, size);
  };
  auto some = [&](llvm::StringRef name) -> std::optional<int64_t> {
    return name.size() % 2 ? lookup(name) : std::nullopt;
  };
  TextError error;
  std::optional<int64_t> value = expression.evaluate(lookup, error);
  if (expression.simplify(some).evaluate(lookup, error) != value)
    __builtin_trap();
  std::optional<int64_t> negated = expression.negated().evaluate(lookup, error);
  if (negated.has_value() != value.has_value() || (value && (*negated == 0) != (*value != 0)))
    __builtin_trap();
  if (expression.printedSize() < 10000) {
    std::set<std::string> used;
    expression.printC([](llvm::StringRef name) { return name.str(); }, "&failed", used);
    expression.printCTruth([](llvm::StringRef name) { return name.str(); }, "&failed", used);
    Expression::cHelpers(used);
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::StringRef text(reinterpret_cast<const char *>(data), size);
  TextError error;
  std::optional<Expression> expression = Expression::parse(text, error);
  if (!expression) {
    // The place of an error lies in the text.
    if (error.message.empty() || error.begin > size || error.end > size)
      __builtin_trap();
    return 0;
  }
  check(*expression, size);
  return 0;
}
