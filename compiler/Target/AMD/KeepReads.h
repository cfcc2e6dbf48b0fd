// Loads that stay in front of barriers.

#ifndef KILN_COMPILER_TARGET_AMD_KEEPREADS_H
#define KILN_COMPILER_TARGET_AMD_KEEPREADS_H

namespace kiln {

/// From now on code generation for AMD's GPUs leaves loads in front of the barriers and fences that
/// they stand in front of: LLVM 22 sinks them behind these, into a branch that alone needs them.
void keepReads();

} // namespace kiln

#endif // KILN_COMPILER_TARGET_AMD_KEEPREADS_H
