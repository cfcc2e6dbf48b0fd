//===- PtxListing.h - The instructions of a PTX text --------------------------===//

#ifndef KILN_COMPILER_TARGET_NVIDIA_PTXLISTING_H
#define KILN_COMPILER_TARGET_NVIDIA_PTXLISTING_H

#include "compiler/Target/MainLoop.h"
#include <vector>

namespace kiln {

/// All statements but directives, in order.
std::vector<ListedInstruction> listPtx(llvm::StringRef ptx);

} // namespace kiln

#endif // KILN_COMPILER_TARGET_NVIDIA_PTXLISTING_H
