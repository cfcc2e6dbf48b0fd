// Loads and stores through pointers.

#include "compiler/Sema/Builtins/MemoryAccess.h"

#include "llvm/ADT/StringSwitch.h"

namespace kiln::sema {

std::optional<AccessOptions> readAccessOptions(Evaluator &evaluator, const Value &cache,
                                               const Value &eviction, bool isStore) {
  using tile::CacheModifier;
  std::optional<std::string> cacheName = evaluator.constantString(cache, "cache_modifier");
  std::optional<std::string> evictName =
      cacheName ? evaluator.constantString(eviction, "eviction_policy") : std::nullopt;
  if (!evictName)
    return std::nullopt;
  AccessOptions options;
  auto modifier = llvm::StringSwitch<std::optional<CacheModifier>>(*cacheName)
                      .Case("", CacheModifier::None)
                      .Case(".cg", CacheModifier::CG)
                      .Case(".cs", CacheModifier::CS)
                      .Case(".ca", isStore ? std::nullopt : std::optional(CacheModifier::CA))
                      .Case(".cv", isStore ? std::nullopt : std::optional(CacheModifier::CV))
                      .Case(".wb", isStore ? std::optional(CacheModifier::WB) : std::nullopt)
                      .Case(".wt", isStore ? std::optional(CacheModifier::WT) : std::nullopt)
                      .Default(std::nullopt);
  auto policy = llvm::StringSwitch<std::optional<tile::EvictionPolicy>>(*evictName)
                    .Cases({"", "evict_normal"}, tile::EvictionPolicy::Normal)
                    .Case("evict_first", tile::EvictionPolicy::First)
                    .Case("evict_last", tile::EvictionPolicy::Last)
                    .Default(std::nullopt);
  if (!modifier)
    return evaluator.fail(DiagKind::SemaInvalidArgument, "cache_modifier",
                          isStore ? ".wb, .cg, .cs or .wt" : ".ca, .cg, .cs or .cv",
                          "'" + *cacheName + "'");
  if (!policy)
    return evaluator.fail(DiagKind::SemaInvalidArgument, "eviction_policy",
                          "evict_first or evict_last", "'" + *evictName + "'");
  options.cache = *modifier;
  options.evict = *policy;
  return options;
}

namespace {

/// Gives `operand` the pointer's shape. Triton lets a wider operand widen the pointers of a load.
bool matchShape(Evaluator &evaluator, llvm::StringRef what, Tensor &pointer, Tensor &operand,
                bool mayWidenPointer) {
  if (!operand)
    return true;
  if (!pointer.isBlock() && operand.isBlock()) {
    evaluator.error(DiagKind::SemaShape, what, "a scalar, as the pointer is one",
                    operand.type.str());
    return false;
  }
  llvm::SmallVector<int64_t, 4> shape(pointer.type.shape);
  std::string given = operand.type.str();
  // A shape that does not fit at all is an error about this argument.
  Evaluator::At at(evaluator, evaluator.argumentRange(what));
  if (!evaluator.broadcastTogether(pointer, operand))
    return false;
  if (!mayWidenPointer && pointer.type.shape != shape) {
    evaluator.error(DiagKind::SemaShape, what, "the pointer's shape " + shapeToString(shape),
                    given);
    return false;
  }
  return true;
}

bool checkMask(Evaluator &evaluator, const Tensor &mask) {
  if (!mask || mask.dtype().isBool())
    return true;
  evaluator.errorWithHint("a mask is a comparison, such as offsets < n",
                          DiagKind::SemaInvalidArgument, "mask", "booleans", mask.type.str());
  return false;
}

bool checkPointer(Evaluator &evaluator, llvm::StringRef function, const Value &value) {
  if (value.isTensor() && value.getTensor().dtype().isPointer())
    return true;
  Evaluator::At at(evaluator, evaluator.argumentRange("pointer"));
  bool isBlock = value.isTensor() && value.getTensor().isBlock();
  evaluator.errorWithHint(isBlock ? "a block of pointers is a pointer plus offsets: x_ptr + offsets"
                                  : "the signature gives pointers as '*fp32'",
                          DiagKind::SemaInvalidArgument, function, "a pointer", describe(value));
  return false;
}

bool checkNoBoundary(Evaluator &evaluator, const Value &boundary) {
  if (boundary.isNone() || (boundary.isSequence() && boundary.getElements().empty()))
    return true;
  evaluator.error(DiagKind::SemaInvalidArgument, "boundary_check", "a block pointer",
                  "a pointer, whose bounds are not known");
  return false;
}

/// None, or a number or tensor as a tensor. False after an error.
bool optionalTensor(Evaluator &evaluator, const Value &value, Tensor &tensor) {
  if (!value.isNone())
    tensor = evaluator.toTensor(value);
  return !evaluator.failed();
}

} // namespace

DType memoryType(DType pointee) { return pointee.isBool() ? DType(Scalar::Int8) : pointee; }

bool checkWritable(Evaluator &evaluator, const TensorType &pointer) {
  if (!pointer.dtype.isConst)
    return true;
  evaluator.error(DiagKind::SemaConstStore, pointer.str());
  return false;
}

Value emitLoad(Evaluator &evaluator, Tensor pointer, Tensor mask, Tensor other,
               const AccessOptions &options) {
  if (!checkMask(evaluator, mask) || !matchShape(evaluator, "mask", pointer, mask, true) ||
      !matchShape(evaluator, "other", pointer, other, true))
    return Value();
  if (mask && !matchShape(evaluator, "mask", pointer, mask, true))
    return Value();
  DType element = memoryType(pointer.dtype().getPointee());
  if (other)
    other = evaluator.cast(other, element);
  if (evaluator.failed())
    return Value();
  TensorType type = pointer.type.with(element);
  if (!evaluator.toMLIR(type))
    return evaluator.error(DiagKind::SemaCast, pointer.type.str(), "a loaded value");
  auto op =
      tile::LoadOp::create(evaluator.builder, evaluator.loc(), evaluator.toMLIR(type), pointer.ir,
                           mask.ir, other.ir, options.cache, options.evict, options.isVolatile);
  Tensor result{op.getResult(), type};
  if (pointer.dtype().getPointee().isBool())
    result = evaluator.cast(result, Scalar::Int1);
  return Value::tensor(result);
}

Value emitStore(Evaluator &evaluator, Tensor pointer, Tensor value, Tensor mask,
                const AccessOptions &options) {
  if (!checkWritable(evaluator, pointer.type) || !checkMask(evaluator, mask) ||
      !matchShape(evaluator, "value", pointer, value, false) ||
      !matchShape(evaluator, "mask", pointer, mask, false))
    return Value();
  value = evaluator.cast(value, pointer.dtype().getPointee());
  if (pointer.dtype().getPointee().isBool())
    value = evaluator.cast(value, Scalar::Int8);
  if (!value)
    return Value();
  tile::StoreOp::create(evaluator.builder, evaluator.loc(), pointer.ir, value.ir, mask.ir,
                        options.cache, options.evict);
  return Value::none();
}

Value builtinLoad(Evaluator &evaluator, Call &call) {
  auto options = readAccessOptions(evaluator, call[5], call[6], /*isStore=*/false);
  if (!options)
    return Value();
  std::optional<bool> isVolatile = evaluator.constantBool(call[7], "volatile");
  if (!isVolatile)
    return Value();
  options->isVolatile = *isVolatile;
  if (call[0].is(ValueKind::BlockPointer))
    return loadBlock(evaluator, call, *options);
  Tensor mask, other;
  if (!checkPointer(evaluator, "tl.load", call[0]) || !checkNoBoundary(evaluator, call[3]) ||
      !optionalTensor(evaluator, call[1], mask) || !optionalTensor(evaluator, call[2], other))
    return Value();
  if (other && !mask)
    return evaluator.error(DiagKind::SemaInvalidArgument, "other", "a mask beside it", "no mask");
  return emitLoad(evaluator, call[0].getTensor(), mask, other, *options);
}

Value builtinStore(Evaluator &evaluator, Call &call) {
  auto options = readAccessOptions(evaluator, call[4], call[5], /*isStore=*/true);
  if (!options)
    return Value();
  if (call[0].is(ValueKind::BlockPointer))
    return storeBlock(evaluator, call, *options);
  Tensor value, mask;
  if (!checkPointer(evaluator, "tl.store", call[0]) || !checkNoBoundary(evaluator, call[3]))
    return Value();
  value = evaluator.toTensor(call[1]);
  if (!value || !optionalTensor(evaluator, call[2], mask))
    return Value();
  return emitStore(evaluator, call[0].getTensor(), value, mask, *options);
}

} // namespace kiln::sema
