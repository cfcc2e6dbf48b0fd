#include "tests/compiler/Emulator/EmulatedKernel.h"

#include "compiler/Dialect/TileGPU/TileGPU.h"
#include "compiler/Emulator/LowerToEmulator.h"
#include "compiler/Target/Emission/Emit.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "runtime/emulator/kiln_emu.h"
#include "tests/compiler/Target/CPU/LoadedObject.h"
#include <algorithm>
#include <gtest/gtest.h>

using namespace mlir;

namespace kiln::testing {

EmulatedKernel::~EmulatedKernel() = default;

EmulatedKernel::EmulatedKernel(const std::string &text, const std::string &target, unsigned threads)
    : info(llvm::cantFail(parseTarget(target))), threads(threads) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<LLVM::LLVMDialect, NVVM::NVVMDialect, ROCDL::ROCDLDialect, tile::TileDialect,
                      tilegpu::TileGPUDialect>();
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    if (auto place = diagnostic.getLocation()->findInstanceOf<FileLineColLoc>())
      errors += place.getFilename().str() + ":" + std::to_string(place.getLine()) + ":" +
                std::to_string(place.getColumn()) + ": ";
    errors += diagnostic.str() + "\n";
    return success();
  });
  if (OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context))
    load(*module, "kernel");
}

EmulatedKernel::EmulatedKernel(ModuleOp module, llvm::StringRef symbol, const std::string &target,
                               unsigned threads)
    : info(llvm::cantFail(parseTarget(target))), threads(threads) {
  load(module, symbol);
}

void EmulatedKernel::load(ModuleOp module, llvm::StringRef symbol) {
  // The object finds the emulator's functions in this process, which has them if it refers to one.
  auto *volatile emulator = &kiln_emu_run_block;
  (void)emulator;
  if (failed(lowerToEmulator(module, info, {symbol, threads})) || failed(mlir::verify(module)))
    return;
  KernelFacts facts;
  facts.symbol = symbol.str();
  // As SourceKernel.cpp: optimising host code is not what is tested.
  EmitOptions options;
  options.optLevel = 0;
  llvm::Expected<DeviceBinary> binary = emitDeviceBinary(module, facts, info, options);
  if (binary)
    object = std::make_unique<LoadedObject>(*binary);
  else
    errors += llvm::toString(binary.takeError());
}

std::vector<kiln_emulator_count> EmulatedKernel::count(std::vector<void *> params,
                                                       uint32_t sharedBytes, Grid grid) {
  for (const std::string &report : run(std::move(params), sharedBytes, grid, /*count=*/true))
    ADD_FAILURE() << report;
  return counts;
}

std::vector<std::string> EmulatedKernel::run(std::vector<void *> params, uint32_t sharedBytes,
                                             Grid grid, bool count) {
  if (!object)
    return {errors};
  kiln_emulator *emulator = nullptr;
  EXPECT_EQ(kiln_emulator_create(info.arch.c_str(), nullptr, &emulator), KILN_SUCCESS);
  std::sort(ranges.begin(), ranges.end(),
            [](const auto &a, const auto &b) { return a.first < b.first; });
  kiln_emulated_launch launch = {};
  launch.emulator = emulator;
  launch.threads = threads;
  launch.dynamic_bytes = sharedBytes;
  launch.max_shared = info.maxSharedBytes;
  launch.check = 1;
  launch.count = count;
  launch.ranges = ranges.data();
  launch.num_ranges = uint32_t(ranges.size());
  Grid block;
  for (block[2] = 0; block[2] < grid[2]; ++block[2])
    for (block[1] = 0; block[1] < grid[1]; ++block[1])
      for (block[0] = 0; block[0] < grid[0] && !launch.stopped; ++block[0])
        object->entry()(params.data(), block.data(), grid.data(), &launch);
  std::vector<std::string> reports;
  for (uint32_t i = 0; i < kiln_emulator_num_reports(emulator); ++i)
    reports.push_back(kiln_emulator_report(emulator, i));
  counts.resize(kiln_emulator_num_counts(emulator));
  for (uint32_t i = 0; i < counts.size(); ++i)
    EXPECT_EQ(kiln_emulator_count_at(emulator, i, &counts[i]), KILN_SUCCESS);
  kiln_emulator_destroy(emulator);
  return reports;
}

} // namespace kiln::testing
