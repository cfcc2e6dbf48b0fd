//===- PtxReader.h - What PTX text says about its kernels ----------------------===//

#ifndef KILN_COMPILER_TARGET_NVIDIA_PTXREADER_H
#define KILN_COMPILER_TARGET_NVIDIA_PTXREADER_H

#include "compiler/Target/DeviceBinary.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <array>
#include <string>
#include <vector>

namespace kiln {

struct PtxKernel {
  std::string symbol;
  /// Laid out as the driver does: each parameter at a multiple of its own alignment.
  std::vector<KernelParameter> parameters;
  uint32_t parameterBytes = 0;
  /// .reqntid; 0 = any.
  std::array<uint32_t, 3> requiredThreads = {0, 0, 0};
};

struct PtxInfo {
  /// From .target: 90 for sm_90 and sm_90a.
  unsigned smNumber = 0;
  std::vector<PtxKernel> kernels;
};

/// Reads the declarations of PTX text (not its instructions), as LLVM and other compilers write
/// them.
llvm::Expected<PtxInfo> readPtx(llvm::StringRef text);

} // namespace kiln

#endif // KILN_COMPILER_TARGET_NVIDIA_PTXREADER_H
