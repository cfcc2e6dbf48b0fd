#include "tests/compiler/Emulator/EmulatedKernel.h"

#include "compiler/Dialect/TileGPU/TileGPU.h"
#include "compiler/Emulator/LowerToEmulator.h"
#include "compiler/Target/Emit.h"
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
    : threads(threads) {
  // The object finds the emulator's functions in this process, which has them if it refers to one.
  auto *volatile emulator = &kiln_emu_run_block;
  (void)emulator;
  TargetInfo info = llvm::cantFail(parseTarget(target));
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
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  if (!module || failed(lowerToEmulator(*module, info, {"kernel", threads})) ||
      failed(mlir::verify(*module)))
    return;
  KernelFacts facts;
  facts.symbol = "kernel";
  llvm::Expected<DeviceBinary> emitted = emitDeviceBinary(*module, facts, info);
  if (!emitted) {
    errors += llvm::toString(emitted.takeError());
    return;
  }
  binary = std::move(*emitted);
  object = std::make_unique<LoadedObject>(*binary);
}

std::vector<kiln_emulator_count> EmulatedKernel::count(std::vector<void *> params,
                                                       uint32_t sharedBytes) {
  for (const std::string &report : run(params, sharedBytes, /*count=*/true))
    ADD_FAILURE() << report;
  return counts;
}

std::vector<std::string> EmulatedKernel::run(std::vector<void *> params, uint32_t sharedBytes,
                                             bool count) {
  if (!object)
    return {errors};
  kiln_emulator *emulator = nullptr;
  EXPECT_EQ(kiln_emulator_create("sm_80", nullptr, &emulator), KILN_SUCCESS);
  std::sort(ranges.begin(), ranges.end(),
            [](const auto &a, const auto &b) { return a.first < b.first; });
  kiln_emulated_launch launch = {};
  launch.emulator = emulator;
  launch.threads = threads;
  launch.dynamic_bytes = sharedBytes;
  launch.max_shared = 64 * 1024;
  launch.check = 1;
  launch.count = count;
  launch.ranges = ranges.data();
  launch.num_ranges = uint32_t(ranges.size());
  object->run(params, &launch);
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
