//===- HsacoReader.h - What an HSACO says about its kernels -------------------===//
//
// An HSACO is a linked ELF file with one note of MessagePack metadata, which LLVM's
// "User Guide for AMDGPU Backend", "Code Object Metadata", describes.
//
// Input may be damaged or hostile: every read is bounded. No MLIR.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_COMPILER_TARGET_AMD_HSACOREADER_H
#define KILN_COMPILER_TARGET_AMD_HSACOREADER_H

#include "compiler/Target/DeviceBinary.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <array>
#include <string>
#include <vector>

namespace kiln {

struct HsacoKernel {
  /// The function's name; the descriptor's symbol is the same with ".kd".
  std::string symbol;
  /// Explicit parameters in order, with their names in the IR.
  std::vector<KernelParameter> parameters;
  /// Arguments that the compiler added behind them.
  unsigned hiddenParameters = 0;
  uint32_t kernargBytes = 0;
  ResourceUsage resources;
  /// To lanes of vector registers.
  uint32_t spilledScalars = 0;
  uint32_t wavefrontSize = 0, maxFlatWorkgroupSize = 0;
  /// 0, 0, 0 = any.
  std::array<uint32_t, 3> requiredWorkgroupSize = {0, 0, 0};
};

struct HsacoInfo {
  /// EF_AMDGPU_MACH of e_flags: TargetInfo::elfArchTag.
  unsigned machine = 0;
  /// Code object version, 4, 5 or 6; 0 when it is another.
  unsigned codeObjectVersion = 0;
  std::vector<HsacoKernel> kernels;
};

llvm::Expected<HsacoInfo> readHsaco(llvm::StringRef bytes);

} // namespace kiln

#endif // KILN_COMPILER_TARGET_AMD_HSACOREADER_H
