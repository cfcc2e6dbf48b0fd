// The arguments of `kiln run`: from the text of --arg to bytes as a kernel takes them.
//
//   x=@x.npy   n=1000   eps=1e-5   x=normal(128, 64)   y=full((128, 64), 0.5)
//   x=normal(128, 64).strided(80, 1)
//
// Generators give the same bytes on every machine: they use a generator of integers of our own
// (SplitMix64, started by --seed and the argument's name) and no function of libm.

#ifndef KILN_COMPILER_DRIVER_RUN_RUNVALUES_H
#define KILN_COMPILER_DRIVER_RUN_RUNVALUES_H

#include "codegen/Signature.h"
#include "compiler/Basic/Diagnostics.h"
#include <memory>

namespace kiln {

/// The elements of a pointer argument.
struct RunArray {
  std::vector<int64_t> shape;
  /// Of all elements, and of what lies between them.
  size_t bytes = 0;
  /// How far elements that are neighbours along each axis are apart, in elements. Empty: they lie
  /// one after the other, the last axis first.
  std::vector<int64_t> strides;
  /// At a multiple of 4096.
  std::shared_ptr<char> data;
};

/// One argument's value.
struct RunValue {
  /// A scalar's bytes, the lowest first; for arrays, the address that the kernel gets.
  uint64_t bits = 0;
  /// Of a pointer argument.
  std::optional<RunArray> array;
  /// The file that the array was read from, or "".
  std::string file;
};

/// The elements one after the other, the last axis first, whatever the strides.
std::string elementsOf(const RunArray &array, unsigned elementBytes);

/// How .npy files spell elements of this type. bf16 and 8-bit floats, which NumPy lacks, are their
/// bits: "<u2", "|u1".
std::string npyTypeOf(ElementType type);

/// `value` rounded to the type: to nearest for floats, towards zero and clamped for integers; NaN
/// is 0 in integers. The bytes of the element, the lowest first. Empty for fp8e4b15, which no
/// conversion is known for.
std::optional<uint64_t> elementOf(ElementType type, double value);

/// The value that `text` gives the argument `name` of type `type`; reports what is wrong with it.
std::optional<RunValue> readRunValue(llvm::StringRef name, const ArgumentType &type,
                                     llvm::StringRef text, uint64_t seed,
                                     DiagnosticEngine &diagnostics);

} // namespace kiln

#endif
