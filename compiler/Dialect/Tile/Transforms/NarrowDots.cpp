#include "compiler/Dialect/Tile/Transforms/NarrowDots.h"
#include "compiler/Dialect/Tile/Tile.h"
#include "compiler/Dialect/Tile/Transforms/SliceAxes.h"
#include "compiler/Dialect/Tile/Transforms/TrimDots.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace kiln {
namespace {

/// The first elements of a tensor along an axis.
struct Part {
  unsigned axis;
  int64_t extent;

  bool operator==(const Part &other) const { return axis == other.axis && extent == other.extent; }
};

Type partOf(Type type, Part part) {
  auto tensor = cast<RankedTensorType>(type);
  SmallVector<int64_t> shape(tensor.getShape());
  shape[part.axis] = part.extent;
  return tensor.clone(shape);
}

unsigned rankOf(tile::DotOp dot) { return dot.getA().getType().getRank(); }

/// Units multiply no fewer along k, nor have they fewer columns.
int64_t leastExtent(tile::DotOp dot) {
  return dot.getA().getType().getElementTypeBitWidth() < 16 ? 32 : 16;
}

int64_t narrowExtent(tile::DotOp dot, StringRef attribute, int64_t extent) {
  int64_t used = usedExtent(dot, attribute, extent);
  return std::min(extent, std::max<int64_t>(llvm::bit_ceil(uint64_t(used)), leastExtent(dot)));
}

/// What a dot would have.
struct DotExtents {
  int64_t depth, columns;
};

DotExtents narrowExtents(tile::DotOp dot) {
  return {narrowExtent(dot, usedDepthAttr, dot.getA().getType().getShape().back()),
          narrowExtent(dot, usedColumnsAttr, dot.getType().getShape().back())};
}

/// Which values become narrower for some dots. Of indices alone there may be several.
class NarrowedValues {
public:
  /// False if something wants all of a value of which others want a part.
  bool collect(ArrayRef<tile::DotOp> dots) {
    for (tile::DotOp dot : dots) {
      auto [depth, columns] = narrowExtents(dot);
      unsigned rank = rankOf(dot);
      if (depth < dot.getA().getType().getShape().back()) {
        depths[dot] = depth;
        if (!want(dot.getA(), {rank - 1, depth}) || !want(dot.getB(), {rank - 2, depth}))
          return false;
      }
      if (columns < dot.getType().getShape().back() && !follow(dot, {rank - 1, columns}))
        return false;
    }
    // Taking a use in may take in more values.
    for (size_t i = 0; i < parts.size(); ++i) {
      auto [value, part] = parts.getArrayRef()[i];
      if (!llvm::all_of(value.getUses(), [&, part = part](OpOperand &use) {
            return isNarrow(use, part) || takeIn(use, part);
          }))
        return false;
    }
    return true;
  }

  std::optional<Part> of(Value value) const { return partIn(parts, value); }

  /// The part that an operand of a dot, a loop, a yield, a store, or of what computes each element
  /// by itself has; none if all of it.
  std::optional<Part> ofOperand(OpOperand &use) const {
    return llvm::TypeSwitch<Operation *, std::optional<Part>>(use.getOwner())
        .Case([&](tile::DotOp dot) { return ofOperandOfDot(use, dot); })
        .Case([&](scf::ForOp loop) { return of(carriedBy(use)); })
        .Case([&](scf::YieldOp yield) { return of(carriedBy(use)); })
        .Case([&](tile::StoreOp store) { return partIn(stores, store); })
        .Case([&](tile::ReduceOp sum) { return partIn(sums, sum); })
        .Default([&](Operation *op) -> std::optional<Part> {
          std::optional<Part> part = op->getNumResults() ? of(op->getResult(0)) : std::nullopt;
          Axis axis = part ? operandAxis(use, part->axis) : Axis();
          return axis ? std::optional(Part{*axis, part->extent}) : std::nullopt;
        });
  }

  ArrayRef<std::pair<Value, Part>> values() const { return parts.getArrayRef(); }
  const llvm::MapVector<tile::DotOp, int64_t> &narrowDepths() const { return depths; }
  const llvm::MapVector<tile::StoreOp, Part> &narrowStores() const { return stores; }

private:
  template <typename Key>
  static std::optional<Part> partIn(const llvm::MapVector<Key, Part> &parts, Key key) {
    auto found = parts.find(key);
    return found == parts.end() ? std::nullopt : std::optional(found->second);
  }

  /// Indices of which any part can be computed by itself.
  bool isIndex(Value value, unsigned axis) {
    if (auto found = indices.find({value, axis}); found != indices.end())
      return found->second;
    Operation *op = value.getDefiningOp();
    bool is = isUniform(op) || isa_and_nonnull<tile::ArangeOp>(op) ||
              (isIndexArithmetic(op) && llvm::all_of(op->getOpOperands(), [&](OpOperand &operand) {
                 Axis at = operandAxis(operand, axis);
                 return !at || isIndex(operand.get(), *at);
               }));
    indices[{value, axis}] = is;
    return is;
  }

  /// The iteration's value that a loop's operand, or that of its yield, is there for, or a branch's
  /// result.
  static Value carriedBy(OpOperand &use) {
    Operation *op = use.getOwner();
    if (auto loop = dyn_cast<scf::ForOp>(op))
      return use.getOperandNumber() < loop.getNumControlOperands()
                 ? Value()
                 : loop.getTiedLoopRegionIterArg(&use);
    if (auto branch = dyn_cast<scf::IfOp>(op->getParentOp()))
      return branch.getResult(use.getOperandNumber());
    auto loop = dyn_cast<scf::ForOp>(op->getParentOp());
    return loop ? loop.getRegionIterArg(use.getOperandNumber()) : Value();
  }

  std::optional<Part> ofOperandOfDot(OpOperand &use, tile::DotOp dot) const {
    unsigned rank = rankOf(dot), number = use.getOperandNumber();
    auto depth = depths.find(dot);
    if (number < 2 && depth != depths.end())
      return Part{number == 0 ? rank - 1 : rank - 2, depth->second};
    std::optional<Part> part = of(dot.getResult());
    bool isAlongOwn = number == 2 || (number < 2 && part && part->axis == rank - 2 + number);
    return isAlongOwn ? part : std::nullopt;
  }

  bool isNarrow(OpOperand &use, Part part) const { return ofOperand(use) == part; }

  bool want(Value value, Part part) {
    if (isIndex(value, part.axis))
      return true;
    if (auto [found, isNew] = parts.insert({value, part}); !isNew)
      return found->second == part;
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
      return loop && wantCarried(loop, argument.getArgNumber() - loop.getNumInductionVars(), part);
    }
    Operation *op = value.getDefiningOp();
    if (auto loop = dyn_cast<scf::ForOp>(op))
      return wantCarried(loop, cast<OpResult>(value).getResultNumber(), part);
    if (auto branch = dyn_cast<scf::IfOp>(op)) {
      unsigned number = cast<OpResult>(value).getResultNumber();
      return want(branch.thenYield().getOperand(number), part) &&
             want(branch.elseYield().getOperand(number), part);
    }
    if (auto dot = dyn_cast<tile::DotOp>(op))
      return wantOperands(dot, part);
    if (!isOfElements(op))
      return false;
    return llvm::all_of(op->getOpOperands(), [&](OpOperand &operand) {
      Axis axis = operandAxis(operand, part.axis);
      return !axis || want(operand.get(), {*axis, part.extent});
    });
  }

  static bool isOfElements(Operation *op) {
    if (auto load = dyn_cast<tile::LoadOp>(op))
      return !load.getIsVolatile();
    return isSplittable(op) && op->getNumResults() == 1 && op->getNumRegions() == 0;
  }

  bool wantCarried(scf::ForOp loop, unsigned number, Part part) {
    return want(loop.getRegionIterArg(number), part) && want(loop.getResult(number), part) &&
           want(loop.getInitArgs()[number], part) && want(loop.getYieldedValues()[number], part);
  }

  bool wantOperands(tile::DotOp dot, Part part) {
    if (part.axis + 2 < rankOf(dot) || !dot.getScales().empty())
      return false;
    Value operand = part.axis + 1 == rankOf(dot) ? dot.getB() : dot.getA();
    return want(operand, part) && want(dot.getC(), part);
  }

  /// Of what is zero beyond its part a sum may be taken, too.
  bool takeIn(OpOperand &use, Part part) {
    Operation *op = use.getOwner();
    if (auto sum = dyn_cast<tile::ReduceOp>(op)) {
      bool isOfTail = sum->getNumOperands() == 1 && sum.getAxis() == part.axis &&
                      isa_and_nonnull<arith::AddFOp>(sum.getSingleCombiner()) &&
                      zeros.from(use.get(), part.axis) <= part.extent;
      return isOfTail && sums.insert({sum, part}).second;
    }
    if (!isOfElements(op))
      return false;
    Part own{ownAxisOf(use, part.axis), part.extent};
    return zeros.from(op->getResult(0), own.axis) <= own.extent && want(op->getResult(0), own);
  }

  /// Wants all that is computed of a value, up to what is stored.
  bool follow(Value value, Part part) {
    if (!followed.insert(value).second)
      return true;
    return want(value, part) &&
           llvm::all_of(value.getUses(), [&](OpOperand &use) { return followUse(use, part); });
  }

  bool followUse(OpOperand &use, Part part) {
    Operation *op = use.getOwner();
    if (auto store = dyn_cast<tile::StoreOp>(op)) {
      stores.insert({store, part});
      return want(store.getPtr(), part) && (!store.getMask() || want(store.getMask(), part));
    }
    if (auto dot = dyn_cast<tile::DotOp>(op)) {
      unsigned number = use.getOperandNumber();
      bool isAlongOwn = number == 2 || (number < 2 && part.axis == rankOf(dot) - 2 + number);
      return isAlongOwn && follow(dot, part);
    }
    if (isa<scf::ForOp, scf::YieldOp>(op)) {
      Value carried = carriedBy(use);
      if (!carried || !follow(carried, part))
        return false;
      auto argument = dyn_cast<BlockArgument>(carried);
      return !argument ||
             follow(
                 cast<scf::ForOp>(argument.getOwner()->getParentOp()).getTiedLoopResult(argument),
                 part);
    }
    return isOfElements(op) && follow(op->getResult(0), {ownAxisOf(use, part.axis), part.extent});
  }

  llvm::MapVector<Value, Part> parts;
  llvm::MapVector<tile::DotOp, int64_t> depths;
  llvm::MapVector<tile::StoreOp, Part> stores;
  llvm::MapVector<tile::ReduceOp, Part> sums;
  ZeroTails zeros;
  llvm::DenseMap<std::pair<Value, unsigned>, bool> indices;
  llvm::DenseSet<Value> followed;
};

/// Makes the values narrower, in place.
class Rewriter {
public:
  explicit Rewriter(const NarrowedValues &narrowed) : narrowed(narrowed) {}

  void run() {
    llvm::SetVector<Operation *> changed;
    for (auto [value, part] : narrowed.values()) {
      value.setType(cast<RankedTensorType>(partOf(value.getType(), part)));
      Operation *op = value.getDefiningOp();
      if (!op)
        op = value.getParentBlock()->getParentOp();
      changed.insert(op);
      if (isa<scf::ForOp, scf::IfOp>(op))
        for (Region &region : op->getRegions())
          changed.insert(region.front().getTerminator());
      if (auto hint = dyn_cast<tile::HintOp>(op))
        limit(hint, part);
    }
    for (auto [dot, depth] : narrowed.narrowDepths())
      changed.insert(dot);
    for (auto [store, part] : narrowed.narrowStores())
      changed.insert(store);
    for (Operation *op : changed)
      for (OpOperand &operand : op->getOpOperands())
        if (std::optional<Part> part = narrowed.ofOperand(operand))
          if (!narrowed.of(operand.get()))
            operand.set(indices(operand.get(), *part));
  }

private:
  /// A part of indices, computed by itself.
  Value indices(Value value, Part part) {
    Value &made = parts[{value, part.axis, part.extent}];
    if (made)
      return made;
    Operation *op = value.getDefiningOp();
    OpBuilder b(op->getContext());
    b.setInsertionPointAfter(op);
    Operation *copy = b.clone(*op);
    for (auto [old, operand] : llvm::zip(op->getOpOperands(), copy->getOpOperands()))
      if (Axis axis = isUniform(op) ? Axis() : operandAxis(old, part.axis))
        operand.set(indices(old.get(), {*axis, part.extent}));
    copy->getResult(0).setType(partOf(value.getType(), part));
    if (auto constant = dyn_cast<arith::ConstantOp>(copy))
      constant.setValueAttr(cast<SplatElementsAttr>(constant.getValue())
                                .resizeSplat(cast<ShapedType>(constant.getType())));
    if (auto range = dyn_cast<tile::ArangeOp>(copy))
      range.setEnd(range.getStart() + uint32_t(part.extent));
    if (auto hint = dyn_cast<tile::HintOp>(copy))
      limit(hint, part);
    return parts[{value, part.axis, part.extent}] = copy->getResult(0);
  }

  /// Neighbours that the part has fewer of. They begin at the first element, so that a multiple at
  /// their beginning is one still.
  static void limit(tile::HintOp hint, Part part) {
    Builder b(hint.getContext());
    auto limited = [&](std::optional<ArrayRef<int64_t>> numbers) {
      SmallVector<int64_t> least(*numbers);
      least[part.axis] = std::min(least[part.axis], part.extent);
      return b.getDenseI64ArrayAttr(least);
    };
    if (hint.getContiguity())
      hint.setContiguityAttr(limited(hint.getContiguity()));
    if (hint.getConstancy())
      hint.setConstancyAttr(limited(hint.getConstancy()));
  }

  const NarrowedValues &narrowed;
  llvm::DenseMap<std::tuple<Value, unsigned, int64_t>, Value> parts;
};

/// Says of a dot that has become narrower how many products it leaves out.
void note(tile::DotOp dot, int64_t before) {
  int64_t after = dot.getA().getType().getShape().back() * dot.getType().getShape().back();
  if (before == after)
    return;
  Builder b(dot.getContext());
  auto others = dot->getAttrOfType<IntegerAttr>(narrowedByAttr);
  dot->setAttr(narrowedByAttr,
               b.getI32IntegerAttr(int32_t((others ? others.getInt() : 1) * before / after)));
  if (usedExtent(dot, usedDepthAttr, INT64_MAX) >= dot.getA().getType().getShape().back())
    dot->removeAttr(usedDepthAttr);
  if (usedExtent(dot, usedColumnsAttr, INT64_MAX) >= dot.getType().getShape().back())
    dot->removeAttr(usedColumnsAttr);
}

bool narrow(ArrayRef<tile::DotOp> dots, ArrayRef<tile::DotOp> all) {
  NarrowedValues narrowed;
  if (dots.empty() || !narrowed.collect(dots))
    return false;
  SmallVector<int64_t> before;
  for (tile::DotOp dot : all)
    before.push_back(dot.getA().getType().getShape().back() * dot.getType().getShape().back());
  Rewriter(narrowed).run();
  for (auto [dot, products] : llvm::zip(all, before))
    note(dot, products);
  return true;
}

struct NarrowDotsPass : PassWrapper<NarrowDotsPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(NarrowDotsPass)
  StringRef getArgument() const override { return "kiln-narrow-dots"; }
  StringRef getDescription() const override {
    return "Make tiles of products that end in zeros narrower";
  }
  void runOnOperation() override {
    SmallVector<tile::DotOp> all, dots;
    getOperation().walk([&](tile::DotOp dot) {
      all.push_back(dot);
      auto [depth, columns] = narrowExtents(dot);
      bool isNarrower = depth < dot.getA().getType().getShape().back() ||
                        columns < dot.getType().getShape().back();
      if (isNarrower && dot.getScales().empty())
        dots.push_back(dot);
    });
    // Tiles of several dots may be narrower for all of them alone.
    if (!narrow(dots, all))
      for (tile::DotOp dot : dots)
        narrow(dot, all);
  }
};

} // namespace

std::unique_ptr<Pass> createNarrowDotsPass() { return std::make_unique<NarrowDotsPass>(); }

void registerNarrowDotsPass() { PassRegistration<NarrowDotsPass>(); }

} // namespace kiln
