// The kernel as the search for layouts sees it: construction and transfer functions.

#include "compiler/Conversion/TileToTileGPU/LayoutGraph.h"

#include "compiler/Layout/TileLayouts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using kiln::tilegpu::LayoutAttr;
using kiln::tilegpu::MatrixUnitAttr;

namespace kiln {

static bool isTensor(Value value) { return isa<RankedTensorType>(value.getType()); }

static ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

unsigned loopDepth(Block *block) {
  unsigned depth = 0;
  for (Operation *op = block->getParentOp(); op; op = op->getParentOp())
    depth += isa<LoopLikeOpInterface>(op);
  return depth;
}

//===-- transfer functions
//-----------------------------------------------------------------------===//

static LayoutAttr wrap(MLIRContext *context, const LinearLayout &layout) {
  return LayoutAttr::get(context, layout);
}

static LayoutAttr shrunkTo(LayoutAttr layout, ArrayRef<int64_t> shape) {
  LinearLayout result = layout.getLayout();
  for (auto [axis, size] : llvm::enumerate(shape))
    if (size != result.shape()[axis])
      result = result.shrinkAxis(axis);
  return wrap(layout.getContext(), result);
}

static SmallVector<unsigned> axesOf(tile::TransOp op, bool inverse) {
  SmallVector<unsigned> order(op.getOrder().size());
  for (auto [axis, source] : llvm::enumerate(op.getOrder()))
    (inverse ? order[source] : order[axis]) = inverse ? axis : source;
  return order;
}

static LayoutTransfer transferOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, LayoutTransfer>(op)
      .Case([](tile::BroadcastOp) { return LayoutTransfer::Broadcast; })
      .Case([](tile::ExpandDimsOp) { return LayoutTransfer::ExpandDims; })
      .Case([](tile::TransOp) { return LayoutTransfer::Trans; })
      .Case([](tile::ReshapeOp) { return LayoutTransfer::Reshape; })
      .Case([](tile::ReduceOp) { return LayoutTransfer::Reduce; })
      .Case([](tile::DotOp) { return LayoutTransfer::Dot; })
      .Case([](tile::GatherOp) { return LayoutTransfer::Gather; })
      .Case([](tile::HistogramOp) { return LayoutTransfer::Histogram; })
      .Default([](Operation *) { return LayoutTransfer::Same; });
}

/// Row-major, for the threads of another layout.
static LayoutAttr dealtLayout(ArrayRef<int64_t> shape, LayoutAttr other) {
  const LinearLayout &map = other.getLayout();
  return wrap(other.getContext(), coalescedLayout(shape, rowMajorOrder(shape.size()), /*vector=*/1,
                                                  map.numLanes(), map.numWarps()));
}

/// A gather's source goes through shared memory: of the result's shape it keeps the result's
/// layout, of another it takes a row-major one.
static LayoutAttr gatherOperandLayout(tile::GatherOp op, OpOperand &operand, LayoutAttr result) {
  ArrayRef<int64_t> shape = shapeOf(operand.get());
  return shape == shapeOf(op.getResult()) ? result : dealtLayout(shape, result);
}

LayoutAttr operandLayoutFor(Operation *op, OpOperand &operand, LayoutAttr result) {
  MLIRContext *context = op->getContext();
  const LinearLayout &layout = result.getLayout();
  switch (transferOf(op)) {
  case LayoutTransfer::Broadcast:
    return shrunkTo(result, shapeOf(operand.get()));
  case LayoutTransfer::ExpandDims:
    return wrap(context, layout.squeezeAxis(cast<tile::ExpandDimsOp>(op).getAxis()));
  case LayoutTransfer::Trans:
    return wrap(context, layout.transpose(axesOf(cast<tile::TransOp>(op), /*inverse=*/true)));
  case LayoutTransfer::Reshape:
    return wrap(context, layout.reshape(shapeOf(operand.get())));
  case LayoutTransfer::Gather:
    return gatherOperandLayout(cast<tile::GatherOp>(op), operand, result);
  default:
    return result;
  }
}

static LayoutAttr dotOperandLayout(tile::DotOp op, const LayoutChoice &choice, OpOperand &operand) {
  if (operand.get() == op.getC() && operand.getOperandNumber() == 2)
    return choice.layout;
  MatrixOperand which = operand.getOperandNumber() == 0 ? MatrixOperand::A : MatrixOperand::B;
  if (operand.getOperandNumber() > 2) {
    which = operand.getOperandNumber() == 3 ? MatrixOperand::A : MatrixOperand::B;
    return wrap(op.getContext(),
                choice.unit.getTiling().scaleLayout(which, shapeOf(operand.get())));
  }
  if (choice.unit)
    return wrap(op.getContext(), choice.unit.getTiling().layout(which, shapeOf(operand.get())));
  int64_t k = shapeOf(op.getA()).back();
  return wrap(op.getContext(), fmaOperandLayout(choice.layout.getLayout(), which, k));
}

LayoutAttr LayoutGraph::operandLayout(const LayoutNode &node, const LayoutChoice &choice,
                                      OpOperand &operand) const {
  if (node.transfer == LayoutTransfer::Carried)
    return choice.layout;
  LayoutAttr &known = operandLayouts[{&operand, choice.layout, choice.unit}];
  if (!known)
    known = node.transfer == LayoutTransfer::Dot
                ? dotOperandLayout(cast<tile::DotOp>(node.op), choice, operand)
                : operandLayoutFor(node.op, operand, choice.layout);
  return known;
}

LayoutAttr LayoutGraph::resultLayout(const LayoutNode &node, const LayoutChoice &choice) const {
  if (node.transfer == LayoutTransfer::Histogram)
    return dealtLayout(shapeOf(node.results.front()), choice.layout);
  if (node.transfer != LayoutTransfer::Reduce)
    return choice.layout;
  return wrap(node.op->getContext(),
              choice.layout.getLayout().slice(cast<tile::ReduceOp>(node.op).getAxis()));
}

/// A broadcast's layout in which threads hold what repeats their elements, if that is little: the
/// values in a packed word, not the rows of a matrix.
static std::optional<LayoutChoice> repeatedInThreads(LinearLayout map, ArrayRef<int64_t> shape,
                                                     MLIRContext *context) {
  constexpr int64_t maxRepetitions = 16;
  int64_t repetitions = 1;
  for (auto [axis, size] : llvm::enumerate(shape)) {
    if (size == map.shape()[axis])
      continue;
    repetitions *= size;
    if (repetitions > maxRepetitions)
      return std::nullopt;
    map = map.growAxis(axis, size);
  }
  return LayoutChoice{wrap(context, map), {}};
}

std::optional<LayoutChoice> LayoutGraph::choiceFromOperand(const LayoutNode &node,
                                                           OpOperand &operand,
                                                           LayoutAttr layout) const {
  MLIRContext *context = node.op->getContext();
  const LinearLayout &map = layout.getLayout();
  switch (node.transfer) {
  case LayoutTransfer::Same:
  case LayoutTransfer::Carried:
  case LayoutTransfer::Reduce:
  case LayoutTransfer::Histogram:
    return LayoutChoice{layout, {}};
  case LayoutTransfer::ExpandDims:
    return LayoutChoice{wrap(context, map.expandAxis(cast<tile::ExpandDimsOp>(node.op).getAxis())),
                        {}};
  case LayoutTransfer::Trans:
    return LayoutChoice{
        wrap(context, map.transpose(axesOf(cast<tile::TransOp>(node.op), /*inverse=*/false))), {}};
  case LayoutTransfer::Reshape:
    return LayoutChoice{wrap(context, map.reshape(shapeOf(node.results.front()))), {}};
  case LayoutTransfer::Gather:
    if (shapeOf(operand.get()) == shapeOf(node.results.front()))
      return LayoutChoice{layout, {}};
    return std::nullopt;
  case LayoutTransfer::Broadcast:
    return repeatedInThreads(map, shapeOf(node.results.front()), context);
  case LayoutTransfer::Dot:
    return std::nullopt;
  }
  llvm_unreachable("unknown transfer");
}

std::optional<LayoutChoice> LayoutGraph::choiceFromResult(const LayoutNode &node,
                                                          LayoutAttr layout) const {
  if (node.transfer == LayoutTransfer::Reduce || node.transfer == LayoutTransfer::Histogram ||
      node.transfer == LayoutTransfer::Dot)
    return std::nullopt;
  return LayoutChoice{layout, {}};
}

int LayoutGraph::definingNode(Value value) const {
  auto found = definitions.find(value);
  return found == definitions.end() ? -1 : found->second;
}

int LayoutGraph::usingNode(OpOperand &use) const {
  auto found = uses.find(&use);
  return found == uses.end() ? -1 : found->second;
}

//===-- construction
//-----------------------------------------------------------------------------===//

class LayoutGraphBuilder {
public:
  explicit LayoutGraphBuilder(LayoutGraph &graph) : graph(graph) {}

  LogicalResult add(Operation *op) {
    if (isa<scf::YieldOp, scf::ConditionOp, tile::YieldOp>(op))
      return success();
    if (auto loop = dyn_cast<scf::ForOp>(op))
      return addFor(loop), success();
    if (auto loop = dyn_cast<scf::WhileOp>(op))
      return addWhile(loop), success();
    if (auto branch = dyn_cast<scf::IfOp>(op))
      return addIf(branch), success();
    if (llvm::none_of(op->getOperands(), isTensor) && llvm::none_of(op->getResults(), isTensor))
      return success();
    if (isRecomputed(op))
      return success();
    return addOperation(op);
  }

private:
  /// A value that each use may compute for itself, and how many operations that takes.
  bool isRecomputed(Operation *op) {
    if (op->getNumResults() != 1 || op->getNumRegions() != 0 || !isMemoryEffectFree(op))
      return false;
    unsigned size = 1;
    if (isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(op))
      size = 8;
    else if (!isa<arith::ConstantOp, tile::SplatOp, tile::ArangeOp, tile::AddPtrOp,
                  tile::BroadcastOp, tile::ExpandDimsOp, tile::TransOp, tile::ReshapeOp,
                  tile::BitcastOp, tile::HintOp>(op) &&
             !isa<arith::ArithDialect>(op->getDialect()))
      return false;
    for (Value operand : op->getOperands()) {
      if (!isTensor(operand))
        continue;
      auto known = recomputed.find(operand);
      if (known == recomputed.end())
        return false;
      size += known->second;
    }
    constexpr unsigned cheapOperations = 64;
    if (size > cheapOperations)
      return false;
    recomputed[op->getResult(0)] = size;
    return true;
  }

  LayoutNode &newNode(Operation *op, LayoutTransfer transfer) {
    LayoutNode node;
    node.op = op;
    node.transfer = transfer;
    graph.list.push_back(std::move(node));
    return graph.list.back();
  }

  void defines(Value value) {
    graph.list.back().results.push_back(value);
    graph.definitions[value] = graph.list.size() - 1;
  }

  void uses(OpOperand &operand) {
    graph.list.back().operands.push_back(&operand);
    graph.uses[&operand] = graph.list.size() - 1;
  }

  LogicalResult addOperation(Operation *op) {
    LayoutTransfer transfer = transferOf(op);
    if (transfer == LayoutTransfer::Same && failed(checkSameShapes(op)))
      return failure();
    newNode(op, transfer);
    for (Value result : op->getResults())
      if (isTensor(result))
        defines(result);
    for (OpOperand &operand : op->getOpOperands())
      if (isTensor(operand.get()))
        uses(operand);
    return success();
  }

  static LogicalResult checkSameShapes(Operation *op) {
    std::optional<ArrayRef<int64_t>> shape;
    for (ValueRange values : {ValueRange(op->getOperands()), ValueRange(op->getResults())})
      for (Value value : values) {
        if (!isTensor(value))
          continue;
        if (shape && *shape != shapeOf(value))
          return op->emitOpError(
              "expected an operation whose layouts are known, got one on tensors "
              "of different shapes");
        shape = shapeOf(value);
      }
    return success();
  }

  void addFor(scf::ForOp loop) {
    auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
    for (auto [index, argument] : llvm::enumerate(loop.getRegionIterArgs())) {
      if (!isTensor(argument))
        continue;
      newNode(loop, LayoutTransfer::Carried);
      defines(argument);
      defines(loop.getResult(index));
      uses(loop.getInitsMutable()[index]);
      uses(yield->getOpOperand(index));
    }
  }

  void addWhile(scf::WhileOp loop) {
    for (auto [index, argument] : llvm::enumerate(loop.getBeforeArguments())) {
      if (!isTensor(argument))
        continue;
      newNode(loop, LayoutTransfer::Carried);
      defines(argument);
      uses(loop->getOpOperand(index));
      uses(loop.getYieldOp()->getOpOperand(index));
    }
    for (auto [index, argument] : llvm::enumerate(loop.getAfterArguments())) {
      if (!isTensor(argument))
        continue;
      newNode(loop, LayoutTransfer::Carried);
      defines(argument);
      defines(loop.getResult(index));
      // Operand 0 of the terminator is the condition.
      uses(loop.getConditionOp()->getOpOperand(index + 1));
    }
  }

  void addIf(scf::IfOp branch) {
    for (Value result : branch.getResults()) {
      if (!isTensor(result))
        continue;
      unsigned index = cast<OpResult>(result).getResultNumber();
      newNode(branch, LayoutTransfer::Carried);
      defines(result);
      uses(branch.thenYield()->getOpOperand(index));
      uses(branch.elseYield()->getOpOperand(index));
    }
  }

  LayoutGraph &graph;
  DenseMap<Value, unsigned> recomputed;
};

FailureOr<LayoutGraph> LayoutGraph::build(func::FuncOp kernel) {
  auto isTensorType = [](Type type) { return isa<RankedTensorType>(type); };
  if (llvm::any_of(kernel.getArgumentTypes(), isTensorType) ||
      llvm::any_of(kernel.getResultTypes(), isTensorType))
    return kernel.emitOpError("expected a kernel of scalars and pointers, got tensors in ")
           << kernel.getFunctionType();
  LayoutGraph graph;
  LayoutGraphBuilder builder(graph);
  // Before their bodies: what is inside may use loop-carried values.
  WalkResult result = kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op != kernel && !isa<func::ReturnOp>(op) && failed(builder.add(op)))
      return WalkResult::interrupt();
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  return graph;
}

} // namespace kiln
