// The in-memory compiler: MLIR to LLVM IR, the O3 pipeline, and LLVM's JIT linker.

#include "tests/compiler/Conversion/TileToCPU/KernelRunner.h"
#include "compiler/Dialect/Tile/Tile.h"
#include "compiler/Dialect/Tile/Transforms/PadShapes.h"
#include "compiler/Target/CPU/ConstantMasks.h"
#include "compiler/Target/CPU/ExpandSmallFloats.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Transforms/Passes.h"
#include "tests/compiler/Target/CPU/LoadedObject.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <thread>

using namespace mlir;

namespace kiln::test {

CPUOptions hostOptions() {
  llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  CPUOptions options;
  options.vectorBits = features.lookup("avx512f") ? 512 : features.lookup("avx2") ? 256 : 128;
  options.vectorRegisters = features.lookup("avx512f") ? 32 : 16;
  options.hasFMA = features.lookup("fma");
  return options;
}

namespace {

std::unique_ptr<MLIRContext> makeContext() {
  DialectRegistry registry;
  registry.insert<tile::TileDialect, func::FuncDialect, arith::ArithDialect, math::MathDialect,
                  scf::SCFDialect, ub::UBDialect, LLVM::LLVMDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  return std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
}

/// Parses and lowers; the diagnostics go to `errors`.
OwningOpRef<ModuleOp> lower(MLIRContext &context, const std::string &text,
                            const CPUOptions &options, std::string &errors) {
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    errors += diagnostic.str() + "\n";
    return success();
  });
  auto module = parseSourceString<ModuleOp>(text, &context);
  if (!module)
    return nullptr;
  PassManager passes(&context);
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
  if (failed(passes.run(*module)) || failed(lowerTileToCPU(*module, options)))
    return nullptr;
  if (failed(verify(*module)))
    return nullptr;
  return module;
}

} // namespace

CompiledKernel::CompiledKernel(const std::string &tileIR, CPUOptions options,
                               const std::string &processor) {
  auto start = std::chrono::steady_clock::now();
  std::unique_ptr<MLIRContext> context = makeContext();
  std::string errors;
  OwningOpRef<ModuleOp> module = lower(*context, tileIR, options, errors);
  if (!module)
    throw std::runtime_error(errors);
  std::string symbol;
  for (auto function : module->getOps<LLVM::LLVMFuncOp>())
    if (auto bytes = function->getAttrOfType<IntegerAttr>(cpuArenaBytesAttr)) {
      symbol = function.getName();
      arena = bytes.getInt();
    }
  llvm::LLVMContext llvmContext;
  std::unique_ptr<llvm::Module> ir = translateModuleToLLVMIR(*module, llvmContext);
  irInstructions = ir->getInstructionCount();

  std::unique_ptr<llvm::TargetMachine> target = testing::hostMachine(processor);
  ir->setDataLayout(target->createDataLayout());
  ir->setTargetTriple(target->getTargetTriple());
  llvm::PassBuilder builder(target.get());
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager callGraph;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(callGraph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, callGraph, modules);
  // As emitCPU does: the JIT linker has none of the functions that processors without small floats
  // would call.
  bool convertsF16 = processor.empty() && llvm::sys::getHostCPUFeatures().lookup("f16c");
  expandSmallFloats(*ir, convertsF16);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3).run(*ir, modules);
  expandSmallFloats(*ir, convertsF16);
  splitConstantMasks(*ir);
  llvm::raw_string_ostream(optimized) << *ir;

  object = std::make_unique<testing::LoadedObject>(*ir, *target, symbol);
  compileSeconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

CompiledKernel::~CompiledKernel() = default;

namespace {
struct ArenaMemory {
  explicit ArenaMemory(int64_t bytes) : memory(std::aligned_alloc(64, (bytes + 127) / 64 * 64)) {}
  ~ArenaMemory() { std::free(memory); }
  void *memory;
};
} // namespace

void CompiledKernel::launch(Grid grid, const std::vector<void *> &params) const {
  launchThreaded(grid, params, 1);
}

void CompiledKernel::launchThreaded(Grid grid, const std::vector<void *> &params,
                                    unsigned threads) const {
  std::atomic<uint64_t> next{0};
  uint64_t count = uint64_t(grid[0]) * grid[1] * grid[2];
  auto work = [&] {
    ArenaMemory memory(arena);
    for (uint64_t i; (i = next++) < count;) {
      Grid id = {uint32_t(i % grid[0]), uint32_t(i / grid[0] % grid[1]),
                 uint32_t(i / grid[0] / grid[1])};
      object->entry()(params.data(), id.data(), grid.data(), memory.memory);
    }
  };
  std::vector<std::thread> pool;
  for (unsigned thread = 1; thread < threads; ++thread)
    pool.emplace_back(work);
  work();
  for (std::thread &thread : pool)
    thread.join();
}

std::string paddedText(const std::string &tileIR) {
  std::unique_ptr<MLIRContext> context = makeContext();
  auto module = parseSourceString<ModuleOp>(tileIR, context.get());
  if (!module || failed(padShapes(*module->getOps<func::FuncOp>().begin())) ||
      failed(verify(*module)))
    throw std::runtime_error("the kernel cannot be padded");
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream);
  return text;
}

std::string loweringErrors(const std::string &tileIR) {
  std::unique_ptr<MLIRContext> context = makeContext();
  std::string errors;
  return lower(*context, tileIR, hostOptions(), errors) ? std::string() : errors;
}

} // namespace kiln::test
