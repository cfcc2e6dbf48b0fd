#include "compiler/Driver/Planning/KernelPlanner.h"
#include "codegen/ArgumentRanges.h"
#include "codegen/SpecChecks.h"
#include "compiler/Basic/NameSuggestion.h"
#include "compiler/Driver/Planning/ArgumentBinding.h"
#include "compiler/Driver/Planning/Definitions.h"
#include "compiler/Driver/Planning/PieceName.h"
#include "compiler/Driver/Planning/PlannedConfig.h"
#include "compiler/Driver/Planning/SpecPaths.h"
#include "compiler/Driver/Planning/TritonOptions.h"
#include "compiler/Driver/Planning/VariantChecks.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

namespace kiln {
namespace {

/// Plans one kernel of the spec.
class KernelPlanner {
public:
  KernelPlanner(const Spec &spec, const SpecKernel &kernel, ModuleLoader &loader,
                const CompilerOptions &options, DiagnosticEngine &diagnostics, BuildPlan &plan)
      : spec(spec), kernel(kernel), loader(loader), allDiagnostics(diagnostics),
        diagnostics(options.maxErrors), plan(plan), defines(definitionsOf(options)),
        debug(options.debug), portable(options.portable), deviceMemory(options.deviceMemory),
        smallArrays(options.smallArrays), binder(kernel, summary, this->diagnostics),
        checks(spec, kernel, this->diagnostics) {
    for (const SpecBinding &constant : kernel.constants)
      if (constant.value.asLiteral)
        defines.emplace_back(constant.name, *constant.value.asLiteral);
  }

  void run(llvm::StringRef specFolder);

private:
  void checkNames(const SpecSignature &signature);
  bool checkConfigNames(const PlannedConfig &config);
  void dropTritonOptions(PlannedConfig &config, const TargetInfo &target);
  void planEntry(llvm::StringRef entryName);
  bool addArrays(EntryModel &entry);
  bool planConfigs(unsigned entry, const SpecConfigs &configs,
                   llvm::ArrayRef<const SpecSignature *> signatures);
  void planVariant(unsigned entry, const SpecSignature &signature, const PlannedConfig &config,
                   unsigned target);
  void useOptionsOfAMD(const PlannedConfig &config, const TargetInfo &target,
                       KernelInstance &instance);
  bool bind(const SpecSignature &signature, const PlannedConfig &config, EntryModel &entry,
            KernelInstance &instance, VariantModel &variant);
  bool isRepeated(unsigned entry, unsigned variant, unsigned target, const PlannedConfig &config,
                  const SpecSignature &signature);
  void settle();
  std::optional<unsigned> addVariant(EntryModel &entry, VariantModel variant);
  const KernelParameterInfo *findParameter(llvm::StringRef name) const;
  void reportUnknown(DiagKind kind, const SpecPlace &place, llvm::StringRef name);

  const Spec &spec;
  const SpecKernel &kernel;
  ModuleLoader &loader;
  /// What has been said, each thing once.
  DiagnosticEngine &allDiagnostics;
  /// Of one step. Variants repeat each other's mistakes; settle() leaves the repeats out.
  DiagnosticEngine diagnostics;
  BuildPlan &plan;
  NamedConstants defines;
  /// Of the command line, for every kernel.
  bool debug, portable, deviceMemory, smallArrays;
  const LoadedModule *module = nullptr;
  /// Options of Triton's of which it has been said that they change nothing.
  llvm::StringSet<> toldOptions;
  KernelSummary summary;
  ArgumentBinder binder;
  VariantChecks checks;
};

const KernelParameterInfo *KernelPlanner::findParameter(llvm::StringRef name) const {
  for (const KernelParameterInfo &parameter : summary.parameters)
    if (parameter.name == name)
      return &parameter;
  return nullptr;
}

void KernelPlanner::reportUnknown(DiagKind kind, const SpecPlace &place, llvm::StringRef name) {
  std::vector<llvm::StringRef> names;
  for (const KernelParameterInfo &parameter : summary.parameters)
    names.push_back(parameter.name);
  diagnostics.report(kind, place.range, place.path, name, kernel.kernel)
      .withHint(suggestName(name, names));
}

void KernelPlanner::checkNames(const SpecSignature &signature) {
  for (const SpecBinding &binding : signature.parameters)
    if (!findParameter(binding.name))
      reportUnknown(DiagKind::DriverUnknownParameter, binding.place, binding.name);
}

bool KernelPlanner::checkConfigNames(const PlannedConfig &config) {
  bool known = true;
  for (const NamedLiteral &value : config.values)
    if (!findParameter(value.first)) {
      reportUnknown(DiagKind::DriverUnknownParameter, config.placeOf(value.first), value.first);
      known = false;
    }
  for (const std::string &name : config.unused)
    reportUnknown(DiagKind::DriverConfigKey, config.placeOf(name), name);
  return known;
}

/// Of one that is for the target, and no parameter of the kernel, the user is told, once.
void KernelPlanner::dropTritonOptions(PlannedConfig &config, const TargetInfo &target) {
  auto drop = [&](llvm::StringRef name, const Literal *value) {
    const TritonOption *option = findParameter(name) ? nullptr : findTritonOption(name);
    if (!option)
      return false;
    const SpecPlace &place = config.placeOf(name);
    bool isAsked = option->isOf(target) && !(value && asksForNothing(*value));
    if (isAsked && toldOptions.insert(name).second)
      diagnostics.report(DiagKind::DriverTritonOption, place.range, place.path, name,
                         option->instead);
    return true;
  };
  llvm::erase_if(config.values,
                 [&](const NamedLiteral &value) { return drop(value.first, &value.second); });
  llvm::erase_if(config.unused, [&](llvm::StringRef name) { return drop(name, nullptr); });
}

void KernelPlanner::settle() { allDiagnostics.merge(std::move(diagnostics)); }

void KernelPlanner::run(llvm::StringRef specFolder) {
  llvm::scope_exit settleAtEnd([&] { settle(); });
  module = loader.load(besideSpec(specFolder, kernel.source), diagnostics);
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
  if (!binder.collect(entry) || !addRanges(kernel, entry, diagnostics) || !addArrays(entry))
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

/// What the spec says of arrays; it may name those of other entry points, too. A size that cannot
/// be computed of this one's arguments is a mistake where programs are to be checked by it.
bool KernelPlanner::addArrays(EntryModel &entry) {
  std::vector<std::pair<std::string, ArgumentType>> arguments;
  for (const EntryArgument &argument : entry.arguments)
    arguments.emplace_back(argument.name, argument.type);
  for (const SpecTuning::Array &array : kernel.tuning.arrays) {
    auto argument = findArgument(entry, array.name);
    if (!argument || !entry.arguments[*argument].type.isPointer())
      continue;
    EntryArray added;
    added.argument = *argument;
    for (const SpecExpression &extent : array.extents) {
      if (plan.model.hasCxxHeader && !checkExpression(extent, arguments, {}, diagnostics))
        return false;
      added.extents.push_back(extent.expression);
    }
    if (llvm::all_of(added.extents, [&](const Expression &extent) {
          return llvm::all_of(extent.names(), [&](const std::string &name) {
            auto read = findArgument(entry, name);
            return read && entry.arguments[*read].type.isInteger();
          });
        }))
      entry.arrays.push_back(std::move(added));
  }
  return true;
}

/// Variants are in the order of the spec's configs, as those of equal cost are tried; each target
/// has its own list of the source's. False where a config names what the kernel does not have.
bool KernelPlanner::planConfigs(unsigned entry, const SpecConfigs &configs,
                                llvm::ArrayRef<const SpecSignature *> signatures) {
  auto planFor = [&](PlannedConfig config, unsigned target) {
    dropTritonOptions(config, spec.targets[target]);
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
      if (config.isFor(target) && !planFor(configOfSpec(config), index))
        return false;
  if (configs.fromSource)
    for (auto [index, target] : llvm::enumerate(spec.targets))
      for (PlannedConfig &config :
           configsOfSource(kernel, *module, target, defines, loader, diagnostics))
        if (!planFor(std::move(config), index))
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

void KernelPlanner::useOptionsOfAMD(const PlannedConfig &config, const TargetInfo &target,
                                    KernelInstance &instance) {
  if (target.backend != Backend::HIP)
    return;
  auto sayUnused = [&](int64_t value, const char *name, const llvm::Twine &hint) {
    const SpecPlace &place = config.placeOf(name);
    diagnostics
        .report(DiagKind::DriverOptionUnused, place.range, place.path, name, value, target.name)
        .withHint(hint);
  };
  auto use = [&](int64_t value, const char *name, llvm::ArrayRef<int64_t> known, unsigned &used) {
    if (llvm::is_contained(known, value))
      used = target.matrix.mfmaGeneration ? unsigned(value) : 0;
    else if (value)
      sayUnused(value, name,
                "expected " +
                    llvm::join(llvm::map_range(known, [](int64_t v) { return std::to_string(v); }),
                               " or ") +
                    ", or nothing for Kiln's choice");
  };
  // WMMA has one size, and reads what one instruction needs.
  static const int64_t sizes[] = {16, 32}, packs[] = {1, 2};
  size_t numKnown = target.matrix.mfmaGeneration ? 2 : 1;
  if (int64_t registers = config.options.maxRegisters.value_or(0))
    sayUnused(registers, "maxnreg", "waves_per_eu bounds registers there");
  use(config.options.matrixInstrNonKDim.value_or(0), "matrix_instr_nonkdim", {sizes, numKnown},
      instance.matrixSize);
  use(config.options.kpack.value_or(0), "kpack", {packs, numKnown}, instance.kPack);
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
  instance.portable = kernel.portable || portable;
  instance.deviceMemory = kernel.deviceMemory || deviceMemory;
  instance.smallArrays = kernel.smallArrays || smallArrays;
  instance.target = answersOf(spec.targets[target]);
  instance.defines = defines;
  VariantModel variant;
  variant.config = config.values;
  variant.options = config.options;
  if (!bind(signature, config, entry, instance, variant) ||
      !checks.fits(instance, spec.targets[target], config))
    return;
  variant.promises = variant.facts.size();
  useOptionsOfAMD(config, spec.targets[target], instance);
  if (!binder.checkLaunchNames(variant) || !checkPromises(entry, variant, diagnostics) ||
      !checks.checkExpressions(entry, variant) ||
      !checks.addConditions(entry, variant, config, spec.targets[target]) ||
      !checks.checkGrid(entry, variant))
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

void planKernel(const Spec &spec, const SpecKernel &kernel, llvm::StringRef specFolder,
                ModuleLoader &loader, const CompilerOptions &options, DiagnosticEngine &diagnostics,
                BuildPlan &plan) {
  KernelPlanner(spec, kernel, loader, options, diagnostics, plan).run(specFolder);
}

} // namespace kiln
