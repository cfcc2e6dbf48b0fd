// The text of an inline PTX block as instructions: opcode, guard and operands. Knows PTX's
// grammar, not what instructions mean; Translator.cpp does that.
#ifndef KILN_COMPILER_SEMA_PTX_PROGRAM_H
#define KILN_COMPILER_SEMA_PTX_PROGRAM_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace kiln::sema {

struct PtxOperand {
  enum class Kind : uint8_t {
    Register,  // `name`
    Argument,  // `$3`: `value` is 3
    Immediate, // `value`: the bits of an integer
    Float32,   // `value`: the bits of 0fXXXXXXXX
    Float64,   // `value`: the bits of 0dXXXXXXXXXXXXXXXX, or of a decimal number
    Vector,    // `{a, b}`: `elements`
    Memory,    // `[a + 8]`: `elements` has the address, `value` the bytes beyond it
  };
  Kind kind = Kind::Register;
  std::string name;
  uint64_t value = 0;
  std::vector<PtxOperand> elements;
};

struct PtxInstruction {
  /// A label of this name stands here, and nothing else.
  std::string label;
  /// `cvt`, and `rn`, `bf16x2`, `f32`; the whole of it for messages.
  std::string base, text;
  std::vector<std::string> modifiers;
  /// The register of `@p` or `@!p`; empty without one.
  std::string guard;
  bool guardIsNegated = false;
  std::vector<PtxOperand> operands;

  bool has(llvm::StringRef modifier) const;
};

struct PtxProgram {
  std::vector<PtxInstruction> instructions;
  /// Type of each declared register: "b32", "pred".
  llvm::StringMap<std::string> registers;
};

/// Opcodes in small letters. Fails with the first statement that is not an instruction, a label or
/// a declaration: calls are not read.
llvm::Expected<PtxProgram> parsePtx(llvm::StringRef text);

} // namespace kiln::sema

#endif // KILN_COMPILER_SEMA_PTX_PROGRAM_H
