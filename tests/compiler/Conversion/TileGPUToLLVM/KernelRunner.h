// Compiles a kernel given as text for a GPU, and runs it emulated.

#ifndef KILN_TESTS_COMPILER_CONVERSION_TILEGPUTOLLVM_KERNELRUNNER_H
#define KILN_TESTS_COMPILER_CONVERSION_TILEGPUTOLLVM_KERNELRUNNER_H

#include "compiler/Target/Emission/Emit.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "tests/compiler/Emulator/EmulatedKernel.h"
#include "gtest/gtest.h"
#include <optional>
#include <string>
#include <vector>

namespace kiln::testing {

/// Device memory, aligned as allocations are. The emulator checks every access against its ends.
template <typename T> class Buffer {
public:
  explicit Buffer(size_t size, T fill = T()) : storage(size + 64 / sizeof(T), fill), size(size) {}

  T *data() {
    auto address = reinterpret_cast<uintptr_t>(storage.data());
    return reinterpret_cast<T *>((address + 63) / 64 * 64);
  }
  T &operator[](size_t index) { return data()[index]; }
  size_t count() const { return size; }
  size_t bytes() const { return size * sizeof(T); }
  uint64_t argument() { return uint64_t(reinterpret_cast<uintptr_t>(data())); }

private:
  std::vector<T> storage;
  size_t size;
};

class CompiledKernel {
public:
  /// `source` is one func.func in Tile IR, or with `hasLayouts` in TileGPU IR (any aliases before
  /// the function), for a GPU ("cuda:sm_80"). Stops at target operations.
  CompiledKernel(const std::string &source, const std::string &target, bool hasLayouts = false);
  ~CompiledKernel();

  /// Errors of the compilation; empty if it succeeded.
  std::string errors;
  const TargetInfo &target() const { return info; }
  std::string text();
  /// The binary, with its assembly text. The module is gone afterwards.
  llvm::Expected<DeviceBinary> emit();

  /// Memory that the kernel may access.
  template <typename T> void use(Buffer<T> &buffer) {
    ranges.emplace_back(buffer.data(), buffer.bytes());
  }
  /// Each argument as its bits. What the emulator found, a line each.
  std::string run(llvm::ArrayRef<uint64_t> arguments, std::array<uint32_t, 3> grid = {1, 1, 1});
  /// The same without findings: what the kernel did.
  std::vector<kiln_emulator_count> count(llvm::ArrayRef<uint64_t> arguments,
                                         std::array<uint32_t, 3> grid = {1, 1, 1});

private:
  /// The kernel as code for the emulator, made at the first run.
  EmulatedKernel &emulated();

  TargetInfo info;
  KernelFacts facts;
  std::unique_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::unique_ptr<EmulatedKernel> code;
  std::vector<std::pair<const void *, size_t>> ranges;
};

/// Instructions of warps of a kind ("barrier", see kiln_emulator_count).
uint64_t instructionsOf(llvm::ArrayRef<kiln_emulator_count> counts, llvm::StringRef kind);

/// A deterministic stream of numbers in [-1, 1).
class Random {
public:
  explicit Random(uint64_t seed) : state(seed * 2654435769u + 12345) {}
  double next() {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return double(int64_t(state) >> 11) / double(int64_t(1) << 52);
  }
  uint64_t below(uint64_t bound) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (state >> 33) % bound;
  }

private:
  uint64_t state;
};

/// The targets that every execution test runs on.
inline const char *const testTargets[] = {"cuda:sm_80", "hip:gfx942", "hip:gfx1100"};

/// Names a test by its target: "sm_80".
inline std::string targetName(const ::testing::TestParamInfo<const char *> &info) {
  return llvm::StringRef(info.param).split(':').second.str();
}

} // namespace kiln::testing

#endif
