// The spec that kiln init writes for somebody to complete.

#ifndef KILN_COMPILER_DRIVER_INIT_SKELETONSPEC_H
#define KILN_COMPILER_DRIVER_INIT_SKELETONSPEC_H

#include "compiler/Driver/Init/KernelUses.h"
#include "compiler/Sema/Sema.h"

namespace kiln {

struct SkeletonKernel {
  KernelSummary summary;
  AutotuneList tuned;
  KernelUses uses;
};

struct SkeletonSpec {
  /// C name of the library.
  std::string library;
  std::vector<std::string> targets;
  /// The path of the source as the spec has it.
  std::string source;
  std::vector<SkeletonKernel> kernels;
};

/// The spec's text. What only its writer can know is a placeholder (codegen/Signature.h), which
/// kiln check refuses.
std::string writeSkeleton(const SkeletonSpec &skeleton);

/// How many placeholders a text of writeSkeleton has.
unsigned countPlaceholders(llvm::StringRef skeleton);

} // namespace kiln

#endif
