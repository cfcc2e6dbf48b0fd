// LLVM's disassembler of one processor's code, as text.
#ifndef KILN_TESTS_AMDGCN_DISASSEMBLER_H
#define KILN_TESTS_AMDGCN_DISASSEMBLER_H

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace kiln::amdgcn {

class Disassembler {
public:
  /// "gfx942"
  explicit Disassembler(const std::string &processor);
  ~Disassembler();

  struct Line {
    std::string text;
    uint64_t bytes;
  };
  /// The first instruction of some bytes; nothing where they are none.
  std::optional<Line> disassemble(const uint8_t *bytes, uint64_t size, uint64_t address) const;

private:
  struct Parts;
  std::unique_ptr<Parts> parts;
};

} // namespace kiln::amdgcn

#endif // KILN_TESTS_AMDGCN_DISASSEMBLER_H
