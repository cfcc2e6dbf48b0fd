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

struct Split {
  unsigned key = 0;
  int64_t bound = 0;
  /// What both parts lose, each by its own first variant.
  int64_t loss = INT64_MAX;
};

/// A leaf, while the tree grows, or a node with its children.
struct Part {
  std::vector<const ChoiceSample *> samples;
  std::vector<int64_t> totals;
  /// None where all keys are equal.
  std::optional<Split> split;
  /// Whether a measured sample loses more than it may.
  bool isTooCoarse = false;
  std::unique_ptr<Part> below, above;

  int64_t loss() const { return *min_element(totals); }
  int64_t gain() const { return split ? loss() - split->loss : INT64_MIN; }
};

using Totals = std::vector<int64_t>;

void add(Totals &totals, const ChoiceSample &sample, int64_t sign = 1) {
  int64_t weight = sign * (sample.isMeasured ? kMeasuredWeight : 1);
  for (auto [total, loss] : zip(totals, sample.losses))
    total += weight * loss;
}

/// The best bound between two samples in order of their key, if it is better than `best`.
void findBound(ArrayRef<const ChoiceSample *> sorted, const Totals &totals, unsigned key,
               std::optional<Split> &best) {
  Totals below(totals.size()), above = totals;
  for (size_t i = 0; i + 1 < sorted.size(); ++i) {
    add(below, *sorted[i]);
    add(above, *sorted[i], -1);
    int64_t last = sorted[i]->key[key], next = sorted[i + 1]->key[key];
    int64_t loss = *min_element(below) + *min_element(above);
    if (last == next || (best && loss >= best->loss))
      continue;
    // Between them, half way of their logarithms where they have some.
    double middle = last > 0 ? std::sqrt(double(last)) * std::sqrt(double(next))
                             : std::floor(double(last) / 2 + double(next) / 2);
    bool isBetween = middle >= double(last) && middle < double(next);
    best = Split{key, isBetween ? std::min(int64_t(middle), next - 1) : last, loss};
  }
}

std::unique_ptr<Part> makePart(std::vector<const ChoiceSample *> samples) {
  auto part = std::make_unique<Part>();
  const ChoiceSample &any = *samples.front();
  part->totals.resize(any.losses.size());
  for (const ChoiceSample *sample : samples)
    add(part->totals, *sample);
  size_t first = size_t(min_element(part->totals) - part->totals.begin());
  part->isTooCoarse = any_of(samples, [&](const ChoiceSample *sample) {
    return sample->isMeasured &&
           sample->losses[first] > *min_element(sample->losses) + kMeasuredTolerance;
  });
  std::vector<const ChoiceSample *> sorted = samples;
  for (unsigned key = 0; key < any.key.size(); ++key) {
    sort(sorted,
         [&](const ChoiceSample *a, const ChoiceSample *b) { return a->key[key] < b->key[key]; });
    findBound(sorted, part->totals, key, part->split);
  }
  part->samples = std::move(samples);
  return part;
}

/// The leaf to divide next, or null: what has to be divided comes first.
Part *nextToDivide(ArrayRef<Part *> leaves) {
  auto isWorse = [](const Part *a, const Part *b) {
    return std::pair(a->isTooCoarse && a->split, a->gain()) <
           std::pair(b->isTooCoarse && b->split, b->gain());
  };
  Part *next = *max_element(leaves, isWorse);
  bool must = next->isTooCoarse && next->split;
  bool may = next->gain() > kMeasuredTolerance && leaves.size() < kMostLeaves;
  return must || may ? next : nullptr;
}

void divide(Part &part) {
  const Split &split = *part.split;
  std::vector<const ChoiceSample *> below, above;
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
    std::vector<unsigned> &order = nodes[place].variants;
    for (unsigned variant = 0; variant < part.totals.size(); ++variant)
      order.push_back(variant);
    sort(order, [&](unsigned a, unsigned b) {
      return std::pair(part.totals[a], a) < std::pair(part.totals[b], b);
    });
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
  std::vector<const ChoiceSample *> all;
  for (const ChoiceSample &sample : samples)
    all.push_back(&sample);
  std::unique_ptr<Part> root = makePart(std::move(all));
  std::vector<Part *> leaves = {root.get()};
  while (Part *next = nextToDivide(leaves)) {
    divide(*next);
    *find(leaves, next) = next->below.get();
    leaves.push_back(next->above.get());
  }
  DecisionTree tree;
  flatten(*root, tree.nodes);
  return tree;
}

const std::vector<unsigned> &DecisionTree::at(ArrayRef<int64_t> key) const {
  unsigned at = 0;
  while (!nodes[at].isLeaf())
    at = key[nodes[at].key] <= nodes[at].bound ? at + 1 : nodes[at].above;
  return nodes[at].variants;
}

} // namespace kiln
