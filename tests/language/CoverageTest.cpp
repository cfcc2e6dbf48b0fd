// Every function that Sema knows is run by a test: it is in the KILN_COVERS of one of the test
// programs beside this one, each of which proves its own list when it runs.

#include "compiler/Sema/Builtins/Builtins.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"
#include <map>
#include <set>

namespace kiln {
namespace {

/// Rows that no kernel runs, and why.
const std::map<std::string, const char *> exempt = {
    {"tl.tensor_descriptor", "names a type in annotations; a call is an error"},
    {"tl.tensor_descriptor_base", "names a type in annotations; a call is an error"},
    {"triton.Config", "of the host: tests/compiler/Sema/host/autotune.py"},
    {"triton.autotune", "of the host: tests/compiler/Sema/host/autotune.py"},
    {"triton.heuristics", "of the host: tests/compiler/Sema/host/heuristics.py"},
    {"importlib.util.module_from_spec", "gives what is not evaluated"},
};

/// The names in the lists of all test sources.
std::set<std::string> coveredNames() {
  std::set<std::string> names;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator entry("tests/language", error), end;
       !error && entry != end; entry.increment(error)) {
    auto buffer = llvm::MemoryBuffer::getFile(entry->path());
    if (!buffer || !llvm::StringRef(entry->path()).ends_with("Test.cpp"))
      continue;
    llvm::StringRef list = (*buffer)->getBuffer().split("\nKILN_COVERS(").second.split(");").first;
    // Pieces of a string literal, one a line.
    llvm::SmallVector<llvm::StringRef> pieces, words;
    list.split(pieces, '"');
    for (size_t i = 1; i < pieces.size(); i += 2)
      pieces[i].split(words, ' ', -1, /*KeepEmpty=*/false);
    for (llvm::StringRef word : words)
      names.insert(word.str());
  }
  return names;
}

TEST(Coverage, EveryBuiltinIsRun) {
  std::set<std::string> covered = coveredNames();
  ASSERT_FALSE(covered.empty()) << "no test sources in the runfiles";
  for (const sema::BuiltinInfo &info : sema::getBuiltins()) {
    std::string name = info.getQualifiedName();
    if (info.isSupported() && !exempt.count(name))
      EXPECT_TRUE(covered.count(name)) << name << " is in no test's KILN_COVERS";
  }
}

TEST(Coverage, ListsNameWhatThereIs) {
  std::set<std::string> known;
  for (const sema::BuiltinInfo &info : sema::getBuiltins())
    known.insert(info.getQualifiedName());
  for (const std::string &name : coveredNames())
    EXPECT_TRUE(known.count(name)) << name << " is in a KILN_COVERS and in no row of Builtins.td";
  for (const auto &[name, reason] : exempt)
    EXPECT_TRUE(known.count(name)) << name << " is exempt and in no row of Builtins.td";
}

} // namespace
} // namespace kiln
