// One thread's indices, addresses and registers, written shortly. Constants fold as they are made,
// so that index arithmetic of a register whose coordinates are known leaves nothing behind.
//
// What programs compute (elementary functions, small floats, atomic updates) is written with
// VectorBuilder (compiler/Expansion), here as for CPUs. That one cannot do this one's work, nor
// this one that one's: indices do not overflow and say so (nsw), where a program's integers wrap;
// they meet numbers, where values meet values, which may have to be splat; and a thread's vectors
// are registers side by side, packed for one access, where those of a CPU are the values
// themselves. In one builder each call would have to say which of the two it means.

#ifndef KILN_COMPILER_CONVERSION_TARGETLOWERING_SCALARBUILDER_H
#define KILN_COMPILER_CONVERSION_TARGETLOWERING_SCALARBUILDER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"

namespace kiln {

class ScalarBuilder {
public:
  ScalarBuilder(mlir::OpBuilder &b, mlir::Location loc) : b(b), loc(loc) {}

  mlir::OpBuilder &builder() const { return b; }
  mlir::Location location() const { return loc; }

  mlir::Value i32(int64_t value) const { return integer(b.getI32Type(), value); }
  mlir::Value boolean(bool value) const { return integer(b.getI1Type(), value); }
  mlir::Value integer(mlir::Type type, int64_t value) const;
  mlir::Value real(mlir::Type type, double value) const;
  /// Zero of an integer, float or LLVM pointer type.
  mlir::Value zero(mlir::Type type) const;

  template <typename Op, typename... Args> mlir::Value make(Args &&...args) const {
    return b.createOrFold<Op>(loc, std::forward<Args>(args)...);
  }
  /// Index arithmetic: no signed overflow.
  mlir::Value add(mlir::Value l, mlir::Value r) const;
  mlir::Value mul(mlir::Value l, int64_t r) const;
  mlir::Value bitAnd(mlir::Value l, int64_t r) const;
  mlir::Value bitAnd(mlir::Value l, mlir::Value r) const { return make<mlir::arith::AndIOp>(l, r); }
  mlir::Value bitOr(mlir::Value l, mlir::Value r) const { return make<mlir::arith::OrIOp>(l, r); }
  mlir::Value bitXor(mlir::Value l, mlir::Value r) const { return make<mlir::arith::XOrIOp>(l, r); }
  mlir::Value shiftLeft(mlir::Value l, unsigned r) const;
  mlir::Value shiftRight(mlir::Value l, unsigned r) const;
  /// Two i8 as an i16.
  mlir::Value joinBytes(mlir::Value low, mlir::Value high) const;
  mlir::Value equal(mlir::Value l, int64_t r) const;
  mlir::Value compare(mlir::arith::CmpIPredicate p, mlir::Value l, mlir::Value r) const {
    return make<mlir::arith::CmpIOp>(p, l, r);
  }
  mlir::Value select(mlir::Value c, mlir::Value t, mlir::Value f) const {
    return make<mlir::arith::SelectOp>(c, t, f);
  }
  /// The same bits as another scalar or vector type; pointers to and from i64.
  mlir::Value bitcast(mlir::Value value, mlir::Type type) const;
  /// `base` moved by `bytes` (an integer).
  mlir::Value byteOffset(mlir::Value base, mlir::Value bytes) const;

  /// One element stays a scalar; several become a vector.
  mlir::Value pack(mlir::ValueRange elements) const;
  llvm::SmallVector<mlir::Value> unpack(mlir::Value value) const;

private:
  mlir::OpBuilder &b;
  mlir::Location loc;
};

/// Bits of an integer, float or pointer.
unsigned scalarBits(mlir::Type type);

} // namespace kiln

#endif
