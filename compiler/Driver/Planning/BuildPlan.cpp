#include "compiler/Driver/Planning/BuildPlan.h"
#include "codegen/ArgumentRanges.h"
#include "codegen/SpecChecks.h"
#include "codegen/VariantConditions.h"
#include "compiler/Basic/NameSuggestion.h"
#include "compiler/Driver/Planning/ArgumentBinding.h"
#include "compiler/Driver/Planning/PieceName.h"
#include "compiler/Driver/Planning/SourceNames.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Path.h"
#include <set>

namespace kiln {
namespace {

/// A config of the spec or of the source's autotune list.
struct PlannedConfig {
  std::vector<NamedLiteral> values;
  SpecOptions options;
  SpecPlace place;
  bool fromSource = false;
};

bool sameOptions(const SpecOptions &a, const SpecOptions &b) {
  auto key = [](const SpecOptions &o) {
    return std::tie(o.numWarps, o.numStages, o.numCtas, o.maxRegisters, o.wavesPerEu,
                    o.matrixInstrNonKDim, o.kpack, o.launchesEarly, o.isCooperative);
  };
  return key(a) == key(b);
}

const Literal *findValue(llvm::ArrayRef<NamedLiteral> values, llvm::StringRef name) {
  auto it = llvm::find_if(values, [&](const NamedLiteral &value) { return value.first == name; });
  return it == values.end() ? nullptr : &it->second;
}

/// A launch option that is also a parameter of the kernel: some declare `num_stages: tl.constexpr`.
std::optional<int64_t> launchOption(const SpecOptions &options, llvm::StringRef name) {
  return llvm::StringSwitch<std::optional<int64_t>>(name)
      .Case("num_warps", options.numWarps)
      .Case("num_stages", options.numStages)
      .Case("num_ctas", options.numCtas)
      .Default(std::nullopt);
}

/// Warns of definitions that no source could read; of those on the command line where all are there
/// to be asked.
void checkDefinitions(const Spec &spec, llvm::StringRef specFolder, const CompilerOptions &options,
                      DiagnosticEngine &diagnostics) {
  bool hasConstants = llvm::any_of(
      spec.kernels, [](const SpecKernel &kernel) { return !kernel.constants.empty(); });
  if (options.definitions.empty() && !hasConstants)
    return;
  SourceNames all(options.importRoots);
  for (const SpecKernel &kernel : spec.kernels) {
    all.add(sourcePath(kernel, specFolder));
    SourceNames own(options.importRoots);
    if (!kernel.constants.empty())
      own.add(sourcePath(kernel, specFolder));
    for (const SpecBinding &constant : kernel.constants)
      if (!own.mentions(constant.name))
        diagnostics
            .report(DiagKind::DriverUnknownConstant, constant.place.range, constant.place.path,
                    constant.name)
            .withHint(own.suggest(constant.name));
  }
  if (!options.only.empty())
    return;
  for (const auto &[name, text] : options.definitions)
    if (!all.mentions(name))
      diagnostics.report(DiagKind::DriverUnknownConstant, DiagPlace(), "-D", name)
          .withHint(all.suggest(name));
}

/// Plans one kernel of the spec.
class KernelPlanner {
public:
  KernelPlanner(const Spec &spec, const SpecKernel &kernel, ModuleLoader &loader,
                const CompilerOptions &options, DiagnosticEngine &diagnostics, BuildPlan &plan)
      : spec(spec), kernel(kernel), loader(loader), allDiagnostics(diagnostics),
        diagnostics(options.maxErrors), plan(plan), defines(definitionsOf(options)),
        debug(options.debug), deviceMemory(options.deviceMemory),
        binder(kernel, summary, this->diagnostics) {
    for (const SpecBinding &constant : kernel.constants)
      if (constant.value.asLiteral)
        defines.emplace_back(constant.name, *constant.value.asLiteral);
  }

  void run(llvm::StringRef specFolder);

private:
  void checkNames(const SpecSignature &signature);
  bool checkConfigNames(const PlannedConfig &config);
  std::vector<PlannedConfig> configsOfSource(const TargetInfo &target);
  void planEntry(llvm::StringRef entryName);
  bool planConfigs(unsigned entry, const SpecConfigs &configs,
                   llvm::ArrayRef<const SpecSignature *> signatures);
  void planVariant(unsigned entry, const SpecSignature &signature, const PlannedConfig &config,
                   unsigned target);
  bool bind(const SpecSignature &signature, const PlannedConfig &config, EntryModel &entry,
            KernelInstance &instance, VariantModel &variant);
  bool fits(const KernelInstance &instance, const TargetInfo &target, const PlannedConfig &config);
  bool checkExpressions(const EntryModel &entry, const VariantModel &variant);
  bool checkOnce(const SpecExpression &expression, llvm::function_ref<bool()> check);
  bool checkGrid(const EntryModel &entry, const VariantModel &variant);
  bool addConditions(const EntryModel &entry, VariantModel &variant, const PlannedConfig &config,
                     const TargetInfo &target);
  bool isRepeated(unsigned entry, unsigned variant, unsigned target, const PlannedConfig &config,
                  const SpecSignature &signature);
  void settle();
  std::optional<unsigned> addVariant(EntryModel &entry, VariantModel variant);
  const KernelParameterInfo *findParameter(llvm::StringRef name) const;
  void reportUnknown(const SpecPlace &place, llvm::StringRef name);

  const Spec &spec;
  const SpecKernel &kernel;
  ModuleLoader &loader;
  /// What has been said, each thing once.
  DiagnosticEngine &allDiagnostics;
  /// Of one step. Variants repeat each other's mistakes; settle() leaves the repeats out.
  DiagnosticEngine diagnostics;
  BuildPlan &plan;
  NamedConstants defines;
  /// Of the command line: run-time checks in every kernel.
  bool debug, deviceMemory;
  const LoadedModule *module = nullptr;
  KernelSummary summary;
  ArgumentBinder binder;
  /// JSON paths of expressions that a mistake was reported in.
  std::set<std::string> wrongExpressions;
  /// Sets of conditions that no call meets, as reported.
  std::set<std::string> contradictions;
};

const KernelParameterInfo *KernelPlanner::findParameter(llvm::StringRef name) const {
  for (const KernelParameterInfo &parameter : summary.parameters)
    if (parameter.name == name)
      return &parameter;
  return nullptr;
}

void KernelPlanner::reportUnknown(const SpecPlace &place, llvm::StringRef name) {
  std::vector<llvm::StringRef> names;
  for (const KernelParameterInfo &parameter : summary.parameters)
    names.push_back(parameter.name);
  Diagnostic &diagnostic = diagnostics.report(DiagKind::DriverUnknownParameter, place.range,
                                              place.path, name, kernel.kernel);
  diagnostic.withHint(suggestName(name, names));
}

void KernelPlanner::checkNames(const SpecSignature &signature) {
  for (const SpecBinding &binding : signature.parameters)
    if (!findParameter(binding.name))
      reportUnknown(binding.place, binding.name);
}

bool KernelPlanner::checkConfigNames(const PlannedConfig &config) {
  bool known = true;
  for (const NamedLiteral &value : config.values)
    if (!findParameter(value.first)) {
      reportUnknown(config.place, value.first);
      known = false;
    }
  return known;
}

PlannedConfig ofSpec(const SpecConfig &config) {
  PlannedConfig planned;
  for (const SpecBinding &value : config.values)
    if (value.value.asLiteral)
      planned.values.emplace_back(value.name, *value.value.asLiteral);
  planned.options = config.options;
  planned.place = config.place;
  return planned;
}

bool hasOption(const KernelConfig &config, llvm::StringRef name) {
  const Literal *value = findValue(config.options, name);
  return value && value->kind == Literal::Kind::Bool && value->boolean;
}

std::vector<PlannedConfig> KernelPlanner::configsOfSource(const TargetInfo &target) {
  std::vector<PlannedConfig> configs;
  auto autotune =
      evaluateAutotune(loader, *module, kernel.kernel, answersOf(target), defines, diagnostics);
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
    planned.options.maxRegisters = widen(config.maxRegisters);
    planned.options.launchesEarly = hasOption(config, "launch_pdl");
    planned.options.isCooperative = hasOption(config, "launch_cooperative_grid");
    planned.place = {kernel.kernelPlace.path, config.range};
    planned.fromSource = true;
  }
  return configs;
}

void KernelPlanner::settle() { allDiagnostics.merge(std::move(diagnostics)); }

void KernelPlanner::run(llvm::StringRef specFolder) {
  llvm::scope_exit settleAtEnd([&] { settle(); });
  module = loader.load(sourcePath(kernel, specFolder), diagnostics);
  if (!module || module->tree->hasErrors())
    return;
  auto described = describeKernel(loader, *module, kernel.kernel, answersOf(spec.targets.front()),
                                  defines, diagnostics);
  if (!described)
    return;
  summary = std::move(*described);
  for (const SpecSignature &signature : kernel.signatures)
    checkNames(signature);
  if (diagnostics.hasErrors())
    return;
  for (const std::string &entry : kernel.entryNames())
    planEntry(entry);
}

void KernelPlanner::planEntry(llvm::StringRef entryName) {
  unsigned index = plan.model.entries.size();
  EntryModel &entry = plan.model.entries.emplace_back();
  entry.name = entryName.str();
  entry.source = kernel.source;
  entry.kernel = kernel.kernel;
  for (const SpecExpression &dimension : kernel.grid)
    entry.grid.push_back(dimension.expression);
  entry.dispatchKey = kernel.dispatchKey;
  if (!binder.collect(entry) || !addRanges(kernel, entry, diagnostics))
    return;
  for (const SpecConfigs *configs : kernel.configLists()) {
    std::vector<const SpecSignature *> signatures;
    for (const SpecSignature &signature : kernel.signatures)
      if (signature.entry == entryName && &kernel.configsOf(signature) == configs)
        signatures.push_back(&signature);
    if (!signatures.empty() && !planConfigs(index, *configs, signatures))
      return;
  }
}

/// Variants are in the order of the spec's configs, as those of equal cost are tried; each target
/// has its own list of the source's. False where a config names what the kernel does not have.
bool KernelPlanner::planConfigs(unsigned entry, const SpecConfigs &configs,
                                llvm::ArrayRef<const SpecSignature *> signatures) {
  auto planFor = [&](const PlannedConfig &config, unsigned target) {
    if (!checkConfigNames(config))
      return false;
    for (const SpecSignature *signature : signatures) {
      planVariant(entry, *signature, config, target);
      settle();
    }
    return true;
  };
  for (const SpecConfig &config : configs.list)
    for (auto [index, target] : llvm::enumerate(spec.targets))
      if (config.isFor(target) && !planFor(ofSpec(config), index))
        return false;
  if (configs.fromSource)
    for (auto [index, target] : llvm::enumerate(spec.targets))
      for (const PlannedConfig &config : configsOfSource(target))
        if (!planFor(config, index))
          return false;
  return true;
}

/// Gives every parameter of the kernel its type or value: from the signature, the config, a
/// heuristic, its default.
bool KernelPlanner::bind(const SpecSignature &signature, const PlannedConfig &config,
                         EntryModel &entry, KernelInstance &instance, VariantModel &variant) {
  variant.parameters.emplace();
  std::vector<const KernelParameterInfo *> unbound;
  for (const KernelParameterInfo &parameter : summary.parameters) {
    if (signature.find(parameter.name)) {
      auto value = binder.bind(parameter, signature, config.values, entry, variant);
      if (!value)
        return false;
      instance.arguments.emplace_back(parameter.name, std::move(*value));
    } else if (const Literal *value = findValue(config.values, parameter.name)) {
      instance.arguments.emplace_back(parameter.name, ArgumentValue::ofConstant(*value));
      binder.addConstant(variant, parameter.name, *value);
    } else if (auto option = launchOption(config.options, parameter.name)) {
      instance.arguments.emplace_back(parameter.name,
                                      ArgumentValue::ofConstant(Literal::ofInt(*option)));
      variant.constants.emplace_back(parameter.name, Literal::ofInt(*option));
    } else {
      unbound.push_back(&parameter);
    }
  }
  // Those of a kernel all of whose values are given may ask for what is not known here.
  auto heuristics = unbound.empty() ? std::optional(NamedConstants())
                                    : evaluateHeuristics(loader, *module, instance, diagnostics);
  if (!heuristics)
    return false;
  for (const KernelParameterInfo *parameter : unbound) {
    auto computed = llvm::find_if(
        *heuristics, [&](const auto &value) { return value.first == parameter->name; });
    const Literal *value = computed != heuristics->end() ? &computed->second
                           : parameter->defaultValue     ? &*parameter->defaultValue
                                                         : nullptr;
    if (value) {
      if (!binder.bindDefault(*parameter, *value, signature, entry, variant))
        return false;
    } else if (!parameter->hasDefault) {
      diagnostics
          .report(DiagKind::DriverUnboundParameter, signature.place.range, signature.place.path,
                  parameter->name, kernel.kernel)
          .note(DiagKind::DriverParameterHere, parameter->range, parameter->name);
      return false;
    }
  }
  return true;
}

/// Launch options that the target cannot have. What a config needs of shared memory is known only
/// after compiling.
bool KernelPlanner::fits(const KernelInstance &instance, const TargetInfo &target,
                         const PlannedConfig &config) {
  std::string reason;
  if (!llvm::isPowerOf2_32(instance.numWarps))
    reason = "num_warps = " + std::to_string(instance.numWarps) + " is not a power of two";
  else if (target.backend != Backend::CPU &&
           target.threadsPerBlock(instance.numWarps) > target.maxThreadsPerBlock)
    reason = "num_warps = " + std::to_string(instance.numWarps) + " makes " +
             std::to_string(target.threadsPerBlock(instance.numWarps)) + " threads, the limit is " +
             std::to_string(target.maxThreadsPerBlock);
  else if (instance.numCtas > target.maxClusterSize && target.backend != Backend::CPU)
    reason = "num_ctas = " + std::to_string(instance.numCtas) + ", the limit is " +
             std::to_string(target.maxClusterSize);
  else if (config.options.isCooperative && (target.backend == Backend::CPU || target.emulated))
    reason = "launch_cooperative_grid: programs run one after the other there";
  if (reason.empty())
    return true;
  DiagKind kind =
      config.fromSource ? DiagKind::DriverConfigDropped : DiagKind::DriverConfigDoesNotFit;
  diagnostics.report(kind, config.place.range, config.place.path, target.name, reason);
  return false;
}

/// Names of the grid and of conditions. A mistake in an expression is one mistake, however many
/// variants have it.
bool KernelPlanner::checkExpressions(const EntryModel &entry, const VariantModel &variant) {
  std::vector<std::pair<std::string, ArgumentType>> arguments;
  for (const EntryArgument &argument : entry.arguments)
    arguments.emplace_back(argument.name, argument.type);
  bool isGood = true;
  for (const std::vector<SpecExpression> *list : {&kernel.grid, &kernel.conditions})
    for (const SpecExpression &expression : *list)
      isGood &= checkOnce(expression, [&] {
        return checkExpression(expression, arguments, variant.constants, diagnostics);
      });
  return isGood;
}

/// Whether the expression is right, as `check` finds out and reports: until it once was wrong.
bool KernelPlanner::checkOnce(const SpecExpression &expression, llvm::function_ref<bool()> check) {
  if (wrongExpressions.count(expression.place.path))
    return false;
  bool isGood = check();
  if (!isGood)
    wrongExpressions.insert(expression.place.path);
  return isGood;
}

/// A grid that is wrong in every call of a variant.
bool KernelPlanner::checkGrid(const EntryModel &entry, const VariantModel &variant) {
  bool isGpuOnly = llvm::none_of(
      spec.targets, [](const TargetInfo &target) { return target.backend == Backend::CPU; });
  bool isGood = true;
  for (auto [index, dimension] : llvm::enumerate(kernel.grid)) {
    int64_t limit = isGpuOnly && index > 0 ? 65535 : std::numeric_limits<int32_t>::max();
    isGood &= checkOnce(dimension, [&, index = index, &place = dimension.place] {
      std::string mistake = gridMistake(entry, variant, index, limit);
      if (!mistake.empty())
        diagnostics.report(DiagKind::SpecGrid, place.range, place.path, mistake);
      return mistake.empty();
    });
  }
  return isGood;
}

/// The spec's `when`, in this variant's constants. False when no call meets them.
bool KernelPlanner::addConditions(const EntryModel &entry, VariantModel &variant,
                                  const PlannedConfig &config, const TargetInfo &target) {
  for (const SpecExpression &condition : kernel.conditions) {
    addCondition(condition.expression, entry, variant);
    std::vector<std::string> needs = contradictionOf(entry, variant);
    if (needs.empty())
      continue;
    std::string text = "'" + llvm::join(needs, "' and '") + "'";
    const SpecPlace &place = config.fromSource ? config.place : condition.place;
    if (config.fromSource)
      diagnostics.report(DiagKind::DriverConfigDropped, place.range, place.path, target.name,
                         "no call meets " + text);
    else if (contradictions.insert(text).second)
      diagnostics.report(DiagKind::SpecContradiction, place.range, place.path, text,
                         entry.name + " (" + variantName(entry, variant) + ")");
    return false;
  }
  return true;
}

/// The index of the variant with the same config and facts, which other targets may have made
/// already.
std::optional<unsigned> KernelPlanner::addVariant(EntryModel &entry, VariantModel variant) {
  auto sameFacts = [](const ArgumentFact &a, const ArgumentFact &b) {
    return a.argument == b.argument && a.divisibility == b.divisibility && a.equals == b.equals &&
           a.minimum == b.minimum && a.maximum == b.maximum;
  };
  auto sameText = [](const Expression &a, const Expression &b) { return a.text() == b.text(); };
  for (auto [index, other] : llvm::enumerate(entry.variants))
    if (other.constants == variant.constants && sameOptions(other.options, variant.options) &&
        other.parameters == variant.parameters &&
        llvm::equal(other.facts, variant.facts, sameFacts) &&
        llvm::equal(other.conditions, variant.conditions, sameText))
      return index;
  entry.variants.push_back(std::move(variant));
  return entry.variants.size() - 1;
}

/// Another config, or signature, has come to the same: a default, say, that one of them writes out.
bool KernelPlanner::isRepeated(unsigned entry, unsigned variant, unsigned target,
                               const PlannedConfig &config, const SpecSignature &signature) {
  // The entry's jobs are the last ones.
  auto earlier = plan.jobs.rbegin();
  while (earlier != plan.jobs.rend() && earlier->entry == entry &&
         (earlier->variant != variant || earlier->target != target))
    ++earlier;
  if (earlier == plan.jobs.rend() || earlier->entry != entry)
    return false;
  const SpecPlace &place =
      earlier->place.path == config.place.path ? signature.place : config.place;
  if (config.fromSource)
    diagnostics.report(DiagKind::DriverConfigDropped, config.place.range, config.place.path,
                       spec.targets[target].name, "it equals an earlier one");
  else
    diagnostics.report(DiagKind::SpecUnreachable, place.range, place.path, earlier->place.path)
        .note(DiagKind::SpecFirstHere, earlier->place.range);
  return true;
}

void KernelPlanner::planVariant(unsigned entryIndex, const SpecSignature &signature,
                                const PlannedConfig &config, unsigned target) {
  EntryModel &entry = plan.model.entries[entryIndex];
  CompileJob job;
  KernelInstance &instance = job.instance;
  instance.kernel = kernel.kernel;
  instance.numWarps = config.options.numWarps.value_or(4);
  instance.numStages = config.options.numStages.value_or(3);
  instance.numCtas = config.options.numCtas.value_or(1);
  instance.debug = kernel.debug || summary.debug || debug;
  instance.deviceMemory = kernel.deviceMemory || deviceMemory;
  instance.target = answersOf(spec.targets[target]);
  instance.defines = defines;
  VariantModel variant;
  variant.config = config.values;
  variant.options = config.options;
  if (!bind(signature, config, entry, instance, variant) ||
      !fits(instance, spec.targets[target], config))
    return;
  variant.promises = variant.facts.size();
  for (auto [value, name] : {std::pair(config.options.kpack, "kpack"),
                             std::pair(config.options.matrixInstrNonKDim, "matrix_instr_nonkdim")})
    if (value.value_or(0) != 0)
      diagnostics.report(DiagKind::DriverOptionUnused, config.place.range, config.place.path, name);
  if (!binder.checkLaunchNames(variant) || !checkPromises(entry, variant, diagnostics) ||
      !checkExpressions(entry, variant) ||
      !addConditions(entry, variant, config, spec.targets[target]) || !checkGrid(entry, variant))
    return;
  job.variant = *addVariant(entry, std::move(variant));
  if (isRepeated(entryIndex, job.variant, target, config, signature))
    return;
  job.entry = entryIndex;
  job.target = target;
  job.module = module;
  job.mayBeDropped = config.fromSource;
  job.place = config.place;
  job.label = entry.name + " (" + variantName(entry, entry.variants[job.variant]) + ")";
  job.piece = pieceName(entry, entry.variants[job.variant], spec.targets[target]);
  plan.jobs.push_back(std::move(job));
}

} // namespace

std::string sourcePath(const SpecKernel &kernel, llvm::StringRef specFolder) {
  llvm::SmallString<256> path(kernel.source);
  if (!llvm::sys::path::is_absolute(path) && !specFolder.empty()) {
    path = specFolder;
    llvm::sys::path::append(path, kernel.source);
  }
  return path.str().str();
}

NamedConstants definitionsOf(const CompilerOptions &options) {
  NamedConstants defines;
  for (const auto &[name, text] : options.definitions) {
    llvm::StringRef dtype = text;
    bool isDType = dtype.consume_front("tl.") && parseElementType(dtype);
    defines.emplace_back(name, isDType ? Literal::ofDType(dtype.str())
                                       : parseLiteral(text).value_or(Literal::ofString(text)));
  }
  return defines;
}

TargetAnswers answersOf(const TargetInfo &target) {
  TargetAnswers answers;
  answers.backend = backendName(target.backend).str();
  answers.arch = target.archNumber;
  answers.archName = target.arch;
  answers.warpSize = target.warpSize;
  answers.takesAssembly = target.backend != Backend::CPU && !target.emulated;
  return answers;
}

std::vector<ExpectedParameter> launcherParameters(const LibraryModel &model,
                                                  const CompileJob &job) {
  const EntryModel &entry = model.entries[job.entry];
  std::vector<ExpectedParameter> expected;
  for (unsigned index : kernelParameters(entry, entry.variants[job.variant]))
    expected.push_back({entry.arguments[index].name, entry.arguments[index].type.bytes()});
  return expected;
}

std::optional<BuildPlan> planBuild(const Spec &spec, llvm::StringRef specPath, ModuleLoader &loader,
                                   const CompilerOptions &options, DiagnosticEngine &diagnostics) {
  BuildPlan plan;
  plan.model.name = spec.library;
  plan.model.prefix = spec.prefix;
  plan.model.targets = spec.targets;
  plan.model.sizeBudget = spec.sizeBudget;
  plan.model.isCompressed = options.isCompressed.value_or(spec.isCompressed);
  plan.model.hasTorchSource = options.hasTorchSource;
  llvm::StringRef folder = llvm::sys::path::parent_path(specPath);
  for (const SpecKernel &kernel : spec.kernels)
    KernelPlanner(spec, kernel, loader, options, diagnostics, plan).run(folder);
  checkDefinitions(spec, folder, options, diagnostics);
  // Every entry point needs a variant; when all configs were dropped, their reasons stand before
  // this.
  for (const EntryModel &entry : plan.model.entries)
    if (entry.variants.empty() && !diagnostics.hasErrors())
      diagnostics.report(DiagKind::DriverNoVariant, DiagPlace(), entry.name);
  if (diagnostics.hasErrors())
    return std::nullopt;
  return plan;
}

} // namespace kiln
