#include "compiler/Dialect/Tile/Transforms/UseTensorMaps.h"

#include "compiler/Dialect/Tile/Tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace kiln {
namespace {

using tile::DescriptorType;

Value withoutHints(Value value) {
  while (auto hint = value.getDefiningOp<tile::HintOp>())
    value = hint.getSource();
  return value;
}

/// Numbers that a launcher knows: arguments, or constants where the argument is -1.
struct LaunchNumbers {
  SmallVector<int64_t> arguments, constants;

  bool add(Value value, Block *entry) {
    APInt constant;
    value = withoutHints(value);
    if (matchPattern(value, m_ConstantInt(&constant))) {
      arguments.push_back(-1);
      constants.push_back(constant.getSExtValue());
      return true;
    }
    if (auto widened = value.getDefiningOp<arith::ExtSIOp>())
      value = withoutHints(widened.getIn());
    auto argument = dyn_cast<BlockArgument>(value);
    if (!argument || argument.getOwner() != entry)
      return false;
    arguments.push_back(argument.getArgNumber());
    constants.push_back(0);
    return true;
  }
};

class TensorMapUser {
public:
  explicit TensorMapUser(func::FuncOp kernel) : kernel(kernel) {}

  LogicalResult run() {
    SmallVector<tile::DescriptorLoadOp> loads;
    SmallVector<tile::DescriptorStoreOp> stores;
    kernel.walk([&](tile::DescriptorLoadOp load) {
      if (isBlockOfRows(load.getDescriptor().getType()) && areNarrow(load.getOffsets()) &&
          isMultiplied(load, load, /*axisOfRows=*/1))
        loads.push_back(load);
    });
    // What a product's threads hold is far from rows of 16 bytes; others store as well by
    // themselves.
    bool hasProducts =
        kernel.walk([](tile::DotOp) { return WalkResult::interrupt(); }).wasInterrupted();
    kernel.walk([&](tile::DescriptorStoreOp store) {
      if (hasProducts && isBlockOfRows(store.getDescriptor().getType()) &&
          areNarrow(store.getOffsets()) && hasRoom(store.getDescriptor().getType()))
        stores.push_back(store);
    });
    for (tile::DescriptorLoadOp load : loads)
      if (failed(useMap(load.getDescriptorMutable(), /*isWritten=*/false)))
        return failure();
    for (tile::DescriptorStoreOp store : stores)
      if (failed(useMap(store.getDescriptorMutable(), /*isWritten=*/true)))
        return failure();
    return success();
  }

private:
  //===-- which accesses
  //----------------------------------------------------------------------------===//

  /// Rows of whole 16-byte pieces, eight at least, so that swizzled rows fill their pattern.
  static bool isBlockOfRows(DescriptorType type) {
    constexpr int64_t leastRows = 8;
    // The engine counts 8-bit floats among the integers, which have no NaN.
    if (type.getPadding() == tile::Padding::NaN && type.getElementBytes() == 1)
      return false;
    return type.getRank() == 2 && llvm::all_of(type.getShape(), llvm::isPowerOf2_64) &&
           type.getShape()[0] >= leastRows &&
           type.getShape()[1] * type.getElementBytes() >= DescriptorType::alignment;
  }

  /// The engine counts in 32 bits.
  static bool areNarrow(ValueRange offsets) {
    return llvm::all_of(offsets, [](Value offset) {
      APInt constant;
      if (matchPattern(offset, m_ConstantInt(&constant)))
        return constant.isSignedIntN(32);
      auto widened = withoutHints(offset).getDefiningOp<arith::ExtSIOp>();
      return widened && widened.getIn().getType().getIntOrFloatBitWidth() <= 32;
    });
  }

  /// What is stored goes through shared memory, beside what comes in the meantime.
  static bool hasRoom(DescriptorType type) {
    constexpr int64_t mostBytes = 64 * 1024;
    return type.getBlockType().getNumElements() * type.getElementBytes() <= mostBytes;
  }

  /// Whether nobody but dots takes the block, in an order in which matrix units read it in place:
  /// they transpose 16-bit elements alone.
  static bool isMultiplied(tile::DescriptorLoadOp load, Value block, unsigned axisOfRows) {
    bool transposes = load.getDescriptor().getType().getElementBytes() == 2;
    return !block.use_empty() && llvm::all_of(block.getUses(), [&](OpOperand &use) {
      if (auto trans = dyn_cast<tile::TransOp>(use.getOwner()))
        return isMultiplied(load, trans, trans.getOrder()[axisOfRows]);
      unsigned axisOfK = use.getOperandNumber() == 0 ? 1 : 0;
      return isa<tile::DotOp>(use.getOwner()) && use.getOperandNumber() < 2 &&
             (transposes || axisOfRows == axisOfK);
    });
  }

  //===-- their maps
  //-----------------------------------------------------------------------------===//

  LogicalResult useMap(OpOperand &descriptor, bool isWritten) {
    auto make = descriptor.get().getDefiningOp<tile::MakeDescriptorOp>();
    if (!make)
      return success();
    Block *entry = &kernel.front();
    auto base = dyn_cast<BlockArgument>(withoutHints(make.getBase()));
    LaunchNumbers extents, strides;
    auto areKnown = [&](ValueRange values, LaunchNumbers &numbers) {
      return llvm::all_of(values, [&](Value value) { return numbers.add(value, entry); });
    };
    if (!base || base.getOwner() != entry || !areKnown(make.getExtents(), extents) ||
        !areKnown(make.getStrides(), strides))
      return success();
    Builder b(kernel.getContext());
    auto map = tile::TensorMapAttr::get(
        kernel.getContext(), base.getArgNumber(), b.getDenseI64ArrayAttr(extents.arguments),
        b.getDenseI64ArrayAttr(extents.constants), b.getDenseI64ArrayAttr(strides.arguments),
        b.getDenseI64ArrayAttr(strides.constants));
    // An empty tensor is made in another way for each (runtime/tensor_map.h).
    std::tuple<Attribute, Type, unsigned> key{map, make.getType(), isWritten};
    // As many as launches pass (kiln.h, KILN_MAX_TENSOR_MAPS).
    constexpr unsigned mostMaps = 16;
    if (arguments.size() == mostMaps && !arguments.contains(key))
      return success();
    Value &argument = arguments[key];
    if (!argument) {
      unsigned index = kernel.getNumArguments();
      NamedAttrList attributes;
      attributes.set(tile::TileDialect::tensorMapAttr, map);
      if (failed(kernel.insertArgument(
              index, make.getType(), attributes.getDictionary(kernel.getContext()), base.getLoc())))
        return failure();
      argument = kernel.getArgument(index);
    }
    descriptor.set(argument);
    return success();
  }

  func::FuncOp kernel;
  DenseMap<std::tuple<Attribute, Type, unsigned>, Value> arguments;
};

struct UseTensorMapsPass : PassWrapper<UseTensorMapsPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(UseTensorMapsPass)
  StringRef getArgument() const override { return "kiln-use-tensor-maps"; }
  StringRef getDescription() const override {
    return "Let the launcher make the descriptors of blocks that products multiply";
  }
  void runOnOperation() override {
    if (!getOperation().isDeclaration() && failed(TensorMapUser(getOperation()).run()))
      signalPassFailure();
  }
};

} // namespace

std::unique_ptr<Pass> createUseTensorMapsPass() { return std::make_unique<UseTensorMapsPass>(); }

void registerUseTensorMapsPass() { PassRegistration<UseTensorMapsPass>(); }

} // namespace kiln
