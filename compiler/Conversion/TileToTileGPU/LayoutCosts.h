// The cost model of layout assignment. The unit is one issue slot of one warp.
//
//   conversion    registers      0
//                 shuffles       2 per 32-bit word and round, 1 per select that a round needs
//                 shared memory  wavefronts and instructions of the store and of the load, and
//                                two barriers of 20, of 2 where the block is one warp, which may
//                                then be in place of shuffles, or two waits of 20 where warps
//                                exchange with themselves; forbidden if the tile exceeds it;
//                                without ldmatrix 1 for each word that a thread has to put
//                                together, and 32 more for pointers, which lose the base that
//                                buffers have
//                 for a dot      the same, of the buffer that it would go through, which may also
//                                be one in place of shuffles (StagedOperand.h); no barriers where
//                                warps' copies bring it: the loop has them for all of these; nor
//                                for the second operand, where both run ahead through registers
//                                in a loop that is not short, and the first goes through shared
//                                memory, too
//   load, store   per instruction 4, and 2 for each 32-byte sector that a warp's access touches, or
//                 4 for each line of 128 bytes but the first, whose tags are looked up one by one,
//                 of stores 2 for each without matrix loads, as a way through shared memory is
//                 waited for; of single elements of tiles of one dimension whose places are
//                 quotients or remainders and can be sampled (SampledIndices.h) the same, but loads
//                 2 for each sector that a warp touches in all of its registers, which stay in the
//                 L1 cache from one to the next, and 4 for each line of an instruction beyond the
//                 five that lanes touch which are 16 bytes apart; 1 in all for an instruction of
//                 which no lane's mask is true; 8 more for each register of a loaded tile beyond
//                 128; 200 more for a load that could run ahead of a loop's dots, but not in pieces
//                 so small (docs/pipelining.md): all wait for it in each iteration; 64 more in
//                 pieces of 8 bytes, which go through the L1 cache. Without such copies 1 more for
//                 each element of less than a word that is loaded by itself for a dot, as it has to
//                 be put together with others. Of a store, without matrix loads, each warp's share
//                 of what several hold
//   atomic        16 per register; of additions without result, per instruction 8 (a loop of
//                 compare-and-swap for 16 bits alone: 64), and 2 for each sector; 8 more for each
//                 instruction of the block's warps that lanes with duplicates make necessary
//   arithmetic    1 per register of the result; 4 for math functions, and to round f32 to bf16
//                 without an instruction for it
//   dot           what the unit takes, where it has instructions of several speeds (CDNA 4)
//   reduction     1 per register, 2 per shuffle of each word that remains and lane bit along the
//   and scan      axis, and if warps share the axis an exchange through shared memory, forbidden if
//                 the partial results exceed it
//   loop-carried  0.1 per register: of equals, what takes fewer registers
//
// All of it times 8 per surrounding loop, of CDNA 3's loops of products times 32. Redundant layouts
// cost more by themselves: duplicates mean more registers per thread. The figures are ratios for
// ordinary GPUs, not measurements of one.

#ifndef KILN_COMPILER_CONVERSION_TILETOTILEGPU_LAYOUTCOSTS_H
#define KILN_COMPILER_CONVERSION_TILETOTILEGPU_LAYOUTCOSTS_H

#include "compiler/Analysis/AccessVector.h"
#include "compiler/Analysis/ExpectedStrides.h"
#include "compiler/Analysis/SampledIndices.h"
#include "compiler/Conversion/TileToTileGPU/LayoutGraph.h"

namespace kiln {

class LayoutCosts {
public:
  LayoutCosts(const TargetInfo &target, const AxisInfoAnalysis &facts)
      : target(target), facts(facts), expected(facts), samples(facts) {}

  /// Whether threads' copies to shared memory run ahead, which the model weighs coarsely.
  bool hasAsyncCopies() const { return target.asyncCopies; }
  /// What the node itself costs with this choice.
  double node(const LayoutNode &node, const LayoutChoice &choice);
  /// Who takes a converted value. BesideProducts: what is no dot, in a kernel that has some.
  /// DotOfLoad: a dot, of what may run ahead. DotAtBarriers: a dot, where barriers stand in any
  /// case, as copies may bring the value (`isCopied`) or as the dot's other operand has them.
  enum class Taker : uint8_t {
    Any,
    BesideProducts,
    Dot,
    DotOfLoad,
    DotAtBarriers,
    UnitAsA,
    UnitAsB
  };
  /// Whether the value is a load that could run ahead of a loop's dots.
  bool mayRunAhead(mlir::Value value);
  /// Whether a warp multiplies so little that two iterations are done as one where that takes
  /// little shared memory (PairIterations): an operand of a warp's own rows then stays out of it.
  bool isShort(tile::DotOp dot) const;
  /// Whether a warp's copies (TargetInfo::warpCopies) may bring the value ahead of a loop's dots.
  bool isCopied(mlir::Value value);
  /// What it costs to have a value of this element type, in `from`, in `to`.
  double conversion(tilegpu::LayoutAttr from, tilegpu::LayoutAttr to, mlir::Type element,
                    Taker taker);
  /// The factor of what happens in this block.
  double weight(mlir::Block *block);

private:
  /// What an instruction can access, and costs beside what it touches.
  struct AccessKind {
    unsigned maxBits;
    double vector, single; ///< of several elements, of one
    bool isCached = false; ///< what one register's access touches is there for the next one's
  };
  std::optional<unsigned> closestAxis(mlir::Value pointers);
  double instructions(mlir::Operation *op, const LinearLayout &layout, AccessVector access) const;
  int64_t sectorsOfLines(int64_t lines, bool isStore) const;
  double access(mlir::Operation *op, mlir::Value pointers, mlir::Value mask,
                const LinearLayout &layout, AccessKind kind);
  bool isTakenApart(mlir::Value value);
  /// Where a sampled element is accessed, or that its mask is false.
  struct SampledAccess {
    int64_t address;
    bool isMade;
  };
  std::optional<SampledAccess> sample(mlir::Value pointers, mlir::Value mask,
                                      const LinearLayout &layout, uint64_t element);
  std::optional<double> sampledAccess(mlir::Value pointers, mlir::Value mask,
                                      const LinearLayout &layout, AccessKind kind);
  double load(tile::LoadOp op, const LinearLayout &layout);
  double sharersOf(const LinearLayout &layout) const;
  double product(tile::DotOp op, const LayoutChoice &choice) const;
  double atomic(tile::AtomicRMWOp op, const LinearLayout &layout);
  double combination(mlir::Operation *op, unsigned axis, const LinearLayout &layout);
  double plannedConversion(const LinearLayout &from, const LinearLayout &to, unsigned bits,
                           Taker taker);

  const TargetInfo &target;
  const AxisInfoAnalysis &facts;
  ExpectedStrides expected;
  SampledIndices samples;
  llvm::DenseMap<mlir::Value, bool> takenApart;
  /// Of pointers under a mask, by the flat index of the element.
  llvm::DenseMap<std::pair<mlir::Value, mlir::Value>,
                 llvm::DenseMap<uint64_t, std::optional<SampledAccess>>>
      sampled;
  llvm::DenseMap<mlir::Operation *, bool> runsAhead;
  llvm::DenseMap<mlir::Block *, double> weights;
  llvm::DenseMap<std::tuple<mlir::Attribute, mlir::Attribute, unsigned, unsigned>, double>
      conversions;
};

} // namespace kiln

#endif
