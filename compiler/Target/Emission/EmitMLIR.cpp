//===- EmitMLIR.cpp - From the LLVM dialect to a device binary -----------------===//

#include "compiler/Target/Emission/Emit.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/ROCDL/ROCDLToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

namespace kiln {

/// The text of the first error that MLIR reports while this exists, with its place.
class ErrorCollector {
public:
  explicit ErrorCollector(mlir::MLIRContext *context)
      : handler(context, [this](mlir::Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() != mlir::DiagnosticSeverity::Error)
            return mlir::failure();
          if (!message.empty())
            return mlir::success();
          message = diagnostic.str();
          if (auto place = diagnostic.getLocation()->findInstanceOf<mlir::FileLineColLoc>()) {
            path = place.getFilename().str();
            line = place.getLine();
            column = place.getColumn();
          }
          return mlir::success();
        }) {}

  llvm::Error take(llvm::StringRef fallback) {
    return llvm::make_error<TargetError>(message.empty() ? fallback.str() : message, path, line,
                                         column);
  }

private:
  std::string message, path;
  unsigned line = 0, column = 0;
  mlir::ScopedDiagnosticHandler handler;
};

llvm::Expected<DeviceBinary> emitDeviceBinary(mlir::ModuleOp module, const KernelFacts &facts,
                                              const TargetInfo &target, const EmitOptions &options,
                                              const std::function<void()> &whileAssembling) {
  mlir::MLIRContext *context = module.getContext();
  mlir::registerBuiltinDialectTranslation(*context);
  mlir::registerLLVMDialectTranslation(*context);
  mlir::registerNVVMDialectTranslation(*context);
  mlir::registerROCDLDialectTranslation(*context);
  ErrorCollector errors(context);
  if (options.lineInfo) {
    mlir::PassManager passes(context);
    passes.addPass(mlir::LLVM::createDIScopeForLLVMFuncOpPass());
    if (mlir::failed(passes.run(module)))
      return errors.take("cannot make debug scopes");
  }
  llvm::LLVMContext llvmContext;
  auto translated = mlir::translateModuleToLLVMIR(module, llvmContext, facts.symbol);
  if (!translated)
    return errors.take("cannot translate the module to LLVM IR");
  options.stageDone("translate");
  return emitDeviceBinary(std::move(translated), facts, target, options, whileAssembling);
}

} // namespace kiln
