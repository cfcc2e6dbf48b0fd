// How long a wave by itself takes for a kernel's code.

#ifndef KILN_COMPILER_TARGET_AMD_ISSUEESTIMATE_H
#define KILN_COMPILER_TARGET_AMD_ISSUEESTIMATE_H

#include "compiler/Target/AMD/HsacoListing.h"

namespace kiln {

struct IssueEstimate {
  /// From the first instruction's issue to the last one's: one a cycle in their order, each when
  /// its registers are there, by the latencies of LLVM's model of the processor. Nothing else is
  /// waited for. Of a kernel with products in loops, one iteration behind others of each innermost
  /// one, as versions and masks make several of a loop; else all of the code, once.
  uint64_t cycles = 0;
  /// RDNA: for how many of these its SIMD's vector unit, whose work products are, has no time for
  /// other waves: one for an instruction, and for a product by AMD's figures, where LLVM's model
  /// has fewer. 0 elsewhere.
  uint64_t busy = 0;
  /// Accesses to scratch memory in the same instructions.
  uint32_t spills = 0;
};

IssueEstimate estimateIssue(const MachineCode &code, const llvm::TargetMachine &machine);

} // namespace kiln

#endif // KILN_COMPILER_TARGET_AMD_ISSUEESTIMATE_H
