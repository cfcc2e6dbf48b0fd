// Where `kiln run` runs a kernel: this machine's CPU, an emulated GPU, or the first NVIDIA or AMD
// GPU.

#ifndef KILN_COMPILER_DRIVER_RUN_RUNDEVICE_H
#define KILN_COMPILER_DRIVER_RUN_RUNDEVICE_H

#include "compiler/Driver/Run/RunValues.h"
#include "compiler/Driver/Run/RuntimeFunctions.h"
#include "compiler/Target/TargetInfo.h"
#include <array>

namespace kiln {

class RunDevice {
public:
  /// What stands in the way of running code for `target` here, or "". Starts no thread.
  static std::string whyNot(const TargetInfo &target);
  /// For emulated GPUs, `check`: every array is all that kernels may access; `count`: launches
  /// count; `runtime`: whose they are, that of the code that is launched.
  static llvm::Expected<std::unique_ptr<RunDevice>>
  open(const TargetInfo &target, bool check, bool count, const RuntimeFunctions &runtime = {});
  virtual ~RunDevice() = default;

  virtual kiln_stream stream() = 0;
  /// Makes the array's elements reachable for kernels and gives their address there.
  virtual llvm::Expected<uint64_t> place(const RunArray &array) = 0;
  /// Waits for the kernel and brings the arrays' elements back.
  virtual llvm::Error finish() { return llvm::Error::success(); }
  /// What an emulated GPU found.
  virtual std::vector<std::string> reports() { return {}; }
  /// The emulated GPU, which has the counts; null on other devices.
  virtual kiln_emulator *emulated() { return nullptr; }
};

/// Launches a variant of an entry point, with the addresses of its parameters' bytes, and waits for
/// the end.
llvm::Error launchOn(RunDevice &device, const kiln_entry &entry, unsigned variant,
                     const std::array<int64_t, 3> &grid, std::vector<void *> parameters);

} // namespace kiln

#endif
