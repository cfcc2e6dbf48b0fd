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
  /// DeviceBinary::registerLimit, which `ptx` does not tell.
  uint32_t registerLimit = 0;

  /// `ptx` as it was assembled.
  std::string assembled() const;
};

/// Assembles a kernel's text, in as many ways as may pay.
class Assembler {
public:
  Assembler(const KernelFacts &facts, const TargetInfo &target, const EmitOptions &options)
      : facts(facts), target(target), options(options) {}

  /// Assembles `ptx`; and again, and keeps what is better, where ptxas gives up, where products are
  /// waited for one by one (ProductsInFlight.h), or where the kernel may choose its registers and
  /// fewer would let more blocks run (RegisterShare.h). `meanwhile` is called when ptxas has begun.
  llvm::Expected<AssembledText> assemble(std::string ptx, const std::function<void()> &meanwhile);

  /// Assembles `ptx`, other code for the kernel of `text`, the way that was best for that, and
  /// takes it if it runs better. That it fails where the other did not is no error.
  void takeIfBetter(std::string ptx, AssembledText &text);

private:
  llvm::Expected<AssembledText> run(std::string ptx, unsigned registerLimit, unsigned level,
                                    const std::function<void()> &meanwhile = nullptr) const;
  void insist(AssembledText &text) const;
  void keepProductsInFlight(AssembledText &text) const;
  void shareRegisters(AssembledText &text) const;

  /// Whether nobody else has chosen.
  bool choosesRegisters() const {
    return !facts.maxRegisters && !facts.minOccupancy && options.optLevel >= 3;
  }

  const KernelFacts &facts;
  const TargetInfo &target;
  const EmitOptions &options;
};

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
