// Tile IR through the whole pipeline, for a target of each kind.

#include "compiler/Pipeline/Pipeline.h"
#include "compiler/Dialect/Tile/Tile.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/raw_ostream.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace kiln;

namespace {

constexpr llvm::StringLiteral vectorAdd = R"mlir(
func.func @add(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %y: !tile.ptr<f32> {tile.divisibility = 16 : i32},
               %out: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32 {tile.divisibility = 16 : i32})
    attributes {tile.kernel, tile.num_warps = 4 : i32, tile.num_stages = 3 : i32, tile.num_ctas = 1 : i32} {
  %block = arith.constant 1024 : i32
  %pid = tile.program_id 0 : i32
  %start = arith.muli %pid, %block : i32
  %range = tile.arange 0, 1024 : tensor<1024xi32>
  %starts = tile.splat %start : i32 -> tensor<1024xi32>
  %offsets = arith.addi %starts, %range : tensor<1024xi32>
  %limit = tile.splat %n : i32 -> tensor<1024xi32>
  %mask = arith.cmpi slt, %offsets, %limit : tensor<1024xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %xp = tile.addptr %xs, %offsets : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  %a = tile.load %xp mask %mask : (tensor<1024x!tile.ptr<f32>>, tensor<1024xi1>) -> tensor<1024xf32>
  %ys = tile.splat %y : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %yp = tile.addptr %ys, %offsets : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  %b = tile.load %yp mask %mask : (tensor<1024x!tile.ptr<f32>>, tensor<1024xi1>) -> tensor<1024xf32>
  %sum = arith.addf %a, %b : tensor<1024xf32>
  %os = tile.splat %out : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %op = tile.addptr %os, %offsets : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  tile.store %op, %sum mask %mask : (tensor<1024x!tile.ptr<f32>>, tensor<1024xf32>, tensor<1024xi1>) -> ()
  return
}
)mlir";

class Pipeline : public testing::TestWithParam<const char *> {
protected:
  Pipeline() : context(mlir::MLIRContext::Threading::DISABLED) {
    context.loadDialect<tile::TileDialect, mlir::arith::ArithDialect, mlir::func::FuncDialect,
                        mlir::math::MathDialect, mlir::scf::SCFDialect>();
  }

  std::optional<DeviceBinary> compile(llvm::StringRef text, PipelineOptions options = {}) {
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    EXPECT_TRUE(module);
    auto target = parseTarget(GetParam());
    EXPECT_TRUE(bool(target));
    auto binary = runPipeline(*module, *target, options, diagnostics, sources, doesNotFit);
    std::string messages;
    llvm::raw_string_ostream os(messages);
    diagnostics.print(os, sources);
    EXPECT_TRUE(binary || !messages.empty() || doesNotFit);
    EXPECT_EQ(messages, "");
    return binary;
  }

  mlir::MLIRContext context;
  DiagnosticEngine diagnostics;
  SourceManager sources;
  std::optional<Diagnostic> doesNotFit;
};

TEST_P(Pipeline, VectorAddBecomesABinary) {
  auto binary = compile(vectorAdd);
  ASSERT_TRUE(binary);
  EXPECT_EQ(binary->symbol, "add");
  EXPECT_EQ(binary->resources.spillStoreBytes, 0u);
  if (binary->format == BinaryFormat::HostObject)
    return;
  ASSERT_EQ(binary->parameters.size(), 4u);
  EXPECT_EQ(binary->parameters[3].offset, 24u);
  EXPECT_EQ(binary->parameters[3].size, 4u);
  EXPECT_EQ(binary->launch.threadsPerBlock, 4 * binary->launch.warpSize);
}

TEST_P(Pipeline, StagesAreSeenInOrder) {
  std::vector<std::string> stages;
  PipelineOptions options;
  options.afterStage = [&](llvm::StringRef stage, mlir::ModuleOp) {
    stages.push_back(stage.str());
    return true;
  };
  ASSERT_TRUE(compile(vectorAdd, options));
  bool gpu = llvm::StringRef(GetParam()) != "cpu";
  EXPECT_EQ(stages, gpu ? (std::vector<std::string>{"tile", "tilegpu", "llvm"})
                        : (std::vector<std::string>{"tile", "llvm"}));
}

INSTANTIATE_TEST_SUITE_P(, Pipeline,
                         testing::Values("cuda:sm_80", "cuda:sm_90a", "hip:gfx90a", "hip:gfx942",
                                         "hip:gfx1100", "cpu"),
                         [](const auto &info) {
                           std::string name = info.param;
                           std::replace_if(
                               name.begin(), name.end(), [](char c) { return !isalnum(c); }, '_');
                           return name;
                         });

} // namespace
