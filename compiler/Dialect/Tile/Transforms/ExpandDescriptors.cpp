#include "compiler/Dialect/Tile/Transforms/ExpandDescriptors.h"

#include "compiler/Basic/ByteFloats.h"
#include "compiler/Dialect/Tile/BlockAddresses.h"
#include "compiler/Dialect/Tile/Transforms/Simplification.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;

namespace kiln {
namespace {

using tile::DescriptorType;

/// The parts of a descriptor, in the order in which values pass through control flow.
struct Parts {
  Value base;
  ValueRange extents, strides;

  Parts(DescriptorType type, ValueRange values)
      : base(values.front()), extents(values.slice(1, type.getRank())),
        strides(values.drop_front(1 + type.getRank())) {}
};

class PartsConverter : public TypeConverter {
public:
  PartsConverter() {
    addConversion([](Type type) { return type; });
    addConversion([](DescriptorType type, SmallVectorImpl<Type> &parts) {
      parts.push_back(tile::PtrType::get(type.getElementType()));
      parts.append(2 * type.getRank() - 1, IntegerType::get(type.getContext(), 64));
      return success();
    });
  }
};

template <typename OpT> struct ExpandPattern : OpConversionPattern<OpT> {
  using OpConversionPattern<OpT>::OpConversionPattern;
  using Adaptor = typename OpConversionPattern<OpT>::OneToNOpAdaptor;
};

/// Operands that are one value each.
SmallVector<Value> eachOne(ArrayRef<ValueRange> operands) {
  return llvm::map_to_vector(operands, [](ValueRange values) -> Value { return values.front(); });
}

//===-- making descriptors, and their parts
//------------------------------------------------------------------------===//

struct ExpandMake : ExpandPattern<tile::MakeDescriptorOp> {
  using ExpandPattern::ExpandPattern;
  LogicalResult matchAndRewrite(tile::MakeDescriptorOp op, Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    SmallVector<Value> parts(adaptor.getBase());
    llvm::append_range(parts, eachOne(adaptor.getExtents()));
    llvm::append_range(parts, eachOne(adaptor.getStrides()));
    rewriter.replaceOpWithMultiple(op, ArrayRef<ValueRange>{parts});
    return success();
  }
};

struct ExpandExtent : ExpandPattern<tile::DescriptorExtentOp> {
  using ExpandPattern::ExpandPattern;
  LogicalResult matchAndRewrite(tile::DescriptorExtentOp op, Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Parts parts(op.getDescriptor().getType(), adaptor.getDescriptor());
    rewriter.replaceOp(op, parts.extents[op.getAxis()]);
    return success();
  }
};

struct ExpandStride : ExpandPattern<tile::DescriptorStrideOp> {
  using ExpandPattern::ExpandPattern;
  LogicalResult matchAndRewrite(tile::DescriptorStrideOp op, Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Parts parts(op.getDescriptor().getType(), adaptor.getDescriptor());
    if (op.getAxis() < parts.strides.size())
      rewriter.replaceOp(op, parts.strides[op.getAxis()]);
    else
      rewriter.replaceOpWithNewOp<arith::ConstantOp>(op, rewriter.getI64IntegerAttr(1));
    return success();
  }
};

struct ExpandPoison : ExpandPattern<ub::PoisonOp> {
  using ExpandPattern::ExpandPattern;
  LogicalResult matchAndRewrite(ub::PoisonOp op, Adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    SmallVector<Type> types;
    if (failed(getTypeConverter()->convertType(op.getType(), types)))
      return rewriter.notifyMatchFailure(op, "not a descriptor");
    auto parts = llvm::map_to_vector(types, [&](Type type) -> Value {
      return ub::PoisonOp::create(rewriter, op.getLoc(), type);
    });
    rewriter.replaceOpWithMultiple(op, ArrayRef<ValueRange>{parts});
    return success();
  }
};

/// What a conditional without operations in its branches is simplified to.
struct ExpandSelect : ExpandPattern<arith::SelectOp> {
  using ExpandPattern::ExpandPattern;
  LogicalResult matchAndRewrite(arith::SelectOp op, Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    SmallVector<Value> parts;
    for (auto [ifTrue, ifFalse] : llvm::zip_equal(adaptor.getTrueValue(), adaptor.getFalseValue()))
      parts.push_back(rewriter.createOrFold<arith::SelectOp>(
          op.getLoc(), adaptor.getCondition().front(), ifTrue, ifFalse));
    rewriter.replaceOpWithMultiple(op, ArrayRef<ValueRange>{parts});
    return success();
  }
};

//===-- accesses
//---------------------------------------------------------------------------------------------------===//

/// `value`, known to be a multiple of `factor`. A constant shows what it is.
Value asMultipleOf(OpBuilder &b, Location loc, Value value, int64_t factor) {
  if (factor == 1 || matchPattern(value, m_Constant()))
    return value;
  return tile::HintOp::create(b, loc, value.getType(), value, b.getDenseI64ArrayAttr({factor}),
                              DenseI64ArrayAttr(), DenseI64ArrayAttr());
}

/// Of the elements at `coordinates`, a vector for each axis.
tile::BlockAddresses addressesOf(OpBuilder &b, Location loc, DescriptorType type, ValueRange values,
                                 ArrayRef<Value> coordinates) {
  Parts parts(type, values);
  auto stride = [&](Value value) { return asMultipleOf(b, loc, value, type.getStrideFactor()); };
  // The rows of a tensor without gaps are as long as their stride, of which more is known.
  auto extent = [&](Value value) {
    return llvm::is_contained(parts.strides, value) ? stride(value) : value;
  };
  SmallVector<tile::BlockAxis> axes;
  for (auto [axis, vector] : llvm::enumerate(coordinates)) {
    bool isLast = axis == parts.strides.size();
    Value step = isLast ? Value(arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(1)))
                        : stride(parts.strides[axis]);
    axes.push_back({vector, step, extent(parts.extents[axis])});
  }
  Value base = asMultipleOf(b, loc, parts.base, DescriptorType::alignment);
  return tile::blockAddresses(b, loc, base, axes);
}

/// Of the block at `offsets`.
tile::BlockAddresses blockAt(OpBuilder &b, Location loc, DescriptorType type, ValueRange values,
                             ValueRange offsets) {
  SmallVector<Value> coordinates;
  for (auto [offset, extent] : llvm::zip_equal(offsets, type.getShape()))
    coordinates.push_back(tile::coordinatesFrom(b, loc, offset, extent));
  return addressesOf(b, loc, type, values, coordinates);
}

/// Of the parts of `rows` from `column` on.
tile::BlockAddresses rowsAt(OpBuilder &b, Location loc, DescriptorType type, ValueRange values,
                            Value rows, Value column) {
  auto wide = cast<RankedTensorType>(tile::withElementType(rows.getType(), b.getI64Type()));
  if (rows.getType() != wide)
    rows = arith::ExtSIOp::create(b, loc, wide, rows);
  Value columns = tile::coordinatesFrom(b, loc, column, type.getShape().back());
  return addressesOf(b, loc, type, values, {rows, columns});
}

/// What stands in a tensor of `type` for elements outside of the described one.
Value paddingOf(OpBuilder &b, Location loc, DescriptorType descriptor, Type type) {
  Type element = descriptor.getElementType();
  TypedAttr value = b.getZeroAttr(element);
  if (descriptor.getPadding() == tile::Padding::NaN) {
    const llvm::fltSemantics &format = cast<FloatType>(element).getFloatSemantics();
    // The NaN that a conversion gives.
    APFloat nan = element.getIntOrFloatBitWidth() == 8
                      ? narrowToByteFloat(APFloat::getNaN(APFloat::IEEEsingle()), format)
                      : APFloat::getNaN(format);
    value = FloatAttr::get(element, nan);
  }
  return arith::ConstantOp::create(
      b, loc, SplatElementsAttr::get(cast<ShapedType>(type), Attribute(value)));
}

struct ExpandLoad : ExpandPattern<tile::DescriptorLoadOp> {
  using ExpandPattern::ExpandPattern;
  LogicalResult matchAndRewrite(tile::DescriptorLoadOp op, Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    DescriptorType type = op.getDescriptor().getType();
    tile::BlockAddresses block = blockAt(rewriter, op.getLoc(), type, adaptor.getDescriptor(),
                                         eachOne(adaptor.getOffsets()));
    Value padding = paddingOf(rewriter, op.getLoc(), type, type.getBlockType());
    Value loaded = tile::LoadOp::create(rewriter, op.getLoc(), type.getBlockType(), block.pointers,
                                        block.mask, padding, op.getCache(), op.getEvict(),
                                        /*is_volatile=*/false);
    if (loaded.getType() != op.getType())
      loaded = tile::ReshapeOp::create(rewriter, op.getLoc(), op.getType(), loaded);
    rewriter.replaceOp(op, loaded);
    return success();
  }
};

struct ExpandStore : ExpandPattern<tile::DescriptorStoreOp> {
  using ExpandPattern::ExpandPattern;
  LogicalResult matchAndRewrite(tile::DescriptorStoreOp op, Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    tile::BlockAddresses block = blockAt(rewriter, op.getLoc(), op.getDescriptor().getType(),
                                         adaptor.getDescriptor(), eachOne(adaptor.getOffsets()));
    rewriter.replaceOpWithNewOp<tile::StoreOp>(op, block.pointers, adaptor.getValue().front(),
                                               block.mask, tile::CacheModifier::None,
                                               tile::EvictionPolicy::Normal);
    return success();
  }
};

struct ExpandReduce : ExpandPattern<tile::DescriptorReduceOp> {
  using ExpandPattern::ExpandPattern;
  LogicalResult matchAndRewrite(tile::DescriptorReduceOp op, Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    tile::BlockAddresses block = blockAt(rewriter, op.getLoc(), op.getDescriptor().getType(),
                                         adaptor.getDescriptor(), eachOne(adaptor.getOffsets()));
    tile::AtomicRMWOp::create(rewriter, op.getLoc(), adaptor.getValue().front().getType(),
                              op.getKind(), block.pointers, adaptor.getValue().front(), block.mask,
                              tile::MemorySemantic::Relaxed, tile::MemoryScope::GPU);
    rewriter.eraseOp(op);
    return success();
  }
};

struct ExpandGather : ExpandPattern<tile::DescriptorGatherOp> {
  using ExpandPattern::ExpandPattern;
  LogicalResult matchAndRewrite(tile::DescriptorGatherOp op, Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    DescriptorType type = op.getDescriptor().getType();
    tile::BlockAddresses rows = rowsAt(rewriter, op.getLoc(), type, adaptor.getDescriptor(),
                                       adaptor.getRows().front(), adaptor.getColumn().front());
    Value padding = paddingOf(rewriter, op.getLoc(), type, op.getType());
    rewriter.replaceOpWithNewOp<tile::LoadOp>(op, op.getType(), rows.pointers, rows.mask, padding,
                                              tile::CacheModifier::None,
                                              tile::EvictionPolicy::Normal, /*is_volatile=*/false);
    return success();
  }
};

struct ExpandScatter : ExpandPattern<tile::DescriptorScatterOp> {
  using ExpandPattern::ExpandPattern;
  LogicalResult matchAndRewrite(tile::DescriptorScatterOp op, Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    tile::BlockAddresses rows =
        rowsAt(rewriter, op.getLoc(), op.getDescriptor().getType(), adaptor.getDescriptor(),
               adaptor.getRows().front(), adaptor.getColumn().front());
    rewriter.replaceOpWithNewOp<tile::StoreOp>(op, rows.pointers, adaptor.getValue().front(),
                                               rows.mask, tile::CacheModifier::None,
                                               tile::EvictionPolicy::Normal);
    return success();
  }
};

//===-- the pass
//---------------------------------------------------------------------------------------------------===//

/// A descriptor that is to be pointers: not one that the launcher makes a tensor map of
/// (UseTensorMaps.h), nor the kernel (MakeTensorMaps.h).
bool isExpanded(Value value) {
  if (!isa<DescriptorType>(value.getType()) || value.getDefiningOp<tile::MakeTensorMapOp>())
    return false;
  auto argument = dyn_cast<BlockArgument>(value);
  // A block that is being rewritten may stand nowhere.
  Operation *owner = argument ? argument.getOwner()->getParentOp() : nullptr;
  return !isa_and_nonnull<func::FuncOp>(owner);
}

bool hasDescriptor(Operation *op) {
  return llvm::any_of(op->getResults(), isExpanded) || llvm::any_of(op->getOperands(), isExpanded);
}

bool hasDescriptors(func::FuncOp kernel) {
  return kernel
      .walk([](Operation *op) {
        return hasDescriptor(op) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

struct ExpandDescriptorsPass : PassWrapper<ExpandDescriptorsPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ExpandDescriptorsPass)
  StringRef getArgument() const override { return "kiln-expand-descriptors"; }
  StringRef getDescription() const override {
    return "Access described tensors through pointers and masks";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, scf::SCFDialect, tile::TileDialect, ub::UBDialect>();
  }
  void runOnOperation() override {
    if (getOperation().isDeclaration() || !hasDescriptors(getOperation()))
      return;
    OpPassManager passes(func::FuncOp::getOperationName());
    addSimplification(passes);
    if (failed(expandDescriptors(getOperation())) || failed(runPipeline(passes, getOperation())))
      signalPassFailure();
  }
};

} // namespace

LogicalResult expandDescriptors(func::FuncOp kernel) {
  MLIRContext *context = kernel.getContext();
  PartsConverter types;
  RewritePatternSet patterns(context);
  patterns.add<ExpandMake, ExpandExtent, ExpandStride, ExpandPoison, ExpandSelect, ExpandLoad,
               ExpandStore, ExpandReduce, ExpandGather, ExpandScatter>(types, context);
  ConversionTarget target(*context);
  scf::populateSCFStructuralTypeConversionsAndLegality(types, patterns, target);
  target.markUnknownOpDynamicallyLegal([](Operation *op) { return !hasDescriptor(op); });
  return applyPartialConversion(kernel, target, std::move(patterns));
}

std::unique_ptr<Pass> createExpandDescriptorsPass() {
  return std::make_unique<ExpandDescriptorsPass>();
}

void registerExpandDescriptorsPass() { PassRegistration<ExpandDescriptorsPass>(); }

} // namespace kiln
