// Addresses in shared memory, computed where a loop reads and writes.

#ifndef KILN_COMPILER_TARGET_AMD_SINKADDRESSES_H
#define KILN_COMPILER_TARGET_AMD_SINKADDRESSES_H

namespace llvm {
class Function;
}

namespace kiln {

/// What keeps LLVM from computing such addresses in front of the loop.
enum class HiddenOfAddresses {
  Places,   ///< each barrier's side has a copy of the thread's number, which LLVM takes for another
  Constants ///< or of a constant, by the scalar unit, for what is xored
};

/// Loops compute the addresses of their accesses to shared memory in each iteration, of the one
/// number of a thread that they have in common.
void sinkAddresses(llvm::Function &kernel, HiddenOfAddresses hidden);

} // namespace kiln

#endif
