// Files of pieces are read back whole, or not at all.
#include "compiler/Driver/PieceFile.h"
#include <gtest/gtest.h>

namespace kiln {
namespace {

PieceFile sample() {
  PieceFile file;
  file.tool = "kiln 1";
  file.options = "-O2 --path-map=/a b=\"c\"";
  file.sources = {{"../a.py", sha256Of("a")}, {"b.py", sha256Of("b")}};
  VariantResult compiled, dropped;
  compiled.binary.emplace();
  compiled.binary->symbol = "kernel";
  compiled.binary->bytes = {0, -1, '\n', 'x'};
  compiled.filesRead = {{"b.py", sha256Of("b")}};
  dropped.doesNotFit = "too much shared memory";
  file.pieces = {{"k@cpu@0", "recipe", compiled}, {"k@cpu@1", "other", dropped}};
  return file;
}

bool isRefused(llvm::StringRef bytes) {
  llvm::Expected<PieceFile> file = readPieceFile(bytes);
  if (file)
    return false;
  llvm::consumeError(file.takeError());
  return true;
}

std::string withHash(const std::string &document) {
  return "kiln pieces 1 " + sha256Of(document) + "\n" + document;
}

TEST(PieceFile, IsReadBackWhole) {
  std::string bytes = writePieceFile(sample());
  EXPECT_EQ(bytes, writePieceFile(sample()));
  llvm::Expected<PieceFile> file = readPieceFile(bytes);
  ASSERT_TRUE(bool(file)) << llvm::toString(file.takeError());
  EXPECT_EQ(file->tool, sample().tool);
  EXPECT_EQ(file->options, sample().options);
  ASSERT_EQ(file->sources.size(), 2u);
  EXPECT_EQ(file->sources[0].path, "../a.py");
  EXPECT_EQ(file->sources[1].sha256, sha256Of("b"));
  ASSERT_EQ(file->pieces.size(), 2u);
  EXPECT_EQ(file->pieces[0].name, "k@cpu@0");
  EXPECT_EQ(file->pieces[0].recipe, "recipe");
  ASSERT_TRUE(file->pieces[0].result.binary.has_value());
  EXPECT_EQ(file->pieces[0].result.binary->bytes, sample().pieces[0].result.binary->bytes);
  EXPECT_EQ(file->pieces[0].result.filesRead[0].path, "b.py");
  EXPECT_FALSE(file->pieces[1].result.binary.has_value());
  EXPECT_EQ(file->pieces[1].result.doesNotFit, "too much shared memory");
}

TEST(PieceFile, IsRefusedWhereAnyByteIsNotWhatItWas) {
  const std::string bytes = writePieceFile(sample());
  for (size_t i = 0; i < bytes.size(); ++i) {
    EXPECT_TRUE(isRefused(llvm::StringRef(bytes).take_front(i))) << i;
    std::string damaged = bytes;
    damaged[i] ^= 1;
    EXPECT_TRUE(isRefused(damaged)) << i;
  }
  EXPECT_TRUE(isRefused(bytes + "\n"));
}

TEST(PieceFile, IsRefusedWherePartsOfTheDocumentAreMissing) {
  for (const char *document :
       {"", "{", "[]", "7", "{}", R"({"sources": [], "pieces": 3})", R"({"pieces": []})",
        R"({"sources": [3], "pieces": []})", R"({"sources": [{"path": "a"}], "pieces": []})",
        R"({"sources": [], "pieces": [{"name": "k", "recipe": "r"}]})",
        R"({"sources": [], "pieces": [{"name": "k", "recipe": "r", "result": {}}]})",
        R"({"sources": [], "pieces": [[]]})"})
    EXPECT_TRUE(isRefused(withHash(document))) << document;
  EXPECT_FALSE(isRefused(withHash(R"({"sources": [], "pieces": []})")));
}

} // namespace
} // namespace kiln
