// Inline PTX as Tile IR, so that it runs on every target. docs/language.md lists the subset.
#ifndef KILN_COMPILER_SEMA_PTXTRANSLATOR_H
#define KILN_COMPILER_SEMA_PTXTRANSLATOR_H

#include "compiler/Sema/Evaluator.h"
#include "compiler/Sema/PtxProgram.h"

namespace kiln::sema {

/// Runs a program on registers that are tensors of one shape. Registers hold bits: unsigned
/// integers of their width, or int1 for predicates.
class PtxTranslator {
public:
  PtxTranslator(Evaluator &evaluator, const PtxProgram &program, llvm::ArrayRef<int64_t> shape)
      : evaluator(evaluator), program(program), shape(shape) {}

  /// Register `$index`, of `bits` bits; without a value it is an output not written yet.
  void addArgument(unsigned bits, Tensor value = {});
  /// False after an error.
  bool run();
  /// The bits of `$index`; reports an error when it was never written.
  Tensor getArgument(size_t index);

private:
  struct Register {
    unsigned bits = 0;
    Tensor value;
  };
  /// `f32`, `s16`, `bf16x2`: an element type and how many of them share a register.
  struct Type {
    DType element;
    unsigned count = 1;
    unsigned getBits() const { return element.getBits() * count; }
  };

  bool execute(const PtxInstruction &instruction);
  Tensor compute(const PtxInstruction &instruction);
  Tensor computeTyped(const PtxInstruction &instruction, Type type);
  Tensor computeLanes(const PtxInstruction &instruction, DType type,
                      llvm::ArrayRef<Tensor> operands);
  Tensor computeFloat(const PtxInstruction &instruction, DType type,
                      llvm::ArrayRef<Tensor> operands);
  Tensor computeInt(const PtxInstruction &instruction, DType type, llvm::ArrayRef<Tensor> operands);
  Tensor minMax(const PtxInstruction &instruction, Tensor a, Tensor b);
  Tensor wideProduct(const PtxInstruction &instruction, DType type,
                     llvm::ArrayRef<Tensor> operands);
  Tensor compare(const PtxInstruction &instruction);
  Tensor choose(const PtxInstruction &instruction);
  Tensor lookUp3(const PtxInstruction &instruction);
  Tensor permuteBytes(const PtxInstruction &instruction);
  Tensor funnelShift(const PtxInstruction &instruction);
  Tensor shift(const PtxInstruction &instruction, DType type);
  Tensor convert(const PtxInstruction &instruction);
  Tensor convertElement(const PtxInstruction &instruction, Tensor value, DType to);
  Tensor move(const PtxInstruction &instruction);

  static std::optional<Type> parseType(llvm::StringRef text);
  /// The types among the modifiers, in order.
  static llvm::SmallVector<Type, 2> typesOf(const PtxInstruction &instruction);
  Register *find(const PtxOperand &operand);
  /// The bits of an operand as an unsigned integer of `bits` bits (int1 where `bits` is 1).
  Tensor read(const PtxOperand &operand, unsigned bits);
  /// An operand of one element of `type`.
  Tensor readAs(const PtxOperand &operand, DType type);
  bool write(const PtxInstruction &instruction, const PtxOperand &target, Tensor bits);
  Tensor bitsOf(Tensor value);
  Tensor constantBits(unsigned bits, uint64_t value);
  Tensor combine(llvm::ArrayRef<Tensor> parts);
  std::vector<Tensor> divide(Tensor bits, unsigned count);
  Tensor binary(ast::BinaryOp op, Tensor a, Tensor b);
  Tensor binary(ast::BinaryOp op, Tensor a, uint64_t number);
  Tensor test(ast::CompareOp op, Tensor a, Tensor b);
  Tensor refuse(const PtxInstruction &instruction, const llvm::Twine &why = "is not supported");

  Evaluator &evaluator;
  const PtxProgram &program;
  llvm::SmallVector<int64_t, 4> shape;
  std::vector<Register> arguments;
  llvm::StringMap<Register> registers;
};

} // namespace kiln::sema

#endif // KILN_COMPILER_SEMA_PTXTRANSLATOR_H
