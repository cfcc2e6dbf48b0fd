// Building one variant: the function with its arguments, and the evaluation of its body.

#include "compiler/Sema/Sema.h"

#include "compiler/Basic/NameSuggestion.h"
#include "compiler/Sema/Builtins/Builtins.h"
#include "compiler/Sema/Host/Session.h"
#include "compiler/Sema/HostEvaluation.h"
#include "compiler/Sema/Python/Annotations.h"
#include "compiler/Sema/Table/Handlers.h"

#include "mlir/IR/Verifier.h"

namespace kiln {

namespace {

using namespace sema;

/// Collects the arguments of the function while the kernel's parameters are read.
struct KernelBuilder {
  Evaluator &evaluator;
  const KernelInstance &instance;
  const FunctionObject &kernel;
  mlir::func::FuncOp func;
  Environment names;
  /// Of the kernel, once a parameter has no value of its own.
  std::optional<NamedConstants> heuristics;

  /// Parameters without a value whose arguments have names that nothing has.
  llvm::StringSet<> misnamed;

  bool checkArguments();
  bool bindParameters();
  std::optional<Value> bindParameter(const ast::Parameter &parameter);
  std::optional<Value> bind(const ArgumentValue &argument, llvm::StringRef name);
  std::optional<Value> bindRunTime(const ArgumentValue &argument, llvm::StringRef name);
  std::optional<Value> bindTuple(const ArgumentValue &argument, llvm::StringRef name);
  std::optional<Value> bindDescriptor(const ArgumentValue &argument, llvm::StringRef name);
  bool emitBody();
};

std::optional<Value> KernelBuilder::bindRunTime(const ArgumentValue &argument,
                                                llvm::StringRef name) {
  std::optional<DType> dtype = parseDType(argument.dtype);
  mlir::Type type = dtype ? evaluator.tensors().toMLIR(TensorType(*dtype)) : mlir::Type();
  if (!type)
    return evaluator.fail(DiagKind::SemaBadArgumentType, argument.dtype);
  unsigned index = func.getNumArguments();
  mlir::NamedAttrList attributes;
  if (argument.divisibility > 1)
    attributes.set(
        tile::TileDialect::divisibilityAttr,
        evaluator.tensors().getBuilder().getI32IntegerAttr(int32_t(argument.divisibility)));
  mlir::Location location = mlir::NameLoc::get(evaluator.tensors().getBuilder().getStringAttr(name),
                                               evaluator.tensors().loc());
  if (mlir::failed(func.insertArgument(
          index, type, attributes.getDictionary(evaluator.tensors().getContext()), location)))
    return evaluator.fail(DiagKind::SemaBadArgumentType, argument.dtype);
  if (argument.equalsOne)
    return Value::integer(1);
  return Value::tensor(func.getArgument(index), *dtype);
}

/// A pointer that was annotated `tl.const` is not written through.
void makeConst(Value &value) {
  if (!value.isTensor() || !value.getTensor().dtype().isPointer())
    return;
  Tensor pointer = value.getTensor();
  pointer.type.dtype.isConst = true;
  value = Value::tensor(pointer);
}

std::optional<Value> KernelBuilder::bind(const ArgumentValue &argument, llvm::StringRef name) {
  switch (argument.kind) {
  case ArgumentValue::Kind::Constant: {
    Value value = evaluator.modules().fromConstant(argument.constant, kernel.module);
    return evaluator.failed() ? std::nullopt : std::optional(value);
  }
  case ArgumentValue::Kind::RunTime:
    return bindRunTime(argument, name);
  case ArgumentValue::Kind::Tuple:
    return bindTuple(argument, name);
  case ArgumentValue::Kind::Descriptor:
    return bindDescriptor(argument, name);
  }
  llvm_unreachable("closed enumeration");
}

std::optional<Value> KernelBuilder::bindTuple(const ArgumentValue &argument, llvm::StringRef name) {
  std::vector<Value> elements;
  for (auto [index, element] : llvm::enumerate(argument.elements)) {
    std::string part =
        argument.fields.empty() ? std::to_string(index) : std::string(argument.fields[index]);
    std::optional<Value> value = bind(element, (name + "_" + part).str());
    if (!value)
      return std::nullopt;
    elements.push_back(*value);
  }
  Value tuple = Value::tuple(std::move(elements));
  tuple.as<SequenceObject>().fields = argument.fields;
  return tuple;
}

std::optional<Value> KernelBuilder::bindDescriptor(const ArgumentValue &argument,
                                                   llvm::StringRef name) {
  std::optional<DType> element = parseDType(argument.dtype);
  if (!element)
    return evaluator.fail(DiagKind::SemaBadArgumentType, argument.dtype);
  unsigned bytes = std::max(element->getBits() / 8, 1u);
  constexpr unsigned alignment = tile::DescriptorType::alignment;
  unsigned strideFactor = std::max(alignment / bytes, 1u);
  Call parts;
  std::optional<Value> base =
      bindRunTime(ArgumentValue::runTime("*" + argument.dtype, alignment), name);
  std::vector<Value> shape, strides, blockShape;
  auto bindEach = [&](size_t count, llvm::StringRef what, const ArgumentValue &each,
                      std::vector<Value> &values) {
    for (size_t axis = 0; base && axis < count; ++axis)
      if (auto value = bindRunTime(each, (name + what + llvm::Twine(axis)).str()))
        values.push_back(*value);
      else
        base.reset();
  };
  size_t rank = argument.blockShape.size();
  bindEach(rank, "_shape_", ArgumentValue::runTime("i32"), shape);
  bindEach(rank - 1, "_stride_", ArgumentValue::runTime("i64", strideFactor), strides);
  if (!base)
    return std::nullopt;
  strides.push_back(Value::integer(1));
  for (int64_t extent : argument.blockShape)
    blockShape.push_back(Value::integer(extent));
  parts.values = {*base, Value::tuple(shape), Value::tuple(strides), Value::tuple(blockShape),
                  Value::string(argument.padsWithNan ? "nan" : "zero")};
  Value descriptor = builtinMakeTensorDescriptor(evaluator.tensors(), parts);
  return evaluator.failed() ? std::nullopt : std::optional(descriptor);
}

/// Its value in the signature, or that of a heuristic, or its default.
std::optional<Value> KernelBuilder::bindParameter(const ast::Parameter &parameter) {
  llvm::StringRef name = parameter.name.name;
  auto isNamed = [&](const auto &entry) { return entry.first == name; };
  auto given = llvm::find_if(instance.arguments, isNamed);
  if (given != instance.arguments.end()) {
    bool isConstexpr = parameter.annotation && isConstexprAnnotation(*parameter.annotation);
    if (isConstexpr && (given->second.kind == ArgumentValue::Kind::RunTime ||
                        given->second.kind == ArgumentValue::Kind::Descriptor))
      return evaluator.fail(DiagKind::SemaConstexprArgument, name, given->second.dtype);
    std::optional<Value> value = bind(given->second, name);
    if (value && parameter.annotation && isConstAnnotation(*parameter.annotation))
      makeConst(*value);
    return value;
  }
  if (!heuristics)
    heuristics = evaluateHeuristics(evaluator, kernel, instance);
  if (!heuristics)
    return std::nullopt;
  auto computed = llvm::find_if(*heuristics, isNamed);
  if (computed != heuristics->end())
    return evaluator.modules().fromConstant(computed->second, kernel.module);
  if (misnamed.contains(name))
    return std::nullopt;
  if (!parameter.defaultValue)
    return evaluator.fail(DiagKind::SemaMissingArgument, name, kernel.getName());
  Value value = kernel.defaults[size_t(&parameter - kernel.getParameters().begin())];
  if (value.isOpaque() && value.as<OpaqueObject>().cause)
    return evaluator.notKnown(value), std::nullopt;
  return value;
}

/// Arguments that the kernel does not have. The parameters that were meant go to `misnamed`.
bool KernelBuilder::checkArguments() {
  std::vector<llvm::StringRef> known, missing;
  for (const ast::Parameter &parameter : kernel.getParameters()) {
    llvm::StringRef name = parameter.name.name;
    known.push_back(name);
    if (llvm::none_of(instance.arguments,
                      [&](const auto &argument) { return argument.first == name; }))
      missing.push_back(name);
  }
  At at(evaluator, kernel.definition->signatureRange);
  for (const auto &argument : instance.arguments) {
    if (llvm::is_contained(known, argument.first))
      continue;
    evaluator.errorWithHint(suggestName(argument.first, missing), DiagKind::SemaUnknownArgument,
                            argument.first, kernel.getName());
    misnamed.insert(findNearestName(argument.first, missing));
    if (!evaluator.unwinding().resume())
      return false;
  }
  return true;
}

bool KernelBuilder::bindParameters() {
  if (!checkArguments())
    return false;
  for (const ast::Parameter &parameter : kernel.getParameters()) {
    At at(evaluator, parameter.range);
    std::optional<Value> value = bindParameter(parameter);
    if (evaluator.failed() && !evaluator.unwinding().resume())
      return false;
    names[parameter.name.name] = value.value_or(Value());
  }
  return true;
}

bool KernelBuilder::emitBody() {
  FunctionObject body = kernel;
  body.mode = FunctionMode::Kernel;
  evaluator.runBody(body, std::move(names));
  if (evaluator.unwinding().countErrors())
    return false;
  mlir::func::ReturnOp::create(evaluator.tensors().getBuilder(), evaluator.tensors().loc());
  return true;
}

/// Reports what MLIR's verifier says as an error of the kernel's source.
bool verifyResult(Evaluator &evaluator, mlir::ModuleOp module) {
  std::string message;
  mlir::ScopedDiagnosticHandler handler(module.getContext(), [&](mlir::Diagnostic &diagnostic) {
    if (message.empty())
      message = diagnostic.str();
    return mlir::success();
  });
  if (mlir::succeeded(mlir::verify(module)))
    return true;
  evaluator.error(DiagKind::DriverPassError, "internal error: Sema made invalid IR: " + message);
  return false;
}

mlir::OwningOpRef<mlir::ModuleOp> build(Evaluator &evaluator, const LoadedModule &module,
                                        const KernelInstance &instance) {
  Value kernel = evaluator.modules().findFunction(module, instance.kernel);
  if (evaluator.failed())
    return {};
  const auto &function = kernel.as<FunctionObject>();
  At at(evaluator, function.definition->signatureRange);
  mlir::OpBuilder &builder = evaluator.tensors().getBuilder();
  mlir::OwningOpRef<mlir::ModuleOp> result(
      mlir::ModuleOp::create(builder, evaluator.tensors().loc()));
  builder.setInsertionPointToStart(result->getBody());
  auto func = mlir::func::FuncOp::create(
      builder, evaluator.tensors().loc(),
      instance.symbol.empty() ? instance.kernel : instance.symbol, builder.getFunctionType({}, {}));
  func->setAttr(tile::TileDialect::kernelAttr, builder.getUnitAttr());
  func->setAttr(tile::TileDialect::numWarpsAttr,
                builder.getI32IntegerAttr(int32_t(instance.numWarps)));
  func->setAttr(tile::TileDialect::numStagesAttr,
                builder.getI32IntegerAttr(int32_t(instance.numStages)));
  func->setAttr(tile::TileDialect::numCtasAttr,
                builder.getI32IntegerAttr(int32_t(instance.numCtas)));
  for (auto [name, value] : {std::pair(tile::TileDialect::matrixSizeAttr, instance.matrixSize),
                             std::pair(tile::TileDialect::kPackAttr, instance.kPack)})
    if (value)
      func->setAttr(name, builder.getI32IntegerAttr(int32_t(value)));
  if (instance.deviceMemory)
    func->setAttr(tile::TileDialect::deviceMemoryAttr, builder.getUnitAttr());
  if (instance.smallArrays)
    func->setAttr(tile::TileDialect::smallArraysAttr, builder.getUnitAttr());
  builder.setInsertionPointToStart(func.addEntryBlock());
  KernelBuilder kernelBuilder{evaluator, instance, function, func, {}, {}, {}};
  if (!kernelBuilder.bindParameters() || !kernelBuilder.emitBody() ||
      !verifyResult(evaluator, *result))
    return {};
  return result;
}

} // namespace

mlir::OwningOpRef<mlir::ModuleOp> buildTileIR(mlir::MLIRContext &context, ModuleLoader &loader,
                                              const LoadedModule &module,
                                              const KernelInstance &instance,
                                              DiagnosticEngine &diags) {
  context.loadDialect<tile::TileDialect, mlir::arith::ArithDialect, mlir::func::FuncDialect,
                      mlir::math::MathDialect, mlir::scf::SCFDialect, mlir::ub::UBDialect>();
  sema::Session session(loader, module, sema::getBuiltinTable(),
                        {instance.target, &instance, &context}, instance.defines, diags);
  sema::Evaluator &evaluator = session.getEvaluator();
  mlir::OwningOpRef<mlir::ModuleOp> result = build(evaluator, module, instance);
  evaluator.unwinding().flush();
  return result;
}

} // namespace kiln
