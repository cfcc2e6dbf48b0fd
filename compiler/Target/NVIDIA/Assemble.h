//===- Assemble.h - The best of what ptxas makes of a kernel -------------------===//

#ifndef KILN_COMPILER_TARGET_NVIDIA_ASSEMBLE_H
#define KILN_COMPILER_TARGET_NVIDIA_ASSEMBLE_H

#include "compiler/Target/DeviceBinary.h"
#include "compiler/Target/NVIDIA/Ptxas.h"
#include <functional>
#include <string>

namespace kiln {

/// The text of one kernel, and what ptxas made of it.
struct AssembledText {
  std::string ptx;
  PtxasResult result;
  /// DeviceBinary::registerLimit.
  uint32_t registerLimit = 0;
};

/// Assembles `ptx`; and once more, and keeps what is better, where products are waited for one by
/// one (ProductsInFlight.h), or where the kernel may choose its registers and fewer would let more
/// blocks run (RegisterShare.h). `meanwhile` is called when ptxas has begun.
llvm::Expected<AssembledText> assembleText(std::string ptx, const KernelFacts &facts,
                                           const TargetInfo &target, const EmitOptions &options,
                                           const std::function<void()> &meanwhile = nullptr);

/// Whether other code for the same kernel could run better: registers spill, or warps exchange
/// values, through shared memory, and registers leave room for fewer than half of those that a
/// processor can hold. (Of warps that never wait for each other, each hides its own loads.)
bool isShortOfRegisters(const AssembledText &text, const LaunchFacts &launch,
                        const TargetInfo &target);

/// Whether the first of two codes for a kernel is the better one by what ptxas says: it spills less
/// where one of them spills more than kFewSpilledBytes, or more of its warps have room, and
/// exchange values.
bool runsBetter(const AssembledText &first, const AssembledText &second, const LaunchFacts &launch,
                const TargetInfo &target);

} // namespace kiln

#endif // KILN_COMPILER_TARGET_NVIDIA_ASSEMBLE_H
