// What a target operation is, as an instruction that is counted (docs/counting.md).
//
// Counted is the code in target operations and not the machine's: it is what the compiler wrote,
// the same for every version of ptxas, and it has the source's lines. What names registers or
// memory only (constants, casts of pointers, elements of vectors) is no instruction.

#ifndef KILN_COMPILER_EMULATOR_INSTRUCTIONCLASS_H
#define KILN_COMPILER_EMULATOR_INSTRUCTIONCLASS_H

#include "mlir/IR/Operation.h"
#include <optional>

namespace kiln {

enum class InstructionClass {
#define KILN_INSTRUCTION_CLASS(ENUMERATOR, NAME) ENUMERATOR,
#include "runtime/emulator/instruction_classes.def"
#undef KILN_INSTRUCTION_CLASS
};

/// "integer", "global load" ...
llvm::StringRef nameOf(InstructionClass kind);

struct Instruction {
  InstructionClass kind = InstructionClass::Other;
  /// How many: vectors take one for each register of 32 bits, or for each wider element.
  unsigned number = 1;
  /// Of floating point; of a thread, or of a warp for a matrix instruction.
  unsigned flops = 0;
  /// Additions and multiplications of a matrix instruction, of any type; of a warp.
  unsigned matrixOperations = 0;
};

/// None where the operation is no instruction.
std::optional<Instruction> instructionOf(mlir::Operation *op);

} // namespace kiln

#endif
