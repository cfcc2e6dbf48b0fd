//===- Ptxas.h - NVIDIA's assembler as a process ------------------------------===//

#ifndef KILN_COMPILER_TARGET_NVIDIA_PTXAS_H
#define KILN_COMPILER_TARGET_NVIDIA_PTXAS_H

#include "compiler/Target/DeviceBinary.h"
#include "compiler/Target/EmitOptions.h"
#include "compiler/Target/TargetError.h"
#include "compiler/Target/TargetInfo.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace kiln {

/// Where ptxas is, as an absolute path: `explicitPath` if given, else the first of PATH,
/// CUDA_HOME/bin, CUDA_PATH/bin and `usualHome`/bin. The error says how to get one, or to do
/// without.
llvm::Expected<std::string> findPtxas(llvm::StringRef explicitPath,
                                      llvm::StringRef usualHome = "/usr/local/cuda");

/// What ptxas -v prints about one kernel.
struct PtxasReport {
  ResourceUsage resources;
  std::vector<std::string> warnings;
  /// The messages C7500 to C7599: it serialised asynchronous matrix instructions, exit status 0.
  std::vector<std::string> serialized;
};

/// Reads the output of `ptxas -v`, which must be about one kernel.
PtxasReport parsePtxasReport(llvm::StringRef output);

struct PtxasResult {
  std::vector<char> cubin;
  PtxasReport report;
  /// The -O that it was made with.
  unsigned level = 3;
};

/// Whether ptxas can assemble anything for the target: an empty kernel.
llvm::Error checkPtxas(const TargetInfo &target, const EmitOptions &options);

/// Whether ptxas gave up on a kernel: 32 registers a thread, whatever the block allows, and all
/// else in local memory. It does so with some long ones above -O1 where nobody tells it how many
/// registers it may take.
bool gaveUp(const PtxasReport &report);

/// Whether a thread of the first uses local memory less: fewer bytes stored and loaded by
/// instructions for spills, or as many and a smaller stack.
bool usesLessLocalMemory(const ResourceUsage &first, const ResourceUsage &second);

/// Assembles `ptx` for the target with -O`level`. The options that ptxas stores in its output are
/// the same for every kernel of a target otherwise, and so are the file names it sees. `meanwhile`
/// is called when it has begun.
llvm::Expected<PtxasResult> runPtxas(llvm::StringRef ptx, unsigned level, const TargetInfo &target,
                                     const EmitOptions &options,
                                     const std::function<void()> &meanwhile = nullptr);

} // namespace kiln

#endif // KILN_COMPILER_TARGET_NVIDIA_PTXAS_H
