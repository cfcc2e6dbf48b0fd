#include "compiler/Dialect/Tile/Transforms/UseTensorMaps.h"

#include "compiler/Analysis/AxisInfo.h"
#include "compiler/Dialect/Tile/Tile.h"
#include "compiler/Dialect/Tile/Transforms/ArrayBlocks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
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

/// Numbers that a launcher knows: products of constants and up to two arguments; -1 stands for
/// none.
struct LaunchNumbers {
  SmallVector<int64_t> arguments, factors, constants;

  void add(const LaunchValue &value) {
    auto argumentAt = [&](size_t index) {
      return index < value.arguments.size() ? int64_t(value.arguments[index]) : -1;
    };
    arguments.push_back(argumentAt(0));
    factors.push_back(argumentAt(1));
    constants.push_back(value.constant);
  }

  bool add(Value value, Block *entry) {
    APInt constant;
    value = withoutHints(value);
    if (matchPattern(value, m_ConstantInt(&constant))) {
      add(LaunchValue{{}, constant.getSExtValue()});
      return true;
    }
    if (auto widened = value.getDefiningOp<arith::ExtSIOp>())
      value = withoutHints(widened.getIn());
    auto argument = dyn_cast<BlockArgument>(value);
    if (!argument || argument.getOwner() != entry)
      return false;
    add(LaunchValue{{argument.getArgNumber()}});
    return true;
  }
};

/// For what a map is: one for each, since an empty tensor is made in another way for each
/// (runtime/tensor_map.h), and comparisons go by the map's type.
enum class MapUse { Read, Written, ComparedSigned };

MapUse useBy(tile::AtomicKind kind) {
  bool isSigned = kind == tile::AtomicKind::SMin || kind == tile::AtomicKind::SMax;
  return isSigned ? MapUse::ComparedSigned : MapUse::Written;
}

class TensorMapUser {
public:
  TensorMapUser(func::FuncOp kernel, bool ofPointers)
      : kernel(kernel), ofPointers(ofPointers),
        numMaps(llvm::count_if(kernel.getArgumentTypes(), llvm::IsaPred<DescriptorType>)),
        facts(kernel) {}

  LogicalResult run() {
    leaveOutUnitAxes();
    SmallVector<tile::DescriptorLoadOp> loads;
    SmallVector<tile::DescriptorStoreOp> stores;
    kernel.walk([&](tile::DescriptorLoadOp load) {
      if (load.getType().getRank() == 2 && isBlockOfRows(load.getDescriptor().getType()) &&
          mayBeRead(load.getDescriptor().getType(), load.getOffsets()) &&
          isMultiplied(load, load.getDescriptor().getType(), /*axisOfRows=*/1))
        loads.push_back(load);
    });
    // What a product's threads hold is far from rows of 16 bytes; others store as well by
    // themselves.
    bool hasProducts =
        kernel.walk([](tile::DotOp) { return WalkResult::interrupt(); }).wasInterrupted();
    kernel.walk([&](tile::DescriptorStoreOp store) {
      DescriptorType type = store.getDescriptor().getType();
      if (hasProducts && type.getRank() == 2 && isBlockOfRows(type) &&
          mayBeWritten(type, store.getOffsets()) && hasRoom(type))
        stores.push_back(store);
    });
    SmallVector<tile::DescriptorReduceOp> reductions;
    kernel.walk([&](tile::DescriptorReduceOp reduce) {
      DescriptorType type = reduce.getDescriptor().getType();
      if (isReducedByEngine(reduce.getKind(), type.getElementType()) && hasWholePieces(type) &&
          mayBeWritten(type, reduce.getOffsets()) && fillsLine(type) && hasRoom(type))
        reductions.push_back(reduce);
    });
    for (tile::DescriptorLoadOp load : loads)
      if (failed(useMap(load.getDescriptorMutable(), MapUse::Read)))
        return failure();
    for (tile::DescriptorStoreOp store : stores)
      if (failed(useMap(store.getDescriptorMutable(), MapUse::Written)))
        return failure();
    for (tile::DescriptorReduceOp reduce : reductions)
      if (failed(useMap(reduce.getDescriptorMutable(), useBy(reduce.getKind()))))
        return failure();
    return ofPointers ? useMapsOfPointers() : success();
  }

private:
  //===-- which accesses
  //----------------------------------------------------------------------------===//

  /// `load([b, h, m, 0]).reshape(64, 32)` of blocks of 1 x 1 x 64 x 32 is one of rows.
  void leaveOutUnitAxes() {
    SmallVector<tile::ReshapeOp> reshapes;
    kernel.walk([&](tile::ReshapeOp reshape) { reshapes.push_back(reshape); });
    for (tile::ReshapeOp reshape : reshapes) {
      auto load = reshape.getSource().getDefiningOp<tile::DescriptorLoadOp>();
      if (!load || !load->hasOneUse() ||
          reshape.getType() != load.getDescriptor().getType().getSqueezedBlockType())
        continue;
      load.getResult().setType(reshape.getType());
      reshape.replaceAllUsesWith(load.getResult());
      reshape.erase();
    }
  }

  /// Rows of whole 16-byte pieces, eight at least, so that swizzled rows fill their pattern; of
  /// other axes one element.
  static bool isBlockOfRows(DescriptorType type) {
    constexpr int64_t leastRows = 8;
    // The engine counts 8-bit floats among the integers, which have no NaN.
    if (type.getPadding() == tile::Padding::NaN && type.getElementBytes() == 1)
      return false;
    ArrayRef<int64_t> shape = type.getSqueezedBlockType().getShape();
    return shape.size() == 2 && type.getShape().back() > 1 &&
           llvm::all_of(shape, llvm::isPowerOf2_64) && shape[0] >= leastRows &&
           shape[1] * type.getElementBytes() >= DescriptorType::alignment;
  }

  static bool hasWholePieces(DescriptorType type) {
    return llvm::all_of(type.getShape(), llvm::isPowerOf2_64) &&
           type.getShape().back() * type.getElementBytes() >= DescriptorType::alignment;
  }

  /// PTX ISA, "cp.reduce.async.bulk": the operations of each type.
  static bool isReducedByEngine(tile::AtomicKind kind, Type element) {
    using tile::AtomicKind;
    bool isHalf = element.isF16() || element.isBF16();
    switch (kind) {
    case AtomicKind::FAdd:
      return isHalf || element.isF32() || element.isF64();
    case AtomicKind::FMin:
    case AtomicKind::FMax:
      return isHalf;
    case AtomicKind::Exchange:
      return false;
    default:
      return element.isInteger(32) || element.isInteger(64);
    }
  }

  /// The engine takes about as long for a row of 64 bytes as for one of 128, and then no less than
  /// threads that copy by themselves.
  static bool hasLongRows(DescriptorType type) {
    constexpr int64_t fullRow = 128;
    return type.getShape().back() * type.getElementBytes() >= fullRow;
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

  /// At a box that begins within a piece of 16 bytes an H200 stops with an illegal instruction, and
  /// at one to be written that begins before the tensor.
  bool mayBeRead(DescriptorType type, ValueRange offsets) const {
    return areNarrow(offsets) && areWholePieces(type, offsets.back());
  }
  bool mayBeWritten(DescriptorType type, ValueRange offsets) const {
    return mayBeRead(type, offsets) &&
           llvm::all_of(offsets, [&](Value offset) { return facts.get(offset).nonNegative; });
  }

  bool areWholePieces(DescriptorType type, Value elements) const {
    return facts.get(elements).divisibility.front() * type.getElementBytes() %
               DescriptorType::alignment ==
           0;
  }

  /// Whether rows of the tensor end between two pieces of 16 bytes: the engine writes the whole
  /// piece (measured on an H200; the PTX ISA does not say so).
  bool endsWithPiece(tile::MakeDescriptorOp make) const {
    return areWholePieces(make.getType(), make.getExtents().back());
  }

  /// Boxes begin at multiples of 128 bytes of shared memory, as buffers do that are no shorter.
  static bool fillsLine(DescriptorType type) {
    return type.getBlockType().getNumElements() * type.getElementBytes() >= 128;
  }

  /// What is stored goes through shared memory, beside what comes in the meantime.
  static bool hasRoom(DescriptorType type) {
    constexpr int64_t mostBytes = 64 * 1024;
    return type.getBlockType().getNumElements() * type.getElementBytes() <= mostBytes;
  }

  /// Whether nobody but dots takes the block, in an order in which matrix units read it in place:
  /// they transpose 16-bit elements alone.
  static bool isMultiplied(Value block, DescriptorType type, unsigned axisOfRows) {
    bool transposes = type.getElementBytes() == 2;
    return !block.use_empty() && llvm::all_of(block.getUses(), [&](OpOperand &use) {
      if (auto trans = dyn_cast<tile::TransOp>(use.getOwner()))
        return isMultiplied(trans, type, trans.getOrder()[axisOfRows]);
      unsigned axisOfK = use.getOperandNumber() == 0 ? 1 : 0;
      return isa<tile::DotOp>(use.getOwner()) && use.getOperandNumber() < 2 &&
             (transposes || axisOfRows == axisOfK);
    });
  }

  /// Whether all dots that take the block have work for groups of four warps, which read it where
  /// the engine puts it; in others threads copy it as well themselves.
  bool feedsWarpGroups(Value block) const {
    constexpr int64_t warpsOfGroup = 4, rowsOfGroup = 64;
    return numberOr(tile::TileDialect::numWarpsAttr, 1) % warpsOfGroup == 0 &&
           llvm::all_of(block.getUsers(), [&](Operation *user) {
             if (isa<tile::TransOp>(user))
               return feedsWarpGroups(user->getResult(0));
             auto dot = dyn_cast<tile::DotOp>(user);
             return dot && tile::shapeOf(dot.getType())[0] >= rowsOfGroup;
           });
  }

  //===-- their maps
  //-----------------------------------------------------------------------------===//

  LogicalResult useMap(OpOperand &descriptor, MapUse use) {
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
    // The launcher sees (runtime/tensor_map.h), and then needs another kernel.
    bool needsFallback = use != MapUse::Read && !endsWithPiece(make);
    if (needsFallback && !ofPointers)
      return success();
    FailureOr<Value> argument = mapOf(base.getArgNumber(), extents, strides, make.getType(), use);
    if (failed(argument))
      return failure();
    if (!*argument)
      return success();
    descriptor.set(*argument);
    if (needsFallback)
      kernel->setAttr(tile::TileDialect::mapsOfPointersAttr, UnitAttr::get(kernel.getContext()));
    return success();
  }

  int64_t numberOr(StringRef attribute, int64_t otherwise) const {
    auto number = kernel->getAttrOfType<IntegerAttr>(attribute);
    return number ? number.getInt() : otherwise;
  }

  /// Whether a loop has more products than attention's, of small blocks (16 and 32 rows), as its
  /// backward pass may have: by threads' copies it took 0.91 to 0.96 of the engine's time, on an
  /// H200.
  bool hasManySmallProducts() {
    constexpr unsigned ofAttention = 2;
    return kernel
        .walk([](scf::ForOp loop) {
          auto products = loop.getBody()->getOps<tile::DotOp>();
          bool isMore = std::distance(products.begin(), products.end()) > ofAttention;
          return isMore && llvm::any_of(products, isSmall) ? WalkResult::interrupt()
                                                           : WalkResult::advance();
        })
        .wasInterrupted();
  }

  static bool isSmall(tile::DotOp dot) {
    constexpr int64_t smallRows = 32;
    return tile::shapeOf(dot.getType())[1] <= smallRows ||
           tile::shapeOf(dot.getA().getType())[1] <= smallRows;
  }

  /// Loads through pointers become loads of blocks, where such blocks are loaded by maps. Of one
  /// stage nothing is copied ahead.
  LogicalResult useMapsOfPointers() {
    if (numberOr(tile::TileDialect::numStagesAttr, 1) < 2 || hasManySmallProducts())
      return success();
    ArrayBlocks blocks(kernel);
    std::vector<std::pair<tile::LoadOp, ArrayBlock>> found;
    kernel.walk([&](tile::LoadOp load) {
      if (!load.use_empty() && feedsWarpGroups(load))
        if (std::optional<ArrayBlock> block = blocks.blockOf(load))
          found.push_back({load, *block});
    });
    for (auto &[load, block] : found)
      if (failed(useMapOf(load, block, blocks)))
        return failure();
    return success();
  }

  LogicalResult useMapOf(tile::LoadOp load, const ArrayBlock &block, ArrayBlocks &blocks) {
    auto loaded = cast<RankedTensorType>(load.getType());
    SmallVector<int64_t> rows(loaded.getShape());
    if (block.isTransposed)
      std::swap(rows[0], rows[1]);
    SmallVector<int64_t> shape(block.origin.size() - rows.size(), 1);
    shape.append(rows);
    auto type = DescriptorType::get(kernel.getContext(), shape, loaded.getElementType(),
                                    tile::Padding::Zero);
    if (!isBlockOfRows(type) || !hasLongRows(type) ||
        !isMultiplied(load, type, block.isTransposed ? 0 : 1))
      return success();
    OpBuilder b(load);
    SmallVector<Value> offsets;
    for (const Polynomial &coordinate : block.origin) {
      Value narrow = blocks.materialise(b, load, coordinate);
      if (!narrow)
        return success();
      offsets.push_back(arith::ExtSIOp::create(b, load.getLoc(), b.getI64Type(), narrow));
    }
    LaunchNumbers extents, strides;
    for (const LaunchValue &extent : block.extents)
      extents.add(extent);
    for (const LaunchValue &stride : block.strides)
      strides.add(stride);
    FailureOr<Value> argument = mapOf(block.base, extents, strides, type, MapUse::Read);
    if (failed(argument) || !*argument)
      return failed(argument) ? failure() : success();
    Value value = tile::DescriptorLoadOp::create(
        b, load.getLoc(), RankedTensorType::get(rows, loaded.getElementType()), *argument, offsets,
        load.getCache(), load.getEvict());
    if (block.isTransposed)
      value =
          tile::TransOp::create(b, load.getLoc(), loaded, value, b.getDenseI32ArrayAttr({1, 0}));
    load.replaceAllUsesWith(value);
    load.erase();
    kernel->setAttr(tile::TileDialect::mapsOfPointersAttr, b.getUnitAttr());
    return success();
  }

  /// The argument that is this map, null where there are too many.
  FailureOr<Value> mapOf(unsigned base, const LaunchNumbers &extents, const LaunchNumbers &strides,
                         DescriptorType type, MapUse use) {
    Builder b(kernel.getContext());
    auto map = tile::TensorMapAttr::get(
        kernel.getContext(), base, b.getDenseI64ArrayAttr(extents.arguments),
        b.getDenseI64ArrayAttr(extents.constants), b.getDenseI64ArrayAttr(strides.arguments),
        b.getDenseI64ArrayAttr(strides.factors), b.getDenseI64ArrayAttr(strides.constants));
    std::tuple<Attribute, Type, unsigned> key{map, type, unsigned(use)};
    // As many as launches pass (kiln.h, KILN_MAX_TENSOR_MAPS).
    constexpr unsigned mostMaps = 16;
    if (numMaps == mostMaps && !arguments.contains(key))
      return Value();
    Value &argument = arguments[key];
    if (argument)
      return argument;
    ++numMaps;
    unsigned index = kernel.getNumArguments();
    NamedAttrList attributes;
    attributes.set(tile::TileDialect::tensorMapAttr, map);
    if (failed(kernel.insertArgument(index, type, attributes.getDictionary(kernel.getContext()),
                                     kernel.getArgument(base).getLoc())))
      return failure();
    return argument = kernel.getArgument(index);
  }

  func::FuncOp kernel;
  /// Whether the kernel may need a fallback.
  bool ofPointers;
  unsigned numMaps;
  AxisInfoAnalysis facts;
  DenseMap<std::tuple<Attribute, Type, unsigned>, Value> arguments;
};

struct UseTensorMapsPass : PassWrapper<UseTensorMapsPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(UseTensorMapsPass)
  UseTensorMapsPass() = default;
  explicit UseTensorMapsPass(bool ofPointers) { this->ofPointers = ofPointers; }
  UseTensorMapsPass(const UseTensorMapsPass &other) : PassWrapper(other) {}
  StringRef getArgument() const override { return "kiln-use-tensor-maps"; }
  StringRef getDescription() const override {
    return "Let the launcher make the descriptors of blocks that products multiply";
  }
  void runOnOperation() override {
    if (!getOperation().isDeclaration() && failed(TensorMapUser(getOperation(), ofPointers).run()))
      signalPassFailure();
  }
  Option<bool> ofPointers{*this, "of-pointers", llvm::cl::init(false),
                          llvm::cl::desc("Make maps that some arguments have none for, too: of "
                                         "arrays that plain pointers address, and of tensors to "
                                         "write whose rows end anywhere")};
};

} // namespace

std::unique_ptr<Pass> createUseTensorMapsPass(bool ofPointers) {
  return std::make_unique<UseTensorMapsPass>(ofPointers);
}

void registerUseTensorMapsPass() { PassRegistration<UseTensorMapsPass>(); }

} // namespace kiln
