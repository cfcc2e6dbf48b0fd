// Values as text: repr(), str(), and what messages call them.

#include "compiler/Sema/Values/Builtin.h"
#include "compiler/Sema/Values/Nesting.h"

#include "llvm/ADT/StringExtras.h"

#include <cmath>

namespace kiln::sema {

/// The shortest text that reads back as the same number, with an exponent where Python writes one.
static std::string floatRepr(double value) {
  if (std::isnan(value))
    return "nan";
  if (std::isinf(value))
    return value < 0 ? "-inf" : "inf";
  char buffer[40];
  for (int digits = 0; digits < 17; ++digits) {
    snprintf(buffer, sizeof buffer, "%.*e", digits, value);
    if (std::strtod(buffer, nullptr) == value)
      break;
  }
  auto [mantissa, power] = llvm::StringRef(buffer).split('e');
  int exponent = std::atoi(power.str().c_str());
  std::string sign = mantissa.consume_front("-") ? "-" : "", digits = mantissa.take_front().str();
  digits += mantissa.drop_front(std::min<size_t>(mantissa.size(), 2));
  if (exponent < -4 || exponent >= 16) {
    std::string text = sign + digits.substr(0, 1) + (digits.size() > 1 ? "." : "") +
                       digits.substr(1) + (exponent < 0 ? "e-" : "e+");
    return text + (std::abs(exponent) < 10 ? "0" : "") + std::to_string(std::abs(exponent));
  }
  if (exponent < 0)
    return sign + "0." + std::string(size_t(-exponent - 1), '0') + digits;
  size_t whole = size_t(exponent) + 1;
  if (digits.size() <= whole)
    return sign + digits + std::string(whole - digits.size(), '0') + ".0";
  return sign + digits.substr(0, whole) + "." + digits.substr(whole);
}

/// In the quotes and with the escapes that Python chooses.
static std::string stringRepr(llvm::StringRef text) {
  char quote = text.contains('\'') && !text.contains('"') ? '"' : '\'';
  std::string result(1, quote);
  for (char c : text) {
    if (c == quote || c == '\\')
      result += {'\\', c};
    else if (c == '\n' || c == '\t' || c == '\r')
      result += {'\\', c == '\n' ? 'n' : c == '\t' ? 't' : 'r'};
    else if (static_cast<unsigned char>(c) < ' ' || c == '\x7f')
      result += "\\x" + llvm::utohexstr(static_cast<unsigned char>(c), /*LowerCase=*/true, 2);
    else
      result += c;
  }
  return result + quote;
}

static std::string join(const std::vector<Value> &elements) {
  std::string text;
  for (const Value &element : elements)
    text += (text.empty() ? "" : ", ") + repr(element);
  return text;
}

static std::string recordRepr(const SequenceObject &record) {
  std::string text = record.cls.as<ClassObject>().name + "(";
  for (auto [field, element] : llvm::zip(record.fields, record.elements))
    text += (llvm::StringRef(text).ends_with("(") ? "" : ", ") + field + "=" + repr(element);
  return text + ")";
}

static std::string instanceRepr(const InstanceObject &instance) {
  if (!instance.cls.is(ValueKind::Class))
    return instance.typeName;
  const auto &cls = instance.cls.as<ClassObject>();
  const Value *name = instance.find("_name_"), *content = instance.find("_value_");
  if (cls.isEnum && name && content)
    return "<" + cls.name + "." + str(*name) + ": " + repr(*content) + ">";
  const Value *args = cls.definition ? nullptr : instance.find("args");
  if (args)
    return cls.name + (args->getElements().size() == 1
                           ? "(" + repr(args->getElements().front()) + ")"
                           : repr(*args));
  if (!cls.isDataclass)
    return instance.typeName;
  std::string text;
  for (const auto &[field, value] : instance.fields)
    text += (text.empty() ? "" : ", ") + field + "=" + repr(value);
  return cls.name + "(" + text + ")";
}

static std::string dictRepr(const DictObject &dict) {
  std::string text = "{";
  for (const auto &[key, value] : dict.items)
    text += (text.size() > 1 ? ", " : "") + repr(key) + ": " + repr(value);
  return text + "}";
}

/// As it is written: "10:", "::2".
static std::string sliceRepr(const SliceObject &slice) {
  auto part = [](const Value &value) { return value.isNone() ? "" : repr(value); };
  return part(slice.lower) + ":" + part(slice.upper) +
         (slice.step.isNone() ? "" : ":" + part(slice.step));
}

static std::string functionRepr(const Value &value) {
  if (value.is(ValueKind::Function))
    return "function '" + value.as<FunctionObject>().getName().str() + "'";
  if (value.is(ValueKind::Builtin))
    return "function '" + value.as<BuiltinObject>().info->name.str() + "'";
  return "method '" + value.as<BoundMethodObject>().name + "'";
}

std::string repr(const Value &value) {
  static thread_local unsigned depth = 0;
  Nesting nesting(depth);
  if (nesting.isTooDeep())
    return "...";
  switch (value.getKind()) {
  case ValueKind::Bool:
    return value.getBool() ? "True" : "False";
  case ValueKind::Int:
    return toString(value.getInt());
  case ValueKind::Float:
    return floatRepr(value.getReal());
  case ValueKind::String:
    return stringRepr(value.getString());
  case ValueKind::Type:
    return value.getType().str();
  case ValueKind::Tensor:
    return "tensor " + value.getTensor().type.str();
  case ValueKind::Tuple:
    if (value.as<SequenceObject>().cls.is(ValueKind::Class))
      return recordRepr(value.as<SequenceObject>());
    return "(" + join(value.getElements()) + (value.getElements().size() == 1 ? ",)" : ")");
  case ValueKind::List:
    return "[" + join(value.getElements()) + "]";
  case ValueKind::Set: {
    std::string text = value.getElements().empty() ? "" : "{" + join(value.getElements()) + "}";
    if (value.as<SequenceObject>().isFrozen)
      return "frozenset(" + text + ")";
    return text.empty() ? "set()" : text;
  }
  case ValueKind::Dict:
    return dictRepr(value.as<DictObject>());
  case ValueKind::Function:
  case ValueKind::Builtin:
  case ValueKind::BoundMethod:
    return functionRepr(value);
  case ValueKind::Module:
    return "module '" + value.as<ModuleObject>().path + "'";
  case ValueKind::Class:
    return "class '" + value.as<ClassObject>().name + "'";
  case ValueKind::Slice:
    return sliceRepr(value.as<SliceObject>());
  case ValueKind::Instance:
    return instanceRepr(value.as<InstanceObject>());
  case ValueKind::Opaque:
    return "'" + value.as<OpaqueObject>().path + "'";
  case ValueKind::BlockPointer: {
    const auto &pointer = value.as<BlockPointerObject>();
    return "block pointer to " +
           TensorType(pointer.base.dtype().getPointee(), pointer.blockShape).str();
  }
  case ValueKind::Descriptor:
    return "descriptor of " + value.as<DescriptorObject>().blockType().str();
  default:
    return getKindName(value.getKind()).str();
  }
}

std::string str(const Value &value) {
  if (value.is(ValueKind::Instance) && value.as<InstanceObject>().cls.is(ValueKind::Class)) {
    const auto &instance = value.as<InstanceObject>();
    const auto &cls = instance.cls.as<ClassObject>();
    if (const Value *content = instance.find("_value_"); cls.isEnum && content)
      return cls.isPlainEnum ? cls.name + "." + str(*instance.find("_name_")) : str(*content);
    if (const Value *args = instance.find("args"); args && args->is(ValueKind::Tuple))
      return args->getElements().empty()       ? ""
             : args->getElements().size() == 1 ? str(args->getElements().front())
                                               : repr(*args);
  }
  return value.isString() ? value.getString().str() : repr(value);
}

std::string describe(const Value &value) {
  if (value.is(ValueKind::Int) || value.is(ValueKind::Float))
    return getKindName(value.getKind()).str() + " " + repr(value);
  if (value.is(ValueKind::Slice))
    return "the slice '" + repr(value) + "'";
  return repr(value);
}

} // namespace kiln::sema
