// Atomic operations.

#include "compiler/Sema/Builtins/MemoryAccess.h"

#include "llvm/ADT/StringSwitch.h"

namespace kiln::sema {
namespace {

using tile::AtomicKind;

struct AtomicOptions {
  tile::MemorySemantic semantic = tile::MemorySemantic::AcquireRelease;
  tile::MemoryScope scope = tile::MemoryScope::GPU;
};

std::optional<AtomicOptions> readOptions(Evaluator &evaluator, const Value &sem,
                                         const Value &scope) {
  using tile::MemoryScope;
  using tile::MemorySemantic;
  std::optional<std::string> semName = evaluator.constantString(sem, "sem");
  std::optional<std::string> scopeName =
      semName ? evaluator.constantString(scope, "scope") : std::nullopt;
  if (!scopeName)
    return std::nullopt;
  auto semantic = llvm::StringSwitch<std::optional<MemorySemantic>>(*semName)
                      .Cases({"", "acq_rel"}, MemorySemantic::AcquireRelease)
                      .Case("acquire", MemorySemantic::Acquire)
                      .Case("release", MemorySemantic::Release)
                      .Case("relaxed", MemorySemantic::Relaxed)
                      .Default(std::nullopt);
  auto where = llvm::StringSwitch<std::optional<MemoryScope>>(*scopeName)
                   .Cases({"", "gpu"}, MemoryScope::GPU)
                   .Case("cta", MemoryScope::CTA)
                   .Case("sys", MemoryScope::System)
                   .Default(std::nullopt);
  if (!semantic)
    return evaluator.fail(DiagKind::SemaInvalidArgument, "sem",
                          "acquire, release, acq_rel or relaxed", "'" + *semName + "'");
  if (!where)
    return evaluator.fail(DiagKind::SemaInvalidArgument, "scope", "gpu, cta or sys",
                          "'" + *scopeName + "'");
  return AtomicOptions{*semantic, *where};
}

struct Operands {
  Tensor pointer, value, mask;
  AtomicOptions options;
};

/// Arguments: pointer, value, mask, sem, scope.
std::optional<Operands> readOperands(Evaluator &evaluator, Call &call) {
  Operands result;
  llvm::StringRef name = call.info->name;
  if (!call[0].isTensor() || !call[0].getTensor().dtype().isPointer())
    return evaluator.fail(DiagKind::SemaInvalidArgument, name, "a pointer", describe(call[0]));
  result.pointer = call[0].getTensor();
  if (!checkWritable(evaluator, result.pointer.type))
    return std::nullopt;
  result.value = evaluator.toTensor(call[1]);
  if (!result.value)
    return std::nullopt;
  if (!call[2].isNone() && !(result.mask = evaluator.toTensor(call[2])))
    return std::nullopt;
  auto options = readOptions(evaluator, call[3], call[4]);
  if (!options)
    return std::nullopt;
  result.options = *options;
  DType element = result.pointer.dtype().getPointee();
  bool half = element.is(Scalar::FP16) || element.is(Scalar::BF16);
  bool narrow = element.getBits() < 16 || (element.getBits() == 16 && !half);
  if (narrow || (half && name != "atomic_add"))
    return evaluator.fail(DiagKind::SemaInvalidArgument, name,
                          "elements of 32 or 64 bits (or halves, for atomic_add)", element.str());
  if (result.mask && !result.mask.dtype().isBool())
    return evaluator.fail(DiagKind::SemaInvalidArgument, "mask", "booleans",
                          result.mask.type.str());
  llvm::SmallVector<int64_t, 4> shape(result.pointer.type.shape);
  Tensor *others[] = {&result.value, &result.mask};
  for (Tensor *other : others) {
    if (!*other)
      continue;
    if (!evaluator.broadcastTogether(result.pointer, *other))
      return std::nullopt;
    if (result.pointer.type.shape != shape)
      return evaluator.fail(DiagKind::SemaShape, name,
                            "operands of the pointer's shape " + shapeToString(shape),
                            other->type.str());
  }
  result.value = evaluator.cast(result.value, element);
  if (!result.value)
    return std::nullopt;
  return result;
}

Tensor emitAtomic(Evaluator &evaluator, AtomicKind kind, const Operands &operands) {
  const TensorType &type = operands.value.type;
  auto op = tile::AtomicRMWOp::create(
      evaluator.builder, evaluator.loc(), evaluator.toMLIR(type), kind, operands.pointer.ir,
      operands.value.ir, operands.mask.ir, operands.options.semantic, operands.options.scope);
  return {op.getResult(), type};
}

Value atomic(Evaluator &evaluator, Call &call, AtomicKind onInt, AtomicKind onUnsigned,
             std::optional<AtomicKind> onFloat) {
  std::optional<Operands> operands = readOperands(evaluator, call);
  if (!operands)
    return Value();
  DType type = operands->value.dtype();
  if (type.isFloat() && !onFloat)
    return evaluator.error(DiagKind::SemaInvalidArgument, call.info->name, "integers", type.str());
  AtomicKind kind = type.isFloat() ? *onFloat : type.isUnsigned() ? onUnsigned : onInt;
  return Value::tensor(emitAtomic(evaluator, kind, *operands));
}

} // namespace

Value builtinAtomicAdd(Evaluator &evaluator, Call &call) {
  return atomic(evaluator, call, AtomicKind::Add, AtomicKind::Add, AtomicKind::FAdd);
}
Value builtinAtomicMax(Evaluator &evaluator, Call &call) {
  return atomic(evaluator, call, AtomicKind::SMax, AtomicKind::UMax, AtomicKind::FMax);
}
Value builtinAtomicMin(Evaluator &evaluator, Call &call) {
  return atomic(evaluator, call, AtomicKind::SMin, AtomicKind::UMin, AtomicKind::FMin);
}
Value builtinAtomicAnd(Evaluator &evaluator, Call &call) {
  return atomic(evaluator, call, AtomicKind::And, AtomicKind::And, std::nullopt);
}
Value builtinAtomicOr(Evaluator &evaluator, Call &call) {
  return atomic(evaluator, call, AtomicKind::Or, AtomicKind::Or, std::nullopt);
}
Value builtinAtomicXor(Evaluator &evaluator, Call &call) {
  return atomic(evaluator, call, AtomicKind::Xor, AtomicKind::Xor, std::nullopt);
}
Value builtinAtomicXchg(Evaluator &evaluator, Call &call) {
  return atomic(evaluator, call, AtomicKind::Exchange, AtomicKind::Exchange, AtomicKind::Exchange);
}

Value builtinAtomicCas(Evaluator &evaluator, Call &call) {
  if (!call[0].isTensor() || !call[0].getTensor().dtype().isPointer())
    return evaluator.error(DiagKind::SemaInvalidArgument, "atomic_cas", "a pointer",
                           describe(call[0]));
  Tensor pointer = call[0].getTensor();
  if (!checkWritable(evaluator, pointer.type))
    return Value();
  DType element = pointer.dtype().getPointee();
  if (element.getBits() < 16)
    return evaluator.error(DiagKind::SemaInvalidArgument, "atomic_cas",
                           "elements of 16, 32 or 64 bits", element.str());
  Tensor expected = evaluator.cast(evaluator.toTensor(call[1]), element);
  Tensor value = expected ? evaluator.cast(evaluator.toTensor(call[2]), element) : Tensor();
  auto options = value ? readOptions(evaluator, call[3], call[4]) : std::nullopt;
  if (!options)
    return Value();
  expected = evaluator.broadcastTo(expected, pointer.type.shape);
  value = expected ? evaluator.broadcastTo(value, pointer.type.shape) : Tensor();
  if (!value)
    return Value();
  auto op = tile::AtomicCASOp::create(
      evaluator.builder, evaluator.loc(), evaluator.toMLIR(value.type), pointer.ir, expected.ir,
      value.ir, /*mask=*/mlir::Value(), options->semantic, options->scope);
  return Value::tensor(op.getResult(), value.type);
}

} // namespace kiln::sema
