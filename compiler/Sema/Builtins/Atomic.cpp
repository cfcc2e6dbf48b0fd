// Atomic operations.

#include "compiler/Sema/Builtins/MemoryAccess.h"
#include "compiler/Sema/Table/Handlers.h"

#include "llvm/ADT/StringSwitch.h"

namespace kiln::sema {
namespace {

using tile::AtomicKind;

struct AtomicOptions {
  tile::MemorySemantic semantic = tile::MemorySemantic::AcquireRelease;
  tile::MemoryScope scope = tile::MemoryScope::GPU;
};

std::optional<AtomicOptions> readOptions(PythonOperations &python, const Value &sem,
                                         const Value &scope) {
  using tile::MemoryScope;
  using tile::MemorySemantic;
  std::optional<std::string> semName = python.constantString(sem, "sem");
  std::optional<std::string> scopeName =
      semName ? python.constantString(scope, "scope") : std::nullopt;
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
    return python.fail(DiagKind::SemaInvalidArgument, "sem", "acquire, release, acq_rel or relaxed",
                       "'" + *semName + "'");
  if (!where)
    return python.fail(DiagKind::SemaInvalidArgument, "scope", "gpu, cta or sys",
                       "'" + *scopeName + "'");
  return AtomicOptions{*semantic, *where};
}

struct Operands {
  Tensor pointer, value, mask;
  AtomicOptions options;
};

/// Arguments: pointer, value, mask, sem, scope.
std::optional<Operands> readOperands(TensorBuilder &build, Call &call) {
  Operands result;
  llvm::StringRef name = call.info->name;
  if (!call[0].isTensor() || !call[0].getTensor().dtype().isPointer())
    return build.fail(DiagKind::SemaInvalidArgument, name, "a pointer", describe(call[0]));
  result.pointer = call[0].getTensor();
  if (!checkWritable(build, result.pointer.type))
    return std::nullopt;
  result.value = build.toTensor(call[1]);
  if (!result.value)
    return std::nullopt;
  if (!call[2].isNone() && !(result.mask = build.toTensor(call[2])))
    return std::nullopt;
  auto options = readOptions(build, call[3], call[4]);
  if (!options)
    return std::nullopt;
  result.options = *options;
  DType element = result.pointer.dtype().getPointee();
  bool half = element.is(Scalar::FP16) || element.is(Scalar::BF16);
  bool narrow = element.getBits() < 16 || (element.getBits() == 16 && !half);
  if (narrow || (half && name != "atomic_add"))
    return build.fail(DiagKind::SemaInvalidArgument, name,
                      "elements of 32 or 64 bits (or halves, for atomic_add)", element.str());
  if (result.mask && !result.mask.dtype().isBool())
    return build.fail(DiagKind::SemaInvalidArgument, "mask", "booleans", result.mask.type.str());
  llvm::SmallVector<int64_t, 4> shape(result.pointer.type.shape);
  Tensor *others[] = {&result.value, &result.mask};
  for (Tensor *other : others) {
    if (!*other)
      continue;
    if (!build.broadcastTogether(result.pointer, *other))
      return std::nullopt;
    if (result.pointer.type.shape != shape)
      return build.fail(DiagKind::SemaShape, name,
                        "operands of the pointer's shape " + shapeToString(shape),
                        other->type.str());
  }
  result.value = build.cast(result.value, element);
  if (!result.value)
    return std::nullopt;
  return result;
}

Tensor emitAtomic(TensorBuilder &build, AtomicKind kind, const Operands &operands) {
  const TensorType &type = operands.value.type;
  auto op = tile::AtomicRMWOp::create(build.getBuilder(), build.loc(), build.toMLIR(type), kind,
                                      operands.pointer.ir, operands.value.ir, operands.mask.ir,
                                      operands.options.semantic, operands.options.scope);
  return {op.getResult(), type};
}

Value atomic(TensorBuilder &build, Call &call, AtomicKind onInt, AtomicKind onUnsigned,
             std::optional<AtomicKind> onFloat) {
  std::optional<Operands> operands = readOperands(build, call);
  if (!operands)
    return Value();
  DType type = operands->value.dtype();
  if (type.isFloat() && !onFloat)
    return build.error(DiagKind::SemaInvalidArgument, call.info->name, "integers", type.str());
  AtomicKind kind = type.isFloat() ? *onFloat : type.isUnsigned() ? onUnsigned : onInt;
  return Value::tensor(emitAtomic(build, kind, *operands));
}

} // namespace

Value builtinAtomicAdd(TensorBuilder &build, Call &call) {
  return atomic(build, call, AtomicKind::Add, AtomicKind::Add, AtomicKind::FAdd);
}
Value builtinAtomicMax(TensorBuilder &build, Call &call) {
  return atomic(build, call, AtomicKind::SMax, AtomicKind::UMax, AtomicKind::FMax);
}
Value builtinAtomicMin(TensorBuilder &build, Call &call) {
  return atomic(build, call, AtomicKind::SMin, AtomicKind::UMin, AtomicKind::FMin);
}
Value builtinAtomicAnd(TensorBuilder &build, Call &call) {
  return atomic(build, call, AtomicKind::And, AtomicKind::And, std::nullopt);
}
Value builtinAtomicOr(TensorBuilder &build, Call &call) {
  return atomic(build, call, AtomicKind::Or, AtomicKind::Or, std::nullopt);
}
Value builtinAtomicXor(TensorBuilder &build, Call &call) {
  return atomic(build, call, AtomicKind::Xor, AtomicKind::Xor, std::nullopt);
}
Value builtinAtomicXchg(TensorBuilder &build, Call &call) {
  return atomic(build, call, AtomicKind::Exchange, AtomicKind::Exchange, AtomicKind::Exchange);
}

Value builtinAtomicCas(TensorBuilder &build, Call &call) {
  if (!call[0].isTensor() || !call[0].getTensor().dtype().isPointer())
    return build.error(DiagKind::SemaInvalidArgument, "atomic_cas", "a pointer", describe(call[0]));
  Tensor pointer = call[0].getTensor();
  if (!checkWritable(build, pointer.type))
    return Value();
  DType element = pointer.dtype().getPointee();
  if (element.getBits() < 16)
    return build.error(DiagKind::SemaInvalidArgument, "atomic_cas", "elements of 16, 32 or 64 bits",
                       element.str());
  Tensor expected = build.cast(build.toTensor(call[1]), element);
  Tensor value = expected ? build.cast(build.toTensor(call[2]), element) : Tensor();
  auto options = value ? readOptions(build, call[3], call[4]) : std::nullopt;
  if (!options)
    return Value();
  expected = build.broadcastTo(expected, pointer.type.shape);
  value = expected ? build.broadcastTo(value, pointer.type.shape) : Tensor();
  if (!value)
    return Value();
  auto op = tile::AtomicCASOp::create(build.getBuilder(), build.loc(), build.toMLIR(value.type),
                                      pointer.ir, expected.ir, value.ir, /*mask=*/mlir::Value(),
                                      options->semantic, options->scope);
  return Value::tensor(op.getResult(), value.type);
}

} // namespace kiln::sema
