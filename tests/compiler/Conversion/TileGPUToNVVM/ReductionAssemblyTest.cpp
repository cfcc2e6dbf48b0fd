// ptxas takes the text of every addition to memory that the targets are said to have.

#include "compiler/Conversion/TileGPUToLLVM/TileGPUToLLVM.h"
#include "compiler/Dialect/TileGPU/TileGPU.h"
#include "compiler/Target/Emission/Emit.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>

using namespace mlir;

namespace kiln {
namespace {

/// "vector<4xf16>", or "f16" of a single element.
std::string typeText(const std::string &element, unsigned count) {
  return count == 1 ? element : "vector<" + std::to_string(count) + "x" + element + ">";
}

/// Additions of 1, 2, 4 … elements, up to `maxBits`, with and without a predicate, at each scope.
std::string additions(const std::string &element, unsigned elementBits, unsigned maxBits) {
  std::string text;
  for (unsigned count = 1; count * elementBits <= maxBits; count *= 2) {
    std::string type = typeText(element, count), name = "%" + element + std::to_string(count);
    text += name + " = llvm.load %p {alignment = 16 : i64} : !llvm.ptr<1> -> " + type + "\n";
    for (const char *scope : {"cta", "gpu", "sys"}) {
      std::string attribute =
          std::string(" {scope = #tile.scope<") + scope + ">} : (!llvm.ptr<1>, ";
      text += "tilegpu.global_reduce %p, " + name + attribute + type + ") -> ()\n";
      text += "tilegpu.global_reduce %p, " + name + " predicate %c" + attribute + type +
              ", i1) -> ()\n";
    }
  }
  return text;
}

TEST(ReductionAssembly, EveryWidthOnEveryTarget) {
  for (const TargetInfo &target : allTargets()) {
    if (target.backend != Backend::CUDA)
      continue;
    SCOPED_TRACE(target.name);
    const ReductionFeatures &widths = target.reduction;
    std::string text = "llvm.func @kernel(%p: !llvm.ptr<1>, %n: i32) attributes {nvvm.kernel, "
                       "nvvm.reqntid = array<i32: 128, 1, 1>} {\n"
                       "%t = nvvm.read.ptx.sreg.tid.x : i32\n"
                       "%c = llvm.icmp \"slt\" %t, %n : i32\n" +
                       additions("f16", 16, widths.f16) + additions("bf16", 16, widths.bf16) +
                       additions("f32", 32, widths.f32) + "llvm.return\n}\n";
    MLIRContext context(MLIRContext::Threading::DISABLED);
    context.loadDialect<LLVM::LLVMDialect, NVVM::NVVMDialect, tile::TileDialect,
                        tilegpu::TileGPUDialect>();
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    ASSERT_TRUE(module) << text;
    ASSERT_TRUE(succeeded(expandTargetOperations(*module, target)));
    KernelFacts facts;
    facts.symbol = "kernel";
    llvm::Expected<DeviceBinary> binary = emitDeviceBinary(*module, facts, target, EmitOptions());
    ASSERT_TRUE(bool(binary)) << llvm::toString(binary.takeError()) << "\n" << text;
    EXPECT_EQ(binary->warnings, std::vector<std::string>());
  }
}

} // namespace
} // namespace kiln
