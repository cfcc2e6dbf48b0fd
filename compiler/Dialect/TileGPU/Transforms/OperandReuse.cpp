#include "compiler/Dialect/TileGPU/Transforms/OperandReuse.h"
#include "compiler/Layout/LayoutConversion.h"
#include "compiler/Layout/StagedOperand.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;

namespace kiln {
namespace {

/// An operand of a dot that other threads have loaded.
struct LoadedOperand {
  OpOperand *use = nullptr;
  Operation *load = nullptr;
  SmallVector<unsigned> order; ///< which axis of what is loaded each of the operand's axes is

  tilegpu::DotOp dot() const { return cast<tilegpu::DotOp>(use->getOwner()); }
  bool isReadByUnit() const {
    tilegpu::MatrixUnitAttr unit = dot().getUnitAttr();
    return unit && unit.getTiling().instruction->readsSharedMemory();
  }
  OperandReader reader() const {
    if (!isReadByUnit())
      return {order, &tilegpu::layoutOf(use->get())};
    return {order, nullptr, use->getOperandNumber() == 0 ? 1u : 0u};
  }
};

bool isExchange(tilegpu::ConvertLayoutOp convert) {
  return classifyConversion(tilegpu::layoutOf(convert.getSource()),
                            tilegpu::layoutOf(convert.getResult())) == ConversionKind::Shared;
}

/// The load of the dot's block that the operand comes from by nothing but transpositions and
/// changes of layout. A that the unit's threads have loaded themselves stays in their registers.
std::optional<LoadedOperand> loadedOperand(OpOperand &use) {
  Value value = use.get();
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || type.getRank() < 2)
    return std::nullopt;
  LoadedOperand operand{&use, nullptr, llvm::to_vector(llvm::seq<unsigned>(type.getRank()))};
  bool isExchanged = operand.isReadByUnit() && use.getOperandNumber() == 1;
  while (Operation *op = value.getDefiningOp()) {
    if (auto convert = dyn_cast<tilegpu::ConvertLayoutOp>(op)) {
      isExchanged |= isExchange(convert);
      value = convert.getSource();
    } else if (auto trans = dyn_cast<tile::TransOp>(op)) {
      for (unsigned &axis : operand.order)
        axis = trans.getOrder()[axis];
      value = trans.getSource();
    } else {
      operand.load = op;
      break;
    }
  }
  bool isLoad = isa_and_present<tile::LoadOp, tile::DescriptorLoadOp>(operand.load) &&
                operand.load->getBlock() == operand.dot()->getBlock();
  return isLoad && isExchanged ? std::optional(operand) : std::nullopt;
}

/// The axes along which the buffer's rows may run: the copy engine writes those of memory.
SmallVector<unsigned> axesOfRows(Operation *load, unsigned rank) {
  if (isa<tile::DescriptorLoadOp>(load))
    return {rank - 1};
  return {rank - 1, rank - 2};
}

std::optional<Staging> planFor(ArrayRef<LoadedOperand> operands, const TargetInfo &target) {
  Operation *load = operands.front().load;
  auto type = cast<RankedTensorType>(load->getResult(0).getType());
  auto readers =
      llvm::map_to_vector(operands, [](const LoadedOperand &operand) { return operand.reader(); });
  return planCommonStaging(tilegpu::layoutOf(type), readers, axesOfRows(load, type.getRank()),
                           tilegpu::storageBits(type.getElementType()),
                           tilegpu::sharedMemoryOf(target), target.matrix.matrixLoads);
}

/// In front of the first dot, so that its other operand's load is in flight together with this one.
Value storeOnce(ArrayRef<LoadedOperand> operands, const SharedLayout &shared) {
  Value loaded = operands.front().load->getResult(0);
  auto type = cast<RankedTensorType>(loaded.getType());
  OpBuilder b(operands.front().dot());
  Location loc = operands.front().dot().getLoc();
  Value buffer = tilegpu::AllocOp::create(b, loc, tilegpu::BufferType::of(type, shared));
  tilegpu::SharedStoreOp::create(b, loc, loaded, buffer);
  // A barrier follows for the first dot alone.
  if (llvm::any_of(operands, [](const LoadedOperand &operand) { return operand.isReadByUnit(); }))
    tilegpu::ProxyFenceOp::create(b, loc, /*isGlobal=*/false);
  return buffer;
}

void readFrom(Value read, const LoadedOperand &operand) {
  OpBuilder b(operand.dot());
  Location loc = operand.dot().getLoc();
  if (!llvm::is_sorted(operand.order))
    read = tilegpu::TransBufferOp::create(
        b, loc, read, SmallVector<int32_t>(operand.order.begin(), operand.order.end()));
  if (!operand.isReadByUnit())
    read = tilegpu::SharedLoadOp::create(b, loc, operand.use->get().getType(), read);
  operand.use->set(read);
}

} // namespace

void stageReusedOperands(func::FuncOp kernel, const TargetInfo &target) {
  llvm::MapVector<Operation *, SmallVector<LoadedOperand>> byLoad;
  // Outside of loops nothing is copied ahead, and a buffer of several dots only lives longer.
  kernel.walk([&](tilegpu::DotOp dot) {
    if (!isa<scf::ForOp>(dot->getParentOp()))
      return;
    for (OpOperand *use : {&dot.getAMutable(), &dot.getBMutable()})
      if (std::optional<LoadedOperand> operand = loadedOperand(*use))
        byLoad[operand->load].push_back(*operand);
  });
  for (auto &[load, operands] : byLoad) {
    std::optional<Staging> staging = operands.size() < 2 ? std::nullopt : planFor(operands, target);
    if (!staging)
      continue;
    Value buffer = storeOnce(operands, staging->shared);
    for (const LoadedOperand &operand : operands)
      readFrom(buffer, operand);
  }
}

} // namespace kiln
