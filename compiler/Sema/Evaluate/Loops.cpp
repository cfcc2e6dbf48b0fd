// Loops: unrolled ones, `scf.for` and `scf.while`.
//
// A body is evaluated once into a detached region whose arguments are the names that it may assign
// and that held tensors before. Names that turn out unchanged are dropped again; names whose
// compile-time number the body changed make it start over with them as tensors.

#include "compiler/Sema/Evaluate/Evaluator.h"
#include "compiler/Sema/Python/AssignedNames.h"
#include "compiler/Sema/Tensors/Merging.h"

namespace kiln::sema {

struct LoopBounds {
  Value lower, upper, step;
  std::optional<Int> numStages, unrollFactor;
  bool warpSpecialize = false;

  /// An error left them without a value.
  bool isUnknown = false;

  // As IR, once prepared.
  Tensor lowerBound, upperBound, stepSize;
  bool countsDown = false;
};

//===----------------------------------------------------------------------===//
// Unrolled loops
//===----------------------------------------------------------------------===//

Flow Evaluator::executeUnrolled(const ast::ForStmt &stmt, llvm::ArrayRef<Value> items) {
  for (const Value &item : items) {
    if (!unwinding().step() || !assign(*stmt.target, item, /*keepConstant=*/true))
      return Flow::Failed;
    Flow flow = execute(stmt.body);
    if (flow == Flow::Break)
      return Flow::Normal;
    if (flow == Flow::Returned || flow == Flow::Failed)
      return flow;
  }
  return execute(stmt.orElse);
}

/// Binds the arguments of range(), tl.range() or tl.static_range().
static void fillBounds(const Call &call, LoopBounds &bounds) {
  bool two = !call[1].isNone();
  bounds.lower = two ? call[0] : Value::integer(0);
  bounds.upper = two ? call[1] : call[0];
  bounds.step = call[2].isNone() ? Value::integer(1) : call[2];
}

std::optional<LoopBounds> Evaluator::loopBounds(const ast::ForStmt &stmt,
                                                std::optional<std::vector<Value>> &items) {
  auto overItems = [&]() -> std::optional<LoopBounds> {
    if (isPortable())
      tensors().notPortable("a loop over something else than a range",
                            "loop over tl.static_range(...) and take the elements by their index");
    else
      items = iterate(evaluate(*stmt.iterable));
    return std::nullopt;
  };
  const auto *callExpr = llvm::dyn_cast<ast::CallExpr>(stmt.iterable);
  if (!callExpr || frame()->mode != FunctionMode::Kernel)
    return overItems();
  Value callee = evaluate(*callExpr->callee);
  if (failed())
    return std::nullopt;
  const BuiltinInfo *info =
      callee.is(ValueKind::Builtin) ? callee.as<BuiltinObject>().info : nullptr;
  bool isPlain = info && info->library == Library::Python && info->name == "range";
  bool isTriton = info && info->library == Library::Language && info->name == "range";
  bool isStatic = info && info->name == "static_range";
  if (!isPlain && !isTriton && !isStatic)
    return overItems();
  noteCall(*info);
  std::vector<Value> args;
  Keywords keywords;
  Call call;
  At at(*this, callExpr->range);
  // Options such as num_stages are accepted for plain range() too: kernels choose between the two.
  const BuiltinInfo *shape = builtins().find(Library::Language, "range");
  LoopBounds bounds;
  if (!collectArguments(callExpr->arguments, args, keywords) ||
      !bindBuiltin(*shape, args, keywords, call)) {
    bounds.isUnknown = !isStatic && unwinding().resume();
    return bounds.isUnknown ? std::optional(bounds) : std::nullopt;
  }
  fillBounds(call, bounds);
  if (isStatic) {
    std::optional<Int> lower = tensors().constantInt(bounds.lower, "a bound of tl.static_range()");
    std::optional<Int> upper = tensors().constantInt(bounds.upper, "a bound of tl.static_range()");
    std::optional<Int> by = tensors().constantInt(bounds.step, "the step of tl.static_range()");
    if (!lower || !upper || !by)
      return std::nullopt;
    if (*by == 0)
      return fail(DiagKind::SemaPython, "the step of a range must not be zero");
    auto range = std::make_shared<RangeObject>();
    range->start = *lower;
    range->stop = *upper;
    range->step = *by;
    items = iterate(Value(ValueKind::Range, range));
    return std::nullopt;
  }
  if (!call[3].isNone())
    bounds.numStages = tensors().constantInt(call[3], "num_stages");
  if (!call[4].isNone())
    bounds.unrollFactor = tensors().constantInt(call[4], "loop_unroll_factor");
  bounds.warpSpecialize = tensors().constantBool(call[7], "warp_specialize").value_or(false);
  return bounds;
}

Flow Evaluator::executeFor(const ast::ForStmt &stmt) {
  std::optional<std::vector<Value>> items;
  std::optional<LoopBounds> bounds = loopBounds(stmt, items);
  if (failed())
    return Flow::Failed;
  return bounds ? executeRunTimeFor(stmt, *bounds) : executeUnrolled(stmt, *items);
}

//===----------------------------------------------------------------------===//
// Carried names
//===----------------------------------------------------------------------===//

Evaluator::Carried Evaluator::findCarried(const llvm::StringSet<> &assigned,
                                          const llvm::StringSet<> &promoted) {
  Carried carried;
  for (auto &[name, value] : frame()->names) {
    if (!assigned.contains(name))
      continue;
    if (promoted.contains(name) && value.isNumber())
      value = Value::tensor(tensors().toTensor(value));
    llvm::SmallVector<mlir::Value> parts;
    flatten(value, parts);
    if (parts.empty())
      continue;
    carried.names.push_back(name);
    carried.values.push_back(value);
    carried.inits.append(parts);
    for (mlir::Value part : parts)
      carried.types.push_back(part.getType());
  }
  return carried;
}

void Evaluator::bindCarried(const Carried &carried, mlir::Block &block, unsigned firstArgument) {
  llvm::SmallVector<mlir::Value> arguments(block.getArguments().drop_front(firstArgument));
  llvm::ArrayRef<mlir::Value> parts = arguments;
  for (auto [name, value] : llvm::zip(carried.names, carried.values))
    frame()->names[name] = rebuild(value, parts);
}

bool Evaluator::yieldCarried(const Carried &carried, ast::Block body,
                             llvm::SmallVectorImpl<mlir::Value> &yields) {
  for (auto [name, initial] : llvm::zip(carried.names, carried.values)) {
    At at(*this, findLastAssignment(body, name));
    Value value = frame()->names[name];
    if (!value.isError())
      value = tensors().use(name, value);
    if (!value.isError() && !conform(tensors(), initial, value, builder().getInsertionBlock()))
      value = errorWithHint("give '" + name +
                                "' the type of the loop's result before the loop, such as "
                                "tl.zeros(shape, dtype), or convert it inside: .to(...)",
                            DiagKind::SemaLoopCarried, name, describe(initial), describe(value));
    if (failed() && !unwinding().resume())
      return false;
    if (value.isError())
      frame()->names[name] = value;
    flatten(value.isError() ? initial : value, yields);
  }
  return true;
}

bool Evaluator::promoteChanged(const Environment &before, Environment &after,
                               const Carried &carried, ast::Block body,
                               llvm::StringRef loopVariable, llvm::StringSet<> &promoted) {
  for (const auto &[name, value] : before) {
    if (name == loopVariable || llvm::is_contained(carried.names, name) ||
        value.is(ValueKind::Undefined))
      continue;
    auto now = after.find(name);
    if (now == after.end() || now->second.isError() || isIdentical(value, now->second))
      continue;
    if (value.isNumber())
      promoted.insert(name);
    else if (!now->second.is(ValueKind::Undefined)) {
      At at(*this, findLastAssignment(body, name));
      error(DiagKind::SemaLoopCarried, name, describe(value), describe(now->second));
      if (!unwinding().resume())
        return false;
      now->second = Value();
    }
  }
  return true;
}

void Evaluator::bindResults(const Carried &carried, const Environment &before,
                            const Environment &after, llvm::ArrayRef<mlir::Value> results,
                            llvm::StringRef loopVariable) {
  frame()->names = before;
  for (auto [name, value] : llvm::zip(carried.names, carried.values))
    frame()->names[name] = rebuild(value, results);
  for (const auto &entry : after)
    if (entry.second.isError())
      frame()->names[entry.first] = Value();
    else if (!before.count(entry.first))
      frame()->names[entry.first] =
          Value::undefined("it is bound only inside a loop that may not run");
  if (!loopVariable.empty())
    frame()->names[loopVariable] = Value::undefined("it is the variable of a loop that has ended");
}

//===----------------------------------------------------------------------===//
// for
//===----------------------------------------------------------------------===//

Flow Evaluator::runForBody(const ast::ForStmt &stmt, const LoopBounds &bounds,
                           const Carried &carried, llvm::SmallVectorImpl<mlir::Value> &yields) {
  mlir::Block &block = *builder().getInsertionBlock();
  bindCarried(carried, block, 1);
  Tensor index{block.getArgument(0), bounds.lowerBound.type};
  if (bounds.countsDown) {
    Value sum = Value::tensor(
        tensors().add(Value::tensor(bounds.lowerBound), Value::tensor(bounds.upperBound)));
    index = tensors().subtract(sum, Value::tensor(index));
  }
  if (failed() || !assign(*stmt.target, Value::tensor(index), true))
    return Flow::Failed;
  ++frame()->runTimeLoops;
  Flow flow = execute(stmt.body);
  --frame()->runTimeLoops;
  if (failed() || !yieldCarried(carried, stmt.body, yields))
    return Flow::Failed;
  return flow;
}

/// Brings the bounds to one integer type. A negative step counts the other way round, as scf.for
/// only counts up.
static bool convertBounds(Evaluator &evaluator, LoopBounds &bounds) {
  if (bounds.step.isIntegral() && bounds.step.getInt() < 0) {
    bounds.countsDown = true;
    bounds.step = Value::integer(-bounds.step.getInt());
    std::swap(bounds.lower, bounds.upper);
  }
  if (bounds.step.isIntegral() && bounds.step.getInt() == 0) {
    evaluator.error(DiagKind::SemaPython, "the step of a range must not be zero");
    return false;
  }
  Tensor *tensors[3] = {&bounds.lowerBound, &bounds.upperBound, &bounds.stepSize};
  const Value *values[3] = {&bounds.lower, &bounds.upper, &bounds.step};
  std::optional<DType> type;
  for (int i = 0; i < 3; ++i) {
    if (!values[i]->isTensor() && !values[i]->isIntegral()) {
      evaluator.error(DiagKind::SemaLoopBound, describe(*values[i]));
      return false;
    }
    *tensors[i] = evaluator.tensors().toTensor(*values[i]);
    if (!*tensors[i])
      return false;
    if (tensors[i]->isBlock() && tensors[i]->type.getNumElements() == 1)
      *tensors[i] = evaluator.tensors().unsplat(*tensors[i]);
    DType own = tensors[i]->dtype();
    if (tensors[i]->isBlock() || !own.isInt()) {
      evaluator.error(DiagKind::SemaLoopBound, tensors[i]->type.str());
      return false;
    }
    type = type ? promoteInts(*type, own) : own;
  }
  for (Tensor *tensor : tensors)
    *tensor = evaluator.tensors().cast(*tensor, *type);
  return !evaluator.failed();
}

/// Bounds that an error left unknown become any, of the usual type: the body is to be looked at all
/// the same.
bool Evaluator::prepareBounds(LoopBounds &bounds, SourceRange range) {
  At at(*this, range);
  if (!bounds.isUnknown && convertBounds(*this, bounds))
    return true;
  bounds = LoopBounds();
  bounds.isUnknown = unwinding().resume();
  bounds.lower = bounds.upper = bounds.step = Value::integer(1);
  return bounds.isUnknown && convertBounds(*this, bounds);
}

/// Drops carried values that the body leaves alone: their initial value is used instead. Returns
/// the loop's inits, and the yields without the dropped ones; `kept` says where each result went.
static void dropUnchanged(mlir::Block &block, llvm::SmallVectorImpl<mlir::Value> &inits,
                          llvm::SmallVectorImpl<mlir::Value> &yields,
                          llvm::SmallVectorImpl<int> &kept) {
  llvm::SmallVector<mlir::Value> newInits, newYields;
  llvm::BitVector dropped(block.getNumArguments());
  for (size_t i = 0; i < inits.size(); ++i) {
    mlir::BlockArgument argument = block.getArgument(unsigned(i) + 1);
    if (yields[i] == argument) {
      argument.replaceAllUsesWith(inits[i]);
      dropped.set(unsigned(i) + 1);
      kept.push_back(-1);
      continue;
    }
    kept.push_back(int(newInits.size()));
    newInits.push_back(inits[i]);
    newYields.push_back(yields[i]);
  }
  // A yield that was another unchanged value reads the initial value now, too.
  for (mlir::Value &yield : newYields)
    if (auto argument = mlir::dyn_cast<mlir::BlockArgument>(yield))
      if (argument.getOwner() == &block && dropped.test(argument.getArgNumber()))
        yield = inits[argument.getArgNumber() - 1];
  block.eraseArguments(dropped);
  inits = std::move(newInits);
  yields = std::move(newYields);
}

Flow Evaluator::executeRunTimeFor(const ast::ForStmt &stmt, LoopBounds &bounds) {
  const auto *target = llvm::dyn_cast<ast::NameExpr>(stmt.target);
  if (!target) {
    error(DiagKind::SemaUnsupportedSyntax, "this target of a loop");
    return Flow::Failed;
  }
  if (!prepareBounds(bounds, stmt.iterable->range))
    return Flow::Failed;
  llvm::StringSet<> assigned, promoted;
  findAssignedNames(stmt.body, assigned);
  assigned.erase(target->name);
  Environment before;
  Carried carried;
  Branch body;
  llvm::SmallVector<mlir::Value> yields;
  size_t known, knownErrors = unwinding().countErrors();
  do {
    known = promoted.size();
    carried = findCarried(assigned, promoted);
    before = frame()->names;
    yields.clear();
    llvm::SmallVector<mlir::Type> arguments{bounds.lowerBound.ir.getType()};
    arguments.append(carried.types);
    body = runBranch([&] { return runForBody(stmt, bounds, carried, yields); }, arguments);
    frame()->names = before;
    if (failed() || !promoteChanged(before, body.names, carried, stmt.body, target->name, promoted))
      return Flow::Failed;
    // After an error, another round would say the same in other words.
  } while (promoted.size() != known && unwinding().countErrors() == knownErrors);

  mlir::Block &block = body.region->front();
  llvm::SmallVector<mlir::Value> inits = carried.inits;
  llvm::SmallVector<int> kept;
  dropUnchanged(block, inits, yields, kept);
  auto op = mlir::scf::ForOp::create(builder(), loc(), bounds.lowerBound.ir, bounds.upperBound.ir,
                                     bounds.stepSize.ir, inits);
  op.getRegion().takeBody(*body.region);
  if (bounds.lowerBound.dtype().isUnsigned())
    op.setUnsignedCmp(true);
  if (bounds.numStages)
    op->setAttr("tile.num_stages", builder().getI32IntegerAttr(int32_t(*bounds.numStages)));
  if (bounds.warpSpecialize)
    op->setAttr(tile::TileDialect::warpSpecializeAttr, builder().getUnitAttr());
  if (bounds.unrollFactor)
    op->setAttr("tile.loop_unroll_factor",
                builder().getI32IntegerAttr(int32_t(*bounds.unrollFactor)));
  {
    mlir::OpBuilder::InsertionGuard guard(builder());
    builder().setInsertionPointToEnd(&block);
    mlir::scf::YieldOp::create(builder(), loc(), yields);
  }
  llvm::SmallVector<mlir::Value> results;
  for (auto [index, place] : llvm::enumerate(kept))
    results.push_back(place < 0 ? carried.inits[index] : op.getResult(unsigned(place)));
  bindResults(carried, before, body.names, results, target->name);
  return execute(stmt.orElse);
}

} // namespace kiln::sema
