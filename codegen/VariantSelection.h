//===- VariantSelection.h - the fewest variants that lose little *- C++ -*-===//
//
// Which variants of a target a library needs, given how long each took in every measured shape.
//
// A shape is served when some kept variant takes at most (1 + regret) times as long as the fastest
// there. Finding the fewest variants that serve all shapes is the set-cover problem: a greedy
// choice (always the variant that serves most shapes not yet served), after which variants that the
// others make needless are taken out again. It is within ln(shapes) of the fewest, and for the few
// dozen variants of a kernel nearly always equal. Refused: an exact search, whose result may change
// with every new measurement though nothing that matters does.
//
// No legal call becomes a miss: for each variant that is left out, one is kept that needs no more.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_CODEGEN_VARIANTSELECTION_H
#define KILN_CODEGEN_VARIANTSELECTION_H

#include "codegen/LibraryModel.h"

namespace kiln {

struct SelectionBounds {
  /// The share of its speed that a shape may lose.
  std::optional<double> regret;
  std::optional<unsigned> maxVariants;
};

struct VariantSelection {
  /// Of the candidates, in their order.
  std::vector<unsigned> kept;
  /// The largest loss of any shape.
  double regret = 0;
};

/// Chooses among `candidates` (indices of variants). Those that were not measured are kept only
/// where calls would become misses. With `maxVariants` alone: as many as are allowed, so that the
/// mean loss is small. An empty `shapes` keeps all.
VariantSelection selectVariants(const EntryModel &entry, llvm::ArrayRef<unsigned> candidates,
                                llvm::ArrayRef<MeasuredShape> shapes,
                                const SelectionBounds &bounds);

} // namespace kiln

#endif // KILN_CODEGEN_VARIANTSELECTION_H
