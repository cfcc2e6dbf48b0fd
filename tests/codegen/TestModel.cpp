#include "tests/codegen/TestModel.h"
#include "codegen/VariantConditions.h"
#include "llvm/Support/MathExtras.h"
#include <map>
#include <random>

using namespace llvm;

namespace kiln::test {

ArgumentType type(StringRef text) {
  TextError error;
  std::optional<ArgumentType> parsed = parseArgumentType(text, error);
  assert(parsed && "expected a type");
  return *parsed;
}

Expression expression(StringRef text) {
  TextError error;
  std::optional<Expression> parsed = Expression::parse(text, error);
  assert(parsed && "expected an expression");
  return *parsed;
}

EntryModel entry(StringRef name, std::vector<std::pair<std::string, std::string>> arguments) {
  EntryModel result;
  result.name = name.str();
  result.source = name.str() + ".py";
  result.kernel = name.str() + "_kernel";
  for (const auto &[argument, spelling] : arguments)
    result.arguments.push_back({argument, type(spelling)});
  return result;
}

VariantModel variant(std::vector<std::pair<std::string, int64_t>> config) {
  VariantModel result;
  for (const auto &[name, value] : config)
    result.config.emplace_back(name, Literal::ofInt(value));
  result.constants = result.config;
  return result;
}

VariantBinary fakeBinary(const LibraryModel &model, const EntryModel &entry,
                         const VariantModel &variant, unsigned target, StringRef symbol,
                         std::vector<TensorMapFacts> maps) {
  const TargetInfo &info = model.targets[target];
  VariantBinary result;
  result.target = target;
  DeviceBinary &binary = result.binary;
  binary.target = info.name;
  binary.format = info.backend == Backend::CUDA ? BinaryFormat::Cubin : BinaryFormat::HSACO;
  binary.symbol = symbol.str();
  binary.launch.threadsPerBlock = 4 * info.warpSize;
  binary.launch.warpSize = info.warpSize;
  std::string text = "FAKE\n" + symbol.str();
  uint32_t offset = 0;
  auto addParameter = [&](uint32_t size, uint32_t alignment) {
    offset = static_cast<uint32_t>(alignTo(offset, alignment));
    text += " " + std::to_string(offset) + ":" + std::to_string(size);
    binary.parameters.push_back({"", offset, size});
    offset += size;
  };
  for (unsigned argument : kernelParameters(entry, variant)) {
    uint32_t size = entry.arguments[argument].type.bytes();
    addParameter(size, size);
  }
  for (size_t i = 0; i < maps.size(); ++i)
    addParameter(kTensorMapBytes, kTensorMapAlignment);
  binary.launch.tensorMaps = std::move(maps);
  // A second kernel tells the image from those of other variants; the fakes' text ends in a zero.
  std::string mark = variantName(entry, variant);
  for (const ArgumentFact &fact : variant.facts)
    mark += "," + factTexts(entry, fact).front();
  std::replace(mark.begin(), mark.end(), ' ', '_');
  text += "\n" + mark + "\n";
  binary.bytes.assign(text.c_str(), text.c_str() + text.size() + 1);
  binary.resources.registers = 32;
  result.effective = {{"num_warps", 4}};
  return result;
}

VariantBinary hostBinary(unsigned target, StringRef object, StringRef symbol) {
  VariantBinary result;
  result.target = target;
  result.binary.target = "cpu";
  result.binary.format = BinaryFormat::HostObject;
  result.binary.symbol = symbol.str();
  result.binary.bytes.assign(object.begin(), object.end());
  result.binary.launch.arenaBytes = 4096;
  return result;
}

static TargetInfo target(StringRef name) {
  Expected<TargetInfo> parsed = parseTarget(name);
  assert(parsed && "expected a target");
  return *parsed;
}

namespace {
/// Adds a variant's binaries for all targets.
class LibraryBuilder {
public:
  explicit LibraryBuilder(StringRef hostObject) : hostObject(hostObject) {
    model.name = "test_kernels";
    model.targets = {target("cuda:sm_90a"), target("hip:gfx942")};
    if (!hostObject.empty())
      model.targets.push_back(
          target(hostArch() == HostArch::X86_64 ? "cpu:x86-64-v2" : "cpu:aarch64"));
    model.inputs = {{"axpy.py", sha256Of("axpy")}};
    model.tools = {{"kiln", "0.1"}, {"llvm", "22"}};
  }

  void add(EntryModel &entry, VariantModel variant, StringRef hostSymbol,
           std::vector<TensorMapFacts> cudaMaps = {}) {
    variant.binaries.push_back(fakeBinary(model, entry, variant, 0, "main", std::move(cudaMaps)));
    variant.binaries.push_back(fakeBinary(model, entry, variant, 1));
    if (!hostObject.empty())
      variant.binaries.push_back(hostBinary(2, hostObject, hostSymbol));
    entry.variants.push_back(std::move(variant));
  }

  LibraryModel model;

private:
  StringRef hostObject;
  static HostArch hostArch() { return thisHostArch(); }
};
} // namespace

/// Two configs, each for arrays aligned to 16 bytes and for any.
static void addAxpy(LibraryBuilder &builder) {
  EntryModel axpy =
      entry("axpy", {{"x", "*fp32"}, {"y", "*fp32"}, {"n", "i32"}, {"alpha", "fp32"}});
  axpy.grid = {expression("cdiv(n, BLOCK)")};
  for (bool isAligned : {true, false})
    for (int64_t block : {256, 1024}) {
      VariantModel config = variant({{"BLOCK", block}});
      config.options.numWarps = 4;
      if (isAligned)
        config.facts = {*factOf(0, type("*fp32:16")), *factOf(1, type("*fp32:16"))};
      builder.add(axpy, std::move(config), block == 256 ? "axpy_256" : "axpy_1024");
    }
  builder.model.entries.push_back(std::move(axpy));
}

/// Every scalar type, in the order that the host kernel expects; the caller's grid.
static void addEveryType(LibraryBuilder &builder) {
  EntryModel every = entry("every_type", {{"out", "*u8"},
                                          {"a_bool", "i1"},
                                          {"an_i8", "i8"},
                                          {"an_i16", "i16"},
                                          {"an_i32", "i32"},
                                          {"an_i64", "i64"},
                                          {"a_u8", "u8"},
                                          {"a_u16", "u16"},
                                          {"a_u32", "u32"},
                                          {"a_u64", "u64"},
                                          {"an_fp8", "fp8e4nv"},
                                          {"an_fp16", "fp16"},
                                          {"a_bf16", "bf16"},
                                          {"an_fp32", "fp32"},
                                          {"an_fp64", "fp64"},
                                          {"a_const", "*kfp16"}});
  builder.add(every, variant({}), "every_type");
  builder.model.entries.push_back(std::move(every));
}

/// A specialisation that folds `stride` away where it is one, ahead of the general one. The names
/// are a keyword and names that the generated functions use.
static void addStrided(LibraryBuilder &builder) {
  EntryModel strided = entry("strided", {{"stream", "*i32"}, {"int", "i32"}, {"grid", "u32"}});
  strided.grid = {expression("max(grid, 1) * GROUPS"), expression("1"), expression("int // int")};
  VariantModel folded = variant({{"GROUPS", 2}});
  folded.parameters = {0, 2};
  folded.facts = {*factOf(1, type("i32:1"))};
  VariantModel general = variant({{"GROUPS", 2}});
  ArgumentFact range;
  range.argument = 1;
  range.minimum = -4;
  range.maximum = 1000;
  general.facts = {range};
  builder.add(strided, std::move(folded), "folded");
  builder.add(strided, std::move(general), "unfolded");
  builder.model.entries.push_back(std::move(strided));
}

std::vector<TensorMapFacts> matrixMaps() {
  TensorMapFacts read;
  read.name = "matrix";
  read.base = 1;
  read.element = TensorMapElement::F16;
  read.extents = {{2}, {3}};
  read.strides = {{4}};
  read.box = {128, 8};
  TensorMapFacts written = read;
  written.name = "rows";
  written.extents[0] = {std::nullopt, 64};
  written.box = {8, 64};
  written.swizzleBytes = 128;
  written.fillsWithNaN = written.isWritten = true;
  return {read, written};
}

/// A tensor descriptor between other arguments; the grid reads its shape. On NVIDIA its kernel
/// takes tensor maps.
static void addTensor(LibraryBuilder &builder) {
  ArgumentType descriptor = type("tensordesc<fp16>[8, 8]");
  EntryModel tensor = entry("tensor", {{"out", "*i64"}});
  tensor.descriptors = {{1, descriptor.element, 2}};
  append_range(tensor.arguments, descriptorParts("stream", descriptor));
  tensor.arguments.push_back({"n", type("i32")});
  tensor.grid = {expression("cdiv(stream_shape_0, BLOCK)"), expression("stream_shape_1")};
  builder.add(tensor, variant({{"BLOCK", 8}}), "tensor", matrixMaps());
  builder.model.entries.push_back(std::move(tensor));
}

/// Conditions of every kind, and a launch parameter that kernels do not take.
static void addGuarded(LibraryBuilder &builder) {
  EntryModel guarded =
      entry("guarded", {{"out", "*i64"}, {"x", "*bf16"}, {"n", "i32"}, {"m", "i32"}, {"u", "u64"}});
  guarded.arguments.push_back({"n_rows", type("i32"), /*isForLaunch=*/true});
  guarded.grid = {expression("cdiv(n_rows, ROWS)"), expression("min(u, 3)")};
  for (int64_t rows : {1, 2, 4}) {
    VariantModel one = variant({{"ROWS", rows}, {"LIMIT", 1000 * rows}});
    for (const char *condition :
         {"n <= LIMIT and n_rows % ROWS == 0", "n % m == 0 or n * u < 5000"})
      addCondition(expression(condition), guarded, one);
    builder.add(guarded, std::move(one), "guarded");
  }
  builder.model.entries.push_back(std::move(guarded));
}

/// Ranges, listed values, and a bound of an unsigned argument.
static void addDeclared(LibraryBuilder &builder) {
  EntryModel declared = entry(
      "declared", {{"out", "*i64"}, {"x", "*bf16"}, {"n", "i32"}, {"m", "i32"}, {"u", "u64"}});
  declared.grid = {expression("cdiv(n, ROWS)")};
  declared.ranges = {
      {2, {1, 64, 8, {}}, {}}, {3, {{}, {}, 1, {-3, 64, 128}}, {}}, {4, {2, {}, 1, {}}, {}}};
  builder.add(declared, variant({{"ROWS", 8}}), "guarded");
  builder.model.entries.push_back(std::move(declared));
}

/// A config for aligned arrays alone, and a smaller one for any.
static void addRanked(LibraryBuilder &builder) {
  EntryModel ranked =
      entry("ranked", {{"x", "*fp32"}, {"y", "*fp32"}, {"n", "i32"}, {"alpha", "fp32"}});
  ranked.grid = {expression("cdiv(n, BLOCK)")};
  VariantModel any = variant({{"BLOCK", 256}}), aligned = variant({{"BLOCK", 1024}});
  aligned.facts = {*factOf(0, type("*fp32:16")), *factOf(1, type("*fp32:16"))};
  aligned.promises = 2;
  builder.add(ranked, std::move(any), "axpy_256");
  builder.add(ranked, std::move(aligned), "axpy_1024");
  builder.model.entries.push_back(std::move(ranked));
}

/// The same matrix by plain arguments, and a kernel that takes no maps for those that maps cannot
/// describe.
static void addRows(LibraryBuilder &builder) {
  EntryModel rows = entry("rows", {{"out", "*i64"},
                                   {"a", "*fp16"},
                                   {"M", "i32"},
                                   {"K", "i32"},
                                   {"stride_am", "i64"},
                                   {"n", "i32"}});
  rows.grid = {expression("cdiv(M, BLOCK)"), expression("K")};
  builder.add(rows, variant({{"BLOCK", 8}}), "tensor", matrixMaps());
  DeviceBinary fallback = fakeBinary(builder.model, rows, rows.variants[0], 0).binary;
  StringRef mark = "without_maps\n";
  fallback.bytes.insert(fallback.bytes.end() - 1, mark.begin(), mark.end());
  fallback.resources.registers = 96;
  fallback.resources.spillStoreBytes = 8;
  rows.variants[0].binaries[0].binary.fallback =
      std::make_shared<const DeviceBinary>(std::move(fallback));
  builder.model.entries.push_back(std::move(rows));
}

/// What was measured on the last target: with arrays that are not aligned at n = 16, with aligned
/// ones at n = 1000. The model would take the small block everywhere.
static void addTuned(LibraryBuilder &builder) {
  EntryModel tuned =
      entry("tuned", {{"x", "*fp32"}, {"y", "*fp32"}, {"n", "i32"}, {"alpha", "fp32"}});
  tuned.grid = {expression("cdiv(n, BLOCK)")};
  tuned.dispatchKey = {"n"};
  VariantModel aligned = variant({{"BLOCK", 256}});
  aligned.facts = {*factOf(0, type("*fp32:16")), *factOf(1, type("*fp32:16"))};
  aligned.promises = 2;
  builder.add(tuned, variant({{"BLOCK", 256}}), "axpy_256");
  builder.add(tuned, variant({{"BLOCK", 1024}}), "axpy_1024");
  builder.add(tuned, std::move(aligned), "axpy_256");
  MeasuredTarget measured;
  measured.target = unsigned(builder.model.targets.size() - 1);
  measured.devices = {"a device"};
  measured.shapes = {{{16}, {{"BLOCK=256", 1}, {"BLOCK=1024", 2}}},
                     {{1000},
                      {{"BLOCK=1024", 1},
                       {"BLOCK=256 for x divisible by 16, y divisible by 16", 2},
                       {"BLOCK=256", 3}}}};
  tuned.measured = {std::move(measured)};
  builder.model.entries.push_back(std::move(tuned));
}

/// Many measured shapes of two arguments, in any order of speed, and variants that not every call
/// may take.
static void addByTree(LibraryBuilder &builder) {
  EntryModel byTree = entry(
      "by_tree", {{"x", "*fp32"}, {"y", "*fp32"}, {"n", "i32"}, {"alpha", "fp32"}, {"m", "u64"}});
  byTree.arguments[4].isForLaunch = true;
  byTree.grid = {expression("cdiv(n, BLOCK)")};
  byTree.dispatchKey = {"n", "m"};
  for (int64_t block = 1; block <= 6; ++block) {
    VariantModel one = variant({{"BLOCK", block}});
    ArgumentFact fact;
    fact.argument = 2;
    fact.minimum = block % 2 ? std::optional<int64_t>(100 * block) : std::nullopt;
    fact.maximum = block % 3 ? std::nullopt : std::optional<int64_t>(1000 * block);
    if (fact.minimum || fact.maximum)
      one.facts = {fact};
    builder.add(byTree, std::move(one), "axpy_256");
  }
  MeasuredTarget measured;
  measured.target = unsigned(builder.model.targets.size() - 1);
  std::map<std::vector<int64_t>, std::vector<std::pair<std::string, double>>> shapes;
  std::mt19937 random(5);
  for (int i = 0; i < 60; ++i) {
    auto &times = shapes[{int64_t(1) << random() % 20, int64_t(random() >> random() % 32)}];
    times.clear();
    for (const VariantModel &one : byTree.variants)
      if (random() % 3)
        times.emplace_back(stableName(byTree, one), 1 + random() % 1000);
    sort(times, [](const auto &a, const auto &b) { return a.second < b.second; });
  }
  for (auto &[key, times] : shapes)
    if (!times.empty())
      measured.shapes.push_back({key, std::move(times)});
  byTree.measured = {std::move(measured)};
  builder.model.entries.push_back(std::move(byTree));
}

LibraryModel testLibrary(StringRef hostObject) {
  LibraryBuilder builder(hostObject);
  addAxpy(builder);
  addEveryType(builder);
  EntryModel none = entry("no_arguments", {});
  none.grid = {expression("3")};
  builder.add(none, variant({}), "no_arguments");
  builder.model.entries.push_back(std::move(none));
  addStrided(builder);
  addTensor(builder);
  addGuarded(builder);
  addRanked(builder);
  addRows(builder);
  addTuned(builder);
  addByTree(builder);
  addDeclared(builder);
  return std::move(builder.model);
}

} // namespace kiln::test
