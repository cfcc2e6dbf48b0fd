#include "compiler/Dialect/TileGPU/Transforms/BufferPlanner.h"
#include "compiler/Analysis/ValueSources.h"
#include "compiler/Dialect/TileGPU/Transforms/ImpliedConditions.h"
#include "compiler/Layout/RegisterRenaming.h"
#include "compiler/Target/MemoryFeatures.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;

namespace kiln {

static constexpr int64_t wordBytes = 4, mostBytes = int64_t(1) << 30;

/// What is in range of the beginning of an array below 2 GiB.
static constexpr int64_t mostShort = std::numeric_limits<int32_t>::max();

BufferPlanner::BufferPlanner(func::FuncOp kernel, const TargetInfo &target)
    : target(target), facts(kernel),
      // On RDNA what loops move takes registers that threads lack.
      scalars(kernel, polynomials, facts, /*followsLoads=*/target.matrix.mfmaGeneration != 0),
      shortOffsets(polynomials, scalars),
      isSmall(kernel->hasAttr(tile::TileDialect::smallArraysAttr)),
      hasProducts(tilegpu::multiplies(kernel)) {
  kernel.walk([&](tile::StoreOp store) { written.insert(argumentOf(store.getPtr())); });
  kernel.walk([&](tile::AtomicRMWOp atomic) { written.insert(argumentOf(atomic.getPtr())); });
}

std::optional<BufferPlace> BufferPlanner::plan(Operation *op, Value pointers, Value mask,
                                               Value condition) {
  auto pointer = cast<tile::PtrType>(tile::elementTypeOf(pointers.getType()));
  Type element = pointer.getPointee();
  BlockArgument argument = argumentOf(pointers);
  if (!isa<RankedTensorType>(pointers.getType()) || !element.isIntOrFloat() ||
      element.getIntOrFloatBitWidth() % 8 != 0 || !argument || argument.getType() != pointer ||
      (condition && !scalars.isAlike(condition)))
    return std::nullopt;
  elementBytes = pointer.getElementBytes();
  at = op;
  BufferPlace one{op, argument, {}, {}, {}, {}, {}, {}};
  if (condition)
    one.conditions.push_back(condition);
  BufferPlace other = one;
  bool hasStrides = planStrides(pointers, mask, one);
  if (hasStrides && !(isSmall && !mayMoveWhole(one) && mayMoveOffsets(one, pointers, mask)))
    return one;
  bool hasOffsets =
      isSmall && planOffsets(pointers, mask, other) && (!hasStrides || movesAsWell(other, one));
  if (hasOffsets)
    return other;
  return hasStrides ? std::optional(one) : std::nullopt;
}

std::optional<BufferPlace> BufferPlanner::planInLanes(const BufferPlace &bounded, Value pointers,
                                                      Value mask) {
  at = bounded.access;
  elementBytes = cast<tile::PtrType>(bounded.argument.getType()).getElementBytes();
  BufferPlace place{at, bounded.argument, {}, {}, {}, {}, {}, {}};
  bool isPlanned = isSmall && !at->getParentOfType<LoopLikeOpInterface>() &&
                   planOffsets(pointers, mask, place) && place.vector == bounded.vector;
  return isPlanned ? std::optional(place) : std::nullopt;
}

BufferPlanner::Buffer BufferPlanner::write(const BufferPlace &place, Value pointers, OpBuilder &b) {
  at = place.access;
  Location loc = at->getLoc();
  Value base = place.argument;
  if (!place.offset.terms().empty())
    base = movedBase(place, b);
  Value bytes;
  for (const BufferBound &bound : place.bounds) {
    int64_t whole = mostShort - mostShort % bound.scale;
    Value below = bytesBelow(bound, place.start.terms().empty() ? place.span : whole, b);
    bytes = bytes ? arith::MinSIOp::create(b, loc, bytes, below) : below;
  }
  if (!bytes)
    bytes = number(bytesOf(place), b);
  SmallVector<Value> conditions = place.conditions;
  for (const TileComparison &comparison : place.comparisons)
    conditions.push_back(compare(comparison, b));
  for (Value condition : conditions)
    bytes = b.createOrFold<arith::SelectOp>(loc, condition, bytes, number(0, b));
  Value mask;
  for (Value part : place.masks)
    mask = mask ? arith::AndIOp::create(b, loc, mask, part) : part;
  return {base, bytes, mask, place.isShort ? offsetOf(place, pointers, b) : Value(),
          startOf(place, b)};
}

void BufferPlanner::moveLanes(BufferPlace &place) {
  if (!isSmall || place.isShort || !place.masks.empty() ||
      (place.bounds.empty() && !mayMoveWhole(place)))
    return;
  auto loop = dyn_cast<scf::ForOp>(place.access->getParentOp());
  if (!loop && place.access->getParentOfType<LoopLikeOpInterface>())
    return;
  auto moved = [&](const Polynomial &number) { return loop ? movedIn(number, loop) : number; };
  Polynomial start = moved(place.offset);
  int64_t bytes = cast<tile::PtrType>(place.argument.getType()).getElementBytes();
  bool isSteady = llvm::all_of(place.bounds, [&](const BufferBound &bound) {
    bool isBelow = !loop || (movedIn(bound.bound, loop).terms().empty() && isUpTo(loop, bound));
    Polynomial part = moved(bound.uniform);
    return isBelow && start.plus(start, bytes - 1) == part.plus(part, bound.scale - 1);
  });
  if (!isSteady || !canMoveBy(start, place.access))
    return;
  place.start = start;
  place.offset = place.offset.plus(start, -1);
  for (BufferBound &bound : place.bounds) {
    if (!loop)
      bound.first = bound.uniform;
    bound.uniform = bound.uniform.plus(moved(bound.uniform), -1);
  }
}

bool BufferPlanner::moveAll(BufferPlace &place) {
  Polynomial start = place.start.plus(place.offset);
  if (place.start.terms().empty() || !canMoveBy(start, place.access))
    return false;
  int64_t bytes = cast<tile::PtrType>(place.argument.getType()).getElementBytes();
  bool isOfIndex = llvm::all_of(place.bounds, [&](const BufferBound &bound) {
    return place.offset.plus(place.offset, bytes - 1) ==
           bound.uniform.plus(bound.uniform, bound.scale - 1);
  });
  if (!isOfIndex)
    return false;
  place.start = start;
  place.offset = Polynomial();
  for (BufferBound &bound : place.bounds)
    bound.uniform = Polynomial();
  return true;
}

void BufferPlanner::moveBase(BufferPlace &place) {
  if (place.start.terms().empty())
    return;
  int64_t bytes = cast<tile::PtrType>(place.argument.getType()).getElementBytes();
  place.offset = place.offset.plus(place.start);
  for (BufferBound &bound : place.bounds) {
    bound.uniform =
        bound.uniform.plus(*place.start.plus(place.start, bytes - 1).dividedBy(bound.scale));
    bound.first = Polynomial();
  }
  place.start = Polynomial();
}

/// What the number of the loop's iteration is in.
Polynomial BufferPlanner::movedIn(const Polynomial &polynomial, scf::ForOp loop) const {
  Polynomial moved;
  for (auto &[monomial, coefficient] : polynomial.terms())
    if (llvm::any_of(monomial, [&](Symbol symbol) {
          return polynomials.meaning(symbol).loop == loop.getOperation();
        }))
      moved.add(monomial, coefficient);
  return moved;
}

bool BufferPlanner::canMoveBy(const Polynomial &start, Operation *access) {
  return !start.terms().empty() && scalars.isNonNegative(start) &&
         scalars.canWrite(start, access, Builder(access).getI32Type());
}

/// Whether lanes can move where the loop accesses all of the tile in each iteration: one addition
/// for what accesses reach from one offset, in place of the two that move a base. Next to
/// products loops carry bases.
bool BufferPlanner::mayMoveWhole(const BufferPlace &place) {
  constexpr int64_t reach = 4096; // of an access's own offset
  auto loop = dyn_cast<scf::ForOp>(place.access->getParentOp());
  return loop && !hasProducts && place.bounds.empty() && place.masks.empty() &&
         place.conditions.empty() && place.comparisons.empty() && place.span <= reach &&
         canMoveBy(movedIn(place.offset, loop), place.access);
}

/// Whether the tile's first element is below the bound in each iteration, but for some elements
/// ahead of the counter.
bool BufferPlanner::isUpTo(scf::ForOp loop, const BufferBound &bound) {
  constexpr int64_t mostAhead = 1 << 20;
  Polynomial counter = polynomials.of(loop.getInductionVar()), end = endBehind(loop),
             left = bound.bound.plus(bound.uniform, -1);
  // What is loaded ahead is, too, where the last iteration stands behind the loop.
  bool isPeeled = !(end == polynomials.of(loop.getUpperBound()));
  Polynomial next = counter.plus(polynomials.of(loop.getStep()));
  if (isPositiveBelow(end, counter, left, loop, polynomials) ||
      (isPeeled && isPositiveBelow(end, next, left, loop, polynomials)))
    return true;
  std::optional<int64_t> ahead = bound.uniform.plus(counter, -1).asConstant();
  std::optional<int64_t> beyond = bound.bound.plus(end, -1).asConstant();
  return ahead && beyond && std::abs(*ahead) <= mostAhead && *beyond >= 0;
}

/// The loop's end; of a loop whose last iteration stands behind it (PeelLoops.cpp) that of both,
///
///     if first < end: for i in first … first + (end - first - 1) / step * step: …
///
/// as all of its iterations are in front of that one.
Polynomial BufferPlanner::endBehind(scf::ForOp loop) {
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

Value BufferPlanner::startOf(const BufferPlace &place, OpBuilder &b) {
  if (place.start.terms().empty())
    return {};
  int64_t bytes = cast<tile::PtrType>(place.argument.getType()).getElementBytes();
  Value elements = scalars.write(place.start, at, b.getI32Type(), b);
  return arith::MulIOp::create(b, at->getLoc(), elements, number(bytes, b));
}

/// Of an array below 2 GiB by the lower word of the bytes, which is all where an element is
/// accessed: but in a loop that moves the base LLVM adds to it.
Value BufferPlanner::movedBase(const BufferPlace &place, OpBuilder &b) {
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
bool BufferPlanner::mayMoveOffsets(const BufferPlace &place, Value pointers, Value mask) const {
  constexpr int64_t fewAccesses = 4;
  const LinearLayout &layout = tilegpu::layoutOf(pointers.getType());
  return !mask && isa<tile::LoadOp>(at) && at->getParentOfType<scf::ForOp>() &&
         !written.contains(place.argument) &&
         layout.numRegisters() <= fewAccesses * int64_t(place.vector);
}

bool BufferPlanner::movesAsWell(const BufferPlace &offsets, const BufferPlace &strides) {
  return offsets.isMoved && offsets.vector == strides.vector && offsets.axis == strides.axis;
}

bool BufferPlanner::planStrides(Value pointers, Value mask, BufferPlace &place) {
  std::optional<Split> split = splitOf(pointers);
  std::optional<Polynomial> offset = split ? split->uniform.dividedBy(elementBytes) : std::nullopt;
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
bool BufferPlanner::comesByScalars(Value pointers, Value mask) const {
  const LinearLayout &layout = tilegpu::layoutOf(pointers.getType());
  bool isPart = mask && layout.numRegisters() * elementBytes < wordBytes;
  return isa<tile::LoadOp>(at) && !isPart &&
         llvm::all_of(layout.columns(Dim::Lane), [](auto lane) { return !lane; });
}

/// For arrays that are promised to be small.
bool BufferPlanner::planOffsets(Value pointers, Value mask, BufferPlace &place) {
  std::optional<Polynomial> offset = shortOffsets.moves(pointers, at);
  if (!offset || comesByScalars(pointers, mask))
    return false;
  place.isMoved = !offset->terms().empty();
  place.offset = place.isMoved ? offset->plus(Polynomial::constant(movedBufferStart / elementBytes))
                               : Polynomial();
  place.rest = shortOffsets.steadyRest(pointers, at);
  place.strides.assign(tile::shapeOf(pointers.getType()).size(), 0);
  place.isShort = true;
  if (mask)
    takeConditions(mask, place);
  return chooseVector(pointers, mask, place);
}

Value BufferPlanner::offsetOf(const BufferPlace &place, Value pointers, OpBuilder &b) {
  Value offset = shortOffsets.write(pointers, at, b);
  if (!place.isMoved)
    return offset;
  Value start =
      tile::SplatOp::create(b, at->getLoc(), offset.getType(), number(movedBufferStart, b));
  return arith::SubIOp::create(b, at->getLoc(), offset, start);
}

/// That are in range where nothing else bounds them.
int64_t BufferPlanner::bytesOf(const BufferPlace &place) {
  if (place.isShort && place.isMoved)
    return movedBufferBytes;
  return place.isShort || !place.start.terms().empty() ? mostShort : place.span;
}

Value BufferPlanner::number(int64_t value, OpBuilder &b) const {
  return arith::ConstantOp::create(b, at->getLoc(), b.getI32IntegerAttr(int32_t(value)));
}

/// At most the span, or what the next multiple of the scale is more. In 32 bits where nothing can
/// overflow: what a bound is more than an index of at least 0.
Value BufferPlanner::bytesBelow(const BufferBound &bound, int64_t span, OpBuilder &b) {
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
std::optional<BufferPlanner::Split> BufferPlanner::splitOf(Value value) {
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
void BufferPlanner::takeConditions(Value mask, BufferPlace &place) {
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

void BufferPlanner::splitMask(Value mask, BufferPlace &place) {
  Operation *op = mask.getDefiningOp();
  if (auto both = dyn_cast_or_null<arith::AndIOp>(op)) {
    splitMask(both.getLhs(), place);
    splitMask(both.getRhs(), place);
    return;
  }
  auto splat = dyn_cast_or_null<tile::SplatOp>(op);
  if (splat && scalars.isAlike(splat.getSource()))
    place.conditions.push_back(splat.getSource());
  else if (std::optional<TileComparison> comparison = uniformComparison(mask))
    place.comparisons.push_back(*comparison);
  else
    place.masks.push_back(mask);
}

/// As of an index along an axis of one element.
std::optional<TileComparison> BufferPlanner::uniformComparison(Value mask) {
  auto comparison = mask.getDefiningOp<arith::CmpIOp>();
  using P = arith::CmpIPredicate;
  if (!comparison || !llvm::is_contained({P::eq, P::ne, P::slt, P::sle, P::sgt, P::sge},
                                         comparison.getPredicate()))
    return std::nullopt;
  TileComparison found{comparison.getPredicate(), polynomials.of(comparison.getLhs()),
                       polynomials.of(comparison.getRhs()),
                       tile::elementTypeOf(comparison.getLhs().getType()).getIntOrFloatBitWidth()};
  Type wide = IntegerType::get(at->getContext(), 64);
  auto isWritten = [&](const Polynomial &side) {
    return polynomials.isUniform(side) && scalars.canWrite(side, at, wide);
  };
  bool isOfWave = found.bits >= 32 && isWritten(found.lhs) && isWritten(found.rhs);
  return isOfWave ? std::optional(found) : std::nullopt;
}

Value BufferPlanner::compare(const TileComparison &comparison, OpBuilder &b) {
  Type narrow = b.getI32Type();
  bool isNarrow = comparison.bits == 32 && scalars.canWrite(comparison.lhs, at, narrow) &&
                  scalars.canWrite(comparison.rhs, at, narrow);
  Type type = isNarrow ? narrow : Type(b.getI64Type());
  return b.createOrFold<arith::CmpIOp>(at->getLoc(), comparison.predicate,
                                       scalars.write(comparison.lhs, at, type, b),
                                       scalars.write(comparison.rhs, at, type, b));
}

void BufferPlanner::takeMask(Value mask, BufferPlace &place) {
  takeConditions(mask, place);
  llvm::erase_if(place.masks, [&](Value part) { return takeBound(part, place); });
}

bool BufferPlanner::takeBound(Value mask, BufferPlace &place) {
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
  if (bits < 32 || !split || !polynomials.isUniform(bound) || !scalars.canWrite(bound, at, wide) ||
      !scalars.canWrite(split->uniform, at, wide))
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
int64_t BufferPlanner::scaleBetween(ArrayRef<int64_t> index, ArrayRef<int64_t> bytes) {
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
bool BufferPlanner::endsBetweenWords(arith::CmpIOp comparison, int64_t scale,
                                     ArrayRef<int64_t> strides) const {
  if (scale % wordBytes == 0)
    return true;
  for (auto [axis, stride] : llvm::enumerate(strides))
    if (stride == elementBytes)
      return facts.maskConstancy(comparison, axis) * elementBytes >= wordBytes;
  return false;
}

/// Bytes of one instruction.
int64_t BufferPlanner::widestAccess() const {
  auto atomic = dyn_cast<tile::AtomicRMWOp>(at);
  return (atomic ? tilegpu::bufferReductionBits(atomic, target) : target.maxVectorBits) / 8;
}

bool BufferPlanner::chooseVector(Value pointers, Value mask, BufferPlace &place) const {
  const LinearLayout &layout = tilegpu::layoutOf(pointers.getType());
  unsigned most = 0;
  for (auto [axis, stride] : llvm::enumerate(place.strides)) {
    int64_t limit =
        std::min<int64_t>(widestAccess() / elementBytes, vectorLength(pointers, mask, place, axis));
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
  // more, unless they are one more. What kernels with products store is rather halves of 8 bytes
  // than a way for each end.
  constexpr int64_t halfBytes = 8;
  int64_t registers = layout.numRegisters(), narrow = registers / place.vector,
          wide = registers / lengthElsewhere(pointers, mask);
  bool areHalves = hasProducts && isa<tile::StoreOp>(at) && narrow <= 2 * wide &&
                   place.vector * elementBytes >= halfBytes;
  return place.masks.empty() || narrow <= wide + 1 || areHalves;
}

/// Of what is loaded lanes may bring whole vectors where the mask ends within one. Each element
/// is chosen then: worth the registers of addresses next to products, too much of what streams.
int64_t BufferPlanner::vectorLength(Value pointers, Value mask, const BufferPlace &place,
                                    unsigned axis) const {
  if (hasProducts && place.isShort && isa<tile::LoadOp>(at) && target.loadsBeyondMasks)
    return facts.accessLength(pointers, mask, axis);
  int64_t length = facts.vectorLength(pointers, axis);
  for (Value part : place.masks)
    length = std::min(length, facts.maskConstancy(part, axis));
  return length;
}

int64_t BufferPlanner::lengthElsewhere(Value pointers, Value mask) const {
  const LinearLayout &layout = tilegpu::layoutOf(pointers.getType());
  unsigned most = 0;
  for (unsigned axis = 0; axis < tile::shapeOf(pointers.getType()).size(); ++axis) {
    int64_t limit =
        std::min<int64_t>(widestAccess() / elementBytes, facts.accessLength(pointers, mask, axis));
    Dim dim = Dim::axis(axis);
    most = std::max<unsigned>(most, neighbourBits(layout, layout.out().position(dim),
                                                  std::min(limit, layout.out().size(dim)))
                                        .size());
  }
  return int64_t(1) << most;
}

} // namespace kiln
