#include "codegen/OutputSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <csignal>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <set>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;

namespace kiln {
namespace {

class OutputTransactionTest : public ::testing::Test {
protected:
  void SetUp() override {
    SmallString<128> path;
    ASSERT_FALSE(sys::fs::createUniqueDirectory("kiln-output", path));
    root = path.str().str();
  }
  void TearDown() override { sys::fs::remove_directories(root); }

  std::string path(StringRef name) const { return root + "/" + name.str(); }

  void write(StringRef name, StringRef text) {
    std::error_code code;
    raw_fd_ostream(path(name), code) << text;
    ASSERT_FALSE(code);
  }
  std::string read(StringRef name) const {
    auto file = MemoryBuffer::getFile(path(name));
    return file ? (*file)->getBuffer().str() : "(missing)";
  }
  /// Names in `folder`, hidden ones included.
  std::set<std::string> list(StringRef folder = "") const {
    std::set<std::string> names;
    std::error_code code;
    for (sys::fs::directory_iterator it(path(folder), code), end; it != end && !code;
         it.increment(code))
      names.insert(sys::path::filename(it->path()).str());
    return names;
  }

  std::string root;
};

std::string message(Error error) { return error ? toString(std::move(error)) : ""; }

/// Runs `body` in a child process without privileges, as root finds no folder read-only. The
/// child's exit status is the result.
int inChild(function_ref<int()> body) {
  pid_t child = fork();
  if (child == 0) {
    __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {};
    if (syscall(SYS_capset, &header, none) != 0)
      _exit(99);
    _exit(body());
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(OutputTransactionTest, WritesAllFilesIntoANewFolder) {
  EXPECT_EQ(message(writeOutputs(path("a/b"), {{"x.h", "header"}, {"x.c", "source"}})), "");
  EXPECT_EQ(read("a/b/x.h"), "header");
  EXPECT_EQ(read("a/b/x.c"), "source");
  EXPECT_EQ(list("a/b"), (std::set<std::string>{"x.c", "x.h"}));
}

TEST_F(OutputTransactionTest, ReplacesFilesAndKeepsOthers) {
  write("x.h", "old");
  write("other", "kept");
  EXPECT_EQ(message(writeOutputs(root, {{"x.h", "new"}})), "");
  EXPECT_EQ(read("x.h"), "new");
  EXPECT_EQ(read("other"), "kept");
  EXPECT_EQ(list(), (std::set<std::string>{"other", "x.h"}));
}

TEST_F(OutputTransactionTest, NothingShowsBeforeCommit) {
  write("x.h", "old");
  {
    auto transaction = OutputTransaction::begin(root);
    ASSERT_TRUE(bool(transaction));
    EXPECT_EQ(message(transaction->add({"x.h", "new"})), "");
    EXPECT_EQ(message(transaction->add({"y.h", "new"})), "");
    EXPECT_EQ(read("x.h"), "old");
  }
  EXPECT_EQ(read("x.h"), "old");
  EXPECT_EQ(list(), std::set<std::string>{"x.h"});
}

TEST_F(OutputTransactionTest, AnAbandonedOneRemovesTheFoldersThatItMade) {
  {
    auto transaction = OutputTransaction::begin(path("a/b/c"));
    ASSERT_TRUE(bool(transaction));
  }
  EXPECT_EQ(list(), std::set<std::string>{});
}

TEST_F(OutputTransactionTest, AForkedChildLeavesItAlone) {
  auto transaction = OutputTransaction::begin(root);
  ASSERT_TRUE(bool(transaction));
  EXPECT_EQ(message(transaction->add({"x", "1"})), "");
  int result = inChild([&] {
    { OutputTransaction childs = std::move(*transaction); }
    return 0;
  });
  EXPECT_EQ(result, 0);
  EXPECT_EQ(message(transaction->commit()), "");
  EXPECT_EQ(read("x"), "1");
}

TEST_F(OutputTransactionTest, WhatAKilledBuildLeftIsRemoved) {
  auto living = OutputTransaction::begin(root);
  ASSERT_TRUE(bool(living));
  std::string alive = *list().begin();
  for (const char *name : {".kiln-killed", ".kiln-young", "kiln-mine"})
    ASSERT_FALSE(sys::fs::create_directory(path(name)));
  timespec old[2] = {{1000, 0}, {1000, 0}};
  for (const std::string &name : {alive, std::string(".kiln-killed"), std::string("kiln-mine")})
    ASSERT_EQ(utimensat(AT_FDCWD, path(name).c_str(), old, 0), 0);
  EXPECT_EQ(message(writeOutputs(root, {{"x", ""}})), "");
  EXPECT_EQ(list(), (std::set<std::string>{alive, ".kiln-young", "kiln-mine", "x"}));
}

TEST_F(OutputTransactionTest, AFailedRenamePutsEverythingBack) {
  write("a.h", "old a");
  ASSERT_FALSE(sys::fs::create_directory(path("c.h")));
  write("c.h/precious", "kept");
  std::string text =
      message(writeOutputs(root, {{"a.h", "new a"}, {"b.h", "new b"}, {"c.h", "new c"}}));
  EXPECT_EQ(text, "cannot write '" + path("c.h") + "': Is a directory");
  EXPECT_EQ(read("a.h"), "old a");
  EXPECT_EQ(read("c.h/precious"), "kept");
  EXPECT_EQ(list(), (std::set<std::string>{"a.h", "c.h"}));
}

TEST_F(OutputTransactionTest, ADeviceOrAPipeStaysWhatItIs) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  write("a.h", "old");
  EXPECT_EQ(message(writeOutputs(root, {{"a.h", "new"}, {"pipe", "new"}})),
            "cannot write '" + path("pipe") + "': Operation not permitted");
  struct stat status;
  ASSERT_EQ(::lstat(path("pipe").c_str(), &status), 0);
  EXPECT_TRUE(S_ISFIFO(status.st_mode));
  EXPECT_EQ(read("a.h"), "old");
  EXPECT_EQ(list(), (std::set<std::string>{"a.h", "pipe"}));
}

TEST_F(OutputTransactionTest, AFileInPlaceOfTheFolderIsAnError) {
  write("out", "a file");
  EXPECT_NE(message(writeOutputs(path("out"), {{"x", ""}})).find("Not a directory"),
            std::string::npos);
  EXPECT_NE(message(writeOutputs(path("out/deeper"), {{"x", ""}})), "");
  EXPECT_EQ(read("out"), "a file");
}

TEST_F(OutputTransactionTest, AReadOnlyFolderIsAnErrorBeforeTheBuild) {
  ASSERT_EQ(chmod(root.c_str(), 0555), 0);
  int result = inChild([&] {
    auto transaction = OutputTransaction::begin(root);
    if (transaction)
      return 1;
    std::string text = toString(transaction.takeError());
    return text == "cannot write into '" + root + "': Permission denied" ? 0 : 2;
  });
  chmod(root.c_str(), 0755);
  EXPECT_EQ(result, 0);
}

TEST_F(OutputTransactionTest, AFullDiskLeavesNothing) {
  // A file size limit fails a write half-way, as a full disk does, and needs no privileges.
  write("x.h", "old");
  ASSERT_EQ(chmod(root.c_str(), 0777), 0);
  int result = inChild([&] {
    signal(SIGXFSZ, SIG_IGN);
    rlimit limit = {10000, 10000};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
      return 98;
    std::string text =
        message(writeOutputs(root, {{"x.h", "new"}, {"x.a", std::string(20000, 'x')}}));
    return text == "cannot write '" + path("x.a") + "': File too large" ? 0 : 2;
  });
  EXPECT_EQ(result, 0);
  EXPECT_EQ(read("x.h"), "old");
  EXPECT_EQ(list(), std::set<std::string>{"x.h"});
}

TEST_F(OutputTransactionTest, ARealFullDiskLeavesNothing) {
  ASSERT_FALSE(sys::fs::create_directory(path("tiny")));
  if (mount("tmpfs", path("tiny").c_str(), "tmpfs", 0, "size=64k") != 0)
    GTEST_SKIP() << "no permission to mount; AFullDiskLeavesNothing covers the path";
  std::string text =
      message(writeOutputs(path("tiny"), {{"a", "x"}, {"b", std::string(1 << 20, 'x')}}));
  auto left = list("tiny");
  umount(path("tiny").c_str());
  EXPECT_EQ(text, "cannot write '" + path("tiny/b") + "': No space left on device");
  EXPECT_EQ(left, std::set<std::string>{});
}

TEST_F(OutputTransactionTest, ASetOfFilesInSeveralFoldersIsVisibleAtItsEnd) {
  OutputSet files;
  for (const char *name : {"a/one", "b/two", "a/three"})
    EXPECT_EQ(message(files.open(path(name))), "");
  EXPECT_EQ(message(files.add(path("a/one"), "1")), "");
  EXPECT_EQ(message(files.add(path("b/two"), "2")), "");
  EXPECT_EQ(message(files.add(path("a/three"), "3")), "");
  EXPECT_EQ(read("a/one"), "(missing)");
  EXPECT_EQ(message(files.commit()), "");
  EXPECT_EQ(read("a/one") + read("b/two") + read("a/three"), "123");
  EXPECT_EQ(list("a"), (std::set<std::string>{"one", "three"}));
}

TEST_F(OutputTransactionTest, ASetWithAFileThatCannotBeIsNotVisibleAtAll) {
  ASSERT_FALSE(sys::fs::create_directories(path("b/folder")));
  {
    OutputSet files;
    EXPECT_EQ(message(files.open(path("a/one"))), "");
    EXPECT_EQ(message(files.open(path("b/folder"))), "");
    EXPECT_EQ(message(files.add(path("a/one"), "1")), "");
    EXPECT_NE(message(files.add(path("b/folder"), "2")), "");
  }
  EXPECT_EQ(list(), std::set<std::string>{"b"});
  EXPECT_EQ(list("b"), std::set<std::string>{"folder"});
}

} // namespace
} // namespace kiln
