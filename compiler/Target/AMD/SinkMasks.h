//===- SinkMasks.h - Where masks are computed -----------------------------------*- C++ -*-===//

#ifndef KILN_COMPILER_TARGET_AMD_SINKMASKS_H
#define KILN_COMPILER_TARGET_AMD_SINKMASKS_H

namespace llvm {
class Function;
} // namespace llvm

namespace kiln {

/// Has a block that compares for more choices than there are scalar registers for the results
/// compare in front of each.
void sinkMasks(llvm::Function &kernel);

} // namespace kiln

#endif // KILN_COMPILER_TARGET_AMD_SINKMASKS_H
