#include "compiler/Analysis/AddressMeeting.h"
#include "compiler/Analysis/ValueSources.h"
#include "compiler/Dialect/Tile/Tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>
#include <set>

using namespace mlir;

namespace kiln {
namespace {

//===--- The search ---===//

/// `step` times an integer from `low` to `high`.
struct Range {
  int64_t step, low, high;
  bool isIndex; ///< the difference of two equal axes' indices
};

/// Whether start + the sum of all ranges + step * n, for an integer n, can be within a window.
struct Difference {
  int64_t start = 0;
  SmallVector<Range> ranges;
  /// 0 if there is no such term; otherwise n is any integer from `leastCount` on, or any if absent.
  int64_t step = 0;
  std::optional<int64_t> leastCount;
  /// n is not 0.
  bool countIsNotZero = false;
  /// The indices that are compared are in `ranges` as differences.
  bool isByIndex = true;
};

class Search {
public:
  Search(Difference difference, int64_t low, int64_t high)
      : difference(std::move(difference)), low(low), high(high) {}

  Meeting run() {
    if (difference.step && !difference.leastCount && !difference.countIsNotZero)
      foldSteps();
    llvm::sort(difference.ranges,
               [](const Range &a, const Range &b) { return std::abs(a.step) > std::abs(b.step); });
    boundRests();
    if (!difference.step) {
      visit(0, difference.start, false);
    } else {
      // start + step * n is within reach of the window.
      int64_t step = std::abs(difference.step), sign = difference.step < 0 ? -1 : 1;
      int64_t first = llvm::divideCeilSigned(low - difference.start - greatest[0], step);
      int64_t last = llvm::divideFloorSigned(high - difference.start - least[0], step);
      if (last - first > mostCounts)
        return Meeting::Unknown;
      for (int64_t n = first; n <= last; ++n)
        if (isCount(n * sign))
          visit(0, difference.start + step * n, false);
    }
    if (nodes > mostNodes)
      return Meeting::Unknown;
    if (!found)
      return Meeting::Never;
    if (!foundOther)
      return Meeting::SameIndex;
    return difference.step ? Meeting::Unknown : Meeting::Anywhere;
  }

private:
  static constexpr int64_t mostCounts = 64;
  static constexpr unsigned mostNodes = 20000;

  bool isCount(int64_t n) const {
    return !(difference.countIsNotZero && n == 0) &&
           !(difference.leastCount && n < *difference.leastCount);
  }

  /// Any number of steps may be taken: of larger ones only what is left over counts.
  void foldSteps() {
    int64_t unit = std::abs(difference.step);
    for (Range &range : difference.ranges) {
      range.step %= unit;
      if (range.step > unit / 2)
        range.step -= unit;
      else if (range.step < -(unit / 2))
        range.step += unit;
    }
  }

  /// What the ranges from each on can add.
  void boundRests() {
    size_t count = difference.ranges.size();
    least.assign(count + 1, 0);
    greatest.assign(count + 1, 0);
    for (size_t i = count; i-- > 0;) {
      const Range &range = difference.ranges[i];
      int64_t a = range.step * range.low, b = range.step * range.high;
      least[i] = least[i + 1] + std::min(a, b);
      greatest[i] = greatest[i + 1] + std::max(a, b);
    }
  }

  void visit(size_t i, int64_t sum, bool movesIndex) {
    if (foundOther || ++nodes > mostNodes || sum + least[i] > high || sum + greatest[i] < low)
      return;
    if (i == difference.ranges.size()) {
      found = true;
      foundOther |= movesIndex || !difference.isByIndex;
      return;
    }
    const Range &range = difference.ranges[i];
    if (range.step == 0)
      return visit(i + 1, sum, movesIndex || range.isIndex);
    // step * x is from `first` to `last`.
    int64_t first = low - greatest[i + 1] - sum, last = high - least[i + 1] - sum;
    int64_t step = range.step;
    if (step < 0) {
      step = -step;
      std::tie(first, last) = std::pair(-last, -first);
    }
    int64_t begin = std::max(range.low, llvm::divideCeilSigned(first, step));
    int64_t end = std::min(range.high, llvm::divideFloorSigned(last, step));
    for (int64_t x = begin; x <= end && !foundOther && nodes <= mostNodes; ++x)
      visit(i + 1, sum + range.step * x, movesIndex || (range.isIndex && x != 0));
  }

  Difference difference;
  int64_t low, high; ///< the window, both ends included
  SmallVector<int64_t> least, greatest;
  unsigned nodes = 0;
  bool found = false, foundOther = false;
};

//===--- From polynomials ---===//

/// Splits the difference of two tiles' addresses.
class Splitter {
public:
  Splitter(IndexPolynomials &polynomials, ArrayRef<int64_t> earlier, ArrayRef<int64_t> later,
           std::optional<ArrayRef<AxisPair>> compared)
      : polynomials(polynomials), earlierExtents(earlier), laterExtents(later), compared(compared) {
  }

  Difference split(Polynomial polynomial) {
    result.start = polynomial.constantTerm();
    takeAxes(polynomial);
    for (auto &[monomial, coefficient] : polynomial.terms())
      if (!monomial.empty() && !taken.count(monomial))
        addUnbounded(monomial, coefficient);
    if (numUnbounded > 1) {
      result.leastCount.reset();
      result.countIsNotZero = false;
    }
    return std::move(result);
  }

private:
  Symbol axisSymbol(unsigned axis, bool ofEarlier) {
    SymbolMeaning meaning;
    meaning.kind = SymbolMeaning::Kind::Axis;
    meaning.axis = axis;
    meaning.ofEarlier = ofEarlier;
    return polynomials.intern(meaning);
  }

  /// Axes whose indices are compared become ranges of differences, all others ranges of indices.
  void takeAxes(const Polynomial &polynomial) {
    result.isByIndex = compared.has_value();
    llvm::SmallDenseSet<unsigned> comparedNow, comparedBefore;
    for (auto [before, now] : compared.value_or(ArrayRef<AxisPair>())) {
      int64_t step = take(polynomial, now, false), stepBefore = take(polynomial, before, true);
      comparedNow.insert(now);
      comparedBefore.insert(before);
      int64_t extent = laterExtents[now], extentBefore = earlierExtents[before];
      if (step == -stepBefore) {
        bool isIndex = extent > 1 || extentBefore > 1;
        result.ranges.push_back({step, 1 - extentBefore, extent - 1, isIndex});
        continue;
      }
      result.isByIndex = false;
      result.ranges.push_back({step, 0, extent - 1, /*isIndex=*/false});
      result.ranges.push_back({stepBefore, 0, extentBefore - 1, /*isIndex=*/false});
    }
    for (unsigned axis = 0; axis < laterExtents.size(); ++axis)
      if (!comparedNow.contains(axis))
        result.ranges.push_back({take(polynomial, axis, false), 0, laterExtents[axis] - 1, false});
    for (unsigned axis = 0; axis < earlierExtents.size(); ++axis)
      if (!comparedBefore.contains(axis))
        result.ranges.push_back({take(polynomial, axis, true), 0, earlierExtents[axis] - 1, false});
  }

  int64_t take(const Polynomial &polynomial, unsigned axis, bool ofEarlier) {
    Polynomial::Monomial index{axisSymbol(axis, ofEarlier)};
    taken.insert(index);
    return polynomial.coefficient(index);
  }

  void addUnbounded(const Polynomial::Monomial &monomial, int64_t coefficient) {
    ++numUnbounded;
    // Of one term the sign counts, too.
    result.step =
        numUnbounded == 1 ? coefficient : std::gcd(std::abs(result.step), std::abs(coefficient));
    bool allPositive = llvm::all_of(monomial, [&](Symbol symbol) { return isPositive(symbol); });
    if (allPositive)
      result.leastCount = 1;
    result.countIsNotZero = allPositive;
  }

  /// At least 1.
  bool isPositive(Symbol symbol) const {
    const SymbolMeaning &meaning = polynomials.meaning(symbol);
    return meaning.kind == SymbolMeaning::Kind::Distance ||
           (meaning.value && meaning.value.getDefiningOp<tile::NumProgramsOp>());
  }

  IndexPolynomials &polynomials;
  ArrayRef<int64_t> earlierExtents, laterExtents;
  std::optional<ArrayRef<AxisPair>> compared;
  std::set<Polynomial::Monomial> taken;
  unsigned numUnbounded = 0;
  Difference result;
};

int64_t elementBytes(Value pointers) {
  return cast<tile::PtrType>(tile::elementTypeOf(pointers.getType())).getElementBytes();
}

} // namespace

/// The symbols of an access in an earlier iteration of `passed`, at an index of its own.
Polynomial AddressMeetings::asEarlier(const Polynomial &polynomial, ArrayRef<Operation *> passed) {
  auto isWithin = [&](Operation *op, Operation *except) {
    return llvm::any_of(
        passed, [&](Operation *loop) { return loop != except && loop->isProperAncestor(op); });
  };
  return polynomial.substitute([&](Symbol symbol) {
    SymbolMeaning meaning = polynomials.meaning(symbol);
    bool changes;
    if (meaning.kind == SymbolMeaning::Kind::Axis) {
      changes = true;
    } else if (meaning.kind == SymbolMeaning::Kind::Iteration) {
      changes = isWithin(meaning.loop, nullptr);
      if (!changes && llvm::is_contained(passed, meaning.loop)) {
        SymbolMeaning distance = meaning;
        distance.kind = SymbolMeaning::Kind::Distance;
        return Polynomial::symbol(symbol).plus(Polynomial::symbol(polynomials.intern(distance)),
                                               /*factor=*/-1);
      }
    } else {
      Operation *around = meaning.value.getParentBlock()->getParentOp();
      bool isOlder =
          llvm::any_of(passed, [&](Operation *loop) { return loop->isAncestor(around); });
      bool isElement =
          llvm::any_of(meaning.axes, [](unsigned axis) { return axis != SymbolMeaning::noAxis; });
      changes = isOlder || isElement;
    }
    meaning.ofEarlier = changes;
    return Polynomial::symbol(polynomials.intern(meaning));
  });
}

/// What is less than 0 where the comparison holds, if it is one of order and of signs.
static std::optional<Polynomial> negativeIf(arith::CmpIOp comparison, IndexPolynomials &all) {
  Polynomial left = all.of(comparison.getLhs()), right = all.of(comparison.getRhs());
  Polynomial one = Polynomial::constant(1);
  switch (comparison.getPredicate()) {
  case arith::CmpIPredicate::slt:
    return left.plus(right, /*factor=*/-1);
  case arith::CmpIPredicate::sle:
    return left.plus(right, -1).plus(one, -1);
  case arith::CmpIPredicate::sgt:
    return right.plus(left, -1);
  case arith::CmpIPredicate::sge:
    return right.plus(left, -1).plus(one, -1);
  default:
    return std::nullopt;
  }
}

/// Of `step` times an index plus a number, with a positive step: the axis of that index, and from
/// which index on it is not negative any more.
static std::optional<std::pair<unsigned, int64_t>> endOfNegative(const Polynomial &polynomial,
                                                                 const IndexPolynomials &all) {
  Polynomial index = polynomial.plus(Polynomial::constant(polynomial.constantTerm()), -1);
  if (polynomial.isTooLarge() || index.terms().size() != 1)
    return std::nullopt;
  auto [monomial, step] = *index.terms().begin();
  if (monomial.size() != 1 || step <= 0 ||
      all.meaning(monomial[0]).kind != SymbolMeaning::Kind::Axis)
    return std::nullopt;
  int64_t end = llvm::divideCeilSigned(-polynomial.constantTerm(), step);
  return std::pair(all.meaning(monomial[0]).axis, std::max<int64_t>(end, 0));
}

static bool isColumn(Symbol symbol, const IndexPolynomials &polynomials) {
  return polynomials.meaning(symbol).kind != SymbolMeaning::Kind::Value;
}

Polynomial columnsOf(const Polynomial &elements, const IndexPolynomials &polynomials) {
  Polynomial columns;
  for (const auto &[monomial, coefficient] : elements.terms())
    if (llvm::all_of(monomial, [&](Symbol symbol) { return isColumn(symbol, polynomials); }))
      columns.add(monomial, coefficient);
  return columns;
}

/// Of a value of fewer axes, which are `axes` of the mask's.
static void collectNegatives(Value mask, ArrayRef<unsigned> axes, IndexPolynomials &polynomials,
                             SmallVectorImpl<Polynomial> &negatives) {
  Operation *op = mask.getDefiningOp();
  if (isa_and_present<arith::AndIOp>(op)) {
    for (Value part : op->getOperands())
      collectNegatives(part, axes, polynomials, negatives);
  } else if (isa_and_present<tile::BroadcastOp>(op)) {
    collectNegatives(op->getOperand(0), axes, polynomials, negatives);
  } else if (auto expand = dyn_cast_if_present<tile::ExpandDimsOp>(op)) {
    SmallVector<unsigned> inner(axes);
    inner.erase(inner.begin() + expand.getAxis());
    collectNegatives(expand.getSource(), inner, polynomials, negatives);
  } else if (auto comparison = dyn_cast_if_present<arith::CmpIOp>(op)) {
    if (std::optional<Polynomial> negative = negativeIf(comparison, polynomials))
      negatives.push_back(negative->substitute([&](Symbol symbol) {
        SymbolMeaning meaning = polynomials.meaning(symbol);
        if (meaning.kind == SymbolMeaning::Kind::Axis)
          meaning.axis = axes[meaning.axis];
        for (unsigned &axis : meaning.axes)
          if (axis != SymbolMeaning::noAxis)
            axis = axes[axis];
        return Polynomial::symbol(polynomials.intern(meaning));
      }));
  }
}

SmallVector<Polynomial> negativesIn(Value mask, IndexPolynomials &polynomials) {
  SmallVector<Polynomial> negatives;
  size_t rank = tile::shapeOf(mask.getType()).size();
  collectNegatives(mask, llvm::to_vector(llvm::seq<unsigned>(rank)), polynomials, negatives);
  return negatives;
}

void AddressMeetings::boundExtents(Value mask, ArrayRef<unsigned> axes,
                                   MutableArrayRef<int64_t> extents) {
  Operation *op = mask.getDefiningOp();
  if (isa_and_present<arith::AndIOp>(op)) {
    for (Value part : op->getOperands())
      boundExtents(part, axes, extents);
  } else if (isa_and_present<tile::BroadcastOp>(op)) {
    // Of an axis with one element no comparison speaks: IndexPolynomials has a number for its
    // index.
    boundExtents(op->getOperand(0), axes, extents);
  } else if (auto expand = dyn_cast_if_present<tile::ExpandDimsOp>(op)) {
    SmallVector<unsigned> inner(axes);
    inner.erase(inner.begin() + expand.getAxis());
    boundExtents(expand.getSource(), inner, extents);
  } else if (auto comparison = dyn_cast_if_present<arith::CmpIOp>(op)) {
    std::optional<Polynomial> negative = negativeIf(comparison, polynomials);
    auto end = negative ? endOfNegative(*negative, polynomials) : std::nullopt;
    if (end)
      extents[axes[end->first]] = std::min(extents[axes[end->first]], end->second);
  }
}

SmallVector<int64_t> AddressMeetings::extentsOf(MaskedPointers access) {
  ArrayRef<int64_t> shape = tile::shapeOf(access.pointers.getType());
  SmallVector<int64_t> extents(shape);
  if (access.mask && tile::shapeOf(access.mask.getType()) == shape)
    boundExtents(access.mask, llvm::to_vector(llvm::seq<unsigned>(shape.size())), extents);
  return extents;
}

Meeting AddressMeetings::meet(MaskedPointers earlier, MaskedPointers later,
                              ArrayRef<Operation *> passed) {
  SmallVector<AxisPair> axes;
  ArrayRef<int64_t> shape = tile::shapeOf(later.pointers.getType());
  if (tile::shapeOf(earlier.pointers.getType()) != shape)
    return meet(earlier, later, std::nullopt, passed);
  for (unsigned axis = 0; axis < shape.size(); ++axis)
    axes.push_back({axis, axis});
  return meet(earlier, later, std::optional<ArrayRef<AxisPair>>(axes), passed);
}

Meeting AddressMeetings::meet(MaskedPointers earlier, MaskedPointers later,
                              std::optional<ArrayRef<AxisPair>> axes,
                              ArrayRef<Operation *> passed) {
  SmallVector<int64_t> earlierExtents = extentsOf(earlier), laterExtents = extentsOf(later);
  if (llvm::is_contained(earlierExtents, 0) || llvm::is_contained(laterExtents, 0))
    return Meeting::Never;
  Polynomial difference = polynomials.of(later.pointers)
                              .plus(asEarlier(polynomials.of(earlier.pointers), passed),
                                    /*factor=*/-1);
  if (difference.isTooLarge())
    return Meeting::Unknown;
  Splitter splitter(polynomials, earlierExtents, laterExtents, axes);
  return Search(splitter.split(difference), 1 - elementBytes(later.pointers),
                elementBytes(earlier.pointers) - 1)
      .run();
}

namespace {

/// An address in an array of rows, in elements.
struct RowAddress {
  Polynomial base, rows, columns;
};

/// Rows are what is a multiple of the stride, divided by it.
RowAddress splitRows(const Polynomial &elements, Symbol stride,
                     const IndexPolynomials &polynomials) {
  RowAddress result;
  result.columns = columnsOf(elements, polynomials);
  const Polynomial others = elements.plus(result.columns, /*factor=*/-1);
  for (const auto &[monomial, coefficient] : others.terms()) {
    Polynomial::Monomial row = monomial;
    auto factor = llvm::find(row, stride);
    bool isRow = factor != row.end();
    if (isRow)
      row.erase(factor);
    (isRow ? result.rows : result.base).add(row, coefficient);
  }
  return result;
}

} // namespace

/// base + stride * row + column with 0 <= column < stride: as in a division with a remainder, two
/// are the same only where both rows and both columns are.
Meeting AddressMeetings::meetInRows(MaskedPointers earlier, MaskedPointers later, Value stride,
                                    ArrayRef<Operation *> passed) {
  ArrayRef<int64_t> extents = tile::shapeOf(later.pointers.getType());
  int64_t bytes = elementBytes(later.pointers);
  if (tile::shapeOf(earlier.pointers.getType()) != extents ||
      elementBytes(earlier.pointers) != bytes)
    return Meeting::Unknown;
  auto now = polynomials.of(later.pointers).dividedBy(bytes),
       before = asEarlier(polynomials.of(earlier.pointers), passed).dividedBy(bytes);
  if (!now || !before || now->isTooLarge() || before->isTooLarge())
    return Meeting::Unknown;
  Symbol factor = polynomials.symbolOf(stride);
  RowAddress of = splitRows(*now, factor, polynomials),
             ofEarlier = splitRows(*before, factor, polynomials);
  if (!(of.base == ofEarlier.base))
    return Meeting::Unknown;
  SmallVector<unsigned> moves;
  Meeting rows = meetInPart(ofEarlier.rows, of.rows, extents, moves),
          columns = meetInPart(ofEarlier.columns, of.columns, extents, moves);
  if (rows == Meeting::Never || columns == Meeting::Never)
    return Meeting::Never;
  // Each axis counts in one of the two, or else indices say nothing.
  llvm::sort(moves);
  SmallVector<unsigned> all;
  for (unsigned axis = 0; axis < extents.size(); ++axis)
    if (extents[axis] > 1)
      all.push_back(axis);
  bool isByIndex = rows == Meeting::SameIndex && columns == Meeting::SameIndex && moves == all;
  return isByIndex ? Meeting::SameIndex : Meeting::Unknown;
}

Meeting AddressMeetings::meetInPart(const Polynomial &earlier, const Polynomial &later,
                                    ArrayRef<int64_t> extents, SmallVectorImpl<unsigned> &moves) {
  SmallVector<AxisPair> axes;
  for (unsigned axis = 0; axis < extents.size(); ++axis) {
    SymbolMeaning index;
    index.kind = SymbolMeaning::Kind::Axis;
    index.axis = axis;
    Polynomial::Monomial now{polynomials.intern(index)};
    index.ofEarlier = true;
    Polynomial::Monomial before{polynomials.intern(index)};
    if (extents[axis] > 1 && (later.coefficient(now) || earlier.coefficient(before))) {
      axes.push_back({axis, axis});
      moves.push_back(axis);
    }
  }
  Splitter splitter(polynomials, extents, extents, std::optional<ArrayRef<AxisPair>>(axes));
  return Search(splitter.split(later.plus(earlier, /*factor=*/-1)), 0, 0).run();
}

const SmallVector<unsigned, 2> &AddressMeetings::argumentsOf(Value pointer) {
  auto [entry, isNew] = origins.try_emplace(pointer);
  if (!isNew)
    return entry->second;
  auto sources = sourcesOf(pointer, [](OpResult result, SmallVectorImpl<Value> &from) {
    Operation *op = result.getOwner();
    bool isPointer = isa<tile::PtrType>(tile::elementTypeOf(result.getType()));
    if (isPointer &&
        isa<tile::AddPtrOp, tile::SplatOp, tile::BroadcastOp, tile::ExpandDimsOp, tile::TransOp,
            tile::ReshapeOp, tile::HintOp, tile::BitcastOp>(op) &&
        isa<tile::PtrType>(tile::elementTypeOf(op->getOperand(0).getType())))
      from.push_back(op->getOperand(0));
  });
  SmallVector<unsigned, 2> arguments;
  for (Value source : sources) {
    auto argument = dyn_cast<BlockArgument>(source);
    if (!argument || !isa<func::FuncOp>(argument.getOwner()->getParentOp()))
      return entry->second;
    arguments.push_back(argument.getArgNumber());
  }
  return entry->second = arguments;
}

SharedOrigin AddressMeetings::originOf(Value earlier, Value later) {
  // Copies: the second may move what the first refers to.
  SmallVector<unsigned, 2> left = argumentsOf(earlier), right = argumentsOf(later);
  SharedOrigin origin;
  origin.always = left.empty() || right.empty();
  for (unsigned a : left)
    for (unsigned b : right) {
      origin.always |= a == b;
      origin.pairs.push_back({std::min(a, b), std::max(a, b)});
    }
  if (origin.always)
    origin.pairs.clear();
  return origin;
}

} // namespace kiln
