// Vectors of accesses to global memory.
//
// A thread's registers along an axis are neighbours in memory as far as both the layout and the
// pointers' facts say; that many become one access, up to the target's widest.
//
// A bound may end in the midst of such a vector, unless it is known to be a multiple of the
// vector's length. Then the thread asks once whether this happens to any of its vectors, which only
// those at the array's edge can answer with yes, and there goes element by element; otherwise a
// vector's first mask speaks for all of it. Refused: one branch for the program instance whether
// its whole tile is inside. It leaves wide accesses to tiles that are, and so none to an operand
// with few rows.

#include "compiler/Conversion/TileGPUToLLVM/AccessPlan.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SmallVectorExtras.h"

using namespace mlir;

namespace kiln {

AccessPlan planAccess(const Access &access, const Lowering &lowering) {
  auto type = dyn_cast<RankedTensorType>(access.pointers.getType());
  if (!type)
    return {{{0}}};
  const LinearLayout &layout = tilegpu::layoutOf(type);
  SmallVector<unsigned> best;
  unsigned along = 0;
  for (unsigned axis = 0; axis < type.getRank(); ++axis) {
    int64_t limit = access.maxBits / access.elementBits;
    limit = std::min(limit, lowering.facts.accessLength(access.pointers, access.mask, axis));
    SmallVector<unsigned> bits = neighbourBits(layout, layout.out().position(Dim::axis(axis)),
                                               std::min(limit, layout.out().size(Dim::axis(axis))));
    if (bits.size() > best.size()) {
      best = bits;
      along = axis;
    }
  }
  bool mayStraddle =
      access.mask && lowering.facts.maskConstancy(access.mask, along) < int64_t(1) << best.size();
  return {groupRegisters(layout, best, access.equal), mayStraddle};
}

Value straddles(const RegisterGroups &groups, ValueRange mask, const ScalarBuilder &s) {
  Value any;
  for (ArrayRef<unsigned> group : groups) {
    Value here = s.bitAnd(mask[group.front()], s.bitXor(mask[group.back()], s.boolean(true)));
    any = any ? s.bitOr(any, here) : here;
  }
  return any;
}

RegisterGroups elementsOf(const RegisterGroups &groups) {
  RegisterGroups elements;
  for (ArrayRef<unsigned> group : groups)
    for (unsigned reg : group)
      elements.push_back({reg});
  return elements;
}

void makeAccesses(const AccessPlan &plan, ValueRange mask, const ScalarBuilder &s,
                  function_ref<void(ArrayRef<unsigned>, const ScalarBuilder &)> make) {
  auto makeAll = [&](const RegisterGroups &groups, const ScalarBuilder &s) {
    for (ArrayRef<unsigned> group : groups)
      make(group, s);
  };
  if (!plan.mayStraddle)
    return makeAll(plan.groups, s);
  scf::IfOp::create(
      s.builder(), s.location(), straddles(plan.groups, mask, s),
      [&](OpBuilder &b, Location loc) {
        makeAll(elementsOf(plan.groups), ScalarBuilder(b, loc));
        scf::YieldOp::create(b, loc);
      },
      [&](OpBuilder &b, Location loc) {
        makeAll(plan.groups, ScalarBuilder(b, loc));
        scf::YieldOp::create(b, loc);
      });
}

Value ownerOf(Value pointers, const Lowering &lowering, const ScalarBuilder &s) {
  Value thread = lowering.device.threadId(s.builder(), s.location());
  return isa<RankedTensorType>(pointers.getType())
             ? isOwner(s, tilegpu::layoutOf(pointers), thread, lowering.target())
             : s.equal(thread, 0);
}

Value both(Value a, Value b, const ScalarBuilder &s) { return a && b ? s.bitAnd(a, b) : a ? a : b; }

/// Vectors hold integers, floats, and addresses as i64.
static Value asVectorElement(const ScalarBuilder &s, Value value) {
  return isa<LLVM::LLVMPointerType>(value.getType()) ? s.bitcast(value, s.builder().getI64Type())
                                                     : value;
}

Value packVector(const ScalarBuilder &s, ArrayRef<Value> elements) {
  if (elements.size() == 1)
    return elements[0];
  return s.pack(
      llvm::map_to_vector(elements, [&](Value element) { return asVectorElement(s, element); }));
}

Value packGroup(const ScalarBuilder &s, ValueRange registers, ArrayRef<unsigned> group) {
  return packVector(s, llvm::map_to_vector(group, [&](unsigned reg) { return registers[reg]; }));
}

} // namespace kiln
