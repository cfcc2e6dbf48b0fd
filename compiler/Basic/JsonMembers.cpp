#include "compiler/Basic/JsonMembers.h"

namespace kiln {

constexpr size_t maxLevels = 64;

/// What the text opens before the parser can find a mistake in it.
static size_t deepestLevel(llvm::StringRef text) {
  size_t level = 0, deepest = 0;
  bool isString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (isString && c == '\\')
      ++i;
    else if (c == '"')
      isString = !isString;
    else if (!isString && (c == '[' || c == '{'))
      deepest = std::max(deepest, ++level);
    else if (!isString && (c == ']' || c == '}') && level > 0)
      --level;
  }
  return deepest;
}

llvm::Expected<llvm::json::Value> parseJson(llvm::StringRef text) {
  if (deepestLevel(text) > maxLevels)
    return llvm::createStringError("its JSON is nested more than " + llvm::Twine(maxLevels) +
                                   " levels deep");
  llvm::Expected<llvm::json::Value> value = llvm::json::parse(text);
  if (!value)
    return llvm::createStringError("it is not JSON: " + llvm::toString(value.takeError()));
  return value;
}

} // namespace kiln
