// The golden files of this folder: golden/NAME.py is an input, golden/NAME.txt what is expected.
#ifndef KILN_TESTS_COMPILER_SYNTAX_GOLDENFILE_H
#define KILN_TESTS_COMPILER_SYNTAX_GOLDENFILE_H

#include <string>
#include <vector>

namespace kiln {

struct GoldenInput {
  std::string name; // "errors_blocks"
  std::string text;
};

/// All inputs, sorted by name.
std::vector<GoldenInput> listGoldenInputs();

/// The bytes of a file, empty when there is none.
std::string readFile(const std::string &path);

/// Where the golden files are, relative to the workspace.
inline constexpr char goldenFolder[] = "tests/compiler/Syntax/golden";

} // namespace kiln

#endif // KILN_TESTS_COMPILER_SYNTAX_GOLDENFILE_H
