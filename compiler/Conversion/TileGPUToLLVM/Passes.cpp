// The lowering's steps as passes of kiln-opt.

#include "compiler/Conversion/TileGPUToLLVM/TileGPUToLLVM.h"

#include "compiler/Dialect/TileGPU/TileGPU.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace kiln {
namespace {

/// Runs a step for the target that the module names.
template <typename Derived> struct StepPass : PassWrapper<Derived, OperationPass<ModuleOp>> {
  void getDependentDialects(DialectRegistry &registry) const override {
    registry
        .insert<arith::ArithDialect, cf::ControlFlowDialect, LLVM::LLVMDialect, math::MathDialect,
                NVVM::NVVMDialect, ROCDL::ROCDLDialect, scf::SCFDialect, tilegpu::TileGPUDialect>();
  }
  void runOnOperation() override {
    ModuleOp module = this->getOperation();
    llvm::Expected<TargetInfo> target = tilegpu::targetOf(module);
    if (!target) {
      module.emitError() << llvm::toString(target.takeError());
      return this->signalPassFailure();
    }
    if (failed(Derived::step(module, *target)))
      this->signalPassFailure();
  }
};

struct LowerPass : StepPass<LowerPass> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LowerPass)
  StringRef getArgument() const override { return "kiln-tilegpu-to-llvm"; }
  StringRef getDescription() const override {
    return "Lower a kernel with layouts to one thread's program in the LLVM dialect";
  }
  static LogicalResult step(ModuleOp module, const TargetInfo &target) {
    return lowerTileGPUToLLVM(module, target);
  }
};

struct ExpandPass : StepPass<ExpandPass> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ExpandPass)
  StringRef getArgument() const override { return "kiln-expand-target-operations"; }
  StringRef getDescription() const override {
    return "Expand target operations to inline assembly or branches";
  }
  static LogicalResult step(ModuleOp module, const TargetInfo &target) {
    return expandTargetOperations(module, target);
  }
};

} // namespace

void registerTileGPUToLLVMPasses() {
  PassRegistration<LowerPass>();
  PassRegistration<ExpandPass>();
}

} // namespace kiln
