#include "compiler/Dialect/Tile/Transforms/MakeTensorMaps.h"

#include "compiler/Dialect/Tile/Transforms/EngineAccesses.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace kiln {
namespace {

class TensorMapMaker {
public:
  TensorMapMaker(func::FuncOp kernel, bool ofArrays)
      : kernel(kernel), ofArrays(ofArrays), engine(kernel) {}

  void run() {
    // Records of the kernel's maps are given back at its end.
    if (!kernel.getBody().hasOneBlock())
      return;
    SmallVector<Operation *> accesses;
    kernel.walk([&](Operation *op) {
      if (isa<tile::DescriptorLoadOp, tile::DescriptorStoreOp, tile::DescriptorReduceOp>(op))
        accesses.push_back(op);
    });
    for (Operation *op : accesses) {
      if (auto load = dyn_cast<tile::DescriptorLoadOp>(op))
        useMap(load);
      else if (auto store = dyn_cast<tile::DescriptorStoreOp>(op))
        useMap(store, engine.writes(store), MapUse::Written);
      else if (auto reduce = dyn_cast<tile::DescriptorReduceOp>(op))
        useMap(reduce, engine.combines(reduce), mapUseOf(reduce.getKind()));
    }
  }

private:
  //===-- which accesses
  //---------------------------------------------------------------------------===//

  void useMap(tile::DescriptorLoadOp load) {
    tile::MakeDescriptorOp make = madeHere(load.getDescriptor());
    if (make && engine.brings(load) && areNarrow(make.getExtents()) && servesSeveral(make, load) &&
        (ofArrays || hangsOnMemory(make)))
      load.getDescriptorMutable().set(mapOf(make, MapUse::Read));
  }

  template <typename OpT> void useMap(OpT op, bool mayWrite, MapUse use) {
    tile::MakeDescriptorOp make = madeHere(op.getDescriptor());
    if (!make || !mayWrite || !areNarrow(make.getExtents()) || !servesSeveral(make, op))
      return;
    Value map = mapOf(make, use);
    OpBuilder b(op);
    if (Value condition = mayBeWritten(b, make, op.getLoc(), op.getOffsets())) {
      auto branch = scf::IfOp::create(b, op.getLoc(), condition, /*withElseRegion=*/true);
      b.setInsertionPoint(branch.elseBlock()->getTerminator());
      b.clone(*op);
      op->moveBefore(branch.thenBlock()->getTerminator());
    }
    op.getDescriptorMutable().set(map);
  }

  /// Null where the launcher knows all of the descriptor: then it has a map of it where that pays.
  tile::MakeDescriptorOp madeHere(Value descriptor) {
    auto make = descriptor.getDefiningOp<tile::MakeDescriptorOp>();
    bool isLaunchers = make && llvm::all_of(make->getOperands(), [&](Value part) {
                         part = withoutHints(part);
                         if (auto widened = part.getDefiningOp<arith::ExtSIOp>())
                           part = withoutHints(widened.getIn());
                         auto argument = dyn_cast<BlockArgument>(part);
                         return matchPattern(part, m_Constant()) ||
                                (argument && argument.getOwner() == &kernel.front());
                       });
    return isLaunchers ? tile::MakeDescriptorOp() : make;
  }

  /// Whether the loop around the access has several blocks of one map.
  static bool servesSeveral(tile::MakeDescriptorOp make, Operation *access) {
    auto loop = access->getParentOfType<LoopLikeOpInterface>();
    return loop && !loop->isProperAncestor(make);
  }

  /// The engine's extents have 32 bits.
  static bool areNarrow(ValueRange extents) {
    return llvm::all_of(extents, [](Value extent) {
      APInt constant;
      extent = withoutHints(extent);
      if (matchPattern(extent, m_ConstantInt(&constant)))
        return constant.isSignedIntN(32);
      auto widened = extent.getDefiningOp<arith::ExtSIOp>();
      return widened && widened.getIn().getType().getIntOrFloatBitWidth() <= 32;
    });
  }

  /// Whether some part of the descriptor is computed of what the kernel reads, or carried by a loop
  /// that is no `for`.
  static bool hangsOnMemory(tile::MakeDescriptorOp make) {
    SmallVector<Value> wanted(make->getOperands());
    DenseSet<Value> seen;
    while (!wanted.empty()) {
      Value value = wanted.pop_back_val();
      if (!seen.insert(value).second)
        continue;
      if (auto argument = dyn_cast<BlockArgument>(value)) {
        Operation *owner = argument.getOwner()->getParentOp();
        auto loop = dyn_cast<scf::ForOp>(owner);
        if (!loop && !isa<func::FuncOp>(owner))
          return true;
        if (loop && argument != loop.getInductionVar())
          wanted.append({loop.getTiedLoopInit(argument)->get(),
                         loop.getTiedLoopYieldedValue(argument)->get()});
        continue;
      }
      Operation *op = value.getDefiningOp();
      if (!isMemoryEffectFree(op) || op->getNumRegions())
        return true;
      llvm::append_range(wanted, op->getOperands());
    }
    return false;
  }

  //===-- their maps
  //-------------------------------------------------------------------------------===//

  Value mapOf(tile::MakeDescriptorOp make, MapUse use) {
    Value &map = maps[{make, unsigned(use)}];
    if (!map) {
      OpBuilder b(make->getContext());
      b.setInsertionPointAfter(make);
      map = tile::MakeTensorMapOp::create(b, make.getLoc(), make.getType(), make.getBase(),
                                          make.getExtents(), make.getStrides(), use != MapUse::Read,
                                          use == MapUse::ComparedSigned);
    }
    return map;
  }

  /// What has to hold, of what is not known to; null: nothing.
  Value mayBeWritten(OpBuilder &b, tile::MakeDescriptorOp make, Location loc, ValueRange offsets) {
    Value condition;
    auto require = [&](arith::CmpIPredicate predicate, Value value) {
      Value zero = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(0));
      Value holds = arith::CmpIOp::create(b, loc, predicate, value, zero);
      condition = condition ? arith::AndIOp::create(b, loc, condition, holds) : holds;
    };
    if (!engine.endsWithPiece(make)) {
      int64_t elements = tile::DescriptorType::alignment / make.getType().getElementBytes();
      Value mask = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(elements - 1));
      require(arith::CmpIPredicate::eq,
              arith::AndIOp::create(b, loc, make.getExtents().back(), mask));
    }
    for (Value offset : offsets)
      if (!engine.beginsInside(offset))
        require(arith::CmpIPredicate::sge, offset);
    return condition;
  }

  func::FuncOp kernel;
  bool ofArrays;
  EngineAccesses engine;
  DenseMap<std::pair<Operation *, unsigned>, Value> maps;
};

struct MakeTensorMapsPass : PassWrapper<MakeTensorMapsPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(MakeTensorMapsPass)
  MakeTensorMapsPass() = default;
  explicit MakeTensorMapsPass(bool ofArrays) { this->ofArrays = ofArrays; }
  MakeTensorMapsPass(const MakeTensorMapsPass &other) : PassWrapper(other) {}
  StringRef getArgument() const override { return "kiln-make-tensor-maps"; }
  StringRef getDescription() const override {
    return "Make tensor maps in the kernel of descriptors that only it knows";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, scf::SCFDialect, tile::TileDialect>();
  }
  void runOnOperation() override {
    if (!getOperation().isDeclaration())
      TensorMapMaker(getOperation(), ofArrays).run();
  }
  Option<bool> ofArrays{*this, "of-arrays", llvm::cl::init(false),
                        llvm::cl::desc("Also for loads from arrays at places that the kernel "
                                       "computes of arguments and program ids")};
};

} // namespace

std::unique_ptr<Pass> createMakeTensorMapsPass(bool ofArrays) {
  return std::make_unique<MakeTensorMapsPass>(ofArrays);
}

void registerMakeTensorMapsPass() { PassRegistration<MakeTensorMapsPass>(); }

} // namespace kiln
