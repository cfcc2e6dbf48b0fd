//===- DecisionTree.h - which variant is fastest where ----------*- C++ -*-===//
//
// A decision tree over the arguments of a dispatch key, learnt from samples: points with what each
// variant loses there. A leaf has the variants in order of what they lose in its samples together,
// so that a call takes the first that is legal for it.
//
// Learning is greedy: of all leaves the one is divided next that gains most, at the bound that
// leaves least lost. That goes on while anything is gained, up to kMostLeaves, and beyond that
// until no measured sample loses more than kMeasuredTolerance by its leaf's first variant. Losses
// are integers, so that sums do not depend on their order. Refused: pruning against a held-out
// part, which measurements of a few dozen shapes do not have.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_CODEGEN_DECISIONTREE_H
#define KILN_CODEGEN_DECISIONTREE_H

#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <vector>

namespace kiln {

/// A loss says how many times slower than the fastest a variant is, as this times the logarithm to
/// base 2.
inline constexpr int64_t kLossUnit = 1 << 16;
/// The loss of a variant that cannot be chosen at a sample; no other loss is as large.
inline constexpr int64_t kImpossibleLoss = 4 * kLossUnit;
/// A hundredth slower, which is less than measurements differ by.
inline constexpr int64_t kMeasuredTolerance = 940;
inline constexpr size_t kMostLeaves = 128;

/// A point, and what each variant loses there.
struct ChoiceSample {
  std::vector<int64_t> key;
  std::vector<int64_t> losses;
  /// Measured there, not estimated.
  bool isMeasured = false;
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
    /// Of a leaf: the fastest first.
    std::vector<unsigned> variants;

    bool isLeaf() const { return key == kLeaf; }
  };
  static constexpr unsigned kLeaf = UINT16_MAX;

  /// `samples`, of which there is one, have keys of one length and losses of one number of
  /// variants. No sample has the key of a measured one.
  static DecisionTree learn(llvm::ArrayRef<ChoiceSample> samples);

  /// The leaf's variants.
  const std::vector<unsigned> &at(llvm::ArrayRef<int64_t> key) const;

  std::vector<Node> nodes;
};

} // namespace kiln

#endif // KILN_CODEGEN_DECISIONTREE_H
