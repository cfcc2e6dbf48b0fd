#include "compiler/Dialect/Tile/Transforms/UseTensorMaps.h"

#include "compiler/Dialect/Tile/Tile.h"
#include "compiler/Dialect/Tile/Transforms/ArrayBlocks.h"
#include "compiler/Dialect/Tile/Transforms/EngineAccesses.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace kiln {
namespace {

using tile::DescriptorType;

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

class TensorMapUser {
public:
  TensorMapUser(func::FuncOp kernel, bool ofPointers)
      : kernel(kernel), ofPointers(ofPointers),
        numMaps(llvm::count_if(kernel.getArgumentTypes(), llvm::IsaPred<DescriptorType>)),
        engine(kernel) {}

  LogicalResult run() {
    leaveOutUnitAxes();
    SmallVector<tile::DescriptorLoadOp> loads;
    SmallVector<tile::DescriptorStoreOp> stores;
    SmallVector<tile::DescriptorReduceOp> reductions;
    kernel.walk([&](tile::DescriptorLoadOp load) {
      if (engine.brings(load))
        loads.push_back(load);
    });
    kernel.walk([&](tile::DescriptorStoreOp store) {
      if (engine.writes(store) && engine.beginsInside(store.getOffsets()))
        stores.push_back(store);
    });
    kernel.walk([&](tile::DescriptorReduceOp reduce) {
      if (engine.combines(reduce) && engine.beginsInside(reduce.getOffsets()))
        reductions.push_back(reduce);
    });
    for (tile::DescriptorLoadOp load : loads)
      if (failed(useMap(load.getDescriptorMutable(), MapUse::Read)))
        return failure();
    for (tile::DescriptorStoreOp store : stores)
      if (failed(useMap(store.getDescriptorMutable(), MapUse::Written)))
        return failure();
    for (tile::DescriptorReduceOp reduce : reductions)
      if (failed(useMap(reduce.getDescriptorMutable(), mapUseOf(reduce.getKind()))))
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

  /// The engine takes about as long for a row of 64 bytes as for one of 128, and then no less than
  /// threads that copy by themselves.
  static bool hasLongRows(DescriptorType type) {
    constexpr int64_t fullRow = 128;
    return type.getShape().back() * type.getElementBytes() >= fullRow;
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
    bool needsFallback = use != MapUse::Read && !engine.endsWithPiece(make);
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
    if (!EngineAccesses::isBlockOfRows(type) || !hasLongRows(type) ||
        !EngineAccesses::isMultiplied(load, type, block.isTransposed ? 0 : 1))
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
  EngineAccesses engine;
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
