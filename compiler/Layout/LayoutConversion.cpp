//===- LayoutConversion.cpp - from one layout to another ------------------===//

#include "compiler/Layout/LayoutConversion.h"
#include "compiler/Layout/SlicedExchange.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <cassert>

using namespace llvm;

namespace kiln {

bool ShufflePlan::readsByXor() const {
  for (auto [bit, column] : enumerate(readByLane))
    if (column != uint64_t(1) << bit)
      return false;
  return true;
}

/// Both layouts place every thread bit of `dim` alike.
static bool sameColumns(const LinearLayout &a, const LinearLayout &b, Dim dim) {
  return a.columns(dim) == b.columns(dim);
}

/// The source register of each result register if no thread needs another's.
static std::optional<SmallVector<unsigned, 16>> planRegisters(const LinearLayout &source,
                                                              const LinearLayout &result) {
  for (Dim dim : {Dim::Lane, Dim::Warp, Dim::Block})
    if (!sameColumns(source, result, dim))
      return std::nullopt;
  BinarySpan span(source.columns(Dim::Register));
  BinaryColumns map;
  for (BinaryVector column : result.columns(Dim::Register)) {
    std::optional<uint64_t> from = span.solve(column);
    if (!from)
      return std::nullopt;
    map.push_back(*from);
  }
  SmallVector<unsigned, 16> registers;
  for (int64_t reg = 0; reg < result.numRegisters(); ++reg)
    registers.push_back(multiply(map, reg));
  return registers;
}

namespace {
/// The map f of the essay, by blocks: columns are register bits (C, A) or lane bits (D, B).
struct WarpMap {
  BinaryColumns c, a, d, b;
};
} // namespace

/// Where a column of the result is found, split into register and lane part. A lane bit is left
/// in its own lane if that is a solution.
static std::optional<std::pair<uint64_t, uint64_t>>
findColumn(const LinearLayout &source, BinaryVector target, std::optional<unsigned> lane) {
  ArrayRef<BinaryVector> lanes = source.columns(Dim::Lane);
  unsigned registerBits = source.in().bits(Dim::Register);
  if (lane && *lane < lanes.size())
    if (auto registers = solve(source.columns(Dim::Register), target ^ lanes[*lane]))
      return std::make_pair(*registers, uint64_t(1) << *lane);
  BinaryColumns columns(source.columns(Dim::Register));
  columns.append(lanes.begin(), lanes.end());
  std::optional<uint64_t> from = solve(columns, target);
  if (!from)
    return std::nullopt;
  return std::make_pair(*from & ((uint64_t(1) << registerBits) - 1), *from >> registerBits);
}

static std::optional<WarpMap> findWarpMap(const LinearLayout &source, const LinearLayout &result) {
  if (!sameColumns(source, result, Dim::Warp) || !sameColumns(source, result, Dim::Block) ||
      source.numLanes() != result.numLanes())
    return std::nullopt;
  WarpMap map;
  for (BinaryVector column : result.columns(Dim::Register)) {
    auto from = findColumn(source, column, std::nullopt);
    if (!from)
      return std::nullopt;
    map.c.push_back(from->first);
    map.a.push_back(from->second);
  }
  for (auto [bit, column] : enumerate(result.columns(Dim::Lane))) {
    auto from = findColumn(source, column, bit);
    if (!from)
      return std::nullopt;
    map.d.push_back(from->first);
    map.b.push_back(from->second);
  }
  return map;
}

/// A basis of the differences between lanes that read one lane but want different registers of it.
static BinaryColumns tornLanes(const WarpMap &map) {
  BinaryColumns stacked;
  for (auto [read, wanted] : zip(map.b, map.d))
    stacked.push_back(read | wanted << map.b.size());
  return complementWithin(kernel(stacked), kernel(map.b));
}

/// The linear map that takes basis vector i to images[i] and a complement to 0, as columns for
/// each of `lanes` unit vectors.
static BinaryColumns extendLinearly(ArrayRef<BinaryVector> basis, ArrayRef<BinaryVector> images,
                                    unsigned lanes) {
  BinaryColumns whole(basis), result;
  BinaryColumns rest = complementWithin(basis, unitVectors(lanes));
  whole.append(rest.begin(), rest.end());
  BinaryColumns toBasis = *inverse(whole);
  uint64_t given = (uint64_t(1) << images.size()) - 1;
  for (BinaryVector coordinates : toBasis)
    result.push_back(multiply(images, coordinates & given));
  return result;
}

/// Where the source holds duplicates, lets torn lanes read from lanes that nobody reads yet.
static void readDuplicates(WarpMap &map, const LinearLayout &source) {
  BinaryColumns columns(source.columns(Dim::Register));
  unsigned registerBits = columns.size(), lanes = map.b.size();
  ArrayRef<BinaryVector> laneColumns = source.columns(Dim::Lane);
  columns.append(laneColumns.begin(), laneColumns.end());
  BinaryColumns duplicates = kernel(columns), torn = tornLanes(map), images;
  BinarySpan reached(map.b);
  for (size_t i = 0; i < torn.size(); ++i) {
    images.push_back(0);
    for (BinaryVector duplicate : duplicates)
      if (!reached.contains(duplicate >> registerBits)) {
        reached.insert(duplicate >> registerBits);
        images.back() = duplicate;
        break;
      }
  }
  for (auto [bit, change] : enumerate(extendLinearly(torn, images, lanes))) {
    map.d[bit] ^= change & ((uint64_t(1) << registerBits) - 1);
    map.b[bit] ^= change >> registerBits;
  }
}

/// The columns of G: result register bits that vary with the lane, so that lanes which want
/// different registers of one lane read different lanes instead.
static BinaryColumns chooseReceiveByLane(const WarpMap &map) {
  BinaryColumns torn = tornLanes(map), images;
  BinarySpan reached(map.b);
  for (size_t i = 0; i < torn.size(); ++i) {
    images.push_back(0);
    for (auto [bit, lane] : enumerate(map.a))
      if (!reached.contains(lane)) {
        reached.insert(lane);
        images.back() = uint64_t(1) << bit;
        break;
      }
  }
  return extendLinearly(torn, images, map.b.size());
}

/// H with H P = W, one column per lane bit (0 outside P's image), if there is one.
static std::optional<BinaryColumns> divide(ArrayRef<BinaryVector> w, ArrayRef<BinaryVector> p) {
  for (BinaryVector lane : kernel(p))
    if (multiply(w, lane) != 0)
      return std::nullopt;
  BinaryColumns image(p);
  BinaryColumns extra = complementWithin(p, unitVectors(p.size())), all(image);
  all.append(extra.begin(), extra.end());
  BinarySpan span(all);
  BinaryColumns result;
  uint64_t ofP = (uint64_t(1) << p.size()) - 1;
  for (BinaryVector unit : unitVectors(p.size()))
    result.push_back(multiply(w, *span.solve(unit) & ofP));
  return result;
}

/// G with A G + B = 1: every lane reads a lane that differs from it by A t.
static std::optional<BinaryColumns> receiveByXor(const WarpMap &map) {
  BinarySpan span(map.a);
  BinaryColumns result;
  for (auto [bit, read] : enumerate(map.b)) {
    std::optional<uint64_t> column = span.solve(read ^ uint64_t(1) << bit);
    if (!column)
      return std::nullopt;
    result.push_back(*column);
  }
  return result;
}

static std::optional<ShufflePlan> planRounds(const WarpMap &map, BinaryColumns receiveByLane) {
  ShufflePlan plan;
  plan.receiveByLane = std::move(receiveByLane);
  BinaryColumns wanted;
  for (unsigned bit = 0; bit < map.b.size(); ++bit) {
    plan.readByLane.push_back(map.b[bit] ^ multiply(map.a, plan.receiveByLane[bit]));
    wanted.push_back(map.d[bit] ^ multiply(map.c, plan.receiveByLane[bit]));
  }
  std::optional<BinaryColumns> give = divide(wanted, plan.readByLane);
  if (!give)
    return std::nullopt;
  plan.giveByLane = *give;
  for (uint64_t t = 0; t < uint64_t(1) << map.a.size(); ++t) {
    uint64_t lane = multiply(map.a, t);
    plan.rounds.push_back({unsigned(multiply(map.c, t) ^ multiply(plan.giveByLane, lane)),
                           unsigned(lane), unsigned(t), lane == 0 && plan.readsByXor()});
  }
  return plan;
}

/// No round's other registers depend on the bit: neither which one a lane gives nor where it
/// receives it.
static bool goesAlong(const WarpMap &map, const ShufflePlan &plan, unsigned result) {
  uint64_t source = map.c[result], bit = uint64_t(1) << result;
  auto lacks = [](ArrayRef<BinaryVector> columns, uint64_t bits) {
    return all_of(columns, [&](BinaryVector column) { return !(column & bits); });
  };
  for (auto [other, column] : enumerate(map.c))
    if (other != result && (column & source))
      return false;
  return isPowerOf2_64(source) && map.a[result] == 0 && lacks(plan.giveByLane, source) &&
         lacks(plan.receiveByLane, bit);
}

/// Has as many registers move together as a word has room for.
static void fillWords(const WarpMap &map, ShufflePlan &plan, unsigned elementBits) {
  for (unsigned result = 0; result < map.c.size() && (elementBits << plan.together.size()) < 32;
       ++result)
    if (goesAlong(map, plan, result))
      plan.together.push_back({unsigned(map.c[result]), 1u << result});
  for (const ShufflePlan::RegisterBit &bit : plan.together)
    erase_if(plan.rounds,
             [&](const ShufflePlan::Round &round) { return (round.receive & bit.result) != 0; });
}

static std::optional<ShufflePlan> planShuffle(const LinearLayout &source,
                                              const LinearLayout &result, unsigned elementBits) {
  std::optional<WarpMap> map = findWarpMap(source, result);
  if (!map)
    return std::nullopt;
  readDuplicates(*map, source);
  std::optional<ShufflePlan> best = planRounds(*map, chooseReceiveByLane(*map));
  if (best)
    fillWords(*map, *best, elementBits);
  if (std::optional<BinaryColumns> byXor = receiveByXor(*map)) {
    std::optional<ShufflePlan> plan = planRounds(*map, *byXor);
    fillWords(*map, *plan, elementBits);
    if (!best || plan->cost(elementBits) <= best->cost(elementBits))
      best = std::move(plan);
  }
  return best;
}

/// All sums of the bits.
static SmallVector<unsigned, 4> distances(ArrayRef<ShufflePlan::RegisterBit> bits,
                                          unsigned ShufflePlan::RegisterBit::*which) {
  SmallVector<unsigned, 4> result = {0};
  for (const ShufflePlan::RegisterBit &bit : bits)
    for (unsigned i = 0, end = result.size(); i < end; ++i)
      result.push_back(result[i] ^ bit.*which);
  return result;
}

SmallVector<unsigned, 4> ShufflePlan::sourcesOfWord() const {
  return distances(together, &RegisterBit::source);
}

SmallVector<unsigned, 4> ShufflePlan::resultsOfWord() const {
  return distances(together, &RegisterBit::result);
}

int64_t ShufflePlan::cost(unsigned elementBits) const {
  int64_t words = (elementBits + 31) / 32;
  auto isShuffle = [](const Round &round) { return !round.local; };
  auto selects = [](ArrayRef<BinaryVector> byLane) {
    return count_if(byLane, [](BinaryVector column) { return column != 0; });
  };
  return words * (2 * count_if(rounds, isShuffle) +
                  (selects(giveByLane) + selects(receiveByLane)) * int64_t(rounds.size()));
}

ConversionKind classifyConversion(const LinearLayout &source, const LinearLayout &result) {
  if (source == result)
    return ConversionKind::None;
  if (planRegisters(source, result))
    return ConversionKind::Registers;
  return planShuffle(source, result, /*elementBits=*/32) ? ConversionKind::Shuffle
                                                         : ConversionKind::Shared;
}

LayoutConversion planConversion(const LinearLayout &source, const LinearLayout &result,
                                unsigned elementBits, const SharedMemoryShape &memory) {
  assert(source.out() == result.out() && "a conversion keeps the shape");
  LayoutConversion plan;
  if (source == result)
    return plan;
  if (auto registers = planRegisters(source, result)) {
    plan.kind = ConversionKind::Registers;
    plan.registers = std::move(*registers);
  } else if ((plan.shuffle = planShuffle(source, result, elementBits))) {
    plan.kind = ConversionKind::Shuffle;
    if (auto swaps = planSwaps(source, result, elementBits, memory.swappedLanes);
        swaps && swaps->cost(elementBits) < plan.shuffle->cost(elementBits)) {
      plan.swaps = std::move(swaps);
      plan.shuffle.reset();
    }
    // Of duplicates only one warp would store.
    bool isWithinWarps =
        memory.ordersWarps && source.numWarps() > 1 && source.freeBits(Dim::Warp) == 0;
    if (source.numWarps() == 1 || isWithinWarps) {
      SharedExchange exchange = planSharedExchange(source, result, elementBits, memory);
      if (exchange.cost() + 2 * (isWithinWarps ? ownWaitCost : barrierCostOfOneWarp) <
          plan.shuffleCost(elementBits)) {
        plan.kind = ConversionKind::Shared;
        plan.shared = std::move(exchange);
        plan.isWithinWarps = isWithinWarps;
        plan.shuffle.reset();
        plan.swaps.reset();
      }
    }
  } else {
    plan.kind = ConversionKind::Shared;
    plan.shared = planSharedExchange(source, result, elementBits, memory);
  }
  return plan;
}

bool exchangesWithinWarps(const LinearLayout &source, const LinearLayout &result,
                          unsigned elementBits, const SharedMemoryShape &memory, unsigned slices) {
  // Without slices elements of several warps have several places.
  return memory.ordersWarps && planConversion(source, result, elementBits, memory).isWithinWarps &&
         (slices == 1 ||
          planSlicedExchange(source, result, elementBits, memory, slices).keepsWarpsApart());
}

} // namespace kiln
