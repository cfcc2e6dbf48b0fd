// Loads, stores and copies of tiles as accesses to buffers, whose bounds the hardware checks.
//
// The problem: a load under a mask is a comparison and a branch for each vector, and an address of
// 64 bits for each lane. AMD's buffer accesses have a base and a number of bytes that a wave has
// once, in scalar registers, and an offset of 32 bits; what is not below the number of bytes is not
// accessed, and reads as zero.
//
// The approach: an address is a sum of what is one number for the tile (the argument, a program's
// or an iteration's place) and of what the element's index adds. The first part, of 64 bits, goes
// to the base, so that arrays of any size will do; the second is small, as it is of constants
// alone. A mask `index < bound` of the same index becomes the number of bytes:
//
//   x + pid * 1024 + i, mask pid * 1024 + i < n     base x + pid * 1024, bytes 4 * (n - pid * 1024)
//
// What else is in a mask sends the offset of a lane out of range. Words of 4 bytes are in range or
// not. In a loop up to that bound over arrays below 2 GiB (`tile.small_arrays`) lanes move, not the
// base, so that the number of bytes is one for all iterations:
//
//   x + k + i, mask k + i < n, in a loop up to n    base x, bytes 4 * n, start 4 * k
//
// So they do where each iteration accesses all of a short tile, whatever the loop ends at.
//
// Where elements are shorter and the bound may divide a word, and where several numbers per
// lane make up the index (strides at run time), accesses stay what they are, unless arrays are
// promised to be below 2 GiB. Then the argument is the base, and all of the
// index an offset of 32 bits, where masks select one that is out of range. What loops move pointers
// by goes to the base, so that offsets are the same in all iterations. A lane that is masked off
// when the loop begins, and not later, may begin in front of the array: so the base begins 2 GiB
// less 32 bytes in front of it.
//
// Single elements of such arrays stay what they are, by fewer additions (ScalarAddresses.h).

#include "compiler/Analysis/ValueSources.h"
#include "compiler/Dialect/TileGPU/TileGPU.h"
#include "compiler/Dialect/TileGPU/Transforms/ImpliedConditions.h"
#include "compiler/Dialect/TileGPU/Transforms/OwnerLoads.h"
#include "compiler/Dialect/TileGPU/Transforms/Passes.h"
#include "compiler/Dialect/TileGPU/Transforms/ScalarAddresses.h"
#include "compiler/Dialect/TileGPU/Transforms/ScalarPolynomials.h"
#include "compiler/Dialect/TileGPU/Transforms/ShortOffsets.h"
#include "compiler/Dialect/TileGPU/Transforms/StagedLoads.h"
#include "compiler/Layout/RegisterRenaming.h"
#include "compiler/Target/MemoryFeatures.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace kiln {
namespace {

constexpr int64_t wordBytes = 4, mostBytes = int64_t(1) << 30;

/// What is in range of the beginning of an array below 2 GiB.
constexpr int64_t mostShort = std::numeric_limits<int32_t>::max();

/// A number: what all of the tile has, and by axis what the element's index is multiplied by.
struct Split {
  Polynomial uniform;
  SmallVector<int64_t> strides;
};

/// `index * scale` bytes are in range below `bound` of them, by a part of the mask.
struct Bound {
  Polynomial bound, uniform;
  int64_t scale;
  bool isNarrow;         ///< the comparison is one of 32 bits: neither side is more
  Value mask;            ///< what it is of
  Polynomial first = {}; ///< none is in range unless this is below the bound
};

/// A part of the mask that is one for the tile, of numbers that are.
struct Comparison {
  arith::CmpIPredicate predicate;
  Polynomial lhs, rhs;
  unsigned bits; ///< of the numbers compared
};

/// Where an access is, and what is in range.
struct Place {
  Operation *access;
  BlockArgument argument;
  Polynomial offset; ///< elements from there
  SmallVector<int64_t> strides;
  SmallVector<Bound> bounds;
  SmallVector<Value> conditions; ///< i1, of the tile
  SmallVector<Comparison> comparisons;
  SmallVector<Value> masks; ///< the rest
  unsigned axis = 0, vector = 1;
  int64_t span = 0;                    ///< bytes from the first to behind the last element
  bool isShort = false;                ///< offsets are of 32 bits by a promise
  bool isMoved = false;                ///< of such: loops move the base
  std::optional<Polynomial> rest = {}; ///< of such: ShortOffsets::steadyRest
  Polynomial start = {};               ///< elements that lanes move by in place of the base
};

class BufferPlanner {
public:
  BufferPlanner(func::FuncOp kernel, const TargetInfo &target)
      : target(target), facts(kernel),
        // On RDNA what loops move takes registers that threads lack.
        scalars(kernel, polynomials, facts, /*followsLoads=*/target.matrix.mfmaGeneration != 0),
        shortOffsets(polynomials, scalars),
        isSmall(kernel->hasAttr(tile::TileDialect::smallArraysAttr)),
        hasProducts(tilegpu::multiplies(kernel)) {
    kernel.walk([&](tile::StoreOp store) { written.insert(argumentOf(store.getPtr())); });
  }

  /// `condition`: i1 or null; without it nothing is in range.
  std::optional<Place> plan(Operation *op, Value pointers, Value mask, Value condition = {}) {
    auto pointer = cast<tile::PtrType>(tile::elementTypeOf(pointers.getType()));
    Type element = pointer.getPointee();
    BlockArgument argument = argumentOf(pointers);
    if (!isa<RankedTensorType>(pointers.getType()) || !element.isIntOrFloat() ||
        element.getIntOrFloatBitWidth() % 8 != 0 || !argument || argument.getType() != pointer ||
        (condition && !scalars.isAlike(condition)))
      return std::nullopt;
    elementBytes = pointer.getElementBytes();
    at = op;
    Place one{op, argument, {}, {}, {}, {}, {}, {}};
    if (condition)
      one.conditions.push_back(condition);
    Place other = one;
    bool hasStrides = planStrides(pointers, mask, one);
    if (hasStrides && !(isSmall && !mayMoveWhole(one) && mayMoveOffsets(one, pointers, mask)))
      return one;
    bool hasOffsets =
        isSmall && planOffsets(pointers, mask, other) && (!hasStrides || movesAsWell(other, one));
    if (hasOffsets)
      return other;
    return hasStrides ? std::optional(one) : std::nullopt;
  }

  /// The same of an access that is in no loop, where lanes compare whatever bounds it, as they do
  /// for another access: what they know costs less than a number of bytes.
  std::optional<Place> planInLanes(const Place &bounded, Value pointers, Value mask) {
    at = bounded.access;
    elementBytes = cast<tile::PtrType>(bounded.argument.getType()).getElementBytes();
    Place place{at, bounded.argument, {}, {}, {}, {}, {}, {}};
    bool isPlanned = isSmall && !at->getParentOfType<LoopLikeOpInterface>() &&
                     planOffsets(pointers, mask, place) && place.vector == bounded.vector;
    return isPlanned ? std::optional(place) : std::nullopt;
  }

  struct Buffer {
    Value base, bytes, mask, offset, start;
  };
  /// At the access.
  Buffer write(const Place &place, Value pointers, OpBuilder &b) {
    at = place.access;
    Location loc = at->getLoc();
    Value base = place.argument;
    if (!place.offset.terms().empty())
      base = movedBase(place, b);
    Value bytes;
    for (const Bound &bound : place.bounds) {
      int64_t whole = mostShort - mostShort % bound.scale;
      Value below = bytesBelow(bound, place.start.terms().empty() ? place.span : whole, b);
      bytes = bytes ? arith::MinSIOp::create(b, loc, bytes, below) : below;
    }
    if (!bytes)
      bytes = number(bytesOf(place), b);
    SmallVector<Value> conditions = place.conditions;
    for (const Comparison &comparison : place.comparisons)
      conditions.push_back(compare(comparison, b));
    for (Value condition : conditions)
      bytes = b.createOrFold<arith::SelectOp>(loc, condition, bytes, number(0, b));
    Value mask;
    for (Value part : place.masks)
      mask = mask ? arith::AndIOp::create(b, loc, mask, part) : part;
    return {base, bytes, mask, place.isShort ? offsetOf(place, pointers, b) : Value(),
            startOf(place, b)};
  }

  /// Has lanes move in place of the base where the loop around the access goes up to what bounds
  /// it: the number of bytes is that of the first iteration then, and an iteration's first lane is
  /// in the array, or the one's before. Or, where no loop is around it, where the bound is of all
  /// that the base would move by: nothing is in range unless the first lane is. So no offset comes
  /// to 2^32. Nor does it where all of the tile is accessed in each iteration.
  void moveLanes(Place &place) {
    if (!isSmall || place.isShort || !place.masks.empty() ||
        (place.bounds.empty() && !mayMoveWhole(place)))
      return;
    auto loop = dyn_cast<scf::ForOp>(place.access->getParentOp());
    if (!loop && place.access->getParentOfType<LoopLikeOpInterface>())
      return;
    auto moved = [&](const Polynomial &number) { return loop ? movedIn(number, loop) : number; };
    Polynomial start = moved(place.offset);
    int64_t bytes = cast<tile::PtrType>(place.argument.getType()).getElementBytes();
    bool isSteady = llvm::all_of(place.bounds, [&](const Bound &bound) {
      bool isBelow = !loop || (movedIn(bound.bound, loop).terms().empty() && isUpTo(loop, bound));
      Polynomial part = moved(bound.uniform);
      return isBelow && start.plus(start, bytes - 1) == part.plus(part, bound.scale - 1);
    });
    if (!isSteady || !canMoveBy(start, place.access))
      return;
    place.start = start;
    place.offset = place.offset.plus(start, -1);
    for (Bound &bound : place.bounds) {
      if (!loop)
        bound.first = bound.uniform;
      bound.uniform = bound.uniform.plus(moved(bound.uniform), -1);
    }
  }

  /// As it was before.
  void moveBase(Place &place) {
    if (place.start.terms().empty())
      return;
    int64_t bytes = cast<tile::PtrType>(place.argument.getType()).getElementBytes();
    place.offset = place.offset.plus(place.start);
    for (Bound &bound : place.bounds) {
      bound.uniform =
          bound.uniform.plus(*place.start.plus(place.start, bytes - 1).dividedBy(bound.scale));
      bound.first = Polynomial();
    }
    place.start = Polynomial();
  }

private:
  /// What the number of the loop's iteration is in.
  Polynomial movedIn(const Polynomial &polynomial, scf::ForOp loop) const {
    Polynomial moved;
    for (auto &[monomial, coefficient] : polynomial.terms())
      if (llvm::any_of(monomial, [&](Symbol symbol) {
            return polynomials.meaning(symbol).loop == loop.getOperation();
          }))
        moved.add(monomial, coefficient);
    return moved;
  }

  bool canMoveBy(const Polynomial &start, Operation *access) {
    return !start.terms().empty() && scalars.isNonNegative(start) &&
           scalars.canWrite(start, access, Builder(access).getI32Type());
  }

  /// Whether lanes can move where the loop accesses all of the tile in each iteration: one addition
  /// for what accesses reach from one offset, in place of the two that move a base. Next to
  /// products loops carry bases.
  bool mayMoveWhole(const Place &place) {
    constexpr int64_t reach = 4096; // of an access's own offset
    auto loop = dyn_cast<scf::ForOp>(place.access->getParentOp());
    return loop && !hasProducts && place.bounds.empty() && place.masks.empty() &&
           place.conditions.empty() && place.comparisons.empty() && place.span <= reach &&
           canMoveBy(movedIn(place.offset, loop), place.access);
  }

  /// Whether the tile's first element is below the bound in each iteration, but for some elements
  /// ahead.
  bool isUpTo(scf::ForOp loop, const Bound &bound) {
    constexpr int64_t mostAhead = 1 << 20;
    Polynomial counter = polynomials.of(loop.getInductionVar()), end = endBehind(loop);
    std::optional<int64_t> ahead = bound.uniform.plus(counter, -1).asConstant();
    std::optional<int64_t> beyond = bound.bound.plus(end, -1).asConstant();
    return ahead && beyond && std::abs(*ahead) <= mostAhead && *beyond >= 0;
  }

  /// The loop's end; of a loop whose last iteration stands behind it (PeelLoops.cpp) that of both,
  ///
  ///     if first < end: for i in first … first + (end - first - 1) / step * step: …
  ///
  /// as all of its iterations are in front of that one.
  Polynomial endBehind(scf::ForOp loop) {
    Polynomial end = polynomials.of(loop.getUpperBound());
    auto branch = dyn_cast<scf::IfOp>(loop->getParentOp());
    auto any = branch ? branch.getCondition().getDefiningOp<arith::CmpIOp>() : arith::CmpIOp();
    if (!any || any.getPredicate() != arith::CmpIPredicate::slt || loop.getUnsignedCmp() ||
        loop->getParentRegion() != &branch.getThenRegion() || any.getLhs() != loop.getLowerBound())
      return end;
    Polynomial first = polynomials.of(any.getLhs()), behind = polynomials.of(any.getRhs()),
               step = polynomials.of(loop.getStep());
    Polynomial before = behind.plus(first, -1).plus(Polynomial::constant(-1));
    for (auto &[monomial, coefficient] : end.terms())
      for (Symbol symbol : monomial) {
        Value steps = polynomials.meaning(symbol).value;
        auto division = steps ? steps.getDefiningOp<arith::DivUIOp>() : arith::DivUIOp();
        if (division && polynomials.of(division.getLhs()) == before &&
            polynomials.of(division.getRhs()) == step &&
            first.plus(polynomials.of(steps).times(step)) == end)
          return behind;
      }
    return end;
  }

  Value startOf(const Place &place, OpBuilder &b) {
    if (place.start.terms().empty())
      return {};
    int64_t bytes = cast<tile::PtrType>(place.argument.getType()).getElementBytes();
    Value elements = scalars.write(place.start, at, b.getI32Type(), b);
    return arith::MulIOp::create(b, at->getLoc(), elements, number(bytes, b));
  }

  /// Of an array below 2 GiB by the lower word of the bytes, which is all where an element is
  /// accessed: but in a loop that moves the base LLVM adds to it.
  Value movedBase(const Place &place, OpBuilder &b) {
    Location loc = at->getLoc();
    auto type = cast<tile::PtrType>(place.argument.getType());
    bool isMoved = llvm::any_of(place.offset.terms(), [&](auto &term) {
      return llvm::any_of(term.first, [&](Symbol symbol) {
        return polynomials.meaning(symbol).kind == SymbolMeaning::Kind::Iteration;
      });
    });
    bool isWord =
        isSmall && !place.isShort && !isMoved && scalars.canWrite(place.offset, at, b.getI32Type());
    if (!isWord)
      return tile::AddPtrOp::create(b, loc, type, place.argument,
                                    scalars.write(place.offset, at, b.getI64Type(), b));
    Polynomial bytes = place.offset.plus(place.offset, type.getElementBytes() - 1);
    Value word = scalars.write(bytes, at, b.getI32Type(), b);
    Type wide = b.getI64Type();
    Value offset = scalars.isNonNegative(bytes)
                       ? arith::ExtUIOp::create(b, loc, wide, word).getResult()
                       : arith::ExtSIOp::create(b, loc, wide, word).getResult();
    auto byte = tile::PtrType::get(b.getI8Type());
    Value base = tile::BitcastOp::create(b, loc, byte, place.argument);
    base = tile::AddPtrOp::create(b, loc, byte, base, offset);
    return tile::BitcastOp::create(b, loc, type, base);
  }

  /// Whether loops could move offsets of 32 bits in place of the base, which may be fewer additions
  /// (Target/AMD/CarryDescriptors): of few accesses, each of which then has a register of its own,
  /// without masks and bounds, and of an array that is not written, which would have to have one
  /// base.
  bool mayMoveOffsets(const Place &place, Value pointers, Value mask) const {
    constexpr int64_t fewAccesses = 4;
    const LinearLayout &layout = tilegpu::layoutOf(pointers.getType());
    return !mask && isa<tile::LoadOp>(at) && at->getParentOfType<scf::ForOp>() &&
           !written.contains(place.argument) &&
           layout.numRegisters() <= fewAccesses * int64_t(place.vector);
  }

  static bool movesAsWell(const Place &offsets, const Place &strides) {
    return offsets.isMoved && offsets.vector == strides.vector && offsets.axis == strides.axis;
  }

  bool planStrides(Value pointers, Value mask, Place &place) {
    std::optional<Split> split = splitOf(pointers);
    std::optional<Polynomial> offset =
        split ? split->uniform.dividedBy(elementBytes) : std::nullopt;
    if (!offset || !scalars.canWrite(*offset, at, Builder(at).getI64Type()))
      return false;
    place.offset = *offset;
    place.strides = split->strides;
    place.span = elementBytes;
    for (auto [stride, extent] : llvm::zip_equal(place.strides, tile::shapeOf(pointers.getType())))
      place.span += stride * (extent - 1);
    if (place.span > mostBytes)
      return false;
    if (mask)
      takeMask(mask, place);
    return chooseVector(pointers, mask, place);
  }

  /// What all lanes load alike, but not parts of a word under a mask: those lanes load in any case,
  /// from one of two addresses.
  bool comesByScalars(Value pointers, Value mask) const {
    const LinearLayout &layout = tilegpu::layoutOf(pointers.getType());
    bool isPart = mask && layout.numRegisters() * elementBytes < wordBytes;
    return isa<tile::LoadOp>(at) && !isPart &&
           llvm::all_of(layout.columns(Dim::Lane), [](auto lane) { return !lane; });
  }

  /// For arrays that are promised to be small.
  bool planOffsets(Value pointers, Value mask, Place &place) {
    std::optional<Polynomial> offset = shortOffsets.moves(pointers, at);
    if (!offset || comesByScalars(pointers, mask))
      return false;
    place.isMoved = !offset->terms().empty();
    place.offset = place.isMoved
                       ? offset->plus(Polynomial::constant(movedBufferStart / elementBytes))
                       : Polynomial();
    place.rest = shortOffsets.steadyRest(pointers, at);
    place.strides.assign(tile::shapeOf(pointers.getType()).size(), 0);
    place.isShort = true;
    if (mask)
      takeConditions(mask, place);
    return chooseVector(pointers, mask, place);
  }

  Value offsetOf(const Place &place, Value pointers, OpBuilder &b) {
    Value offset = shortOffsets.write(pointers, at, b);
    if (!place.isMoved)
      return offset;
    Value start =
        tile::SplatOp::create(b, at->getLoc(), offset.getType(), number(movedBufferStart, b));
    return arith::SubIOp::create(b, at->getLoc(), offset, start);
  }

  /// That are in range where nothing else bounds them.
  static int64_t bytesOf(const Place &place) {
    if (place.isShort && place.isMoved)
      return movedBufferBytes;
    return place.isShort || !place.start.terms().empty() ? mostShort : place.span;
  }

  Value number(int64_t value, OpBuilder &b) const {
    return arith::ConstantOp::create(b, at->getLoc(), b.getI32IntegerAttr(int32_t(value)));
  }

  /// At most the span, or what the next multiple of the scale is more. In 32 bits where nothing can
  /// overflow: what a bound is more than an index of at least 0.
  Value bytesBelow(const Bound &bound, int64_t span, OpBuilder &b) {
    Location loc = at->getLoc();
    Type narrow = b.getI32Type(), wide = b.getI64Type();
    auto isWritten = [&](const Polynomial &index) {
      return scalars.canWrite(index, at, narrow) && scalars.isNonNegative(index);
    };
    bool isNarrow = bound.isNarrow && scalars.canWrite(bound.bound, at, narrow) &&
                    isWritten(bound.uniform) && isWritten(bound.first);
    Type type = isNarrow ? narrow : wide;
    Value start = scalars.write(bound.uniform, at, type, b);
    Value end = scalars.write(bound.bound, at, type, b);
    Value left = b.createOrFold<arith::MaxSIOp>(loc, end, start);
    if (!bound.first.terms().empty()) {
      Value first = scalars.write(bound.first, at, type, b);
      Value isBelow = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, first, end);
      left = arith::SelectOp::create(b, loc, isBelow, end, start);
    }
    left = b.createOrFold<arith::SubIOp>(loc, left, start);
    Value most = arith::ConstantOp::create(
        b, loc, b.getIntegerAttr(type, (span + bound.scale - 1) / bound.scale));
    left = b.createOrFold<arith::MinSIOp>(loc, left, most);
    if (!isNarrow)
      left = b.createOrFold<arith::TruncIOp>(loc, narrow, left);
    return b.createOrFold<arith::MulIOp>(loc, left, number(bound.scale, b));
  }

  /// Of bytes or an index; none if an index is multiplied by anything but a constant of at least 0.
  std::optional<Split> splitOf(Value value) {
    Split split;
    split.strides.assign(tile::shapeOf(value.getType()).size(), 0);
    Polynomial polynomial = polynomials.of(value);
    if (polynomial.isTooLarge())
      return std::nullopt;
    for (auto &[monomial, coefficient] : polynomial.terms()) {
      bool isUniform =
          llvm::all_of(monomial, [&](Symbol symbol) { return polynomials.axesOf(symbol).empty(); });
      if (isUniform) {
        split.uniform.add(monomial, coefficient);
        continue;
      }
      const SymbolMeaning &meant = polynomials.meaning(monomial[0]);
      if (monomial.size() != 1 || meant.kind != SymbolMeaning::Kind::Axis || coefficient < 0)
        return std::nullopt;
      split.strides[meant.axis] = coefficient;
    }
    return split;
  }

  /// What of the mask holds for the tile or not; the rest are masks.
  void takeConditions(Value mask, Place &place) {
    splitMask(mask, place);
    // One after the other, as two may imply each other.
    for (unsigned i = place.conditions.size(); i-- > 0;) {
      Value condition = place.conditions[i];
      auto implies = [&](Value part) {
        return part != condition && isImplied(condition, part, polynomials);
      };
      if (llvm::any_of(place.masks, implies) || llvm::any_of(place.conditions, implies))
        place.conditions.erase(place.conditions.begin() + i);
    }
  }

  void splitMask(Value mask, Place &place) {
    Operation *op = mask.getDefiningOp();
    if (auto both = dyn_cast_or_null<arith::AndIOp>(op)) {
      splitMask(both.getLhs(), place);
      splitMask(both.getRhs(), place);
      return;
    }
    auto splat = dyn_cast_or_null<tile::SplatOp>(op);
    if (splat && scalars.isAlike(splat.getSource()))
      place.conditions.push_back(splat.getSource());
    else if (std::optional<Comparison> comparison = uniformComparison(mask))
      place.comparisons.push_back(*comparison);
    else
      place.masks.push_back(mask);
  }

  /// As of an index along an axis of one element.
  std::optional<Comparison> uniformComparison(Value mask) {
    auto comparison = mask.getDefiningOp<arith::CmpIOp>();
    using P = arith::CmpIPredicate;
    if (!comparison || !llvm::is_contained({P::eq, P::ne, P::slt, P::sle, P::sgt, P::sge},
                                           comparison.getPredicate()))
      return std::nullopt;
    Comparison found{comparison.getPredicate(), polynomials.of(comparison.getLhs()),
                     polynomials.of(comparison.getRhs()),
                     tile::elementTypeOf(comparison.getLhs().getType()).getIntOrFloatBitWidth()};
    Type wide = IntegerType::get(at->getContext(), 64);
    auto isWritten = [&](const Polynomial &side) {
      return polynomials.isUniform(side) && scalars.canWrite(side, at, wide);
    };
    bool isOfWave = found.bits >= 32 && isWritten(found.lhs) && isWritten(found.rhs);
    return isOfWave ? std::optional(found) : std::nullopt;
  }

  Value compare(const Comparison &comparison, OpBuilder &b) {
    Type narrow = b.getI32Type();
    bool isNarrow = comparison.bits == 32 && scalars.canWrite(comparison.lhs, at, narrow) &&
                    scalars.canWrite(comparison.rhs, at, narrow);
    Type type = isNarrow ? narrow : Type(b.getI64Type());
    return b.createOrFold<arith::CmpIOp>(at->getLoc(), comparison.predicate,
                                         scalars.write(comparison.lhs, at, type, b),
                                         scalars.write(comparison.rhs, at, type, b));
  }

  void takeMask(Value mask, Place &place) {
    takeConditions(mask, place);
    llvm::erase_if(place.masks, [&](Value part) { return takeBound(part, place); });
  }

  bool takeBound(Value mask, Place &place) {
    auto comparison = mask.getDefiningOp<arith::CmpIOp>();
    if (!comparison)
      return false;
    using P = arith::CmpIPredicate;
    P predicate = comparison.getPredicate();
    bool isSwapped = predicate == P::sgt || predicate == P::sge;
    if (!isSwapped && predicate != P::slt && predicate != P::sle)
      return false;
    Value index = comparison.getLhs(), limit = comparison.getRhs();
    if (isSwapped)
      std::swap(index, limit);
    // Narrow numbers wrap.
    unsigned bits = tile::elementTypeOf(index.getType()).getIntOrFloatBitWidth();
    std::optional<Split> split = splitOf(index);
    Polynomial bound = polynomials.of(limit);
    Type wide = IntegerType::get(at->getContext(), 64);
    if (bits < 32 || !split || !polynomials.isUniform(bound) ||
        !scalars.canWrite(bound, at, wide) || !scalars.canWrite(split->uniform, at, wide))
      return false;
    int64_t scale = scaleBetween(split->strides, place.strides);
    if (!scale || scale % elementBytes != 0 || !endsBetweenWords(comparison, scale, place.strides))
      return false;
    bool isStrict = predicate == P::slt || predicate == P::sgt;
    if (!isStrict)
      bound = bound.plus(Polynomial::constant(1));
    place.bounds.push_back({bound, split->uniform, scale, bits == 32 && isStrict, mask});
    return true;
  }

  /// By what `index` is multiplied in `bytes`; 0: not by one number along all axes.
  static int64_t scaleBetween(ArrayRef<int64_t> index, ArrayRef<int64_t> bytes) {
    int64_t scale = 0;
    for (auto [own, other] : llvm::zip_equal(index, bytes)) {
      if (own == 0 && other == 0)
        continue;
      if (own == 0 || other == 0 || other % own != 0 || (scale && scale != other / own))
        return 0;
      scale = other / own;
    }
    return scale;
  }

  /// Whether no bound divides a word. Only along the axis of neighbours it can.
  bool endsBetweenWords(arith::CmpIOp comparison, int64_t scale, ArrayRef<int64_t> strides) const {
    if (scale % wordBytes == 0)
      return true;
    for (auto [axis, stride] : llvm::enumerate(strides))
      if (stride == elementBytes)
        return facts.maskConstancy(comparison, axis) * elementBytes >= wordBytes;
    return false;
  }

  bool chooseVector(Value pointers, Value mask, Place &place) const {
    const LinearLayout &layout = tilegpu::layoutOf(pointers.getType());
    unsigned most = 0;
    for (auto [axis, stride] : llvm::enumerate(place.strides)) {
      int64_t limit = std::min<int64_t>(target.maxVectorBits / 8 / elementBytes,
                                        vectorLength(pointers, mask, place, axis));
      Dim dim = Dim::axis(axis);
      unsigned bits =
          neighbourBits(layout, layout.out().position(dim), std::min(limit, layout.out().size(dim)))
              .size();
      if (bits > most) {
        most = bits;
        place.axis = axis;
      }
    }
    place.vector = 1u << most;
    // A bound that divides a vector costs a branch elsewhere; here narrower accesses would cost
    // more, unless they are one more.
    int64_t registers = layout.numRegisters(), narrow = registers / place.vector;
    return place.masks.empty() || narrow <= registers / lengthElsewhere(pointers, mask) + 1;
  }

  /// Of what is loaded lanes may bring whole vectors where the mask ends within one. Each element
  /// is chosen then: worth the registers of addresses next to products, too much of what streams.
  int64_t vectorLength(Value pointers, Value mask, const Place &place, unsigned axis) const {
    if (hasProducts && place.isShort && isa<tile::LoadOp>(at) && target.loadsBeyondMasks)
      return facts.accessLength(pointers, mask, axis);
    int64_t length = facts.vectorLength(pointers, axis);
    for (Value part : place.masks)
      length = std::min(length, facts.maskConstancy(part, axis));
    return length;
  }

  int64_t lengthElsewhere(Value pointers, Value mask) const {
    const LinearLayout &layout = tilegpu::layoutOf(pointers.getType());
    unsigned most = 0;
    for (unsigned axis = 0; axis < tile::shapeOf(pointers.getType()).size(); ++axis) {
      int64_t limit = std::min<int64_t>(target.maxVectorBits / 8 / elementBytes,
                                        facts.accessLength(pointers, mask, axis));
      Dim dim = Dim::axis(axis);
      most = std::max<unsigned>(most, neighbourBits(layout, layout.out().position(dim),
                                                    std::min(limit, layout.out().size(dim)))
                                          .size());
    }
    return int64_t(1) << most;
  }

  const TargetInfo &target;
  AxisInfoAnalysis facts;
  IndexPolynomials polynomials;
  ScalarPolynomials scalars;
  ShortOffsets shortOffsets;
  bool isSmall;
  bool hasProducts;
  DenseSet<Value> written; ///< arrays that the kernel stores to
  Operation *at = nullptr;
  int64_t elementBytes = 0;
};

/// Whether a thread makes one of the two or the other, as in versions of a loop, of which one runs.
bool excludeEachOther(Operation *access, Operation *other) {
  for (Operation *around = access; (around = around->getParentOfType<LoopLikeOpInterface>());)
    if (around->isProperAncestor(other))
      return false;
  return insideMutuallyExclusiveRegions(access, other);
}

void useBuffer(tile::LoadOp load, const Place &place, BufferPlanner &planner) {
  OpBuilder b(load);
  auto [base, bytes, mask, offset, start] = planner.write(place, load.getPtr(), b);
  Value loaded = tilegpu::BufferLoadOp::create(b, load.getLoc(), load.getType(), base, bytes, mask,
                                               offset, start, place.strides, place.axis,
                                               place.vector, load.getCache(), load.getEvict());
  if (isLoadedByOwner(load))
    setLoadedByOwner(loaded.getDefiningOp());
  if (load.getMask() && load.getOther() && !isZero(load.getOther()))
    loaded = arith::SelectOp::create(b, load.getLoc(), load.getMask(), loaded, load.getOther());
  load.getResult().replaceAllUsesWith(loaded);
}

void useBuffer(tile::StoreOp store, const Place &place, BufferPlanner &planner) {
  OpBuilder b(store);
  auto [base, bytes, mask, offset, start] = planner.write(place, store.getPtr(), b);
  tilegpu::BufferStoreOp::create(b, store.getLoc(), store.getValue(), base, bytes, mask, offset,
                                 start, place.strides, place.axis, place.vector, store.getCache(),
                                 store.getEvict());
}

void useBuffer(tilegpu::CopyAsyncOp copy, const Place &place, BufferPlanner &planner) {
  OpBuilder b(copy);
  auto [base, bytes, mask, offset, start] = planner.write(place, copy.getPtr(), b);
  auto layout = cast<tilegpu::LayoutAttr>(copy.getPtr().getType().getEncoding());
  tilegpu::BufferCopyOp::create(b, copy.getLoc(), copy.getBuffer(), base, bytes, mask, offset,
                                start, place.strides, place.axis, place.vector, copy.getCache(),
                                copy.getEvict(), layout);
}

struct UseBuffersPass : PassWrapper<UseBuffersPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(UseBuffersPass)

  StringRef getArgument() const override { return "kiln-use-buffers"; }
  StringRef getDescription() const override {
    return "Turn loads, stores and copies into accesses to buffers with hardware bounds";
  }

  void runOnOperation() override {
    std::optional<TargetInfo> target = tilegpu::targetOfKernel(getOperation());
    if (!target)
      return signalPassFailure();
    if (!memoryFeaturesOf(*target).boundedBuffers)
      return;
    BufferPlanner planner(getOperation(), *target);
    // What is known of values holds until the first one changes.
    std::vector<Place> places;
    auto plan = [&](auto access) {
      if (std::optional<Place> place = planner.plan(access, access.getPtr(), access.getMask()))
        places.push_back(*place);
    };
    // What polls memory LLVM must not take out of a loop, as it would an access to a buffer.
    getOperation().walk([&](tile::LoadOp load) {
      if (!tilegpu::isReadForAll(load) && load.getCache() != tile::CacheModifier::CG)
        plan(load);
    });
    getOperation().walk([&](tile::StoreOp store) { plan(store); });
    getOperation().walk([&](tilegpu::CopyAsyncOp copy) {
      std::optional<Place> place =
          planner.plan(copy, copy.getPtr(), copy.getMask(), copy.getCondition());
      if (place && !copy.getCounted() && place->vector == copy.getVector())
        places.push_back(*place);
    });
    compareOnce(places, planner);
    dropDifferentBases(places);
    keepApart(places);
    for (Place &place : places)
      planner.moveLanes(place);
    moveAlike(places, planner);
    for (const Place &place : places)
      llvm::TypeSwitch<Operation *>(place.access)
          .Case<tile::LoadOp, tile::StoreOp, tilegpu::CopyAsyncOp>(
              [&](auto access) { useBuffer(access, place, planner); });
    for (const Place &place : places)
      place.access->erase();
    // The addresses.
    IRRewriter rewriter(&getContext());
    (void)runRegionDCE(rewriter, getOperation()->getRegions());
    addIndicesFirst(getOperation());
  }

private:
  /// Bounds by which lanes are sent out of range for other accesses, as of rows that an index leads
  /// to, are no numbers of bytes as well.
  static void compareOnce(std::vector<Place> &places, BufferPlanner &planner) {
    DenseSet<Value> compared;
    for (const Place &place : places)
      compared.insert(place.masks.begin(), place.masks.end());
    for (Place &place : places) {
      bool isCompared = llvm::all_of(
          place.bounds, [&](const Bound &bound) { return compared.contains(bound.mask); });
      if (place.bounds.empty() || !isCompared)
        continue;
      std::optional<Place> inLanes =
          llvm::TypeSwitch<Operation *, std::optional<Place>>(place.access)
              .Case<tile::LoadOp, tile::StoreOp>([&](auto access) {
                return planner.planInLanes(place, access.getPtr(), access.getMask());
              })
              .Default([](Operation *) { return std::nullopt; });
      if (inLanes)
        place = *inLanes;
    }
  }

  /// An array of which some access has short offsets, and one writes, has one base for all: LLVM's
  /// scheduler takes two that are a constant apart for different memory, as a loop's are that LLVM
  /// has unrolled. So a thread's element that iterations meet in must have one base in them. Of
  /// versions, of which one runs, each may have its own.
  static void dropDifferentBases(std::vector<Place> &places) {
    DenseSet<Value> mixed;
    for (const Place &place : places)
      for (const Place &other : places)
        if (place.isShort && place.argument == other.argument &&
            (isa<tile::StoreOp>(place.access) || isa<tile::StoreOp>(other.access)) &&
            !excludeEachOther(place.access, other.access) &&
            (!other.isShort || !(place.offset == other.offset) ||
             (place.isMoved && (!place.rest || !(*place.rest == other.rest)))))
          mixed.insert(place.argument);
    llvm::erase_if(places, [&](const Place &place) {
      return place.isShort && mixed.contains(place.argument);
    });
  }

  /// Nor are there two bases in one block of which one moves and one does not.
  static void moveAlike(std::vector<Place> &places, BufferPlanner &planner) {
    DenseSet<Value> mixed;
    for (const Place &place : places)
      for (const Place &other : places)
        if (place.argument == other.argument &&
            (isa<tile::StoreOp>(place.access) || isa<tile::StoreOp>(other.access)) &&
            !excludeEachOther(place.access, other.access) &&
            !(place.offset == other.offset &&
              place.start.terms().empty() == other.start.terms().empty()))
          mixed.insert(place.argument);
    for (Place &place : places)
      if (mixed.contains(place.argument))
        planner.moveBase(place);
  }

  /// An array has accesses to buffers or plain ones, where one of them writes: LLVM's scheduler
  /// takes one to a buffer for one to where the buffer begins, and might change their order.
  void keepApart(std::vector<Place> &places) {
    DenseSet<Operation *> planned;
    for (const Place &place : places)
      planned.insert(place.access);
    DenseSet<Value> stored;
    for (const Place &place : places)
      if (isa<tile::StoreOp>(place.access))
        stored.insert(place.argument);
    /// By argument; null: some array.
    DenseSet<Value> read, written;
    getOperation().walk([&](Operation *op) {
      if (planned.contains(op))
        return;
      if (auto copy = dyn_cast<tilegpu::CopyAsyncOp>(op))
        read.insert(argumentOf(copy.getPtr()));
      if (auto load = dyn_cast<tile::LoadOp>(op))
        read.insert(argumentOf(load.getPtr()));
      if (auto store = dyn_cast<tile::StoreOp>(op))
        written.insert(argumentOf(store.getPtr()));
    });
    auto holds = [](const DenseSet<Value> &arguments, const Place &place) {
      return arguments.contains(place.argument) || arguments.contains(Value());
    };
    llvm::erase_if(places, [&](const Place &place) {
      return holds(written, place) || (stored.contains(place.argument) && holds(read, place));
    });
  }
};

} // namespace

std::unique_ptr<Pass> createUseBuffersPass() { return std::make_unique<UseBuffersPass>(); }

} // namespace kiln
