// A kernel in target operations (LLVM dialect, NVVM or ROCDL, tilegpu accesses), lowered for the
// emulator, loaded into this process and run with every check.

#ifndef KILN_TESTS_COMPILER_EMULATOR_EMULATEDKERNEL_H
#define KILN_TESTS_COMPILER_EMULATOR_EMULATEDKERNEL_H

#include "compiler/Target/DeviceBinary.h"
#include "compiler/Target/TargetInfo.h"
#include "runtime/emulated_launch.h"
#include "llvm/ADT/STLExtras.h"
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mlir {
class ModuleOp;
}

namespace kiln::testing {

class LoadedObject;

class EmulatedKernel {
public:
  using Grid = std::array<uint32_t, 3>;

  /// The function is `@kernel`, run by blocks of `threads`. The target is an emulated one.
  EmulatedKernel(const std::string &text, const std::string &target, unsigned threads);
  /// The function `symbol` of a module, which is lowered in place; diagnostics are the context's.
  EmulatedKernel(mlir::ModuleOp module, llvm::StringRef symbol, const std::string &target,
                 unsigned threads);
  ~EmulatedKernel();

  /// Of the compilation: "file:line:column: message" each; empty if it succeeded.
  std::string errors;

  /// Memory that the kernel may access, in place of what was freed there.
  void use(const void *memory, size_t bytes) {
    auto first = reinterpret_cast<uintptr_t>(memory);
    llvm::erase_if(ranges, [&](const kiln_emulated_range &range) {
      return range.first < first + bytes && first < range.end;
    });
    ranges.push_back({first, first + bytes, nullptr, /*unwritten=*/0});
  }

  /// Runs the grid with checks; params[i] points to argument i. What was reported.
  std::vector<std::string> run(std::vector<void *> params, uint32_t sharedBytes,
                               Grid grid = {1, 1, 1}) {
    return run(std::move(params), sharedBytes, grid, /*count=*/false);
  }
  /// The same, for what it does.
  std::vector<kiln_emulator_count> count(std::vector<void *> params, uint32_t sharedBytes,
                                         Grid grid = {1, 1, 1});

  /// Of the last run.
  std::vector<kiln_emulator_count> counts;

private:
  void load(mlir::ModuleOp module, llvm::StringRef symbol);
  std::vector<std::string> run(std::vector<void *> params, uint32_t sharedBytes, Grid grid,
                               bool count);

  TargetInfo info;
  unsigned threads;
  std::unique_ptr<LoadedObject> object;
  std::vector<kiln_emulated_range> ranges;
};

} // namespace kiln::testing

#endif
