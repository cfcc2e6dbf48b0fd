// Emulated GPUs as the runtime's devices: what programs see beside the kernels' results.

#include "vector_add.h"
#include <cstring>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace {

class EmulatorDriver : public testing::Test {
protected:
  void make(const char *arch) {
    kiln_emulator_destroy(emulator);
    emulator = nullptr;
    ASSERT_EQ(kiln_emulator_create(arch, nullptr, &emulator), KILN_SUCCESS) << kiln_last_error();
  }
  void TearDown() override { kiln_emulator_destroy(emulator); }
  std::string lastError() { return kiln_last_error(); }

  kiln_emulator *emulator = nullptr;
};

TEST_F(EmulatorDriver, ReportsTheRealArchitecture) {
  for (auto [name, number] : {std::pair("sm_90a", 90u), {"gfx942", 0x942u}, {"gfx1100", 0x1100u}}) {
    make(name);
    kiln_device device;
    ASSERT_EQ(kiln_stream_device(kiln_emulator_stream(emulator), &device), KILN_SUCCESS);
    EXPECT_EQ(device.driver, uint32_t(KILN_DRIVER_EMULATOR));
    EXPECT_EQ(device.arch, number);
    kiln_device named = kiln_emulator_device(emulator);
    EXPECT_EQ(kiln_prepare(&vector_add_f32_entry, named), KILN_SUCCESS) << kiln_last_error();
    EXPECT_EQ(kiln_is_ready(&vector_add_f32_entry, named), 1);
  }
}

TEST_F(EmulatorDriver, UnknownArchitecturesAndLackingBinariesAreErrors) {
  EXPECT_EQ(kiln_emulator_create("sm_13", nullptr, &emulator), KILN_ERROR_INVALID_DEVICE);
  EXPECT_EQ(lastError(), "'sm_13' cannot be emulated");
  EXPECT_EQ(kiln_emulator_create(nullptr, nullptr, &emulator), KILN_ERROR_INVALID_ARGUMENT);
  make("sm_86"); // the library has sm_80 and sm_90a: emulated code runs on its own architecture
  float x = 0;
  EXPECT_EQ(vector_add_f32(kiln_emulator_stream(emulator), &x, &x, &x, 1), KILN_ERROR_NO_BINARY);
  EXPECT_EQ(vector_add_f32(kiln_emulator_stream(nullptr), &x, &x, &x, 1),
            KILN_ERROR_INVALID_ARGUMENT);
}

TEST_F(EmulatorDriver, AllocationsAreRegisteredOnce) {
  make("sm_80");
  char memory[64];
  EXPECT_EQ(kiln_emulator_register(emulator, memory + 16, 16), KILN_SUCCESS);
  EXPECT_EQ(kiln_emulator_register(emulator, memory, 16), KILN_SUCCESS);
  EXPECT_EQ(kiln_emulator_register(emulator, memory + 31, 4), KILN_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(kiln_emulator_register(emulator, memory, 0), KILN_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(kiln_emulator_unregister(emulator, memory + 16), KILN_SUCCESS);
  EXPECT_EQ(kiln_emulator_unregister(emulator, memory + 16), KILN_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(kiln_emulator_register(emulator, memory + 31, 4), KILN_SUCCESS);
}

TEST_F(EmulatorDriver, ReadsOfWhatNobodyWroteAreReported) {
  make("sm_90a");
  kiln_emulator_set_check(emulator, 1);
  const uint64_t unwritten = 0x7ffa7fc57fb37fe9;
  std::vector<uint64_t> words(150, unwritten);
  float *x = reinterpret_cast<float *>(words.data()), *y = x + 100, *out = x + 200;
  std::fill(x, y + 99, 1.0f);
  for (float *array : {x, y, out}) {
    EXPECT_EQ(kiln_emulator_register(emulator, array, 400), KILN_SUCCESS);
    EXPECT_EQ(kiln_emulator_set_unwritten(emulator, array, unwritten), KILN_SUCCESS);
  }
  EXPECT_EQ(kiln_emulator_set_unwritten(emulator, x + 1, unwritten), KILN_ERROR_INVALID_ARGUMENT);
  kiln_stream stream = kiln_emulator_stream(emulator);
  EXPECT_EQ(vector_add_f32(stream, x, y, out, 99), KILN_SUCCESS) << lastError();
  std::memcpy(y + 98, &unwritten, 8);
  EXPECT_EQ(vector_add_f32(stream, x, y, out, 99), KILN_ERROR_LAUNCH);
  EXPECT_NE(lastError().find("read of global memory that was never written"), std::string::npos)
      << lastError();
  EXPECT_NE(lastError().find("of argument 'y_ptr'"), std::string::npos) << lastError();
}

TEST_F(EmulatorDriver, ReportsNameArgumentsAndAllocations) {
  make("sm_90a");
  kiln_emulator_set_check(emulator, 1);
  std::vector<float> arrays(2048);
  float *x = arrays.data(), *y = x + 600, *out = x + 1200;
  for (float *array : {x, y, out})
    EXPECT_EQ(kiln_emulator_register(emulator, array, array == out ? 360 : 400), KILN_SUCCESS);
  EXPECT_EQ(kiln_emulator_set_name(emulator, out, "sums"), KILN_SUCCESS) << lastError();
  EXPECT_EQ(kiln_emulator_set_name(emulator, out + 1, "sums"), KILN_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(lastError(), "no allocation was registered at this address");
  EXPECT_EQ(vector_add_f32(kiln_emulator_stream(emulator), x, y, out, 100), KILN_ERROR_LAUNCH);
  EXPECT_NE(lastError().find("; it is element 9"), std::string::npos) << lastError();
  EXPECT_NE(lastError().find(" of argument 'out_ptr' (number 2 of the kernel's), "),
            std::string::npos)
      << lastError();
  EXPECT_NE(lastError().find(" behind its allocation 'sums' of 360 bytes at 0x"), std::string::npos)
      << lastError();
  // Before the first element of what was registered.
  kiln_emulator_clear_reports(emulator);
  EXPECT_EQ(kiln_emulator_unregister(emulator, out), KILN_SUCCESS);
  EXPECT_EQ(kiln_emulator_register(emulator, out + 10, 360), KILN_SUCCESS);
  EXPECT_EQ(vector_add_f32(kiln_emulator_stream(emulator), x, y, out, 100), KILN_ERROR_LAUNCH);
  EXPECT_NE(lastError().find("; it is 40 bytes before the allocation of 360 bytes"),
            std::string::npos)
      << lastError();
}

TEST_F(EmulatorDriver, FindingsFailTheLaunchAndAreKept) {
  make("sm_80");
  kiln_emulator_set_check(emulator, 1);
  std::vector<float> x(64), y(64), out(64);
  kiln_stream stream = kiln_emulator_stream(emulator);
  for (auto *buffer : {&x, &out})
    EXPECT_EQ(kiln_emulator_register(emulator, buffer->data(), 256), KILN_SUCCESS);
  // y was forgotten.
  EXPECT_EQ(vector_add_f32(stream, x.data(), y.data(), out.data(), 64), KILN_ERROR_LAUNCH);
  EXPECT_NE(lastError().find("vector_add.py:"), std::string::npos) << lastError();
  EXPECT_NE(lastError().find("load from no registered allocation"), std::string::npos);
  EXPECT_NE(lastError().find("for emu:sm_80"), std::string::npos) << lastError();
  uint32_t reports = kiln_emulator_num_reports(emulator);
  EXPECT_GE(reports, 1u);
  EXPECT_EQ(vector_add_f32(stream, x.data(), y.data(), out.data(), 64), KILN_ERROR_LAUNCH);
  EXPECT_EQ(kiln_emulator_num_reports(emulator), reports) << "each is reported once";
  EXPECT_EQ(kiln_emulator_report(emulator, reports), nullptr);
  kiln_emulator_clear_reports(emulator);
  EXPECT_EQ(kiln_emulator_register(emulator, y.data(), 256), KILN_SUCCESS);
  EXPECT_EQ(vector_add_f32(stream, x.data(), y.data(), out.data(), 64), KILN_SUCCESS);
  EXPECT_EQ(kiln_emulator_num_reports(emulator), 0u);
}

} // namespace
