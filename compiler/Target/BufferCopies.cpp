#include "compiler/Target/BufferCopies.h"

namespace kiln {

std::string bufferCopyText(unsigned copies, llvm::ArrayRef<uint32_t> distances) {
  auto operand = [](unsigned number) { return "$" + std::to_string(number); };
  std::string text;
  for (unsigned copy = 0; copy < copies; ++copy) {
    text += copy ? "\n" : "";
    if (copy && !distances.empty())
      text += "s_add_u32 m0, m0, " + std::to_string(distances[copy - 1]);
    else
      text += "s_mov_b32 m0, " + operand(copies + 2 + copy);
    // What a vector instruction has written to a scalar register a memory access may read five wait
    // states later, a scalar instruction at once, and what that has written an access likewise.
    // Between the write of m0 and its use is one wait state (CDNA 4 ISA, "Manually Inserted Wait
    // States").
    text += copy ? "\ns_nop 0"
                 : "\ns_mov_b64 s[96:97], " + operand(copies) + "\ns_mov_b64 s[98:99], " +
                       operand(copies + 1);
    text += "\nbuffer_load_dwordx4 " + operand(copy) + ", s[96:99], 0 offen lds";
  }
  return text;
}

std::string bufferCopyConstraints(unsigned copies, llvm::ArrayRef<uint32_t> distances) {
  std::string constraints;
  for (unsigned copy = 0; copy < copies; ++copy)
    constraints += "v,";
  constraints += "s,s,";
  for (unsigned address = 0; address < (distances.empty() ? copies : 1); ++address)
    constraints += "s,";
  const char *flag = distances.empty() ? "" : ",~{scc}";
  return constraints + "~{s96},~{s97},~{s98},~{s99},~{m0}" + flag + ",~{memory}";
}

} // namespace kiln
