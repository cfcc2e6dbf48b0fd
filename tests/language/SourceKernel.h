// Runs a kernel given as Python source on every target: on the CPU natively, on GPUs emulated with
// every check. Each goes the whole way of `kiln run`: Sema, the passes, a host object, the runtime.
// For tests of what the language computes.
//
//   class Abs : public SourceTest {};
//   TEST_P(Abs, OfIntegers) {
//     Buffer<int32_t> x({-3, 7}), y(2);
//     ASSERT_EQ(runSource(R"(
//   @triton.jit
//   def kernel(p, q, n, N: tl.constexpr):
//       i = tl.arange(0, N)
//       tl.store(q + i, tl.abs(tl.load(p + i)), mask=i < n)
//   )", GetParam(), {{"p", "*i32", x}, {"q", "*i32", y}, {"n", "i32", 2}}, {{"N", 2}}), "");
//   }
//   KILN_SOURCE_TESTS(Abs);

#ifndef KILN_TESTS_LANGUAGE_SOURCEKERNEL_H
#define KILN_TESTS_LANGUAGE_SOURCEKERNEL_H

#include "compiler/Basic/Literal.h"
#include "tests/language/Array.h"
#include "gtest/gtest.h"
#include <array>
#include <functional>
#include <memory>
#include <type_traits>

namespace mlir {
class ModuleOp;
}

namespace kiln::testing {

/// A run-time argument.
struct SourceArgument {
  std::string name;
  /// As in a spec's signature: "*fp32", "i64", "*i8:4" and "i32:16" (multiples of 4 bytes and of
  /// 16), "i32:1" (always 1). Pointers are multiples of 16 bytes unless the type says otherwise.
  std::string type;
  /// Null for scalars.
  const GuardedMemory *memory = nullptr;
  /// An array's first element that the kernel sees, or a scalar's bits.
  uint64_t bits = 0;

  /// The pointer is to the element at `offset`.
  template <typename T>
  SourceArgument(std::string name, std::string type, const Buffer<T> &buffer, size_t offset = 0)
      : name(std::move(name)), type(std::move(type)), memory(&buffer.guarded()),
        bits(reinterpret_cast<uintptr_t>(buffer.data() + offset)) {}
  /// The bits are the C++ value's: an fp16 scalar is a uint16_t here.
  template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T>>>
  SourceArgument(std::string name, std::string type, T value)
      : name(std::move(name)), type(std::move(type)) {
    std::memcpy(&bits, &value, sizeof value);
  }
};

/// A compile-time argument, or a definition.
struct SourceConstant {
  std::string name;
  Literal value;

  SourceConstant(std::string name, Literal value)
      : name(std::move(name)), value(std::move(value)) {}
  SourceConstant(std::string name, bool value)
      : SourceConstant(std::move(name), Literal::ofBool(value)) {}
  SourceConstant(std::string name, int value)
      : SourceConstant(std::move(name), Literal::ofInt(value)) {}
  SourceConstant(std::string name, double value)
      : SourceConstant(std::move(name), Literal::ofFloat(value)) {}
  SourceConstant(std::string name, const char *value)
      : SourceConstant(std::move(name), Literal::ofString(value)) {}
};

struct SourceOptions {
  std::array<uint32_t, 3> grid = {1, 1, 1};
  unsigned numWarps = 4, numStages = 3, numCtas = 1;
  /// As KernelInstance has them.
  unsigned matrixSize = 0, kPack = 0;
  /// Run-time assertions are checked.
  bool debug = false;
  /// Arrays are promised to be below 2 GiB.
  bool smallArrays = false;
  /// They are promised to be in ordinary memory of the device.
  bool deviceMemory = false;
  /// As EmitOptions has it.
  bool fusesProducts = true;
  /// Spoils the program in target operations (LLVM dialect, NVVM or ROCDL): for tests of the
  /// emulator's checks.
  std::function<void(mlir::ModuleOp &)> edit = nullptr;
  /// The number of threads that run program instances; 0: the default pool. Instances that wait for
  /// each other want a thread each.
  unsigned threads = 0;
};

/// One kernel compiled for one target.
class SourceKernel {
public:
  /// Compiles the function `kernel` of `source`, which need not import triton, tl or libdevice, for
  /// "cpu" or an emulated GPU ("emu:sm_90a"). Of the arguments only names and types matter.
  SourceKernel(const std::string &source, const std::string &target,
               const std::vector<SourceArgument> &arguments,
               const std::vector<SourceConstant> &constants = {},
               const SourceOptions &options = {});
  ~SourceKernel();

  /// Diagnostics of the compilation, as a user sees them; empty if it succeeded.
  const std::string &errors() const;
  /// Launches it, with the same arguments by order; emulated kernels may access the arguments'
  /// arrays and nothing else. What went wrong, a line each: what the emulator reports, writes
  /// beside an array. Empty if nothing did.
  std::string run(const std::vector<SourceArgument> &arguments,
                  std::array<uint32_t, 3> grid = {1, 1, 1});

private:
  struct Code;
  std::unique_ptr<Code> code;
};

/// Compiles and runs: the errors of both.
std::string runSource(const std::string &source, const std::string &target,
                      const std::vector<SourceArgument> &arguments,
                      const std::vector<SourceConstant> &constants = {},
                      const SourceOptions &options = {});

/// The targets that tests run on, and more of them for what differs between GPUs.
inline const char *const sourceTargets[] = {"cpu", "emu:sm_90a", "emu:gfx942"};
inline const char *const allSourceTargets[] = {"cpu", "emu:sm_90a", "emu:gfx942", "emu:sm_80",
                                               "emu:gfx1100"};

/// A test that runs on each target, which GetParam() names.
class SourceTest : public ::testing::TestWithParam<const char *> {};

/// Names a test by its target: "cpu", "sm_90a".
std::string sourceTargetName(const ::testing::TestParamInfo<const char *> &info);

#define KILN_SOURCE_TESTS(SUITE)                                                                   \
  INSTANTIATE_TEST_SUITE_P(, SUITE, ::testing::ValuesIn(kiln::testing::sourceTargets),             \
                           kiln::testing::sourceTargetName)
#define KILN_SOURCE_TESTS_ON_ALL(SUITE)                                                            \
  INSTANTIATE_TEST_SUITE_P(, SUITE, ::testing::ValuesIn(kiln::testing::allSourceTargets),          \
                           kiln::testing::sourceTargetName)

/// Says at file scope which functions (rows of Builtins.td, "tl.exp libdevice.tanh math.gcd") this
/// test program shows by running them: KILN_COVERS("tl.exp tl.log"). At the end of a whole run each
/// must have been called by a kernel that compiled and ran on each of `sourceTargets`. CoverageTest
/// reads these lists and wants every row in one.
#define KILN_COVERS(NAMES)                                                                         \
  [[maybe_unused]] static const bool covers = kiln::testing::declareCovered(NAMES)
bool declareCovered(const std::string &names);

} // namespace kiln::testing

#endif // KILN_TESTS_LANGUAGE_SOURCEKERNEL_H
