//===- TimeEstimates.cpp - what measurements let expect elsewhere ---------===//
#include "codegen/TimeEstimates.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace llvm;

namespace kiln {

namespace {

constexpr size_t kNeighbours = 4;
/// Added to distances, so that no neighbour decides alone.
constexpr double kLeastDistance = 0.25;
constexpr unsigned kEstimates = 1024;

double logarithmOf(int64_t value) { return value > 0 ? std::log2(double(value)) : -1; }

/// The `i`th number of van der Corput's sequence: from 0 to below 1, spread evenly.
double spread(unsigned i, unsigned base) {
  double result = 0, share = 1;
  for (; i; i /= base) {
    share /= base;
    result += share * (i % base);
  }
  return result;
}

/// Of what each variant takes, as a logarithm, what it loses.
std::vector<int64_t> lossesOf(ArrayRef<std::optional<double>> logarithms) {
  double best = INFINITY;
  for (const std::optional<double> &one : logarithms)
    best = std::min(best, one.value_or(INFINITY));
  std::vector<int64_t> losses;
  for (const std::optional<double> &one : logarithms) {
    double units = one ? std::round((*one - best) * kLossUnit) : kImpossibleLoss;
    losses.push_back(one && units >= kImpossibleLoss ? kImpossibleLoss - 1 : int64_t(units));
  }
  return losses;
}

/// The value nearest to `value` that the spec allows.
int64_t allowed(const ArgumentRange &range, int64_t value) {
  if (!range.values.empty())
    return *min_element(range.values, [&](int64_t a, int64_t b) {
      return std::abs(double(a) - double(value)) < std::abs(double(b) - double(value));
    });
  value -= value % range.multipleOf;
  if (range.minimum && value < *range.minimum)
    value = *range.minimum;
  if (range.maximum && value > *range.maximum)
    value = *range.maximum;
  return value;
}

} // namespace

std::optional<double> wavesAt(const EntryModel &entry, unsigned variant, ArrayRef<int64_t> key,
                              unsigned processors) {
  auto lookup = [&](StringRef name) -> std::optional<int64_t> {
    auto argument = find(entry.dispatchKey, name.str());
    if (argument != entry.dispatchKey.end())
      return key[size_t(argument - entry.dispatchKey.begin())];
    return findConstant(entry.variants[variant], name);
  };
  double instances = 1;
  for (const Expression &dimension : entry.grid) {
    TextError error;
    std::optional<int64_t> value = dimension.evaluate(lookup, error);
    if (!value)
      return std::nullopt;
    instances *= double(std::max<int64_t>(*value, 1));
  }
  return std::ceil(instances / processors);
}

TimeEstimates::TimeEstimates(const EntryModel &entry, ArrayRef<unsigned> variants,
                             ArrayRef<TimedShape> shapes, unsigned processors)
    : entry(entry), variants(variants), shapes(shapes), processors(processors) {
  for (const TimedShape &shape : shapes) {
    places.push_back(placeOf(shape.key));
    hasWaves &= all_of(places.back().waves, [](const auto &waves) { return waves.has_value(); });
  }
}

/// Whether the variant's bounds of the key's arguments hold; what else it relies on may.
bool TimeEstimates::isWithinBounds(unsigned variant, ArrayRef<int64_t> key) const {
  return all_of(entry.variants[variant].facts, [&](const ArgumentFact &fact) {
    auto argument = find(entry.dispatchKey, entry.arguments[fact.argument].name);
    if (argument == entry.dispatchKey.end())
      return true;
    int64_t value = key[size_t(argument - entry.dispatchKey.begin())];
    return value >= fact.minimum.value_or(value) && value <= fact.maximum.value_or(value);
  });
}

TimeEstimates::Place TimeEstimates::placeOf(ArrayRef<int64_t> key) const {
  Place place;
  for (int64_t value : key)
    place.logarithms.push_back(logarithmOf(value));
  for (unsigned variant : variants) {
    std::optional<double> waves = wavesAt(entry, variant, key, processors);
    place.waves.push_back(waves ? std::optional(std::log2(*waves)) : std::nullopt);
  }
  return place;
}

std::vector<std::pair<double, size_t>> TimeEstimates::nearest(const Place &place) const {
  std::vector<std::pair<double, size_t>> found;
  for (const auto &[index, other] : enumerate(places)) {
    double distance = 0;
    for (auto [a, b] : zip(place.logarithms, other.logarithms))
      distance += std::abs(a - b);
    found.emplace_back(distance, index);
  }
  size_t count = std::min(kNeighbours, found.size());
  std::partial_sort(found.begin(), found.begin() + long(count), found.end());
  found.resize(count);
  return found;
}

/// All zero unless they are known everywhere.
std::vector<int64_t> TimeEstimates::logarithmicWaves(const Place &place) const {
  std::vector<int64_t> logarithms;
  for (const std::optional<double> &waves : place.waves)
    logarithms.push_back(hasWaves && waves ? std::llround(*waves * kLossUnit) : 0);
  return logarithms;
}

ChoiceSample TimeEstimates::estimate(ArrayRef<int64_t> key) const {
  Place place = placeOf(key);
  std::vector<double> sums(variants.size()), weights(variants.size());
  std::vector<std::pair<double, size_t>> neighbours = nearest(place);
  for (auto [distance, index] : neighbours) {
    std::vector<std::optional<double>> expected;
    for (size_t i = 0; i < variants.size(); ++i) {
      std::optional<double> &one = expected.emplace_back();
      if (!shapes[index].times[i])
        continue;
      one = std::log2(*shapes[index].times[i]);
      if (place.waves[i] && places[index].waves[i])
        *one += *place.waves[i] - *places[index].waves[i];
    }
    double weight = 1 / (distance + kLeastDistance);
    for (auto [i, loss] : enumerate(lossesOf(expected)))
      if (expected[i]) {
        sums[i] += weight * double(loss) / kLossUnit;
        weights[i] += weight;
      }
  }
  // What did not run at the nearest shape may not run here.
  const TimedShape &nearestShape = shapes[neighbours.front().second];
  std::vector<std::optional<double>> together;
  for (size_t i = 0; i < variants.size(); ++i)
    together.push_back(nearestShape.times[i] && isWithinBounds(variants[i], key)
                           ? std::optional(sums[i] / weights[i])
                           : std::nullopt);
  return {key.vec(), lossesOf(together), logarithmicWaves(place), false};
}

/// The value at `share` of the way from half of the smallest measured value to twice the largest.
int64_t TimeEstimates::keyWithin(unsigned index, double share) const {
  double low = INFINITY, high = -INFINITY;
  for (const Place &place : places) {
    low = std::min(low, std::max(place.logarithms[index] - 1, 0.0));
    high = std::max(high, std::min(place.logarithms[index] + 1, 62.0));
  }
  int64_t value = std::llround(std::exp2(low + (high - low) * share));
  auto argument = findArgument(entry, entry.dispatchKey[index]);
  for (const EntryRange &declared : entry.ranges)
    if (argument && declared.argument == *argument)
      return allowed(declared.range, value);
  return value;
}

std::vector<ChoiceSample> TimeEstimates::samples() const {
  std::vector<ChoiceSample> all;
  for (auto [shape, place] : zip(shapes, places)) {
    std::vector<std::optional<double>> logarithms;
    for (const std::optional<double> &time : shape.times)
      logarithms.push_back(time ? std::optional(std::log2(*time)) : std::nullopt);
    all.push_back({shape.key, lossesOf(logarithms), logarithmicWaves(place), true});
  }
  constexpr unsigned bases[] = {2, 3, 5, 7, 11, 13, 17, 19}; // for the longest key
  for (unsigned i = 1; i <= kEstimates; ++i) {
    std::vector<int64_t> key;
    for (unsigned index = 0; index < entry.dispatchKey.size(); ++index)
      key.push_back(keyWithin(index, spread(i, bases[index])));
    if (none_of(shapes, [&](const TimedShape &shape) { return shape.key == key; }))
      all.push_back(estimate(key));
  }
  return all;
}

} // namespace kiln
