// Lines, columns and the life of source files.
#include "compiler/Basic/SourceManager.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace kiln {
namespace {

TEST(SourceManager, CountsLinesAndColumnsFromOne) {
  SourceManager sources;
  const SourceFile &file = sources.add("a.py", "ab\ncd\n");
  EXPECT_EQ(file.getNumLines(), 3u);
  EXPECT_EQ(file.getLineColumn(0).line, 1u);
  EXPECT_EQ(file.getLineColumn(0).column, 1u);
  EXPECT_EQ(file.getLineColumn(4).line, 2u);
  EXPECT_EQ(file.getLineColumn(4).column, 2u);
  EXPECT_EQ(file.getLineColumn(6).line, 3u);
  EXPECT_EQ(file.getLineColumn(1000).line, 3u);
}

TEST(SourceManager, KnowsAllLineEnds) {
  SourceManager sources;
  const SourceFile &file = sources.add("a.py", "unix\nwindows\r\nold mac\rlast");
  EXPECT_EQ(file.getLine(1), "unix");
  EXPECT_EQ(file.getLine(2), "windows");
  EXPECT_EQ(file.getLine(3), "old mac");
  EXPECT_EQ(file.getLine(4), "last");
  EXPECT_EQ(file.getLine(5), "");
  EXPECT_EQ(file.getLine(0), "");
}

TEST(SourceManager, FindsOffsetsOfLinesAndColumns) {
  SourceManager sources;
  const SourceFile &file = sources.add("a.py", "ab\ncde\n");
  for (uint32_t offset = 0; offset <= 7; ++offset)
    EXPECT_EQ(file.getOffset(file.getLineColumn(offset)), offset);
  EXPECT_EQ(file.getOffset({1, 99}), 2u) << "clamped to the line";
  EXPECT_EQ(file.getOffset({99, 1}), 7u) << "clamped to the file";
  EXPECT_EQ(file.getOffset({0, 0}), 0u);
}

TEST(SourceManager, GivesTheTextOfARange) {
  SourceManager sources;
  const SourceFile &file = sources.add("a.py", "x = tl.zeros");
  EXPECT_EQ(file.getText({file.getId(), 4, 6}), "tl");
  EXPECT_EQ(file.getText({file.getId(), 4, 600}), "tl.zeros");
}

TEST(SourceManager, LoadsAFileOnce) {
  std::string path = testing::TempDir() + "/loaded.py";
  std::ofstream(path) << "x = 1\n";
  SourceManager sources;
  auto first = sources.load(path, "printed.py");
  auto second = sources.load(path, "printed.py");
  ASSERT_TRUE(first && second);
  EXPECT_EQ(*first, *second);
  EXPECT_EQ((*first)->getPath(), "printed.py");
  EXPECT_EQ((*first)->getContents(), "x = 1\n");
  EXPECT_EQ(sources.find("printed.py"), *first);
  EXPECT_EQ(sources.find(path), nullptr);
}

TEST(SourceManager, FailsAsTheFileSystemDoes) {
  SourceManager sources;
  auto missing = sources.load(testing::TempDir() + "/no/such.py");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.getError(), std::errc::no_such_file_or_directory);
}

TEST(SourceManager, MayBeReadWhileFilesAreAdded) {
  SourceManager sources;
  const SourceFile &first = sources.add("first.py", "one\ntwo\n");
  std::thread writer([&] {
    for (int i = 0; i < 500; ++i)
      sources.add("more" + std::to_string(i), "text");
  });
  for (int i = 0; i < 500; ++i) {
    EXPECT_EQ(&sources.get(first.getId()), &first);
    EXPECT_EQ(first.getLineColumn(5).line, 2u);
  }
  writer.join();
}

TEST(SourceManager, ReadsRegularFilesOnly) {
  std::string pipe = testing::TempDir() + "/source_pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  SourceManager sources;
  EXPECT_EQ(sources.load(pipe).getError().message(), "not a regular file");
  EXPECT_EQ(sources.load("/dev/zero").getError().message(), "not a regular file");
  EXPECT_EQ(sources.load(testing::TempDir()).getError(), std::errc::is_a_directory);
  std::string large = testing::TempDir() + "/source_large";
  std::ofstream(large) << "x";
  ASSERT_EQ(truncate(large.c_str(), off_t(SourceManager::maxFileSize) + 1), 0);
  EXPECT_EQ(sources.load(large).getError(), std::errc::file_too_large);
  EXPECT_EQ(sources.getNumFiles(), 0u);
}

} // namespace
} // namespace kiln
