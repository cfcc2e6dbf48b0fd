//===- SpecValues.cpp - checked access to a spec's JSON -------------------===//

#include "codegen/SpecValues.h"
#include "codegen/CNames.h"
#include "compiler/Basic/NameSuggestion.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace kiln {

namespace {

struct SpecKey {
  ObjectKind object;
  StringRef name;
  bool isRequired;
};

constexpr SpecKey kKeys[] = {
#define KILN_SPEC_KEY(Object, Name, Required) {ObjectKind::Object, Name, Required},
#include "codegen/SpecKeys.def"
};

} // namespace

//===----------------------------------------------------------------------===//
// Checked access
//===----------------------------------------------------------------------===//

std::optional<JsonValue> SpecValues::parseDocument() {
  std::vector<JsonError> errors;
  std::optional<JsonValue> json = parseJson(text, errors);
  for (const JsonError &error : errors)
    reportJson(error);
  return json;
}

void SpecValues::reportJson(const JsonError &error) {
  SourceRange at = range(error.begin, error.end);
  switch (error.kind) {
  case JsonError::Kind::Syntax:
    diagnostics.report(DiagKind::SpecSyntax, at, error.message);
    return;
  case JsonError::Kind::TooDeep:
    diagnostics.report(DiagKind::SpecTooDeep, at, error.message);
    return;
  case JsonError::Kind::BadNumber:
    diagnostics.report(DiagKind::SpecBadNumber, at, error.message);
    return;
  case JsonError::Kind::BadEncoding:
    diagnostics.report(DiagKind::SpecNotUtf8, at);
    return;
  case JsonError::Kind::DuplicateKey:
    diagnostics.report(DiagKind::SpecDuplicateKey, at, error.message)
        .note(DiagKind::SpecFirstHere, range(error.firstBegin, error.firstEnd));
    return;
  }
}

/// An error inside a JSON string, shown at the offending characters of the file.
void SpecValues::reportInString(DiagKind kind, const SpecItem &item, const TextError &error) {
  size_t begin = offsetInJsonString(text, *item.value, error.begin);
  size_t end = offsetInJsonString(text, *item.value, error.end);
  Diagnostic &diagnostic =
      diagnostics.report(kind, range(begin, std::max(end, begin + 1)), item.path, error.message);
  if (!error.hint.empty())
    diagnostic.withHint(error.hint);
}

bool SpecValues::checkObject(const SpecItem &item, ObjectKind kind, StringRef what) {
  if (!item.value->is(JsonValue::Kind::Object)) {
    expected(item, what);
    return false;
  }
  SmallVector<StringRef> known;
  for (const SpecKey &key : kKeys)
    if (key.object == kind)
      known.push_back(key.name);
  StringSet<> misspelt;
  for (const JsonMember &member : item.value->members) {
    if (is_contained(known, member.key))
      continue;
    bool isShort = member.key.size() < 60;
    misspelt.insert(isShort ? findNearestName(member.key, known) : StringRef());
    diagnostics
        .report(DiagKind::SpecUnknownKey, range(member.keyBegin, member.keyEnd), place(item).path,
                member.key)
        .withHint(isShort ? suggestName(member.key, known) : "");
  }
  // A key that is there under a misspelt name is one mistake.
  for (const SpecKey &key : kKeys)
    if (key.object == kind && key.isRequired && !item.value->find(key.name) &&
        !misspelt.contains(key.name))
      report(DiagKind::SpecMissingKey, item, key.name);
  return true;
}

bool SpecValues::checkList(const SpecItem &item, StringRef what, size_t minSize, size_t maxSize) {
  bool isList = item.value->is(JsonValue::Kind::Array);
  size_t size = item.value->elements.size();
  if (isList && size >= minSize && size <= maxSize)
    return true;
  report(DiagKind::SpecExpected, item, what,
         isList && size > maxSize ? std::to_string(size) + " elements" : item.value->describe());
  return false;
}

std::optional<std::string> SpecValues::string(const SpecItem &item, StringRef what) {
  if (item.value->is(JsonValue::Kind::String))
    return item.value->text;
  expected(item, what);
  return std::nullopt;
}

std::optional<int64_t> SpecValues::integer(const SpecItem &item, int64_t low, int64_t high) {
  int64_t value = item.value->integer;
  if (item.value->is(JsonValue::Kind::Integer) && value >= low && value <= high)
    return value;
  expected(item, formatv("an integer from {0} to {1}", low, high).str());
  return std::nullopt;
}

std::optional<double> SpecValues::number(const SpecItem &item, double low, double high,
                                         StringRef what) {
  bool isInteger = item.value->is(JsonValue::Kind::Integer);
  double value = isInteger ? double(item.value->integer) : item.value->real;
  if ((isInteger || item.value->is(JsonValue::Kind::Real)) && value >= low && value <= high)
    return value;
  expected(item, what);
  return std::nullopt;
}

/// A name that becomes C names at file scope; "" after an error.
std::string SpecValues::name(const SpecItem &item, StringRef what) {
  std::optional<std::string> value = string(item, what);
  if (!value)
    return "";
  if (!isCIdentifier(*value)) {
    report(DiagKind::SpecName, item, StringRef(*value).take_front(60));
    return "";
  }
  if (std::string reason = reservedBecause(*value); !reason.empty()) {
    report(DiagKind::SpecReservedName, item, *value, reason);
    return "";
  }
  return *value;
}

std::string SpecValues::path(const SpecItem &item, StringRef what) {
  std::optional<std::string> value = string(item, what);
  bool isUsable = value && !value->empty() && value->find('\0') == std::string::npos;
  if (value && !isUsable)
    report(DiagKind::SpecPath, item, what, StringRef(value->c_str()));
  return isUsable ? *value : "";
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

std::optional<SpecExpression> SpecValues::expression(const SpecItem &item) {
  if (item.value->is(JsonValue::Kind::Integer)) {
    std::optional<int64_t> constant = integer(item, 0, INT32_MAX);
    return constant ? std::optional(SpecExpression{Expression::ofConstant(*constant), place(item)})
                    : std::nullopt;
  }
  std::optional<std::string> source = string(item, "an expression");
  TextError error;
  if (!source)
    return std::nullopt;
  if (std::optional<Expression> parsed = Expression::parse(*source, error))
    return SpecExpression{std::move(*parsed), place(item)};
  reportInString(DiagKind::SpecExpression, item, error);
  return std::nullopt;
}

std::optional<Literal> SpecValues::literal(const SpecItem &item) {
  const JsonValue &value = *item.value;
  switch (value.kind) {
  case JsonValue::Kind::Null:
    return Literal::none();
  case JsonValue::Kind::Bool:
    return Literal::ofBool(value.boolean);
  case JsonValue::Kind::Integer:
    return Literal::ofInt(value.integer);
  case JsonValue::Kind::Real:
    return Literal::ofFloat(value.real);
  case JsonValue::Kind::String: {
    if (hasPlaceholder(value.text)) {
      report(DiagKind::SpecPlaceholder, item, value.text);
      return std::nullopt;
    }
    std::optional<Literal> parsed = parseLiteral(value.text);
    return parsed ? parsed : Literal::ofString(value.text);
  }
  case JsonValue::Kind::Object:
    return taggedLiteral(item);
  case JsonValue::Kind::Array:
    break;
  }
  std::vector<Literal> elements;
  for (size_t i = 0; i < value.elements.size(); ++i) {
    std::optional<Literal> element = literal(item.at(i));
    if (!element)
      return std::nullopt;
    elements.push_back(std::move(*element));
  }
  return Literal::ofTuple(std::move(elements));
}

/// {"dtype": "fp16"}, {"function": "name"} or {"string": "1024"}; {"namedtuple": {...}} only stands
/// where types may stand (signatureValue).
std::optional<Literal> SpecValues::taggedLiteral(const SpecItem &item) {
  const std::vector<JsonMember> &members = item.value->members;
  bool isOne = members.size() == 1 && members[0].value.is(JsonValue::Kind::String);
  StringRef tag = isOne ? StringRef(members[0].key) : "";
  if (tag == "string")
    return Literal::ofString(members[0].value.text);
  if (tag == "function") {
    StringRef function = members[0].value.text;
    SmallVector<StringRef> parts;
    function.split(parts, '.');
    if (all_of(parts, isIdentifier))
      return Literal::ofFunction(function.str());
    report(DiagKind::SpecLiteral, item.key(members[0]),
           formatv("expected the name of a function, got '{0}'", function.take_front(60)).str())
        .withHint("a name of the kernel's module: \"relu\", or of one it imports: "
                  "\"activations.relu\"");
    return std::nullopt;
  }
  if (tag != "dtype") {
    expected(item, R"({"dtype": ...}, {"function": ...} or {"string": ...})");
    return std::nullopt;
  }
  StringRef dtype = members[0].value.text;
  dtype.consume_front("tl.");
  if (std::optional<ElementType> element = parseElementType(dtype))
    return Literal::ofDType(elementName(*element).str());
  std::string nearest = nearestElementType(dtype);
  report(DiagKind::SpecLiteral, item.key(members[0]),
         formatv("unknown dtype '{0}'", dtype.take_front(40)).str())
      .withHint(nearest.empty() ? "" : "did you mean '" + nearest + "'?");
  return std::nullopt;
}

/// {"namedtuple": {"ptr": "*fp32", "n": "i32"}}: a tuple whose elements the kernel may name.
std::optional<SignatureValue> SpecValues::namedTuple(const SpecItem &item) {
  if (!item.value->is(JsonValue::Kind::Object) || item.value->members.empty()) {
    expected(item, "an object from the names of a tuple's elements to types and literals");
    return std::nullopt;
  }
  std::vector<SignatureValue> elements;
  std::vector<std::string> fields;
  for (const JsonMember &member : item.value->members) {
    SpecItem value = item.key(member);
    if (!isCIdentifier(member.key)) {
      report(DiagKind::SpecName, value, StringRef(member.key).take_front(60));
      return std::nullopt;
    }
    std::optional<SignatureValue> element = signatureValue(value);
    if (!element)
      return std::nullopt;
    elements.push_back(std::move(*element));
    fields.push_back(member.key);
  }
  return SignatureValue::ofTuple(std::move(elements), std::move(fields));
}

std::optional<SignatureValue> SpecValues::signatureValue(const SpecItem &item) {
  SignatureValue result;
  if (item.value->is(JsonValue::Kind::String)) {
    if (hasPlaceholder(item.value->text)) {
      report(DiagKind::SpecPlaceholder, item, item.value->text);
      return std::nullopt;
    }
    result = parseSignatureValue(item.value->text);
    if (result.asType || !isSurelyType(item.value->text))
      return result;
    TextError error;
    parseArgumentType(item.value->text, error);
    reportInString(DiagKind::SpecType, item, error);
    return std::nullopt;
  }
  if (const JsonMember *fields =
          item.value->is(JsonValue::Kind::Object) ? item.value->find("namedtuple") : nullptr;
      fields && item.value->members.size() == 1)
    return namedTuple(item.key(*fields));
  if (!item.value->is(JsonValue::Kind::Array)) {
    result.asLiteral = literal(item);
    return result.asLiteral ? std::optional<SignatureValue>(result) : std::nullopt;
  }
  std::vector<SignatureValue> elements;
  for (size_t i = 0; i < item.value->elements.size(); ++i) {
    std::optional<SignatureValue> element = signatureValue(item.at(i));
    if (!element)
      return std::nullopt;
    elements.push_back(std::move(*element));
  }
  return SignatureValue::ofTuple(std::move(elements));
}

} // namespace kiln
