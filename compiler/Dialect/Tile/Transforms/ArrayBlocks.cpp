#include "compiler/Dialect/Tile/Transforms/ArrayBlocks.h"

#include "compiler/Analysis/ValueSources.h"
#include "compiler/Dialect/Tile/Transforms/MaskBounds.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/TypeSwitch.h"
#include <array>
#include <map>
#include <numeric>

using namespace mlir;

namespace kiln {

std::optional<unsigned> arrayOf(Value pointers, func::FuncOp kernel) {
  BlockArgument argument = argumentOf(pointers);
  if (!argument || argument.getOwner() != &kernel.front())
    return std::nullopt;
  return argument.getArgNumber();
}

std::optional<unsigned> arrayOfDescriptor(Value descriptor, func::FuncOp kernel) {
  if (auto make = descriptor.getDefiningOp<tile::MakeDescriptorOp>())
    return arrayOf(make.getBase(), kernel);
  if (auto make = descriptor.getDefiningOp<tile::MakeTensorMapOp>())
    return arrayOf(make.getBase(), kernel);
  auto argument = dyn_cast<BlockArgument>(descriptor);
  if (!argument || argument.getOwner() != &kernel.front())
    return std::nullopt;
  auto map = kernel.getArgAttrOfType<tile::TensorMapAttr>(argument.getArgNumber(),
                                                          tile::TileDialect::tensorMapAttr);
  return map ? std::optional<unsigned>(map.getBase()) : std::nullopt;
}

namespace {

/// The index that the elements of a tile have along one of its axes: their position plus `first`,
/// but anything where that would be `limit` or more.
struct AxisIndex {
  Polynomial first;
  std::optional<Polynomial> limit;
};

/// More the engine does not count.
constexpr int64_t mostElements = std::numeric_limits<int32_t>::max();

/// A product of symbols, and how often it is in a sum.
using Term = std::pair<Polynomial::Monomial, int64_t>;

/// Whether a number has 32 bits, or is one of 64 that needs no more by what it is computed of.
bool isNarrow(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || !value.getType().isInteger(64))
    return value.getType().isInteger(32);
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant.isSignedIntN(32);
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case(
          [](arith::ExtSIOp wide) { return wide.getIn().getType().getIntOrFloatBitWidth() <= 32; })
      .Case([](arith::ExtUIOp wide) { return wide.getIn().getType().getIntOrFloatBitWidth() < 32; })
      .Case([](tile::HintOp hint) { return isNarrow(hint.getSource()); })
      .Case([](arith::DivSIOp quotient) { return isNarrow(quotient.getLhs()); })
      .Case([](arith::RemSIOp rest) { return isNarrow(rest.getLhs()) || isNarrow(rest.getRhs()); })
      .Default([](Operation *) { return false; });
}

} // namespace

//===--- Reading one load ---===//

class BlockReader {
public:
  BlockReader(ArrayBlocks &blocks, tile::LoadOp load)
      : blocks(blocks), polynomials(blocks.polynomials), load(load) {}

  std::optional<ArrayBlock> read() {
    auto type = dyn_cast<RankedTensorType>(load.getType());
    if (!type || type.getRank() != 2 || !mayBeCopied() || !loadsZeros())
      return std::nullopt;
    std::optional<unsigned> base = arrayOf(load.getPtr(), blocks.kernel);
    if (!base || blocks.writesAnywhere || blocks.written.contains(*base) || !readMask() ||
        !readAddress() || !readBounds(0) || !readBounds(1))
      return std::nullopt;
    block.base = *base;
    block.strides.push_back(rowStride);
    llvm::append_range(block.extents, extents);
    llvm::append_range(block.origin, origin);
    return block;
  }

private:
  /// The engine reads when it likes, and from where it likes.
  bool mayBeCopied() { return !load.getIsVolatile() && load.getCache() != tile::CacheModifier::CV; }

  /// What is masked away is zero, of a positive sign, or is not said to be anything.
  bool loadsZeros() {
    return !load.getOther() || matchPattern(load.getOther(), m_PosZeroFloat()) ||
           matchPattern(load.getOther(), m_Zero());
  }

  unsigned tileAxisOf(unsigned arrayAxis) const {
    return block.isTransposed ? 1 - arrayAxis : arrayAxis;
  }

  //===--- Addresses ---===//

  /// Each axis of the tile in one product, of its index and the array's stride along it; the rest
  /// is the origin.
  bool readAddress() {
    Polynomial address = polynomials.of(load.getPtr());
    if (address.isTooLarge())
      return false;
    std::array<std::optional<Polynomial>, 2> strides;
    Polynomial rest;
    for (auto &[monomial, coefficient] : address.terms()) {
      std::optional<unsigned> axis;
      Polynomial factor = Polynomial::constant(coefficient);
      for (Symbol symbol : monomial) {
        SmallVector<unsigned, 2> axes = polynomials.axesOf(symbol);
        if (axes.empty()) {
          factor = factor.times(Polynomial::symbol(symbol));
          continue;
        }
        if (axis || axes.size() > 1 || strides[axes[0]] || !readIndex(symbol, axes[0]))
          return false;
        axis = axes[0];
      }
      if (axis)
        strides[*axis] = factor;
      else
        rest = rest.plus(factor);
    }
    return strides[0] && strides[1] && readStrides(*strides[0], *strides[1]) && readOrigin(rest) &&
           readOuterAxes();
  }

  bool readIndex(Symbol symbol, unsigned axis) {
    const SymbolMeaning meaning = polynomials.meaning(symbol);
    if (meaning.kind == SymbolMeaning::Kind::Axis)
      indices[axis] = {};
    else if (std::optional<AxisIndex> index = keptInside(meaning.value))
      indices[axis] = *index;
    else
      return false;
    return true;
  }

  /// `x % n`, `min(x, n)` and `select(x < n, x, …)` of indices that count up.
  std::optional<AxisIndex> keptInside(Value value) {
    if (auto rest = value.getDefiningOp<arith::RemSIOp>())
      return limited(rest.getLhs(), polynomials.of(rest.getRhs()));
    if (auto least = value.getDefiningOp<arith::MinSIOp>())
      return limited(least.getLhs(), polynomials.of(least.getRhs()).plus(Polynomial::constant(1)));
    auto select = value.getDefiningOp<arith::SelectOp>();
    if (!select)
      return std::nullopt;
    MaskBounds bounds = boundsOf(select.getCondition(), polynomials);
    std::optional<Polynomial> first = firstOf(select.getTrueValue());
    if (!first || !bounds.areAll || bounds.bounds.size() != 1 || !bounds.bounds[0].isUpper)
      return std::nullopt;
    return AxisIndex{*first, first->plus(bounds.bounds[0].rest, -1)};
  }

  std::optional<AxisIndex> limited(Value value, const Polynomial &limit) {
    std::optional<Polynomial> first = firstOf(value);
    if (!first || !polynomials.isUniform(limit))
      return std::nullopt;
    return AxisIndex{*first, limit};
  }

  /// What the elements count up from.
  std::optional<Polynomial> firstOf(Value value) {
    Polynomial index = polynomials.of(value);
    std::optional<unsigned> axis;
    Polynomial first;
    for (auto &[monomial, coefficient] : index.terms()) {
      bool counts = monomial.size() == 1 && coefficient == 1 && !axis &&
                    polynomials.meaning(monomial[0]).kind == SymbolMeaning::Kind::Axis;
      if (counts)
        axis = polynomials.meaning(monomial[0]).axis;
      else
        first.add(monomial, coefficient);
    }
    if (!axis || !polynomials.isUniform(first))
      return std::nullopt;
    return first;
  }

  bool readStrides(const Polynomial &first, const Polynomial &second) {
    int64_t bytes = elementBytes();
    block.isTransposed = first.asConstant() == bytes;
    if (!block.isTransposed && second.asConstant() != bytes)
      return false;
    std::optional<Polynomial> rows = (block.isTransposed ? second : first).dividedBy(bytes);
    return rows && readNumber(*rows, rowStride);
  }

  //===--- The origin ---===//

  /// What all elements' addresses share: each term of it is so many rows, or columns, or steps
  /// along an axis of its own. Rows are multiples of their stride.
  bool readOrigin(const Polynomial &rest) {
    for (const auto &[factors, bytes] : rest.terms()) {
      if (bytes % elementBytes() != 0)
        return false;
      Term columns(factors, bytes / elementBytes());
      std::optional<Term> rows = inRows(columns);
      if (rows && isBounded(0, *rows))
        add(0, *rows);
      else if (isBounded(1, columns))
        add(1, columns);
      else if (rows && isStepAlongOpen(0, *rows))
        add(0, *rows);
      else if (isStepAlongOpen(1, columns))
        add(1, columns);
      else if (!addToOuterAxis(columns))
        rows ? add(0, *rows) : add(1, columns);
    }
    return true;
  }

  void add(unsigned axis, const Term &term) { origin[axis].add(term.first, term.second); }

  std::optional<Term> inRows(Term term) const {
    if (rowStride.arguments.empty()) {
      if (rowStride.constant == 0 || term.second % rowStride.constant != 0)
        return std::nullopt;
      term.second /= rowStride.constant;
      return term;
    }
    Symbol stride = polynomials.symbolOf(blocks.kernel.getArgument(rowStride.arguments[0]));
    auto *at = llvm::find(term.first, stride);
    if (at == term.first.end())
      return std::nullopt;
    term.first.erase(at);
    return term;
  }

  /// Whether the mask compares what has the term in it along an axis of the array.
  bool isBounded(unsigned axis, const Term &term) const {
    return llvm::any_of(masked.bounds, [&](const IndexBound &bound) {
      return bound.axis == tileAxisOf(axis) && bound.rest.coefficient(term.first) != 0;
    });
  }

  /// Whether the term may be a way along an axis that ends nowhere: in an array with an end it
  /// would be in the mask. Steps of a length that is known at launch, or that would leave 32 bits
  /// after some thousands, are those of an axis of their own.
  bool isStepAlongOpen(unsigned axis, const Term &term) const {
    constexpr int64_t longestStep = 1 << 16;
    bool hasEnd = indices[tileAxisOf(axis)].limit ||
                  llvm::any_of(masked.bounds, [&](const IndexBound &bound) {
                    return bound.axis == tileAxisOf(axis) && bound.isUpper;
                  });
    return !hasEnd && std::abs(term.second) < longestStep &&
           llvm::none_of(term.first, [&](Symbol symbol) { return argumentOf(symbol).has_value(); });
  }

  /// Steps along an axis of which blocks have one element: of a length that is known at launch, and
  /// as many as a symbol, or the term itself, says. That the symbol has 32 bits is seen where it is
  /// computed (`materialise`).
  bool addToOuterAxis(const Term &term) {
    Polynomial::Monomial stride, counted;
    for (Symbol symbol : term.first)
      (argumentOf(symbol) ? stride : counted).push_back(symbol);
    bool isStep =
        !term.first.empty() && counted.size() <= 1 && stride.size() <= LaunchValue::mostArguments;
    Polynomial steps;
    steps.add(counted, term.second);
    if (!isStep || !blocks.isNonNegative(steps))
      return false;
    outer[stride].add(counted, term.second);
    return true;
  }

  /// One axis for all steps whose length has the same arguments. They lead to what is there, as the
  /// mask has nothing against it, and so the extent is the longest one. No coordinate is beyond it:
  /// each symbol has 31 bits, and their sum, times strides of 128 bytes or more, is an offset in
  /// memory, which is far below 2^38. (Strides of 0 and others as short, if arguments, would take
  /// 2^31 steps, more than a launch has programs.) How long strides are, the launcher checks.
  bool readOuterAxes() {
    constexpr int64_t leastBytes = 128;
    for (const auto &[arguments, steps] : outer) {
      LaunchValue stride;
      stride.constant = 0;
      for (const auto &[symbol, elements] : steps.terms())
        stride.constant = std::gcd(stride.constant, elements);
      int64_t bytes = stride.constant * elementBytes();
      if (arguments.empty() && (bytes < leastBytes || bytes % tile::DescriptorType::alignment != 0))
        return false;
      for (Symbol argument : arguments)
        stride.arguments.push_back(*argumentOf(argument));
      block.origin.push_back(*steps.dividedBy(stride.constant));
      block.strides.push_back(stride);
      block.extents.push_back({{}, mostElements});
    }
    return outer.size() + 2 <= ArrayBlock::mostAxes;
  }

  //===--- Bounds ---===//

  bool readMask() {
    if (load.getMask())
      masked = boundsOf(load.getMask(), polynomials);
    return masked.areAll;
  }

  bool readBounds(unsigned axis) {
    const AxisIndex &index = indices[tileAxisOf(axis)];
    Polynomial offset = origin[axis];
    Polynomial &first = origin[axis] = offset.plus(index.first);
    // At a box that begins within a piece of 16 bytes an H200 stops.
    constexpr unsigned columns = 1;
    if (axis == columns &&
        !blocks.isMultipleOf(first, tile::DescriptorType::alignment / elementBytes()))
      return false;
    std::optional<Polynomial> extent;
    bool startsInside = blocks.isNonNegative(first);
    for (const IndexBound &bound : masked.bounds) {
      if (bound.axis != tileAxisOf(axis))
        continue;
      if (!bound.isUpper && !(first == bound.rest))
        return false;
      startsInside |= !bound.isUpper;
      Polynomial end = first.plus(bound.rest, -1);
      if (bound.isUpper && extent && !(*extent == end))
        return false;
      if (bound.isUpper)
        extent = end;
    }
    if (!startsInside)
      return false;
    if (index.limit) {
      Polynomial limit = index.limit->plus(offset);
      if (extent ? !(*extent == limit)
                 : !blocks.isDropped(load, tileAxisOf(axis), index.first, *index.limit))
        return false;
      extent = limit;
    }
    if (extent)
      return readNumber(*extent, extents[axis]);
    // All that the block covers is there.
    extents[axis].constant = mostElements;
    return true;
  }

  bool readNumber(const Polynomial &value, LaunchValue &number) {
    if (std::optional<int64_t> constant = value.asConstant()) {
      number.constant = *constant;
      return *constant >= 0;
    }
    if (value.terms().size() != 1)
      return false;
    auto &[monomial, coefficient] = *value.terms().begin();
    if (monomial.size() != 1 || coefficient != 1)
      return false;
    std::optional<unsigned> argument = argumentOf(monomial[0]);
    if (argument)
      number.arguments.push_back(*argument);
    return argument.has_value();
  }

  std::optional<unsigned> argumentOf(Symbol symbol) const {
    auto argument = dyn_cast_or_null<BlockArgument>(polynomials.meaning(symbol).value);
    if (!argument || argument.getOwner() != &blocks.kernel.front())
      return std::nullopt;
    return argument.getArgNumber();
  }

  int64_t elementBytes() {
    return cast<tile::PtrType>(tile::elementTypeOf(load.getPtr().getType())).getElementBytes();
  }

  ArrayBlocks &blocks;
  IndexPolynomials &polynomials;
  tile::LoadOp load;
  MaskBounds masked;
  std::array<AxisIndex, 2> indices; ///< by axes of the tile
  ArrayBlock block;
  LaunchValue rowStride;
  /// Of rows and columns.
  std::array<LaunchValue, 2> extents;
  std::array<Polynomial, 2> origin;
  /// The steps along other axes, by the arguments that are their strides; constants are among the
  /// steps.
  std::map<Polynomial::Monomial, Polynomial> outer;
};

//===--- What nobody sees ---===//

namespace {

/// Follows elements of a tensor at indices from `limit` on along an axis, through all that keeps
/// them there.
class DroppedElements {
public:
  DroppedElements(IndexPolynomials &polynomials, const Polynomial &first, const Polynomial &limit)
      : polynomials(polynomials), first(first), limit(limit) {}

  bool areDropped(Value value, unsigned axis) {
    if (!seen.insert({value, axis}).second)
      return true;
    return llvm::all_of(value.getUses(), [&](OpOperand &use) { return isDroppedBy(use, axis); });
  }

private:
  bool isDroppedBy(OpOperand &use, unsigned axis) {
    Operation *op = use.getOwner();
    if (OpTrait::hasElementwiseMappableTraits(op) || isa<tile::BroadcastOp, tile::HintOp>(op))
      return areDropped(op->getResult(0), axis);
    return llvm::TypeSwitch<Operation *, bool>(op)
        .Case([&](tile::DotOp dot) { return isDroppedByDot(use, dot, axis); })
        .Case([&](tile::TransOp trans) {
          auto *moved = llvm::find(trans.getOrder(), int32_t(axis));
          return areDropped(trans, moved - trans.getOrder().begin());
        })
        .Case([&](tile::ExpandDimsOp expand) {
          return areDropped(expand, axis + (axis >= unsigned(expand.getAxis())));
        })
        .Case([&](scf::ForOp loop) {
          return use.getOperandNumber() >= loop.getNumControlOperands() &&
                 isDroppedByLoop(loop, use.getOperandNumber() - loop.getNumControlOperands(), axis);
        })
        .Case([&](scf::YieldOp yield) {
          if (auto loop = dyn_cast<scf::ForOp>(yield->getParentOp()))
            return isDroppedByLoop(loop, use.getOperandNumber(), axis);
          auto branch = dyn_cast<scf::IfOp>(yield->getParentOp());
          return branch && areDropped(branch.getResult(use.getOperandNumber()), axis);
        })
        .Case([&](tile::StoreOp store) {
          return use.get() == store.getValue() && use.get() != store.getMask() &&
                 isMaskedAway(store.getMask(), axis);
        })
        .Case([&](tile::AtomicRMWOp atomic) {
          return atomic.use_empty() && use.get() == atomic.getValue() &&
                 isMaskedAway(atomic.getMask(), axis);
        })
        .Default([](Operation *) { return false; });
  }

  bool isDroppedByDot(OpOperand &use, tile::DotOp dot, unsigned axis) {
    unsigned rank = cast<RankedTensorType>(dot.getType()).getRank();
    unsigned axisOfK = use.getOperandNumber() == 0 ? rank - 1 : rank - 2;
    return (use.getOperandNumber() == 2 || (use.getOperandNumber() < 2 && axis != axisOfK)) &&
           areDropped(dot, axis);
  }

  /// What one iteration carries to another is at the same indices in both.
  bool isDroppedByLoop(scf::ForOp loop, unsigned number, unsigned axis) {
    return !polynomials.variesIn(first, loop) && !polynomials.variesIn(limit, loop) &&
           areDropped(loop.getRegionIterArg(number), axis) &&
           areDropped(loop.getResult(number), axis);
  }

  /// Nothing is written at `limit` and beyond.
  bool isMaskedAway(Value mask, unsigned axis) {
    if (!mask)
      return false;
    Polynomial rest = first.plus(limit, -1);
    return llvm::any_of(boundsOf(mask, polynomials).bounds, [&](const IndexBound &bound) {
      return bound.isUpper && bound.axis == axis && bound.rest == rest;
    });
  }

  IndexPolynomials &polynomials;
  const Polynomial &first, &limit;
  llvm::DenseSet<std::pair<Value, unsigned>> seen;
};

} // namespace

//===--- A kernel's ---===//

ArrayBlocks::ArrayBlocks(func::FuncOp kernel)
    : kernel(kernel), axisInfo(kernel), dominance(kernel) {
  auto add = [&](std::optional<unsigned> array) {
    if (array)
      written.insert(*array);
    else
      writesAnywhere = true;
  };
  kernel.walk([&](Operation *op) {
    llvm::TypeSwitch<Operation *>(op)
        .Case<tile::StoreOp, tile::AtomicRMWOp, tile::AtomicCASOp>(
            [&](auto access) { add(arrayOf(access.getPtr(), kernel)); })
        .Case<tile::DescriptorStoreOp, tile::DescriptorReduceOp, tile::DescriptorScatterOp>(
            [&](auto access) { add(arrayOfDescriptor(access.getDescriptor(), kernel)); })
        .Case([&](tile::AssemblyOp assembly) {
          if (!assembly.getPure())
            add(std::nullopt);
        });
  });
}

std::optional<ArrayBlock> ArrayBlocks::blockOf(tile::LoadOp load) {
  return BlockReader(*this, load).read();
}

bool ArrayBlocks::isDropped(Value value, unsigned axis, const Polynomial &first,
                            const Polynomial &limit) {
  return DroppedElements(polynomials, first, limit).areDropped(value, axis);
}

bool ArrayBlocks::isMultipleOf(const Polynomial &sum, int64_t number) const {
  return llvm::all_of(sum.terms(), [&](auto &term) {
    int64_t common = std::gcd(term.second, number);
    for (Symbol symbol : term.first) {
      if (polynomials.meaning(symbol).kind == SymbolMeaning::Kind::Iteration)
        continue;
      int64_t most = 1;
      for (Value value : polynomials.valuesOf(symbol))
        most = std::max(most, axisInfo.get(value).divisibility.front());
      common = std::gcd(common * std::gcd(most, number), number);
    }
    return common == number;
  });
}

bool ArrayBlocks::isNonNegative(const Polynomial &sum) const {
  return llvm::all_of(sum.terms(), [&](auto &term) {
    return term.second > 0 && llvm::all_of(term.first, [&](Symbol symbol) {
             return polynomials.meaning(symbol).kind == SymbolMeaning::Kind::Iteration ||
                    llvm::any_of(polynomials.valuesOf(symbol),
                                 [&](Value value) { return axisInfo.get(value).nonNegative; });
           });
  });
}

Value ArrayBlocks::materialise(OpBuilder &b, Operation *at, const Polynomial &coordinate) {
  Location loc = at->getLoc();
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(value));
  };
  Value sum;
  for (auto &[monomial, coefficient] : coordinate.terms()) {
    if (!llvm::isInt<32>(coefficient))
      return {};
    int64_t factor = coefficient;
    Value product;
    for (Symbol symbol : monomial) {
      Value value = materialise(b, at, symbol, factor);
      if (!value)
        return {};
      product = product ? arith::MulIOp::create(b, loc, product, value) : value;
    }
    if (!product)
      product = constant(factor);
    else if (factor != 1)
      product = arith::MulIOp::create(b, loc, product, constant(factor));
    sum = sum ? arith::AddIOp::create(b, loc, sum, product) : product;
  }
  return sum ? sum : constant(0);
}

/// `factor` becomes smaller where the value is a multiple of the symbol.
Value ArrayBlocks::materialise(OpBuilder &b, Operation *at, Symbol symbol, int64_t &factor) {
  const SymbolMeaning &meaning = polynomials.meaning(symbol);
  Location loc = at->getLoc();
  auto isAtHand = [&](Value value) { return dominance.properlyDominates(value, at); };
  if (meaning.kind != SymbolMeaning::Kind::Iteration) {
    ArrayRef<Value> values = polynomials.valuesOf(symbol);
    auto *found =
        llvm::find_if(values, [&](Value value) { return isAtHand(value) && isNarrow(value); });
    if (found == values.end())
      return {};
    bool isWide = !found->getType().isInteger(32);
    return isWide ? arith::TruncIOp::create(b, loc, b.getI32Type(), *found) : *found;
  }
  auto loop = cast<scf::ForOp>(meaning.loop);
  Value value = loop.getInductionVar();
  if (!value.getType().isInteger(32) || !isAtHand(value))
    return {};
  if (!matchPattern(loop.getLowerBound(), m_Zero()))
    value = arith::SubIOp::create(b, loc, value, loop.getLowerBound());
  APInt step;
  bool isKnown = matchPattern(loop.getStep(), m_ConstantInt(&step));
  if (isKnown && factor % step.getSExtValue() == 0) {
    factor /= step.getSExtValue();
    return value;
  }
  return arith::DivSIOp::create(b, loc, value, loop.getStep());
}

} // namespace kiln
