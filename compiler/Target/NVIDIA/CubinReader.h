//===- CubinReader.h - What a cubin says about its kernels --------------------===//
//
// A cubin is an ELF file whose .nv.info sections hold attribute records that the
// driver reads when it launches. The records are not documented by NVIDIA; their
// numbers are known from cuobjdump -elf, and each one used here is checked by the
// tests against kernels made with ptxas for every target.
//
// Input may be damaged or hostile: every read is bounded. No MLIR.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_COMPILER_TARGET_NVIDIA_CUBINREADER_H
#define KILN_COMPILER_TARGET_NVIDIA_CUBINREADER_H

#include "compiler/Target/DeviceBinary.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <array>
#include <string>
#include <vector>

namespace kiln {

struct CubinKernel {
  std::string symbol;
  /// In order; without names.
  std::vector<KernelParameter> parameters;
  /// The block of all parameters: bytes, and offset in constant bank 0.
  uint32_t parameterBytes = 0, parameterBase = 0;
  /// Registers, stack and static shared memory (what the hardware reserves for itself not counted).
  ResourceUsage resources;
  /// Threads per block that the code was compiled for; 0 = any.
  std::array<uint32_t, 3> requiredThreads = {0, 0, 0};
};

struct CubinInfo {
  /// 90 for sm_90 and sm_90a.
  unsigned smNumber = 0;
  /// ptxas's own record of its options, "-arch sm_90a …"; empty before CUDA 13.
  std::string toolOptions;
  std::vector<CubinKernel> kernels;

  /// The architecture in toolOptions, "sm_90a"; empty when that is.
  std::string arch() const;
};

llvm::Expected<CubinInfo> readCubin(llvm::StringRef bytes);

} // namespace kiln

#endif // KILN_COMPILER_TARGET_NVIDIA_CUBINREADER_H
