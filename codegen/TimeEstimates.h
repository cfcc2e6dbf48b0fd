//===- TimeEstimates.h - what measurements let expect elsewhere -*- C++ -*-===//
//
// How much slower than the fastest each variant is at a dispatch key that was not measured.
//
// The four nearest measured shapes say it together, weighed by their nearness: distance is the sum
// over the key of |log2 a - log2 b|. Each of them says it by the times measured there, corrected
// for what changes on the way: a variant whose grid takes twice as many waves (program instances by
// the device's processors, rounded up) takes twice as long. The correction is what makes the
// estimate worth having: tiles that just filled the device at one shape leave half of it idle at
// the next one. Where a grid reads arguments that are not in the key, it counts as unchanged.
//
// On an H200, 24 tiles of a product measured at 28 shapes, this chooses at 29 other shapes what is
// 1.0 % slower than the fastest in the mean; by the nearest shape alone it is 10.8 %, by the four
// without the correction 3.8 %, by the cost model (DispatchTables.h) 6.0 %. Decision trees, which
// correct for the waves in the call itself, give the same with some dozen leaves.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_CODEGEN_TIMEESTIMATES_H
#define KILN_CODEGEN_TIMEESTIMATES_H

#include "codegen/DecisionTree.h"
#include "codegen/LibraryModel.h"

namespace kiln {

/// What the chosen variants took at one key, which is positive.
struct TimedShape {
  std::vector<int64_t> key;
  /// In microseconds, for each of the variants; none: not measured, or failed.
  std::vector<std::optional<double>> times;
};

/// How many times the device is filled by the variant's grid; none if it reads more than the key
/// and the variant's constants.
std::optional<double> wavesAt(const EntryModel &entry, unsigned variant,
                              llvm::ArrayRef<int64_t> key, unsigned processors);

class TimeEstimates {
public:
  /// `variants` are indices; there is a shape.
  TimeEstimates(const EntryModel &entry, llvm::ArrayRef<unsigned> variants,
                llvm::ArrayRef<TimedShape> shapes, unsigned processors);

  /// All measured shapes, and estimates for keys spread evenly, by their logarithms, over the
  /// measured ones and a factor of two around them, within the ranges that the spec declares.
  std::vector<ChoiceSample> samples() const;
  ChoiceSample estimate(llvm::ArrayRef<int64_t> key) const;
  /// Whether the key says how many waves each variant takes.
  bool knowsWaves() const { return hasWaves; }

private:
  struct Place {
    std::vector<double> logarithms;
    /// Of each variant's waves; none where they cannot be known.
    std::vector<std::optional<double>> waves;
  };

  bool isWithinBounds(unsigned variant, llvm::ArrayRef<int64_t> key) const;
  Place placeOf(llvm::ArrayRef<int64_t> key) const;
  std::vector<int64_t> logarithmicWaves(const Place &place) const;
  /// The nearest shapes first, with their distances.
  std::vector<std::pair<double, size_t>> nearest(const Place &place) const;
  int64_t keyWithin(unsigned index, double share) const;

  const EntryModel &entry;
  std::vector<unsigned> variants;
  llvm::ArrayRef<TimedShape> shapes;
  std::vector<Place> places;
  unsigned processors;
  bool hasWaves = true;
};

} // namespace kiln

#endif // KILN_CODEGEN_TIMEESTIMATES_H
