// Indices of captures: what is written is read, and any other text is an error and never a crash.

#include "compiler/Driver/Verify/Capture.h"
#include <gtest/gtest.h>
#include <random>

namespace kiln {
namespace {

constexpr llvm::StringLiteral good = R"({"kiln_capture": 1, "recorded_on": "cpu", "launches": [
  {"function": "f", "grid": [4, 1, 2], "constants": {"BLOCK": 64}, "options": {"num_warps": 4},
   "arguments": [{"name": "x", "type": "*fp32", "storage": 0, "offset": 8, "shape": [2, 3], "strides": [3, 1]},
                 {"name": "none", "type": "*fp32", "null": true},
                 {"name": "n", "type": "i32", "value": -7}, {"name": "m", "type": "u64", "value": 18446744073709551615},
                 {"name": "eps", "type": "fp32", "bits": "0x3f800000"}],
   "storages": [{"bytes": 32, "type": "u8", "before": "f/0.before.npy", "after": "f/0.after.npy", "pointers": [[24, 0, 32]]}]}]})";

std::string errorOf(llvm::StringRef text) {
  auto launches = readCaptureIndex(text);
  return launches ? "" : llvm::toString(launches.takeError());
}

/// `good` with its first `from` replaced.
std::string with(llvm::StringRef from, llvm::StringRef to) {
  auto [before, after] = good.split(from);
  EXPECT_NE(before.size(), good.size()) << from.str();
  return (before + to + after).str();
}

TEST(Capture, ReadsALaunch) {
  auto launches = readCaptureIndex(good);
  ASSERT_TRUE(bool(launches)) << llvm::toString(launches.takeError());
  const CapturedLaunch &launch = launches->at(0);
  EXPECT_EQ(launch.function, "f");
  EXPECT_EQ(launch.grid, (std::array<int64_t, 3>{4, 1, 2}));
  EXPECT_EQ(launch.constants.at(0), (std::pair<std::string, int64_t>("BLOCK", 64)));
  const CapturedArgument &x = launch.arguments.at(0);
  EXPECT_EQ(x.storage, 0u);
  EXPECT_EQ(x.offset, 8u);
  EXPECT_EQ(x.shape, (std::vector<int64_t>{2, 3}));
  EXPECT_FALSE(launch.arguments[1].storage);
  EXPECT_EQ(int64_t(launch.arguments[2].bits), -7);
  EXPECT_EQ(launch.arguments[3].bits, UINT64_MAX);
  EXPECT_EQ(launch.arguments[4].bits, 0x3f800000u);
  EXPECT_EQ(launch.storages.at(0).after, "f/0.after.npy");
  EXPECT_EQ(launch.storages[0].pointers.at(0).offset, 32u);
}

TEST(Capture, SaysWhatIsWrong) {
  EXPECT_NE(errorOf("{").find("it is not JSON"), std::string::npos);
  EXPECT_EQ(errorOf(std::string(1 << 20, '[')), "its JSON is nested more than 64 levels deep");
  EXPECT_EQ(errorOf("[]"), "it is no capture of kiln record");
  EXPECT_EQ(errorOf(with("\"kiln_capture\": 1", "\"kiln_capture\": 9")),
            "the capture has version 9, this Kiln reads version 1");
  const std::pair<std::string, std::string> cases[] = {
      {with("\"launches\": [", "\"launches\": {\"a\": ") + "}", "not JSON"},
      {with("[4, 1, 2]", "[4, 1]"), "expected three numbers"},
      {with("[4, 1, 2]", "4"), "grid"},
      {with("\"function\": \"f\"", "\"function\": 3"), "function"},
      {with("f/0.before.npy", "/etc/passwd"), "a file in the capture's folder"},
      {with("f/0.before.npy", "f/../../x.npy"), "a file in the capture's folder"},
      {with("f/0.before.npy", ""), "a file in the capture's folder"},
      {with("\"storage\": 0", "\"storage\": 1"), "expected places in the launch's storages"},
      {with("\"offset\": 8", "\"offset\": 33"), "expected places in the launch's storages"},
      {with("\"offset\": 8", "\"offset\": -1"), "offset"},
      {with("[[24, 0, 32]]", "[[24, 3, 0]]"), "expected pointers to places"},
      {with("[[24, 0, 32]]", "[[25, 0, 0]]"), "a place of eight bytes"},
      {with("[[24, 0, 32]]", "[[32, 0, 0]]"), "a place of eight bytes"},
      {with("[[24, 0, 32]]", "[[24, 0]]"), "a place of eight bytes"},
      {with("\"strides\": [3, 1]", "\"strides\": [3]"), "as many as there are extents"},
      {with("\"0x3f800000\"", "\"one\""), "expected a hexadecimal number"},
      {with("\"value\": -7", "\"values\": -7"), "value"},
      {with("\"bytes\": 32", "\"bytes\": \"many\""), "bytes"}};
  for (const auto &[text, wanted] : cases)
    EXPECT_NE(errorOf(text).find(wanted), std::string::npos) << text << "\n" << errorOf(text);
}

TEST(Capture, SurvivesDamage) {
  for (size_t end = 0; end < good.size(); ++end)
    EXPECT_NE(errorOf(good.take_front(end)), "");
  std::mt19937 random(1);
  for (unsigned round = 0; round < 20000; ++round) {
    std::string text = good.str();
    for (unsigned edits = 1 + random() % 4; edits > 0; --edits)
      text[random() % text.size()] = "0123456789-[]{}\",:.nulltrue/\xff"[random() % 30];
    errorOf(text);
  }
}

} // namespace
} // namespace kiln
