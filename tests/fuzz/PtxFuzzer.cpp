// Any text of inline assembly is a program or an error.
#include "compiler/Sema/Ptx/Program.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::StringRef text(reinterpret_cast<const char *>(data), size);
  llvm::Expected<kiln::sema::PtxProgram> program = kiln::sema::parsePtx(text);
  if (!program) {
    if (llvm::toString(program.takeError()).empty())
      __builtin_trap();
    return 0;
  }
  // An instruction is a label or has an opcode.
  for (const kiln::sema::PtxInstruction &instruction : program->instructions)
    if (instruction.label.empty() == instruction.base.empty())
      __builtin_trap();
  return 0;
}
