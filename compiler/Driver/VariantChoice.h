// Which variants accept given arguments, and over which grid they run: what a generated entry point
// decides in C, from the same tables.

#ifndef KILN_COMPILER_DRIVER_VARIANTCHOICE_H
#define KILN_COMPILER_DRIVER_VARIANTCHOICE_H

#include "codegen/DispatchTables.h"
#include "compiler/Driver/RunValues.h"
#include <array>

namespace kiln {

/// The values of an entry's arguments, in their order.
class CallArguments {
public:
  CallArguments(const EntryModel &entry, llvm::ArrayRef<RunValue> values)
      : entry(entry), values(values) {}

  /// Variants whose conditions hold, in the order in which a library with all of them would choose
  /// on a device of so many processors: those of least cost first, among equals those that rely on
  /// most.
  std::vector<unsigned> legalVariants(const DispatchTables &tables, unsigned processors) const;
  /// "needs n divisible by 16, but n is 1001": the first condition that fails.
  std::string whatLacks(const DispatchTables &tables, unsigned variant) const;
  /// The entry's grid, 1 in the dimensions that it leaves out. An error is an overflow or a
  /// division by zero.
  llvm::Expected<std::array<int64_t, 3>> grid(const VariantModel &variant) const;

private:
  bool holds(const Condition &condition) const;
  double costOf(const DispatchTables &tables, unsigned variant, unsigned processors) const;
  std::optional<Condition> firstMissing(const DispatchTables &tables, unsigned variant) const;
  /// An integer's value; a pointer's address.
  int64_t integer(unsigned argument) const;

  const EntryModel &entry;
  llvm::ArrayRef<RunValue> values;
};

} // namespace kiln

#endif
