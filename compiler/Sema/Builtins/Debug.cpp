// tl.device_print and tl.device_assert.
//
// What is printed is worked out here: a value as one of the few types that tile.print takes, and
// the conversion that shows it as Triton does.

#include "compiler/Sema/Evaluate/Evaluator.h"

namespace kiln::sema {
namespace {

/// Triton's form: " x: " where values follow.
std::string readablePrefix(std::string prefix, bool hasValues) {
  if (hasValues) {
    if (!llvm::StringRef(prefix).ends_with(" "))
      prefix += " ";
    if (!llvm::StringRef(prefix).ends_with(": "))
      prefix = prefix.substr(0, prefix.size() - 1) + ": ";
  }
  if (prefix.size() > 2 && prefix.front() != ' ')
    prefix = " " + prefix;
  return prefix;
}

std::string escapePercent(llvm::StringRef text) {
  std::string escaped;
  for (char c : text)
    escaped += c == '%' ? "%%" : std::string(1, c);
  return escaped;
}

/// Widens the value to a type that tile.print takes, and says how printf shows it.
Tensor printable(Evaluator &evaluator, Tensor value, bool hex, std::string &conversion) {
  DType type = value.dtype();
  if (type.isPointer()) {
    conversion = "%p";
    return value;
  }
  bool isLong = type.getBits() == 64;
  if (hex) {
    unsigned digits = type.getBits() / 4;
    conversion = "0x%0" + (digits ? std::to_string(digits) : "") + (isLong ? "llx" : "x");
    if (type.isFloat())
      value = evaluator.bitcast(value, getIntType(type.getBits(), false));
    return isLong ? value
                  : evaluator.cast(
                        evaluator.bitcast(value,
                                          type.isBool() ? type : getIntType(type.getBits(), false)),
                        Scalar::UInt32);
  }
  if (type.isFloat()) {
    conversion = "%f";
    return type.getBits() < 32 ? evaluator.cast(value, Scalar::FP32) : value;
  }
  conversion = std::string(isLong ? "%ll" : "%") + (type.isSigned() ? "i" : "u");
  if (isLong)
    return value;
  return evaluator.cast(value, type.isSigned() ? Scalar::Int32 : Scalar::UInt32);
}

void emitPrint(Evaluator &evaluator, const std::string &format, Tensor value) {
  tile::PrintOp::create(evaluator.builder, evaluator.loc(), evaluator.builder.getStringAttr(format),
                        value.ir);
}

Value print(Evaluator &evaluator, const Value &first, llvm::ArrayRef<Value> rest,
            const Value &hexOption) {
  std::optional<std::string> prefix = evaluator.constantString(first, "the prefix of device_print");
  std::optional<bool> hex =
      prefix ? evaluator.constantBool(hexOption, "hex") : std::optional<bool>();
  if (!hex)
    return Value();
  if (!llvm::all_of(*prefix, [](char c) { return llvm::isPrint(c) || llvm::isSpace(c); }))
    return evaluator.error(DiagKind::SemaInvalidArgument, "the prefix of device_print",
                           "printable ASCII characters", repr(first));
  std::string text = escapePercent(readablePrefix(*prefix, !rest.empty()));
  if (rest.empty())
    emitPrint(evaluator, text, {});
  for (auto [index, argument] : llvm::enumerate(rest)) {
    std::string label =
                    rest.size() > 1 ? "(operand " + std::to_string(index) + ") " : std::string(),
                conversion;
    Tensor value = evaluator.toTensor(argument);
    value = value ? printable(evaluator, value, *hex, conversion) : value;
    if (!value)
      return Value();
    emitPrint(evaluator, text + label + conversion, value);
  }
  return Value::none();
}

} // namespace

Value builtinDevicePrint(Evaluator &evaluator, Call &call) {
  return print(evaluator, call[0], call.rest, call[2]);
}

/// In a kernel, Triton's device_print; in Python, which runs while compiling, nothing.
Value builtinPyPrint(Evaluator &evaluator, Call &call) {
  if (evaluator.frame->mode != FunctionMode::Kernel)
    return Value::none();
  Value hex = Value::boolean(false);
  for (auto &[name, value] : call.keywords) {
    if (name != "hex")
      return evaluator.error(DiagKind::SemaInvalidArgument, "print", "no argument but hex=", name);
    hex = value;
  }
  if (call.rest.empty())
    return evaluator.error(DiagKind::SemaInvalidArgument, "print", "a prefix", "nothing");
  return print(evaluator, call.rest.front(), llvm::ArrayRef(call.rest).drop_front(), hex);
}

void Evaluator::emitAssertion(Tensor condition, llvm::StringRef message) {
  if (condition)
    tile::AssertOp::create(builder, loc(), condition.ir, builder.getStringAttr(message));
}

/// Triton checks nothing unless debugging is on.
Value builtinDeviceAssert(Evaluator &evaluator, Call &call) {
  if (!evaluator.instance || !evaluator.instance->debug || evaluator.elementFunctions)
    return Value::none();
  Tensor condition = evaluator.toCondition(evaluator.toTensor(call[0]));
  std::optional<std::string> message =
      condition ? evaluator.constantString(call[1], "msg") : std::nullopt;
  if (!message)
    return Value();
  if (!call[2].isNone()) {
    Tensor ignored = evaluator.logicalNot(evaluator.toTensor(call[2]));
    if (!ignored)
      return Value();
    Value either =
        evaluator.binary(ast::BinaryOp::BitOr, Value::tensor(condition), Value::tensor(ignored));
    if (evaluator.failed())
      return Value();
    condition = either.getTensor();
  }
  evaluator.emitAssertion(condition, *message);
  return Value::none();
}

} // namespace kiln::sema
