// tl.map_elementwise

#include "compiler/Sema/Evaluate/Evaluator.h"
#include "compiler/Sema/Table/Handlers.h"
#include "compiler/Sema/Tensors/ElementPacks.h"

namespace kiln::sema {
namespace {

/// What the function does that a function of scalars must not; empty if nothing.
std::string findEffect(mlir::Region &body) {
  std::string found;
  body.walk([&](mlir::Operation *op) {
    bool isAggregate = op->hasTrait<mlir::OpTrait::HasRecursiveMemoryEffects>();
    if (!isAggregate && !mlir::isMemoryEffectFree(op))
      found = "'" + op->getName().getStringRef().str() + "' in it";
    for (mlir::Type type : op->getResultTypes())
      if (llvm::isa<mlir::RankedTensorType>(type))
        found = "a tensor in it";
  });
  return found;
}

/// Evaluates the function on one element of each tensor, into `body`. The results as scalars.
std::optional<std::vector<Tensor>> fillBody(Evaluator &evaluator, const Value &function,
                                            llvm::ArrayRef<Tensor> elements, mlir::Region &body,
                                            bool &isTuple) {
  mlir::OpBuilder::InsertionGuard guard(evaluator.tensors().getBuilder());
  llvm::SmallVector<mlir::Type> types;
  for (const Tensor &element : elements)
    types.push_back(evaluator.tensors().toMLIR(TensorType(element.dtype())));
  llvm::SmallVector<mlir::Location> locations(types.size(), evaluator.tensors().loc());
  mlir::Block *block = evaluator.tensors().getBuilder().createBlock(&body, {}, types, locations);
  std::vector<Value> args;
  for (auto [argument, element] : llvm::zip(block->getArguments(), elements))
    args.push_back(Value::tensor(argument, TensorType(element.dtype())));
  Value returned;
  {
    TensorBuilder::ElementFunction element(evaluator.tensors());
    returned = evaluator.call(function, std::move(args), {});
  }
  if (evaluator.failed())
    return std::nullopt;
  isTuple = returned.isSequence();
  std::vector<Value> values = isTuple ? returned.getElements() : std::vector<Value>{returned};
  std::vector<Tensor> results;
  llvm::SmallVector<mlir::Value> yields;
  for (const Value &value : values) {
    results.push_back(evaluator.tensors().toTensor(value));
    if (!results.back())
      return std::nullopt;
    yields.push_back(results.back().ir);
  }
  tile::YieldOp::create(evaluator.tensors().getBuilder(), evaluator.tensors().loc(), yields);
  std::string effect = findEffect(body);
  if (!effect.empty())
    return evaluator.fail(DiagKind::SemaInvalidArgument, "the function of tl.map_elementwise",
                          "a function of scalars without effects on memory", effect);
  return results;
}

/// One tensor for each of the function's results, which come in groups of `pack`.
std::optional<std::vector<Value>> collect(TensorBuilder &build, const Packing &packing,
                                          llvm::ArrayRef<Tensor> results) {
  if (results.empty() || results.size() % packing.pack)
    return build.fail(DiagKind::SemaShape, "the function of tl.map_elementwise",
                      "a multiple of " + std::to_string(packing.pack) + " results",
                      std::to_string(results.size()));
  std::vector<Value> values;
  for (size_t first = 0; first < results.size(); first += packing.pack) {
    llvm::ArrayRef<Tensor> group = results.slice(first, packing.pack);
    for (const Tensor &part : group)
      if (part.dtype() != group.front().dtype())
        return build.fail(DiagKind::SemaShape, "the function of tl.map_elementwise",
                          "results of one type for all elements of a pack",
                          group.front().type.str() + " and " + part.type.str());
    values.push_back(Value::tensor(putTogether(build, packing, group)));
    if (build.failed())
      return std::nullopt;
  }
  return values;
}

} // namespace

Value builtinMapElementwise(Evaluator &evaluator, Call &call) {
  std::vector<Tensor> args, parts;
  for (const Value &value : call.rest) {
    args.push_back(evaluator.tensors().toTensor(value));
    if (!args.back())
      return Value();
  }
  if (args.empty())
    return evaluator.error(DiagKind::SemaInvalidArgument, call.info->name, "at least one tensor",
                           "none");
  std::optional<Packing> packing = arrangePacks(evaluator.tensors(), call[2], args);
  if (!packing)
    return Value();
  if (!args.front().isBlock())
    return evaluator.call(call[0], call.rest, {});
  for (const Tensor &arg : args)
    if (!dealOut(evaluator.tensors(), *packing, arg, parts))
      return Value();

  auto body = std::make_unique<mlir::Region>();
  bool isTuple = false;
  std::optional<std::vector<Tensor>> elements = fillBody(evaluator, call[0], parts, *body, isTuple);
  if (!elements)
    return Value();
  llvm::SmallVector<mlir::Value> sources;
  for (const Tensor &part : parts)
    sources.push_back(part.ir);
  llvm::SmallVector<mlir::Type> types;
  std::vector<Tensor> results;
  for (const Tensor &element : *elements) {
    results.push_back({{}, element.type.with(packing->partShape)});
    types.push_back(evaluator.tensors().toMLIR(results.back().type));
  }
  auto op = tile::MapOp::create(evaluator.tensors().getBuilder(), evaluator.tensors().loc(), types,
                                sources);
  op.getBody().takeBody(*body);
  for (auto [result, value] : llvm::zip(results, op.getResults()))
    result.ir = value;
  std::optional<std::vector<Value>> values = collect(evaluator.tensors(), *packing, results);
  if (!values)
    return Value();
  return isTuple ? Value::tuple(*values) : values->front();
}

} // namespace kiln::sema
