// Writes the chosen layouts into the IR, and the pass.

#include "compiler/Conversion/TileToTileGPU/TileToTileGPU.h"

#include "compiler/Conversion/TileToTileGPU/LayoutProposals.h"
#include "compiler/Conversion/TileToTileGPU/LayoutSearch.h"
#include "compiler/Conversion/TileToTileGPU/LegalizeDots.h"
#include "compiler/Conversion/TileToTileGPU/VerifyLayouts.h"
#include "compiler/Dialect/TileGPU/SmallFloats.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using kiln::tilegpu::LayoutAttr;

namespace kiln {
namespace {

/// The second half of layout assignment: from decisions to IR.
class LayoutWriter {
public:
  explicit LayoutWriter(LayoutGraph &graph) : graph(graph) {}

  void run() {
    collectRecomputed();
    // Decide all operands while types are still unchanged, then change them.
    for (LayoutNode &node : graph.nodes())
      for (OpOperand *operand : node.operands)
        operand->set(inLayout(operand->get(), graph.operandLayout(node, node.chosen(), *operand)));
    for (LayoutNode &node : graph.nodes())
      for (Value result : node.results)
        result.setType(
            tilegpu::withLayout(typeOf(result), graph.resultLayout(node, node.chosen())));
    for (LayoutNode &node : graph.nodes())
      if (node.transfer == LayoutTransfer::Dot)
        replaceDot(cast<tile::DotOp>(node.op), node.chosen());
    eraseRecomputed();
    for (tilegpu::ConvertLayoutOp conversion : conversions) {
      sinkIntoBranches(conversion);
      if (conversion.getSource().getDefiningOp<tile::LoadOp>())
        sinkToFirstUse(conversion);
    }
  }

private:
  /// A conversion that only one side of a branch needs is made there.
  static void sinkIntoBranches(tilegpu::ConvertLayoutOp conversion) {
    while (Region *side = sideThatUses(conversion))
      conversion->moveBefore(&side->front().front());
  }

  /// Where a loaded tile is converted all wait for it: not before what else is loaded.
  static void sinkToFirstUse(tilegpu::ConvertLayoutOp conversion) {
    Operation *first = nullptr;
    for (Operation *user : conversion->getUsers()) {
      Operation *inBlock = conversion->getBlock()->findAncestorOpInBlock(*user);
      if (!first || inBlock->isBeforeInBlock(first))
        first = inBlock;
    }
    if (first)
      conversion->moveBefore(first);
  }

  /// The side of a branch in the conversion's block that holds all of its users.
  static Region *sideThatUses(tilegpu::ConvertLayoutOp conversion) {
    Region *only = nullptr;
    for (Operation *user : conversion->getUsers()) {
      auto branch =
          dyn_cast_or_null<scf::IfOp>(conversion->getBlock()->findAncestorOpInBlock(*user));
      if (!branch || branch == user)
        return nullptr;
      bool isThen = branch.getThenRegion().isAncestor(user->getParentRegion());
      Region *side = isThen ? &branch.getThenRegion() : &branch.getElseRegion();
      if (only && only != side)
        return nullptr;
      only = side;
    }
    return only;
  }

  static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

  /// The value in a layout: itself, converted right after its definition (so outside all loops
  /// that do not change it), or computed again.
  Value inLayout(Value value, LayoutAttr layout) {
    int producer = graph.definingNode(value);
    if (producer >= 0) {
      const LayoutNode &node = graph.nodes()[producer];
      if (graph.resultLayout(node, node.chosen()) == layout)
        return value;
    }
    auto key = std::make_pair(value, layout);
    if (auto known = made.find(key); known != made.end())
      return known->second;
    Value result = producer >= 0 ? convert(value, layout) : recompute(value, layout);
    made[key] = result;
    return result;
  }

  Value convert(Value value, LayoutAttr layout) {
    OpBuilder builder(value.getContext());
    builder.setInsertionPointAfterValue(value);
    conversions.push_back(tilegpu::ConvertLayoutOp::create(
        builder, value.getLoc(), tilegpu::withLayout(typeOf(value), layout), value));
    return conversions.back();
  }

  Value recompute(Value value, LayoutAttr layout) {
    Operation *op = value.getDefiningOp();
    IRMapping mapping;
    for (OpOperand &operand : op->getOpOperands())
      if (isa<RankedTensorType>(operand.get().getType()))
        mapping.map(operand.get(), inLayout(operand.get(), operandLayoutFor(op, operand, layout)));
    OpBuilder builder(op);
    builder.setInsertionPointAfter(op);
    Operation *copy = builder.clone(*op, mapping);
    RankedTensorType type = tilegpu::withLayout(typeOf(value), layout);
    if (auto constant = dyn_cast<arith::ConstantOp>(copy))
      constant.setValueAttr(cast<DenseElementsAttr>(constant.getValue()).reshape(type));
    copy->getResult(0).setType(type);
    return copy->getResult(0);
  }

  /// How many products along k the unit may add up before the sum gets the accumulator's precision,
  /// 0 = all: wgmma adds those of 8-bit floats up with some 14 bits. A product alone that may be
  /// added up whole has no other sum.
  static unsigned sumDepthOf(tile::DotOp dot, tilegpu::MatrixUnitAttr unit) {
    unsigned most = dot.getMaxImpreciseAcc();
    int64_t depth = dot.getA().getType().getShape().back();
    bool isImprecise = unit && unit.getTiling().instruction->readsSharedMemory() &&
                       tilegpu::isSmallFloat(dot.getA().getType().getElementType());
    bool isAlone = most >= depth && matchPattern(dot.getC(), m_AnyZeroFloat());
    return isImprecise && most <= depth && !isAlone ? most : 0;
  }

  void replaceDot(tile::DotOp dot, const LayoutChoice &choice) {
    OpBuilder builder(dot);
    auto replacement =
        tilegpu::DotOp::create(builder, dot.getLoc(), dot.getResult().getType(), dot.getA(),
                               dot.getB(), dot.getC(), dot.getScales(), choice.unit,
                               dot.getPrecision(), /*isAsync=*/false, sumDepthOf(dot, choice.unit));
    // What is known of its tiles (kiln-trim-dots).
    replacement->setDiscardableAttrs(dot->getDiscardableAttrDictionary());
    dot.replaceAllUsesWith(replacement.getResult());
    dot.erase();
  }

  /// Operations whose results no node defines: their originals are dead once all uses have copies.
  void collectRecomputed() {
    if (graph.nodes().empty())
      return;
    auto kernel = graph.nodes().front().op->getParentOfType<func::FuncOp>();
    kernel.walk([&](Operation *op) {
      for (Value result : op->getResults())
        if (isa<RankedTensorType>(result.getType()) && graph.definingNode(result) < 0) {
          recomputed.push_back(op);
          break;
        }
    });
  }

  void eraseRecomputed() {
    // Uses come after definitions.
    for (Operation *op : llvm::reverse(recomputed))
      if (op->use_empty())
        op->erase();
  }

  LayoutGraph &graph;
  DenseMap<std::pair<Value, LayoutAttr>, Value> made;
  SmallVector<Operation *> recomputed;
  SmallVector<tilegpu::ConvertLayoutOp> conversions;
};

/// Recomputed values that no node uses, in a kernel without nodes.
void eraseDeadTensors(func::FuncOp kernel) {
  SmallVector<Operation *> ops;
  kernel.walk([&](Operation *op) {
    if (llvm::any_of(op->getResults(), [](Value result) {
          auto tensor = dyn_cast<RankedTensorType>(result.getType());
          return tensor && !tensor.getEncoding();
        }))
      ops.push_back(op);
  });
  for (Operation *op : llvm::reverse(ops))
    if (op->use_empty() && isMemoryEffectFree(op))
      op->erase();
}

struct TileToTileGPUPass : PassWrapper<TileToTileGPUPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TileToTileGPUPass)

  TileToTileGPUPass() = default;
  explicit TileToTileGPUPass(std::string name) { targetName = std::move(name); }
  TileToTileGPUPass(const TileToTileGPUPass &other) : PassWrapper(other) {}

  Option<std::string> targetName{*this, "target", llvm::cl::desc("the target, as cuda:sm_90a")};

  StringRef getArgument() const override { return "kiln-tile-to-tilegpu"; }
  StringRef getDescription() const override { return "Give every tensor a layout"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<tilegpu::TileGPUDialect>();
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (!targetName.empty())
      module->setAttr(tilegpu::TileGPUDialect::targetAttr,
                      StringAttr::get(&getContext(), targetName.getValue()));
    llvm::Expected<TargetInfo> target = tilegpu::targetOf(module);
    if (!target) {
      module.emitError(llvm::toString(target.takeError()));
      return signalPassFailure();
    }
    for (auto kernel : module.getOps<func::FuncOp>())
      if (!kernel.isDeclaration() && failed(assignLayouts(kernel, *target)))
        return signalPassFailure();
  }
};

/// Layouts map bits. kiln-pad-shapes makes all extents powers of two.
LogicalResult checkExtents(func::FuncOp kernel) {
  WalkResult result = kernel.walk([](Operation *op) -> WalkResult {
    for (Type type : op->getResultTypes())
      for (int64_t extent : tile::shapeOf(type))
        if (!llvm::isPowerOf2_64(uint64_t(extent)))
          return op->emitOpError("expected extents that are powers of two, got ") << type;
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

LogicalResult checkScaledDots(func::FuncOp kernel, const TargetInfo &target, unsigned numWarps) {
  WalkResult result = kernel.walk([&](tile::DotOp dot) -> WalkResult {
    if (dot.getScales().empty() || matrixTilingOf(dot, target, numWarps))
      return WalkResult::advance();
    return dot.emitOpError("expected no scales, for which ")
           << target.name << " has no instruction of this shape";
  });
  return failure(result.wasInterrupted());
}

} // namespace

LogicalResult assignLayouts(func::FuncOp kernel, const TargetInfo &target) {
  if (failed(checkExtents(kernel)))
    return failure();
  unsigned numWarps = tilegpu::numWarpsOf(kernel);
  if (failed(checkScaledDots(kernel, target, numWarps)))
    return failure();
  legalizeDots(kernel, target, numWarps);
  FailureOr<LayoutGraph> graph = LayoutGraph::build(kernel);
  if (failed(graph))
    return failure();
  {
    AxisInfoAnalysis facts(kernel);
    proposeLayouts(*graph, target, numWarps, facts);
    LayoutCosts costs(target, facts);
    // What copies to shared memory, by threads or by warps, the model weighs too coarsely for that.
    searchLayouts(*graph, costs, /*fromDots=*/!target.asyncCopies && !target.warpCopies);
    if (!target.asyncCopies && proposeBroadcasts(*graph, target, numWarps, facts))
      improveLayouts(*graph, costs);
  }
  LayoutWriter(*graph).run();
  eraseDeadTensors(kernel);
  return verifyLayouts(kernel, target.warpSize, numWarps);
}

std::unique_ptr<Pass> createTileToTileGPUPass(std::string target) {
  return std::make_unique<TileToTileGPUPass>(std::move(target));
}

void registerTileToTileGPUPass() { PassRegistration<TileToTileGPUPass>(); }

} // namespace kiln
