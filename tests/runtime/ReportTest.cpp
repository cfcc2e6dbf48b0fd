// Messages, versions and misses: what a program learns where there is no launch.
#include "tests/runtime/TestLibrary.h"

#include <thread>

using namespace kiln::test;

namespace {

kiln_call begin(TestLibrary &library) {
  kiln_call call = {};
  EXPECT_OK(kiln_begin(&library.entry, kiln_cpu_stream(nullptr), &call));
  return call;
}

TEST(ReportTest, EveryStatusHasItsName) {
  for (int status = KILN_SUCCESS; status <= KILN_ERROR_STATE; ++status)
    EXPECT_EQ(std::string(kiln_status_string(kiln_status(status))).find("KILN_"), 0u) << status;
  EXPECT_STREQ(kiln_status_string(KILN_ERROR_NO_VARIANT), "KILN_ERROR_NO_VARIANT");
  EXPECT_STREQ(kiln_status_string(kiln_status(999)), "unknown kiln_status");
}

TEST(ReportTest, AMissNamesTheNearestVariantAndTheConditionThatFailed) {
  TestLibrary library({host()});
  library.addVariant("BLOCK=64");
  library.addVariant("BLOCK=128");
  kiln_call call = begin(library);
  std::string prefix = std::string("axpy: no variant matches on cpu:") + BaselineArch;
  const kiln_argument_value values[] = {
      {"K", KILN_PARAM_I32, -1001}, {"a", KILN_PARAM_POINTER, 0x1002}, {"u", KILN_PARAM_U64, -1}};
  EXPECT_ERROR(kiln_miss(&call, 1, 1, "K % 16 == 0", values, 1), KILN_ERROR_NO_VARIANT,
               prefix + ": the nearest, 1 (BLOCK=128), needs K % 16 == 0, but K is -1001");
  EXPECT_ERROR(
      kiln_miss(&call, 0, 2, "a aligned", values, 3), KILN_ERROR_NO_VARIANT,
      "needs a aligned, but K is -1001, a is 0x1002 and u is 18446744073709551615; it lacks "
      "2 conditions in all");
  EXPECT_ERROR(kiln_miss(&call, 0, 1, "a aligned to 16 bytes", nullptr, 0), KILN_ERROR_NO_VARIANT,
               "the nearest, 0 (BLOCK=64), needs a aligned to 16 bytes");
  EXPECT_EQ(kiln_miss(&call, UINT32_MAX, 0, nullptr, nullptr, 0), KILN_ERROR_NO_VARIANT);
  EXPECT_EQ(kiln_last_error(), prefix);
  EXPECT_EQ(kiln_miss_count(&library.entry), 4u);
  EXPECT_ERROR(kiln_miss(nullptr, 0, 0, nullptr, nullptr, 0), KILN_ERROR_INVALID_ARGUMENT, "begun");
}

TEST(ReportTest, RefusalsNameTheArgument) {
  TestLibrary library({host()});
  library.addVariant("v");
  const kiln_entry *entry = &library.entry;
  const kiln_argument_value values[] = {{"n", KILN_PARAM_I32, 7}, {"m", KILN_PARAM_I64, 0}};
  EXPECT_ERROR(kiln_refuse_size(entry, "n", -5), KILN_ERROR_GRID,
               "axpy: n is -5, expected a size of at least 0");
  EXPECT_ERROR(kiln_refuse_grid(entry, 1, "n // m", values, 2), KILN_ERROR_GRID,
               "axpy: dimension 1 of the grid, n // m, divides by zero or leaves the range of 64 "
               "bits: n is 7 and m is 0");
  alignas(4) char bytes[8];
  EXPECT_OK(kiln_check_array(entry, "x", bytes, 4));
  EXPECT_ERROR(kiln_check_array(entry, "x", nullptr, 4), KILN_ERROR_INVALID_ARGUMENT,
               "axpy: x is null, expected an array");
  EXPECT_ERROR(kiln_check_array(entry, "x", bytes + 1, 2), KILN_ERROR_INVALID_ARGUMENT,
               ", expected a multiple of 2: its elements have 2 bytes");
}

TEST(ReportTest, TooManyValuesAreCutOff) {
  TestLibrary library({host()});
  library.addVariant("v");
  kiln_call call = begin(library);
  std::string name(100, 'n');
  std::vector<kiln_argument_value> values(50, {name.c_str(), KILN_PARAM_I64, INT64_MIN});
  EXPECT_ERROR(kiln_miss(&call, 0, 1, "c", values.data(), 50), KILN_ERROR_NO_VARIANT,
               "but " + name + " is -9223372036854775808, ");
  EXPECT_LT(std::string(kiln_last_error()).size(), 1024u);
}

TEST(ReportTest, UnloadKeepsTheMissCount) {
  TestLibrary library({host()});
  library.addVariant("v");
  kiln_call call = begin(library);
  kiln_miss(&call, 0, 0, nullptr, nullptr, 0);
  EXPECT_OK(kiln_unload(&library.library));
  EXPECT_EQ(kiln_miss_count(&library.entry), 1u);
}

TEST(ReportTest, AnOldLibraryIsRefusedEverywhere) {
  TestLibrary library({host()});
  library.addVariant("v");
  library.library.abi_version = KILN_ABI_VERSION - 1;
  std::string message = "generated for version " + std::to_string(KILN_ABI_VERSION - 1) +
                        " of Kiln's binary interface";
  kiln_call call;
  kiln_device cpu = kiln_cpu_device();
  EXPECT_EQ(kiln_abi_version(), KILN_ABI_VERSION);
  EXPECT_ERROR(kiln_launch(&library.entry, 0, kiln_cpu_stream(nullptr), OneBlock, nullptr),
               KILN_ERROR_ABI, message);
  EXPECT_ERROR(kiln_begin(&library.entry, kiln_cpu_stream(nullptr), &call), KILN_ERROR_ABI,
               message);
  EXPECT_ERROR(kiln_prepare(&library.entry, cpu), KILN_ERROR_ABI, message);
  EXPECT_ERROR(kiln_prepare_variant(&library.entry, 0, cpu), KILN_ERROR_ABI, message);
  EXPECT_ERROR(kiln_prepare_library(&library.library, cpu), KILN_ERROR_ABI, message);
  EXPECT_ERROR(kiln_unload(&library.library), KILN_ERROR_ABI, message);
  EXPECT_EQ(kiln_is_ready(&library.entry, cpu), 0);
  EXPECT_EQ(kiln_variant_count(&library.entry), 0u);
  EXPECT_EQ(kiln_miss_count(&library.entry), 0u);
}

TEST(ReportTest, EntriesDescribeThemselves) {
  TestLibrary library({host()});
  library.addVariant("BLOCK=64");
  EXPECT_STREQ(kiln_entry_name(&library.entry), "axpy");
  EXPECT_EQ(kiln_variant_count(&library.entry), 1u);
  EXPECT_STREQ(kiln_variant_name(&library.entry, 0), "BLOCK=64");
  EXPECT_EQ(kiln_variant_name(&library.entry, 1), nullptr);
  EXPECT_EQ(kiln_entry_name(nullptr), nullptr);
}

TEST(ReportTest, EachThreadHasItsOwnMessage) {
  EXPECT_ERROR(kiln_fail(nullptr, KILN_ERROR_INVALID_ARGUMENT, "mine"), KILN_ERROR_INVALID_ARGUMENT,
               "kernel: mine");
  std::string others;
  std::thread([&] { others = kiln_last_error(); }).join();
  EXPECT_EQ(others, "");
  EXPECT_STREQ(kiln_last_error(), "kernel: mine");
}

TEST(ReportTest, LongMessagesAreCut) {
  EXPECT_EQ(kiln_fail(nullptr, KILN_ERROR_LOAD, std::string(5000, 'x').c_str()), KILN_ERROR_LOAD);
  EXPECT_EQ(std::string(kiln_last_error()).size(), 1023u);
  EXPECT_EQ(kiln_error_within(KILN_ERROR_LOAD, "%s", std::string(5000, 'y').c_str()),
            KILN_ERROR_LOAD);
  EXPECT_EQ(std::string(kiln_last_error()), std::string(1023, 'y'));
}

TEST(ReportTest, ALibraryWithNothingForADeviceSaysSo) {
  TestLibrary library({cubin("sm_90")});
  library.addVariant("v");
  EXPECT_ERROR(kiln_prepare_library(&library.library, kiln_cpu_device()), KILN_ERROR_NO_BINARY,
               "test_kernels: no kernel of it has a binary for this device");
  EXPECT_ERROR(kiln_prepare_library(nullptr, kiln_cpu_device()), KILN_ERROR_INVALID_ARGUMENT,
               "library is null");
  EXPECT_ERROR(kiln_prepare(&library.entry, kiln_device{}), KILN_ERROR_INVALID_ARGUMENT,
               "no driver");
}

} // namespace
