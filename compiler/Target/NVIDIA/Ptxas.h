//===- Ptxas.h - NVIDIA's assembler as a process ------------------------------===//

#ifndef KILN_COMPILER_TARGET_NVIDIA_PTXAS_H
#define KILN_COMPILER_TARGET_NVIDIA_PTXAS_H

#include "compiler/Target/DeviceBinary.h"
#include "compiler/Target/Emit.h"
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
};

/// Assembles `ptx` for the target. The options that ptxas stores in its output are the same for
/// every kernel of a target, and so are the file names it sees.
llvm::Expected<PtxasResult> runPtxas(llvm::StringRef ptx, const TargetInfo &target,
                                     const EmitOptions &options);

} // namespace kiln

#endif // KILN_COMPILER_TARGET_NVIDIA_PTXAS_H
