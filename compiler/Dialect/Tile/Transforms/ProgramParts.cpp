#include "compiler/Dialect/Tile/Transforms/ProgramParts.h"

#include "compiler/Dialect/Tile/Tile.h"
#include "compiler/Dialect/Tile/Transforms/SliceAxes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace kiln {
namespace {

/// Work that is worth doing once: all but what addresses, masks and elementwise operations are.
bool isDoneOnce(Operation *op) {
  return !isUniform(op) && !isRecomputed(op) &&
         isa<tile::LoadOp, tile::DescriptorLoadOp, tile::DescriptorGatherOp, tile::GatherOp,
             tile::DotOp, tile::ReduceOp, tile::ScanOp, tile::MapOp>(op);
}

/// In row-major order the axis stands behind the same axes, together, in both shapes.
std::optional<PartAxis> axisBeforeReshape(tile::ReshapeOp reshape, PartAxis axis) {
  ArrayRef<int64_t> result = tile::shapeOf(reshape.getType());
  ArrayRef<int64_t> source = tile::shapeOf(reshape.getSource().getType());
  int64_t before = 1, beforeSource = 1;
  for (int64_t extent : result.take_front(axis))
    before *= extent;
  for (auto [other, extent] : llvm::enumerate(source)) {
    if (beforeSource == before && extent > 1)
      return reshape.getAnyOrder() ? std::nullopt : std::optional<PartAxis>(other);
    beforeSource *= extent;
  }
  return std::nullopt;
}

std::optional<PartAxis> partOfDotOperand(unsigned number, PartAxis axis, unsigned rank) {
  enum { A, B, C };
  bool isRow = axis == PartAxis(rank) - 2, isColumn = axis == PartAxis(rank) - 1;
  return (isRow && number == B) || (isColumn && number == A) ? wholeValue : axis;
}

} // namespace

unsigned axisOfBlock(Type descriptor, Type tensor, unsigned axis) {
  auto type = cast<tile::DescriptorType>(descriptor);
  bool hasAll = int64_t(tile::shapeOf(tensor).size()) == type.getRank();
  return hasAll ? axis : unsigned(type.getLongAxes()[axis]);
}

Type ProgramParts::partOf(Type type, PartAxis axis) const {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || axis == wholeValue)
    return type;
  SmallVector<int64_t> shape(tensor.getShape());
  shape[axis] /= blocks;
  return tensor.clone(shape);
}

bool ProgramParts::canDivide(Type type, PartAxis axis) const {
  return axis == wholeValue || tile::shapeOf(type)[axis] % blocks == 0;
}

bool ProgramParts::canDivideBlock(Value descriptor, Type tensor, PartAxis axis) const {
  auto type = cast<tile::DescriptorType>(descriptor.getType());
  unsigned divided = axisOfBlock(type, tensor, axis);
  int64_t bytes = type.getShape()[divided] / blocks * type.getElementBytes();
  return descriptor.getDefiningOp<tile::MakeDescriptorOp>() &&
         (int64_t(divided) != type.getRank() - 1 || bytes >= tile::DescriptorType::alignment);
}

SmallVector<PartAxis> ProgramParts::axesOf(Value value) const {
  auto found = wanted.find(value);
  if (found == wanted.end())
    return {};
  SmallVector<PartAxis> axes(found->second.begin(), found->second.end());
  llvm::sort(axes);
  return axes;
}

SmallVector<PartAxis> ProgramParts::axesOf(Operation *op) const {
  llvm::SmallSetVector<PartAxis, 2> axes;
  for (Value result : op->getResults())
    axes.insert_range(axesOf(result));
  return axes.takeVector();
}

std::optional<PartAxis> ProgramParts::partOfOperand(OpOperand &operand, PartAxis axis) {
  Operation *op = operand.getOwner();
  if (axis == wholeValue || !isa<RankedTensorType>(operand.get().getType()))
    return wholeValue;
  if (auto dot = dyn_cast<tile::DotOp>(op))
    return partOfDotOperand(operand.getOperandNumber(), axis,
                            cast<RankedTensorType>(dot.getType()).getRank());
  if (auto reshape = dyn_cast<tile::ReshapeOp>(op))
    return axisBeforeReshape(reshape, axis);
  if (auto gather = dyn_cast<tile::GatherOp>(op))
    return operand.getOperandNumber() == 0 && axis == PartAxis(gather.getAxis()) ? wholeValue
                                                                                 : axis;
  if (isa<tile::DescriptorGatherOp>(op))
    return axis == 0 ? std::optional<PartAxis>(0) : std::nullopt;
  if (!isSplittable(op))
    return std::nullopt;
  unsigned own = ownAxisOfResult(op, axis);
  if (isa<tile::ScanOp>(op) && needsWhole(op, own))
    return std::nullopt;
  Axis part = operandAxis(operand, own);
  return part ? PartAxis(*part) : wholeValue;
}

std::optional<Indivisible> ProgramParts::want(Value value, PartAxis axis) {
  SmallVector<Part> pending{{value, axis}};
  while (!pending.empty())
    if (std::optional<Indivisible> reason = add(pending.pop_back_val(), pending))
      return reason;
  return std::nullopt;
}

std::optional<Indivisible> ProgramParts::add(Part part, SmallVectorImpl<Part> &pending) {
  auto [value, axis] = part;
  SmallVector<PartAxis, 1> &axes = wanted[value];
  if (llvm::is_contained(axes, axis))
    return std::nullopt;
  axes.push_back(axis);
  if (!canDivide(value.getType(), axis))
    return Indivisible{value.getLoc(), "what has " +
                                           std::to_string(tile::shapeOf(value.getType())[axis]) +
                                           " elements along an axis has no equal parts"};
  auto argument = dyn_cast<BlockArgument>(value);
  Operation *op = value.getDefiningOp();
  if (op && axes.size() > 1 && isDoneOnce(op))
    return Indivisible{value.getLoc(), "this is needed as a whole and in parts, or in parts along "
                                       "two axes"};
  if (!argument)
    return addSources(cast<OpResult>(value), axis, pending);
  addSources(argument, axis, pending);
  return std::nullopt;
}

void ProgramParts::addSources(BlockArgument argument, PartAxis axis,
                              SmallVectorImpl<Part> &pending) const {
  auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
  if (loop && argument != loop.getInductionVar())
    pending.push_back({loop.getTiedLoopResult(argument), axis});
}

std::optional<Indivisible> ProgramParts::addSources(OpResult result, PartAxis axis,
                                                    SmallVectorImpl<Part> &pending) const {
  Operation *op = result.getOwner();
  unsigned number = result.getResultNumber();
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    for (Value source : {loop.getInitArgs()[number], Value(loop.getRegionIterArg(number)),
                         Value(loop.getYieldedValues()[number])})
      pending.push_back({source, axis});
    return std::nullopt;
  }
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    pending.push_back({branch.thenYield().getOperand(number), axis});
    pending.push_back({branch.elseYield().getOperand(number), axis});
    return std::nullopt;
  }
  Indivisible reason{op->getLoc(), "a part of what this gives cannot be computed from parts"};
  bool isMade = isUniform(op) || isa<tile::ArangeOp>(op);
  if (auto load = dyn_cast<tile::DescriptorLoadOp>(op); load && axis != wholeValue) {
    if (!canDivideBlock(load.getDescriptor(), load.getType(), axis))
      return reason;
  } else if (axis != wholeValue && !isMade && op->getNumOperands() == 0) {
    return reason;
  }
  for (OpOperand &operand : op->getOpOperands()) {
    std::optional<PartAxis> part =
        isMade || isa<tile::DescriptorLoadOp>(op) ? wholeValue : partOfOperand(operand, axis);
    if (!part)
      return reason;
    pending.push_back({operand.get(), *part});
  }
  SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  for (Value value : captured)
    pending.push_back({value, wholeValue});
  return std::nullopt;
}

} // namespace kiln
