// A kernel given as Python text, compiled through Sema and the CPU target and run: execution tests
// of builtins that Sema takes apart.
#ifndef KILN_TESTS_COMPILER_SEMA_SOURCEKERNEL_H
#define KILN_TESTS_COMPILER_SEMA_SOURCEKERNEL_H

#include <string>
#include <vector>

namespace kiln::test {

/// Tile IR of the function `kernel` in `source` (imports are added), whose parameters have the
/// types `types` ("*fp32", "i32") by position. Throws std::runtime_error with the diagnostics.
std::string tileIROf(const std::string &source, const std::vector<std::string> &types);

/// Compiles and runs one program instance; `params[i]` is argument i, a pointer.
void runSource(const std::string &source, const std::vector<std::string> &types,
               const std::vector<void *> &params);

} // namespace kiln::test

#endif // KILN_TESTS_COMPILER_SEMA_SOURCEKERNEL_H
