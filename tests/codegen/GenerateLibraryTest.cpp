#include "codegen/GenerateLibrary.h"
#include "codegen/DispatchTables.h"
#include "codegen/Manifest.h"
#include "tests/codegen/TestModel.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <gtest/gtest.h>
#include <random>
#include <set>

namespace kiln::test {
namespace {

std::string fileOf(const GeneratedLibrary &library, llvm::StringRef name) {
  for (const OutputFile &file : library.files)
    if (file.name == name)
      return file.bytes;
  ADD_FAILURE() << name.str() << " is missing";
  return "";
}

std::string messageOf(const LibraryModel &model) {
  llvm::Expected<GeneratedLibrary> library = generateLibrary(model);
  return library ? "" : llvm::toString(library.takeError());
}

std::string manifestOf(const LibraryModel &model) {
  return fileOf(llvm::cantFail(generateLibrary(model)), model.name + ".json");
}

TEST(GenerateLibrary, GivesTheSameBytesEveryTime) {
  auto first = llvm::cantFail(generateLibrary(testLibrary("")));
  auto second = llvm::cantFail(generateLibrary(testLibrary("")));
  ASSERT_EQ(first.files.size(), 4u);
  for (size_t i = 0; i < first.files.size(); ++i) {
    EXPECT_EQ(first.files[i].name, second.files[i].name);
    EXPECT_EQ(first.files[i].bytes, second.files[i].bytes);
    EXPECT_EQ(first.files[i].bytes.find("/tmp"), std::string::npos);
  }
}

TEST(GenerateLibrary, WritesOneArchivePerHostArchitecture) {
  LibraryModel model = testLibrary("");
  model.hostArchs = {HostArch::AArch64, HostArch::X86_64};
  auto library = llvm::cantFail(generateLibrary(model));
  ASSERT_EQ(library.files.size(), 5u);
  EXPECT_EQ(library.files[3].name, "libtest_kernels.a");
  EXPECT_EQ(library.files[4].name, "libtest_kernels-aarch64.a");
}

TEST(GenerateLibrary, EqualImagesAreStoredOnce) {
  LibraryModel model = testLibrary("");
  std::string before = fileOf(llvm::cantFail(generateLibrary(model)), "test_kernels.c");
  for (VariantModel &variant : model.entries[0].variants)
    variant.binaries[0].binary.bytes = model.entries[0].variants[0].binaries[0].binary.bytes;
  std::string after = fileOf(llvm::cantFail(generateLibrary(model)), "test_kernels.c");
  EXPECT_NE(before.find("kiln_test_kernels_axpy_v3_cuda_sm_90a_cubin[]"), std::string::npos);
  EXPECT_EQ(after.find("kiln_test_kernels_axpy_v3_cuda_sm_90a_cubin"), std::string::npos);
}

TEST(GenerateLibrary, EqualImagesOfSeveralEntriesAreStoredOnceAndApart) {
  LibraryModel model = testLibrary("");
  uint64_t before = llvm::cantFail(generateLibrary(model)).sizes.stored();
  EntryModel copy = model.entries[0];
  copy.name = "zaxpy";
  model.entries.push_back(copy);
  auto library = llvm::cantFail(generateLibrary(model));
  EXPECT_EQ(library.sizes.stored(), before);
  std::string source = fileOf(library, "test_kernels.c");
  EXPECT_EQ(source.find("kiln_test_kernels_zaxpy"), std::string::npos);
  // A program that calls one of the two links no other image of the other.
  std::string archive = fileOf(library, "libtest_kernels.a");
  EXPECT_NE(archive.find("axpy.cuda_sm_90a.v0.o"), std::string::npos);
  EXPECT_EQ(archive.find("axpy.cuda_sm_90a.cubin.o"), std::string::npos);
  EXPECT_NE(archive.find("guarded.cuda_sm_90a.cubin.o"), std::string::npos);
}

TEST(GenerateLibrary, CompressedImagesAreInFramesOfTheirTarget) {
  LibraryModel model = testLibrary("");
  auto plain = llvm::cantFail(generateLibrary(model));
  model.isCompressed = true;
  auto library = llvm::cantFail(generateLibrary(model)),
       again = llvm::cantFail(generateLibrary(model));
  EXPECT_EQ(fileOf(library, "libtest_kernels.a"), fileOf(again, "libtest_kernels.a"));
  EXPECT_EQ(library.sizes.code(), plain.sizes.code());
  EXPECT_LT(library.sizes.stored(), plain.sizes.stored() / 2);
  EXPECT_EQ(fileOf(library, "test_kernels.h"), fileOf(plain, "test_kernels.h"));
  std::string source = fileOf(library, "test_kernels.c");
  for (const char *target : {"cuda_sm_90a_cubin", "hip_gfx942_hsaco"})
    EXPECT_NE(source.find("static const kiln_frame kiln_test_kernels_" + std::string(target) +
                          "_frame_0 = {"),
              std::string::npos)
        << source;
  EXPECT_EQ(source.find("_v0_cuda"), std::string::npos);
  EXPECT_EQ(fileOf(plain, "test_kernels.c").find("kiln_unpack_zstd"), std::string::npos);
}

TEST(GenerateLibrary, TheBudgetCountsWhatIsStored) {
  LibraryModel model = testLibrary("");
  model.isCompressed = true;
  model.sizeBudget = llvm::cantFail(generateLibrary(model)).sizes.stored();
  model.isCompressed = false;
  EXPECT_NE(messageOf(model), "");
  model.isCompressed = true;
  EXPECT_EQ(messageOf(model), "");
  --model.sizeBudget;
  std::string message = messageOf(model);
  EXPECT_NE(message.find("bytes when compressed, more than the size_budget of"), std::string::npos)
      << message;
  EXPECT_NE(message.find("the largest are, before they are, guarded for cuda:sm_90a ("),
            std::string::npos)
      << message;
}

TEST(GenerateLibrary, ReportsSizesAndKeepsTheBudget) {
  LibraryModel model = testLibrary("");
  auto library = llvm::cantFail(generateLibrary(model));
  ASSERT_EQ(library.sizes.targets.size(), 2u);
  EXPECT_EQ(library.sizes.targets[0].target, "cuda:sm_90a");
  EXPECT_EQ(library.sizes.tables.size(), model.entries.size());
  EXPECT_GT(library.sizes.stored(), 0u);
  EXPECT_EQ(library.sizes.stored(), library.sizes.code());
  model.sizeBudget = library.sizes.stored();
  EXPECT_EQ(messageOf(model), "");
  model.sizeBudget = 100;
  std::string message = messageOf(model);
  EXPECT_NE(
      message.find("more than the size_budget of 100; the largest are guarded for cuda:sm_90a ("),
      std::string::npos)
      << message;
}

TEST(GenerateLibrary, ComparesBinariesWithTheLauncher) {
  LibraryModel model = testLibrary("");
  KernelParameter &alpha = model.entries[0].variants[1].binaries[0].binary.parameters[3];
  alpha.size = 8;
  EXPECT_EQ(messageOf(model),
            "axpy: the binary for cuda:sm_90a has 'alpha' as 8 bytes at offset 20, "
            "the launcher passes 4 bytes at offset 20");
  model.entries[0].variants[1].binaries[0].binary.parameters.pop_back();
  EXPECT_EQ(messageOf(model),
            "axpy: the binary for cuda:sm_90a takes 3 parameters, the launcher passes 4");
}

TEST(GenerateLibrary, RefusesTensorMapsThatNoLauncherCanMake) {
  auto refused = [](void (*change)(TensorMapFacts &)) {
    LibraryModel model = testLibrary("");
    change(model.entries[4].variants[0].binaries[0].binary.launch.tensorMaps[0]);
    std::string message = messageOf(model);
    llvm::StringRef text = message;
    EXPECT_TRUE(text.consume_front("tensor: the binary for cuda:sm_90a: the tensor map of "
                                   "'matrix': "))
        << message;
    return text.str();
  };
  EXPECT_EQ(refused([](TensorMapFacts &map) { map.strides.clear(); }),
            "expected a rank from 1 to 5, and a stride of every axis but the last");
  EXPECT_EQ(refused([](TensorMapFacts &map) { map.base = 2; }),
            "its base is no pointer of the launcher's");
  EXPECT_EQ(refused([](TensorMapFacts &map) { map.base = 6; }),
            "its base is no pointer of the launcher's");
  EXPECT_EQ(refused([](TensorMapFacts &map) { map.extents[1] = {0}; }),
            "an extent or stride is no integer of the launcher's");
  EXPECT_EQ(refused([](TensorMapFacts &map) { map.strides[0] = {6}; }),
            "an extent or stride is no integer of the launcher's");
  EXPECT_EQ(refused([](TensorMapFacts &map) { map.strides[0].factor = 0; }),
            "an extent or stride is no integer of the launcher's");
  EXPECT_EQ(refused([](TensorMapFacts &map) { map.box = {8}; }),
            "expected blocks of 1 to 256 elements along each axis");
  EXPECT_EQ(refused([](TensorMapFacts &map) { map.box[0] = 257; }),
            "expected blocks of 1 to 256 elements along each axis");
  EXPECT_EQ(refused([](TensorMapFacts &map) { map.box[1] = 4; }),
            "expected rows of blocks to be multiples of 16 bytes");
  EXPECT_EQ(refused([](TensorMapFacts &map) { map.swizzleBytes = 48; }),
            "expected a swizzle of 0, 32, 64 or 128 bytes");
  EXPECT_EQ(refused([](TensorMapFacts &map) {
              map.box[1] = 32;
              map.swizzleBytes = 32;
            }),
            "rows of blocks are longer than the swizzle");
  EXPECT_EQ(refused([](TensorMapFacts &map) {
              map.element = TensorMapElement::U16;
              map.fillsWithNaN = true;
            }),
            "its elements have no NaN");
}

TEST(GenerateLibrary, ComparesBinariesWithTheTensorMaps) {
  LibraryModel model = testLibrary("");
  std::vector<VariantBinary> &binaries = model.entries[4].variants[0].binaries;
  DeviceBinary &cuda = binaries[0].binary;
  cuda.parameters[6].offset = 32;
  EXPECT_EQ(messageOf(model), "tensor: the binary for cuda:sm_90a has 'matrix' as 128 bytes at "
                              "offset 32, the launcher passes 128 bytes at offset 64");
  cuda.parameters[6].offset = 64;
  cuda.launch.tensorMaps.pop_back();
  EXPECT_EQ(messageOf(model),
            "tensor: the binary for cuda:sm_90a takes 8 parameters, the launcher passes 7");
  cuda.launch.tensorMaps.resize(17, cuda.launch.tensorMaps[0]);
  EXPECT_EQ(messageOf(model), "tensor: the binary for cuda:sm_90a takes 17 tensor maps, launches "
                              "pass at most 16");
  cuda.launch.tensorMaps = matrixMaps();
  binaries[1].binary.launch.tensorMaps = matrixMaps();
  EXPECT_EQ(messageOf(model), "tensor: the binary for hip:gfx942 takes tensor maps, which the "
                              "target does not have");
}

TEST(GenerateLibrary, EqualTensorMapsAreWrittenOnce) {
  LibraryModel model = testLibrary("");
  EntryModel &tensor = model.entries[4];
  VariantModel second = tensor.variants[0];
  second.config = second.constants = variant({{"BLOCK", 16}}).config;
  tensor.variants.push_back(second);
  std::string source = fileOf(llvm::cantFail(generateLibrary(model)), "test_kernels.c");
  EXPECT_NE(source.find("tensor_tensor_maps_0[]"), std::string::npos);
  EXPECT_EQ(source.find("tensor_tensor_maps_1"), std::string::npos);
  tensor.variants[1].binaries[0].binary.launch.tensorMaps[1].isWritten = false;
  source = fileOf(llvm::cantFail(generateLibrary(model)), "test_kernels.c");
  EXPECT_NE(source.find("tensor_tensor_maps_1[]"), std::string::npos);
}

/// The binary for CUDA of the entry whose binary has a fallback, and a fallback to change.
struct WithFallback {
  LibraryModel model = testLibrary("");
  DeviceBinary &binary = model.entries[7].variants[0].binaries[0].binary;
  DeviceBinary fallback = *binary.fallback;

  std::string message() {
    binary.fallback = std::make_shared<const DeviceBinary>(fallback);
    return messageOf(model);
  }
};

TEST(GenerateLibrary, FallbacksHaveATableOfTheirOwn) {
  std::string source = fileOf(llvm::cantFail(generateLibrary(testLibrary(""))), "test_kernels.c");
  const std::string symbol = "kiln_test_kernels_rows_v0_cuda_sm_90a_cubin";
  EXPECT_NE(source.find("extern HIDDEN const unsigned char " + symbol + "_fallback[];"),
            std::string::npos);
  EXPECT_NE(source.find("static const kiln_binary rows_fallbacks[] = {\n"
                        "    /* variant 0, sm_90a cubin */\n    {" +
                        symbol + "_fallback, "),
            std::string::npos)
      << source;
  EXPECT_NE(source.find("2, 0, 0, rows_tensor_maps_0, &rows_fallbacks[0]},"), std::string::npos);
  EXPECT_EQ(source.find("&rows_fallbacks[1]"), std::string::npos);
  EXPECT_EQ(source.find("tensor_fallbacks"), std::string::npos);
}

TEST(GenerateLibrary, FallbacksCountAndShareImages) {
  LibraryModel model = testLibrary("");
  DeviceBinary &binary = model.entries[7].variants[0].binaries[0].binary;
  uint64_t with = llvm::cantFail(generateLibrary(model)).sizes.code();
  uint64_t bytes = binary.fallback->bytes.size();
  // A second variant of the same code adds none.
  VariantModel second = model.entries[7].variants[0];
  second.config = second.constants = variant({{"BLOCK", 16}}).config;
  model.entries[7].variants.push_back(second);
  std::string source = fileOf(llvm::cantFail(generateLibrary(model)), "test_kernels.c");
  EXPECT_NE(source.find("&rows_fallbacks[1]"), std::string::npos);
  EXPECT_EQ(source.find("rows_v1_cuda"), std::string::npos);
  model = testLibrary("");
  model.entries[7].variants[0].binaries[0].binary.fallback = nullptr;
  EXPECT_EQ(llvm::cantFail(generateLibrary(model)).sizes.code(), with - bytes);
}

TEST(GenerateLibrary, RefusesFallbacksThatAreNotLikeTheirBinaries) {
  WithFallback clusters, maps, chain, symbol, parameters;
  clusters.fallback.launch.clusterDims = {2, 1, 1};
  EXPECT_EQ(clusters.message(), "rows: the fallback of the binary for cuda:sm_90a: expected the "
                                "binary's target, format and clusters");
  maps.fallback.launch.tensorMaps = matrixMaps();
  EXPECT_EQ(maps.message(), "rows: the fallback of the binary for cuda:sm_90a: expected fewer "
                            "tensor maps, and no fallback of its own");
  chain.fallback.fallback = chain.binary.fallback;
  EXPECT_EQ(chain.message(), maps.message());
  symbol.fallback.symbol.clear();
  EXPECT_NE(symbol.message().find("lacks its symbol or bytes"), std::string::npos);
  parameters.fallback.parameters.pop_back();
  EXPECT_EQ(parameters.message(),
            "rows: the binary for cuda:sm_90a takes 5 parameters, the launcher passes 6");
}

TEST(GenerateLibrary, RefusesAGridThatCannotBeComputed) {
  LibraryModel model = testLibrary("");
  model.entries[0].grid = {expression("cdiv(n, BLOCKS)")};
  EXPECT_NE(messageOf(model).find("axpy: the grid needs 'BLOCKS'"), std::string::npos);
  model.entries[0].grid = {expression("cdiv(alpha, BLOCK)")};
  EXPECT_NE(messageOf(model).find("the grid needs 'alpha'"), std::string::npos);
}

TEST(GenerateLibrary, RefusesWhatTheModelLacks) {
  LibraryModel model = testLibrary("");
  model.entries[0].variants[0].binaries.clear();
  EXPECT_NE(messageOf(model).find("has no binary"), std::string::npos);
  model.entries[0].variants.clear();
  EXPECT_NE(messageOf(model), "");
  model.entries.clear();
  EXPECT_EQ(messageOf(model), "the library 'test_kernels' has no kernel");
  model = testLibrary("");
  model.entries[0].arguments[0].type = type("tensordesc<fp16>[64]");
  EXPECT_NE(messageOf(model).find("C callers cannot pass yet"), std::string::npos);
}

TEST(GenerateLibrary, ABadHostObjectIsAnError) {
  LibraryModel model = testLibrary("not an object");
  EXPECT_EQ(messageOf(model).substr(0, 6), "axpy: ");
}

TEST(GenerateLibrary, TextFromOutsideCannotBreakTheC) {
  LibraryModel model = testLibrary("");
  model.entries[0].kernel = "a */ #error x\n\\";
  model.entries[0].variants[0].name = "quote \" back \\ trigraph ?\?/ line\n \x01";
  auto library = llvm::cantFail(generateLibrary(model));
  EXPECT_NE(fileOf(library, "test_kernels.h").find("a * / #error x \\ of"), std::string::npos);
  EXPECT_NE(
      fileOf(library, "test_kernels.c").find(R"("quote \" back \\ trigraph \?\?/ line\012 \001")"),
      std::string::npos);
}

//===----------------------------------------------------------------------===//
// Dispatch tables
//===----------------------------------------------------------------------===//

TEST(DispatchTables, TheTileCostIsVolumePlusWeightedFaces) {
  EntryModel matmul = entry("matmul", {{"M", "i32"}, {"N", "i32"}});
  matmul.grid = {expression("cdiv(M, BM) * cdiv(N, BN)")};
  EXPECT_EQ(tileCost(matmul, variant({{"BM", 128}, {"BN", 256}})), 128u * 256 + 128 * (128 + 256));
  matmul.grid = {expression("cdiv(M, BM * 2)")};
  EXPECT_EQ(tileCost(matmul, variant({{"BM", 128}})), 256u + 128);
  matmul.grid = {expression("M")};
  EXPECT_EQ(tileCost(matmul, variant({})), 1u);
  matmul.grid = {expression("cdiv(M, A) * cdiv(M, A) * cdiv(M, A)")};
  EXPECT_EQ(tileCost(matmul, variant({{"A", int64_t(1) << 40}})), ~uint64_t(0));
}

TEST(DispatchTables, ConditionsAreSharedAndCountedInWords) {
  LibraryModel model = testLibrary("");
  EntryModel wide = entry("wide", {});
  for (int i = 0; i < 70; ++i)
    wide.arguments.push_back({"a" + std::to_string(i), type("i32")});
  for (int copies = 0; copies < 2; ++copies) {
    VariantModel all = variant({{"C", copies}});
    for (unsigned i = 0; i < 70; ++i)
      all.facts.push_back(*factOf(i, type("i32:16")));
    all.binaries.push_back(fakeBinary(model, wide, all, 0));
    wide.variants.push_back(std::move(all));
  }
  DispatchTables tables = buildDispatchTables(model, wide);
  EXPECT_EQ(tables.conditions.size(), 70u);
  EXPECT_EQ(tables.words(), 2u);
  EXPECT_EQ(tables.needs[1][1], 63u);
  EXPECT_FALSE(tables.hasCosts);
}

TEST(DispatchTables, ExpressionsAreConditionsToo) {
  LibraryModel model = testLibrary("");
  DispatchTables tables = buildDispatchTables(model, model.entries[5]);
  std::vector<std::string> texts;
  for (const Condition &condition : tables.conditions)
    texts.push_back(condition.text);
  // What n_rows % 1 == 0 says needs no check, and equal conditions are one.
  EXPECT_EQ(texts, (std::vector<std::string>{"n <= 1000", "n % m == 0 or n * u < 5000", "n <= 2000",
                                             "n_rows divisible by 2", "n <= 4000",
                                             "n_rows divisible by 4"}));
  EXPECT_EQ(tables.parameterLists, (std::vector<std::vector<unsigned>>{{0, 1, 2, 3, 4}}));
}

TEST(DispatchTables, WhatReliesOnMoreIsTriedFirst) {
  LibraryModel model = testLibrary("");
  EntryModel &axpy = model.entries[0];
  std::swap(axpy.variants[0], axpy.variants[3]);
  EXPECT_EQ(buildDispatchTables(model, axpy).order, (std::vector<unsigned>{1, 3, 0, 2}));
}

TEST(DispatchTables, WhatTheSignaturePromisesRanksVariants) {
  LibraryModel model = testLibrary("");
  EntryModel &ranked = model.entries[6];
  EXPECT_EQ(buildDispatchTables(model, ranked).ranks, (std::vector<unsigned>{1, 0}));
  EXPECT_TRUE(buildDispatchTables(model, ranked).isRanked());
  // What conditions ask of a config does not: the model decides among configs.
  ranked.variants[1].promises = 0;
  EXPECT_EQ(buildDispatchTables(model, ranked).ranks, (std::vector<unsigned>{0, 0}));
  EXPECT_EQ(buildDispatchTables(model, ranked).order, (std::vector<unsigned>{1, 0}));
  EXPECT_FALSE(buildDispatchTables(model, ranked).isRanked());
}

TEST(DispatchTables, ThisMachinesCpuNeedsOnlyFeaturesThatTheRuntimeKnows) {
  const std::set<llvm::StringRef> known = {
#define KILN_X86(Name, ...) Name,
#include "runtime/x86_features.def"
  };
  for (const char *name : {"cpu", "cpu:x86-64-v3"}) {
    LibraryModel model = testLibrary("");
    model.targets[0] = llvm::cantFail(parseTarget(name));
    for (VariantModel &variant : model.entries[0].variants)
      variant.binaries[0].binary.format = BinaryFormat::HostObject;
    TargetRow row = buildDispatchTables(model, model.entries[0]).targets.at(0);
    EXPECT_TRUE(llvm::StringRef(row.arch).starts_with("x86-64") || row.arch == "aarch64")
        << row.arch;
    for (llvm::StringRef feature : llvm::split(row.features, ',')) {
      if (feature.consume_front("+")) {
        EXPECT_TRUE(known.count(feature)) << feature.str();
      }
    }
  }
}

//===----------------------------------------------------------------------===//
// Manifest and inspection
//===----------------------------------------------------------------------===//

TEST(Manifest, IsReadBackFromTheFileAndFromTheArchive) {
  auto library = llvm::cantFail(generateLibrary(testLibrary("")));
  for (const char *name : {"test_kernels.json", "libtest_kernels.a"}) {
    LibrarySummary summary = llvm::cantFail(inspectLibrary(fileOf(library, name)));
    EXPECT_EQ(summary.name, "test_kernels");
    ASSERT_EQ(summary.entries.size(), 11u);
    EXPECT_EQ(summary.entries[10].ranges,
              (std::vector<std::string>{"n: 1 to 64, a multiple of 8", "m: -3, 64 or 128",
                                        "u: at least 2"}));
    EXPECT_EQ(summary.entries[10].variants[0].id.size(), 12u);
    EXPECT_EQ(summary.entries[0].arguments[3], "alpha: fp32");
    ASSERT_EQ(summary.entries[0].variants.size(), 4u);
    EXPECT_EQ(summary.entries[0].variants[0].binaries[1].target, "hip:gfx942");
    EXPECT_EQ(summary.entries[0].variants[0].binaries[1].registers, 32u);
    EXPECT_EQ(summary.tools[1].first, "llvm");
    std::string printed;
    llvm::raw_string_ostream out(printed);
    printSummary(summary, out);
    EXPECT_NE(printed.find("0: BLOCK=256, num_warps=4, x divisible by 16"), std::string::npos);
    EXPECT_NE(printed.find(std::to_string(library.sizes.code()) + " bytes of device binaries"),
              std::string::npos)
        << printed;
  }
}

TEST(Manifest, SaysWhatEverythingTakes) {
  LibraryModel model = testLibrary("");
  EntryModel copy = model.entries[0];
  copy.name = "zaxpy";
  model.entries.push_back(copy);
  model.isCompressed = true;
  auto library = llvm::cantFail(generateLibrary(model));
  LibrarySummary summary = llvm::cantFail(inspectLibrary(fileOf(library, "libtest_kernels.a")));
  EXPECT_EQ(summary.compression, "zstd");
  ASSERT_EQ(summary.sizes.size(), 2u);
  EXPECT_EQ(summary.sizes[1].target, "hip:gfx942");
  EXPECT_EQ(summary.sizes[1].code, library.sizes.targets[1].code);
  EXPECT_EQ(summary.sizes[1].stored, library.sizes.targets[1].stored);
  EXPECT_EQ(summary.entries[0].tableBytes, library.sizes.tables[0]);
  std::string printed;
  llvm::raw_string_ostream out(printed);
  printSizes(summary, out);
  EXPECT_NE(printed.find("library test_kernels, compressed by zstd\n"), std::string::npos);
  EXPECT_NE(printed.find("  stored with axpy 3\n"), std::string::npos) << printed;
  EXPECT_NE(printed.find("\nzaxpy: 0 of code, "), std::string::npos) << printed;
}

TEST(Manifest, SaysWhatWasMeasured) {
  LibraryModel model = testLibrary("");
  MeasuredTarget &measured = model.entries[8].measured.at(0);
  measured.leftOut = {"BLOCK=7"};
  measured.shapes[0].times.insert(measured.shapes[0].times.begin(), {"BLOCK=7", 0.5});
  LibrarySummary summary = llvm::cantFail(readManifest(manifestOf(model)));
  ASSERT_EQ(summary.entries[8].tuning.size(), 1u);
  const TuningSummary &tuning = summary.entries[8].tuning[0];
  EXPECT_EQ(tuning.target, "hip:gfx942");
  EXPECT_EQ(tuning.devices, std::vector<std::string>{"a device"});
  EXPECT_EQ(tuning.leftOut, std::vector<std::string>{"BLOCK=7"});
  ASSERT_EQ(tuning.shapes.size(), 2u);
  EXPECT_EQ(tuning.shapes[0].key, std::vector<int64_t>{16});
  EXPECT_EQ(tuning.shapes[0].variant, "BLOCK=256, any arguments");
  EXPECT_EQ(tuning.shapes[0].regret(), 1);
  EXPECT_EQ(tuning.worstRegret(), 1);
  EXPECT_NEAR(tuning.meanRegret(), 0.4142, 1e-4);
}

TEST(Manifest, RecordsWhatIsProvenOfAllCalls) {
  LibraryModel model = testLibrary("");
  EntryModel &axpy = model.entries[0];
  axpy.isTotal = true;
  axpy.dispatch = {DispatchSummary::Coverage::Proven, {{{0, 2}, "n=5", "cost"}}, true};
  auto library = llvm::cantFail(generateLibrary(model));
  LibrarySummary summary = llvm::cantFail(inspectLibrary(fileOf(library, "libtest_kernels.a")));
  EXPECT_EQ(summary.entries[0].total, "proven");
  ASSERT_EQ(summary.entries[0].overlaps.size(), 1u);
  EXPECT_EQ(summary.entries[0].overlaps[0].variants, (std::vector<uint64_t>{0, 2}));
  EXPECT_EQ(summary.entries[1].total, "");
  std::string printed, json;
  llvm::raw_string_ostream text(printed), out(json);
  printSummary(summary, text);
  EXPECT_NE(printed.find("legal together: 0, 2, for n=5; chosen by cost"), std::string::npos);
  writeSummaryJson(summary, out);
  EXPECT_NE(json.find("\"chosen_by\": \"cost\""), std::string::npos);
}

TEST(Manifest, TellsLaunchParametersFromTheKernels) {
  std::string manifest = manifestOf(testLibrary(""));
  EXPECT_NE(manifest.find("\"name\": \"n_rows\",\n     \"type\": \"i32\",\n     \"launch\": true"),
            std::string::npos)
      << manifest;
}

TEST(Manifest, WritesProductsAsListsOfTheirFactors) {
  LibraryModel model = testLibrary("");
  TensorMapFacts &map = model.entries[4].variants[0].binaries[0].binary.launch.tensorMaps[0];
  map.extents[0] = {2, 8};
  map.strides[0] = {4, 1, 2};
  std::string dense;
  for (char c : manifestOf(model))
    if (c != ' ' && c != '\n')
      dense += c;
  EXPECT_NE(dense.find("\"extents\":[[\"stream_shape_0\",8],\"stream_shape_1\"],"
                       "\"strides\":[[\"stream_stride_0\",\"stream_shape_0\"]],"),
            std::string::npos)
      << dense;
}

TEST(Manifest, SaysWhatTensorMapsAreMadeOf) {
  std::string manifest = manifestOf(testLibrary(""));
  std::string dense;
  for (char c : manifest)
    if (c != ' ' && c != '\n')
      dense += c;
  EXPECT_NE(dense.find("\"tensor_maps\":["
                       "{\"name\":\"matrix\",\"base\":\"stream\",\"element\":\"fp16\","
                       "\"extents\":[\"stream_shape_0\",\"stream_shape_1\"],"
                       "\"strides\":[\"stream_stride_0\"],\"box\":[128,8],"
                       "\"swizzle_bytes\":0,\"fill\":\"zero\",\"access\":\"read\"},"
                       "{\"name\":\"rows\",\"base\":\"stream\",\"element\":\"fp16\","
                       "\"extents\":[64,\"stream_shape_1\"],\"strides\":[\"stream_stride_0\"],"
                       "\"box\":[8,64],\"swizzle_bytes\":128,\"fill\":\"nan\","
                       "\"access\":\"write\"}]}"),
            std::string::npos)
      << dense;
  std::string printed;
  llvm::raw_string_ostream out(printed);
  printSummary(llvm::cantFail(readManifest(manifest)), out);
  EXPECT_NE(printed.find("  tensor maps matrix, rows\n"), std::string::npos) << printed;
}

TEST(Manifest, NestsFallbacksInTheirBinaries) {
  LibraryModel model = testLibrary("");
  const DeviceBinary &fallback = *model.entries[7].variants[0].binaries[0].binary.fallback;
  std::string manifest = manifestOf(model);
  LibrarySummary summary = llvm::cantFail(readManifest(manifest));
  const BinarySummary &read = summary.entries[7].variants[0].binaries[0];
  ASSERT_TRUE(read.fallback);
  EXPECT_EQ(read.registers, 32u);
  EXPECT_EQ(read.tensorMaps.size(), 2u);
  EXPECT_EQ(read.fallback->registers, 96u);
  EXPECT_EQ(read.fallback->spillStoreBytes, 8u);
  EXPECT_EQ(read.fallback->bytes, fallback.bytes.size());
  EXPECT_TRUE(read.fallback->tensorMaps.empty());
  EXPECT_FALSE(summary.entries[4].variants[0].binaries[0].fallback);
  EXPECT_NE(manifest.find(sha256Of(llvm::StringRef(fallback.bytes.data(), fallback.bytes.size()))),
            std::string::npos);
  std::string printed;
  llvm::raw_string_ostream out(printed);
  printSummary(summary, out);
  EXPECT_NE(printed.find("      fallback                   96"), std::string::npos) << printed;
}

TEST(Manifest, RecordsLiteralsOfEveryKind) {
  LibraryModel model = testLibrary("");
  VariantModel &variant = model.entries[0].variants[0];
  variant.config = {{"i", Literal::ofInt(-1)},
                    {"f", Literal::ofFloat(0.5)},
                    {"inf", Literal::ofFloat(-1.0 / 0.0)},
                    {"s", Literal::ofString("a\"b\xff")},
                    {"d", Literal::ofDType("bf16")},
                    {"g", Literal::ofFunction("relu")},
                    {"n", Literal::none()},
                    {"t", Literal::ofTuple({Literal::ofBool(true)})}};
  std::string manifest = manifestOf(model);
  for (const char *expected : {"\"i\": -1", "\"f\": 0.5", "\"inf\": -Infinity",
                               "\"dtype\": \"bf16\"", "\"function\": \"relu\"", "\"n\": null"})
    EXPECT_NE(manifest.find(expected), std::string::npos) << expected;
  EXPECT_TRUE(bool(llvm::cantFail(readManifest(manifest)).entries.size()));
}

TEST(Inspect, AnArchiveThatIsCutShortIsAnError) {
  std::string archive =
      fileOf(llvm::cantFail(generateLibrary(testLibrary(""))), "libtest_kernels.a");
  for (size_t size = 9; size + 1 < archive.size(); size += 1 + archive.size() / 997) {
    llvm::Expected<LibrarySummary> summary =
        inspectLibrary(llvm::StringRef(archive).take_front(size));
    ASSERT_FALSE(bool(summary)) << size << " of " << archive.size() << " bytes";
    EXPECT_EQ(llvm::toString(summary.takeError()), "the archive is cut short");
  }
}

TEST(Inspect, SurvivesAnything) {
  auto library = llvm::cantFail(generateLibrary(testLibrary("")));
  std::mt19937 random(3);
  for (const char *name : {"test_kernels.json", "libtest_kernels.a"}) {
    std::string good = fileOf(library, name);
    for (int round = 0; round < 3000; ++round) {
      std::string bad = good;
      for (unsigned edits = 1 + random() % 20; edits > 0; --edits)
        bad[random() % bad.size()] = static_cast<char>(random());
      if (random() % 4 == 0)
        bad.resize(random() % bad.size());
      llvm::Expected<LibrarySummary> summary = inspectLibrary(bad);
      std::string printed;
      llvm::raw_string_ostream out(printed);
      if (summary)
        printSummary(*summary, out);
      else
        EXPECT_NE(llvm::toString(summary.takeError()), "");
    }
  }
  for (const char *text : {"", "!<arch>\n", "{}", "[]",
                           "\x7f"
                           "ELF",
                           "{\"kiln_manifest\": 99}"}) {
    llvm::Expected<LibrarySummary> summary = inspectLibrary(text);
    ASSERT_FALSE(bool(summary));
    EXPECT_NE(llvm::toString(summary.takeError()), "");
  }
}

} // namespace
} // namespace kiln::test
