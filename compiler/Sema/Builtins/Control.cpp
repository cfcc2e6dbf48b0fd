// Facts that the author vouches for, checks, and the types of triton.language.

#include "compiler/Sema/Evaluate/Evaluator.h"
#include "compiler/Sema/Table/Handlers.h"

namespace kiln::sema {
namespace {

enum class Fact { Divisibility, Contiguity, Constancy };

/// Triton marks the value itself, so a bare `tl.multiple_of(x, 16)` says something of `x` from
/// there on: the name is bound to the value with the fact.
Value hint(Evaluator &evaluator, Call &call, Fact fact) {
  TensorBuilder &build = evaluator.tensors();
  if (!call[0].isTensor())
    return call[0];
  Tensor tensor = call[0].getTensor();
  auto values = build.constantInts(call[1], "values");
  if (!values)
    return Value();
  size_t count = std::max<size_t>(1, tensor.type.shape.size());
  bool positive = llvm::all_of(*values, [](int64_t value) { return value > 0; });
  if (values->size() != count || !positive)
    return evaluator.error(DiagKind::SemaShape, call.info->name,
                           std::to_string(count) + " positive numbers, one per axis",
                           repr(call[1]));
  auto attribute = build.getBuilder().getDenseI64ArrayAttr(*values);
  mlir::DenseI64ArrayAttr none;
  mlir::Value result = build.emit<tile::HintOp>(
      tensor.ir.getType(), tensor.ir, fact == Fact::Divisibility ? attribute : none,
      fact == Fact::Contiguity ? attribute : none, fact == Fact::Constancy ? attribute : none);
  Value hinted = Value::tensor(result, tensor.type);
  if (call.expr && !call.expr->arguments.empty())
    if (const auto *name = llvm::dyn_cast<ast::NameExpr>(call.expr->arguments.front().value))
      evaluator.replace(name->name, call[0], hinted);
  return hinted;
}

} // namespace

Value builtinMultipleOf(Evaluator &evaluator, Call &call) {
  return hint(evaluator, call, Fact::Divisibility);
}
Value builtinMaxContiguous(Evaluator &evaluator, Call &call) {
  return hint(evaluator, call, Fact::Contiguity);
}
Value builtinMaxConstancy(Evaluator &evaluator, Call &call) {
  return hint(evaluator, call, Fact::Constancy);
}

Value builtinAssume(TensorBuilder &build, Call &call) {
  if (!call[0].isTensor()) {
    std::optional<bool> known = build.truth(call[0]);
    return known ? Value::none() : Value();
  }
  Tensor condition = build.toCondition(call[0].getTensor());
  if (!condition)
    return Value();
  if (condition.isBlock())
    return build.error(DiagKind::SemaCondition, condition.type.str());
  tile::AssumeOp::create(build.getBuilder(), build.loc(), condition.ir);
  return Value::none();
}

Value builtinDebugBarrier(TensorBuilder &build, Call &) {
  tile::BarrierOp::create(build.getBuilder(), build.loc());
  return Value::none();
}

Value builtinStaticAssert(PythonOperations &python, Call &call) {
  std::optional<bool> holds = python.constantBool(call[0], "the condition of tl.static_assert");
  if (!holds || *holds)
    return holds ? Value::none() : Value();
  std::string message = str(call[1]);
  return python.error(DiagKind::SemaStaticAssert, message.empty() ? "" : ": " + message);
}

/// Nothing is printed while compiling.
Value builtinStaticPrint(PythonOperations &, Call &) { return Value::none(); }

Value builtinSwizzle2d(TensorBuilder &build, Call &call) {
  using ast::BinaryOp;
  auto op = [&](BinaryOp operation, const Value &a, const Value &b) {
    return build.failed() ? Value() : build.binary(operation, a, b);
  };
  const Value &i = call[0], &j = call[1], &rows = call[2], &columns = call[3], &groupRows = call[4];
  Value linear = op(BinaryOp::Add, op(BinaryOp::Mul, i, columns), j);
  Value groupSize = op(BinaryOp::Mul, groupRows, columns);
  Value group = op(BinaryOp::FloorDiv, linear, groupSize);
  Value firstRow = op(BinaryOp::Mul, group, groupRows);
  // The last group may have fewer rows.
  Value left = op(BinaryOp::Sub, rows, firstRow);
  if (build.failed())
    return Value();
  Value height = Value::tensor(build.minMax(false, left, groupRows, false));
  Value within = op(BinaryOp::Mod, linear, groupSize);
  Value row = op(BinaryOp::Add, firstRow, op(BinaryOp::Mod, within, height));
  Value column = op(BinaryOp::FloorDiv, within, height);
  return build.failed() ? Value() : Value::tuple({row, column});
}

/// Both are understood by `for`; elsewhere they are plain ranges.
Value builtinTlRange(PythonOperations &python, Call &call) {
  auto range = std::make_shared<RangeObject>();
  bool two = !call[1].isNone();
  std::optional<Int> start = two ? python.constantInt(call[0], "start") : std::optional<Int>(0);
  std::optional<Int> stop = start ? python.constantInt(call[two ? 1 : 0], "end") : std::nullopt;
  std::optional<Int> step = !stop              ? std::nullopt
                            : call[2].isNone() ? std::optional<Int>(1)
                                               : python.constantInt(call[2], "step");
  if (!step)
    return Value();
  if (*step == 0)
    return python.error(DiagKind::SemaPython, "the step of a range must not be zero");
  range->start = *start;
  range->stop = *stop;
  range->step = *step;
  return {ValueKind::Range, range};
}

Value builtinConstexpr(PythonOperations &, Call &call) { return call[0].asConstexpr(); }
Value builtinUnwrapIfConstexpr(PythonOperations &, Call &call) {
  return call[0].asConstexpr(false);
}
Value builtinConstexprType(PythonOperations &, Call &call) { return constexprType(call[0]); }

Value builtinTupleType(PythonOperations &python, Call &call) {
  std::optional<std::vector<Value>> types = python.iterate(call[0]);
  return types ? tupleType(std::move(*types)) : Value();
}

/// What a `while` loop goes on for; its options change how loops are optimized, not what they mean.
Value builtinCondition(TensorBuilder &, Call &call) { return call[0]; }

/// A copy of an instance of a class with some of its fields replaced.
Value builtinAggregateReplace(PythonOperations &python, Call &call) {
  if (!call[0].is(ValueKind::Instance) || !call[0].as<InstanceObject>().cls.is(ValueKind::Class))
    return python.error(DiagKind::SemaInvalidArgument, "aggregate_replace",
                        "an instance of an aggregate", describe(call[0]));
  Value copy(ValueKind::Instance, std::make_shared<InstanceObject>(call[0].as<InstanceObject>()));
  auto &object = copy.as<InstanceObject>();
  for (const auto &[name, value] : call.keywords) {
    auto field = llvm::find_if(object.fields, [&, key = llvm::StringRef(name)](const auto &entry) {
      return entry.first == key;
    });
    if (field == object.fields.end())
      return python.error(DiagKind::SemaUnknownAttribute, object.typeName, name);
    field->second = value;
  }
  return copy;
}

Value builtinDTypeOf(PythonOperations &python, Call &call) {
  std::optional<DType> type = python.constantDType(call[0], "dtype");
  return type ? Value::type(*type) : Value();
}

Value builtinPointerType(PythonOperations &python, Call &call) {
  std::optional<DType> type = python.constantDType(call[0], "element_ty");
  std::optional<bool> isConst = type ? python.constantBool(call[2], "const") : std::nullopt;
  if (!isConst)
    return Value();
  DType pointer = type->getPointerTo();
  pointer.isConst |= *isConst;
  return Value::type(pointer);
}

Value builtinBlockType(PythonOperations &python, Call &call) {
  std::optional<DType> type = python.constantDType(call[0], "element_ty");
  auto shape = type ? python.constantShape(call[1], "shape") : std::nullopt;
  return shape ? Value::type(TensorType(*type, *shape)) : Value();
}

/// `tl.tensor` is a class to test against; `tl.tensor(x, type)` relabels a value.
Value builtinTensorClass(TensorBuilder &build, Call &call) {
  Tensor tensor = build.toTensor(call[0]);
  std::optional<DType> type =
      tensor ? build.constantDType(call[1], "type") : std::optional<DType>();
  return type ? Value::tensor(build.bitcast(tensor, *type)) : Value();
}

Value builtinTlTuple(PythonOperations &python, Call &call) {
  std::optional<std::vector<Value>> items = python.iterate(call[0]);
  return items ? Value::tuple(*items) : Value();
}

Value builtinGetIntDtype(PythonOperations &python, Call &call) {
  std::optional<Int> bits = python.constantInt(call[0], "bitwidth");
  std::optional<bool> isSigned = bits ? python.constantBool(call[1], "signed") : std::nullopt;
  if (!isSigned)
    return Value();
  DType type = getIntType(unsigned(*bits), *isSigned);
  if (type.is(Scalar::Void))
    return python.error(DiagKind::SemaInvalidArgument, "bitwidth", "1, 8, 16, 32 or 64",
                        toString(*bits));
  return Value::type(type);
}

Value builtinInternalLog2(PythonOperations &python, Call &call) {
  std::optional<Int> number = python.constantInt(call[0], "_log2");
  if (!number)
    return Value();
  Int log = 0;
  for (Int rest = *number; rest > 1; rest >>= 1)
    ++log;
  return Value::integer(log);
}

Value builtinIsPowerOfTwo(PythonOperations &python, Call &call) {
  std::optional<Int> number = python.constantInt(call[0], "_is_power_of_two");
  return number ? Value::boolean(*number > 0 && (*number & (*number - 1)) == 0) : Value();
}

Value builtinNumWarps(TensorBuilder &build, Call &) {
  if (!build.getKernel())
    return build.error(DiagKind::SemaOutsideKernel, "num_warps");
  return Value::integer(build.getKernel()->numWarps);
}
Value builtinNumThreads(TensorBuilder &build, Call &) {
  if (!build.getKernel())
    return build.error(DiagKind::SemaOutsideKernel, "num_threads");
  return Value::integer(build.getKernel()->numWarps * build.getTarget().warpSize);
}

static Value readRegister(TensorBuilder &build, tile::DeviceRegister reg, DType type) {
  return Value::tensor(build.emit<tile::ReadRegisterOp>(build.toMLIR(TensorType(type)), reg),
                       TensorType(type));
}
Value builtinSmid(TensorBuilder &build, Call &) {
  return readRegister(build, tile::DeviceRegister::Processor, Scalar::Int32);
}
Value builtinGlobaltimer(TensorBuilder &build, Call &) {
  return readRegister(build, tile::DeviceRegister::Nanoseconds, Scalar::Int64);
}
/// AMD's counter runs at 100 MHz.
Value builtinMemrealtime(TensorBuilder &build, Call &call) {
  return build.binary(ast::BinaryOp::FloorDiv, builtinGlobaltimer(build, call), Value::integer(10));
}

/// Programmatic dependent launch: Kiln launches kernels in stream order, where both do nothing.
Value builtinGdcWait(TensorBuilder &, Call &) { return Value::none(); }
Value builtinGdcLaunchDependents(TensorBuilder &, Call &) { return Value::none(); }

} // namespace kiln::sema
