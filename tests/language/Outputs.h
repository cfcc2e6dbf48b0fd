// The one array that a kernel fills: for tests of kernels that compute a few numbers.

#ifndef KILN_TESTS_LANGUAGE_OUTPUTS_H
#define KILN_TESTS_LANGUAGE_OUTPUTS_H

#include "tests/language/SourceKernel.h"

#include <sstream>

namespace kiln::testing {

/// The arguments in the order of the kernel's parameters.
inline std::vector<SourceArgument> inOrder(const std::string &source,
                                           const std::vector<SourceArgument> &arguments) {
  size_t begin = source.find("def kernel(") + sizeof("def kernel(") - 1;
  std::stringstream parameters(source.substr(begin, source.find("):", begin) - begin));
  std::vector<SourceArgument> ordered;
  for (std::string parameter; std::getline(parameters, parameter, ',');) {
    std::string name = parameter.substr(parameter.find_first_not_of(" \n"));
    name = name.substr(0, name.find_first_of(": ="));
    for (const SourceArgument &argument : arguments)
      if (argument.name == name)
        ordered.push_back(argument);
  }
  return ordered;
}

/// Runs a kernel whose parameter `out` points to `count` zeros of the element type `type` ("i32"),
/// and returns them afterwards. Errors fail the test.
template <typename T>
std::vector<T>
outputsOf(const std::string &source, const std::string &target, const std::string &type,
          size_t count, std::vector<SourceArgument> arguments = {},
          const std::vector<SourceConstant> &constants = {}, const SourceOptions &options = {}) {
  Buffer<T> out(count);
  arguments.emplace_back("out", "*" + type, out);
  EXPECT_EQ(runSource(source, target, inOrder(source, arguments), constants, options), "")
      << source;
  return {out.data(), out.data() + count};
}

/// For kernels that state everything with tl.static_assert: compiles it (and runs it, on nothing).
inline void expectCompiles(const std::string &source, const std::string &target,
                           const std::vector<SourceArgument> &arguments = {},
                           const std::vector<SourceConstant> &constants = {}) {
  EXPECT_EQ(runSource(source, target, arguments, constants), "") << source;
}

} // namespace kiln::testing

#endif // KILN_TESTS_LANGUAGE_OUTPUTS_H
