// A library as the compiler would describe it, with images that the fake drivers understand.
#ifndef KILN_TESTS_CODEGEN_TESTMODEL_H
#define KILN_TESTS_CODEGEN_TESTMODEL_H

#include "codegen/LibraryModel.h"

namespace kiln::test {

/// The type that `text` says; asserts that it says one.
ArgumentType type(llvm::StringRef text);

/// The expression that `text` says; asserts that it says one.
Expression expression(llvm::StringRef text);

/// An entry with arguments "x: *fp32" ...; their hints are dropped.
EntryModel entry(llvm::StringRef name, std::vector<std::pair<std::string, std::string>> arguments);

/// A variant with integer constants.
VariantModel variant(std::vector<std::pair<std::string, int64_t>> config);

/// A binary for `target` that a fake driver loads: its text names the kernel `symbol` and the
/// parameters that `model` says, and behind them the tensor maps.
VariantBinary fakeBinary(const LibraryModel &model, const EntryModel &entry,
                         const VariantModel &variant, unsigned target,
                         llvm::StringRef symbol = "main", std::vector<TensorMapFacts> maps = {});

/// A CPU kernel: `object` is a relocatable object that defines `symbol`.
VariantBinary hostBinary(unsigned target, llvm::StringRef object, llvm::StringRef symbol);

/// Maps for a kernel that takes a matrix of f16 at its parameters 1 to 4 (base, shape, stride): the
/// matrix, and what is written to 64 rows of it.
std::vector<TensorMapFacts> matrixMaps();

/// axpy, every_type, no_arguments, strided, tensor, guarded, ranked, rows, tuned and nearest, for
/// cuda:sm_90a, hip:gfx942 and the CPU whose kernels stand in `hostObject` (left out when empty).
LibraryModel testLibrary(llvm::StringRef hostObject);

} // namespace kiln::test

#endif // KILN_TESTS_CODEGEN_TESTMODEL_H
