// Shapes that a program was called with: counted when asked for, by key and conditions, misses too.
#include "test_kernels.h"
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <thread>

namespace {

class SeenShapes : public ::testing::Test {
protected:
  void TearDown() override { EXPECT_EQ(kiln_unload(&test_kernels_library), KILN_SUCCESS); }

  std::string path = ::testing::TempDir() + "/shapes.json";

  std::string dump() {
    EXPECT_EQ(kiln_dump_shapes(&test_kernels_library, path.c_str()), KILN_SUCCESS)
        << kiln_last_error();
    std::stringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
  }
  /// `tuned` counts by n.
  static void call(int32_t n, bool isAligned = true) {
    alignas(16) static float x[8192], y[8192];
    EXPECT_EQ(tuned(kiln_cpu_stream(nullptr), x + !isAligned, y + !isAligned, n, 0.0f),
              KILN_SUCCESS)
        << kiln_last_error();
  }
  static size_t occurrences(const std::string &text, const std::string &part) {
    size_t count = 0;
    for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
      ++count;
    return count;
  }
};

TEST_F(SeenShapes, NothingIsCountedUnlessAsked) {
  call(100);
  EXPECT_EQ(dump(), "{\"kiln_shapes\": 1, \"library\": \"test_kernels\", \"entries\": []}\n");
  ASSERT_EQ(kiln_count_shapes(&test_kernels_library, 0), KILN_SUCCESS);
  call(100);
  EXPECT_EQ(occurrences(dump(), "\"shape\""), 0u);
}

TEST_F(SeenShapes, CallsAreCountedByKeyAndConditions) {
  ASSERT_EQ(kiln_count_shapes(&test_kernels_library, 1), KILN_SUCCESS);
  for (int i = 0; i < 3; ++i)
    call(4000);
  call(16);
  call(16, /*isAligned=*/false);
  std::string text = dump();
  EXPECT_EQ(occurrences(text, "{\"shape\": {\"n\": 16}"), 2u) << text;
  EXPECT_NE(text.find("{\"shape\": {\"n\": 4000}, \"conditions\": [\"0x3\"], \"calls\": 3, "
                      "\"misses\": 0}"),
            std::string::npos)
      << text;
  EXPECT_LT(text.find("\"n\": 16}"), text.find("\"n\": 4000}"));
  // It can be stopped and go on.
  ASSERT_EQ(kiln_count_shapes(&test_kernels_library, 0), KILN_SUCCESS);
  call(4000);
  EXPECT_EQ(dump(), text);
  ASSERT_EQ(kiln_count_shapes(&test_kernels_library, 1), KILN_SUCCESS);
  call(4000);
  EXPECT_NE(dump().find("\"calls\": 4"), std::string::npos);
}

TEST_F(SeenShapes, ThreadsCountTogether) {
  ASSERT_EQ(kiln_count_shapes(&test_kernels_library, 1), KILN_SUCCESS);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([] {
      for (int i = 0; i < 200; ++i)
        call(1 + i % 50);
    });
  for (std::thread &thread : threads)
    thread.join();
  std::string text = dump();
  EXPECT_EQ(occurrences(text, "\"calls\": 16, "), 50u) << text;
}

TEST_F(SeenShapes, AFileThatCannotBeWrittenIsAStatus) {
  EXPECT_EQ(kiln_dump_shapes(&test_kernels_library, "/nowhere/shapes"),
            KILN_ERROR_INVALID_ARGUMENT);
  EXPECT_NE(std::string(kiln_last_error()).find("cannot be written"), std::string::npos);
  EXPECT_EQ(kiln_dump_shapes(&test_kernels_library, nullptr), KILN_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(kiln_dump_shapes(nullptr, path.c_str()), KILN_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(kiln_count_shapes(nullptr, 1), KILN_ERROR_INVALID_ARGUMENT);
}

} // namespace
