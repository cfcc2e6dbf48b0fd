// Runs a kernel given as Python source on every target: on the CPU natively, on GPUs in the block
// interpreter. For tests of what functions of triton.language compute.

#ifndef KILN_TESTS_LANGUAGE_SOURCEKERNEL_H
#define KILN_TESTS_LANGUAGE_SOURCEKERNEL_H

#include "compiler/Sema/Sema.h"
#include "tests/compiler/Conversion/TileGPUToLLVM/KernelRunner.h"

namespace kiln::testing {

/// A pointer argument and the memory it points to.
struct ArrayArgument {
  std::string name;
  /// As in a signature: "*fp32".
  std::string type;
  void *data;
  size_t bytes;

  template <typename T>
  ArrayArgument(std::string name, std::string type, Buffer<T> &buffer)
      : name(std::move(name)), type(std::move(type)), data(buffer.data()), bytes(buffer.bytes()) {}
};

/// Compiles the function `kernel` of `source` (which need not import anything) for "cpu" or a GPU
/// and runs one program instance. Returns what went wrong; empty if nothing did.
std::string runSource(const std::string &source, const std::string &target,
                      const std::vector<ArrayArgument> &arrays,
                      const NamedConstants &constants = {});

/// The targets that tests run on.
inline const char *const sourceTargets[] = {"cpu", "cuda:sm_80", "hip:gfx942", "hip:gfx1100"};

/// Names a test by its target: "cpu", "sm_80".
inline std::string sourceTargetName(const ::testing::TestParamInfo<const char *> &info) {
  return llvm::StringRef(info.param).rsplit(':').second.empty()
             ? info.param
             : llvm::StringRef(info.param).rsplit(':').second.str();
}

} // namespace kiln::testing

#endif // KILN_TESTS_LANGUAGE_SOURCEKERNEL_H
