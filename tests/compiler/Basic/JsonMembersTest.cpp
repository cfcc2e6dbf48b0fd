// Texts of any depth are read or refused.

#include "compiler/Basic/JsonMembers.h"
#include <gtest/gtest.h>

namespace kiln {
namespace {

std::string errorOf(llvm::StringRef text) {
  auto value = parseJson(text);
  return value ? "" : llvm::toString(value.takeError());
}

std::string nested(size_t levels) {
  return std::string(levels, '[') + "1" + std::string(levels, ']');
}

TEST(JsonMembers, ReadsWhatIsNestedALittle) {
  EXPECT_EQ(errorOf(nested(64)), "");
  EXPECT_EQ(errorOf("[" + nested(63) + "," + nested(63) + "]"), "");
}

TEST(JsonMembers, RefusesWhatIsNestedDeeply) {
  const std::string tooDeep = "its JSON is nested more than 64 levels deep";
  EXPECT_EQ(errorOf(nested(65)), tooDeep);
  EXPECT_EQ(errorOf(std::string(1 << 22, '[')), tooDeep);
  std::string objects;
  for (int level = 0; level < 1 << 20; ++level)
    objects += "{\"a\":";
  EXPECT_EQ(errorOf(objects), tooDeep);
}

TEST(JsonMembers, LevelsInStringsAreNone) {
  std::string brackets(100, '[');
  EXPECT_EQ(errorOf("[\"" + brackets + "\"]"), "");
  EXPECT_EQ(errorOf("[\"\\\"" + brackets + "\"]"), "");
  EXPECT_EQ(errorOf("[\"\\\\\"," + brackets), "its JSON is nested more than 64 levels deep");
}

/// Names outlive their visit: the error is put together afterwards.
TEST(JsonMembers, ErrorsNameMembersOfAnyName) {
  const std::string name = "a name that no string holds by itself";
  auto value = llvm::cantFail(parseJson("{\"" + name + "\": \"text\"}"));
  llvm::json::Path::Root root("root");
  JsonMembers members(value, root);
  int64_t number = 0;
  members.names([&](llvm::StringRef one) { members.read(one, number); });
  EXPECT_FALSE(members.isGood());
  EXPECT_NE(llvm::toString(root.getError()).find("root." + name), std::string::npos);
}

TEST(JsonMembers, SaysWhatIsNoJson) {
  EXPECT_EQ(errorOf("]").find("it is not JSON: "), 0u);
  EXPECT_EQ(errorOf("\"[").find("it is not JSON: "), 0u);
}

} // namespace
} // namespace kiln
