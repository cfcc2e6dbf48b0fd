#include "compiler/Dialect/Tile/Transforms/SplitRewriter.h"

#include "compiler/Dialect/Tile/Tile.h"
#include "compiler/Dialect/Tile/Transforms/SliceAxes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include <numeric>

using namespace mlir;

namespace kiln {
namespace {

/// Writes the kernel anew, operation by operation; each value has a copy for each of its parts.
class SplitRewriter {
public:
  SplitRewriter(func::FuncOp kernel, unsigned blocks, const ProgramParts &parts,
                const DenseMap<Operation *, PartAxis> &shares)
      : kernel(kernel), blocks(blocks), parts(parts), shares(shares) {}

  void run() {
    Block &old = kernel.front();
    auto *fresh = new Block();
    kernel.getBody().push_back(fresh);
    for (BlockArgument argument : old.getArguments())
      set(argument, wholeValue, fresh->addArgument(argument.getType(), argument.getLoc()));
    OpBuilder b = OpBuilder::atBlockBegin(fresh);
    rank = tile::ClusterRankOp::create(b, kernel.getLoc(), b.getI32Type());
    write(old, b);
    b.clone(*old.getTerminator());
    old.dropAllReferences();
    old.erase();
  }

private:
  //===-- values
  //---------------------------------------------------------------------------------===//

  Value get(Value value, PartAxis axis) const {
    Value found = made.lookup({value, axis});
    assert(found && "expected a part that was wanted");
    return found;
  }
  void set(Value value, PartAxis axis, Value part) { made[{value, axis}] = part; }

  /// Where the block's share of so many elements begins.
  Value begin(OpBuilder &b, Location loc, int64_t extent) const {
    Value step = arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(int32_t(extent / blocks)));
    return arith::MulIOp::create(b, loc, rank, step);
  }

  //===-- operations
  //-----------------------------------------------------------------------------===//

  void write(Block &block, OpBuilder &b) {
    for (Operation &op : block.without_terminator()) {
      if (auto loop = dyn_cast<scf::ForOp>(op))
        writeLoop(loop, b);
      else if (auto branch = dyn_cast<scf::IfOp>(op))
        writeBranch(branch, b);
      else if (auto share = shares.find(&op); share != shares.end())
        writeShare(&op, share->second, b);
      else if (isa<tile::AssumeOp>(op))
        copy(&op, wholeValue, b);
      else
        for (PartAxis axis : parts.axesOf(&op))
          writePart(&op, axis, b);
    }
  }

  void writePart(Operation *op, PartAxis axis, OpBuilder &b) {
    if (auto range = dyn_cast<tile::ArangeOp>(op); range && axis != wholeValue)
      return set(range, axis, writeRange(range, b));
    if (auto load = dyn_cast<tile::DescriptorLoadOp>(op); load && axis != wholeValue)
      return writeBlockLoad(load, axis, b);
    Operation *made = copy(op, axis, b);
    for (auto [old, result] : llvm::zip(op->getResults(), made->getResults())) {
      result.setType(parts.partOf(old.getType(), axis));
      set(old, axis, result);
    }
    if (axis == wholeValue)
      return;
    if (auto constant = dyn_cast<arith::ConstantOp>(made))
      constant.setValueAttr(cast<SplatElementsAttr>(constant.getValue())
                                .resizeSplat(cast<ShapedType>(constant.getType())));
    if (auto hint = dyn_cast<tile::HintOp>(made))
      narrow(hint, axis);
  }

  /// The operation on parts of its operands.
  Operation *copy(Operation *op, PartAxis axis, OpBuilder &b) {
    Operation *made = b.clone(*op);
    for (auto [old, operand] : llvm::zip(op->getOpOperands(), made->getOpOperands()))
      operand.set(get(old.get(), *ProgramParts::partOfOperand(old, axis)));
    for (Region &region : made->getRegions())
      region.walk([&](Operation *inner) {
        for (OpOperand &operand : inner->getOpOperands())
          if (!region.isAncestor(operand.get().getParentRegion()))
            operand.set(get(operand.get(), wholeValue));
      });
    return made;
  }

  Value writeRange(tile::ArangeOp range, OpBuilder &b) {
    Location loc = range.getLoc();
    int64_t extent = range.getType().getNumElements();
    auto type = cast<RankedTensorType>(parts.partOf(range.getType(), 0));
    int32_t first = int32_t(range.getStart());
    Value own =
        tile::ArangeOp::create(b, loc, type, first, int32_t(first + extent / int64_t(blocks)));
    Value start = tile::SplatOp::create(b, loc, type, begin(b, loc, extent));
    return arith::AddIOp::create(b, loc, start, own);
  }

  /// Neighbours that the share has fewer of.
  void narrow(tile::HintOp hint, PartAxis axis) {
    int64_t extent = tile::shapeOf(hint.getType())[axis];
    Builder b(hint.getContext());
    auto limited = [&](std::optional<ArrayRef<int64_t>> numbers) {
      SmallVector<int64_t> least(*numbers);
      least[axis] = std::min(least[axis], extent);
      return b.getDenseI64ArrayAttr(least);
    };
    if (auto contiguity = hint.getContiguity()) {
      if (auto divisibility = hint.getDivisibility();
          divisibility && (*contiguity)[axis] > extent) {
        SmallVector<int64_t> common(*divisibility);
        common[axis] = std::gcd(common[axis], extent);
        hint.setDivisibilityAttr(b.getDenseI64ArrayAttr(common));
      }
      hint.setContiguityAttr(limited(hint.getContiguity()));
    }
    if (hint.getConstancy())
      hint.setConstancyAttr(limited(hint.getConstancy()));
  }

  //===-- blocks of described tensors
  //------------------------------------------------------------===//

  /// The descriptor of blocks that have the share's extent, and where the share is.
  std::pair<Value, SmallVector<Value>> shareOfBlock(Value descriptor, ValueRange offsets,
                                                    unsigned axis, Location loc, OpBuilder &b) {
    auto make = descriptor.getDefiningOp<tile::MakeDescriptorOp>();
    tile::DescriptorType type = make.getType();
    SmallVector<int64_t> shape(type.getShape());
    Value first = begin(b, loc, shape[axis]);
    shape[axis] /= blocks;
    auto whole = [&](ValueRange values) {
      return llvm::map_to_vector(values, [&](Value value) { return get(value, wholeValue); });
    };
    Value share = tile::MakeDescriptorOp::create(
        b, make.getLoc(),
        tile::DescriptorType::get(b.getContext(), shape, type.getElementType(), type.getPadding()),
        get(make.getBase(), wholeValue), whole(make.getExtents()), whole(make.getStrides()));
    SmallVector<Value> moved = whole(offsets);
    moved[axis] = later(b, loc, moved[axis], first);
    return {share, moved};
  }

  /// A coordinate that is seen to have 32 bits stays so: the copy engine counts no further.
  static Value later(OpBuilder &b, Location loc, Value coordinate, Value step) {
    auto widened = coordinate.getDefiningOp<arith::ExtSIOp>();
    APInt constant;
    Value narrow;
    if (widened && widened.getIn().getType().isInteger(32))
      narrow = widened.getIn();
    else if (matchPattern(coordinate, m_ConstantInt(&constant)) && constant.isSignedIntN(32))
      narrow =
          arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(int32_t(constant.getSExtValue())));
    if (narrow)
      return arith::ExtSIOp::create(b, loc, b.getI64Type(),
                                    arith::AddIOp::create(b, loc, narrow, step));
    Value wide = arith::ExtSIOp::create(b, loc, b.getI64Type(), step);
    return arith::AddIOp::create(b, loc, coordinate, wide);
  }

  void writeBlockLoad(tile::DescriptorLoadOp load, PartAxis axis, OpBuilder &b) {
    unsigned divided = axisOfBlock(load.getDescriptor().getType(), load.getType(), axis);
    auto [descriptor, offsets] =
        shareOfBlock(load.getDescriptor(), load.getOffsets(), divided, load.getLoc(), b);
    set(load, axis,
        tile::DescriptorLoadOp::create(b, load.getLoc(), parts.partOf(load.getType(), axis),
                                       descriptor, offsets, load.getCache(), load.getEvict()));
  }

  template <typename StoreOp> void writeBlockStore(StoreOp store, PartAxis axis, OpBuilder &b) {
    unsigned divided =
        axisOfBlock(store.getDescriptor().getType(), store.getValue().getType(), axis);
    auto [descriptor, offsets] =
        shareOfBlock(store.getDescriptor(), store.getOffsets(), divided, store.getLoc(), b);
    auto made = cast<StoreOp>(b.clone(*store.getOperation()));
    made.getDescriptorMutable().set(descriptor);
    made.getOffsetsMutable().assign(offsets);
    made.getValueMutable().set(get(store.getValue(), axis));
  }

  //===-- what blocks store
  //----------------------------------------------------------------------===//

  void writeShare(Operation *op, PartAxis axis, OpBuilder &b) {
    if (axis == wholeValue && !isa<tile::AssertOp>(op)) {
      Location loc = op->getLoc();
      Value zero = arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(0));
      Value isFirst = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, rank, zero);
      auto branch = scf::IfOp::create(b, loc, isFirst, /*withElseRegion=*/false);
      OpBuilder inner = branch.getThenBodyBuilder();
      copyStore(op, axis, inner);
    } else if (auto store = dyn_cast<tile::DescriptorStoreOp>(op)) {
      writeBlockStore(store, axis, b);
    } else if (auto reduce = dyn_cast<tile::DescriptorReduceOp>(op)) {
      writeBlockStore(reduce, axis, b);
    } else {
      copyStore(op, axis, b);
    }
  }

  void copyStore(Operation *op, PartAxis axis, OpBuilder &b) {
    Operation *made = b.clone(*op);
    for (OpOperand &operand : made->getOpOperands()) {
      bool isTensor = isa<RankedTensorType>(operand.get().getType());
      operand.set(get(operand.get(), isTensor ? axis : wholeValue));
    }
    for (OpResult result : made->getResults())
      result.setType(parts.partOf(result.getType(), axis));
  }

  //===-- control flow
  //---------------------------------------------------------------------------===//

  /// The results' parts that are wanted.
  SmallVector<std::pair<unsigned, PartAxis>> partsOfResults(Operation *op) const {
    SmallVector<std::pair<unsigned, PartAxis>> wanted;
    for (OpResult result : op->getResults())
      for (PartAxis axis : parts.axesOf(result))
        wanted.push_back({result.getResultNumber(), axis});
    return wanted;
  }

  void writeLoop(scf::ForOp loop, OpBuilder &b) {
    auto wanted = partsOfResults(loop);
    SmallVector<Value> inits;
    for (auto [number, axis] : wanted)
      inits.push_back(get(loop.getInitArgs()[number], axis));
    auto made = scf::ForOp::create(
        b, loop.getLoc(), get(loop.getLowerBound(), wholeValue),
        get(loop.getUpperBound(), wholeValue), get(loop.getStep(), wholeValue), inits,
        [](OpBuilder &, Location, Value, ValueRange) {}, loop.getUnsignedCmp());
    made->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
    set(loop.getInductionVar(), wholeValue, made.getInductionVar());
    for (auto [place, part] : llvm::enumerate(wanted)) {
      set(loop.getRegionIterArg(part.first), part.second, made.getRegionIterArg(place));
      set(loop.getResult(part.first), part.second, made.getResult(place));
    }
    OpBuilder inner = OpBuilder::atBlockBegin(made.getBody());
    write(*loop.getBody(), inner);
    writeYield(loop.getBody()->getTerminator(), wanted, inner);
  }

  void writeBranch(scf::IfOp branch, OpBuilder &b) {
    auto wanted = partsOfResults(branch);
    SmallVector<Type> types;
    for (auto [number, axis] : wanted)
      types.push_back(parts.partOf(branch.getResult(number).getType(), axis));
    auto made = scf::IfOp::create(b, branch.getLoc(), types, get(branch.getCondition(), wholeValue),
                                  /*addThenBlock=*/true,
                                  /*addElseBlock=*/branch.elseBlock() != nullptr);
    for (auto [old, block] : {std::pair(branch.thenBlock(), made.thenBlock()),
                              std::pair(branch.elseBlock(), made.elseBlock())}) {
      if (!old)
        continue;
      if (!block->empty())
        block->back().erase();
      OpBuilder inner = OpBuilder::atBlockBegin(block);
      write(*old, inner);
      writeYield(old->getTerminator(), wanted, inner);
    }
    for (auto [place, part] : llvm::enumerate(wanted))
      set(branch.getResult(part.first), part.second, made.getResult(place));
  }

  void writeYield(Operation *old, ArrayRef<std::pair<unsigned, PartAxis>> wanted, OpBuilder &b) {
    SmallVector<Value> values;
    for (auto [number, axis] : wanted)
      values.push_back(get(old->getOperand(number), axis));
    scf::YieldOp::create(b, old->getLoc(), values);
  }

  func::FuncOp kernel;
  unsigned blocks;
  const ProgramParts &parts;
  const DenseMap<Operation *, PartAxis> &shares;
  Value rank;
  DenseMap<std::pair<Value, PartAxis>, Value> made;
};

} // namespace

void rewriteForBlock(func::FuncOp kernel, unsigned blocks, const ProgramParts &parts,
                     const DenseMap<Operation *, PartAxis> &shares) {
  SplitRewriter(kernel, blocks, parts, shares).run();
}

} // namespace kiln
