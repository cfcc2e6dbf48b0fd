//===- DispatchProof.h - what all calls within the ranges meet --*- C++ -*-===//
//
// Over the values that a spec declares for arguments: calls for which no variant is legal, variants
// that no call makes use of, and grids that cannot be launched, each with arguments that show it;
// and which variants are legal together. BoxSearch.h says what "proven" means: nothing is said to
// be absent that was not excluded.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_CODEGEN_DISPATCHPROOF_H
#define KILN_CODEGEN_DISPATCHPROOF_H

#include "codegen/LibraryModel.h"
#include <array>

namespace kiln {

/// A variant where it exists, and what a launch of it may be.
struct PlacedVariant {
  unsigned variant = 0;
  std::array<int64_t, 3> gridLimits;
};
struct TargetVariants {
  std::string target;
  /// By index.
  std::vector<PlacedVariant> variants;
};

/// How many program instances a launch has at most along each axis (kiln_run in kiln.h).
std::array<int64_t, 3> gridLimits(const TargetInfo &target, int64_t numWarps, int64_t numCtas);

struct DispatchMistake {
  enum class Kind {
    Gap,         // no variant is legal for some call
    DeadVariant, // a variant is not chosen by any call
    LargeGrid,   // more than a target allows
    NegativeGrid,
    FailingGrid, // that cannot be computed
    EmptyGrid,   // of zero, though no size is zero
  };
  Kind kind = Kind::Gap;
  /// The search ended before it knew; `text` says what may be.
  bool isUndecided = false;
  std::string text;
};

struct DispatchProof {
  /// Each once, with an example.
  std::vector<DispatchMistake> mistakes;
  DispatchSummary summary;
};

/// How many nodes of expressions one entry point's proofs look at: seconds.
inline constexpr int64_t kProofBudget = 20000000;

/// `targets` are those that the entry point has variants for.
DispatchProof proveDispatch(const EntryModel &entry, llvm::ArrayRef<TargetVariants> targets,
                            int64_t budget = kProofBudget);

} // namespace kiln

#endif // KILN_CODEGEN_DISPATCHPROOF_H
