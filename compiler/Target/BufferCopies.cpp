#include "compiler/Target/BufferCopies.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"

namespace kiln {

static unsigned numHalves(const BufferCopies &copies) {
  return 1 + std::max(*llvm::max_element(copies.low), *llvm::max_element(copies.high));
}

std::string bufferCopyText(const BufferCopies &copies) {
  const unsigned number = copies.low.size();
  unsigned address = number + numHalves(copies);
  auto operand = [](unsigned number) { return "$" + std::to_string(number); };
  std::string text;
  for (unsigned copy = 0; copy < number; ++copy) {
    text += copy ? "\n" : "";
    if (std::optional<uint32_t> distance = copies.distanceOf(copy))
      text += "s_add_u32 m0, m0, " + std::to_string(*distance);
    else
      text += "s_mov_b32 m0, " + operand(address++);
    // What a vector instruction has written to a scalar register a memory access may read five wait
    // states later, a scalar instruction at once, and what that has written an access likewise.
    // Between the write of m0 and its use is one wait state (CDNA 4 ISA, "Manually Inserted Wait
    // States").
    bool isNew = false;
    auto move = [&](llvm::ArrayRef<unsigned> halves, const char *to) {
      if (copy && halves[copy] == halves[copy - 1])
        return;
      text += std::string("\ns_mov_b64 ") + to + ", " + operand(number + halves[copy]);
      isNew = true;
    };
    move(copies.low, "s[96:97]");
    move(copies.high, "s[98:99]");
    if (!isNew)
      text += "\ns_nop 0";
    text += "\nbuffer_load_dwordx4 " + operand(copy) + ", s[96:99], 0 offen lds";
  }
  return text;
}

std::string bufferCopyConstraints(const BufferCopies &copies) {
  const unsigned number = copies.low.size();
  std::string constraints;
  for (unsigned copy = 0; copy < number; ++copy)
    constraints += "v,";
  unsigned scalars = numHalves(copies);
  const char *flag = "";
  for (unsigned copy = 0; copy < number; ++copy) {
    bool isAdded = copies.distanceOf(copy).has_value();
    scalars += !isAdded;
    flag = isAdded ? ",~{scc}" : flag;
  }
  for (unsigned scalar = 0; scalar < scalars; ++scalar)
    constraints += "s,";
  return constraints + "~{s96},~{s97},~{s98},~{s99},~{m0}" + flag + ",~{memory}";
}

} // namespace kiln
