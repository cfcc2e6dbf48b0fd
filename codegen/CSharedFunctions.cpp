//===- CSharedFunctions.cpp - what entry points of a library share --------===//
//
// Functions of generated sources that are the same for all entry points: sets of variants, decision
// trees, and the two searches among legal variants. ChoicePlan.h says why they find what
// DispatchTables.h says.
//
//===----------------------------------------------------------------------===//
#include "codegen/CWriter.h"

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

static const StringRef kCandidate = R"(struct candidate {
  double cost, least_rate;
  uint32_t variant, precedence;
  uint16_t factors[4];
};

/* What a call compares its legal variants by. */
struct choice {
  const struct candidate *candidates;
  const double *factors; /* null: grids are computed one by one */
  double (*waves)(const void *args, uint32_t variant, uint32_t processors);
  const void *args;
  const uint64_t *legal;
  uint32_t processors;
};

static inline int is_legal(const struct choice *choice, uint32_t place) {
  return (int)(choice->legal[place / 64] >> place % 64 & 1);
}

static inline double instances_of(const struct candidate *its, const double *factors) {
  return factors[0] * factors[its->factors[0]] * factors[its->factors[1]] *
         factors[its->factors[2]] * factors[its->factors[3]];
}

/* What no instances by their cost may be above; the last factor is more than doubles round. */
static inline double limit_of(const struct choice *choice, double best) {
  return best * (double)choice->processors * 1.000000001;
}

)";

/// Places up to `end` have one rank. `its->cost > best` ends the way up because places are in order
/// of cost.
static const StringRef kCheapestOf = R"(struct cheapest {
  uint32_t place;
  double cost, limit;
};

static inline void take_cheaper(const struct choice *choice, uint32_t place, double cost,
    struct cheapest *so_far) {
  const struct candidate *all = choice->candidates;
  if (cost > so_far->cost ||
      (cost == so_far->cost && all[place].precedence > all[so_far->place].precedence))
    return;
  so_far->place = place;
  so_far->cost = cost;
  so_far->limit = limit_of(choice, cost);
}

static inline void compare_at(const struct choice *choice, uint32_t place, struct cheapest *so_far) {
  const struct candidate *its = &choice->candidates[place];
  const double instances = instances_of(its, choice->factors);
  if ((instances * its->cost <= so_far->limit) & is_legal(choice, place))
    take_cheaper(choice, place, waves_of(instances, choice->processors) * its->cost, so_far);
}

/* The place of the cheapest legal variant from `first`, which is legal, up to `end`. One whose grid
 * cannot be computed is taken, so that it is reported. */
static uint32_t cheapest_of(const struct choice *choice, const double *reach, uint32_t first,
    uint32_t end) {
  struct cheapest so_far = {NO_PLACE, 1.0e308, 1.0e308};
  uint32_t place, from = first, count = end - first;
  double work;
  if (choice->factors == NULL) {
    for (place = first; place < end; ++place)
      if (is_legal(choice, place)) {
        const struct candidate *its = &choice->candidates[place];
        const double waves = choice->waves(choice->args, its->variant, choice->processors);
        take_cheaper(choice, place, waves < 0.0 ? -1.0 : waves * its->cost, &so_far);
      }
    return so_far.place;
  }
  work = choice->factors[2];
  while (count > 1) { /* to what may cover all in one wave */
    const uint32_t half = count / 2;
    from += (uint32_t)(reach[from + half - 1] * (double)choice->processors < work) * half;
    count -= half;
  }
  for (place = from; place < end && choice->candidates[place].cost <= so_far.cost; ++place)
    compare_at(choice, place, &so_far);
  for (place = from; place-- > first && choice->candidates[place].least_rate * work <= so_far.limit;)
    compare_at(choice, place, &so_far);
  return so_far.place;
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

/* The place of the fastest legal variant of a leaf; NO_PLACE: none is legal. `places` is by variant;
 * null: equal to it. One whose grid cannot be computed is taken, so that it is reported. */
static uint32_t fastest_of(const struct choice *choice, const kiln_tuned_trees *tuned, uint32_t at,
    const uint16_t *places) {
  uint32_t chosen = NO_PLACE;
  double best = 1.0e308, limit = 1.0e308;
  for (; tuned->variants[at] != END_OF_LIST; ++at) {
    const uint32_t variant = tuned->variants[at], place = places != NULL ? places[variant] : variant;
    const double wave_cost = tuned->costs[at];
    double waves, cost;
    if (!is_legal(choice, place))
      continue;
    if (choice->factors != NULL) {
      const double instances = instances_of(&choice->candidates[place], choice->factors);
      if ((wave_cost >= best) | (instances * wave_cost > limit))
        continue;
      waves = waves_of(instances, choice->processors);
    } else {
      waves = choice->waves(choice->args, variant, choice->processors);
      if (waves < 0.0)
        return place;
    }
    cost = waves * wave_cost;
    if (cost < best) {
      chosen = place;
      best = cost;
      limit = limit_of(choice, cost);
    }
  }
  return chosen;
}

)";

std::string sharedFunctions(const std::set<std::string> &used) {
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
  add(compares, kCandidate);
  add(used.count("cheapest_of"), kCheapestOf);
  add(used.count("leaf_of"), kLeafOf);
  return text;
}

} // namespace kiln
