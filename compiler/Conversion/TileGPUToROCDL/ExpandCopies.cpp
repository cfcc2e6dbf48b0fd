// Expansion of target operations: copies from global to shared memory, as text.
//
// LLVM has an intrinsic, llvm.amdgcn.global.load.lds. But LLVM 22 counts the instruction among
// those that lgkmcnt is for (llvm-project, pull request 179305), which the hardware does not:
// behind a read of shared memory that was issued before a copy it waits for too few. Its form for
// buffers is counted right. But between a copy and a read of any buffer LLVM waits for all copies,
// unless both say that they never meet. Text it knows nothing of: each copy comes, in its order, on
// top of what LLVM counts in vmcnt, so that its own waits are for as much as they need or more, and
// those for copies are the program's (rocdl.s.waitcnt).
//
// Lanes whose predicate is false copy zeros that the module has. Masked off they would write
// nothing.

#include "compiler/Conversion/TileGPUToROCDL/ROCDLLowering.h"
#include "compiler/Target/BufferCopies.h"

using namespace mlir;

namespace kiln {

int32_t waitForLoads(unsigned pending) {
  // GFX9's s_waitcnt: vmcnt in bits 0 to 3, 14 and 15, expcnt in 4 to 6, lgkmcnt in 8 to 11.
  constexpr unsigned most = 63, others = 7 << 4 | 15 << 8;
  unsigned count = std::min(pending, most);
  return int32_t((count & 15) | (count >> 4) << 14 | others);
}

/// Text of a copy to shared memory, which ends with the operands' last: the address.
static void writeCopy(Operation *op, Value to, SmallVector<Value> operands, StringRef text,
                      StringRef constraints, OpBuilder &b) {
  Location loc = op->getLoc();
  operands.push_back(LLVM::PtrToIntOp::create(b, loc, b.getI32Type(), to));
  LLVM::InlineAsmOp::create(b, loc, TypeRange(), operands, text, constraints,
                            /*has_side_effects=*/true, /*is_align_stack=*/false,
                            LLVM::TailCallKind::None, LLVM::AsmDialectAttr(), ArrayAttr());
  op->erase();
}

LogicalResult expandWarpCopy(tilegpu::WarpCopyOp op, OpBuilder &b) {
  Value from =
      LLVM::SelectOp::create(b, op.getLoc(), op.getPredicate(), op.getFrom(), zerosOfModule(op, b));
  // One wait state between the write of m0 and its use (CDNA 4 ISA, "Manually Inserted Wait
  // States").
  writeCopy(op, op.getTo(), {from}, "s_mov_b32 m0, $1\ns_nop 0\nglobal_load_lds_dwordx4 $0, off",
            "v,s,~{m0},~{memory}", b);
  return success();
}

LogicalResult expandWarpCopy(tilegpu::WarpBufferCopyOp op, OpBuilder &b) {
  Location loc = op.getLoc();
  Type wide = b.getI64Type(), all = b.getIntegerType(128);
  Value descriptor = LLVM::PtrToIntOp::create(b, loc, all, op.getFrom());
  Value shift = LLVM::ConstantOp::create(b, loc, all, b.getIntegerAttr(all, 64));
  // LLVM puts what it computes in lanes there in front of its own accesses, not of text.
  auto ofWave = [&](Value half) -> Value {
    return ROCDL::ReadfirstlaneOp::create(b, loc, wide, LLVM::TruncOp::create(b, loc, wide, half));
  };
  Value low = ofWave(descriptor), high = ofWave(LLVM::LShrOp::create(b, loc, descriptor, shift));
  writeCopy(op, op.getTo(), {op.getOffset(), low, high}, bufferCopyText({}),
            bufferCopyConstraints({}), b);
  return success();
}

} // namespace kiln
