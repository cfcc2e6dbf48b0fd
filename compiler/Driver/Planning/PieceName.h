// What a piece of a library is called: one variant for one target.
//
//   ENTRY@TARGET@VARIANT       matmul_f16@cuda_sm_90a@5f0c9e21d3aa
//
// The last part is a hash of the variant's own constants, options and promises. So a name stays
// when variants are added beside it or change places (their numbers do not), and it can be the name
// of a file or of a target of make.

#ifndef KILN_COMPILER_DRIVER_PLANNING_PIECENAME_H
#define KILN_COMPILER_DRIVER_PLANNING_PIECENAME_H

#include "codegen/LibraryModel.h"
#include "compiler/Basic/Diagnostics.h"

namespace kiln {

struct BuildPlan;

std::string pieceName(const EntryModel &entry, const VariantModel &variant,
                      const TargetInfo &target);

/// Its beginning, for all variants: "matmul_f16@cuda_sm_90a".
std::string pieceGroup(const EntryModel &entry, const TargetInfo &target);

/// Leaves of the spec the signatures of the entry points that `isKept` accepts. The names of all
/// that there were.
std::vector<std::string> keepEntries(Spec &spec, llvm::function_ref<bool(llvm::StringRef)> isKept);

/// For --only: leaves the entry points that a selector names. A selector is a piece's name or its
/// beginning: ENTRY, ENTRY@TARGET, ENTRY@TARGET@VARIANT; @TARGET takes all entry points; a target
/// may also be written as in the spec. In place of a variant, 2of4 takes the second of four parts
/// of them, which may be empty. False, with an error, when one names what the spec lacks.
bool keepSelected(Spec &spec, llvm::ArrayRef<std::string> selectors, DiagnosticEngine &diagnostics);

/// The plan's jobs that some selector names, all without selectors. Reports selectors that name
/// none.
void chooseJobs(BuildPlan &plan, llvm::ArrayRef<std::string> selectors,
                DiagnosticEngine &diagnostics);

} // namespace kiln

#endif
