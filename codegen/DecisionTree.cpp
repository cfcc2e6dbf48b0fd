//===- DecisionTree.cpp - which variant is fastest where ------------------===//
#include "codegen/DecisionTree.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <memory>
#include <optional>

using namespace llvm;

namespace kiln {

namespace {

/// What a measured sample counts beside an estimated one.
constexpr int64_t kMeasuredWeight = 16;
/// Of a leaf, for each of all samples.
constexpr int64_t kLeastLoss = 40;

using Samples = std::vector<const ChoiceSample *>;

int64_t weightOf(const ChoiceSample &sample) { return sample.isMeasured ? kMeasuredWeight : 1; }

/// The sums of some samples' costs, for each variant.
struct CostSums {
  int64_t weight = 0;
  std::vector<int64_t> sums;

  explicit CostSums(size_t numVariants) : sums(numVariants) {}
  void add(const ChoiceSample &sample, int64_t sign = 1) {
    weight += sign * weightOf(sample);
    for (size_t v = 0; v < sums.size(); ++v)
      sums[v] += sign * weightOf(sample) * sample.cost(v);
  }
  int64_t mean(size_t variant) const { return sums[variant] / weight; }
  /// What the squares of the costs are more than the squares of what they differ from their mean
  /// by.
  double explained() const {
    double result = 0;
    for (int64_t sum : sums)
      result += double(sum) * double(sum) / double(weight);
    return result;
  }
};

struct Split {
  unsigned key = 0;
  int64_t bound = 0;
  double explained = 0;
};

/// A leaf, while the tree grows, or a node with its children.
struct Part {
  Samples samples;
  std::vector<int64_t> costs;
  /// By what the variants lose in all samples, and whether some sample takes them.
  std::vector<int64_t> losses;
  std::vector<bool> isTaken;
  /// Of the samples' choices.
  int64_t loss = 0;
  /// Whether a measured sample loses more than it may.
  bool isTooCoarse = false;
  /// None where all keys are equal.
  std::optional<Split> split;
  std::unique_ptr<Part> below, above;

  size_t choice(const ChoiceSample &sample) const {
    size_t best = 0;
    for (size_t v = 1; v < costs.size(); ++v)
      if (costs[v] + sample.waves[v] < costs[best] + sample.waves[best])
        best = v;
    return best;
  }
};

/// The best bound between two samples in order of their key, if it is better than `best`.
void findBound(ArrayRef<const ChoiceSample *> sorted, const CostSums &all, unsigned key,
               std::optional<Split> &best) {
  CostSums below(all.sums.size()), above = all;
  for (size_t i = 0; i + 1 < sorted.size(); ++i) {
    below.add(*sorted[i]);
    above.add(*sorted[i], -1);
    int64_t last = sorted[i]->key[key], next = sorted[i + 1]->key[key];
    if (last == next)
      continue;
    double explained = below.explained() + above.explained();
    if (best && explained <= best->explained)
      continue;
    // Between them, half way of their logarithms where they have some.
    double middle = last > 0 ? std::sqrt(double(last)) * std::sqrt(double(next))
                             : std::floor(double(last) / 2 + double(next) / 2);
    bool isBetween = middle >= double(last) && middle < double(next);
    best = Split{key, isBetween ? std::min(int64_t(middle), next - 1) : last, explained};
  }
}

void weigh(Part &part) {
  for (const ChoiceSample *sample : part.samples) {
    size_t choice = part.choice(*sample);
    part.isTaken[choice] = true;
    part.loss += weightOf(*sample) * sample->losses[choice];
    part.isTooCoarse |= sample->isMeasured &&
                        sample->losses[choice] > *min_element(sample->losses) + kMeasuredTolerance;
    for (size_t v = 0; v < part.losses.size(); ++v)
      part.losses[v] += weightOf(*sample) * sample->losses[v];
  }
}

std::unique_ptr<Part> makePart(Samples samples) {
  auto part = std::make_unique<Part>();
  const ChoiceSample &any = *samples.front();
  CostSums sums(any.losses.size());
  for (const ChoiceSample *sample : samples)
    sums.add(*sample);
  for (size_t v = 0; v < sums.sums.size(); ++v)
    part->costs.push_back(sums.mean(v));
  part->losses.resize(any.losses.size());
  part->isTaken.resize(any.losses.size());
  part->samples = samples;
  weigh(*part);
  for (unsigned key = 0; key < any.key.size(); ++key) {
    sort(samples,
         [&](const ChoiceSample *a, const ChoiceSample *b) { return a->key[key] < b->key[key]; });
    findBound(samples, sums, key, part->split);
  }
  return part;
}

/// The leaf to divide next, or null: what has to be divided comes first.
Part *nextToDivide(ArrayRef<Part *> leaves, size_t numSamples) {
  auto isWorse = [](const Part *a, const Part *b) {
    return std::tuple(a->split && a->isTooCoarse, a->split ? a->loss : -1) <
           std::tuple(b->split && b->isTooCoarse, b->split ? b->loss : -1);
  };
  Part *next = *max_element(leaves, isWorse);
  bool may = next->loss > kLeastLoss * int64_t(numSamples) && leaves.size() < kMostLeaves;
  return next->split && (next->isTooCoarse || may) ? next : nullptr;
}

void divide(Part &part) {
  const Split &split = *part.split;
  Samples below, above;
  for (const ChoiceSample *sample : part.samples)
    (sample->key[split.key] <= split.bound ? below : above).push_back(sample);
  part.samples.clear();
  part.below = makePart(std::move(below));
  part.above = makePart(std::move(above));
}

void flatten(const Part &part, std::vector<DecisionTree::Node> &nodes) {
  size_t place = nodes.size();
  nodes.emplace_back();
  if (!part.below) {
    std::vector<VariantCost> &order = nodes[place].variants;
    for (unsigned variant = 0; variant < part.costs.size(); ++variant)
      order.push_back({variant, part.costs[variant]});
    sort(order, [&](const VariantCost &a, const VariantCost &b) {
      return std::tuple(!part.isTaken[a.variant], part.losses[a.variant], a.variant) <
             std::tuple(!part.isTaken[b.variant], part.losses[b.variant], b.variant);
    });
    nodes[place].numTaken = size_t(count(part.isTaken, true));
    return;
  }
  nodes[place].key = part.split->key;
  nodes[place].bound = part.split->bound;
  flatten(*part.below, nodes);
  nodes[place].above = unsigned(nodes.size());
  flatten(*part.above, nodes);
}

} // namespace

DecisionTree DecisionTree::learn(ArrayRef<ChoiceSample> samples) {
  Samples all;
  for (const ChoiceSample &sample : samples)
    all.push_back(&sample);
  std::unique_ptr<Part> root = makePart(std::move(all));
  std::vector<Part *> leaves = {root.get()};
  while (Part *next = nextToDivide(leaves, samples.size())) {
    divide(*next);
    *find(leaves, next) = next->below.get();
    leaves.push_back(next->above.get());
  }
  DecisionTree tree;
  flatten(*root, tree.nodes);
  return tree;
}

const std::vector<VariantCost> &DecisionTree::at(ArrayRef<int64_t> key) const {
  unsigned at = 0;
  while (!nodes[at].isLeaf())
    at = key[nodes[at].key] <= nodes[at].bound ? at + 1 : nodes[at].above;
  return nodes[at].variants;
}

} // namespace kiln
