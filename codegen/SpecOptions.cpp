//===- SpecOptions.cpp - the options of a config --------------------------===//
#include "codegen/SpecOptions.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace kiln {

namespace {

struct NumberOption {
  StringRef name;
  std::optional<int64_t> SpecOptions::*field;
  int64_t low, high;
  bool isPowerOf2;

  bool accepts(const JsonValue &value) const {
    return value.is(JsonValue::Kind::Integer) && value.integer >= low && value.integer <= high &&
           (!isPowerOf2 || isPowerOf2_64(static_cast<uint64_t>(value.integer)));
  }
};

constexpr NumberOption numbers[] = {
    {"num_warps", &SpecOptions::numWarps, 1, 32, true},
    {"num_stages", &SpecOptions::numStages, 0, 32, false},
    {"num_ctas", &SpecOptions::numCtas, 1, 16, true},
    {"maxnreg", &SpecOptions::maxRegisters, 8, 512, false},
    {"waves_per_eu", &SpecOptions::wavesPerEu, 0, 16, false},
    {"matrix_instr_nonkdim", &SpecOptions::matrixInstrNonKDim, 0, 32, false},
    {"kpack", &SpecOptions::kpack, 1, 2, false},
};

struct FlagOption {
  StringRef name;
  bool SpecOptions::*field;
};

constexpr FlagOption flags[] = {
    {"launch_pdl", &SpecOptions::launchesEarly},
    {"launch_cooperative_grid", &SpecOptions::isCooperative},
    {"enable_fp_fusion", &SpecOptions::fusesProducts},
};

} // namespace

std::vector<StringRef> optionNames() {
  std::vector<StringRef> names;
  for (const NumberOption &option : numbers)
    names.push_back(option.name);
  for (const FlagOption &option : flags)
    names.push_back(option.name);
  return names;
}

bool isOption(StringRef name) { return is_contained(optionNames(), name); }

std::optional<std::string> setOption(SpecOptions &options, StringRef name, const JsonValue &value) {
  for (const FlagOption &option : flags) {
    if (option.name != name)
      continue;
    if (!value.is(JsonValue::Kind::Bool))
      return "true or false";
    options.*option.field = value.boolean;
  }
  for (const NumberOption &option : numbers) {
    if (option.name != name)
      continue;
    if (!option.accepts(value))
      return formatv(option.isPowerOf2 ? "a power of two from {0} to {1}"
                                       : "an integer from {0} to {1}",
                     option.low, option.high)
          .str();
    options.*option.field = value.integer;
  }
  return std::nullopt;
}

std::vector<std::pair<StringRef, int64_t>> givenOptions(const SpecOptions &options) {
  std::vector<std::pair<StringRef, int64_t>> given;
  for (const NumberOption &option : numbers)
    if (options.*option.field)
      given.emplace_back(option.name, *(options.*option.field));
  for (const FlagOption &option : flags)
    if (options.*option.field != SpecOptions().*option.field)
      given.emplace_back(option.name, options.*option.field);
  return given;
}

} // namespace kiln
