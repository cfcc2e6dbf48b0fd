// Compiles a kernel given as text for a GPU, and runs it emulated.

#include "tests/compiler/Conversion/TileGPUToLLVM/KernelRunner.h"

#include "compiler/Conversion/TileGPUToLLVM/TileGPUToLLVM.h"
#include "compiler/Conversion/TileToTileGPU/TileToTileGPU.h"
#include "compiler/Dialect/Tile/Tile.h"
#include "compiler/Dialect/Tile/Transforms/PadShapes.h"
#include "compiler/Dialect/TileGPU/TileGPU.h"
#include "compiler/Dialect/TileGPU/Transforms/Passes.h"
#include "compiler/Target/Emission/Emit.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace kiln::testing {

static void loadDialects(MLIRContext &context) {
  context.disableMultithreading();
  context
      .loadDialect<tile::TileDialect, tilegpu::TileGPUDialect, arith::ArithDialect,
                   cf::ControlFlowDialect, func::FuncDialect, LLVM::LLVMDialect, math::MathDialect,
                   NVVM::NVVMDialect, ROCDL::ROCDLDialect, scf::SCFDialect, ub::UBDialect>();
}

static LogicalResult lower(ModuleOp module, const TargetInfo &target, bool hasLayouts) {
  PassManager passes(module.getContext());
  if (!hasLayouts) {
    passes.addPass(createCanonicalizerPass());
    passes.addPass(createCSEPass());
    passes.addNestedPass<func::FuncOp>(createPadShapesPass());
    passes.addPass(createTileToTileGPUPass(target.name));
    passes.addPass(createCanonicalizerPass());
    passes.addPass(createCSEPass());
    passes.addNestedPass<func::FuncOp>(createStageOperandsPass());
    passes.addNestedPass<func::FuncOp>(createPipelineLoopsPass());
    passes.addNestedPass<func::FuncOp>(createPrefetchOperandsPass());
  }
  passes.addNestedPass<func::FuncOp>(createAllocateSharedMemoryPass());
  passes.addNestedPass<func::FuncOp>(createInsertBarriersPass());
  passes.addNestedPass<func::FuncOp>(createVersionBarriersPass());
  if (failed(passes.run(module)))
    return failure();
  return lowerTileGPUToLLVM(module, target);
}

CompiledKernel::CompiledKernel(const std::string &source, const std::string &target,
                               bool hasLayouts)
    : info(llvm::cantFail(parseTarget(target))), context(std::make_unique<MLIRContext>()) {
  loadDialects(*context);
  ScopedDiagnosticHandler handler(context.get(), [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
      errors += diagnostic.str() + "\n";
    return success();
  });
  module = parseSourceString<ModuleOp>(source, context.get());
  if (!module)
    return;
  module->getOperation()->setAttr(tilegpu::TileGPUDialect::targetAttr,
                                  StringAttr::get(context.get(), info.name));
  if (failed(lower(*module, info, hasLayouts)) || failed(mlir::verify(*module))) {
    if (errors.empty())
      errors = "failed without a message";
    return;
  }
  for (auto kernel : module->getOps<LLVM::LLVMFuncOp>())
    if (!kernel.isExternal()) {
      facts.symbol = kernel.getName().str();
      auto warps = kernel->getAttrOfType<IntegerAttr>(tile::TileDialect::numWarpsAttr);
      facts.launch.threadsPerBlock = info.threadsPerBlock(warps.getInt());
      auto bytes = kernel->getAttrOfType<IntegerAttr>(tilegpu::TileGPUDialect::sharedBytesAttr);
      facts.launch.dynamicSharedBytes = info.dynamicShared && bytes ? bytes.getInt() : 0;
    }
  facts.launch.warpSize = info.warpSize;
}

CompiledKernel::~CompiledKernel() = default;

std::string CompiledKernel::text() {
  std::string result;
  llvm::raw_string_ostream stream(result);
  module->print(stream);
  return result;
}

llvm::Expected<DeviceBinary> CompiledKernel::emit() {
  if (failed(expandTargetOperations(*module, info)))
    return llvm::createStringError("expansion failed: " + errors);
  EmitOptions options;
  options.captureAssembly = true;
  options.lineInfo = false;
  return emitDeviceBinary(*module, facts, info, options);
}

EmulatedKernel &CompiledKernel::emulated() {
  if (!code) {
    OwningOpRef<ModuleOp> copy = module->clone();
    ScopedDiagnosticHandler handler(context.get(), [](Diagnostic &diagnostic) {
      ADD_FAILURE() << diagnostic.str();
      return success();
    });
    code = std::make_unique<EmulatedKernel>(*copy, facts.symbol, "emu:" + info.arch,
                                            facts.launch.threadsPerBlock);
  }
  for (auto [memory, bytes] : ranges)
    code->use(memory, bytes);
  ranges.clear();
  return *code;
}

static std::vector<void *> addressesOf(SmallVectorImpl<uint64_t> &arguments) {
  std::vector<void *> addresses;
  for (uint64_t &argument : arguments)
    addresses.push_back(&argument);
  return addresses;
}

std::string CompiledKernel::run(ArrayRef<uint64_t> arguments, std::array<uint32_t, 3> grid) {
  if (!errors.empty())
    return errors;
  SmallVector<uint64_t> bits(arguments);
  return llvm::join(emulated().run(addressesOf(bits), facts.launch.dynamicSharedBytes, grid), "\n");
}

std::vector<kiln_emulator_count> CompiledKernel::count(ArrayRef<uint64_t> arguments,
                                                       std::array<uint32_t, 3> grid) {
  SmallVector<uint64_t> bits(arguments);
  return emulated().count(addressesOf(bits), facts.launch.dynamicSharedBytes, grid);
}

uint64_t instructionsOf(ArrayRef<kiln_emulator_count> counts, StringRef kind) {
  uint64_t sum = 0;
  for (const kiln_emulator_count &count : counts)
    if (kind == count.kind)
      sum += count.instructions;
  return sum;
}

} // namespace kiln::testing
