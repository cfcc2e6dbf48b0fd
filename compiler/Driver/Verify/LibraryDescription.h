// What a built library says of itself (kiln_describe), as the model that captured launches are
// bound to.

#ifndef KILN_COMPILER_DRIVER_VERIFY_LIBRARYDESCRIPTION_H
#define KILN_COMPILER_DRIVER_VERIFY_LIBRARYDESCRIPTION_H

#include "codegen/LibraryModel.h"

namespace kiln {

struct DescribedTarget {
  /// "cuda", "hip", "cpu" or "emu", and the architecture as kiln_target has it.
  std::string driver, arch;
};

/// The functions of a library. Of their models there are the name (with the library's prefix), the
/// arguments without promises, the descriptors, and the variants: their names, and of their
/// constants the integers.
struct LibraryDescription {
  std::vector<EntryModel> entries;
  /// Of each entry.
  std::vector<std::vector<DescribedTarget>> targets;
  /// Of each entry: its function takes the grid, behind the stream.
  std::vector<bool> hasCallersGrid;
};

/// Survives any text; an error says what is wrong with it.
llvm::Expected<LibraryDescription> readLibraryDescription(llvm::StringRef text);

} // namespace kiln

#endif
