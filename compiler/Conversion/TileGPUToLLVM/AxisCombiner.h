// Combining elements along an axis: what reductions and scans share.

#ifndef KILN_COMPILER_CONVERSION_TILEGPUTOLLVM_AXISCOMBINER_H
#define KILN_COMPILER_CONVERSION_TILEGPUTOLLVM_AXISCOMBINER_H

#include "compiler/Conversion/TileGPUToLLVM/SharedTransfer.h"
#include "compiler/Layout/AxisSteps.h"

namespace kiln {

/// One element of each operand.
using Elements = llvm::SmallVector<mlir::Value, 1>;

/// Elements per register, walked step by step along an axis.
class AxisCombiner {
public:
  /// `combine` is the region of a tile.reduce or tile.scan. `reverse` counts coordinates from the
  /// other end. Without `inOrder` operands of a combination may change places.
  AxisCombiner(const ScalarBuilder &s, const Lowering &lowering, const LinearLayout &layout,
               unsigned axis, mlir::Region &combine, bool inOrder, bool reverse = false);

  /// The region's result for two operands, the first of them earlier along the axis.
  Elements combine(const Elements &earlier, const Elements &later) const;

  /// A place's coordinate bit: known, or (`runtime` not null) that value.
  struct Flag {
    bool constant = false;
    mlir::Value runtime;
  };
  Flag coordinateBit(unsigned reg, unsigned bit);
  /// Coordinate bits of a register, packed (i32): their value, which bits differ between threads,
  /// and the others'.
  struct Bits {
    mlir::Value value;
    uint64_t varying, constant;
    bool mayBe(uint64_t number) const { return ((number ^ constant) & ~varying) == 0; }
  };
  Bits coordinateBits(unsigned reg, llvm::ArrayRef<unsigned> bits);

  /// Both elements combined in the order that `later` says for the first.
  Elements combineByFlag(const Elements &mine, const Elements &other, const Flag &later) const;
  Elements selectByFlag(const Flag &flag, const Elements &ifSet, const Elements &ifClear) const;

  /// The neighbours' elements for a step within the warp, for every register.
  llvm::SmallVector<Elements> neighbours(const AxisStep &step,
                                         llvm::ArrayRef<Elements> values) const;
  /// What `move` gives of them, for every register.
  llvm::SmallVector<Elements> moved(llvm::ArrayRef<Elements> values,
                                    llvm::function_ref<mlir::Value(mlir::Value)> move) const;
  /// All steps of a reduction that stay within a thread, where the order does not matter: each
  /// register gets the total of those that `steps` reach from it. Few running totals take the
  /// elements one after the other, so that a sum of products is one instruction an element, and no
  /// more registers are live than that.
  void accumulate(llvm::ArrayRef<AxisStep> steps, llvm::MutableArrayRef<Elements> totals) const;
  /// Steps between lanes of which each is one bit of the lane's number and of nothing else: then
  /// the neighbour of a lane with a clear bit is the later one.
  bool areLaneBits(llvm::ArrayRef<AxisStep> steps) const;
  /// Such steps in order, without a choice at each which operand is the earlier one: right in the
  /// lane with clear bits, which gives its totals to the others in the end.
  void gather(llvm::ArrayRef<AxisStep> steps, llvm::MutableArrayRef<Elements> totals) const;
  /// Steps between lanes, where the order does not matter: of totals that lanes share already any
  /// of these will do for a neighbour, and the warp's may come from its last lane.
  void walkLanes(llvm::ArrayRef<AxisStep> steps, llvm::MutableArrayRef<Elements> totals);
  /// One step of a reduction on totals; `others` are their neighbours.
  void walk(const AxisStep &step, llvm::ArrayRef<Elements> others,
            llvm::MutableArrayRef<Elements> totals);

  /// Writes the totals to scratch, one array per operand, and waits for everyone's.
  llvm::SmallVector<SharedArray> publish(const AxisSteps &steps, mlir::Value scratch,
                                         llvm::ArrayRef<Elements> totals) const;
  /// Partial total number `partial` (i32) from there.
  Elements fetch(llvm::ArrayRef<SharedArray> arrays, mlir::Value partial) const;

  llvm::ArrayRef<unsigned> firstRegisters() const { return first; }
  bool isReversed() const { return reverse; }

private:
  /// Each total by `next`; of registers that share one, once.
  void replaceEach(llvm::MutableArrayRef<Elements> totals,
                   llvm::function_ref<Elements(const Elements &)> next) const;
  /// A step of a reduction between lanes that swap words.
  void walkSwapped(unsigned lanes, llvm::MutableArrayRef<Elements> totals) const;

  const ScalarBuilder &s;
  const Lowering &lowering;
  const LinearLayout &layout;
  unsigned axis;
  mlir::Region &region;
  bool inOrder, reverse;
  llvm::SmallVector<unsigned> first;
  mlir::Value thread;
};

/// Registers of several operands, regrouped by register.
llvm::SmallVector<Elements> byRegister(llvm::ArrayRef<mlir::ValueRange> operands);

} // namespace kiln

#endif
