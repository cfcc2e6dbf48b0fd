//===- Signature.cpp - argument types and literals of a kernel ------------===//
#include "codegen/Signature.h"
#include "compiler/Basic/NameSuggestion.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <array>
#include <cmath>

using namespace llvm;

namespace kiln {

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

namespace {
enum class ParamKind : uint8_t {
#define KILN_PARAM_TYPE(KIND, ...) KIND,
#include "runtime/element_types.def"
};

struct ParamRecord {
  StringRef name;
  unsigned bytes;
  StringRef cType;
};

constexpr std::array kParams = {
#define KILN_PARAM_TYPE(KIND, NAME, BYTES, C_TYPE) ParamRecord{#KIND, BYTES, #C_TYPE},
#include "runtime/element_types.def"
};

struct ElementRecord {
  StringRef name, synonym, languageName;
  ElementClass kind;
  ParamKind param;
};

constexpr std::array kElements = {
#define KILN_ELEMENT_TYPE(NAME, SPEC, SYNONYM, LANGUAGE, CLASS, BITS, KIND, ...)                   \
  ElementRecord{SPEC, SYNONYM, LANGUAGE, ElementClass::CLASS, ParamKind::KIND},
#include "runtime/element_types.def"
};

const ElementRecord &record(ElementType type) { return kElements[static_cast<size_t>(type)]; }
const ParamRecord &param(ElementType type) {
  return kParams[static_cast<size_t>(record(type).param)];
}
} // namespace

StringRef elementName(ElementType type) { return record(type).name; }
unsigned elementBytes(ElementType type) { return param(type).bytes; }
StringRef elementCType(ElementType type) { return param(type).cType; }
ElementClass elementClass(ElementType type) { return record(type).kind; }
StringRef elementParamKind(ElementType type) { return param(type).name; }

std::optional<ElementType> parseElementType(StringRef name) {
  for (size_t i = 0; i < kElements.size(); ++i)
    if (name == kElements[i].name || name == kElements[i].languageName ||
        name == kElements[i].synonym)
      return static_cast<ElementType>(i);
  return std::nullopt;
}

std::string nearestElementType(StringRef name) {
  SmallVector<StringRef> candidates;
  for (const ElementRecord &element : kElements)
    candidates.push_back(element.name);
  // No name of ours is near a long one, and the distance is quadratic.
  return name.size() > 40 ? "" : findNearestName(name, candidates).str();
}

//===----------------------------------------------------------------------===//
// ArgumentType
//===----------------------------------------------------------------------===//

bool ArgumentType::isInteger() const {
  return kind == Kind::Scalar && elementClass(element) != ElementClass::Float;
}

unsigned ArgumentType::bytes() const {
  switch (kind) {
  case Kind::Scalar:
    return elementBytes(element);
  case Kind::Pointer:
    return 8;
  case Kind::TensorDescriptor:
    return 0;
  }
  return 0;
}

std::string ArgumentType::cType() const {
  if (kind == Kind::Scalar)
    return elementCType(element).str();
  return isConst ? "const void *" : "void *";
}

std::string ArgumentType::spelling() const {
  std::string text = std::string(pointerDepth, '*') + (isConst ? "k" : "");
  if (kind == Kind::TensorDescriptor) {
    text = formatv("tensordesc<{0}>[", elementName(element)).str();
    for (size_t i = 0; i < blockShape.size(); ++i)
      text += (i ? "," : "") + (blockShape[i].name.empty() ? std::to_string(blockShape[i].value)
                                                           : blockShape[i].name);
    return text + (padsWithNan ? "]:nan" : "]");
  }
  text += elementName(element);
  if (equalsOne)
    return text + ":1";
  return divisibility > 1 ? text + ":" + std::to_string(divisibility) : text;
}

bool ArgumentType::sameCType(const ArgumentType &other) const {
  return kind == other.kind && pointerDepth == other.pointerDepth && element == other.element &&
         isConst == other.isConst && blockShape.size() == other.blockShape.size();
}

/// All of them, each after a space.
static std::string elementNames() {
  std::string names;
  for (const ElementRecord &element : kElements)
    names += (" " + element.name).str();
  return names;
}

namespace {
/// A cursor over the text of one type.
class TypeParser {
public:
  TypeParser(StringRef text, TextError &error) : text(text), rest(text), error(error) {}

  std::optional<ArgumentType> parse() {
    skipSpace();
    if (rest.starts_with("tensordesc"))
      return parseDescriptor();
    ArgumentType type;
    while (rest.consume_front("*"))
      ++type.pointerDepth;
    if (type.pointerDepth) {
      type.kind = ArgumentType::Kind::Pointer;
      // No element type starts with k, so this is Triton's mark for constant memory.
      type.isConst = rest.consume_front("k");
    }
    if (type.pointerDepth > 2)
      return fail(0, type.pointerDepth, "expected at most a pointer to pointers");
    if (!parseElement(type) || !parseHint(type))
      return std::nullopt;
    skipSpace();
    if (!rest.empty())
      return fail(at(), text.size(), "expected the end of the type");
    return type;
  }

private:
  StringRef text, rest;
  TextError &error;

  size_t at() const { return text.size() - rest.size(); }
  void skipSpace() { rest = rest.ltrim(); }

  std::nullopt_t fail(size_t begin, size_t end, std::string message, std::string hint = "") {
    error = {begin, std::max(begin, end), std::move(message), std::move(hint)};
    return std::nullopt;
  }

  bool parseElement(ArgumentType &type) {
    StringRef name = rest.take_while([](char c) { return isAlnum(c) || c == '_'; });
    if (std::optional<ElementType> element = parseElementType(name)) {
      type.element = *element;
      rest = rest.drop_front(name.size());
      return true;
    }
    std::string nearest = nearestElementType(name);
    fail(at(), at() + name.size(),
         formatv("expected an element type, got '{0}'", name.take_front(40)).str(),
         nearest.empty() ? "types are" + elementNames() : "did you mean '" + nearest + "'?");
    return false;
  }

  bool parseHint(ArgumentType &type) {
    size_t begin = at();
    if (!rest.consume_front(":"))
      return true;
    StringRef hint = rest.take_while(isDigit);
    rest = rest.drop_front(hint.size());
    bool isFloat = type.kind == ArgumentType::Kind::Scalar &&
                   elementClass(type.element) == ElementClass::Float;
    if (isFloat) {
      fail(begin, at(), "expected no ':' hint on a floating-point scalar");
      return false;
    }
    if (hint == "8" || hint == "16") {
      type.divisibility = hint == "8" ? 8 : 16;
      return true;
    }
    if (hint == "1" && type.kind == ArgumentType::Kind::Scalar)
      return type.equalsOne = true;
    fail(begin, at(),
         formatv("expected the hint {0}, got ':{1}'",
                 type.isPointer() ? ":8 or :16" : ":1, :8 or :16", hint.take_front(20))
             .str(),
         ":8 and :16 promise divisibility, :1 promises that the value is 1");
    return false;
  }

  std::optional<ArgumentType> parseDescriptor() {
    ArgumentType type;
    type.kind = ArgumentType::Kind::TensorDescriptor;
    rest.consume_front("tensordesc");
    if (!rest.consume_front("<"))
      return fail(at(), at() + 1, "expected '<' after tensordesc");
    if (!parseElement(type))
      return std::nullopt;
    // Triton closes the angle bracket behind the block shape.
    bool isTritons = !rest.consume_front(">");
    skipSpace();
    if (!rest.consume_front("["))
      return fail(at(), at() + 1, "expected '[' and the block shape",
                  "for example tensordesc<fp16>[128, 64]");
    if (!parseBlockShape(type))
      return std::nullopt;
    if (isTritons && !rest.consume_front(">"))
      return fail(at(), at() + 1, "expected '>' after the block shape");
    skipSpace();
    size_t begin = at();
    if (rest.consume_front(":")) {
      if (!rest.consume_front("nan"))
        return fail(begin, text.size(), "expected the hint :nan",
                    "elements outside of the tensor load as NaN; without it as zero");
      if (elementClass(type.element) != ElementClass::Float)
        return fail(begin, at(), "expected a floating-point element type before :nan");
      type.padsWithNan = true;
    }
    skipSpace();
    if (!rest.empty())
      return fail(at(), text.size(), "expected the end of the type");
    return type;
  }

  /// What follows '[', with the ']'.
  bool parseBlockShape(ArgumentType &type) {
    do {
      skipSpace();
      BlockExtent extent;
      size_t begin = at();
      StringRef name = rest.take_while([](char c) { return isAlnum(c) || c == '_'; });
      bool isName = !name.empty() && !isDigit(name[0]);
      if (isName)
        extent.name = name.str();
      bool isGood = isName || (!name.getAsInteger(10, extent.value) && extent.value >= 1 &&
                               extent.value <= (1 << 20));
      if (!isGood || type.blockShape.size() == 5) {
        fail(begin, begin + std::max<size_t>(name.size(), 1),
             "expected one to five block extents, each from 1 to 1048576 or the name of a "
             "compile-time parameter");
        return false;
      }
      rest = rest.drop_front(name.size());
      type.blockShape.push_back(std::move(extent));
      skipSpace();
    } while (rest.consume_front(","));
    if (!rest.consume_front("]")) {
      fail(at(), at() + 1, "expected ']' after the block shape");
      return false;
    }
    return true;
  }
};
} // namespace

std::optional<ArgumentType> parseArgumentType(StringRef text, TextError &error) {
  return TypeParser(text, error).parse();
}

//===----------------------------------------------------------------------===//
// Signature values
//===----------------------------------------------------------------------===//

SignatureValue parseSignatureValue(StringRef text) {
  SignatureValue value;
  value.text = text.str();
  TextError ignored;
  value.asLiteral = parseLiteral(text);
  if (!value.asLiteral) {
    value.asType = parseArgumentType(text, ignored);
    value.asLiteral = Literal::ofString(text.str());
  }
  return value;
}

bool hasPlaceholder(llvm::StringRef text) {
  return text == placeholder || (isSurelyType(text) && text.contains(placeholder));
}

bool isSurelyType(StringRef text) {
  auto [name, hint] = text.rsplit(':');
  bool hasHint = !hint.empty() && all_of(hint, isDigit) && parseElementType(name);
  return text.starts_with("*") || text.starts_with("tensordesc<") || hasHint;
}

/// Digits that are no 64-bit integer: too many for a number, and nobody's string.
static bool isTooLargeInteger(StringRef text) {
  StringRef digits = text.trim();
  if (!digits.consume_front("-"))
    digits.consume_front("+");
  std::optional<Literal> literal = parseLiteral(text);
  return !digits.empty() && all_of(digits, isDigit) && !literal;
}

/// The same for a parameter that is not constexpr, which a string constant hardly ever fits.
static bool isLikelyType(StringRef text) {
  return isSurelyType(text) ||
         (text.find_first_of("0123456789") != StringRef::npos && !nearestElementType(text).empty());
}

Expected<SignatureValue> SignatureValue::resolve(bool isConstexpr) const {
  if (isTuple()) {
    std::vector<SignatureValue> resolved;
    for (const SignatureValue &element : elements) {
      Expected<SignatureValue> one = element.resolve(isConstexpr);
      if (!one)
        return one.takeError();
      resolved.push_back(std::move(*one));
    }
    return ofTuple(std::move(resolved), fields);
  }
  if (isTooLargeInteger(text))
    return createStringError("expected a 64-bit signed integer, got '" + text + "'");
  SignatureValue chosen;
  chosen.text = text;
  if (isConstexpr && asType && isSurelyType(text))
    return createStringError(
        "expected a value, as the kernel declares it tl.constexpr, got the type '" + text + "'");
  if (isConstexpr || !asType) {
    if (!isConstexpr && asLiteral && asLiteral->kind == Literal::Kind::String &&
        asLiteral->text == text && isLikelyType(text)) {
      TextError error;
      parseArgumentType(text, error);
      return createStringError(error.message + (error.hint.empty() ? "" : "; " + error.hint));
    }
    chosen.asLiteral = asLiteral;
    return chosen;
  }
  chosen.asType = asType;
  return chosen;
}

/// One item of a comma list. Tuples whose elements are all constants are kept as tuples too: the
/// kernel's declaration decides what they are.
static std::optional<SignatureValue> parseSignatureItem(StringRef item, TextError &error) {
  StringRef inner = item;
  if (!inner.consume_front("(") || !inner.consume_back(")"))
    return parseSignatureValue(item);
  std::optional<std::vector<SignatureValue>> elements = parseSignatureList(inner, error);
  if (!elements)
    return std::nullopt;
  return SignatureValue::ofTuple(std::move(*elements));
}

SignatureValue SignatureValue::ofTuple(std::vector<SignatureValue> elements,
                                       std::vector<std::string> fields) {
  SignatureValue tuple;
  bool isConstant = fields.empty() && all_of(elements, [](const SignatureValue &element) {
                      return element.asLiteral && !element.asType && !element.isTuple();
                    });
  if (isConstant) {
    std::vector<Literal> literals;
    for (const SignatureValue &element : elements)
      literals.push_back(*element.asLiteral);
    tuple.asLiteral = Literal::ofTuple(std::move(literals));
    return tuple;
  }
  tuple.elements = std::move(elements);
  tuple.fields = std::move(fields);
  return tuple;
}

std::optional<std::vector<SignatureValue>> parseSignatureList(StringRef text, TextError &error) {
  std::vector<SignatureValue> values;
  size_t begin = 0;
  int depth = 0;
  char quote = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    char c = i < text.size() ? text[i] : ',';
    if (quote && i < text.size()) {
      if (c == quote)
        quote = 0;
      continue;
    }
    if (c == '"' || c == '\'')
      quote = c;
    else if (c == '[' || c == '<' || c == '(')
      ++depth;
    else if (c == ']' || c == '>' || c == ')')
      --depth;
    else if (c == ',' && (depth <= 0 || i == text.size())) {
      StringRef item = text.slice(begin, i).trim();
      if (quote || depth > 0) {
        error = {begin, i, quote ? "expected a closing quote" : "expected a closing bracket", ""};
        return std::nullopt;
      }
      bool isTrailing = i == text.size() && item.empty() && (values.empty() || begin == i);
      if (item.empty() && !isTrailing) {
        error = {begin, i, "expected a type or a literal between commas", ""};
        return std::nullopt;
      }
      if (!item.empty()) {
        std::optional<SignatureValue> value = parseSignatureItem(item, error);
        if (!value)
          return std::nullopt;
        values.push_back(std::move(*value));
      }
      begin = i + 1;
    }
  }
  return values;
}

} // namespace kiln
