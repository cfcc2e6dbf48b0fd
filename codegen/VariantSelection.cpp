//===- VariantSelection.cpp - the fewest variants that lose little --------===//
#include "codegen/VariantSelection.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include <cmath>
#include <limits>

using namespace llvm;

namespace kiln {

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

/// Whether what `other` needs of an argument follows from `fact`.
bool implies(const ArgumentFact &fact, const ArgumentFact &other) {
  if (fact.argument != other.argument)
    return false;
  if (fact.equals) {
    int64_t value = *fact.equals;
    return value % int64_t(other.divisibility) == 0 && (!other.equals || *other.equals == value) &&
           (!other.minimum || *other.minimum <= value) &&
           (!other.maximum || *other.maximum >= value);
  }
  return fact.divisibility >= other.divisibility && !other.equals &&
         (!other.minimum || (fact.minimum && *fact.minimum >= *other.minimum)) &&
         (!other.maximum || (fact.maximum && *fact.maximum <= *other.maximum));
}

/// Whether `variant` is legal wherever `other` is, as far as the texts of conditions tell.
bool canReplace(const VariantModel &variant, const VariantModel &other) {
  return all_of(variant.facts,
                [&](const ArgumentFact &needed) {
                  return any_of(other.facts,
                                [&](const ArgumentFact &fact) { return implies(fact, needed); });
                }) &&
         all_of(variant.conditions, [&](const Expression &needed) {
           return any_of(other.conditions, [&](const Expression &condition) {
             return condition.text() == needed.text();
           });
         });
}

class Selector {
public:
  Selector(const EntryModel &entry, ArrayRef<unsigned> candidates, ArrayRef<MeasuredShape> shapes,
           const SelectionBounds &bounds)
      : entry(entry), candidates(candidates), bounds(bounds) {
    for (auto [index, candidate] : enumerate(candidates))
      names[stableName(entry, entry.variants[candidate])] = index;
    for (const MeasuredShape &shape : shapes)
      addSlowdowns(shape);
  }

  VariantSelection select() {
    if (bounds.regret)
      serveAll();
    else
      takeBest();
    keepCallsLegal();
    return result();
  }

private:
  const EntryModel &entry;
  ArrayRef<unsigned> candidates;
  const SelectionBounds &bounds;
  /// Indices of candidates by their stable names.
  StringMap<size_t> names;
  /// For each shape and candidate: its time by the fastest one's.
  std::vector<std::vector<double>> slowdowns;
  /// Indices of candidates.
  std::vector<unsigned> kept;

  void addSlowdowns(const MeasuredShape &shape) {
    std::vector<double> row(candidates.size(), kNever);
    double best = kNever;
    for (const auto &[name, time] : shape.times)
      if (auto known = names.find(name); known != names.end()) {
        row[known->second] = time;
        best = std::min(best, time);
      }
    if (best == kNever)
      return; // of other variants
    for (double &value : row)
      value /= best;
    slowdowns.push_back(std::move(row));
  }

  double slowdown(const std::vector<double> &row) const {
    double least = kNever;
    for (unsigned index : kept)
      least = std::min(least, row[index]);
    return least;
  }

  /// The sum of the logarithms of what shapes lose; one that no kept variant runs counts as 1000
  /// times slower.
  double totalLoss() const {
    double total = 0;
    for (const std::vector<double> &row : slowdowns)
      total += std::log(std::min(slowdown(row), 1000.0));
    return total;
  }

  bool isServed(const std::vector<double> &row) const {
    return slowdown(row) <= 1 + *bounds.regret;
  }

  size_t numServed() const {
    return size_t(count_if(slowdowns, [&](const auto &row) { return isServed(row); }));
  }

  /// The candidate whose addition is best by `score`, the larger the better; the first of equals.
  void add(function_ref<std::pair<double, double>()> score) {
    std::optional<std::pair<double, double>> best;
    unsigned chosen = 0;
    for (unsigned index = 0; index < candidates.size(); ++index) {
      if (is_contained(kept, index))
        continue;
      kept.push_back(index);
      std::pair<double, double> its = score();
      kept.pop_back();
      if (!best || its > *best) {
        best = its;
        chosen = index;
      }
    }
    if (best)
      kept.push_back(chosen);
  }

  void serveAll() {
    while (numServed() < slowdowns.size())
      add([&] { return std::pair(double(numServed()), -totalLoss()); });
    for (size_t i = kept.size(); i-- > 0;) {
      unsigned without = kept[i];
      kept.erase(kept.begin() + i);
      if (numServed() < slowdowns.size())
        kept.insert(kept.begin() + i, without);
    }
  }

  void takeBest() {
    size_t most = std::min<size_t>(bounds.maxVariants.value_or(UINT_MAX), candidates.size());
    while (kept.size() < most && (kept.empty() || totalLoss() > 1e-9))
      add([&] { return std::pair(-totalLoss(), 0.0); });
  }

  bool isReplaced(unsigned index) const {
    const VariantModel &variant = entry.variants[candidates[index]];
    return any_of(kept, [&](unsigned other) {
      return canReplace(entry.variants[candidates[other]], variant);
    });
  }

  double numReplaced() const {
    double count = 0;
    for (unsigned index = 0; index < candidates.size(); ++index)
      count += isReplaced(index);
    return count;
  }

  void keepCallsLegal() {
    while (numReplaced() < double(candidates.size()))
      add([&] { return std::pair(numReplaced(), -totalLoss()); });
  }

  VariantSelection result() {
    VariantSelection selection;
    sort(kept);
    for (unsigned index : kept)
      selection.kept.push_back(candidates[index]);
    for (const std::vector<double> &row : slowdowns)
      selection.regret = std::max(selection.regret, slowdown(row) - 1);
    return selection;
  }
};

} // namespace

VariantSelection selectVariants(const EntryModel &entry, ArrayRef<unsigned> candidates,
                                ArrayRef<MeasuredShape> shapes, const SelectionBounds &bounds) {
  if (shapes.empty() || (!bounds.regret && !bounds.maxVariants))
    return {candidates.vec(), 0};
  return Selector(entry, candidates, shapes, bounds).select();
}

} // namespace kiln
