// The walk over the kernel in program order: scalars as they come, roots as nests, producers not at
// all.

#include "compiler/Conversion/TileToCPU/Emitter.h"
#include "compiler/Conversion/TileToCPU/Fusion.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace kiln::cpu {

KernelEmitter::KernelEmitter(ModuleOp module, const LoopPlan &plan)
    : module(module), plan(plan), kernel(plan.kernel), facts(*plan.facts), options(plan.options),
      loc(kernel.getLoc()) {}

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
  if (isProducer(op))
    return;
  emitFills(plan.of(op).before);
  loc = op->getLoc();
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
      .Case([&](tile::BarrierOp) {}) // One program instance runs on one thread.
      .Case([&](tile::FenceOp fence) {
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

} // namespace kiln::cpu
