// Every declared kind of diagnostic has a test: its printed form occurs in a golden file or a
// test source of its phase. For an error or a warning that is the tag ("[syntax-not-utf8]"), for a
// note, which prints no tag, the longest literal piece of its message, and for one without words of
// its own the kind in --diagnostics=json.
//
// A phase joins by adding its prefix below, and its tests to `data` in BUILD.
#include "compiler/Basic/Diagnostics.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

/// Beginnings of the kind names that are checked.
constexpr llvm::StringLiteral checkedPhases[] = {"Driver", "Sema", "Spec", "Syntax"};

/// The text of all test files that came with this test, but its own.
std::string readTests() {
  std::string all;
  std::error_code error;
  for (llvm::sys::fs::recursive_directory_iterator entry("tests", error), end;
       !error && entry != end; entry.increment(error)) {
    if (llvm::StringRef(entry->path()).ends_with("DiagnosticCoverageTest.cpp"))
      continue;
    if (auto buffer = llvm::MemoryBuffer::getFile(entry->path()))
      all += (*buffer)->getBuffer().str();
  }
  return all;
}

/// "'{0}' was opened here" -> "' was opened here".
std::string getLongestPiece(llvm::StringRef format) {
  llvm::StringRef longest;
  while (!format.empty()) {
    auto [piece, rest] = format.split('{');
    longest = piece.size() > longest.size() ? piece : longest;
    format = rest.drop_while([](char c) { return c != '}'; }).drop_front(!rest.empty());
  }
  return longest.str();
}

std::string getPrinted(const DiagInfo &info) {
  std::string tag = getDiagTag(info.name);
  if (info.severity != Severity::Note)
    return "[" + tag + "]";
  std::string piece = getLongestPiece(info.format);
  return piece.empty() ? "\"kind\":\"" + tag + "\"" : piece;
}

TEST(DiagnosticCoverage, EveryKindHasATest) {
  std::string tests = readTests();
  ASSERT_FALSE(tests.empty()) << "no test files in the runfiles";
  for (const DiagInfo &info : getAllDiagInfos()) {
    bool isChecked = llvm::any_of(
        checkedPhases, [&](llvm::StringRef phase) { return info.name.starts_with(phase); });
    std::string printed = getPrinted(info);
    if (isChecked)
      EXPECT_NE(tests.find(printed), std::string::npos)
          << info.name.str() << " has no test: none prints " << printed;
  }
}

} // namespace
} // namespace kiln
