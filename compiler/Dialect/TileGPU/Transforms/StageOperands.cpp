// Operands of dots go through buffers.
//
// A convert_layout through shared memory is store, barrier, load in one piece. In front of a dot
// that means: the first operand's fragments sit in registers while the second is loaded, stored and
// waited for, and every operand has a barrier of its own. Split into buffer operations right before
// the dot, both operands' global loads are in flight together, one barrier serves both stores, and
// the back end may load fragments between matrix instructions, as it needs them.

#include "compiler/Dialect/TileGPU/TileGPU.h"
#include "compiler/Dialect/TileGPU/Transforms/Passes.h"
#include "compiler/Layout/LayoutConversion.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace kiln {
namespace {

/// The conversion behind an operand of a dot, seen through a transposition, if it goes through
/// shared memory, stands in the dot's block and serves nobody else.
tilegpu::ConvertLayoutOp exchangeBehind(Value operand, Block *block) {
  if (auto trans = operand.getDefiningOp<tile::TransOp>(); trans && trans->hasOneUse())
    operand = trans.getSource();
  auto convert = operand.getDefiningOp<tilegpu::ConvertLayoutOp>();
  if (!convert || convert->getBlock() != block || !convert->hasOneUse())
    return {};
  bool isShared =
      classifyConversion(tilegpu::layoutOf(convert.getSource()),
                         tilegpu::layoutOf(convert.getResult())) == ConversionKind::Shared;
  return isShared ? convert : tilegpu::ConvertLayoutOp();
}

Value storeInBuffer(OpBuilder &builder, tilegpu::ConvertLayoutOp convert,
                    const TargetInfo &target) {
  RankedTensorType source = convert.getSource().getType(), result = convert.getType();
  SharedExchange plan = planSharedExchange(tilegpu::layoutOf(source), tilegpu::layoutOf(result),
                                           tilegpu::storageBits(source.getElementType()),
                                           tilegpu::sharedMemoryOf(target));
  auto layout = tilegpu::SharedLayoutAttr::get(builder.getContext(), plan.shared.map,
                                               plan.shared.padInterval, plan.shared.padAmount);
  auto type = tilegpu::BufferType::get(builder.getContext(), source.getShape(),
                                       source.getElementType(), layout);
  Location loc = convert.getLoc();
  Value buffer = tilegpu::AllocOp::create(builder, loc, type);
  tilegpu::SharedStoreOp::create(builder, loc, convert.getSource(), buffer);
  return buffer;
}

/// Replaces the conversion by a load of the buffer in front of `dot`; a transposition between the
/// two moves along.
void loadFromBuffer(OpBuilder &builder, tilegpu::ConvertLayoutOp convert, Value buffer,
                    tilegpu::DotOp dot) {
  Operation *user = *convert->getUsers().begin();
  Value loaded =
      tilegpu::SharedLoadOp::create(builder, convert.getLoc(), convert.getType(), buffer);
  convert.replaceAllUsesWith(loaded);
  convert.erase();
  if (user != dot)
    user->moveBefore(dot);
}

void stageOperands(tilegpu::DotOp dot, const TargetInfo &target) {
  SmallVector<tilegpu::ConvertLayoutOp> exchanges;
  for (Value operand : {dot.getA(), dot.getB()})
    if (auto exchange = exchangeBehind(operand, dot->getBlock());
        exchange && !llvm::is_contained(exchanges, exchange))
      exchanges.push_back(exchange);
  OpBuilder builder(dot);
  SmallVector<Value> buffers;
  for (tilegpu::ConvertLayoutOp exchange : exchanges)
    buffers.push_back(storeInBuffer(builder, exchange, target));
  for (auto [exchange, buffer] : llvm::zip(exchanges, buffers))
    loadFromBuffer(builder, exchange, buffer, dot);
}

struct StageOperandsPass : PassWrapper<StageOperandsPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(StageOperandsPass)

  StringRef getArgument() const override { return "kiln-stage-operands"; }
  StringRef getDescription() const override {
    return "Pass operands of dots through shared-memory buffers";
  }

  void runOnOperation() override {
    llvm::Expected<TargetInfo> target = tilegpu::targetOf(getOperation());
    if (!target) {
      getOperation().emitError(llvm::toString(target.takeError()));
      return signalPassFailure();
    }
    SmallVector<tilegpu::DotOp> dots;
    getOperation().walk([&](tilegpu::DotOp dot) { dots.push_back(dot); });
    for (tilegpu::DotOp dot : dots)
      stageOperands(dot, *target);
  }
};

} // namespace

std::unique_ptr<Pass> createStageOperandsPass() { return std::make_unique<StageOperandsPass>(); }

} // namespace kiln
