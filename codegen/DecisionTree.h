//===- DecisionTree.h - which variant is fastest where ----------*- C++ -*-===//
//
// A decision tree over the arguments of a dispatch key, learnt from samples: points with what a
// wave of each variant costs there (program instances by the device's processors, rounded up, are
// the waves of a call). A leaf has a cost for each of its variants; a call takes the legal variant
// for which cost times waves is least. Waves change from one shape to the next, costs slowly, so
// that few leaves say much.
//
// Learning is greedy: of all leaves the one is divided next whose choices lose most in its samples,
// at the bound that leaves the costs on each side nearest to their mean. That goes on while a leaf
// loses more than kLeastLoss, up to kMostLeaves, and beyond that until no measured sample loses
// more than kMeasuredTolerance. Refused: leaves that name one variant (to follow the waves they
// have to be thousands), and pruning against a held-out part, which measurements of a few dozen
// shapes do not have.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_CODEGEN_DECISIONTREE_H
#define KILN_CODEGEN_DECISIONTREE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <cstdint>
#include <vector>

namespace kiln {

/// Costs and losses are logarithms to base 2, times this.
inline constexpr int64_t kLossUnit = 1 << 16;
/// The loss of a variant that cannot be chosen at a sample; no other loss is as large.
inline constexpr int64_t kImpossibleLoss = 4 * kLossUnit;
/// A hundredth slower, which is less than measurements differ by.
inline constexpr int64_t kMeasuredTolerance = 940;
inline constexpr size_t kMostLeaves = 128;

/// A point, and what each variant takes there.
struct ChoiceSample {
  std::vector<int64_t> key;
  /// How many times slower than the fastest variant.
  std::vector<int64_t> losses;
  /// Of each variant's waves the logarithm. What the losses are without them is the cost.
  std::vector<int64_t> waves;
  /// Measured there, not estimated.
  bool isMeasured = false;

  int64_t cost(size_t variant) const { return losses[variant] - waves[variant]; }
};

struct VariantCost {
  unsigned variant = 0;
  /// Of a wave, as a logarithm.
  int64_t cost = 0;
};

class DecisionTree {
public:
  /// The first child stands behind its parent.
  struct Node {
    /// Index into the key; kLeaf.
    unsigned key = kLeaf;
    /// Keys up to this one go to the first child, larger ones to `above`.
    int64_t bound = 0;
    unsigned above = 0;
    /// Of a leaf: those that some sample takes, then the others, each in order of what they lose.
    std::vector<VariantCost> variants;
    size_t numTaken = 0;

    bool isLeaf() const { return key == kLeaf; }
  };
  static constexpr unsigned kLeaf = UINT16_MAX;

  /// `samples`, of which there is one, have keys of one length and losses of one number of
  /// variants. No sample has the key of a measured one.
  static DecisionTree learn(llvm::ArrayRef<ChoiceSample> samples);

  /// The leaf's variants.
  const std::vector<VariantCost> &at(llvm::ArrayRef<int64_t> key) const;

  std::vector<Node> nodes;
};

} // namespace kiln

#endif // KILN_CODEGEN_DECISIONTREE_H
