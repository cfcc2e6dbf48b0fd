// What libraries say of themselves is read, and any other text is an error.

#include "compiler/Driver/Verify/LibraryDescription.h"
#include <gtest/gtest.h>

namespace kiln {
namespace {

constexpr llvm::StringLiteral good = R"({"library": "l", "abi_version": 9, "entries": [
  {"name": "f", "targets": [{"driver": "cpu", "arch": "x86-64-v3", "features": "+f16c", "form": "host"}],
   "arguments": [{"name": "grid_x", "type": "u32"}, {"name": "grid_y", "type": "u32"}, {"name": "grid_z", "type": "u32"},
                 {"name": "x", "type": "*kfp16"}, {"name": "t", "type": "bf16 tensor of rank 2"}, {"name": "n", "type": "i32"}],
   "variants": [{"id": "5f0c9e21d3aa", "name": "BLOCK=32, num_warps=4", "constants":
      {"BLOCK": 64, "SHIFT": -2, "MODE": "fast", "EVEN": true, "SCALE": 0.5, "dtype": {"dtype": "fp16"}, "NONE": null, "shape": [1, 2]}}, {"name": "default", "constants": {}}]},
  {"name": "g", "targets": [], "arguments": [{"name": "grid_x", "type": "u32"}, {"name": "y", "type": "**fp32"}], "variants": []}]})";

LibraryDescription read(llvm::StringRef text) {
  return llvm::cantFail(readLibraryDescription(text));
}

std::string errorOf(llvm::StringRef from, llvm::StringRef to) {
  auto [before, after] = good.split(from);
  EXPECT_NE(before.size(), good.size()) << from.str();
  auto description = readLibraryDescription((before + to + after).str());
  return description ? "" : llvm::toString(description.takeError());
}

TEST(LibraryDescription, ReadsFunctions) {
  LibraryDescription description = read(good);
  ASSERT_EQ(description.entries.size(), 2u);
  const EntryModel &f = description.entries[0];
  EXPECT_EQ(f.name, "f");
  EXPECT_TRUE(description.hasCallersGrid[0]);
  ASSERT_EQ(description.targets[0].size(), 1u);
  EXPECT_EQ(description.targets[0][0].driver + ":" + description.targets[0][0].arch,
            "cpu:x86-64-v3");
  std::vector<std::string> names;
  for (const EntryArgument &argument : f.arguments)
    names.push_back(argument.name + " " + argument.type.spelling());
  EXPECT_EQ(names, (std::vector<std::string>{"x *kfp16", "t *bf16", "t_shape_0 i32",
                                             "t_shape_1 i32", "t_stride_0 i64", "n i32"}));
  ASSERT_EQ(f.descriptors.size(), 1u);
  EXPECT_EQ(f.descriptors[0].first, 1u);
  EXPECT_EQ(callerType(f, 1), "bf16 tensor of rank 2");
}

TEST(LibraryDescription, ReadsIntegerConstants) {
  const VariantModel variant = read(good).entries[0].variants.at(0);
  EXPECT_EQ(findConstant(variant, "BLOCK"), 64);
  EXPECT_EQ(findConstant(variant, "SHIFT"), -2);
  EXPECT_EQ(findConstant(variant, "EVEN"), 1);
  EXPECT_EQ(variant.constants.size(), 3u);
  EXPECT_TRUE(read(good).entries[0].variants.at(1).constants.empty());
}

TEST(LibraryDescription, TakesAKernelsOwnGridSizeAsArgument) {
  LibraryDescription description = read(good);
  EXPECT_FALSE(description.hasCallersGrid[1]);
  EXPECT_EQ(description.entries[1].arguments.at(0).name, "grid_x");
}

TEST(LibraryDescription, SaysWhatIsWrong) {
  const std::array<llvm::StringRef, 3> cases[] = {
      {"{", "", "end of document"},
      {"\"entries\"", "\"entrances\"", "entries"},
      {"\"name\": \"f\"", "\"name\": 3", "name"},
      {"\"arguments\"", "\"parameters\"", "arguments"},
      {"*kfp16", "*kfp61", "expected types that functions take"},
      {"bf16 tensor of rank 2", "bf16 tensor of rank 9", "expected types that functions take"},
      {"bf16 tensor of rank 2", "bf61 tensor of rank 2", "expected types that functions take"},
      {"bf16 tensor of rank 2", "tensordesc<fp16>[8]", "expected types that functions take"},
      {"{\"BLOCK\"", "[{\"BLOCK\"", "Expected"},
      {"\"constants\": {}", "\"constants\": []",
       "expected an object at library.entries[0].variants[1].constants"},
      {"\"driver\": \"cpu\"", "\"driver\": null", "driver"}};
  for (const auto &[from, to, wanted] : cases)
    EXPECT_NE(errorOf(from, to).find(wanted), std::string::npos) << errorOf(from, to);
  EXPECT_FALSE(bool(llvm::expectedToOptional(readLibraryDescription("[]"))));
}

} // namespace
} // namespace kiln
