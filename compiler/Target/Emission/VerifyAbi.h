//===- VerifyAbi.h - Launcher and binary agree, proved -----------------------===//
//
// Tools that wrote the launcher from the source's types passed doubles to kernels
// that read floats, and shipped binaries of another architecture. So the sizes and
// offsets that the launcher uses are compared with what the binary itself says.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_COMPILER_TARGET_EMISSION_VERIFYABI_H
#define KILN_COMPILER_TARGET_EMISSION_VERIFYABI_H

#include "compiler/Target/DeviceBinary.h"
#include "compiler/Target/TargetInfo.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

namespace kiln {

/// A parameter as the launcher will pass it.
struct ExpectedParameter {
  std::string name;
  uint32_t size = 0;
  /// 0: its size, as of scalars and pointers.
  uint32_t alignment = 0;
};

/// Offsets of `expected` in a block where each parameter stands at a multiple of its alignment
/// (the ABI of NVIDIA's and AMD's kernels).
std::vector<KernelParameter> naturalLayout(llvm::ArrayRef<ExpectedParameter> expected);

/// Reads `binary.bytes` again and fills in what they say: parameters, parameterBytes and the
/// resources that the format records. Fields of `launch` are compared where the format has them.
llvm::Error readBack(DeviceBinary &binary);

/// Proves that launcher and binary agree: reads `binary.bytes` and compares the architecture tag,
/// the kernel symbol, and number, offsets and sizes of the parameters with what the launcher will
/// pass: `expected`, and behind them the binary's tensor maps. The same of its fallback. PTX is
/// checked by its text (.target, .entry and .param declarations), a host object by its machine and
/// symbol. The error names the first difference: "parameter 2 'alpha': expected 4 bytes at offset
/// 16, got 8 bytes at offset 16".
llvm::Error verifyAbi(const DeviceBinary &binary, llvm::ArrayRef<ExpectedParameter> expected,
                      const TargetInfo &target);

} // namespace kiln

#endif // KILN_COMPILER_TARGET_EMISSION_VERIFYABI_H
