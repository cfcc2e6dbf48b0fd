//===- VariantConditions.h - what a variant needs of a call -----*- C++ -*-===//
//
// From the spec's `when`, in the constants of one variant, to what dispatch checks: facts about
// single arguments where a condition says no more than that (`n <= 1024`, `n % 16 == 0`), else
// expressions. And the proofs that a spec's author made a mistake: conditions that no call meets, a
// grid that no call can have.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_CODEGEN_VARIANTCONDITIONS_H
#define KILN_CODEGEN_VARIANTCONDITIONS_H

#include "codegen/LibraryModel.h"

namespace kiln {

/// The expression with the variant's constants. An argument goes before a constant of its name.
Expression inVariant(const Expression &expression, const EntryModel &entry,
                     const VariantModel &variant);

/// Adds `condition` to what `variant` needs; its constants are known.
void addCondition(const Expression &condition, const EntryModel &entry, VariantModel &variant);

/// Conditions of the variant that no arguments meet together, as few as show it: "n < 4". Empty
/// where some arguments may meet all of them.
std::vector<std::string> contradictionOf(const EntryModel &entry, const VariantModel &variant);

/// What is wrong with dimension `index` of the grid in every call of the variant: "'n - n - 1' is
/// negative in every call"; "" where nothing is. `limit` is the most that any target allows.
std::string gridMistake(const EntryModel &entry, const VariantModel &variant, size_t index,
                        int64_t limit);

/// The integer arguments that dimensions of the grid are proportional to: the grid itself, its
/// factors, and what it divides. A negative one is a mistake of the caller's, also where rounding
/// makes it a grid of zero.
std::vector<unsigned> sizeArguments(const EntryModel &entry);

} // namespace kiln

#endif // KILN_CODEGEN_VARIANTCONDITIONS_H
