// tl.dot

#include "compiler/Sema/Table/Handlers.h"
#include "compiler/Sema/Tensors/TensorBuilder.h"

#include "llvm/ADT/StringSwitch.h"

namespace kiln::sema {
namespace {

using tile::InputPrecision;

/// What `input_precision` and the older `allow_tf32` say; by default TF32 where the target has it.
std::optional<InputPrecision> readPrecision(TensorBuilder &build, const Value &name,
                                            const Value &allowTF32) {
  bool hasTF32 = build.getTarget().backend == "cuda" || build.getTarget().archName == "gfx942";
  if (name.isNone()) {
    bool allowed = hasTF32;
    // Of a value that is known when the kernel runs Triton asks whether there is one.
    if (!allowTF32.isNone() && !allowTF32.isTensor()) {
      std::optional<bool> given = build.constantBool(allowTF32, "allow_tf32");
      if (!given)
        return std::nullopt;
      allowed = allowed && *given;
    }
    return allowed ? InputPrecision::TF32 : InputPrecision::IEEE;
  }
  std::optional<std::string> text = build.constantString(name, "input_precision");
  if (!text)
    return std::nullopt;
  // A target without the named precision may always be more precise.
  auto precision = llvm::StringSwitch<std::optional<InputPrecision>>(llvm::StringRef(*text).lower())
                       .Case("tf32", hasTF32 ? InputPrecision::TF32 : InputPrecision::IEEE)
                       .Case("tf32x3", hasTF32 ? InputPrecision::TF32x3 : InputPrecision::IEEE)
                       .Case("ieee", InputPrecision::IEEE)
                       .Case("bf16x3", InputPrecision::BF16x3)
                       .Case("bf16x6", InputPrecision::BF16x6)
                       .Default(std::nullopt);
  if (!precision)
    return build.fail(DiagKind::SemaInvalidArgument, "input_precision",
                      "tf32, tf32x3, ieee, bf16x3 or bf16x6", "'" + *text + "'");
  return precision;
}

/// `trans_a` and `trans_b` are of Triton before 2.1.
Tensor transposeIf(TensorBuilder &build, Tensor tensor, const Value &flag, llvm::StringRef name) {
  std::optional<bool> isSet = tensor ? build.constantBool(flag, name) : std::nullopt;
  if (!isSet)
    return {};
  if (!*isSet || tensor.type.shape.size() != 2)
    return tensor;
  return build.permute(tensor, {1, 0});
}

bool checkOperands(PythonOperations &python, Tensor a, Tensor b) {
  size_t rank = a.type.shape.size();
  auto bad = [&](llvm::StringRef expected) {
    python.error(DiagKind::SemaShape, "tl.dot", expected, a.type.str() + " and " + b.type.str());
    return false;
  };
  if (rank < 2 || b.type.shape.size() != rank)
    return bad("two tensors of one rank, 2 or more");
  if (a.type.shape[rank - 1] != b.type.shape[rank - 2])
    return bad("as many columns on the left as rows on the right");
  for (size_t i = 0; i + 2 < rank; ++i)
    if (a.type.shape[i] != b.type.shape[i])
      return bad("equal batch extents");
  bool bothFP8 = a.dtype().isFP8() && b.dtype().isFP8();
  if (a.dtype() != b.dtype() && !bothFP8)
    return bad("operands of one element type");
  DType type = a.dtype();
  // Unsigned bytes are refused, as in Triton: matrix instructions would take them for signed ones.
  if (!type.isFloat() && !type.is(Scalar::Int8))
    return bad("floats or int8");
  return true;
}

/// The type of the products' sum: that of the accumulator, or out_dtype, as far as the operands'
/// type leaves a choice. Empty after an error.
std::optional<DType> sumType(TensorBuilder &build, const Call &call, DType type, Tensor acc) {
  DType out = acc ? acc.dtype() : DType(Scalar::FP32);
  if (!call[6].isNone()) {
    std::optional<DType> given = build.constantDType(call[6], "out_dtype");
    if (!given)
      return std::nullopt;
    out = *given;
  }
  if (type.isInt())
    return DType(Scalar::Int32);
  if (out.is(Scalar::BF16)) {
    build.errorWithHint("use fp32 and cast the result", DiagKind::SemaInvalidArgument, "out_dtype",
                        "fp32 or fp16", "bf16");
    return std::nullopt;
  }
  if (type.is(Scalar::FP32) || type.is(Scalar::BF16))
    return DType(Scalar::FP32);
  return type.is(Scalar::FP64) ? type : out;
}

/// The accumulator in the result's type; zero where none is given. No tensor after an error.
Tensor readAccumulator(TensorBuilder &build, const Call &call, Tensor acc,
                       const TensorType &result) {
  if (!acc)
    return build.splat(build.constant(result.dtype, Value::integer(0)), result.shape);
  if (acc.type.shape != result.shape || (call[6].isNone() && acc.dtype() != result.dtype)) {
    build.error(DiagKind::SemaShape, "the accumulator of tl.dot", result.str(), acc.type.str());
    return {};
  }
  return build.cast(acc, result.dtype);
}

/// max_num_imprecise_acc; empty after an error. As in Triton, Hopper may add up all imprecisely, to
/// acc; but `acc += tl.dot(a, b)` is then a sum of two, the second of them fp32's.
std::optional<Int> readImprecise(TensorBuilder &build, const Value &value, Tensor a, Tensor b) {
  bool areSmall = a.dtype().isFP8() && b.dtype().isFP8();
  if (value.isNone()) {
    constexpr int64_t all = int64_t(1) << 30;
    const TargetAnswers &target = build.getTarget();
    return areSmall && target.backend == "cuda" && target.arch == 90 ? all : 0;
  }
  std::optional<Int> given = build.constantInt(value, "max_num_imprecise_acc");
  int64_t depth = a.type.shape.back();
  if (given && areSmall && *given > depth)
    return build.fail(DiagKind::SemaInvalidArgument, "max_num_imprecise_acc",
                      "at most K = " + std::to_string(depth), toString(*given));
  return given;
}

/// As Triton does, of GPUs that have better types.
void warnOfOldByteFloat(TensorBuilder &build, DType type) {
  TargetAnswers target = build.isPortable() ? build.portableTarget() : build.getTarget();
  if (type.is(Scalar::FP8E4B15) && target.backend == "cuda" && target.arch >= 90)
    build.warn(DiagKind::SemaOldByteFloat,
               "the use of fp8e4b15 is deprecated on Hopper and later architectures");
  bool isOfGfx942 = type.is(Scalar::FP8E4B8) || type.is(Scalar::FP8E5B16);
  llvm::StringRef arch = target.archName;
  if (isOfGfx942 && (arch == "gfx950" || arch.starts_with("gfx12")))
    build.warn(DiagKind::SemaOldByteFloat,
               type.str() + " is AMD gfx942 specific and not supported on " + arch.str());
}

/// All axes but the last two as one: the operation takes one batch axis.
Tensor flattenBatch(TensorBuilder &build, Tensor tensor) {
  llvm::ArrayRef<int64_t> shape = tensor.type.shape;
  if (!tensor || shape.size() <= 3)
    return tensor;
  int64_t batch = 1;
  for (int64_t extent : shape.drop_back(2))
    batch *= extent;
  return build.reshape(tensor, {batch, shape[shape.size() - 2], shape.back()}, false);
}

} // namespace

Value builtinDot(TensorBuilder &build, Call &call) {
  Tensor a = build.toTensor(call[0]), b = a ? build.toTensor(call[1]) : Tensor();
  if (build.isPortable() && (call.given[7] || call.given[8]))
    return build.notPortable("'trans_a' and 'trans_b' of tl.dot", "pass the operand's .T");
  a = transposeIf(build, a, call[7], "trans_a");
  b = transposeIf(build, b, call[8], "trans_b");
  if (!a || !b || !checkOperands(build, a, b) || !build.checkPortableProduct(a.type, b.type))
    return Value();
  warnOfOldByteFloat(build, a.dtype());
  if (b.dtype() != a.dtype())
    warnOfOldByteFloat(build, b.dtype());
  // Triton multiplies what MLIR has no type for as fp16.
  if (a.dtype().is(Scalar::FP8E4B15) || b.dtype().is(Scalar::FP8E4B15)) {
    a = build.cast(a, Scalar::FP16);
    b = build.cast(b, Scalar::FP16);
  }
  std::optional<InputPrecision> precision = readPrecision(build, call[3], call[4]);
  if (!precision)
    return Value();
  Tensor acc = call[2].isNone() ? Tensor() : build.toTensor(call[2]);
  if (!call[2].isNone() && !acc)
    return Value();
  std::optional<DType> type = sumType(build, call, a.dtype(), acc);
  if (!type)
    return Value();
  TensorType result(*type, a.type.shape);
  result.shape.back() = b.type.shape.back();
  acc = readAccumulator(build, call, acc, result);
  std::optional<Int> imprecise =
      build.failed() ? std::nullopt : readImprecise(build, call[5], a, b);
  if (!imprecise)
    return Value();
  a = flattenBatch(build, a);
  b = flattenBatch(build, b);
  acc = flattenBatch(build, acc);
  if (!a || !b || !acc)
    return Value();
  auto op = tile::DotOp::create(build.getBuilder(), build.loc(), acc.ir.getType(), a.ir, b.ir,
                                acc.ir, *precision, uint32_t(*imprecise));
  Tensor product{op.getResult(), acc.type};
  return Value::tensor(
      acc.type.shape == result.shape ? product : build.reshape(product, result.shape, false));
}

} // namespace kiln::sema
