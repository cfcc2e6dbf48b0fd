#include "codegen/SpecChecks.h"
#include "tests/codegen/SpecText.h"
#include <gtest/gtest.h>

namespace kiln::test {
namespace {

TEST(SpecReader, ReadsTheWholeFormat) {
  ReadSpec read = test::read(R"json({
    "$schema": "kiln.schema.json", "kiln": 1, "library": "llm_kernels", "size_budget": 1000000, "compress": "zstd",
    "targets": ["cuda:sm_90a", "hip:gfx942", "cpu:x86-64-v3"],
    "kernels": [ { "name": "matmul_f16", "source": "matmul.py", "kernel": "matmul_kernel",
      "signature": { "a_ptr": "*fp16:16", "M": "i32", "K": "i32:16", "stride_ak": 1,
                     "ACTIVATION": "", "dtype": {"dtype": "float16"}, "f": {"function": "relu"},
                     "eps": 1e-5, "flag": true, "none": null, "shape": [1, 2],
                     "pair": ["*fp32", 3], "text": {"string": "1024"}, "number": "1024" },
      "configs": [ { "BLOCK_SIZE_M": 128, "num_warps": 8, "num_stages": 3, "waves_per_eu": 2 },
                   { "BLOCK_SIZE_M": 64 } ],
      "grid": ["cdiv(M, BLOCK_SIZE_M)", 2],
      "debug": true,
      "device_memory": true, "small_arrays": true, "portable": true,
      "dispatch": { "key": ["M", "K"], "tuning": "matmul_f16.tune.json", "regret": 0.05, "max_variants": 3,
                    "shapes": [ { "M": [1, 16], "K": 64 } ], "tolerance": 0.01,
                    "arrays": { "a_ptr": ["M", "K"], "pair_0": { "size": "M + 1", "step": "K" } } },
      "constants": { "USE_FAST": true } } ] })json");
  ASSERT_TRUE(read.spec) << read.printed;
  const Spec &spec = *read.spec;
  EXPECT_EQ(spec.library, "llm_kernels");
  EXPECT_EQ(spec.sizeBudget, 1000000u);
  EXPECT_TRUE(spec.isCompressed);
  ASSERT_EQ(spec.targets.size(), 3u);
  const SpecKernel &kernel = spec.kernels.at(0);
  EXPECT_EQ(kernel.entryNames(), std::vector<std::string>{"matmul_f16"});
  const SpecSignature &signature = kernel.signatures.at(0);
  EXPECT_EQ(signature.find("a_ptr")->value.asType->spelling(), "*fp16:16");
  EXPECT_EQ(signature.find("a_ptr")->place.path, "kernels[0].signature.a_ptr");
  EXPECT_EQ(signature.find("stride_ak")->value.asLiteral->str(), "1");
  EXPECT_EQ(signature.find("ACTIVATION")->value.asLiteral->str(), "''");
  EXPECT_EQ(signature.find("dtype")->value.asLiteral->str(), "fp16");
  EXPECT_EQ(signature.find("f")->value.asLiteral->kind, Literal::Kind::Function);
  EXPECT_EQ(signature.find("eps")->value.asLiteral->str(), "1e-05");
  EXPECT_EQ(signature.find("none")->value.asLiteral->str(), "None");
  EXPECT_EQ(signature.find("shape")->value.asLiteral->str(), "(1, 2)");
  EXPECT_EQ(signature.find("pair")->value.elements.size(), 2u);
  EXPECT_EQ(signature.find("text")->value.asLiteral->str(), "'1024'");
  EXPECT_EQ(signature.find("number")->value.asLiteral->str(), "1024");
  EXPECT_EQ(kernel.configs.list.at(0).options.numWarps, 8);
  EXPECT_EQ(kernel.configs.list.at(0).options.wavesPerEu, 2);
  EXPECT_EQ(kernel.configs.list.at(0).values.at(0).name, "BLOCK_SIZE_M");
  EXPECT_FALSE(kernel.configs.list.at(1).options.numWarps);
  EXPECT_EQ(kernel.grid.at(0).expression.text(), "cdiv(M, BLOCK_SIZE_M)");
  EXPECT_EQ(kernel.grid.at(1).expression.text(), "2");
  EXPECT_TRUE(kernel.debug);
  EXPECT_TRUE(kernel.deviceMemory);
  EXPECT_TRUE(kernel.smallArrays);
  EXPECT_TRUE(kernel.portable);
  EXPECT_EQ(kernel.dispatchKey, (std::vector<std::string>{"M", "K"}));
  EXPECT_EQ(kernel.tuningFile, "matmul_f16.tune.json");
  const SpecTuning &tuning = kernel.tuning;
  ASSERT_EQ(tuning.shapes.size(), 1u);
  EXPECT_EQ(tuning.shapes[0].values[0].second, (std::vector<int64_t>{1, 16}));
  EXPECT_EQ(tuning.arrays.at(0).extents.at(1).expression.text(), "K");
  EXPECT_EQ(tuning.arrays.at(1).name, "pair_0");
  EXPECT_EQ(tuning.arrays.at(1).step->expression.text(), "K");
  EXPECT_EQ(tuning.regret, 0.05);
  EXPECT_EQ(tuning.maxVariants, 3u);
  EXPECT_EQ(tuning.tolerance, 0.01);
  EXPECT_EQ(kernel.constants.at(0).value.asLiteral->str(), "True");
}

TEST(SpecReader, DefaultsToOneConfigAndTheCallersGrid) {
  ReadSpec read = test::read(kernelSpec(R"("signature": {"x": "*fp32"})"));
  ASSERT_TRUE(read.spec) << read.printed;
  EXPECT_EQ(read.spec->kernels[0].configs.list.size(), 1u);
  EXPECT_TRUE(read.spec->kernels[0].grid.empty());
  read = test::read(kernelSpec(R"("signature": {}, "configs": "source")"));
  ASSERT_TRUE(read.spec) << read.printed;
  EXPECT_TRUE(read.spec->kernels[0].configs.fromSource);
}

TEST(SpecReader, AKernelMayBeInsideAClass) {
  auto spec = [](const std::string &kernel) {
    return test::read(R"({"kiln": 1, "library": "l", "targets": ["cpu"], "kernels": [)"
                      R"({"name": "a", "source": "a.py", "kernel": ")" +
                      kernel + R"(", "signature": {}}]})");
  };
  ReadSpec read = spec("Class.Inner.kernel");
  ASSERT_TRUE(read.spec) << read.printed;
  EXPECT_EQ(read.spec->kernels[0].kernel, "Class.Inner.kernel");
  for (const char *bad : {"", ".kernel", "Class.", "Class..kernel", "Class.2", "a b"})
    EXPECT_TRUE(spec(bad).hasErrors) << bad;
}

TEST(SpecReader, SignaturesAreEntryPointsOrSpecialisations) {
  ReadSpec read = test::read(kernelSpec(R"("signatures": [
      {"signature": {"x": "*fp32:16", "stride": 1}}, {"signature": {"x": "*fp32", "stride": "i32"}},
      {"name": "add_f16", "signature": {"x": "*fp16", "stride": "i32"}}])"));
  ASSERT_TRUE(read.spec) << read.printed;
  EXPECT_EQ(read.spec->kernels[0].entryNames(), (std::vector<std::string>{"add", "add_f16"}));
}

TEST(SpecReader, ASignatureMayHaveItsOwnConfigs) {
  ReadSpec read = test::read(kernelSpec(R"("signatures": [
      {"signature": {"x": "*fp32:16"}, "configs": [{"B": 8}, {"B": 4}]},
      {"signature": {"x": "*fp32"}},
      {"name": "other", "signature": {"x": "*fp16"}, "configs": "source"}], "configs": [{"B": 4}])"));
  ASSERT_TRUE(read.spec) << read.printed;
  const SpecKernel &kernel = read.spec->kernels[0];
  EXPECT_EQ(kernel.configsOf(kernel.signatures[0]).list.size(), 2u);
  EXPECT_EQ(&kernel.configsOf(kernel.signatures[1]), &kernel.configs);
  EXPECT_TRUE(kernel.configsOf(kernel.signatures[2]).fromSource);
  EXPECT_EQ(kernel.configLists().size(), 3u);
}

TEST(SpecReader, AConfigMayBeForSomeTargets) {
  ReadSpec read = test::read(R"({"kiln": 1, "library": "l", "kernels": [
      {"name": "k", "source": "k.py", "kernel": "k", "signature": {}, "configs": [
        {"B": 8, "targets": ["cuda:sm_8"]}, {"B": 4, "targets": ["hip", "emu:sm_90a", "cuda:89:32"]},
        {"B": 2, "targets": ["cpu"]}, {"B": 1}]}],
      "targets": ["cuda:sm_80", "cuda:sm_90a", "emu:sm_90a", "hip:gfx942", "emu:gfx942", "cpu"]})");
  ASSERT_TRUE(read.spec) << read.printed;
  std::vector<std::string> takers;
  for (const SpecConfig &config : read.spec->kernels[0].configs.list) {
    takers.emplace_back();
    for (const TargetInfo &target : read.spec->targets)
      takers.back() += config.isFor(target) ? "x" : "-";
  }
  EXPECT_EQ(takers, (std::vector<std::string>{"x-----", "-xxxx-", "-----x", "xxxxxx"}));
}

TEST(SpecReader, TheCommandLineReplacesLibraryAndTargets) {
  SpecReadOptions options;
  options.library = "other";
  options.targets = {"cuda:sm_80"};
  const char *text = R"({"kiln": 1, "targets": ["emu:whatever"], "kernels": [
    {"name": "k", "source": "k.py", "kernel": "k", "signature": {}}]})";
  ReadSpec read = test::read(text, options);
  ASSERT_TRUE(read.spec) << read.printed;
  EXPECT_EQ(read.spec->library, "other");
  EXPECT_EQ(read.spec->targetNames, std::vector<std::string>{"cuda:sm_80"});
}

TEST(SpecReader, AnEntryPointMayHaveTheLibrarysName) {
  std::string text = R"({"kiln": 1, "library": "add", "targets": ["cpu:x86-64-v3"], "kernels": [
    {"name": "add", "source": "k.py", "kernel": "k", "signature": {}}]})";
  EXPECT_TRUE(test::read(text).spec);
}

TEST(SpecReader, ReportsSeveralErrorsInOneRun) {
  ReadSpec read = test::read(kernelSpec(R"("signature": {"x": "*fp61", "n": "i32:7"},
   "configs": [{"num_warps": 3}], "grid": ["cdiv(n"], "grids": [])"));
  EXPECT_EQ(read.kinds.size(), 5u) << read.printed;
}

TEST(SpecReader, ErrorsShowThePathTheLineAndTheCharacters) {
  ReadSpec read = test::read(kernelSpec(R"("signature": {"n": "i32"},
   "grid": ["cdiv(n, 4) / 2"])"));
  EXPECT_EQ(read.printed,
            "spec.json:4:25: error: kernels[0].grid[0]: expected an operator or the end of the "
            "expression, got '/' [spec-expression]\n"
            "     \"grid\": [\"cdiv(n, 4) / 2\"]}]}\n"
            "                          ^\n"
            "hint: write '//' for integer division, or cdiv(a, b)\n");
}

TEST(SpecReader, NeverDiesOnHostileInput) {
  for (const std::string &text :
       {std::string(), std::string(1 << 20, '['), std::string("\0\0", 2), std::string("null"),
        std::string("[]"), std::string("{}"), std::string("\"x\""),
        kernelSpec("\"signature\": {\"x\": \"" + std::string(100000, '*') + "\"}"),
        kernelSpec("\"signature\": {\"" + std::string(100000, 'x') + "\": \"i32\"}"),
        kernelSpec("\"signature\": {}, \"grid\": [\"" + std::string(100000, '(') + "\"]"),
        kernelSpec("\"signature\": {}, \"grid\": [\"" + std::string(4000, '-') + "\"]"),
        kernelSpec("\"signature\": {}, \"" + std::string(100000, 'k') + "\": 1")}) {
    ReadSpec read = test::read(text);
    EXPECT_FALSE(read.spec);
    EXPECT_FALSE(read.kinds.empty());
  }
}

TEST(SpecReader, LaunchParametersAreArgumentsForExpressions) {
  ReadSpec read = test::read(kernelSpec(
      R"("signature": {"x": "*fp32"}, "launch": {"n_rows": "i32", "n": "u64"}, "grid": ["n_rows"],
         "when": ["n % 16 == 0 or n >= 4096"], "dispatch": {"key": ["n_rows"]})"));
  ASSERT_TRUE(read.spec) << read.printed;
  const SpecKernel &kernel = read.spec->kernels[0];
  ASSERT_EQ(kernel.launch.size(), 2u);
  EXPECT_EQ(kernel.launch[0].name, "n_rows");
  EXPECT_EQ(kernel.launch[1].value.asType->spelling(), "u64");
  EXPECT_EQ(kernel.dispatchKey, (std::vector<std::string>{"n_rows"}));
}

TEST(SpecChecks, ExpressionsReadIntegersOfTheVariant) {
  SourceManager sources;
  DiagnosticEngine diagnostics;
  const SourceFile &file = sources.add(
      "spec.json",
      kernelSpec(R"("signature": {"n": "i32"}, "grid": ["cdiv(n, BLOCK) * MODE", "N", "alpha"])"));
  std::optional<Spec> spec = readSpec(file, diagnostics);
  ASSERT_TRUE(spec);
  const SpecKernel &kernel = spec->kernels[0];
  TextError error;
  for (const SpecExpression &dimension : kernel.grid)
    EXPECT_FALSE(checkExpression(
        dimension,
        {{"n", *parseArgumentType("i32", error)}, {"alpha", *parseArgumentType("fp32", error)}},
        {{"BLOCK", Literal::ofInt(64)}, {"MODE", Literal::ofString("x")}}, diagnostics));
  ASSERT_EQ(diagnostics.getDiagnostics().size(), 3u);
  EXPECT_EQ(diagnostics.getDiagnostics()[0].message,
            "kernels[0].grid[0]: 'MODE' is 'x', expected an integer");
  EXPECT_EQ(getDiagTag(diagnostics.getDiagnostics()[0].kind), "spec-not-integer");
  EXPECT_EQ(diagnostics.getDiagnostics()[1].message,
            "kernels[0].grid[1]: no argument or constant is named 'N'");
  EXPECT_EQ(diagnostics.getDiagnostics()[1].hint, "did you mean 'n'?");
  EXPECT_EQ(diagnostics.getDiagnostics()[2].message,
            "kernels[0].grid[2]: 'alpha' is fp32, expected an integer");
}

} // namespace
} // namespace kiln::test
