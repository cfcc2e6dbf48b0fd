// Tensor maps that the kernel makes (PTX ISA, "tensormap.replace", "tensormap.cp_fenceproxy").
//
// The copy engine reads a map from global memory, by a cache of its own. So the first warp writes
// it in shared memory, where that is quick, and publishes it: copies it to the block's record and
// releases it. The thread that starts the copies acquires it. It is also the one that has waited
// for all copies by the map that was there before, as it waits for all that it starts before it
// comes to where they are made again.
//
// A tensor without elements cannot be said, as an extent of 0 stands for 2^32. Its map is of one
// element in the record: reads find a zero or a NaN there, as everywhere outside of the tensor, and
// what is written goes to a place that nobody reads.

#include "compiler/Conversion/TileGPUToLLVM/Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace kiln {
namespace {

constexpr llvm::StringLiteral mapNumberAttr = "tilegpu.map";

/// How many blocks of the kernel a processor can hold (CUDA C++ Programming Guide, "Compute
/// Capabilities", of 9.0: each block takes a KiB of shared memory beside its own).
int64_t residentBlocks(func::FuncOp kernel, const TargetInfo &target) {
  constexpr int64_t threadsOfProcessor = 2048, mostBlocks = 32, reserved = 1024;
  unsigned warps = tilegpu::numWarpsOf(kernel) + tilegpu::producerWarpsOf(kernel);
  auto shared = kernel->getAttrOfType<IntegerAttr>(tilegpu::TileGPUDialect::sharedBytesAttr);
  int64_t sharedBytes = reserved + (shared ? shared.getInt() : 0);
  return std::max<int64_t>(1,
                           std::min({threadsOfProcessor / target.threadsPerBlock(warps), mostBlocks,
                                     (target.maxSharedBytes + reserved) / sharedBytes}));
}

/// What one thread writes to a map's image.
class MapWriter {
public:
  MapWriter(const ScalarBuilder &s, const Lowering &lowering, tile::MakeTensorMapOp op, Value image)
      : s(s), lowering(lowering), op(op), image(image) {}

  void write(Value base, ArrayRef<ValueRange> extents, ArrayRef<ValueRange> strides) {
    tile::DescriptorType type = op.getType();
    tilegpu::TensorBox box = tilegpu::tensorBoxOf(type);
    Type word = s.builder().getI32Type();
    SmallVector<Value> counts;
    for (ValueRange extent : extents)
      counts.push_back(s.make<arith::TruncIOp>(word, extent[0]));
    Value isEmpty = s.boolean(false);
    for (Value count : counts)
      isEmpty = s.bitOr(isEmpty, s.compare(arith::CmpIPredicate::sle, count, s.i32(0)));
    set(MapField::Address,
        s.bitcast(s.select(isEmpty, onlyElement(), base), s.builder().getI64Type()));
    set(MapField::Rank, s.i32(type.getRank() - 1));
    unsigned axis = type.getRank();
    for (auto [count, extent] : llvm::zip_equal(counts, box.shape)) {
      --axis;
      set(MapField::Box, s.i32(extent), axis);
      set(MapField::Extent, s.select(isEmpty, s.i32(1), count), axis);
      set(MapField::ElementStride, s.i32(1), axis);
    }
    axis = strides.size();
    for (ValueRange stride : strides)
      set(MapField::Stride, s.mul(stride[0], type.getElementBytes()), --axis);
    set(MapField::Element,
        s.i32(lowering.device.mapElement(type.getElementType(), op.getIsSigned())));
    set(MapField::Interleave, s.i32(0));
    set(MapField::Swizzle, s.i32(box.swizzleBytes ? llvm::Log2_32(box.swizzleBytes / 16) : 0));
    set(MapField::Fill, s.i32(type.getPadding() == tile::Padding::NaN));
  }

private:
  void set(MapField field, Value value, unsigned axis = 0) {
    lowering.device.writeMapField(s.builder(), s.location(), image, field, axis, value);
  }

  /// Of a tensor without elements.
  Value onlyElement() {
    unsigned bytes = op.getType().getElementBytes();
    bool isNaN = op.getType().getPadding() == tile::Padding::NaN;
    unsigned offset = op.getIsWritten() ? MapRecord::written
                      : isNaN ? MapRecord::nans + bytes * tile::DescriptorType::alignment / 2
                              : MapRecord::zeros;
    Value element = s.byteOffset(lowering.mapRecord, s.i32(offset));
    if (op.getIsWritten() || !isNaN)
      return element;
    // All ones but the sign.
    Type bits = s.builder().getIntegerType(bytes * 8);
    LLVM::StoreOp::create(s.builder(), s.location(), s.integer(bits, llvm::maxIntN(bytes * 8)),
                          element);
    lowering.device.fenceForEngine(s.builder(), s.location());
    return element;
  }

  ScalarBuilder s;
  const Lowering &lowering;
  tile::MakeTensorMapOp op;
  Value image;
};

struct MakeTensorMapDistribution : DistributionPattern<tile::MakeTensorMapOp> {
  using DistributionPattern::DistributionPattern;
  LogicalResult distribute(tile::MakeTensorMapOp op, Adaptor adaptor, const ScalarBuilder &s,
                           ConversionPatternRewriter &rewriter) const override {
    const TargetLowering &device = lowering.device;
    Location loc = op.getLoc();
    Value image = lowering.scratch(s, op);
    if (!image)
      return failure();
    int64_t number = op->getAttrOfType<IntegerAttr>(mapNumberAttr).getInt();
    Value map = s.byteOffset(lowering.mapRecord, s.i32(MapRecord::bytes(number)));
    Value used = LLVM::AddrSpaceCastOp::create(
        rewriter, loc, LLVM::LLVMPointerType::get(rewriter.getContext()), map);
    Value thread = device.threadId(rewriter, loc);
    {
      Under firstWarp(
          rewriter, loc,
          s.compare(arith::CmpIPredicate::ult, thread, s.i32(lowering.target().warpSize)));
      LLVM::StoreOp::create(rewriter, loc, s.i32(0), s.byteOffset(image, s.mul(thread, 4)));
      device.warpBarrier(rewriter, loc);
      {
        Under first(rewriter, loc, isFirstThread(s, device));
        MapWriter(s, lowering, op, image)
            .write(adaptor.getBase()[0], adaptor.getExtents(), adaptor.getStrides());
      }
      device.warpBarrier(rewriter, loc);
      tilegpu::PublishMapOp::create(rewriter, loc, map, image);
      Under first(rewriter, loc, isFirstThread(s, device));
      device.acquireMap(rewriter, loc, used);
    }
    // The image's memory is free again behind it (ScratchOpInterface).
    device.barrier(rewriter, loc);
    rewriter.replaceOp(op, used);
    return success();
  }
};

} // namespace

Value claimMapRecord(func::FuncOp kernel, const TargetLowering &device) {
  OpBuilder b = OpBuilder::atBlockBegin(&kernel.front());
  int32_t count = 0;
  kernel.walk(
      [&](tile::MakeTensorMapOp op) { op->setAttr(mapNumberAttr, b.getI32IntegerAttr(count++)); });
  if (count == 0)
    return {};
  Location loc = kernel.getLoc();
  ScalarBuilder s(b, loc);
  Type pointer = LLVM::LLVMPointerType::get(b.getContext(), 1);
  Value isFirstWarp = s.compare(arith::CmpIPredicate::ult, device.threadId(b, loc),
                                s.i32(device.target().warpSize));
  auto branch = scf::IfOp::create(b, loc, pointer, isFirstWarp, /*withElseRegion=*/true);
  b.setInsertionPointToStart(branch.thenBlock());
  Value record =
      tilegpu::ClaimMapsOp::create(b, loc, pointer, count, residentBlocks(kernel, device.target()));
  scf::YieldOp::create(b, loc, record);
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, loc, s.zero(pointer));
  b.setInsertionPoint(kernel.front().getTerminator());
  Under first(b, loc, isFirstThread(s, device));
  tilegpu::ReleaseMapsOp::create(b, loc, branch.getResult(0));
  return branch.getResult(0);
}

void populateTensorMapPatterns(RewritePatternSet &patterns, const Lowering &lowering) {
  patterns.add<MakeTensorMapDistribution>(lowering, patterns.getContext());
}

} // namespace kiln
