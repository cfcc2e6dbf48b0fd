// NumPy's array files (.npy, format versions 1 to 3), as far as `kiln run` needs them: C order and
// plain elements. Written from the format's description in numpy.lib.format.

#ifndef KILN_COMPILER_DRIVER_RUN_NPY_H
#define KILN_COMPILER_DRIVER_RUN_NPY_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <string>
#include <vector>

namespace kiln {

struct NpyArray {
  /// The element type as the file spells it: "<f4", "|b1".
  std::string descr;
  /// Extents, outermost first; empty for a single element.
  std::vector<int64_t> shape;
  /// The elements, inside the bytes that were read.
  llvm::StringRef data;
};

/// Survives any input. Errors say what is wrong without the path: no such file, cut short, elements
/// in Fortran order, structured elements.
llvm::Expected<NpyArray> readNpy(llvm::StringRef bytes);

/// A file of version 1; `data` has as many bytes as the shape says.
std::string writeNpy(llvm::StringRef descr, llvm::ArrayRef<int64_t> shape, llvm::StringRef data);

} // namespace kiln

#endif
