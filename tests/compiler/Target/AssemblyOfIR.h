//===- AssemblyOfIR.h - What LLVM makes of a test's IR --------------------------===//

#ifndef KILN_TESTS_COMPILER_TARGET_ASSEMBLYOFIR_H
#define KILN_TESTS_COMPILER_TARGET_ASSEMBLYOFIR_H

#include "compiler/Target/CodeGeneration.h"
#include "tests/compiler/Target/EveryScalarKernel.h"
#include "llvm/Target/TargetMachine.h"

namespace kiln::testing {

/// The lines of a module's code for a target, without blanks around them. `rewrite` is what stands
/// in front of code generation.
inline std::vector<std::string>
assemblyOf(const std::string &name, const std::string &ir,
           llvm::function_ref<void(llvm::Module &, llvm::TargetMachine &)> rewrite = nullptr) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module = parseIR(ir, context);
  auto machine = llvm::cantFail(createMachine(target(name), {}));
  module->setTargetTriple(machine->getTargetTriple());
  module->setDataLayout(machine->createDataLayout());
  if (rewrite)
    rewrite(*module, *machine);
  auto text = llvm::cantFail(generateCode(*module, *machine, llvm::CodeGenFileType::AssemblyFile));
  std::vector<std::string> result;
  llvm::SmallVector<llvm::StringRef> lines;
  llvm::StringRef(text).split(lines, '\n');
  for (llvm::StringRef line : lines)
    result.push_back(line.trim().str());
  return result;
}

} // namespace kiln::testing

#endif // KILN_TESTS_COMPILER_TARGET_ASSEMBLYOFIR_H
