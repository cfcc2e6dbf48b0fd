// Builds the records that generated code would hold, so that a test says only what it is about.
#ifndef KILN_TESTS_RUNTIME_TESTLIBRARY_H
#define KILN_TESTS_RUNTIME_TESTLIBRARY_H

#include "runtime/driver.h"
#include "runtime/kiln.h"
#include "tests/runtime/FakeDriver.h"

#include <gtest/gtest.h>

#include <deque>
#include <string>
#include <vector>

namespace kiln::test {

// One library of one entry. Add targets first, then variants; binary() gives the record to change.
class TestLibrary {
public:
  explicit TestLibrary(std::vector<kiln_target> targets, const char *name = "axpy")
      : targets(std::move(targets)) {
    library.abi_version = KILN_ABI_VERSION;
    library.num_entries = 1;
    library.name = "test_kernels";
    library.entries = &entryPointer;
    entry.library = &library;
    entry.name = name;
    entry.state = &state;
    update();
  }
  TestLibrary(const TestLibrary &) = delete;
  ~TestLibrary() { kiln_unload(&library); }

  // A variant with these parameters and, for each target, an image of its own with a kernel "main".
  uint32_t addVariant(const char *name, std::vector<kiln_param> params = {},
                      std::vector<kiln_tensor_map> maps = {}) {
    paramTables.push_back(std::move(params));
    mapTables.push_back(std::move(maps));
    std::vector<kiln_param> &table = paramTables.back();
    std::vector<kiln_tensor_map> &mapTable = mapTables.back();
    variants.push_back({name, table.data(), uint32_t(table.size()), 0, nullptr});
    for (const kiln_target &target : targets)
      binaries.push_back(makeBinary(target, table, mapTable));
    update();
    return uint32_t(variants.size() - 1);
  }

  // Gives a binary a fallback with these maps alone, and returns it.
  kiln_binary &addFallback(uint32_t variant = 0, uint32_t target = 0,
                           std::vector<kiln_tensor_map> maps = {}) {
    mapTables.push_back(std::move(maps));
    fallbacks.push_back(makeBinary(targets[target], paramTables[variant], mapTables.back()));
    binary(variant, target).fallback = &fallbacks.back();
    return fallbacks.back();
  }

  kiln_binary &binary(uint32_t variant = 0, uint32_t target = 0) {
    return binaries[variant * targets.size() + target];
  }
  std::vector<kiln_param> &params(uint32_t variant = 0) { return paramTables[variant]; }
  kiln_tensor_map &tensorMap(uint32_t index = 0) { return mapTables[0][index]; }

  kiln_library library = {};
  kiln_entry entry = {};
  kiln_entry_state state = {};

private:
  kiln_binary makeBinary(const kiln_target &target, const std::vector<kiln_param> &table,
                         const std::vector<kiln_tensor_map> &mapTable) {
    kiln_binary binary = {};
    binary.num_tensor_maps = uint32_t(mapTable.size());
    binary.tensor_maps = mapTable.data();
    if (target.form != KILN_FORM_HOST) {
      images.push_back("FAKE\nmain");
      for (const kiln_param &param : table)
        images.back() += " " + std::to_string(param.offset) + ":" + std::to_string(param.size);
      size_t end = table.empty() ? 0 : table.back().offset + table.back().size;
      for (size_t map = 0; map < mapTable.size(); ++map)
        images.back() += " " + std::to_string((end + 63) / 64 * 64 + 128 * map) + ":128";
      binary.data = images.back().c_str();
      binary.size = images.back().size() + 1;
      binary.symbol = "main";
      binary.threads = 128;
    }
    return binary;
  }

  void update() {
    entry.variants = variants.data();
    entry.targets = targets.data();
    entry.binaries = binaries.data();
    entry.num_variants = uint32_t(variants.size());
    entry.num_targets = uint32_t(targets.size());
  }

  const kiln_entry *entryPointer = &entry;
  std::vector<kiln_target> targets;
  std::vector<kiln_variant> variants;
  std::vector<kiln_binary> binaries;
  std::deque<kiln_binary> fallbacks;
  std::deque<std::vector<kiln_param>> paramTables;
  std::deque<std::vector<kiln_tensor_map>> mapTables;
  std::deque<std::string> images;
};

inline kiln_target cubin(const char *arch) {
  return {KILN_DRIVER_CUDA, KILN_FORM_CUBIN, arch, nullptr};
}
inline kiln_target ptx(const char *arch) {
  return {KILN_DRIVER_CUDA, KILN_FORM_PTX, arch, nullptr};
}
inline kiln_target hsaco(const char *arch) {
  return {KILN_DRIVER_HIP, KILN_FORM_HSACO, arch, nullptr};
}
#if defined(__aarch64__)
constexpr const char *BaselineArch = "aarch64";
#else
constexpr const char *BaselineArch = "x86-64";
#endif
inline kiln_target host(const char *arch = BaselineArch, const char *features = nullptr) {
  return {KILN_DRIVER_CPU, KILN_FORM_HOST, arch, features};
}

inline kiln_target emulated(const char *arch) {
  return {KILN_DRIVER_EMULATOR, KILN_FORM_HOST, arch, nullptr};
}

inline kiln_launch_number parameter(int32_t index) { return {index, KILN_NO_PARAMETER, 1}; }
inline kiln_launch_number constant(int64_t value) {
  return {KILN_NO_PARAMETER, KILN_NO_PARAMETER, value};
}

// A row-major matrix of f16 at parameter 0, "rows" x "columns" at 1 and 2 and "stride" at 3, which
// is copied in blocks of 128 x 64.
inline std::vector<kiln_param> matrixParams() {
  return {{"a", KILN_PARAM_POINTER, 8, 0},
          {"rows", KILN_PARAM_I32, 4, 8},
          {"columns", KILN_PARAM_I32, 4, 12},
          {"stride", KILN_PARAM_I64, 8, 16}};
}
inline kiln_tensor_map matrixMap() {
  kiln_tensor_map map = {};
  map.name = "A";
  map.base = 0;
  map.element = KILN_TENSOR_F16;
  map.rank = 2;
  map.extents[0] = parameter(1);
  map.extents[1] = parameter(2);
  map.strides[0] = parameter(3);
  map.box[0] = 128;
  map.box[1] = 64;
  map.swizzle_bytes = 128;
  return map;
}

// The arguments of a launch with such a matrix.
struct Matrix {
  uint64_t base = 0x10000;
  int32_t rows = 1000, columns = 520;
  int64_t stride = 1024;
  void *params[4] = {&base, &rows, &columns, &stride};

  Matrix() = default;
  Matrix(uint64_t base, int32_t rows) : base(base), rows(rows) {}
  Matrix(const Matrix &) = delete;
};

constexpr int64_t OneBlock[3] = {1, 1, 1};

// Opens a fake driver for the runtime, and for the test. Every test starts with the drivers closed.
class FakeDriverTest : public ::testing::Test {
protected:
  // `file` is a fake of this folder, such as "libfakecuda12.so".
  void open(kiln_driver driver, const char *file, std::vector<fake::Device> devices);
  void TearDown() override;

  fake::State *fake = nullptr;
};

// Launches on a fake of CUDA with a device of compute capability 9.0.
class CudaLaunchTest : public FakeDriverTest {
protected:
  void SetUp() override { useDriver("libfakecuda12.so"); }

  void useDriver(const char *file) {
    open(KILN_DRIVER_CUDA, file, {{9, 0, ""}});
    context = fake->makeContext(0);
    stream = kiln_cuda_stream(fake->makeStream(context));
  }

  kiln_status launch(TestLibrary &library, void *const *params) {
    return kiln_launch(&library.entry, 0, stream, OneBlock, params);
  }

  void *context = nullptr;
  kiln_stream stream = {};
};

// Both the status and a part of the message.
#define EXPECT_ERROR(expression, expected, part)                                                   \
  do {                                                                                             \
    EXPECT_EQ((expression), expected);                                                             \
    EXPECT_NE(std::string(kiln_last_error()).find(part), std::string::npos) << kiln_last_error();  \
  } while (0)
#define EXPECT_OK(expression) EXPECT_EQ((expression), KILN_SUCCESS) << kiln_last_error()
#define ASSERT_OK(expression) ASSERT_EQ((expression), KILN_SUCCESS) << kiln_last_error()

} // namespace kiln::test

#endif // KILN_TESTS_RUNTIME_TESTLIBRARY_H
