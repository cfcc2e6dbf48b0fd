//===- EmitOptions.h - What binaries are made with ---------------------------===//
#ifndef KILN_COMPILER_TARGET_EMITOPTIONS_H
#define KILN_COMPILER_TARGET_EMITOPTIONS_H

#include "compiler/Target/DeviceBinary.h"
#include "llvm/ADT/StringRef.h"
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace kiln {

/// What a cuda target produces: `--cuda-emit`.
enum class CudaEmit : uint8_t { Cubin, PTX, Both };

struct EmitOptions {
  /// 0 to 3, as -O.
  unsigned optLevel = 3;
  /// A product may be fused with the sum that takes it, so that both are rounded once. What is
  /// fused by itself (tl.fma, sums of tl.dot, mathematical functions) stays so without it.
  bool fusesProducts = true;
  /// Texts to keep in the DeviceBinary: LLVM IR as it reaches code generation, PTX, assembly
  /// (PTX for cuda, ISA for hip, host assembly for cpu).
  bool captureLLVM = false, capturePTX = false, captureAssembly = false;
  /// Line tables (DWARF) in the binary, where the module has locations.
  bool lineInfo = true;
  /// Prefix replacements for the paths in line tables, first match wins: {"/home/me/project", "."}.
  std::vector<std::pair<std::string, std::string>> pathMap;
  /// The name in line tables of a path that no prefix matches; unset: the path itself.
  std::function<std::string(llvm::StringRef path)> sourceName;
  CudaEmit cudaEmit = CudaEmit::Cubin;
  /// Empty: search PATH, then CUDA_HOME/bin, then /usr/local/cuda/bin.
  std::string ptxasPath;
  /// What one run of ptxas may take, in MiB of addresses and seconds of processor time; 0: no
  /// limit.
  unsigned ptxasMemory = 8192, ptxasTimeout = 300;
  /// Seconds of processor time above which a run of ptxas is worth a warning; 0: never.
  unsigned ptxasSlow = 20;
  /// libdevice.10.bc, linked only when the module calls __nv_ functions. Empty: such calls are
  /// errors.
  std::string libdevicePath;
  /// Called when a stage is complete, for measuring: "translate" (LLVM IR), "llvmir" (optimised),
  /// "ptx" or "obj", and "cubin" or "hsaco" where a tool makes one.
  std::function<void(llvm::StringRef stage)> afterStage;
  /// Called with true where nothing is left to do but to wait for a tool, and then with false.
  std::function<void(bool isWaiting)> onWait;
  void stageDone(llvm::StringRef stage) const {
    if (afterStage)
      afterStage(stage);
  }
  /// Folder in which private temporary folders are made; empty: the system's.
  std::string temporaryRoot;
};

/// What the module itself does not say about its kernel.
struct KernelFacts {
  /// The function that is the kernel. Every other definition becomes internal.
  std::string symbol;
  LaunchFacts launch;
  /// Names of the parameters in order, for reports; may be empty.
  std::vector<std::string> parameterNames;
  /// At most this many registers per thread (cuda); 0 = the compiler's choice.
  unsigned maxRegisters = 0;
  /// At least this many blocks per SM (cuda) or waves per SIMD (hip); 0 = the compiler's choice.
  unsigned minOccupancy = 0;
  /// Registers that a thread can have beside those that it needs, by the estimate; negative where
  /// it lacks some, and as many as there can be where nobody has estimated.
  int spareRegisters = 256;
  /// Loads of products wait in each iteration, as threads may lack registers for them.
  bool loadsWait = false;
};

} // namespace kiln

#endif // KILN_COMPILER_TARGET_EMITOPTIONS_H
