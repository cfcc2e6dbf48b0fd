//===- RemovePtxText.h - Cubins without the text they were made of --*- C++ -*-===//

#ifndef KILN_COMPILER_TARGET_NVIDIA_REMOVEPTXTEXT_H
#define KILN_COMPILER_TARGET_NVIDIA_REMOVEPTXTEXT_H

#include <vector>

namespace kiln {

/// Takes out the PTX that ptxas puts into a cubin beside its line table. A cubin without one, or
/// with one that cannot go alone, stays as it is.
void removePtxText(std::vector<char> &cubin);

} // namespace kiln

#endif // KILN_COMPILER_TARGET_NVIDIA_REMOVEPTXTEXT_H
