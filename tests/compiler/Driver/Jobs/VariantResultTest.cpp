// What a worker process hands to the driver arrives whole.
#include "compiler/Driver/Jobs/VariantResult.h"
#include "llvm/Support/Base64.h"
#include <gtest/gtest.h>

namespace kiln {
namespace {

TEST(VariantResult, TensorMapsCrossFromTheWorker) {
  TensorMapFacts map;
  map.name = "a \"quoted\" \xff";
  map.base = 3;
  map.element = TensorMapElement::BF16;
  map.extents = {{5}, {std::nullopt, int64_t(1) << 33}, {0}};
  map.strides = {{6, 64, 7}, {std::nullopt, -8}};
  map.box = {1, 128, 64};
  map.swizzleBytes = 128;
  map.fillsWithNaN = true;
  VariantResult result;
  result.binary.emplace();
  result.binary->launch.threadsPerBlock = 384;
  result.binary->launch.arenaBytes = 17;
  result.binary->launch.waitsForEarlier = true;
  result.binary->launch.tensorMaps = {map, TensorMapFacts()};
  result.binary->launch.tensorMaps[1].isWritten = true;

  std::optional<VariantResult> read = deserialize(serialize(result));
  ASSERT_TRUE(read && read->binary);
  const LaunchFacts &launch = read->binary->launch;
  EXPECT_EQ(launch.threadsPerBlock, 384u);
  EXPECT_EQ(launch.arenaBytes, 17u);
  EXPECT_TRUE(launch.waitsForEarlier);
  EXPECT_FALSE(launch.isCooperative);
  ASSERT_EQ(launch.tensorMaps.size(), 2u);
  const TensorMapFacts &first = launch.tensorMaps[0];
  EXPECT_EQ(first.name, map.name);
  EXPECT_EQ(first.base, 3u);
  EXPECT_EQ(first.element, TensorMapElement::BF16);
  ASSERT_EQ(first.extents.size(), 3u);
  EXPECT_EQ(first.extents[0].parameter, 5u);
  EXPECT_EQ(first.extents[1].parameter, std::nullopt);
  EXPECT_EQ(first.extents[1].constant, int64_t(1) << 33);
  EXPECT_EQ(first.extents[2].parameter, 0u);
  EXPECT_EQ(first.extents[2].constant, 1);
  EXPECT_EQ(first.extents[2].factor, std::nullopt);
  ASSERT_EQ(first.strides.size(), 2u);
  EXPECT_EQ(first.strides[0].parameter, 6u);
  EXPECT_EQ(first.strides[0].constant, 64);
  EXPECT_EQ(first.strides[0].factor, 7u);
  EXPECT_EQ(first.strides[1].constant, -8);
  EXPECT_EQ(first.box, map.box);
  EXPECT_EQ(first.swizzleBytes, 128u);
  EXPECT_TRUE(first.fillsWithNaN);
  EXPECT_FALSE(first.isWritten);
  EXPECT_TRUE(launch.tensorMaps[1].isWritten);
}

TEST(VariantResult, FallbacksCrossFromTheWorker) {
  DeviceBinary fallback;
  fallback.symbol = "other";
  fallback.bytes = {1, 0, -1};
  fallback.launch.threadsPerBlock = 256;
  fallback.resources.registers = 200;
  VariantResult result;
  result.binary.emplace();
  result.binary->symbol = "kernel";
  ASSERT_TRUE(deserialize(serialize(result)));
  EXPECT_FALSE(deserialize(serialize(result))->binary->fallback);
  result.binary->fallback = std::make_shared<const DeviceBinary>(fallback);

  std::optional<VariantResult> read = deserialize(serialize(result));
  ASSERT_TRUE(read && read->binary && read->binary->fallback);
  EXPECT_EQ(read->binary->symbol, "kernel");
  const DeviceBinary &arrived = *read->binary->fallback;
  EXPECT_EQ(arrived.symbol, "other");
  EXPECT_EQ(arrived.bytes, fallback.bytes);
  EXPECT_EQ(arrived.launch.threadsPerBlock, 256u);
  EXPECT_EQ(arrived.resources.registers, 200u);
  EXPECT_FALSE(arrived.fallback);
}

// Bytes of a damaged cache, or of a piece that somebody else has made.
TEST(VariantResult, IsRefusedWhereItIsNotWhole) {
  VariantResult result;
  result.binary.emplace();
  result.binary->format = BinaryFormat::Cubin;
  result.binary->launch.tensorMaps = {TensorMapFacts()};
  result.diagnostics = {{Severity::Warning, "text", "{\"kind\": \"k\"}", "key"}};
  result.doesNotFitNotes = {{DiagKind::DriverTool, "text", "a.py", 1, 2}};
  const std::string whole = serialize(result);
  ASSERT_TRUE(deserialize(whole));
  auto with = [&](llvm::StringRef from, llvm::StringRef to) {
    auto [before, after] = llvm::StringRef(whole).split(from);
    EXPECT_NE(before.size(), whole.size()) << from.str();
    return deserialize((before + to + after).str()).has_value();
  };
  EXPECT_TRUE(with("\"severity\":1", "\"severity\":2"));
  EXPECT_FALSE(with("\"severity\":1", "\"severity\":3"));
  EXPECT_FALSE(with("\"severity\":1", "\"severity\":-1"));
  EXPECT_FALSE(with("\"format\":0", "\"format\":4"));
  EXPECT_FALSE(with("\"element\":0", "\"element\":99"));
  EXPECT_FALSE(with("\"kind\":", "\"kind\":65535"));
  EXPECT_FALSE(with(llvm::encodeBase64(result.diagnostics[0].json),
                    llvm::encodeBase64(llvm::StringRef("[]"))));
  EXPECT_FALSE(with("\"fallback\":[]", "\"fallback\":{}"));
  // The reader that LLVM has would go down until the stack ends.
  EXPECT_FALSE(deserialize(std::string(10000000, '[')));
  EXPECT_FALSE(with("\"fallback\":[]", "\"fallback\":" + std::string(100000, '[')));
}

} // namespace
} // namespace kiln
