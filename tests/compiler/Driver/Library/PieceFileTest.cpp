// Files of pieces are read back whole, or not at all.
#include "compiler/Driver/Library/PieceFile.h"
#include <gtest/gtest.h>
#include <random>

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

/// Bytes that are not those of a build, under a hash that is right: they are refused, or are pieces
/// that can be written and read again.
TEST(PieceFile, WhateverTheDocumentHoldsIsReadOrRefused) {
  PieceFile file = sample();
  DeviceBinary &binary = *file.pieces[0].result.binary;
  TensorMapFacts map;
  map.name = "a";
  map.extents = {{5}, {std::nullopt, 64}};
  map.strides = {{6, 64, 7}};
  map.box = {128, 64};
  binary.launch.tensorMaps = {map};
  binary.fallback = std::make_shared<const DeviceBinary>(*sample().pieces[0].result.binary);
  std::string bytes = writePieceFile(file), good = bytes.substr(bytes.find('\n') + 1);
  ASSERT_FALSE(isRefused(withHash(good)));
  std::mt19937 random(7);
  int read = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string text = good;
    for (unsigned edit = 0; edit < 1 + random() % 3; ++edit) {
      size_t at = random() % text.size();
      switch (random() % 3) {
      case 0:
        text[at] = "{}[]\":,0159.eE-\\ntf=\xff"[random() % 21];
        break;
      case 1:
        text.erase(at, 1 + random() % 40);
        break;
      case 2:
        text.insert(at, text.substr(random() % text.size(), random() % 40));
        break;
      }
    }
    llvm::Expected<PieceFile> changed = readPieceFile(withHash(text));
    if (!changed) {
      llvm::consumeError(changed.takeError());
      continue;
    }
    ++read;
    EXPECT_FALSE(isRefused(writePieceFile(*changed))) << text;
  }
  EXPECT_GT(read, 100);
}

} // namespace
} // namespace kiln
