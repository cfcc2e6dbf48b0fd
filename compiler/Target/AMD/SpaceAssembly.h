// Wait states around assembly that kernels bring.

#ifndef KILN_COMPILER_TARGET_AMD_SPACEASSEMBLY_H
#define KILN_COMPILER_TARGET_AMD_SPACEASSEMBLY_H

namespace kiln {

/// From now on code generation for AMD's GPUs has as many wait states as any instructions need
/// between assembly with results and what shares registers with it.
void spaceAssembly();

} // namespace kiln

#endif // KILN_COMPILER_TARGET_AMD_SPACEASSEMBLY_H
