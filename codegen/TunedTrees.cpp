//===- TunedTrees.cpp - from measurements to decision trees ---------------===//
#include "codegen/DispatchTables.h"
#include "codegen/TimeEstimates.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include <climits>
#include <cmath>
#include <map>
#include <set>

using namespace llvm;

namespace kiln {

namespace {

/// Whether `variant` is legal in every call in which some variant is.
bool isAlwaysLegal(const DispatchTables &tables, unsigned variant) {
  for (const std::vector<uint64_t> &other : tables.needs)
    for (size_t word = 0; word < tables.words(); ++word)
      if (tables.needs[variant][word] & ~other[word])
        return false;
  return true;
}

/// A cost as a multiple of the leaf's least, in millionths.
int64_t linearCost(int64_t logarithm) {
  double cost = std::round(1e6 * std::exp2(double(logarithm) / kLossUnit));
  return int64_t(std::min(cost, double(UINT32_MAX)));
}

/// The times of a measured shape, by the variants that there are.
struct VariantTimes {
  const MeasuredShape *shape;
  std::map<unsigned, double> times;
  /// The best of the variants that were measured.
  unsigned rank = UINT_MAX;
};

class TreeBuilder {
public:
  TreeBuilder(const EntryModel &entry, const DispatchTables &tables, const MeasuredTarget &measured)
      : entry(entry), tables(tables), measured(measured) {}

  void add(const MeasuredShape &shape, const StringMap<unsigned> &variants) {
    VariantTimes all{&shape, {}};
    for (const auto &[name, time] : shape.times) {
      auto variant = variants.find(name);
      if (variant == variants.end())
        continue;
      all.times[variant->second] = time;
      all.rank = std::min(all.rank, tables.ranks[variant->second]);
    }
    if (!all.times.empty())
      shapes.push_back(std::move(all));
  }

  std::optional<DecisionTree> learn(unsigned rank) const {
    std::set<unsigned> known;
    for (const VariantTimes &shape : shapes)
      if (shape.rank <= rank)
        for (const auto &[variant, time] : shape.times)
          if (tables.ranks[variant] >= rank)
            known.insert(variant);
    std::vector<unsigned> variants(known.begin(), known.end());
    std::vector<TimedShape> timed;
    for (const VariantTimes &shape : shapes)
      if (shape.rank <= rank)
        addTimed(shape, variants, timed);
    if (timed.empty())
      return std::nullopt;
    TimeEstimates estimates(entry, variants, timed, measured.processors);
    DecisionTree tree = DecisionTree::learn(estimates.samples());
    for (DecisionTree::Node &node : tree.nodes)
      if (node.isLeaf())
        finish(node, variants, estimates.knowsWaves());
    return tree;
  }

private:
  static void addTimed(const VariantTimes &shape, ArrayRef<unsigned> variants,
                       std::vector<TimedShape> &timed) {
    TimedShape one{shape.shape->key, {}};
    for (unsigned variant : variants) {
      auto time = shape.times.find(variant);
      one.times.push_back(time == shape.times.end() ? std::nullopt : std::optional(time->second));
    }
    if (any_of(one.times, [](const auto &time) { return time.has_value(); }))
      timed.push_back(std::move(one));
  }

  /// From places in `variants` to variants: those that may be taken, and others up to one that no
  /// call goes beyond. Costs become numbers to multiply with waves, or where these are not known 0,
  /// so that the first legal variant is taken.
  void finish(DecisionTree::Node &leaf, ArrayRef<unsigned> variants, bool knowsWaves) const {
    std::vector<VariantCost> &list = leaf.variants;
    int64_t least = INT64_MAX;
    for (VariantCost &one : list) {
      one.variant = variants[one.variant];
      least = std::min(least, one.cost);
    }
    size_t kept = leaf.numTaken;
    auto isLast = [&](size_t end) {
      return any_of(ArrayRef(list).take_front(end),
                    [&](const VariantCost &one) { return isAlwaysLegal(tables, one.variant); });
    };
    while (kept < list.size() && !isLast(kept))
      ++kept;
    list.resize(kept);
    for (VariantCost &one : list)
      one.cost = knowsWaves ? linearCost(one.cost - least) : 0;
  }

  const EntryModel &entry;
  const DispatchTables &tables;
  const MeasuredTarget &measured;
  std::vector<VariantTimes> shapes;
};

} // namespace

std::vector<TunedTree> tunedTrees(const EntryModel &entry, const DispatchTables &tables,
                                  const MeasuredTarget &measured,
                                  function_ref<bool(unsigned)> isThere) {
  StringMap<unsigned> variants;
  std::set<unsigned> ranks;
  for (unsigned variant = 0; variant < entry.variants.size(); ++variant)
    if (isThere(variant)) {
      variants[stableName(entry, entry.variants[variant])] = variant;
      ranks.insert(tables.ranks[variant]);
    }
  TreeBuilder builder(entry, tables, measured);
  for (const MeasuredShape &shape : measured.shapes)
    builder.add(shape, variants);
  std::vector<TunedTree> trees;
  for (unsigned rank : ranks)
    if (std::optional<DecisionTree> tree = builder.learn(rank))
      trees.push_back({rank, std::move(*tree)});
  return trees;
}

const DecisionTree *treeOf(ArrayRef<TunedTree> trees, unsigned rank) {
  auto found = find_if(trees, [&](const TunedTree &one) { return one.rank == rank; });
  return found == trees.end() ? nullptr : &found->tree;
}

std::optional<unsigned> chooseTuned(const DispatchTables &tables, ArrayRef<TunedTree> trees,
                                    ArrayRef<int64_t> key, function_ref<bool(unsigned)> isLegal,
                                    function_ref<double(unsigned)> wavesOf) {
  auto best = find_if(tables.order, isLegal);
  const DecisionTree *tree =
      best == tables.order.end() ? nullptr : treeOf(trees, tables.ranks[*best]);
  if (!tree)
    return std::nullopt;
  std::optional<unsigned> choice;
  double least = 0;
  for (const VariantCost &one : tree->at(key)) {
    if (!isLegal(one.variant))
      continue;
    double cost = wavesOf(one.variant) * double(one.cost);
    if (choice && cost >= least)
      continue;
    choice = one.variant;
    least = cost;
  }
  return choice;
}

} // namespace kiln
