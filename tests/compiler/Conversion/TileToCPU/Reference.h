// A reference interpreter for Tile IR: one element after another, no vectors, no fusion, floats in
// double and rounded to their type after each operation. It reads and writes real memory through
// the kernel's pointers.

#ifndef KILN_TESTS_COMPILER_CONVERSION_TILETOCPU_REFERENCE_H
#define KILN_TESTS_COMPILER_CONVERSION_TILETOCPU_REFERENCE_H

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace kiln::test {

class Reference {
public:
  /// Parses the text; throws std::runtime_error if that fails.
  explicit Reference(const std::string &tileIR);
  ~Reference();

  /// Runs every instance in increasing order; arguments as for CompiledKernel::launch. Throws
  /// std::runtime_error on an operation that it does not know.
  void launch(std::array<uint32_t, 3> grid, const std::vector<void *> &params) const;

private:
  struct Module;
  std::unique_ptr<Module> module;
};

} // namespace kiln::test

#endif // KILN_TESTS_COMPILER_CONVERSION_TILETOCPU_REFERENCE_H
