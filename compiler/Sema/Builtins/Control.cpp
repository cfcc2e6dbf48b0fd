// Facts that the author vouches for, checks, and the types of triton.language.

#include "compiler/Sema/Evaluate/Evaluator.h"

namespace kiln::sema {
namespace {

enum class Fact { Divisibility, Contiguity, Constancy };

/// Triton marks the value itself, so a bare `tl.multiple_of(x, 16)` says something of `x` from
/// there on: the name is bound to the value with the fact.
Value hint(Evaluator &evaluator, Call &call, Fact fact) {
  if (!call[0].isTensor())
    return call[0];
  Tensor tensor = call[0].getTensor();
  auto values = evaluator.constantInts(call[1], "values");
  if (!values)
    return Value();
  size_t count = std::max<size_t>(1, tensor.type.shape.size());
  bool positive = llvm::all_of(*values, [](int64_t value) { return value > 0; });
  if (values->size() != count || !positive)
    return evaluator.error(DiagKind::SemaShape, call.info->name,
                           std::to_string(count) + " positive numbers, one per axis",
                           repr(call[1]));
  auto attribute = evaluator.builder.getDenseI64ArrayAttr(*values);
  mlir::DenseI64ArrayAttr none;
  mlir::Value result = evaluator.emit<tile::HintOp>(
      tensor.ir.getType(), tensor.ir, fact == Fact::Divisibility ? attribute : none,
      fact == Fact::Contiguity ? attribute : none, fact == Fact::Constancy ? attribute : none);
  Value hinted = Value::tensor(result, tensor.type);
  if (call.expr && !call.expr->arguments.empty())
    if (const auto *name = llvm::dyn_cast<ast::NameExpr>(call.expr->arguments.front().value)) {
      auto bound = evaluator.frame->names.find(name->name);
      if (bound != evaluator.frame->names.end() && isIdentical(bound->second, call[0]))
        bound->second = hinted;
    }
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

Value builtinAssume(Evaluator &evaluator, Call &call) {
  if (!call[0].isTensor()) {
    std::optional<bool> known = evaluator.truth(call[0]);
    return known ? Value::none() : Value();
  }
  Tensor condition = evaluator.toCondition(call[0].getTensor());
  if (!condition)
    return Value();
  if (condition.isBlock())
    return evaluator.error(DiagKind::SemaCondition, condition.type.str());
  tile::AssumeOp::create(evaluator.builder, evaluator.loc(), condition.ir);
  return Value::none();
}

Value builtinDebugBarrier(Evaluator &evaluator, Call &) {
  tile::BarrierOp::create(evaluator.builder, evaluator.loc());
  return Value::none();
}

Value builtinStaticAssert(Evaluator &evaluator, Call &call) {
  std::optional<bool> holds = evaluator.constantBool(call[0], "the condition of tl.static_assert");
  if (!holds || *holds)
    return holds ? Value::none() : Value();
  std::string message = str(call[1]);
  return evaluator.error(DiagKind::SemaStaticAssert, message.empty() ? "" : ": " + message);
}

/// Nothing is printed while compiling.
Value builtinStaticPrint(Evaluator &, Call &) { return Value::none(); }

Value builtinSwizzle2d(Evaluator &evaluator, Call &call) {
  using ast::BinaryOp;
  auto op = [&](BinaryOp operation, const Value &a, const Value &b) {
    return evaluator.failed() ? Value() : evaluator.binary(operation, a, b);
  };
  const Value &i = call[0], &j = call[1], &rows = call[2], &columns = call[3], &groupRows = call[4];
  Value linear = op(BinaryOp::Add, op(BinaryOp::Mul, i, columns), j);
  Value groupSize = op(BinaryOp::Mul, groupRows, columns);
  Value group = op(BinaryOp::FloorDiv, linear, groupSize);
  Value firstRow = op(BinaryOp::Mul, group, groupRows);
  // The last group may have fewer rows.
  Value left = op(BinaryOp::Sub, rows, firstRow);
  if (evaluator.failed())
    return Value();
  Value height = Value::tensor(evaluator.minMax(false, left, groupRows, false));
  Value within = op(BinaryOp::Mod, linear, groupSize);
  Value row = op(BinaryOp::Add, firstRow, op(BinaryOp::Mod, within, height));
  Value column = op(BinaryOp::FloorDiv, within, height);
  return evaluator.failed() ? Value() : Value::tuple({row, column});
}

/// Both are understood by `for`; elsewhere they are plain ranges.
Value builtinTlRange(Evaluator &evaluator, Call &call) {
  auto range = std::make_shared<RangeObject>();
  bool two = !call[1].isNone();
  std::optional<Int> start = two ? evaluator.constantInt(call[0], "start") : std::optional<Int>(0);
  std::optional<Int> stop = start ? evaluator.constantInt(call[two ? 1 : 0], "end") : std::nullopt;
  std::optional<Int> step = !stop              ? std::nullopt
                            : call[2].isNone() ? std::optional<Int>(1)
                                               : evaluator.constantInt(call[2], "step");
  if (!step)
    return Value();
  if (*step == 0)
    return evaluator.error(DiagKind::SemaPython, "the step of a range must not be zero");
  range->start = *start;
  range->stop = *stop;
  range->step = *step;
  return {ValueKind::Range, range};
}
Value builtinStaticRange(Evaluator &evaluator, Call &call) {
  return builtinTlRange(evaluator, call);
}

Value builtinConstexpr(Evaluator &, Call &call) { return call[0]; }
Value builtinConstexprType(Evaluator &, Call &call) { return constexprType(call[0]); }

Value builtinTupleType(Evaluator &evaluator, Call &call) {
  std::optional<std::vector<Value>> types = evaluator.iterate(call[0]);
  return types ? tupleType(std::move(*types)) : Value();
}

/// What a `while` loop goes on for; its options change how loops are optimized, not what they mean.
Value builtinCondition(Evaluator &, Call &call) { return call[0]; }

/// A copy of an instance of a class with some of its fields replaced.
Value builtinAggregateReplace(Evaluator &evaluator, Call &call) {
  if (!call[0].is(ValueKind::Instance) || !call[0].as<InstanceObject>().cls.is(ValueKind::Class))
    return evaluator.error(DiagKind::SemaInvalidArgument, "aggregate_replace",
                           "an instance of an aggregate", describe(call[0]));
  Value copy(ValueKind::Instance, std::make_shared<InstanceObject>(call[0].as<InstanceObject>()));
  auto &object = copy.as<InstanceObject>();
  for (const auto &[name, value] : call.keywords) {
    auto field = llvm::find_if(object.fields, [&, key = llvm::StringRef(name)](const auto &entry) {
      return entry.first == key;
    });
    if (field == object.fields.end())
      return evaluator.error(DiagKind::SemaUnknownAttribute, object.typeName, name);
    field->second = value;
  }
  return copy;
}

Value builtinDTypeOf(Evaluator &evaluator, Call &call) {
  std::optional<DType> type = evaluator.constantDType(call[0], "dtype");
  return type ? Value::type(*type) : Value();
}

Value builtinPointerType(Evaluator &evaluator, Call &call) {
  std::optional<DType> type = evaluator.constantDType(call[0], "element_ty");
  std::optional<bool> isConst = type ? evaluator.constantBool(call[2], "const") : std::nullopt;
  if (!isConst)
    return Value();
  DType pointer = type->getPointerTo();
  pointer.isConst |= *isConst;
  return Value::type(pointer);
}

Value builtinBlockType(Evaluator &evaluator, Call &call) {
  std::optional<DType> type = evaluator.constantDType(call[0], "element_ty");
  auto shape = type ? evaluator.constantShape(call[1], "shape") : std::nullopt;
  return shape ? Value::type(TensorType(*type, *shape)) : Value();
}

/// `tl.tensor` is a class to test against; `tl.tensor(x, type)` relabels a value.
Value builtinTensorClass(Evaluator &evaluator, Call &call) {
  Tensor tensor = evaluator.toTensor(call[0]);
  std::optional<DType> type =
      tensor ? evaluator.constantDType(call[1], "type") : std::optional<DType>();
  return type ? Value::tensor(evaluator.bitcast(tensor, *type)) : Value();
}

Value builtinTlTuple(Evaluator &evaluator, Call &call) {
  std::optional<std::vector<Value>> items = evaluator.iterate(call[0]);
  return items ? Value::tuple(*items) : Value();
}

Value builtinGetIntDtype(Evaluator &evaluator, Call &call) {
  std::optional<Int> bits = evaluator.constantInt(call[0], "bitwidth");
  std::optional<bool> isSigned = bits ? evaluator.constantBool(call[1], "signed") : std::nullopt;
  if (!isSigned)
    return Value();
  DType type = getIntType(unsigned(*bits), *isSigned);
  if (type.is(Scalar::Void))
    return evaluator.error(DiagKind::SemaInvalidArgument, "bitwidth", "1, 8, 16, 32 or 64",
                           toString(*bits));
  return Value::type(type);
}

Value builtinInternalLog2(Evaluator &evaluator, Call &call) {
  std::optional<Int> number = evaluator.constantInt(call[0], "_log2");
  if (!number)
    return Value();
  Int log = 0;
  for (Int rest = *number; rest > 1; rest >>= 1)
    ++log;
  return Value::integer(log);
}

Value builtinIsPowerOfTwo(Evaluator &evaluator, Call &call) {
  std::optional<Int> number = evaluator.constantInt(call[0], "_is_power_of_two");
  return number ? Value::boolean(*number > 0 && (*number & (*number - 1)) == 0) : Value();
}

Value builtinNumWarps(Evaluator &evaluator, Call &) {
  if (!evaluator.instance)
    return evaluator.error(DiagKind::SemaOutsideKernel, "num_warps");
  return Value::integer(evaluator.instance->numWarps);
}
Value builtinNumThreads(Evaluator &evaluator, Call &) {
  if (!evaluator.instance)
    return evaluator.error(DiagKind::SemaOutsideKernel, "num_threads");
  return Value::integer(evaluator.instance->numWarps * evaluator.getTarget().warpSize);
}

static Value readRegister(Evaluator &evaluator, tile::DeviceRegister reg, DType type) {
  return Value::tensor(
      evaluator.emit<tile::ReadRegisterOp>(evaluator.toMLIR(TensorType(type)), reg),
      TensorType(type));
}
Value builtinSmid(Evaluator &evaluator, Call &) {
  return readRegister(evaluator, tile::DeviceRegister::Processor, Scalar::Int32);
}
Value builtinGlobaltimer(Evaluator &evaluator, Call &) {
  return readRegister(evaluator, tile::DeviceRegister::Nanoseconds, Scalar::Int64);
}
/// AMD's counter runs at 100 MHz.
Value builtinMemrealtime(Evaluator &evaluator, Call &call) {
  return evaluator.binary(ast::BinaryOp::FloorDiv, builtinGlobaltimer(evaluator, call),
                          Value::integer(10));
}

/// Programmatic dependent launch: Kiln launches kernels in stream order, where both do nothing.
Value builtinGdcWait(Evaluator &, Call &) { return Value::none(); }
Value builtinGdcLaunchDependents(Evaluator &, Call &) { return Value::none(); }

} // namespace kiln::sema
