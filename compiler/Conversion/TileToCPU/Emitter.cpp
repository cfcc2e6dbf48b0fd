// The walk over the kernel in program order: scalars as they come, sinks as nests, lazy tensors not
// at all.

#include "compiler/Conversion/TileToCPU/Emitter.h"
#include "compiler/Analysis/AxisInfo.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace kiln::cpu {

KernelEmitter::KernelEmitter(ModuleOp module, func::FuncOp kernel, const SinkPlan &plan,
                             IndexFacts &facts, const CPUOptions &options)
    : module(module), kernel(kernel), plan(plan), facts(facts), options(options),
      axes(std::make_unique<AxisInfoAnalysis>(kernel)), loc(kernel.getLoc()) {}

KernelEmitter::~KernelEmitter() = default;

void KernelEmitter::emitBody(OpBuilder &builder, ValueRange abiArguments) {
  b = &builder;
  entry = builder.getInsertionBlock();
  arena.start(entry, abiArguments[3]);
  bindArguments(abiArguments);
  emitBlock(kernel.getBody().front());
  auto function = cast<func::FuncOp>(entry->getParentOp());
  int64_t bytes = arena.place(function);
  function->setAttr(cpuArenaBytesAttr, builder.getI64IntegerAttr(bytes));
}

/// params[i] points to argument i; a boolean is a byte.
void KernelEmitter::bindArguments(ValueRange abiArguments) {
  programIds = abiArguments[1];
  programCounts = abiArguments[2];
  Type pointer = LLVM::LLVMPointerType::get(b->getContext());
  for (BlockArgument argument : kernel.getArguments()) {
    loc = argument.getLoc();
    SmallVector<LLVM::GEPArg> number{int32_t(argument.getArgNumber())};
    Value slot = LLVM::GEPOp::create(*b, loc, pointer, pointer, abiArguments[0], number);
    Value address = LLVM::LoadOp::create(*b, loc, pointer, slot);
    Type type = lowered(argument.getType());
    Value value = LLVM::LoadOp::create(*b, loc, type.isInteger(1) ? b->getI8Type() : type, address);
    VectorBuilder v = vectors();
    if (type.isInteger(1))
      value = v.compare(arith::CmpIPredicate::ne, value, v.integer(0, value));
    setScalar(argument, value);
  }
}

Value KernelEmitter::scalar(Value value) {
  Value emitted = scalars.lookup(value);
  assert(emitted && "a scalar is used before it is emitted");
  return emitted;
}

void KernelEmitter::emitBlock(Block &block) {
  for (Operation &op : block.without_terminator())
    emitOperation(&op);
}

void KernelEmitter::emitOperation(Operation *op) {
  loc = op->getLoc();
  if (isLazy(op)) {
    for (Value result : op->getResults())
      if (plan.isMaterialised(result))
        pending.insert(result);
    return;
  }
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](tile::StoreOp store) { emitStore(store); })
      .Case([&](tile::ReduceOp reduce) { emitReduce(reduce); })
      .Case([&](tile::ScanOp scan) { emitScan(scan); })
      .Case([&](tile::HistogramOp histogram) { emitHistogram(histogram); })
      .Case([&](tile::DotOp dot) { emitDot(dot); })
      .Case<tile::AtomicRMWOp, tile::AtomicCASOp>([&](Operation *atomic) { emitAtomic(atomic); })
      .Case([&](scf::IfOp branch) { emitIf(branch); })
      .Case([&](scf::ForOp loop) { emitFor(loop); })
      .Case([&](scf::WhileOp loop) { emitWhile(loop); })
      .Case([&](tile::BarrierOp) { flushPending(); }) // One program instance runs on one thread.
      .Case([&](tile::FenceOp fence) {
        flushPending();
        LLVM::FenceOp::create(*b, loc,
                              fence.getSequential() ? LLVM::AtomicOrdering::seq_cst
                                                    : LLVM::AtomicOrdering::acq_rel);
      })
      .Case([&](tile::AssumeOp) {})
      .Case([&](tile::PrintOp print) { emitPrint(print); })
      .Case([&](tile::AssertOp check) { emitAssert(check); })
      .Default([&](Operation *other) { emitScalarOperation(other); });
}

Value KernelEmitter::gridValue(Value array, uint32_t axis) {
  SmallVector<LLVM::GEPArg> number{int32_t(axis)};
  Value address = LLVM::GEPOp::create(*b, loc, array.getType(), b->getI32Type(), array, number);
  return LLVM::LoadOp::create(*b, loc, b->getI32Type(), address);
}

void KernelEmitter::emitScalarOperation(Operation *op) {
  if (auto id = dyn_cast<tile::ProgramIdOp>(op))
    return setScalar(id, gridValue(programIds, id.getAxis()));
  if (auto count = dyn_cast<tile::NumProgramsOp>(op))
    return setScalar(count, gridValue(programCounts, count.getAxis()));
  if (auto read = dyn_cast<tile::ReadRegisterOp>(op)) {
    bool isClock = read.getReg() == tile::DeviceRegister::Nanoseconds;
    return setScalar(read, call(isClock ? "kiln_device_nanoseconds" : "kiln_device_processor", {},
                                read.getType()));
  }
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return setScalar(constant, emitConstant(constant.getValue()));
  if (isa<ub::PoisonOp>(op))
    return setScalar(op->getResult(0),
                     LLVM::PoisonOp::create(*b, loc, lowered(op->getResult(0).getType())));
  if (auto load = dyn_cast<tile::LoadOp>(op)) {
    if (isVolatile(load))
      flushPending();
    Value mask = load.getMask() ? scalar(load.getMask()) : Value();
    Value other = load.getOther() ? scalar(load.getOther()) : Value();
    return setScalar(load, loadScalar(loc, lowered(load.getType()), scalar(load.getPtr()), mask,
                                      other, isVolatile(load)));
  }
  SmallVector<Value> operands =
      llvm::map_to_vector(op->getOperands(), [&](Value v) { return scalar(v); });
  for (auto [result, value] : llvm::zip(op->getResults(), emitElementwise(op, operands)))
    setScalar(result, value);
}

//--- Arrays that a nest needs first, or fills on its way ---

void KernelEmitter::visitPulled(Value value, bool direct, function_ref<bool(Value, bool)> visit) {
  SmallVector<std::pair<Value, bool>> worklist{{value, direct}};
  DenseSet<std::pair<Value, char>> seen;
  while (!worklist.empty()) {
    auto [next, isDirect] = worklist.pop_back_val();
    if (!isa<RankedTensorType>(next.getType()) || !seen.insert({next, isDirect}).second)
      continue;
    Operation *op = next.getDefiningOp();
    if (!visit(next, isDirect) || buffers.contains(next) || !op || !isLazy(op))
      continue;
    for (Value operand : op->getOperands())
      worklist.push_back({operand, isDirect && keepsIndices(op)});
  }
}

void KernelEmitter::prepare(ArrayRef<Value> roots) {
  DenseSet<Value> atIndex, elsewhere;
  for (Value root : roots)
    visitPulled(root, true, [&](Value value, bool direct) {
      if (pending.contains(value))
        (direct ? atIndex : elsewhere).insert(value);
      return direct || !pending.contains(value);
    });
  SmallVector<Value> order(pending.getArrayRef());
  for (Value value : order)
    if (elsewhere.contains(value) && pending.contains(value))
      fill(value);
  for (Value value : order)
    if (atIndex.contains(value) && pending.contains(value))
      filling.insert(value);
}

void KernelEmitter::finishFills() {
  for (Value value : filling)
    if (Buffer *buffer = fillBuffers.lookup(value)) {
      buffers[value] = buffer;
      pending.remove(value);
    }
  filling.clear();
  fillBuffers.clear();
}

void KernelEmitter::flushPending() {
  while (!pending.empty())
    fill(pending.front());
}

} // namespace kiln::cpu
