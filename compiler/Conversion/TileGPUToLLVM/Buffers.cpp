// Accesses to buffers: a base and a number of bytes that a wave has once, and for each vector of a
// thread an offset of 32 bits.
//
// The offset is what the thread adds, computed once, and a constant of the register, which goes
// into the instruction. A lane whose mask is false is sent out of range by its own part: the
// constant on top of that is still out of range. Where offsets come as a tensor, nothing is added
// to a lane that is out of range: it lies so that no word of the access wraps.

#include "compiler/Conversion/TargetLowering/FirstElements.h"
#include "compiler/Conversion/TileGPUToLLVM/AccessPlan.h"
#include "compiler/Conversion/TileGPUToLLVM/AtomicOrder.h"
#include "compiler/Conversion/TileGPUToLLVM/SharedTransfer.h"
#include "compiler/Dialect/TileGPU/Transforms/OwnerLoads.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SmallVectorExtras.h"

using namespace mlir;

namespace kiln {
namespace {

/// Beyond any buffer, and so with any offset in one added.
constexpr int64_t outOfRange = std::numeric_limits<int32_t>::min();
/// Beyond all that offsets of a tensor reach, and the end of the access below 2^32.
constexpr int64_t outOfOffsets = -16;

/// Where a thread's elements are in a buffer: bytes of its own, and constants by register.
class BufferOffsets {
public:
  BufferOffsets(const ScalarBuilder &s, const LinearLayout &layout, ValueRange given, Value start,
                ArrayRef<int64_t> strides, Value thread, const TargetInfo &target)
      : s(s), given(given), constants(layout.numRegisters()), whole(layout.numRegisters()) {
    own = start ? start : s.i32(0);
    for (auto [axis, stride] : llvm::enumerate(strides))
      if (stride)
        addAxis(layout, axis, stride, thread, target);
  }

  Value of(unsigned reg, Value mask) const {
    if (!given.empty())
      return mask ? s.select(mask, given[reg], s.i32(outOfOffsets)) : given[reg];
    Value part = whole[reg] ? s.add(own, whole[reg]) : own;
    if (mask)
      part = s.select(mask, part, s.i32(outOfRange));
    return constants[reg] ? s.add(part, s.i32(constants[reg])) : part;
  }

  /// Whether no lane's element is in so many bytes.
  bool isBeyond(unsigned reg, int64_t bytes) const {
    return given.empty() && !whole[reg] && constants[reg] >= bytes;
  }

private:
  void addAxis(const LinearLayout &layout, unsigned axis, int64_t stride, Value thread,
               const TargetInfo &target) {
    auto along = [&](ArrayRef<BinaryVector> columns) {
      return llvm::map_to_vector(columns, [&](BinaryVector column) -> BinaryVector {
        return layout.out().coordinate(column, Dim::axis(axis));
      });
    };
    BinaryColumns registers(along(layout.columns(Dim::Register))),
        threads(along(threadColumns(layout, target)));
    BinaryVector ofThreads = 0, ofRegisters = 0;
    for (BinaryVector column : threads)
      ofThreads |= column;
    for (BinaryVector column : registers)
      ofRegisters |= column;
    if (!(ofThreads & ofRegisters)) {
      own = s.add(own, s.mul(applyColumns(s, threads, thread), stride));
      for (auto [reg, constant] : llvm::enumerate(constants))
        constant += stride * int64_t(multiply(registers, reg));
      return;
    }
    // The sum is none of two parts.
    SmallVector<Value> places = coordinatesAlong(s, layout, axis, thread, target);
    for (auto [place, sum] : llvm::zip_equal(places, whole)) {
      Value bytes = s.mul(place, stride);
      sum = sum ? s.add(sum, bytes) : bytes;
    }
  }

  const ScalarBuilder &s;
  ValueRange given; ///< by register, in place of strides; or empty
  Value own;
  SmallVector<int64_t> constants;
  SmallVector<Value> whole; ///< null: none
};

/// The accesses of a thread, in order.
template <typename OpT, typename Adaptor> class BufferAccesses {
public:
  /// What differs in `equal` bits of a place in the tile alone is accessed once.
  BufferAccesses(OpT op, Adaptor adaptor, RankedTensorType tile, const Lowering &lowering,
                 const ScalarBuilder &s, BinaryVector equal = 0)
      : layout(tilegpu::layoutOf(tile)), mask(op.getMask() ? adaptor.getMask() : ValueRange()),
        offsets(s, layout, op.getOffset() ? adaptor.getOffset() : ValueRange(),
                op.getStart() ? adaptor.getStart()[0] : Value(), op.getStrides(),
                lowering.device.threadId(s.builder(), s.location()), lowering.target()),
        buffer(lowering.device.makeBuffer(s.builder(), s.location(), adaptor.getBase()[0],
                                          adaptor.getBytes()[0])) {
    Dim axis = Dim::axis(op.getAxis());
    groups = groupRegisters(
        layout, neighbourBits(layout, layout.out().position(axis), op.getVector()), equal);
    if (APInt bytes; matchPattern(op.getBytes(), m_ConstantInt(&bytes)))
      end = bytes;
  }

  Value offset(unsigned first, Value owner, const ScalarBuilder &s) const {
    return offsets.of(first, both(owner, mask.empty() ? Value() : mask[first], s));
  }

  /// Of each element, where there is a mask.
  SmallVector<Value> masksOf(ArrayRef<unsigned> group) const {
    return llvm::map_to_vector(group, [&](unsigned reg) -> Value { return mask[reg]; });
  }

  /// Whether the buffer is known to end in front of them: of a row that is shorter than its tile.
  bool areBeyond(ArrayRef<unsigned> group) const {
    return end && offsets.isBeyond(group[0], end->getSExtValue());
  }

  const LinearLayout &layout;
  ValueRange mask;
  std::optional<APInt> end;
  BufferOffsets offsets;
  Value buffer;
  RegisterGroups groups;
};

struct BufferLoadDistribution : DistributionPattern<tilegpu::BufferLoadOp> {
  using DistributionPattern::DistributionPattern;
  LogicalResult distribute(tilegpu::BufferLoadOp op, Adaptor adaptor, const ScalarBuilder &s,
                           ConversionPatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getType());
    Type element = lowering.elementType(type);
    Value owner = isLoadedByOwner(op) ? ownerOf(op.getResult(), lowering, s) : Value();
    BinaryVector equal = lowering.equalNeighbours(op.getResult());
    BufferAccesses<tilegpu::BufferLoadOp, Adaptor> accesses(op, adaptor, type, lowering, s, equal);
    bool mayStraddle = op.getMask() && lowering.facts.maskConstancy(op.getMask(), op.getAxis()) <
                                           int64_t(op.getVector());
    SmallVector<Value> results(accesses.layout.numRegisters());
    for (ArrayRef<unsigned> group : accesses.groups) {
      Type whole = group.size() == 1 ? element : Type(VectorType::get(group.size(), element));
      Value zero = LLVM::ZeroOp::create(rewriter, op.getLoc(), whole);
      Value loaded = accesses.areBeyond(group)
                         ? zero
                         : lowering.device.loadBuffer(rewriter, op.getLoc(), whole, accesses.buffer,
                                                      accesses.offset(group[0], owner, s),
                                                      op.getCache(), op.getEvict());
      if (mayStraddle && group.size() > 1)
        loaded = chooseFirst(s, loaded, accesses.masksOf(group), zero);
      for (auto [reg, value] : llvm::zip_equal(group, s.unpack(loaded)))
        results[reg] = value;
    }
    for (auto [reg, first] : llvm::enumerate(firstDuplicates(accesses.layout, equal)))
      results[reg] = results[first];
    replace(op, rewriter, results);
    return success();
  }
};

struct BufferStoreDistribution : DistributionPattern<tilegpu::BufferStoreOp> {
  using DistributionPattern::DistributionPattern;
  LogicalResult distribute(tilegpu::BufferStoreOp op, Adaptor adaptor, const ScalarBuilder &s,
                           ConversionPatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getValue().getType());
    Value owner = ownerOf(op.getValue(), lowering, s);
    BufferAccesses<tilegpu::BufferStoreOp, Adaptor> accesses(op, adaptor, type, lowering, s);
    for (ArrayRef<unsigned> group : accesses.groups)
      if (!accesses.areBeyond(group))
        lowering.device.storeBuffer(rewriter, op.getLoc(), packGroup(s, adaptor.getValue(), group),
                                    accesses.buffer, accesses.offset(group[0], owner, s),
                                    op.getCache(), op.getEvict());
    rewriter.eraseOp(op);
    return success();
  }
};

struct BufferReduceDistribution : DistributionPattern<tilegpu::BufferReduceOp> {
  using DistributionPattern::DistributionPattern;
  LogicalResult distribute(tilegpu::BufferReduceOp op, Adaptor adaptor, const ScalarBuilder &s,
                           ConversionPatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getValue().getType());
    AtomicOrder order(op, op.getSemantic(), op.getScope());
    order.releaseBlock(s, lowering);
    BufferAccesses<tilegpu::BufferReduceOp, Adaptor> accesses(op, adaptor, type, lowering, s);
    SmallVector<Value> results;
    if (op.getResult())
      results = order.betweenFences(s, lowering,
                                    [&] { return reduce(op, adaptor, accesses, s, Value()); });
    else
      order.performByOwners(
          s, lowering, ownerOf(op.getValue(), lowering, s),
          [&](const ScalarBuilder &s, Value owner) { reduce(op, adaptor, accesses, s, owner); });
    order.acquireBlock(s, lowering);
    if (op.getResult())
      replace(op, rewriter, results);
    else
      rewriter.eraseOp(op);
    return success();
  }

private:
  /// What was there, by register.
  SmallVector<Value> reduce(tilegpu::BufferReduceOp op, Adaptor adaptor,
                            const BufferAccesses<tilegpu::BufferReduceOp, Adaptor> &accesses,
                            const ScalarBuilder &s, Value owner) const {
    SmallVector<Value> results(accesses.layout.numRegisters());
    for (ArrayRef<unsigned> group : accesses.groups) {
      Value value = packGroup(s, adaptor.getValue(), group);
      Value old = accesses.areBeyond(group)
                      ? LLVM::ZeroOp::create(s.builder(), op.getLoc(), value.getType()).getResult()
                      : lowering.device.reduceBuffer(
                            s.builder(), op.getLoc(), op.getKind(), value, accesses.buffer,
                            accesses.offset(group[0], owner, s), op.getScope());
      for (auto [reg, part] : llvm::zip_equal(group, s.unpack(old)))
        results[reg] = part;
    }
    for (auto [reg, first] : llvm::enumerate(firstDuplicates(accesses.layout)))
      results[reg] = results[first];
    return results;
  }
};

struct BufferCopyDistribution : DistributionPattern<tilegpu::BufferCopyOp> {
  using DistributionPattern::DistributionPattern;
  LogicalResult distribute(tilegpu::BufferCopyOp op, Adaptor adaptor, const ScalarBuilder &s,
                           ConversionPatternRewriter &rewriter) const override {
    tilegpu::BufferType to = op.getTo().getType();
    BufferAccesses<tilegpu::BufferCopyOp, Adaptor> accesses(op, adaptor, op.getTileType(), lowering,
                                                            s);
    auto copies = planWarpCopies(op, lowering, accesses.layout, to, op.getVector());
    if (failed(copies))
      return failure();
    SharedArray array = arrayOf(lowering, to, adaptor.getTo()[0]);
    copyByWarps(s, lowering, array, *copies, [&](unsigned first, Value place) {
      lowering.device.copyBufferByWarp(rewriter, op.getLoc(), place, accesses.buffer,
                                       accesses.offset(first, /*owner=*/Value(), s));
    });
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void populateBufferPatterns(RewritePatternSet &patterns, const Lowering &lowering) {
  patterns.add<BufferLoadDistribution, BufferStoreDistribution, BufferReduceDistribution,
               BufferCopyDistribution>(lowering, patterns.getContext());
}

} // namespace kiln
