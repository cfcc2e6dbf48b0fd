// Compile-time operands of builtins: integers, flags, strings, dtypes, shapes and axes.

#include "compiler/Sema/Python/PythonOperations.h"

#include <cmath>

namespace kiln::sema {

std::nullopt_t PythonOperations::refuseConstant(const Value &value, const llvm::Twine &what,
                                                const llvm::Twine &expected) {
  if (value.isError())
    return std::nullopt;
  if (value.isOpaque())
    return notKnown(value), std::nullopt;
  if (value.isTensor())
    return fail(DiagKind::SemaNotConstant, what, describe(value));
  return fail(DiagKind::SemaInvalidArgument, what, expected, describe(value));
}

std::optional<Int> PythonOperations::constantInt(const Value &value, const llvm::Twine &what) {
  if (value.isIntegral())
    return value.getInt();
  return refuseConstant(value, what, "an integer");
}

std::optional<double> PythonOperations::constantReal(const Value &value, const llvm::Twine &what) {
  if (value.isNumber())
    return value.getReal();
  return refuseConstant(value, what, "a number");
}

std::optional<Int> PythonOperations::wholeNumber(double value) {
  constexpr double largest = 8e37; // of 126 bits
  if (!std::isfinite(value) || std::fabs(value) > largest)
    return fail(DiagKind::SemaPython,
                "cannot convert " + repr(Value::real(value)) + " to an integer");
  return Int(value);
}

std::optional<bool> PythonOperations::constantBool(const Value &value, const llvm::Twine &what) {
  if (value.isTensor())
    return fail(DiagKind::SemaNotConstant, what, describe(value));
  return truth(value);
}

std::optional<std::string> PythonOperations::constantString(const Value &value,
                                                            const llvm::Twine &what) {
  if (value.isString())
    return value.getString().str();
  if (value.isNone())
    return std::string();
  if (value.isError())
    return std::nullopt;
  return fail(DiagKind::SemaInvalidArgument, what, "a string", describe(value));
}

std::optional<DType> PythonOperations::constantDType(const Value &value, const llvm::Twine &what) {
  if (value.is(ValueKind::Type))
    return value.getType().dtype;
  if (value.isString())
    if (std::optional<DType> type = parseDType(value.getString()))
      return type;
  if (value.is(ValueKind::Builtin)) {
    llvm::StringRef name = value.as<BuiltinObject>().info->name;
    if (name == "float")
      return DType(Scalar::FP32);
    if (name == "int")
      return DType(Scalar::Int32);
    if (name == "bool")
      return DType(Scalar::Int1);
  }
  if (value.isOpaque()) {
    llvm::StringRef path = value.as<OpaqueObject>().path;
    if (path.consume_front("torch."))
      for (auto parse : {parseArrayDType, parseDType})
        if (std::optional<DType> type = parse(path))
          return type;
  }
  if (value.isError())
    return std::nullopt;
  return fail(DiagKind::SemaInvalidArgument, what, "a dtype", describe(value));
}

std::optional<llvm::SmallVector<int64_t, 4>> PythonOperations::constantInts(const Value &value,
                                                                            llvm::StringRef what) {
  llvm::SmallVector<int64_t, 4> result;
  std::vector<Value> elements{value};
  if (value.isSequence())
    elements = value.getElements();
  for (const Value &element : elements) {
    std::optional<Int> number = constantInt(element, what);
    if (!number)
      return std::nullopt;
    if (*number > INT64_MAX || *number < INT64_MIN)
      return fail(DiagKind::SemaNumberRange, toString(*number), "int64");
    result.push_back(static_cast<int64_t>(*number));
  }
  return result;
}

std::optional<llvm::SmallVector<int64_t, 4>> PythonOperations::constantShape(const Value &value,
                                                                             llvm::StringRef what) {
  std::optional<llvm::SmallVector<int64_t, 4>> shape = constantInts(value, what);
  if (!shape)
    return std::nullopt;
  if (llvm::any_of(*shape, [](int64_t extent) { return extent <= 0; }))
    return fail(DiagKind::SemaShape, what, "extents of at least 1", shapeToString(*shape));
  // Triton's own limit on the elements of one block.
  if (paddedElements(*shape) > maxTensorElements)
    return fail(DiagKind::SemaShape, what,
                "at most " + std::to_string(maxTensorElements) + " elements",
                shapeToString(*shape));
  return shape;
}

std::optional<unsigned> PythonOperations::constantAxis(const Value &value, llvm::StringRef what,
                                                       size_t rank) {
  std::optional<Int> axis = constantInt(value, what);
  if (!axis)
    return std::nullopt;
  Int at = *axis < 0 ? *axis + Int(rank) : *axis;
  if (at < 0 || at >= Int(rank))
    return fail(DiagKind::SemaInvalidArgument, what,
                "an axis from " + toString(-Int(rank)) + " to " + toString(Int(rank) - 1),
                "invalid axis " + toString(*axis));
  return unsigned(at);
}

} // namespace kiln::sema
