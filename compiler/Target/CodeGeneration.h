//===- CodeGeneration.h - What all targets do with an LLVM module ------------===//
//
// Internal to compiler/Target: the steps between a module and the bytes that LLVM
// itself writes, used by the emitters of NVIDIA, AMD and CPU.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_COMPILER_TARGET_CODEGENERATION_H
#define KILN_COMPILER_TARGET_CODEGENERATION_H

#include "compiler/Target/EmitOptions.h"
#include "compiler/Target/TargetError.h"
#include "compiler/Target/TargetInfo.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Support/CodeGen.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <tuple>

namespace llvm {
class DiagnosticInfo;
class Function;
class Module;
class TargetMachine;
} // namespace llvm

namespace kiln {

/// Takes LLVM's diagnostics for a scope: LLVM's own handler would print them and exit.
class DiagnosticCapture {
public:
  explicit DiagnosticCapture(const llvm::Module &module);
  ~DiagnosticCapture();
  /// The errors so far as one error, the first one's place leading; success if there were none.
  llvm::Error takeErrors();
  std::vector<std::string> warnings;

  void handle(const llvm::DiagnosticInfo &info);

private:
  struct Entry {
    std::string message, path;
    unsigned line = 0, column = 0;

    bool operator==(const Entry &other) const {
      return std::tie(message, path, line, column) ==
             std::tie(other.message, other.path, other.line, other.column);
    }
  };
  Entry entryOf(const llvm::DiagnosticInfo &info) const;
  const llvm::Module &module;
  std::unique_ptr<llvm::DiagnosticHandler> previous;
  std::vector<Entry> errors;
};

/// The machine for `target`; position independent, functions in sections of their own.
llvm::Expected<std::unique_ptr<llvm::TargetMachine>> createMachine(const TargetInfo &target,
                                                                   const EmitOptions &options);

/// Gives the module the machine's triple and data layout, makes everything but the kernel internal,
/// rewrites debug paths, and returns the kernel.
llvm::Expected<llvm::Function *> prepareModule(llvm::Module &module, const KernelFacts &facts,
                                               const llvm::TargetMachine &machine,
                                               const EmitOptions &options);

/// Has the module say where its assembly is from, for the errors of LLVM's assembler; nothing
/// without debug information.
void placeAssembly(llvm::Module &module);

/// LLVM's default pipeline for the level, with the target's cost models. (Optimize.cpp.)
void optimizeModule(llvm::Module &module, llvm::TargetMachine &machine, const TargetInfo &target,
                    const EmitOptions &options);

/// How many instructions a GPU thread has; an error if that is more than code is made of.
llvm::Expected<unsigned> countInstructions(const llvm::Module &module);

/// Assembly text or an object file of a copy of the module (`Assembly` may be wanted beside it).
llvm::Expected<llvm::SmallString<0>>
generateCode(const llvm::Module &module, llvm::TargetMachine &machine, llvm::CodeGenFileType kind);

/// An error for the first function that is called, but neither defined here, nor an intrinsic, nor
/// accepted by `isProvided`. The place is the call's.
llvm::Error checkExternalCalls(const llvm::Module &module,
                               llvm::function_ref<bool(llvm::StringRef)> isProvided,
                               llvm::StringRef targetName);

/// The module as text, for DeviceBinary::llvmIR.
std::string printModule(const llvm::Module &module);

/// What every format has in common: target, symbol, launch facts, and the module's text where
/// wanted.
DeviceBinary describeBinary(const llvm::Module &module, const KernelFacts &facts,
                            const TargetInfo &target, BinaryFormat format,
                            const EmitOptions &options);

/// The object file of an optimised module. Puts the assembly, where wanted, and the warnings into
/// `binary`; fails with the back end's errors.
llvm::Expected<llvm::SmallString<0>>
generateObject(const llvm::Module &module, llvm::TargetMachine &machine, const EmitOptions &options,
               DiagnosticCapture &diagnostics, DeviceBinary &binary);

/// Replaces path prefixes in every file name of the debug information. Removes all debug
/// information when `options.lineInfo` is unset. (DebugPaths.cpp.)
void remapDebugPaths(llvm::Module &module, const EmitOptions &options);

} // namespace kiln

#endif // KILN_COMPILER_TARGET_CODEGENERATION_H
