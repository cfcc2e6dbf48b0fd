// Compiles Tile IR text for this machine, in memory, and runs it: what the execution tests and
// benchmarks share.

#ifndef KILN_TESTS_COMPILER_CONVERSION_TILETOCPU_KERNELRUNNER_H
#define KILN_TESTS_COMPILER_CONVERSION_TILETOCPU_KERNELRUNNER_H

#include "compiler/Conversion/TileToCPU/TileToCPU.h"
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace kiln::testing {
class LoadedObject;
} // namespace kiln::testing

namespace kiln::test {

/// The options for the processor that the test runs on.
CPUOptions hostOptions();

class CompiledKernel {
public:
  /// Parses, canonicalises, lowers and compiles, for this machine or another processor of LLVM's
  /// names ("x86-64-v3") whose code this machine can run. Throws std::runtime_error with the
  /// diagnostics on failure.
  explicit CompiledKernel(const std::string &tileIR, CPUOptions options = hostOptions(),
                          const std::string &processor = "");
  ~CompiledKernel();

  using Grid = std::array<uint32_t, 3>;
  /// Runs all instances of the grid, one after another in increasing order. `params[i]` points to
  /// argument i.
  void launch(Grid grid, const std::vector<void *> &params) const;
  /// The same on `threads` threads, instances being claimed in increasing order.
  void launchThreaded(Grid grid, const std::vector<void *> &params, unsigned threads) const;

  int64_t arenaBytes() const { return arena; }
  /// Seconds from text to machine code, and instructions of LLVM IR before optimisation.
  double compileSeconds = 0;
  unsigned irInstructions = 0;
  /// The optimised LLVM IR.
  std::string optimized;

private:
  std::unique_ptr<testing::LoadedObject> object;
  int64_t arena = 0;
};

/// The module with all extents rounded up to powers of two (`padShapes`).
std::string paddedText(const std::string &tileIR);

/// The diagnostics of lowering a module that must not lower; empty if it did.
std::string loweringErrors(const std::string &tileIR);

} // namespace kiln::test

#endif // KILN_TESTS_COMPILER_CONVERSION_TILETOCPU_KERNELRUNNER_H
