//===- CSharedFunctions.cpp - what entry points of a library share --------===//
//
// Functions of generated sources that are the same for all entry points: sets of variants, decision
// trees, and the two searches among legal variants. ChoicePlan.h says why they find what
// DispatchTables.h says.
//
//===----------------------------------------------------------------------===//
#include "codegen/CWriter.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace kiln {

static const StringRef kWavesOf = R"(/* Rounds of program instances, one on each processor. */
static inline double waves_of(double instances, uint32_t processors) {
  if (instances < 0.0 || instances > 4.0e18) /* refused by the launch */
    return 0.0;
  if (instances < 4.0e15) { /* the quotient is whole only where it is in integers */
    const double rounds = instances / (double)processors, whole = (double)(int64_t)rounds;
    return whole + (double)(whole < rounds);
  }
  return (double)(((uint64_t)instances + processors - 1) / processors);
}

)";

static const StringRef kDistanceOf =
    R"(static double distance_of(double a, double b) { return a < b ? b - a : a - b; }

)";

static const StringRef kNoPlace = R"(#define NO_PLACE UINT32_MAX

)";

static const StringRef kFirstOf = R"(static uint32_t lowest_bit(uint64_t bits) {
#if defined(__GNUC__)
  return (uint32_t)__builtin_ctzll(bits);
#else
  uint32_t bit = 0;
  while (!(bits >> bit & 1))
    ++bit;
  return bit;
#endif
}

/* The first place of a set. */
static uint32_t first_of(const uint64_t *set, uint32_t words) {
  uint32_t word;
  for (word = 0; word < words; ++word)
    if (set[word] != 0)
      return word * 64 + lowest_bit(set[word]);
  return NO_PLACE;
}

)";

static const StringRef kHasMore = R"(/* Whether a set has more than its first place. */
static int has_more(const uint64_t *set, uint32_t words, uint32_t first) {
  uint32_t word = first / 64;
  if ((set[word] & (set[word] - 1)) != 0)
    return 1;
  while (++word < words)
    if (set[word] != 0)
      return 1;
  return 0;
}

)";

static const StringRef kIntervalOf =
    R"(/* How many of the cuts, which are sorted, are not above the value. */
static uint32_t interval_of(const int64_t *cuts, uint32_t count, int64_t value) {
  const int64_t *from = cuts;
  while (count > 1) { /* without branches, which no processor could foresee */
    const uint32_t half = count / 2;
    from += (uint32_t)(from[half - 1] <= value) * half;
    count -= half;
  }
  return (uint32_t)(from - cuts) + (uint32_t)(*from <= value);
}

)";

/// What stands before the factors of a candidate, and behind.
static const StringRef kCandidate = R"(struct candidate {
  double least_rate;
  uint64_t cost, place;
  uint32_t variant;
  uint16_t factors[)";

static const StringRef kChoice = R"(];
};

/* What a call compares its legal variants by. */
struct choice {
  const struct candidate *candidates;
  const uint64_t *factors; /* null: grids are computed one by one */
  double (*waves)(const void *args, uint32_t variant, uint32_t processors);
  const void *args;
  const uint64_t *legal;
  uint32_t processors;
  kiln_divisor by_processors;
};

static inline int is_legal(const struct choice *choice, uint32_t place) {
  return (int)(choice->legal[place / 64] >> place % 64 & 1);
}

)";

/// Before and behind the product of the factors.
static const StringRef kCostOf =
    R"(/* What so much a wave comes to: less than 2^63. The factors are named by their places among the
 * call's. */
static inline uint64_t cost_of(const struct choice *choice, const uint16_t *its, uint64_t wave_cost) {
  const uint64_t instances = )";

static const StringRef kCostOfInstances = R"(;
  return kiln_divide_up(instances, &choice->by_processors) * wave_cost;
}

)";

static const StringRef kTakeCheaper =
    R"(/* What costs least so far: its place, and above 32 bits what goes before others of equal cost. */
struct cheapest {
  uint64_t cost, place;
};

/* Of a number that is not below 0: bits that compare as numbers do. */
static inline uint64_t bits_of(double value) {
  union {
    double value;
    uint64_t bits;
  } both;
  both.value = value;
  return both.bits;
}

/* Whether it is legal is asked last, as most cost more. */
static inline void take_cheaper(const struct choice *choice, uint64_t cost, uint64_t place,
    struct cheapest *best) {
  if (cost > best->cost || (cost == best->cost && place > best->place) ||
      !is_legal(choice, (uint32_t)place))
    return;
  best->cost = cost;
  best->place = place;
}

)";

static const StringRef kCheapestByGrids =
    R"(/* The place of the cheapest legal variant, whose grids are computed one by one. One whose grid
 * cannot be computed is taken, so that it is reported. */
static uint32_t cheapest_by_grids(const struct choice *choice, uint32_t first, uint32_t end) {
  struct cheapest best = {UINT64_MAX, UINT64_MAX};
  uint32_t place;
  for (place = first; place < end; ++place)
    if (is_legal(choice, place)) {
      const struct candidate *its = &choice->candidates[place];
      const double waves = choice->waves(choice->args, its->variant, choice->processors);
      const uint64_t cost = waves < 0.0 ? 0 : 1 + bits_of(waves * (double)its->cost);
      take_cheaper(choice, cost, its->place, &best);
    }
  return (uint32_t)best.place;
}

)";

/// Places up to `end` have one rank. A cost above the best ends the way up because places are in
/// order of cost.
static const StringRef kCheapestOf =
    R"(/* Where the search begins: at the first place that may cover so much work in one wave, to half a
 * power of two. The first of `starts` is for what is smaller than all, the last for what is larger. */
static uint32_t start_of(const uint16_t *starts, int64_t least, int64_t last, double work,
    uint32_t processors) {
  const int64_t by_size =
      (int64_t)((bits_of(work) - bits_of((double)processors) + bits_of(1.0)) >> 51) - least;
  return starts[by_size < 0 ? 0 : by_size > last ? last : by_size];
}

/* The place of the cheapest legal variant from `first`, which is legal, up to `end`. What a place and
 * those below it cost is at least their least rate by the work for a processor, by more than doubles
 * round. */
static uint32_t cheapest_of(const struct choice *choice, double work, uint32_t start,
    uint32_t first, uint32_t end) {
  const double by_processor = work / (double)choice->processors * 0.999999999;
  const struct candidate *all = choice->candidates;
  struct cheapest best = {UINT64_MAX, UINT64_MAX};
  uint32_t place;
  start = start < first ? first : start;
  for (place = start; place < end && all[place].cost <= best.cost; ++place)
    take_cheaper(choice, cost_of(choice, all[place].factors, all[place].cost), all[place].place, &best);
  for (place = start;
       place-- > first && (uint64_t)(int64_t)(all[place].least_rate * by_processor) <= best.cost;)
    take_cheaper(choice, cost_of(choice, all[place].factors, all[place].cost), all[place].place, &best);
  return (uint32_t)best.place;
}

)";

/// DecisionTree of DecisionTree.h.
static const StringRef kLeafOf = R"(#define NO_TREE UINT32_MAX
#define END_OF_LIST UINT16_MAX

/* Where the variants of a key's leaf begin. */
static uint32_t leaf_of(const kiln_tree_node *nodes, uint32_t at, const int64_t *key) {
  while (nodes[at].key != KILN_TREE_LEAF)
    at = key[nodes[at].key] <= nodes[at].bound ? at + 1 : nodes[at].above;
  return nodes[at].above;
}

/* Of a variant that may have been measured. */
struct timed {
  uint16_t place;
  uint16_t factors[)";

static const StringRef kTimed = R"(];
};

)";

static const StringRef kFastestOf =
    R"(/* The place of the fastest legal variant of a leaf; NO_PLACE: none is legal. `timed` is by variant. */
static uint32_t fastest_of(const struct choice *choice, const kiln_tuned_trees *tuned, uint32_t at,
    const struct timed *timed) {
  uint64_t least = UINT64_MAX;
  uint32_t fastest = NO_PLACE;
  for (; tuned->variants[at] != END_OF_LIST; ++at) {
    const struct timed *its = &timed[tuned->variants[at]];
    const uint64_t cost = cost_of(choice, its->factors, tuned->costs[at]);
    if (cost < least && is_legal(choice, its->place)) {
      least = cost;
      fastest = its->place;
    }
  }
  return fastest;
}

)";

static const StringRef kFastestByGrids =
    R"(/* The same, where grids are computed one by one. One whose grid cannot be is taken, so that it is
 * reported. */
static uint32_t fastest_by_grids(const struct choice *choice, const kiln_tuned_trees *tuned,
    uint32_t at, const struct timed *timed) {
  double least = 1.0e308;
  uint32_t fastest = NO_PLACE;
  for (; tuned->variants[at] != END_OF_LIST; ++at) {
    const uint32_t variant = tuned->variants[at], place = timed[variant].place;
    if (is_legal(choice, place)) {
      const double waves = choice->waves(choice->args, variant, choice->processors);
      const double cost = waves * (double)tuned->costs[at];
      if (waves < 0.0)
        return place;
      if (cost < least) {
        least = cost;
        fastest = place;
      }
    }
  }
  return fastest;
}

)";

/// The product of the factors that a candidate names.
static std::string instances(size_t numFactors) {
  std::string product;
  for (size_t i = 0; i < numFactors; ++i)
    product += formatv("{0}choice->factors[its[{1}]]", i ? " * " : "", i).str();
  return product;
}

std::string sharedFunctions(const std::set<std::string> &used, size_t numFactors) {
  std::string text = Expression::cHelpers(used);
  auto add = [&](bool isUsed, StringRef definition) {
    if (isUsed)
      text += definition;
  };
  bool compares = used.count("candidate");
  add(compares, kWavesOf);
  add(used.count("distance_of"), kDistanceOf);
  add(compares || used.count("first_of"), kNoPlace);
  add(used.count("first_of"), kFirstOf);
  add(used.count("has_more"), kHasMore);
  add(used.count("interval_of"), kIntervalOf);
  if (compares)
    text += (kCandidate + Twine(numFactors) + kChoice).str();
  if (used.count("cheapest_of") || used.count("fastest_of"))
    text += (kCostOf + instances(numFactors) + kCostOfInstances).str();
  add(used.count("cheapest_by_grids"), kTakeCheaper);
  add(used.count("cheapest_by_grids"), kCheapestByGrids);
  add(used.count("cheapest_of"), kCheapestOf);
  if (used.count("leaf_of"))
    text += (kLeafOf + Twine(numFactors) + kTimed).str();
  add(used.count("fastest_of"), kFastestOf);
  add(used.count("fastest_by_grids"), kFastestByGrids);
  return text;
}

} // namespace kiln
