// tl.device_print and tl.device_assert.
//
// What is printed is worked out here: a value as one of the few types that tile.print takes, and
// the conversion that shows it as Triton does.

#include "compiler/Sema/Table/Handlers.h"
#include "compiler/Sema/Tensors/TensorBuilder.h"

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
Tensor printable(TensorBuilder &build, Tensor value, bool hex, std::string &conversion) {
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
      value = build.bitcast(value, getIntType(type.getBits(), false));
    return isLong ? value
                  : build.cast(build.bitcast(
                                   value, type.isBool() ? type : getIntType(type.getBits(), false)),
                               Scalar::UInt32);
  }
  if (type.isFloat()) {
    conversion = "%f";
    return type.getBits() < 32 ? build.cast(value, Scalar::FP32) : value;
  }
  conversion = std::string(isLong ? "%ll" : "%") + (type.isSigned() ? "i" : "u");
  if (isLong)
    return value;
  return build.cast(value, type.isSigned() ? Scalar::Int32 : Scalar::UInt32);
}

void emitPrint(TensorBuilder &build, const std::string &format, Tensor value) {
  tile::PrintOp::create(build.getBuilder(), build.loc(), build.getBuilder().getStringAttr(format),
                        value.ir);
}

Value print(TensorBuilder &build, const Value &first, llvm::ArrayRef<Value> rest,
            const Value &hexOption) {
  std::optional<std::string> prefix = build.constantString(first, "the prefix of device_print");
  std::optional<bool> hex = prefix ? build.constantBool(hexOption, "hex") : std::optional<bool>();
  if (!hex)
    return Value();
  if (!llvm::all_of(*prefix, [](char c) { return llvm::isPrint(c) || llvm::isSpace(c); }))
    return build.error(DiagKind::SemaInvalidArgument, "the prefix of device_print",
                       "printable ASCII characters", repr(first));
  std::string text = escapePercent(readablePrefix(*prefix, !rest.empty()));
  if (rest.empty())
    emitPrint(build, text, {});
  for (auto [index, argument] : llvm::enumerate(rest)) {
    std::string label =
                    rest.size() > 1 ? "(operand " + std::to_string(index) + ") " : std::string(),
                conversion;
    Tensor value = build.toTensor(argument);
    value = value ? printable(build, value, *hex, conversion) : value;
    if (!value)
      return Value();
    emitPrint(build, text + label + conversion, value);
  }
  return Value::none();
}

} // namespace

Value builtinDevicePrint(TensorBuilder &build, Call &call) {
  return print(build, call[0], call.rest, call[2]);
}

/// In a kernel, Triton's device_print; in Python, which runs while compiling, nothing.
Value builtinPyPrint(TensorBuilder &build, Call &call) {
  if (!build.unwinding().isDeviceCode())
    return Value::none();
  Value hex = Value::boolean(false);
  for (auto &[name, value] : call.keywords) {
    if (name != "hex")
      return build.error(DiagKind::SemaInvalidArgument, "print", "no argument but hex=", name);
    hex = value;
  }
  if (call.rest.empty())
    return build.error(DiagKind::SemaInvalidArgument, "print", "a prefix", "nothing");
  return print(build, call.rest.front(), llvm::ArrayRef(call.rest).drop_front(), hex);
}

/// Triton checks nothing unless debugging is on.
Value builtinDeviceAssert(TensorBuilder &build, Call &call) {
  if (!build.checksAssertions())
    return Value::none();
  Tensor condition = build.toCondition(build.toTensor(call[0]));
  std::optional<std::string> message =
      condition ? build.constantString(call[1], "msg") : std::nullopt;
  if (!message)
    return Value();
  if (!call[2].isNone()) {
    Tensor ignored = build.logicalNot(build.toTensor(call[2]));
    if (!ignored)
      return Value();
    Value either =
        build.binary(ast::BinaryOp::BitOr, Value::tensor(condition), Value::tensor(ignored));
    if (build.failed())
      return Value();
    condition = either.getTensor();
  }
  build.emitAssertion(condition, *message);
  return Value::none();
}

} // namespace kiln::sema
