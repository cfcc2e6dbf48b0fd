//===- LiteralJson.cpp - literals as JSON ---------------------------------===//
#include "codegen/LiteralJson.h"

using namespace llvm;

namespace kiln {

std::string utf8(StringRef text) { return json::isUTF8(text) ? text.str() : json::fixUTF8(text); }

/// The shortest text that reads back.
static void writeFloat(json::OStream &json, const Literal &literal, NonFinite nonFinite) {
  std::string text = literal.str();
  bool isFinite = StringRef(text).take_back(3) != "inf" && text != "nan";
  if (isFinite)
    json.rawValue(text);
  else if (nonFinite == NonFinite::AsObject)
    json.object([&] { json.attribute("float", text); });
  else
    json.rawValue(text == "inf" ? "Infinity" : text == "-inf" ? "-Infinity" : "NaN");
}

void writeLiteral(json::OStream &json, const Literal &literal, NonFinite nonFinite) {
  switch (literal.kind) {
  case Literal::Kind::None:
    return json.value(nullptr);
  case Literal::Kind::Bool:
    return json.value(literal.boolean);
  case Literal::Kind::Int:
    return json.value(literal.integer);
  case Literal::Kind::String:
    return json.value(utf8(literal.text));
  case Literal::Kind::DType:
    return json.object([&] { json.attribute("dtype", literal.text); });
  case Literal::Kind::Function:
    return json.object([&] { json.attribute("function", utf8(literal.text)); });
  case Literal::Kind::Tuple:
    return json.array([&] {
      for (const Literal &element : literal.elements)
        writeLiteral(json, element, nonFinite);
    });
  case Literal::Kind::Float:
    return writeFloat(json, literal, nonFinite);
  }
}

std::string constantsJson(const VariantModel &variant) {
  std::string text;
  raw_string_ostream out(text);
  json::OStream json(out);
  json.object([&] {
    for (const NamedLiteral &constant : variant.constants) {
      json.attributeBegin(utf8(constant.first));
      writeLiteral(json, constant.second, NonFinite::AsObject);
      json.attributeEnd();
    }
  });
  return text;
}

} // namespace kiln
