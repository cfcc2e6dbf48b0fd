// A kernel given as text at the cut (LLVM dialect, NVVM or ROCDL, tilegpu accesses), lowered for
// the emulator, loaded into this process and run.

#ifndef KILN_TESTS_COMPILER_EMULATOR_EMULATEDKERNEL_H
#define KILN_TESTS_COMPILER_EMULATOR_EMULATEDKERNEL_H

#include "compiler/Target/DeviceBinary.h"
#include "compiler/Target/TargetInfo.h"
#include "runtime/emulated_launch.h"
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kiln::testing {

class LoadedObject;

class EmulatedKernel {
public:
  /// The function is `@kernel`, run by blocks of `threads`.
  EmulatedKernel(const std::string &text, const std::string &target, unsigned threads);
  ~EmulatedKernel();

  /// Of the compilation: "file:line:column: message" each; empty if it succeeded.
  std::string errors;

  /// Memory that the kernel may access.
  void use(const void *memory, size_t bytes) {
    auto first = reinterpret_cast<uintptr_t>(memory);
    ranges.push_back({first, first + bytes, nullptr});
  }

  /// Runs one block with checks; params[i] points to argument i. What was reported.
  std::vector<std::string> run(std::vector<void *> params, uint32_t sharedBytes) {
    return run(params, sharedBytes, /*count=*/false);
  }
  /// The same, for what it does.
  std::vector<kiln_emulator_count> count(std::vector<void *> params, uint32_t sharedBytes);

  /// Of the last run.
  std::vector<kiln_emulator_count> counts;

private:
  std::vector<std::string> run(std::vector<void *> params, uint32_t sharedBytes, bool count);

  unsigned threads;
  std::optional<DeviceBinary> binary;
  std::unique_ptr<LoadedObject> object;
  std::vector<kiln_emulated_range> ranges;
};

} // namespace kiln::testing

#endif
