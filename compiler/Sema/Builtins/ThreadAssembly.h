// Assembly that is not translated to Tile IR, but passed on to the target as it stands.
#ifndef KILN_COMPILER_SEMA_BUILTINS_THREADASSEMBLY_H
#define KILN_COMPILER_SEMA_BUILTINS_THREADASSEMBLY_H

#include "compiler/Sema/Tensors/TensorBuilder.h"

#include <map>

namespace kiln::sema {

/// A register of inline assembly, or what stands in its place.
struct AssemblyRegister {
  /// As it is written: `=&r`.
  std::string constraint;
  char letter = 'r';
  /// 0 for immediates, and for AMD's registers, which are as wide as what is in them.
  unsigned bits = 0;

  bool isImmediate() const { return letter == 'n'; }
  bool isOfAMD() const { return letter == 'v' || letter == 's' || letter == 'a'; }
};

/// One `tl.inline_asm_elementwise`, its arguments dealt out to registers.
struct AssemblyCall {
  std::string text;
  /// Results first.
  std::vector<AssemblyRegister> registers;
  /// Registers that the text writes beside its results: `~{vcc}`.
  std::vector<std::string> clobbers;
  /// Bits of what each result's register holds.
  std::vector<unsigned> resultBits;
  /// One for each register that is no result.
  std::vector<Tensor> inputs;
  /// The numbers of those that are immediates, by register.
  std::map<size_t, Int> immediates;
  /// Of the tensors in registers; empty for scalars.
  llvm::SmallVector<int64_t, 4> shape;
  bool isPure = false;

  size_t numResults() const { return resultBits.size(); }
  bool isOfAMD() const;
};

/// Whether the target can run the assembly.
bool canPassOn(const TargetAnswers &target, const AssemblyCall &call);

/// Builds tile.assembly. The results are appended, as unsigned integers. False after an error.
bool passOn(TensorBuilder &build, const AssemblyCall &call, std::vector<Tensor> &results);

} // namespace kiln::sema

#endif // KILN_COMPILER_SEMA_BUILTINS_THREADASSEMBLY_H
