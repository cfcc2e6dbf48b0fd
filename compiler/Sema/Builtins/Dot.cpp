// tl.dot

#include "compiler/Sema/Evaluate/Evaluator.h"

#include "llvm/ADT/StringSwitch.h"

namespace kiln::sema {
namespace {

using tile::InputPrecision;

/// What `input_precision` and the older `allow_tf32` say; by default TF32 where the target has it.
std::optional<InputPrecision> readPrecision(Evaluator &evaluator, const Value &name,
                                            const Value &allowTF32) {
  bool hasTF32 =
      evaluator.getTarget().backend == "cuda" || evaluator.getTarget().archName == "gfx942";
  if (name.isNone()) {
    bool allowed = hasTF32;
    if (!allowTF32.isNone()) {
      std::optional<bool> given = evaluator.constantBool(allowTF32, "allow_tf32");
      if (!given)
        return std::nullopt;
      allowed = allowed && *given;
    }
    return allowed ? InputPrecision::TF32 : InputPrecision::IEEE;
  }
  std::optional<std::string> text = evaluator.constantString(name, "input_precision");
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
    return evaluator.fail(DiagKind::SemaInvalidArgument, "input_precision",
                          "tf32, tf32x3, ieee, bf16x3 or bf16x6", "'" + *text + "'");
  return precision;
}

/// `trans_a` and `trans_b` are of Triton before 2.1.
Tensor transposeIf(Evaluator &evaluator, Tensor tensor, const Value &flag, llvm::StringRef name) {
  std::optional<bool> isSet = tensor ? evaluator.constantBool(flag, name) : std::nullopt;
  if (!isSet)
    return {};
  if (!*isSet || tensor.type.shape.size() != 2)
    return tensor;
  return evaluator.permute(tensor, {1, 0});
}

bool checkOperands(Evaluator &evaluator, Tensor a, Tensor b) {
  size_t rank = a.type.shape.size();
  auto bad = [&](llvm::StringRef expected) {
    evaluator.error(DiagKind::SemaShape, "tl.dot", expected, a.type.str() + " and " + b.type.str());
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

} // namespace

Value builtinDot(Evaluator &evaluator, Call &call) {
  Tensor a = evaluator.toTensor(call[0]), b = a ? evaluator.toTensor(call[1]) : Tensor();
  a = transposeIf(evaluator, a, call[7], "trans_a");
  b = transposeIf(evaluator, b, call[8], "trans_b");
  if (!a || !b || !checkOperands(evaluator, a, b))
    return Value();
  // Triton multiplies what MLIR has no type for as fp16.
  if (a.dtype().is(Scalar::FP8E4B15) || b.dtype().is(Scalar::FP8E4B15)) {
    a = evaluator.cast(a, Scalar::FP16);
    b = evaluator.cast(b, Scalar::FP16);
  }
  std::optional<InputPrecision> precision = readPrecision(evaluator, call[3], call[4]);
  if (!precision)
    return Value();
  DType out = Scalar::FP32;
  Tensor acc;
  if (!call[2].isNone()) {
    acc = evaluator.toTensor(call[2]);
    if (!acc)
      return Value();
    out = acc.dtype();
  }
  if (!call[6].isNone()) {
    std::optional<DType> given = evaluator.constantDType(call[6], "out_dtype");
    if (!given)
      return Value();
    out = *given;
  }
  DType type = a.dtype(), result = out;
  if (type.isInt())
    result = Scalar::Int32;
  else if (out.is(Scalar::BF16))
    return evaluator.errorWithHint("use fp32 and cast the result", DiagKind::SemaInvalidArgument,
                                   "out_dtype", "fp32 or fp16", "bf16");
  else if (type.is(Scalar::FP32) || type.is(Scalar::BF16))
    result = Scalar::FP32;
  else if (type.is(Scalar::FP64))
    result = Scalar::FP64;

  size_t rank = a.type.shape.size();
  TensorType resultType(result, a.type.shape);
  resultType.shape.back() = b.type.shape.back();
  if (acc && (acc.type.shape != resultType.shape || (call[6].isNone() && acc.dtype() != result)))
    return evaluator.error(DiagKind::SemaShape, "the accumulator of tl.dot", resultType.str(),
                           acc.type.str());
  if (acc)
    acc = evaluator.cast(acc, result);
  else
    acc = evaluator.splat(evaluator.constant(result, Value::integer(0)), resultType.shape);
  Int imprecise = 0;
  if (!call[5].isNone()) {
    std::optional<Int> given = evaluator.constantInt(call[5], "max_num_imprecise_acc");
    if (!given)
      return Value();
    imprecise = *given;
    int64_t depth = a.type.shape.back();
    if (a.dtype().isFP8() && b.dtype().isFP8() && imprecise > depth)
      return evaluator.error(DiagKind::SemaInvalidArgument, "max_num_imprecise_acc",
                             "at most K = " + std::to_string(depth), toString(imprecise));
  }
  // The operation takes one batch axis.
  llvm::SmallVector<int64_t, 4> shape(resultType.shape);
  auto flattenBatch = [&](Tensor tensor) {
    if (rank <= 3)
      return tensor;
    int64_t batch = 1;
    for (size_t i = 0; i + 2 < rank; ++i)
      batch *= tensor.type.shape[i];
    return evaluator.reshape(
        tensor, {batch, tensor.type.shape[rank - 2], tensor.type.shape[rank - 1]}, false);
  };
  a = flattenBatch(a);
  b = flattenBatch(b);
  acc = flattenBatch(acc);
  if (!a || !b || !acc)
    return Value();
  auto op = tile::DotOp::create(evaluator.builder, evaluator.loc(), acc.ir.getType(), a.ir, b.ir,
                                acc.ir, *precision, uint32_t(imprecise));
  Tensor product{op.getResult(), acc.type};
  return Value::tensor(rank > 3 ? evaluator.reshape(product, shape, false) : product);
}

} // namespace kiln::sema
