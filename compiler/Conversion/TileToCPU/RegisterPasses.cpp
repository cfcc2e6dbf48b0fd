// The lowering as passes for kiln-opt.

#include "compiler/Conversion/TileToCPU/LoopPlan.h"
#include "compiler/Conversion/TileToCPU/Passes.h"
#include "compiler/Dialect/Tile/Tile.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace kiln {
namespace {

template <typename Derived> struct LoweringPass : PassWrapper<Derived, OperationPass<ModuleOp>> {
  LoweringPass() = default;
  LoweringPass(const LoweringPass &other) : PassWrapper<Derived, OperationPass<ModuleOp>>(other) {}

  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, cf::ControlFlowDialect, LLVM::LLVMDialect,
                    math::MathDialect, scf::SCFDialect, tile::TileDialect, ub::UBDialect>();
  }
  void runOnOperation() override {
    CPUOptions options;
    options.vectorBits = vectorBits;
    options.vectorRegisters = vectorRegisters;
    options.hasFMA = fma;
    options.fusesProducts = fuseProducts;
    if (failed(static_cast<Derived *>(this)->lower(this->getOperation(), options)))
      this->signalPassFailure();
  }

  Pass::Option<unsigned> vectorBits{*this, "vector-bits", llvm::cl::init(256),
                                    llvm::cl::desc("Width of a vector register")};
  Pass::Option<unsigned> vectorRegisters{*this, "vector-registers", llvm::cl::init(16),
                                         llvm::cl::desc("Number of vector registers")};
  Pass::Option<bool> fma{*this, "fma", llvm::cl::init(true),
                         llvm::cl::desc("Fused multiply-add exists")};
  Pass::Option<bool> fuseProducts{*this, "fuse-products", llvm::cl::init(true),
                                  llvm::cl::desc("Sums may take products without rounding")};
};

struct TileToCPUPass : LoweringPass<TileToCPUPass> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TileToCPUPass)
  StringRef getArgument() const override { return "tile-to-cpu"; }
  StringRef getDescription() const override {
    return "Lowers a tile kernel to LLVM-dialect code for the host CPU";
  }
  LogicalResult lower(ModuleOp module, const CPUOptions &options) {
    return lowerTileToCPU(module, options);
  }
};

struct TileCPULoopsPass : LoweringPass<TileCPULoopsPass> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TileCPULoopsPass)
  StringRef getArgument() const override { return "tile-cpu-loops"; }
  StringRef getDescription() const override { return "Lowers a tile kernel to loops over vectors"; }
  LogicalResult lower(ModuleOp module, const CPUOptions &options) {
    return cpu::lowerToLoops(module, options);
  }
};

struct TileCPUPlanPass : LoweringPass<TileCPUPlanPass> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TileCPUPlanPass)
  StringRef getArgument() const override { return "tile-cpu-plan"; }
  StringRef getDescription() const override {
    return "Prints the plan of a tile kernel's loops, before the kernel that "
           "it is of";
  }
  LogicalResult lower(ModuleOp module, const CPUOptions &options) {
    FailureOr<func::FuncOp> kernel = cpu::prepareKernel(module);
    if (succeeded(kernel))
      cpu::planLoops(*kernel, options).print(llvm::outs());
    return kernel;
  }
};

} // namespace

void registerTileToCPUPasses() {
  PassRegistration<TileCPUPlanPass>();
  PassRegistration<TileToCPUPass>();
  PassRegistration<TileCPULoopsPass>();
}

} // namespace kiln
