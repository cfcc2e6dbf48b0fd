// Padding of shapes: see the header.
//
// First every operation that meets a padded tensor is checked, then all types are changed at once,
// then the operations are changed one by one. `extents` keeps the original shapes.

#include "compiler/Dialect/Tile/Transforms/PadShapes.h"
#include "compiler/Dialect/Tile/Combiners.h"
#include "compiler/Dialect/Tile/Tile.h"
#include "compiler/Dialect/Tile/Transforms/IndexTensors.h"
#include "compiler/Dialect/Tile/Transforms/PadReshape.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/TypeSwitch.h"
#include <map>

using namespace mlir;

namespace kiln {
namespace {

using Shape = SmallVector<int64_t, 4>;

RankedTensorType paddedType(RankedTensorType type) {
  return type.clone(paddedShape(type.getShape()));
}

constexpr StringLiteral printedShapeAttr = "tile.printed_shape";

bool isIntegerDivision(Operation *op) {
  return isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp, arith::CeilDivSIOp,
             arith::CeilDivUIOp, arith::FloorDivSIOp>(op);
}

class ShapePadding {
public:
  explicit ShapePadding(func::FuncOp kernel) : kernel(kernel), prologue(kernel.getContext()) {}

  LogicalResult run() {
    collect();
    bool padded = true;
    for (Operation *op : affected)
      padded &= succeeded(check(op));
    if (!padded)
      return failure();
    // The masks of padding come before all that the kernel does.
    prologue.setInsertionPoint(&kernel.getBody().front().front());
    for (auto &[value, shape] : extents)
      value.setType(paddedType(cast<RankedTensorType>(value.getType())));
    Block &body = kernel.getBody().front();
    kernel.setType(FunctionType::get(kernel.getContext(), body.getArgumentTypes(),
                                     body.getTerminator()->getOperandTypes()));
    for (Operation *op : affected)
      pad(op);
    for (Operation *op : replaced)
      op->erase();
    return success();
  }

private:
  //===-- collection and checks
  //------------------------------------------------------------------===//

  void note(Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (type && paddedType(type) != type)
      extents[value] = Shape(type.getShape());
  }

  bool isPadded(Value value) const { return extents.count(value); }

  void collect() {
    kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
      for (Value result : op->getResults())
        note(result);
      for (Region &region : op->getRegions())
        for (Block &block : region)
          llvm::for_each(block.getArguments(), [&](Value argument) { note(argument); });
      if (llvm::any_of(op->getOperands(), [&](Value v) { return isPadded(v); }) ||
          llvm::any_of(op->getResults(), [&](Value v) { return isPadded(v); }))
        affected.push_back(op);
    });
  }

  /// What `pad` relies on.
  static LogicalResult check(Operation *op) {
    auto constant = dyn_cast<arith::ConstantOp>(op);
    bool known =
        isa<tile::LoadOp, tile::StoreOp, tile::AtomicRMWOp, tile::AtomicCASOp, tile::AssertOp,
            tile::PrintOp, tile::ReduceOp, tile::ScanOp, scf::ForOp, scf::IfOp, scf::WhileOp,
            scf::YieldOp, scf::ConditionOp>(op) ||
        (isMemoryEffectFree(op) && !(constant && !isa<SplatElementsAttr>(constant.getValue())));
    if (known)
      return success();
    return op->emitOpError("is not supported on tensors whose extents are not powers of two; use "
                           "the next power of two and a mask");
  }

  //===-- masks
  //----------------------------------------------------------------------------------===//

  /// i1 of the padded shape: inside of `shape` along `axis`, or along every axis.
  Value inRange(ArrayRef<int64_t> shape, std::optional<unsigned> axis = std::nullopt) {
    Value &mask = masks[{Shape(shape), axis ? int(*axis) : -1}];
    if (mask)
      return mask;
    Value all;
    for (unsigned along = 0; along != shape.size(); ++along) {
      if (paddedExtent(shape[along]) == shape[along] || (axis && *axis != along))
        continue;
      Value one = inRangeAlong(shape, along);
      all = all ? Value(arith::AndIOp::create(prologue, kernel.getLoc(), all, one)) : one;
    }
    return mask = all;
  }

  Value inRangeAlong(ArrayRef<int64_t> shape, unsigned axis) {
    Location loc = kernel.getLoc();
    Value index = indexRange(prologue, loc, paddedExtent(shape[axis]));
    Value limit = splatOf(prologue, loc, index.getType(), shape[axis]);
    Value mask = arith::CmpIOp::create(prologue, loc, arith::CmpIPredicate::ult, index, limit);
    Shape wide{paddedExtent(shape[axis])};
    Type i1 = prologue.getI1Type();
    for (unsigned other = 0; other != shape.size(); ++other)
      if (other != axis) {
        wide.insert(wide.begin() + other, 1);
        mask =
            tile::ExpandDimsOp::create(prologue, loc, RankedTensorType::get(wide, i1), mask, other);
      }
    auto full = RankedTensorType::get(paddedShape(shape), i1);
    return mask.getType() == full ? mask : tile::BroadcastOp::create(prologue, loc, full, mask);
  }

  /// The mask without padding. A select, as `and` would let through what padding makes of `mask`.
  Value restricted(OpBuilder &builder, Location loc, Value mask, ArrayRef<int64_t> shape) {
    Value inside = inRange(shape);
    if (!mask)
      return inside;
    Value none = constantOf(builder, loc, mask.getType(), builder.getBoolAttr(false));
    return arith::SelectOp::create(builder, loc, inside, mask, none);
  }

  //===-- operations
  //-----------------------------------------------------------------------------===//

  void pad(Operation *op) {
    if (isIntegerDivision(op))
      return padDivision(op);
    llvm::TypeSwitch<Operation *>(op)
        .Case([&](tile::ArangeOp range) {
          range.setEnd(range.getStart() + uint32_t(range.getType().getDimSize(0)));
        })
        .Case([&](arith::ConstantOp constant) {
          auto splat = cast<SplatElementsAttr>(constant.getValue());
          constant.setValueAttr(splat.resizeSplat(cast<ShapedType>(constant.getType())));
        })
        .Case([&](tile::LoadOp load) { padLoad(load); })
        .Case<tile::StoreOp, tile::AtomicRMWOp, tile::AtomicCASOp>(
            [&](auto access) { padMask(access, access.getPtr()); })
        .Case([&](tile::HistogramOp histogram) {
          if (isPadded(histogram.getSource()))
            padMask(histogram, histogram.getSource());
        })
        .Case([&](tile::AssertOp assertion) { padAssert(assertion); })
        .Case([&](tile::PrintOp print) {
          print->setAttr(printedShapeAttr, DenseI64ArrayAttr::get(print.getContext(),
                                                                  originalShape(print.getValue())));
        })
        .Case([&](tile::MapOp map) { padMap(map); })
        .Case([&](tile::DotOp dot) { padDot(dot); })
        .Case([&](tile::ReshapeOp reshape) {
          OpBuilder builder(reshape);
          replace(reshape, padReshape(builder, reshape, originalShape(reshape.getSource()),
                                      originalShape(reshape.getResult())));
        })
        .Case([&](tile::ReduceOp reduce) {
          guardDivisions(reduce.getCombine());
          padFold(reduce, /*paddingIsFirst=*/false);
        })
        .Case([&](tile::ScanOp scan) {
          guardDivisions(scan.getCombine());
          // A scan in forward order meets padding after everything else.
          if (scan.getReverse())
            padFold(scan, /*paddingIsFirst=*/true);
        });
  }

  Shape originalShape(Value value) const {
    auto found = extents.find(value);
    return found == extents.end() ? Shape(tile::shapeOf(value.getType())) : found->second;
  }

  /// The operation goes away when all are padded: others may hold on to it until then.
  void replace(Operation *op, ValueRange values) {
    if (values == op->getResults())
      return;
    for (auto [before, after] : llvm::zip_equal(op->getResults(), values)) {
      before.replaceAllUsesWith(after);
      if (isPadded(before))
        extents[after] = originalShape(before);
    }
    replaced.push_back(op);
  }

  /// Padding may hold anything, and a division by zero must not happen even where nobody looks.
  void padDivision(Operation *op) {
    Value divisor = op->getOperand(1);
    if (matchPattern(divisor, m_Constant()) || divisor.getDefiningOp<tile::SplatOp>())
      return;
    OpBuilder builder(op);
    Value one = splatOf(builder, op->getLoc(), divisor.getType(), 1);
    op->setOperand(1, arith::SelectOp::create(builder, op->getLoc(),
                                              inRange(originalShape(divisor)), divisor, one));
  }

  template <typename Op> void padMask(Op op, Value padded) {
    OpBuilder builder(op);
    op.getMaskMutable().assign(
        restricted(builder, op.getLoc(), op.getMask(), originalShape(padded)));
  }

  void padLoad(tile::LoadOp op) {
    padMask(op, op.getPtr());
    if (op.getOther())
      return;
    OpBuilder builder(op);
    Type element = tile::elementTypeOf(op.getType());
    if (TypedAttr zero = builder.getZeroAttr(element))
      op.getOtherMutable().assign(constantOf(builder, op.getLoc(), op.getType(), zero));
  }

  void padAssert(tile::AssertOp op) {
    OpBuilder builder(op);
    Value condition = op.getCondition();
    Value holds = constantOf(builder, op.getLoc(), condition.getType(), builder.getBoolAttr(true));
    op.getConditionMutable().assign(arith::SelectOp::create(
        builder, op.getLoc(), inRange(originalShape(condition)), condition, holds));
  }

  /// The function is not called for padding, where it might not end.
  void padMap(tile::MapOp op) {
    Block &block = op.getBody().front();
    Location loc = op.getLoc();
    Operation *yield = block.getTerminator();
    op.getSourcesMutable().append(inRange(originalShape(op.getSources()[0])));
    Value inside = block.addArgument(prologue.getI1Type(), loc);
    OpBuilder builder(yield);
    SmallVector<Type> types(yield->getOperandTypes());
    auto call = scf::IfOp::create(builder, loc, types, inside, /*withElseRegion=*/true);
    Block *then = call.thenBlock();
    then->getOperations().splice(then->begin(), block.getOperations(), block.begin(),
                                 Block::iterator(call));
    builder.setInsertionPointToEnd(then);
    scf::YieldOp::create(builder, loc, yield->getOperands());
    builder.setInsertionPointToEnd(call.elseBlock());
    SmallVector<Value> unseen;
    for (Type type : types)
      unseen.push_back(ub::PoisonOp::create(builder, loc, type));
    scf::YieldOp::create(builder, loc, unseen);
    yield->setOperands(call.getResults());
  }

  //===-- dots
  //-----------------------------------------------------------------------------------===//

  void padDot(tile::DotOp dot) {
    unsigned rank = dot.getA().getType().getRank();
    zeroPadding(dot.getAMutable(), rank - 1);
    zeroPadding(dot.getBMutable(), rank - 2);
  }

  void zeroPadding(OpOperand &operand, unsigned axis) {
    Shape shape = originalShape(operand.get());
    if (paddedExtent(shape[axis]) == shape[axis] || holdsZeros(operand.get(), axis))
      return;
    OpBuilder builder(operand.getOwner());
    Location loc = operand.getOwner()->getLoc();
    Type type = operand.get().getType();
    Value zero = constantOf(builder, loc, type, builder.getZeroAttr(tile::elementTypeOf(type)));
    operand.set(arith::SelectOp::create(builder, loc, inRange(shape, axis), operand.get(), zero));
  }

  /// The padding of `value` along `axis` is zero: it comes from a load, whose padding is `other`.
  static bool holdsZeros(Value value, unsigned axis) {
    if (matchPattern(value, m_Zero()) || matchPattern(value, m_AnyZeroFloat()))
      return true;
    Operation *op = value.getDefiningOp();
    if (auto load = dyn_cast_or_null<tile::LoadOp>(op))
      return load.getMask() && load.getOther() && holdsZeros(load.getOther(), axis);
    if (isa_and_nonnull<arith::ExtFOp, arith::TruncFOp, arith::ExtSIOp, arith::ExtUIOp,
                        arith::TruncIOp, arith::SIToFPOp, arith::UIToFPOp, tile::BitcastOp,
                        tile::HintOp, tile::NarrowOp>(op))
      return holdsZeros(op->getOperand(0), axis);
    if (auto trans = dyn_cast_or_null<tile::TransOp>(op))
      return holdsZeros(trans.getSource(), trans.getOrder()[axis]);
    return false;
  }

  //===-- reductions and scans
  //-------------------------------------------------------------------===//

  template <typename Op> void padFold(Op op, bool paddingIsFirst) {
    Shape shape = originalShape(op.getSources()[0]);
    if (paddedExtent(shape[op.getAxis()]) == shape[op.getAxis()])
      return;
    if (std::optional<AxisIndex> index = findIndex(op))
      return foldByIndex(op, *index, shape[op.getAxis()], paddingIsFirst);
    Value inside = inRange(shape, op.getAxis());
    TypedAttr neutral = tile::neutralElement(op.getSingleCombiner());
    if (!neutral)
      return addFlag(op, inside, paddingIsFirst);
    OpBuilder builder(op);
    for (OpOperand &source : op->getOpOperands()) {
      Value filler = constantOf(builder, op.getLoc(), source.get().getType(), neutral);
      source.set(arith::SelectOp::create(builder, op.getLoc(), inside, source.get(), filler));
    }
  }

  /// What combines elements of padding must not divide by zero.
  static void guardDivisions(Region &combine) {
    combine.walk([](Operation *op) {
      if (!isIntegerDivision(op) || matchPattern(op->getOperand(1), m_Constant()))
        return;
      OpBuilder builder(op);
      Value divisor = op->getOperand(1);
      auto number = [&](int64_t value) -> Value {
        return arith::ConstantIntOp::create(builder, op->getLoc(), divisor.getType(), value);
      };
      Value isZero = arith::CmpIOp::create(builder, op->getLoc(), arith::CmpIPredicate::eq, divisor,
                                           number(0));
      op->setOperand(1, arith::SelectOp::create(builder, op->getLoc(), isZero, number(1), divisor));
    });
  }

  /// Combinations are in order and padding is at one end, so of two elements the one nearer to that
  /// end decides: where it is not `decides`, the combination is the other one, which may be padding
  /// too. `decides` makes an i1 before the region's end.
  static void leaveOutPadding(Block &block, unsigned count, bool paddingIsFirst,
                              function_ref<Value(OpBuilder &)> decides) {
    Operation *yield = block.getTerminator();
    OpBuilder builder(yield);
    Value isElement = decides(builder);
    unsigned offset = paddingIsFirst ? block.getNumArguments() / 2 : 0;
    for (unsigned index = 0; index != count; ++index) {
      Value other = block.getArgument(offset + index), combined = yield->getOperand(index);
      yield->setOperand(
          index, arith::SelectOp::create(builder, yield->getLoc(), isElement, combined, other));
    }
  }

  /// A source that counts along the axis, and its first number.
  struct AxisIndex {
    unsigned source;
    uint32_t start;
  };

  /// Of a combination that chooses between whole elements, as an argmax: the chosen one's index
  /// tells whether it is padding.
  template <typename Op> std::optional<AxisIndex> findIndex(Op op) {
    Block &block = op.getCombine().front();
    unsigned count = op.getSources().size();
    for (unsigned source = 0; source != count; ++source) {
      auto choice =
          block.getTerminator()->getOperand(source).template getDefiningOp<arith::SelectOp>();
      Value left = block.getArgument(source), right = block.getArgument(count + source);
      if (!choice || !((choice.getTrueValue() == left && choice.getFalseValue() == right) ||
                       (choice.getTrueValue() == right && choice.getFalseValue() == left)))
        continue;
      if (auto range = rangeAlong(op.getSources()[source], op.getAxis()))
        return AxisIndex{source, range.getStart()};
    }
    return std::nullopt;
  }

  /// The range that a value is along an axis, whatever the other coordinates.
  static tile::ArangeOp rangeAlong(Value value, unsigned axis) {
    Operation *op = value.getDefiningOp();
    if (auto broadcast = dyn_cast_or_null<tile::BroadcastOp>(op)) {
      bool repeats = broadcast.getSource().getType().getDimSize(axis) == 1;
      return repeats ? tile::ArangeOp() : rangeAlong(broadcast.getSource(), axis);
    }
    if (auto expand = dyn_cast_or_null<tile::ExpandDimsOp>(op))
      return axis == expand.getAxis()
                 ? tile::ArangeOp()
                 : rangeAlong(expand.getSource(), axis - (axis > expand.getAxis()));
    return dyn_cast_or_null<tile::ArangeOp>(op);
  }

  template <typename Op>
  void foldByIndex(Op op, AxisIndex index, int64_t extent, bool paddingIsFirst) {
    Block &block = op.getCombine().front();
    unsigned count = op.getSources().size();
    leaveOutPadding(block, count, paddingIsFirst, [&](OpBuilder &builder) -> Value {
      Value place = block.getArgument(index.source + (paddingIsFirst ? 0 : count));
      auto number = [&](int64_t value) -> Value {
        return arith::ConstantIntOp::create(builder, op.getLoc(), place.getType(), value);
      };
      if (index.start != 0)
        place = arith::SubIOp::create(builder, op.getLoc(), place, number(int32_t(index.start)));
      return arith::CmpIOp::create(builder, op.getLoc(), arith::CmpIPredicate::ult, place,
                                   number(extent));
    });
  }

  /// One more element to combine says which are padding.
  template <typename Op> void addFlag(Op op, Value inside, bool paddingIsFirst) {
    OpBuilder builder(op);
    Location loc = op.getLoc();
    unsigned count = op.getSources().size();
    SmallVector<Value> sources(op.getSources());
    sources.push_back(inside);
    SmallVector<Type> types(op.getResultTypes());
    types.push_back(tile::withElementType(types[0], builder.getI1Type()));
    OperationState state(loc, op->getName(), sources, types, op->getAttrs());
    state.addRegion()->takeBody(op.getCombine());
    Operation *flagged = builder.create(state);

    Block &block = flagged->getRegion(0).front();
    Value left = block.insertArgument(count, builder.getI1Type(), loc);
    Value right = block.addArgument(builder.getI1Type(), loc);
    leaveOutPadding(block, count, paddingIsFirst,
                    [&](OpBuilder &) { return paddingIsFirst ? left : right; });
    Operation *yield = block.getTerminator();
    yield->insertOperands(count, paddingIsFirst ? right : left);
    replace(op, flagged->getResults().drop_back());
  }

  func::FuncOp kernel;
  OpBuilder prologue;
  /// The original shapes of the tensors that grow.
  llvm::MapVector<Value, Shape> extents;
  SmallVector<Operation *> affected, replaced;
  std::map<std::pair<Shape, int>, Value> masks;
};

struct PadShapesPass : PassWrapper<PadShapesPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PadShapesPass)
  StringRef getArgument() const override { return "kiln-pad-shapes"; }
  StringRef getDescription() const override { return "Round extents up to powers of two"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, scf::SCFDialect, tile::TileDialect, ub::UBDialect>();
  }
  void runOnOperation() override {
    if (!getOperation().isDeclaration() && failed(padShapes(getOperation())))
      signalPassFailure();
  }
};

} // namespace

ArrayRef<int64_t> printedShape(Operation *print) {
  if (auto before = print->getAttrOfType<DenseI64ArrayAttr>(printedShapeAttr))
    return before.asArrayRef();
  return print->getNumOperands() ? tile::shapeOf(print->getOperand(0).getType())
                                 : ArrayRef<int64_t>();
}

LogicalResult padShapes(func::FuncOp kernel) { return ShapePadding(kernel).run(); }

std::unique_ptr<Pass> createPadShapesPass() { return std::make_unique<PadShapesPass>(); }

void registerPadShapesPass() { PassRegistration<PadShapesPass>(); }

} // namespace kiln
