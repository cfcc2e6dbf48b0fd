// Which variants accept given arguments, and over which grid they run: what a generated entry point
// decides in C, from the same tables.

#ifndef KILN_COMPILER_DRIVER_RUN_VARIANTCHOICE_H
#define KILN_COMPILER_DRIVER_RUN_VARIANTCHOICE_H

#include "codegen/DispatchTables.h"
#include "compiler/Driver/Run/RunValues.h"
#include <array>

namespace kiln {

/// Whether a library would do without the variant, as the spec's bounds and its measurements say.
bool isLeftOut(const EntryModel &entry, unsigned variant);

/// The values of an entry's arguments, in their order.
class CallArguments {
public:
  CallArguments(const EntryModel &entry, llvm::ArrayRef<RunValue> values)
      : entry(entry), values(values) {}

  /// Variants whose conditions hold, in the order in which a library with all of them would choose
  /// on a device of so many processors: what was measured as the fastest (of the one target that
  /// the model has), then those whose signatures promise most, among them by cost, among equals
  /// those that rely on most.
  std::vector<unsigned> legalVariants(const DispatchTables &tables, unsigned processors) const;
  /// "n is 7, expected 8 to 64", of a value outside of what the spec declares; "" without one.
  std::string undeclared() const;
  /// "variant 0 needs n divisible by 16, but n is 1001": what the nearest variant lacks, or `only`
  /// if it is given. DispatchTables.h says which is the nearest.
  std::string whatLacks(const DispatchTables &tables, std::optional<unsigned> only) const;
  /// The entry's grid, 1 in the dimensions that it leaves out. An error is a size below zero, an
  /// overflow or a division by zero.
  llvm::Expected<std::array<int64_t, 3>> grid(const VariantModel &variant) const;

private:
  bool holds(const Condition &condition) const;
  double distance(const Condition &condition) const;
  /// The conditions that `variant` relies on and that do not hold.
  std::vector<const Condition *> lacking(const DispatchTables &tables, unsigned variant) const;
  /// An expression's value, where `variant` has the constants.
  llvm::Expected<int64_t> evaluate(const Expression &expression, const VariantModel *variant) const;
  std::vector<unsigned> measuredFirst(const DispatchTables &tables, std::vector<unsigned> legal,
                                      unsigned processors) const;
  double wavesOf(unsigned variant, unsigned processors) const;
  /// An integer's value; a pointer's address.
  int64_t integer(unsigned argument) const;
  /// It is beyond what 64 signed bits hold.
  bool isHuge(unsigned argument) const;
  /// "n is 1001"
  std::string textOf(unsigned argument) const;

  const EntryModel &entry;
  llvm::ArrayRef<RunValue> values;
};

} // namespace kiln

#endif
