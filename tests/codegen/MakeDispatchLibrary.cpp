// make_dispatch_library OUTDIR: functions with 64 variants each, of which calls choose in all ways
// that there are, for DispatchBenchmark.
#include "codegen/GenerateLibrary.h"
#include "codegen/VariantConditions.h"
#include "tests/codegen/TestModel.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace kiln::test {
namespace {

constexpr unsigned numProcessors = 132;

EntryModel product(StringRef name) {
  EntryModel entry = test::entry(
      name, {{"a", "*kfp16"}, {"b", "*kfp16"}, {"c", "*fp16"}, {"M", "i32"}, {"N", "i32"}});
  entry.grid = {expression("cdiv(M, BLOCK_M) * cdiv(N, BLOCK_N)")};
  return entry;
}

VariantModel tile(int64_t m, int64_t n) { return variant({{"BLOCK_M", m}, {"BLOCK_N", n}}); }

void add(const LibraryModel &model, EntryModel &entry, VariantModel one) {
  one.binaries.push_back(fakeBinary(model, entry, one, 0));
  entry.variants.push_back(std::move(one));
}

/// 64 tiles, all legal in each call.
void addTiles(const LibraryModel &model, EntryModel &entry) {
  for (int64_t m = 16; m <= 128; m += 16)
    for (int64_t n = 16; n <= 128; n += 16)
      add(model, entry, tile(m, n));
}

/// Eight sets of promises with eight tiles each.
EntryModel promised(const LibraryModel &model) {
  EntryModel entry = product("promised");
  for (unsigned set = 8; set-- > 0;)
    for (int64_t m = 16; m <= 128; m += 16) {
      VariantModel one = tile(m, 64);
      for (unsigned argument = 0; argument < 3; ++argument)
        if (set >> argument & 1)
          one.facts.push_back(*factOf(argument, type("*fp16:16")));
      one.promises = one.facts.size();
      add(model, entry, std::move(one));
    }
  return entry;
}

/// Each for as many rows as its tile has, and no more.
EntryModel bounded(const LibraryModel &model) {
  EntryModel entry = product("bounded");
  for (int64_t m = 16; m <= 1024; m += 16) {
    VariantModel one = tile(m, 64);
    addCondition(expression("M <= BLOCK_M and M > BLOCK_M - 16"), entry, one);
    add(model, entry, std::move(one));
  }
  return entry;
}

/// What a tile takes: its waves, by what it loads and multiplies, and a difference of up to a tenth
/// that nothing explains.
double timeOf(int64_t m, int64_t n, int64_t rows, int64_t columns) {
  double waves = double(divideCeil(divideCeil(rows, m) * divideCeil(columns, n), numProcessors));
  return waves * double(m * n + 128 * (m + n)) * (1 + double((m * 7 + n * 13 + rows) % 31) / 300);
}

EntryModel measured(const LibraryModel &model) {
  EntryModel entry = product("measured");
  entry.dispatchKey = {"M", "N"};
  addTiles(model, entry);
  MeasuredTarget target;
  target.devices = {"a device"};
  target.processors = numProcessors;
  for (int64_t rows = 1; rows <= 4096; rows *= 2)
    for (int64_t columns : {1024, 2048, 4096}) {
      MeasuredShape shape{{rows, columns}, {}};
      for (const VariantModel &one : entry.variants)
        shape.times.emplace_back(
            stableName(entry, one),
            timeOf(*findConstant(one, "BLOCK_M"), *findConstant(one, "BLOCK_N"), rows, columns));
      sort(shape.times, [](const auto &a, const auto &b) { return a.second < b.second; });
      target.shapes.push_back(std::move(shape));
    }
  entry.measured = {std::move(target)};
  return entry;
}

LibraryModel dispatchLibrary() {
  LibraryModel model;
  model.name = "dispatch_kernels";
  model.targets = {cantFail(parseTarget("cuda:sm_90a"))};
  model.tools = {{"kiln", "0.1"}};
  EntryModel modelled = product("modelled");
  addTiles(model, modelled);
  model.entries = {promised(model), bounded(model), measured(model), std::move(modelled)};
  return model;
}

} // namespace
} // namespace kiln::test

int main(int argc, char **argv) {
  if (argc != 2)
    return 2;
  Expected<kiln::GeneratedLibrary> library = kiln::generateLibrary(kiln::test::dispatchLibrary());
  Error error = library ? kiln::writeOutputs(argv[1], library->files) : library.takeError();
  if (!error)
    return 0;
  errs() << toString(std::move(error)) << "\n";
  return 1;
}
