// Operands of dots go through buffers.
//
// A convert_layout through shared memory is store, barrier, load in one piece. In front of a dot
// that means: the first operand's fragments sit in registers while the second is loaded, stored and
// waited for, and every operand has a barrier of its own. Split into buffer operations right before
// the dot, both operands' global loads are in flight together, one barrier serves both stores, and
// the back end may load fragments between matrix instructions, as it needs them. It is also what
// PipelineLoops turns into rings of buffers.
//
// A unit that reads shared memory by itself takes the buffer, in the layout that its descriptors
// can tell. For others the layout is the cheaper of two: swizzled rows (StagedOperand.h), which 16
// bytes of a thread fill and ldmatrix reads, and what an exchange of the two register layouts alone
// would choose.

#include "compiler/Dialect/TileGPU/TileGPU.h"
#include "compiler/Dialect/TileGPU/Transforms/HoldOperands.h"
#include "compiler/Dialect/TileGPU/Transforms/OperandReuse.h"
#include "compiler/Dialect/TileGPU/Transforms/Passes.h"
#include "compiler/Layout/LayoutConversion.h"
#include "compiler/Layout/StagedOperand.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace kiln {
namespace {

class OperandStager {
public:
  explicit OperandStager(const TargetInfo &target) : target(target) {}

  void run(tilegpu::DotOp dot) {
    bool readsShared = dot.getUnit() && dot.getUnit()->getTiling().instruction->readsSharedMemory();
    if (!readsShared)
      return throughBuffers(dot);
    bool storesA = isExchanged(dot.getA(), dot->getBlock()), storesB = !dot.readsBuffers();
    if (storesA)
      dot.getAMutable().assign(bufferOf(dot.getA(), dot, /*axisK=*/1));
    if (storesB)
      dot.getBMutable().assign(bufferOf(dot.getB(), dot, /*axisK=*/0));
    // A buffer of several dots has its own.
    if (!storesA && !storesB)
      return;
    OpBuilder b(dot);
    tilegpu::ProxyFenceOp::create(b, dot.getLoc(), /*isGlobal=*/false);
  }

private:
  //===-- units that read shared memory
  //----------------------------------------------------------===//

  /// What stands behind conversions; a transposition of what is behind it instead.
  static Value sourceOf(Value operand) {
    if (auto convert = operand.getDefiningOp<tilegpu::ConvertLayoutOp>())
      return sourceOf(convert.getSource());
    auto trans = operand.getDefiningOp<tile::TransOp>();
    Value inner = trans ? sourceOf(trans.getSource()) : Value();
    if (!inner || inner == trans.getSource())
      return operand;
    OpBuilder b(trans);
    SmallVector<unsigned> order(trans.getOrder().begin(), trans.getOrder().end());
    RankedTensorType type = tilegpu::withLayout(cast<RankedTensorType>(operand.getType()),
                                                tilegpu::layoutOf(inner).transpose(order));
    return tile::TransOp::create(b, trans.getLoc(), type, inner, trans.getOrder());
  }

  /// Whether the operand's elements come from other warps, or from other lanes and, as the block
  /// loads them, from memory: those are copied to a buffer ahead, which the unit reads by itself.
  static bool isExchanged(Value operand, Block *block) {
    if (auto trans = operand.getDefiningOp<tile::TransOp>())
      return isExchanged(trans.getSource(), block);
    auto convert = operand.getDefiningOp<tilegpu::ConvertLayoutOp>();
    if (!convert)
      return false;
    ConversionKind kind = classifyConversion(tilegpu::layoutOf(convert.getSource()),
                                             tilegpu::layoutOf(convert.getResult()));
    auto load = convert.getSource().getDefiningOp<tile::LoadOp>();
    bool isLoaded = load && load->getBlock() == block;
    return kind == ConversionKind::Shared || (kind == ConversionKind::Shuffle && isLoaded);
  }

  /// The operand in a buffer that a descriptor can tell: in the dot's block if it is made there, so
  /// that both operands' loads are in flight together, else where it is made.
  Value bufferOf(Value operand, tilegpu::DotOp dot, unsigned axisK) {
    Value source = sourceOf(operand);
    bool isInBlock = source.getParentBlock() == dot->getBlock();
    auto [known, isNew] = buffers.try_emplace({source, isInBlock ? dot : nullptr});
    if (!isNew)
      return known->second;
    OpBuilder b(dot);
    if (!isInBlock)
      b.setInsertionPointAfterValue(source);
    auto type = cast<RankedTensorType>(source.getType());
    Value buffer = allocate(b, dot.getLoc(), type, layoutFor(source, axisK));
    tilegpu::SharedStoreOp::create(b, dot.getLoc(), source, buffer);
    if (!isInBlock)
      tilegpu::ProxyFenceOp::create(b, dot.getLoc(), /*isGlobal=*/false);
    return known->second = buffer;
  }

  SharedLayout layoutFor(Value source, unsigned axisK) const {
    auto type = cast<RankedTensorType>(source.getType());
    unsigned bits = tilegpu::storageBits(type.getElementType());
    if (std::optional<unsigned> axis = rowsOfBlock(source))
      return swizzledShared(type.getShape(), *axis, bits);
    return planUnitStaging(tilegpu::layoutOf(type), axisK, bits, tilegpu::sharedMemoryOf(target))
        .shared;
  }

  //===-- units that read registers
  //--------------------------------------------------------------===//

  void throughBuffers(tilegpu::DotOp dot) {
    SmallVector<tilegpu::ConvertLayoutOp> exchanges;
    for (Value operand : {dot.getA(), dot.getB()})
      if (auto exchange = exchangeBehind(operand, dot->getBlock());
          exchange && !llvm::is_contained(exchanges, exchange))
        exchanges.push_back(exchange);
    OpBuilder b(dot);
    SmallVector<Value> staged;
    for (tilegpu::ConvertLayoutOp exchange : exchanges) {
      staged.push_back(allocate(b, exchange.getLoc(), exchange.getType(), layoutFor(exchange)));
      tilegpu::SharedStoreOp::create(b, exchange.getLoc(), exchange.getSource(), staged.back());
    }
    for (auto [exchange, buffer] : llvm::zip(exchanges, staged))
      loadFromBuffer(b, exchange, buffer, dot);
  }

  std::optional<Staging> stagingOf(tilegpu::ConvertLayoutOp convert) const {
    return planOperandStaging(tilegpu::layoutOf(convert.getSource()),
                              tilegpu::layoutOf(convert.getResult()),
                              tilegpu::storageBits(convert.getType().getElementType()),
                              tilegpu::sharedMemoryOf(target), target.matrix.matrixLoads);
  }

  /// The conversion behind an operand of a dot, seen through a transposition, if it goes through
  /// shared memory, stands in the dot's block and serves nobody else.
  tilegpu::ConvertLayoutOp exchangeBehind(Value operand, Block *block) const {
    if (auto trans = operand.getDefiningOp<tile::TransOp>(); trans && trans->hasOneUse())
      operand = trans.getSource();
    auto convert = operand.getDefiningOp<tilegpu::ConvertLayoutOp>();
    bool serves = convert && convert->getBlock() == block && convert->hasOneUse();
    return serves && stagingOf(convert) ? convert : tilegpu::ConvertLayoutOp();
  }

  /// The axis along which the copy engine writes rows, if it brings the value.
  static std::optional<unsigned> rowsOfBlock(Value value) {
    if (auto load = value.getDefiningOp<tile::DescriptorLoadOp>())
      return load.getType().getRank() - 1;
    auto trans = value.getDefiningOp<tile::TransOp>();
    std::optional<unsigned> source = trans ? rowsOfBlock(trans.getSource()) : std::nullopt;
    if (!source)
      return std::nullopt;
    return unsigned(llvm::find(trans.getOrder(), int32_t(*source)) - trans.getOrder().begin());
  }

  SharedLayout layoutFor(tilegpu::ConvertLayoutOp exchange) const {
    if (std::optional<unsigned> axis = rowsOfBlock(exchange.getSource()))
      return swizzledShared(exchange.getType().getShape(), *axis,
                            tilegpu::storageBits(exchange.getType().getElementType()));
    return stagingOf(exchange)->shared;
  }

  /// Replaces the conversion by a load of the buffer in front of `dot`; a transposition between the
  /// two moves along.
  static void loadFromBuffer(OpBuilder &b, tilegpu::ConvertLayoutOp convert, Value buffer,
                             tilegpu::DotOp dot) {
    Operation *user = *convert->getUsers().begin();
    Value loaded = tilegpu::SharedLoadOp::create(b, convert.getLoc(), convert.getType(), buffer);
    convert.replaceAllUsesWith(loaded);
    convert.erase();
    if (user != dot)
      user->moveBefore(dot);
  }

  static Value allocate(OpBuilder &b, Location loc, RankedTensorType tensor,
                        const SharedLayout &shared) {
    return tilegpu::AllocOp::create(b, loc, tilegpu::BufferType::of(tensor, shared));
  }

  const TargetInfo &target;
  /// By value, and dot where it is for that alone.
  DenseMap<std::pair<Value, Operation *>, Value> buffers;
};

struct StageOperandsPass : PassWrapper<StageOperandsPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(StageOperandsPass)

  StringRef getArgument() const override { return "kiln-stage-operands"; }
  StringRef getDescription() const override {
    return "Pass operands of dots through shared-memory buffers";
  }

  void runOnOperation() override {
    std::optional<TargetInfo> target = tilegpu::targetOfKernel(getOperation());
    if (!target)
      return signalPassFailure();
    stageReusedOperands(getOperation(), *target);
    SmallVector<tilegpu::DotOp> dots;
    getOperation().walk([&](tilegpu::DotOp dot) { dots.push_back(dot); });
    OperandStager stager(*target);
    for (tilegpu::DotOp dot : dots)
      stager.run(dot);
    eraseUnusedConversions();
    holdOperands(getOperation(), *target);
  }

  /// What a buffer has replaced.
  void eraseUnusedConversions() {
    SmallVector<Operation *> replaced;
    getOperation().walk([&](Operation *op) {
      if (isa<tilegpu::ConvertLayoutOp, tile::TransOp>(op))
        replaced.push_back(op);
    });
    for (Operation *op : llvm::reverse(replaced))
      if (op->use_empty())
        op->erase();
  }
};

} // namespace

std::unique_ptr<Pass> createStageOperandsPass() { return std::make_unique<StageOperandsPass>(); }

} // namespace kiln
