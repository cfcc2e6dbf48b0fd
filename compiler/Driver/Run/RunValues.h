// The arguments of `kiln run`: from the text of --arg to bytes as a kernel takes them.
//
//   x=@x.npy   n=1000   eps=1e-5   x=normal(128, 64)   y=full((128, 64), 0.5)
//   x=normal(128, 64).strided(80, 1)

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

/// An array of these bytes; empty without the memory for it.
std::optional<RunArray> makeByteArray(llvm::StringRef bytes);

/// The elements one after the other, the last axis first, whatever the strides.
std::string elementsOf(const RunArray &array, unsigned elementBytes);

/// The value that `text` gives the argument `name` of type `type`; reports what is wrong with it.
std::optional<RunValue> readRunValue(llvm::StringRef name, const ArgumentType &type,
                                     llvm::StringRef text, uint64_t seed,
                                     DiagnosticEngine &diagnostics);

} // namespace kiln

#endif
