#include "compiler/Driver/Planning/PlannedConfig.h"
#include "compiler/Driver/Planning/BuildPlan.h"
#include "compiler/Driver/Planning/TritonOptions.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

namespace kiln {
namespace {

/// What may stand in the dictionary of a config beside the kernel's parameters.
constexpr llvm::StringLiteral optionsOfSource[] = {
    "waves_per_eu", "matrix_instr_nonkdim",    "kpack",
    "launch_pdl",   "launch_cooperative_grid", "enable_fp_fusion"};

bool hasOption(const KernelConfig &config, llvm::StringRef name, bool otherwise = false) {
  const Literal *value = findValue(config.options, name);
  return value && value->kind == Literal::Kind::Bool ? value->boolean : otherwise;
}

/// A parameter may have an option's name: as in Triton, the value then is for both.
std::optional<int64_t> integerOption(const KernelConfig &config, llvm::StringRef name) {
  const Literal *value = findValue(config.options, name);
  if (!value)
    value = findValue(config.constants, name);
  if (!value || value->kind != Literal::Kind::Int)
    return std::nullopt;
  return value->integer;
}

} // namespace

const SpecPlace &PlannedConfig::placeOf(llvm::StringRef key) const {
  auto it = llvm::find_if(keys, [&](const auto &known) { return known.first == key; });
  return it == keys.end() ? place : it->second;
}

const Literal *findValue(llvm::ArrayRef<NamedLiteral> values, llvm::StringRef name) {
  auto it = llvm::find_if(values, [&](const NamedLiteral &value) { return value.first == name; });
  return it == values.end() ? nullptr : &it->second;
}

bool sameOptions(const SpecOptions &a, const SpecOptions &b) {
  auto key = [](const SpecOptions &o) {
    return std::tie(o.numWarps, o.numStages, o.numCtas, o.maxRegisters, o.wavesPerEu,
                    o.matrixInstrNonKDim, o.kpack, o.launchesEarly, o.isCooperative,
                    o.fusesProducts);
  };
  return key(a) == key(b);
}

std::optional<int64_t> launchOption(const SpecOptions &options, llvm::StringRef name) {
  return llvm::StringSwitch<std::optional<int64_t>>(name)
      .Case("num_warps", options.numWarps)
      .Case("num_stages", options.numStages)
      .Case("num_ctas", options.numCtas)
      .Case("maxnreg", options.maxRegisters)
      .Case("waves_per_eu", options.wavesPerEu)
      .Case("matrix_instr_nonkdim", options.matrixInstrNonKDim)
      .Case("kpack", options.kpack)
      .Default(std::nullopt);
}

PlannedConfig configOfSpec(const SpecConfig &config) {
  PlannedConfig planned;
  for (const SpecBinding &value : config.values)
    if (value.value.asLiteral)
      planned.values.emplace_back(value.name, *value.value.asLiteral);
  planned.options = config.options;
  planned.place = config.place;
  planned.keys = config.keys;
  return planned;
}

std::vector<PlannedConfig> configsOfSource(const SpecKernel &kernel, const LoadedModule &module,
                                           const TargetInfo &target, const NamedConstants &defines,
                                           ModuleLoader &loader, DiagnosticEngine &diagnostics) {
  std::vector<PlannedConfig> configs;
  auto autotune =
      evaluateAutotune(loader, module, kernel.kernel, answersOf(target), defines, diagnostics);
  if (!autotune)
    return {};
  if (autotune->configs.empty())
    diagnostics.report(DiagKind::DriverNoConfigs, kernel.kernelPlace.range, kernel.kernelPlace.path,
                       kernel.kernel);
  for (const KernelConfig &config : autotune->configs) {
    PlannedConfig &planned = configs.emplace_back();
    for (const auto &[name, value] : config.constants)
      planned.values.emplace_back(name, value);
    auto widen = [](std::optional<unsigned> value) {
      return value ? std::optional<int64_t>(*value) : std::optional<int64_t>();
    };
    planned.options.numWarps = widen(config.numWarps);
    planned.options.numStages = widen(config.numStages);
    planned.options.numCtas = widen(config.numCtas);
    // Elsewhere configs that differ in these alone are one.
    if (target.backend == Backend::CUDA)
      planned.options.maxRegisters = widen(config.maxRegisters);
    else if (target.backend == Backend::HIP && config.maxRegisters)
      diagnostics
          .report(DiagKind::DriverOptionUnused, config.range, kernel.kernelPlace.path, "maxnreg",
                  *config.maxRegisters, target.name)
          .withHint("waves_per_eu bounds registers there");
    if (target.backend == Backend::HIP) {
      planned.options.wavesPerEu = integerOption(config, "waves_per_eu");
      planned.options.matrixInstrNonKDim = integerOption(config, "matrix_instr_nonkdim");
      planned.options.kpack = integerOption(config, "kpack");
    }
    planned.options.launchesEarly = hasOption(config, "launch_pdl");
    planned.options.isCooperative = hasOption(config, "launch_cooperative_grid");
    planned.options.fusesProducts = hasOption(config, "enable_fp_fusion", true);
    planned.place = {kernel.kernelPlace.path, config.range};
    constexpr int64_t mostWaves = 16;
    if (int64_t waves = planned.options.wavesPerEu.value_or(0); waves < 0 || waves > mostWaves) {
      diagnostics
          .report(DiagKind::DriverOptionUnused, planned.place.range, planned.place.path,
                  "waves_per_eu", waves, target.name)
          .withHint("expected 0 to 16");
      planned.options.wavesPerEu.reset();
    }
    planned.fromSource = true;
    planned.unused = config.keywords;
    for (const auto &[name, value] : config.options)
      if (!llvm::is_contained(optionsOfSource, name) &&
          !(findTritonOption(name) && asksForNothing(value)))
        planned.unused.push_back(name);
  }
  return configs;
}

} // namespace kiln
