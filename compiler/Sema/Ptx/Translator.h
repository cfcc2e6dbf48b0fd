// Inline PTX as Tile IR, so that it runs on every target. docs/language.md lists the subset.
#ifndef KILN_COMPILER_SEMA_PTX_TRANSLATOR_H
#define KILN_COMPILER_SEMA_PTX_TRANSLATOR_H

#include "compiler/Sema/Ptx/Program.h"
#include "compiler/Sema/Tensors/DirectedRounding.h"

namespace kiln::sema {

/// Runs a program on registers that are tensors of one shape. Registers hold bits: unsigned
/// integers of their width, or int1 for predicates.
class PtxTranslator {
public:
  PtxTranslator(TensorBuilder &build, const PtxProgram &program, llvm::ArrayRef<int64_t> shape)
      : build(build), program(program), shape(shape) {}

  /// Register `$index`, of `bits` bits; without a value it is an output not written yet.
  void addArgument(unsigned bits, Tensor value = {});
  /// False after an error.
  bool run();
  /// The bits of `$index`. One that was never written is an error, or zero in a program that is
  /// there for its effects (hasEffects).
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
  Tensor compare(const PtxInstruction &instruction);
  Tensor choose(const PtxInstruction &instruction);
  Tensor move(const PtxInstruction &instruction);

  //===-- Control.cpp --===//

  bool runRange(size_t first, size_t last);
  /// Its guard and the branches before it; no tensor means everywhere. False after an error.
  bool findCondition(const PtxInstruction &instruction, Tensor &condition);
  /// A branch forward: its elements take no part until the label.
  bool branch(const PtxInstruction &instruction);
  void reach(const std::string &label);
  /// The last branch back to the label at `first`; 0 if there is none.
  size_t findBranchBack(size_t first) const;
  /// A loop between them has the second one inside.
  bool entersLoop(size_t from, size_t to) const;
  /// From a label to a branch back to it, as long as some element takes the branch.
  bool loop(size_t first, size_t last);
  /// The registers that instructions of a range write, made if need be.
  std::vector<Register *> writtenIn(size_t first, size_t last);

  //===-- Memory.cpp --===//

  /// What does more than write registers. Empty for other instructions; false after an error.
  std::optional<bool> executeEffect(const PtxInstruction &instruction);
  /// A load or store: registers for neighbours in memory, of one type, and where it takes effect.
  struct Access {
    DType type = Scalar::Void;
    llvm::ArrayRef<PtxOperand> registers;
    Tensor mask;
  };
  /// The operand number `memory` is the address. Empty after an error.
  std::optional<Access> accessOf(const PtxInstruction &instruction, unsigned memory);
  bool load(const PtxInstruction &instruction);
  bool store(const PtxInstruction &instruction);
  bool atomic(const PtxInstruction &instruction);
  bool fence(const PtxInstruction &instruction);
  /// Registers that are not the program's: `%smid`.
  Tensor readSpecial(llvm::StringRef name);
  /// Pointers to elements of `type`, `number` elements behind the operand's address.
  Tensor addressOf(const PtxOperand &operand, DType type, unsigned number);

  //===-- Arithmetic.cpp --===//

  Tensor computeTyped(const PtxInstruction &instruction, Type type);
  Tensor computeLanes(const PtxInstruction &instruction, DType type,
                      llvm::ArrayRef<Tensor> operands);
  Tensor computeFloat(const PtxInstruction &instruction, DType type,
                      llvm::ArrayRef<Tensor> operands);
  Tensor computeFunction(const PtxInstruction &instruction, DType type, Tensor x);
  Tensor saturate(const PtxInstruction &instruction, Tensor result, DType type);
  Tensor number(DType type, int value);
  Tensor computeInt(const PtxInstruction &instruction, DType type, llvm::ArrayRef<Tensor> operands);
  Tensor computeToward(const PtxInstruction &instruction, Direction direction,
                       llvm::ArrayRef<Tensor> operands);
  Tensor call(llvm::StringRef name, llvm::ArrayRef<Tensor> operands);
  Tensor minMax(const PtxInstruction &instruction, Tensor a, Tensor b);
  Tensor wideProduct(const PtxInstruction &instruction, DType type,
                     llvm::ArrayRef<Tensor> operands);
  Tensor lookUp3(const PtxInstruction &instruction);
  Tensor permuteBytes(const PtxInstruction &instruction);
  Tensor permuteBytesBy(const PtxInstruction &instruction);
  Tensor funnelShift(const PtxInstruction &instruction);
  Tensor shift(const PtxInstruction &instruction, DType type);
  static std::optional<Direction> directionOf(const PtxInstruction &instruction);

  //===-- Conversion.cpp --===//

  Tensor convert(const PtxInstruction &instruction);
  Tensor convertToScales(const PtxInstruction &instruction);
  std::optional<Tensor> roundToWhole(const PtxInstruction &instruction, Tensor x);
  Tensor convertElement(const PtxInstruction &instruction, Tensor value, DType to);

  //===-- Registers --===//

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

  TensorBuilder &build;
  const PtxProgram &program;
  llvm::SmallVector<int64_t, 4> shape;
  bool isEffect = false;
  /// The elements that have not branched away; no tensor means all.
  Tensor active;
  /// Those that wait at labels to come.
  std::map<std::string, Tensor> waiting;
  /// The branch back of the innermost loop; 0 outside.
  size_t loopEnd = 0;
  std::vector<Register> arguments;
  llvm::StringMap<Register> registers;
};

} // namespace kiln::sema

#endif // KILN_COMPILER_SEMA_PTX_TRANSLATOR_H
