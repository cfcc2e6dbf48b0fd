// kiln_describe: a library's records as JSON. What generated libraries add is tested in
// tests/codegen.
#include "tests/runtime/TestLibrary.h"

using namespace kiln;
using namespace kiln::test;

namespace {

// The text, asked for as programs do: its size first.
std::string describe(const TestLibrary &library) {
  size_t size = 0;
  EXPECT_OK(kiln_describe(&library.library, nullptr, 0, &size));
  std::string text(size, '?');
  size_t again = 0;
  EXPECT_OK(kiln_describe(&library.library, text.data(), size, &again));
  EXPECT_EQ(again, size);
  EXPECT_EQ(text.find('\0'), size - 1);
  return text.substr(0, size - 1);
}

const std::string Version = std::to_string(KILN_ABI_VERSION);

TEST(DescribeTest, HasTheRecords) {
  TestLibrary library({cubin("sm_90a"), {KILN_DRIVER_CPU, KILN_FORM_HOST, "x86-64-v3", "+f16c"}});
  library.addVariant("BLOCK=64", {{"x", KILN_PARAM_POINTER, 8, 0}, {"n", KILN_PARAM_BF16, 2, 8}});
  library.addVariant("BLOCK=128");
  library.binary(0, 0).cluster[0] = 2;
  library.binary(0, 0).shared_bytes = 4096;
  library.binary(0, 0).flags = KILN_LAUNCH_PDL;
  library.binary(0, 0).size = 1234567890123;
  library.binary(1, 0) = {};
  library.binary(1, 1).host = [](void *const *, const uint32_t *, const uint32_t *, void *) {};
  library.binary(1, 1).arena_bytes = 64;
  EXPECT_EQ(
      describe(library),
      R"({"library":"test_kernels","abi_version":)" + Version +
          R"(,"entries":[{"name":"axpy",)"
          R"("targets":[{"driver":"cuda","arch":"sm_90a","features":null,"form":"cubin"},)"
          R"({"driver":"cpu","arch":"x86-64-v3","features":"+f16c","form":"host"}],)"
          R"("variants":[{"id":null,"name":"BLOCK=64","parameters":[)"
          R"({"name":"x","kind":"pointer","size":8,"offset":0},)"
          R"({"name":"n","kind":"bf16","size":2,"offset":8}],"binaries":[{"target":0,)"
          R"("bytes":1234567890123,"threads":128,"shared_bytes":4096,"cluster":[2,1,1],"arena_bytes":0,)"
          R"("scratch_bytes":0,"cooperative":false,"programmatic_dependent_launch":true,)"
          R"("tensor_maps":[]}]},{"id":null,"name":"BLOCK=128","parameters":[],"binaries":[{"target":1,)"
          R"("bytes":0,"threads":0,"shared_bytes":0,"cluster":[1,1,1],"arena_bytes":64,)"
          R"("scratch_bytes":0,"cooperative":false,"programmatic_dependent_launch":false,)"
          R"("tensor_maps":[]}]}]}]})");
}

TEST(DescribeTest, HasTheFallbackAndTheTensorMaps) {
  TestLibrary library({cubin("sm_90a")});
  library.addVariant("v", matrixParams(), {matrixMap()});
  library.addFallback().threads = 64;
  std::string text = describe(library);
  EXPECT_NE(text.find(R"("tensor_maps":["A"],"fallback":{"bytes":)"), std::string::npos) << text;
  EXPECT_NE(text.find(R"("threads":64)"), std::string::npos) << text;
}

TEST(DescribeTest, HasWhatTheEntryTakesAndItsVariantsRelyOn) {
  TestLibrary library({cubin("sm_90a")});
  library.addVariant("first");
  library.addVariant("second");
  const kiln_argument arguments[] = {{"x", "*fp16"}, {"n", "i32"}};
  std::vector<const char *> conditions(65, "n > 0");
  conditions[64] = "x divisible by 16";
  const uint64_t needs[] = {1, 0, 0, 1};
  const char *const constants[] = {"{}", R"({"BLOCK":64,"MODE":"a \"b\""})"};
  const kiln_signature signature = {arguments, conditions.data(), needs, 2, 65, constants};
  library.entry.signature = &signature;
  std::string text = describe(library);
  for (
      const char *part :
      {R"("name":"axpy","arguments":[{"name":"x","type":"*fp16"},{"name":"n","type":"i32"}],)",
       R"("name":"first","constants":{},"relies_on":["n > 0"],)",
       R"("name":"second","constants":{"BLOCK":64,"MODE":"a \"b\""},"relies_on":["x divisible by 16"],)"})
    EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(DescribeTest, EscapesWhatJsonWants) {
  TestLibrary library({cubin("sm_90a")});
  library.addVariant("a\"b\\c\n\x1f\xc3\xa9");
  EXPECT_NE(describe(library).find(R"("name":"a\"b\\c\u000a\u001fé")"), std::string::npos)
      << describe(library);
}

// Binaries whose bytes are not in the program are told of like others.
TEST(DescribeTest, FramesAndPacks) {
  kiln_pack_state state = {};
  const kiln_pack pack = {"test.sm_90a.kpack", "0123456789abcdef0123456789abcdef", 4711, &state};
  const kiln_pack *packs = &pack;
  const kiln_frame frame = {nullptr, 10, 10, nullptr, &pack, 64, 0};
  TestLibrary library({cubin("sm_90a")}); // gives back what these have when it ends
  library.addVariant("v");
  library.binary().data = nullptr;
  library.binary().frame = &frame;
  library.library.packs = &packs;
  library.library.num_packs = 1;
  std::string buffer(4096, '\0');
  ASSERT_OK(kiln_describe(&library.library, buffer.data(), buffer.size(), nullptr));
  EXPECT_NE(buffer.find(R"("binaries":[{"target":0,)"), std::string::npos) << buffer;
  EXPECT_NE(buffer.find(R"("packs":[{"file":"test.sm_90a.kpack",)"
                        R"("identity":"0123456789abcdef0123456789abcdef","bytes":4711}]})"),
            std::string::npos)
      << buffer;
}

TEST(DescribeTest, WritesAllOrNothing) {
  TestLibrary library({cubin("sm_90a")});
  library.addVariant("v");
  size_t size = 0;
  ASSERT_OK(kiln_describe(&library.library, nullptr, 0, &size));
  for (size_t capacity : {size_t(0), size_t(1), size - 1}) {
    std::string buffer(size + 1, '?');
    size_t needed = 0;
    EXPECT_ERROR(kiln_describe(&library.library, buffer.data(), capacity, &needed),
                 KILN_ERROR_INVALID_ARGUMENT,
                 "has " + std::to_string(size) + " bytes, the buffer " + std::to_string(capacity));
    EXPECT_EQ(needed, size);
    EXPECT_EQ(buffer[0], capacity ? '\0' : '?');
    EXPECT_EQ(buffer.find_first_not_of('?', capacity), std::string::npos);
  }
  EXPECT_ERROR(kiln_describe(&library.library, nullptr, 5, &size), KILN_ERROR_INVALID_ARGUMENT,
               "the buffer is null");
  EXPECT_ERROR(kiln_describe(&library.library, nullptr, 0, nullptr), KILN_ERROR_INVALID_ARGUMENT,
               "the result is null");
  EXPECT_ERROR(kiln_describe(nullptr, nullptr, 0, &size), KILN_ERROR_INVALID_ARGUMENT,
               "the library is null");
  library.library.abi_version = KILN_ABI_VERSION - 1;
  EXPECT_EQ(kiln_describe(&library.library, nullptr, 0, &size), KILN_ERROR_ABI);
  library.library.abi_version = KILN_ABI_VERSION;
}

} // namespace
