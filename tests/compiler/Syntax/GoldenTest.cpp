// Parses each golden/NAME.py and compares its diagnostics and its tree with golden/NAME.txt.
//   bazel run //tests/compiler/Syntax:GoldenTest -- --update
// rewrites the expected files in the workspace.
#include "tests/compiler/Syntax/GoldenFile.h"

#include "compiler/Syntax/Dump.h"
#include "compiler/Syntax/Parser.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

namespace kiln {
namespace {

std::string getActual(const GoldenInput &input) {
  std::string text;
  llvm::raw_string_ostream out(text);
  out << "# Rewritten by: bazel run //tests/compiler/Syntax:GoldenTest -- --update\n";
  SourceManager sources;
  DiagnosticEngine diags;
  auto module = parseModule(sources.add(input.name + ".py", input.text), diags);
  diags.print(out, sources);
  // What is left after errors matters little, and would hide the errors.
  if (!module->hasErrors())
    dump(*module, out);
  return text;
}

class GoldenTest : public testing::TestWithParam<GoldenInput> {};

TEST_P(GoldenTest, Matches) {
  std::string expected = readFile(std::string(goldenFolder) + "/" + GetParam().name + ".txt");
  EXPECT_EQ(getActual(GetParam()), expected)
      << "bazel run //tests/compiler/Syntax:GoldenTest -- --update   rewrites the files";
  bool wantsErrors = llvm::StringRef(GetParam().name).starts_with("errors_");
  EXPECT_EQ(expected.find(": error: ") != std::string::npos, wantsErrors);
}

INSTANTIATE_TEST_SUITE_P(Files, GoldenTest, testing::ValuesIn(listGoldenInputs()),
                         [](const auto &info) { return info.param.name; });

int update() {
  const char *workspace = std::getenv("BUILD_WORKSPACE_DIRECTORY");
  if (!workspace) {
    llvm::errs() << "--update works under `bazel run` only\n";
    return 1;
  }
  for (const GoldenInput &input : listGoldenInputs()) {
    std::string path = std::string(workspace) + "/" + goldenFolder + "/" + input.name + ".txt";
    std::ofstream(path, std::ios::binary) << getActual(input);
  }
  return 0;
}

} // namespace
} // namespace kiln

int main(int argc, char **argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc == 2 && llvm::StringRef(argv[1]) == "--update")
    return kiln::update();
  return RUN_ALL_TESTS();
}
