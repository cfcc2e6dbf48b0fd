// Blocks that the copy engine brings, and the mbarriers by which it says so.
//
// A block goes in boxes: as many rows of 128 bytes (or shorter ones) as the engine takes at once.
// Where a box belongs in the buffer is read off the buffer's layout.

#include "compiler/Conversion/TileGPUToLLVM/Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;

namespace kiln {

Under::Under(OpBuilder &b, Location loc, Value condition) : guard(b) {
  if (!condition)
    return;
  auto branch = scf::IfOp::create(b, loc, condition, /*withElseRegion=*/false);
  b.setInsertionPointToStart(branch.thenBlock());
}

Value isFirstThread(const ScalarBuilder &s, const TargetLowering &device) {
  return s.equal(device.threadId(s.builder(), s.location()), 0);
}

namespace {

/// Null stands for true.
Value both(const ScalarBuilder &s, Value a, Value b) { return a && b ? s.bitAnd(a, b) : a ? a : b; }

/// An mbarrier of a ring.
Value mbarrierAt(const ScalarBuilder &s, tilegpu::BufferType ring, Value address, unsigned slot) {
  return s.byteOffset(address, s.i32(int64_t(slot) * ring.getSlotBytes()));
}

struct MBarrierInitDistribution : DistributionPattern<tilegpu::MBarrierInitOp> {
  using DistributionPattern::DistributionPattern;
  LogicalResult distribute(tilegpu::MBarrierInitOp op, Adaptor adaptor, const ScalarBuilder &s,
                           ConversionPatternRewriter &rewriter) const override {
    tilegpu::BufferType ring = op.getMbarriers().getType();
    {
      Under first(rewriter, op.getLoc(), isFirstThread(s, lowering.device));
      for (unsigned slot = 0; slot < ring.getSlots(); ++slot)
        lowering.device.initMBarrier(rewriter, op.getLoc(),
                                     mbarrierAt(s, ring, adaptor.getMbarriers()[0], slot),
                                     op.getArrivals());
      lowering.device.fenceMBarriers(rewriter, op.getLoc());
    }
    rewriter.eraseOp(op);
    return success();
  }
};

struct MBarrierInvalDistribution : DistributionPattern<tilegpu::MBarrierInvalOp> {
  using DistributionPattern::DistributionPattern;
  LogicalResult distribute(tilegpu::MBarrierInvalOp op, Adaptor adaptor, const ScalarBuilder &s,
                           ConversionPatternRewriter &rewriter) const override {
    tilegpu::BufferType ring = op.getMbarriers().getType();
    {
      Under first(rewriter, op.getLoc(), isFirstThread(s, lowering.device));
      for (unsigned slot = 0; slot < ring.getSlots(); ++slot)
        lowering.device.invalidateMBarrier(rewriter, op.getLoc(),
                                           mbarrierAt(s, ring, adaptor.getMbarriers()[0], slot));
    }
    rewriter.eraseOp(op);
    return success();
  }
};

struct MBarrierWaitDistribution : DistributionPattern<tilegpu::MBarrierWaitOp> {
  using DistributionPattern::DistributionPattern;
  LogicalResult distribute(tilegpu::MBarrierWaitOp op, Adaptor adaptor, const ScalarBuilder &,
                           ConversionPatternRewriter &rewriter) const override {
    lowering.device.waitForPhase(rewriter, op.getLoc(), adaptor.getMbarrier()[0],
                                 adaptor.getParity()[0]);
    rewriter.eraseOp(op);
    return success();
  }
};

struct MBarrierArriveDistribution : DistributionPattern<tilegpu::MBarrierArriveOp> {
  using DistributionPattern::DistributionPattern;
  LogicalResult distribute(tilegpu::MBarrierArriveOp op, Adaptor adaptor, const ScalarBuilder &s,
                           ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value thread = lowering.device.threadId(rewriter, loc);
    Value lane = s.bitAnd(thread, lowering.target().warpSize - 1);
    // In a cluster each of the first lanes at one block's.
    Value arrives = op.getIsOfCluster()
                        ? s.compare(arith::CmpIPredicate::ult, lane, s.i32(lowering.clusterBlocks))
                        : s.equal(lane, 0);
    {
      Under condition(rewriter, loc, op.getCondition() ? adaptor.getCondition()[0] : Value());
      lowering.device.warpBarrier(rewriter, loc);
      Under first(rewriter, loc, arrives);
      Value mbarrier = adaptor.getMbarrier()[0];
      if (op.getIsOfCluster())
        mbarrier = lowering.device.addressInBlock(rewriter, loc, mbarrier, lane);
      lowering.device.arrive(rewriter, loc, mbarrier);
    }
    rewriter.eraseOp(op);
    return success();
  }
};

//===-- roles of warps
//-----------------------------------------------------------------------------===//

struct InProducerWarpDistribution : DistributionPattern<tilegpu::InProducerWarpOp> {
  using DistributionPattern::DistributionPattern;
  LogicalResult distribute(tilegpu::InProducerWarpOp op, Adaptor, const ScalarBuilder &s,
                           ConversionPatternRewriter &rewriter) const override {
    Value thread = lowering.device.threadId(rewriter, op.getLoc());
    rewriter.replaceOpWithNewOp<arith::CmpIOp>(op, arith::CmpIPredicate::uge, thread,
                                               s.i32(lowering.numThreads()));
    return success();
  }
};

struct IsProducerDistribution : DistributionPattern<tilegpu::IsProducerOp> {
  using DistributionPattern::DistributionPattern;
  LogicalResult distribute(tilegpu::IsProducerOp op, Adaptor, const ScalarBuilder &s,
                           ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, s.equal(lowering.device.threadId(rewriter, op.getLoc()),
                                   int64_t(lowering.numThreads())));
    return success();
  }
};

struct SetRegistersDistribution : DistributionPattern<tilegpu::SetRegistersOp> {
  using DistributionPattern::DistributionPattern;
  LogicalResult distribute(tilegpu::SetRegistersOp op, Adaptor, const ScalarBuilder &,
                           ConversionPatternRewriter &rewriter) const override {
    lowering.device.setRegisters(rewriter, op.getLoc(), op.getCount(), op.getIsMore());
    rewriter.eraseOp(op);
    return success();
  }
};

//===-- copies
//-------------------------------------------------------------------------------------===//

LogicalResult expectTensorMaps(Operation *op, const Lowering &lowering) {
  if (lowering.target().tensorMaps)
    return success();
  return op->emitError() << "a copy by tensor map is not supported on " << lowering.target().name;
}

/// Where a box begins in the block, and at how many bytes in the buffer.
struct BoxPlace {
  SmallVector<int64_t> place;
  int64_t offset;
};

/// All boxes of a block; the buffer has the block's axes in `order`, or those of more than one
/// element.
SmallVector<BoxPlace> boxesOf(tile::DescriptorType type, const tilegpu::TensorBox &box,
                              tilegpu::BufferType buffer, ArrayRef<int32_t> order) {
  LinearLayout offsets = buffer.getLayout().getMap().invert();
  SmallVector<int64_t> axes = type.getLongAxes();
  if (axes.size() != order.size())
    axes = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
  SmallVector<int64_t> place(type.getRank(), 0), inBuffer(order.size());
  SmallVector<BoxPlace> boxes;
  while (true) {
    for (auto [axis, source] : llvm::enumerate(order))
      inBuffer[axis] = place[axes[source]];
    boxes.push_back(
        {place, int64_t(offsets.apply(offsets.in().pack(inBuffer))) * type.getElementBytes()});
    int64_t axis = type.getRank() - 1;
    while (axis >= 0 && (place[axis] += box.shape[axis]) == type.getShape()[axis])
      place[axis--] = 0;
    if (axis < 0)
      return boxes;
  }
}

/// The part of a block's boxes that one block of a cluster starts to copy: as many neighbours in
/// their list as others. Extents are powers of two, so where the part begins is a sum of what each
/// bit of the block's rank adds, and its boxes lie from there as those of the first part.
class BoxShare {
public:
  BoxShare(const ScalarBuilder &s, ArrayRef<BoxPlace> boxes, unsigned sharers, Value rank)
      : s(s), boxes(boxes), own(boxes.size() / sharers), sharers(sharers), rank(rank) {}

  ArrayRef<BoxPlace> first() const { return boxes.take_front(own); }
  Value offset() const {
    return sum([](const BoxPlace &box) { return box.offset; });
  }
  Value place(unsigned axis) const {
    return sum([&](const BoxPlace &box) { return box.place[axis]; });
  }

private:
  Value sum(llvm::function_ref<int64_t(const BoxPlace &)> number) const {
    Value total = s.i32(0);
    for (unsigned bit = 0; 1u << bit < sharers; ++bit)
      if (int64_t step = number(boxes[own << bit]))
        total = s.add(total, s.mul(s.bitAnd(s.shiftRight(rank, bit), 1), step));
    return total;
  }

  ScalarBuilder s;
  ArrayRef<BoxPlace> boxes;
  size_t own;
  unsigned sharers;
  Value rank;
};

/// The engine's coordinates: 32 bits, the contiguous axis first.
class Coordinates {
public:
  Coordinates(const ScalarBuilder &s, ArrayRef<ValueRange> offsets) : s(s) {
    for (ValueRange offset : offsets)
      begins.push_back(
          arith::TruncIOp::create(s.builder(), s.location(), s.builder().getI32Type(), offset[0]));
  }
  void move(llvm::function_ref<Value(unsigned)> along) {
    for (auto [axis, begin] : llvm::enumerate(begins))
      begin = s.add(begin, along(axis));
  }
  SmallVector<Value> at(ArrayRef<int64_t> place) const {
    SmallVector<Value> coordinates;
    for (auto [begin, step] : llvm::reverse(llvm::zip_equal(begins, place)))
      coordinates.push_back(s.add(begin, s.i32(step)));
    return coordinates;
  }

private:
  ScalarBuilder s;
  SmallVector<Value> begins;
};

struct TmaLoadDistribution : DistributionPattern<tilegpu::TmaLoadOp> {
  using DistributionPattern::DistributionPattern;
  LogicalResult distribute(tilegpu::TmaLoadOp op, Adaptor adaptor, const ScalarBuilder &s,
                           ConversionPatternRewriter &rewriter) const override {
    if (failed(expectTensorMaps(op, lowering)))
      return failure();
    Value mbarrier = adaptor.getMbarrier()[0];
    {
      Value one = op.getIsByOneThread() ? Value() : isFirstThread(s, lowering.device);
      Under condition(rewriter, op.getLoc(),
                      both(s, one, op.getCondition() ? adaptor.getCondition()[0] : Value()));
      lowering.device.announceBytes(rewriter, op.getLoc(), mbarrier,
                                    op.getBuffer().getType().getSlotBytes());
      copyBoxes(op, adaptor, s, rewriter);
    }
    rewriter.eraseOp(op);
    return success();
  }

private:
  void copyBoxes(tilegpu::TmaLoadOp op, Adaptor adaptor, const ScalarBuilder &s,
                 ConversionPatternRewriter &rewriter) const {
    const unsigned sharers = op.getSharedBy();
    tile::DescriptorType type = op.getDescriptor().getType();
    SmallVector<BoxPlace> boxes = boxesOf(type, *tilegpu::sharedBoxOf(type, sharers),
                                          op.getBuffer().getType(), op.getOrder());
    Coordinates coordinates(s, adaptor.getOffsets());
    Value buffer = adaptor.getBuffer()[0];
    ArrayRef<BoxPlace> own = boxes;
    if (sharers > 1) {
      BoxShare share(s, boxes, sharers, lowering.device.clusterRank(rewriter, op.getLoc()));
      coordinates.move([&](unsigned axis) { return share.place(axis); });
      buffer = s.byteOffset(buffer, share.offset());
      own = share.first();
    }
    for (const BoxPlace &box : own)
      lowering.device.copyBox(rewriter, op.getLoc(), s.byteOffset(buffer, s.i32(box.offset)),
                              adaptor.getDescriptor()[0], coordinates.at(box.place),
                              adaptor.getMbarrier()[0], sharers);
  }
};

struct TmaStoreDistribution : DistributionPattern<tilegpu::TmaStoreOp> {
  using DistributionPattern::DistributionPattern;
  LogicalResult distribute(tilegpu::TmaStoreOp op, Adaptor adaptor, const ScalarBuilder &s,
                           ConversionPatternRewriter &rewriter) const override {
    if (failed(expectTensorMaps(op, lowering)))
      return failure();
    {
      Under first(rewriter, op.getLoc(), isFirstThread(s, lowering.device));
      Coordinates coordinates(s, adaptor.getOffsets());
      tile::DescriptorType type = op.getDescriptor().getType();
      auto order = llvm::to_vector(llvm::seq<int32_t>(0, type.getRank()));
      for (const BoxPlace &box :
           boxesOf(type, tilegpu::tensorBoxOf(type), op.getBuffer().getType(), order))
        lowering.device.copyBoxBack(rewriter, op.getLoc(), adaptor.getDescriptor()[0],
                                    s.byteOffset(adaptor.getBuffer()[0], s.i32(box.offset)),
                                    coordinates.at(box.place), op.getKind());
      if (!op.getIsReadLater())
        lowering.device.waitForCopiesBack(rewriter, op.getLoc(), /*isRead=*/true);
    }
    rewriter.eraseOp(op);
    return success();
  }
};

/// For the engine's reading of buffers, or also for its writing.
template <typename OpT> struct TmaWaitDistribution : DistributionPattern<OpT> {
  using DistributionPattern<OpT>::DistributionPattern;
  LogicalResult distribute(OpT op, typename DistributionPattern<OpT>::Adaptor,
                           const ScalarBuilder &s,
                           ConversionPatternRewriter &rewriter) const override {
    {
      Under first(rewriter, op.getLoc(), isFirstThread(s, this->lowering.device));
      this->lowering.device.waitForCopiesBack(rewriter, op.getLoc(),
                                              std::is_same_v<OpT, tilegpu::TmaReadWaitOp>);
    }
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void populateTensorCopyPatterns(RewritePatternSet &patterns, const Lowering &lowering) {
  patterns.add<MBarrierInitDistribution, MBarrierInvalDistribution, MBarrierWaitDistribution,
               MBarrierArriveDistribution, InProducerWarpDistribution, IsProducerDistribution,
               SetRegistersDistribution, TmaLoadDistribution, TmaStoreDistribution,
               TmaWaitDistribution<tilegpu::TmaReadWaitOp>,
               TmaWaitDistribution<tilegpu::TmaStoreWaitOp>>(lowering, patterns.getContext());
}

} // namespace kiln
