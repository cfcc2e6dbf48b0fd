// Addresses in shared memory, computed where a loop reads and writes.

#ifndef KILN_COMPILER_TARGET_AMD_SINKADDRESSES_H
#define KILN_COMPILER_TARGET_AMD_SINKADDRESSES_H

namespace llvm {
class Function;
}

namespace kiln {

/// Loops compute the addresses of their accesses to shared memory in each iteration, of the one
/// number of a thread that they have in common.
void sinkAddresses(llvm::Function &kernel);

} // namespace kiln

#endif
