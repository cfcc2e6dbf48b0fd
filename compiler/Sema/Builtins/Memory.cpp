// Loads and stores through pointers.

#include "compiler/Sema/Builtins/MemoryAccess.h"
#include "compiler/Sema/Table/Handlers.h"

#include "llvm/ADT/StringSwitch.h"

namespace kiln::sema {

std::optional<AccessOptions> readAccessOptions(PythonOperations &python, const Value &cache,
                                               const Value &eviction, bool isStore) {
  using tile::CacheModifier;
  std::optional<std::string> cacheName = python.constantString(cache, "cache_modifier");
  std::optional<std::string> evictName =
      cacheName ? python.constantString(eviction, "eviction_policy") : std::nullopt;
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
    return python.fail(DiagKind::SemaInvalidArgument, "cache_modifier",
                       isStore ? ".wb, .cg, .cs or .wt" : ".ca, .cg, .cs or .cv",
                       "'" + *cacheName + "'");
  if (!policy)
    return python.fail(DiagKind::SemaInvalidArgument, "eviction_policy",
                       "evict_first or evict_last", "'" + *evictName + "'");
  options.cache = *modifier;
  options.evict = *policy;
  return options;
}

namespace {

/// Gives `operand` the pointer's shape. Triton lets a wider operand widen the pointers of a load.
bool matchShape(TensorBuilder &build, llvm::StringRef what, Tensor &pointer, Tensor &operand,
                bool mayWidenPointer) {
  if (!operand)
    return true;
  if (!pointer.isBlock() && operand.isBlock()) {
    build.error(DiagKind::SemaShape, what, "a scalar, as the pointer is one", operand.type.str());
    return false;
  }
  llvm::SmallVector<int64_t, 4> shape(pointer.type.shape);
  std::string given = operand.type.str();
  // A shape that does not fit at all is an error about this argument.
  At at(build, build.unwinding().argumentRange(what));
  if (!build.broadcastTogether(pointer, operand))
    return false;
  if (!mayWidenPointer && pointer.type.shape != shape) {
    build.error(DiagKind::SemaShape, what, "the pointer's shape " + shapeToString(shape), given);
    return false;
  }
  return true;
}

bool checkMask(PythonOperations &python, const Tensor &mask) {
  if (!mask || mask.dtype().isBool())
    return true;
  python.errorWithHint("a mask is a comparison, such as offsets < n", DiagKind::SemaInvalidArgument,
                       "mask", "booleans", mask.type.str());
  return false;
}

bool checkPointer(TensorBuilder &build, llvm::StringRef function, const Value &value) {
  if (value.isTensor() && value.getTensor().dtype().isPointer())
    return true;
  At at(build, build.unwinding().argumentRange("pointer"));
  bool isBlock = value.isTensor() && value.getTensor().isBlock();
  build.errorWithHint(isBlock ? "a block of pointers is a pointer plus offsets: x_ptr + offsets"
                              : "the signature gives pointers as '*fp32'",
                      DiagKind::SemaInvalidArgument, function, "a pointer", describe(value));
  return false;
}

bool checkNoBoundary(PythonOperations &python, const Value &boundary) {
  if (boundary.isNone() || (boundary.isSequence() && boundary.getElements().empty()))
    return true;
  python.error(DiagKind::SemaInvalidArgument, "boundary_check", "a block pointer",
               "a pointer, whose bounds are not known");
  return false;
}

/// None, or a number or tensor as a tensor. False after an error.
bool optionalTensor(TensorBuilder &build, const Value &value, Tensor &tensor) {
  if (!value.isNone())
    tensor = build.toTensor(value);
  return !build.failed();
}

} // namespace

DType memoryType(DType pointee) { return pointee.isBool() ? DType(Scalar::Int8) : pointee; }

bool checkWritable(PythonOperations &python, const TensorType &pointer) {
  if (!pointer.dtype.isConst)
    return true;
  python.error(DiagKind::SemaConstStore, pointer.str());
  return false;
}

Value emitLoad(TensorBuilder &build, Tensor pointer, Tensor mask, Tensor other,
               const AccessOptions &options) {
  if (!checkMask(build, mask) || !matchShape(build, "mask", pointer, mask, true) ||
      !matchShape(build, "other", pointer, other, true))
    return Value();
  if (mask && !matchShape(build, "mask", pointer, mask, true))
    return Value();
  DType element = memoryType(pointer.dtype().getPointee());
  if (other)
    other = build.cast(other, element);
  if (build.failed())
    return Value();
  TensorType type = pointer.type.with(element);
  if (!build.toMLIR(type))
    return build.error(DiagKind::SemaCast, pointer.type.str(), "a loaded value");
  auto op =
      tile::LoadOp::create(build.getBuilder(), build.loc(), build.toMLIR(type), pointer.ir, mask.ir,
                           other.ir, options.cache, options.evict, options.isVolatile);
  Tensor result{op.getResult(), type};
  if (pointer.dtype().getPointee().isBool())
    result = build.cast(result, Scalar::Int1);
  return Value::tensor(result);
}

Value emitStore(TensorBuilder &build, Tensor pointer, Tensor value, Tensor mask,
                const AccessOptions &options) {
  if (!checkWritable(build, pointer.type) || !checkMask(build, mask) ||
      !matchShape(build, "value", pointer, value, false) ||
      !matchShape(build, "mask", pointer, mask, false))
    return Value();
  value = build.cast(value, pointer.dtype().getPointee());
  if (pointer.dtype().getPointee().isBool())
    value = build.cast(value, Scalar::Int8);
  if (!value)
    return Value();
  tile::StoreOp::create(build.getBuilder(), build.loc(), pointer.ir, value.ir, mask.ir,
                        options.cache, options.evict);
  return Value::none();
}

Value builtinLoad(TensorBuilder &build, Call &call) {
  auto options = readAccessOptions(build, call[5], call[6], /*isStore=*/false);
  if (!options)
    return Value();
  std::optional<bool> isVolatile = build.constantBool(call[7], "volatile");
  if (!isVolatile)
    return Value();
  options->isVolatile = *isVolatile;
  if (call[0].is(ValueKind::BlockPointer))
    return loadBlock(build, call, *options);
  Tensor mask, other;
  if (!checkPointer(build, "tl.load", call[0]) || !checkNoBoundary(build, call[3]) ||
      !optionalTensor(build, call[1], mask) || !optionalTensor(build, call[2], other))
    return Value();
  if (other && !mask)
    return build.error(DiagKind::SemaInvalidArgument, "other", "a mask beside it", "no mask");
  return emitLoad(build, call[0].getTensor(), mask, other, *options);
}

Value builtinStore(TensorBuilder &build, Call &call) {
  auto options = readAccessOptions(build, call[4], call[5], /*isStore=*/true);
  if (!options)
    return Value();
  if (call[0].is(ValueKind::BlockPointer))
    return storeBlock(build, call, *options);
  Tensor value, mask;
  if (!checkPointer(build, "tl.store", call[0]) || !checkNoBoundary(build, call[3]))
    return Value();
  value = build.toTensor(call[1]);
  if (!value || !optionalTensor(build, call[2], mask))
    return Value();
  return emitStore(build, call[0].getTensor(), value, mask, *options);
}

} // namespace kiln::sema
