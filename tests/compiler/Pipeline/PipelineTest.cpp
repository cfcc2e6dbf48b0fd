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

/// A product of `size` rows and columns by eight warps, in a loop over k.
std::string product(unsigned size) {
  std::string text = R"mlir(
func.func @product(%a: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %b: !tile.ptr<f16> {tile.divisibility = 16 : i32},
                   %c: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %k: i32 {tile.divisibility = 16 : i32})
    attributes {tile.kernel, tile.num_warps = 8 : i32, tile.num_stages = 2 : i32, tile.num_ctas = 1 : i32} {
  %begin = arith.constant 0 : i32
  %step = arith.constant 32 : i32
  %line = arith.constant SIZE : i32
  %none = arith.constant dense<0.0> : tensor<SIZExSIZExf32>
  %lines = arith.constant dense<SIZE> : tensor<SIZEx1xi32>
  %linesk = arith.constant dense<SIZE> : tensor<32x1xi32>
  %r = tile.arange 0, SIZE : tensor<SIZExi32>
  %rk = tile.arange 0, 32 : tensor<32xi32>
  %column = tile.expand_dims %r, 1 : tensor<SIZExi32> -> tensor<SIZEx1xi32>
  %columnk = tile.expand_dims %rk, 1 : tensor<32xi32> -> tensor<32x1xi32>
  %row = tile.expand_dims %r, 0 : tensor<SIZExi32> -> tensor<1xSIZExi32>
  %rowk = tile.expand_dims %rk, 0 : tensor<32xi32> -> tensor<1x32xi32>
  %widths = tile.splat %k : i32 -> tensor<SIZEx1xi32>
  %a0 = arith.muli %column, %widths : tensor<SIZEx1xi32>
  %a1 = tile.broadcast %a0 : tensor<SIZEx1xi32> -> tensor<SIZEx32xi32>
  %a2 = tile.broadcast %rowk : tensor<1x32xi32> -> tensor<SIZEx32xi32>
  %ao = arith.addi %a1, %a2 : tensor<SIZEx32xi32>
  %b0 = arith.muli %columnk, %linesk : tensor<32x1xi32>
  %b1 = tile.broadcast %b0 : tensor<32x1xi32> -> tensor<32xSIZExi32>
  %b2 = tile.broadcast %row : tensor<1xSIZExi32> -> tensor<32xSIZExi32>
  %bo = arith.addi %b1, %b2 : tensor<32xSIZExi32>
  %sum = scf.for %i = %begin to %k step %step iter_args(%acc = %none) -> (tensor<SIZExSIZExf32>) : i32 {
    %ap = tile.addptr %a, %i : !tile.ptr<f16>, i32
    %as = tile.splat %ap : !tile.ptr<f16> -> tensor<SIZEx32x!tile.ptr<f16>>
    %aa = tile.addptr %as, %ao : tensor<SIZEx32x!tile.ptr<f16>>, tensor<SIZEx32xi32>
    %x = tile.load %aa : (tensor<SIZEx32x!tile.ptr<f16>>) -> tensor<SIZEx32xf16>
    %rows = arith.muli %i, %line : i32
    %bp = tile.addptr %b, %rows : !tile.ptr<f16>, i32
    %bs = tile.splat %bp : !tile.ptr<f16> -> tensor<32xSIZEx!tile.ptr<f16>>
    %ba = tile.addptr %bs, %bo : tensor<32xSIZEx!tile.ptr<f16>>, tensor<32xSIZExi32>
    %y = tile.load %ba : (tensor<32xSIZEx!tile.ptr<f16>>) -> tensor<32xSIZExf16>
    %d = tile.dot %x, %y, %acc : (tensor<SIZEx32xf16>, tensor<32xSIZExf16>, tensor<SIZExSIZExf32>) -> tensor<SIZExSIZExf32>
    scf.yield %d : tensor<SIZExSIZExf32>
  }
  %c0 = arith.muli %column, %lines : tensor<SIZEx1xi32>
  %c1 = tile.broadcast %c0 : tensor<SIZEx1xi32> -> tensor<SIZExSIZExi32>
  %c2 = tile.broadcast %row : tensor<1xSIZExi32> -> tensor<SIZExSIZExi32>
  %co = arith.addi %c1, %c2 : tensor<SIZExSIZExi32>
  %cs = tile.splat %c : !tile.ptr<f32> -> tensor<SIZExSIZEx!tile.ptr<f32>>
  %ca = tile.addptr %cs, %co : tensor<SIZExSIZEx!tile.ptr<f32>>, tensor<SIZExSIZExi32>
  tile.store %ca, %sum : (tensor<SIZExSIZEx!tile.ptr<f32>>, tensor<SIZExSIZExf32>) -> ()
  return
}
)mlir";
  constexpr llvm::StringLiteral name = "SIZE";
  for (size_t at; (at = text.find(name)) != std::string::npos;)
    text.replace(at, name.size(), std::to_string(size));
  return text;
}

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

/// How often the product goes through the back end.
class PipelineOfProducts : public Pipeline {
protected:
  unsigned timesTranslated(unsigned size) {
    unsigned times = 0;
    PipelineOptions options;
    options.emit.afterStage = [&](llvm::StringRef stage) { times += stage == "translate"; };
    binary = compile(product(size), options);
    EXPECT_TRUE(binary);
    return times;
  }

  std::optional<DeviceBinary> binary;
};

/// Lanes of RDNA have neighbours of what is stored, and RDNA 3's operands lie by halves, but where
/// threads spill the code without the former is looked at, too, and then that without both.
TEST_P(PipelineOfProducts, WhatSpillsIsCompiledWithPlainResultsAndWholeOperandsToo) {
  bool byHalves = llvm::StringRef(GetParam()) == "hip:gfx1100";
  EXPECT_EQ(timesTranslated(64), 1u);
  EXPECT_EQ(binary->resources.spilledBytes(), 0u);
  EXPECT_EQ(timesTranslated(256), byHalves ? 3u : 2u);
  EXPECT_GT(binary->resources.spilledBytes(), 0u);
}

INSTANTIATE_TEST_SUITE_P(, PipelineOfProducts, testing::Values("hip:gfx1100", "hip:gfx1201"),
                         [](const auto &info) {
                           return llvm::StringRef(info.param).substr(4).str();
                         });

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
