// Atomics: real ones, since other instances run on other threads. A tensor's elements go one by
// one.

#include "compiler/Conversion/TileToCPU/Emitter.h"
#include "compiler/Expansion/AtomicInstructions/AtomicInstructions.h"

using namespace mlir;

namespace kiln::cpu {

/// What a failed compare-and-exchange orders: as the success, without its release.
static LLVM::AtomicOrdering onFailure(LLVM::AtomicOrdering ordering) {
  bool acquires =
      ordering == LLVM::AtomicOrdering::acquire || ordering == LLVM::AtomicOrdering::acq_rel;
  return acquires ? LLVM::AtomicOrdering::acquire : LLVM::AtomicOrdering::monotonic;
}

static Type integerLike(OpBuilder &builder, Type type) {
  return isa<LLVM::LLVMPointerType>(type) ? builder.getI64Type()
                                          : builder.getIntegerType(type.getIntOrFloatBitWidth());
}

/// f16 and bf16 have no atomic instructions: a loop around a compare-and-exchange of their bits.
Value KernelEmitter::halfAtomicRMW(tile::AtomicRMWOp op, Value pointer, Value value) {
  Type half = value.getType(), i16 = b->getI16Type();
  LLVM::AtomicOrdering ordering = atomicOrderingOf(op.getSemantic());
  Value first = LLVM::LoadOp::create(*b, loc, i16, pointer, 2, false, false, false, false,
                                     LLVM::AtomicOrdering::monotonic);
  auto combine = [&](VectorBuilder &v, Value old) -> Value {
    Type f32 = v.builder.getF32Type();
    Value a = v.extendFloat(v.bitcast(old, half), f32), c = v.extendFloat(value, f32), result;
    if (op.getKind() == tile::AtomicKind::FAdd)
      result = v.add(a, c);
    else if (op.getKind() == tile::AtomicKind::FMax)
      result = arith::MaxNumFOp::create(v.builder, loc, a, c);
    else if (op.getKind() == tile::AtomicKind::FMin)
      result = arith::MinNumFOp::create(v.builder, loc, a, c);
    else
      result = c;
    return v.bitcast(v.truncateFloat(result, half), i16);
  };
  auto loop = scf::WhileOp::create(
      *b, loc, TypeRange{i16}, ValueRange{first},
      [&](OpBuilder &builder, Location where, ValueRange carried) {
        VectorBuilder v(builder, where);
        Value exchanged =
            LLVM::AtomicCmpXchgOp::create(builder, where, pointer, carried[0],
                                          combine(v, carried[0]), ordering, onFailure(ordering));
        Value old = LLVM::ExtractValueOp::create(builder, where, exchanged, 0);
        Value done = LLVM::ExtractValueOp::create(builder, where, exchanged, 1);
        Value again = arith::XOrIOp::create(builder, where, done, v.integer(1, done));
        scf::ConditionOp::create(builder, where, again, old);
      },
      [&](OpBuilder &builder, Location where, ValueRange carried) {
        scf::YieldOp::create(builder, where, carried);
      });
  return vectors().bitcast(loop.getResult(0), half);
}

Value KernelEmitter::atomicRMW(tile::AtomicRMWOp op, Value pointer, Value value) {
  Type type = value.getType();
  if (type.isF16() || type.isBF16())
    return halfAtomicRMW(op, pointer, value);
  auto extreme = bitwiseExtremeOf(op.getKind(), type);
  // Exchanges of floats and pointers go by their bits, too.
  bool byBits = extreme || (op.getKind() == tile::AtomicKind::Exchange && !type.isInteger());
  Value operand = byBits ? vectors().bitcast(value, integerLike(*b, type)) : value;
  auto instruction = [&](LLVM::AtomicBinOp kind) -> Value {
    return LLVM::AtomicRMWOp::create(*b, loc, kind, pointer, operand,
                                     atomicOrderingOf(op.getSemantic()));
  };
  Value old;
  if (extreme) {
    Value negative = vectors().less(operand, vectors().integer(0, operand));
    old = orElse(
        loc, negative, [&] { return instruction(extreme->ofNegative); },
        [&] { return instruction(extreme->ofPositive); });
  } else {
    old = instruction(atomicInstructionOf(op.getKind()));
  }
  return vectors().bitcast(old, type);
}

Value KernelEmitter::atomicCAS(tile::AtomicCASOp op, Value pointer, Value compare, Value value) {
  VectorBuilder v = vectors();
  Type type = value.getType(), bits = integerLike(*b, type);
  LLVM::AtomicOrdering ordering = atomicOrderingOf(op.getSemantic());
  Value exchanged =
      LLVM::AtomicCmpXchgOp::create(*b, loc, pointer, v.bitcast(compare, bits),
                                    v.bitcast(value, bits), ordering, onFailure(ordering));
  return v.bitcast(LLVM::ExtractValueOp::create(*b, loc, exchanged, 0), type);
}

/// One element, under its mask if there is one.
Value KernelEmitter::atomicElement(Operation *op, ArrayRef<Value> operands) {
  auto cas = dyn_cast<tile::AtomicCASOp>(op);
  auto rmw = dyn_cast<tile::AtomicRMWOp>(op);
  auto run = [&] {
    return cas ? atomicCAS(cas, operands[0], operands[1], operands[2])
               : atomicRMW(rmw, operands[0], operands[1]);
  };
  if (!(cas ? cas.getMask() : rmw.getMask()))
    return run();
  return orElse(loc, operands.back(), run, [&]() -> Value {
    Type type = operands[1].getType();
    return isa<LLVM::LLVMPointerType>(type) ? Value(LLVM::ZeroOp::create(*b, loc, type))
                                            : vectors().constant(0, type);
  });
}

void KernelEmitter::emitAtomic(Operation *op) {
  const OperationPlan &planned = plan.of(op);
  if (!isa<RankedTensorType>(op->getResult(0).getType())) {
    SmallVector<Value> operands =
        llvm::map_to_vector(op->getOperands(), [&](Value v) { return scalar(v); });
    setScalar(op->getResult(0), atomicElement(op, operands));
    return;
  }
  const Buffer *buffer = planned.results[0];
  allocate(buffer);
  Coords coords = openNest(planned.nest);
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(elements(operand, coords));
  setLevel(level());
  Value old = atomicElement(op, operands);
  if (buffer)
    storeBuffer(buffer, coords, old);
  endNest();
  bind(op->getResults(), planned.results);
}

} // namespace kiln::cpu
