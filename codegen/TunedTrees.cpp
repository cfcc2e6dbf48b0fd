//===- TunedTrees.cpp - from measurements to decision trees ---------------===//
#include "codegen/DispatchTables.h"
#include "codegen/TimeEstimates.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include <climits>
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
      finish(node.variants, variants);
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

  /// From places in `variants` to variants, up to one that no call goes beyond.
  void finish(std::vector<unsigned> &places, ArrayRef<unsigned> variants) const {
    for (unsigned &place : places)
      place = variants[place];
    auto last = find_if(places, [&](unsigned variant) { return isAlwaysLegal(tables, variant); });
    if (last != places.end())
      places.erase(last + 1, places.end());
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
                                    ArrayRef<int64_t> key, function_ref<bool(unsigned)> isLegal) {
  auto best = find_if(tables.order, isLegal);
  const DecisionTree *tree =
      best == tables.order.end() ? nullptr : treeOf(trees, tables.ranks[*best]);
  if (!tree)
    return std::nullopt;
  const std::vector<unsigned> &variants = tree->at(key);
  auto legal = find_if(variants, isLegal);
  return legal == variants.end() ? std::nullopt : std::optional(*legal);
}

} // namespace kiln
