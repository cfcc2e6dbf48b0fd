#include "compiler/Driver/BuildPlan.h"
#include "codegen/SpecChecks.h"
#include "compiler/Basic/NameSuggestion.h"
#include "compiler/Driver/ArgumentBinding.h"
#include "compiler/Driver/SourceNames.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Path.h"

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
                    o.matrixInstrNonKDim, o.kpack);
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

std::string sourcePath(const SpecKernel &kernel, llvm::StringRef specFolder) {
  llvm::SmallString<256> path(kernel.source);
  if (!llvm::sys::path::is_absolute(path) && !specFolder.empty()) {
    path = specFolder;
    llvm::sys::path::append(path, kernel.source);
  }
  return path.str().str();
}

/// Warns of definitions that no source could read.
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
      : spec(spec), kernel(kernel), loader(loader), diagnostics(diagnostics), plan(plan),
        defines(definitionsOf(options)), debug(options.debug),
        binder(kernel, summary, diagnostics) {
    for (const SpecBinding &constant : kernel.constants)
      if (constant.value.asLiteral)
        defines.emplace_back(constant.name, *constant.value.asLiteral);
  }

  void run(llvm::StringRef specFolder);

private:
  void checkNames(const SpecSignature &signature);
  bool checkConfigNames(const PlannedConfig &config);
  std::vector<PlannedConfig> configsFor(const TargetInfo &target);
  void planEntry(llvm::StringRef entryName);
  void planVariant(unsigned entry, const SpecSignature &signature, const PlannedConfig &config,
                   unsigned target);
  bool bind(const SpecSignature &signature, const PlannedConfig &config, EntryModel &entry,
            KernelInstance &instance, VariantModel &variant);
  bool fits(const KernelInstance &instance, const TargetInfo &target, const PlannedConfig &config);
  bool addConditions(const EntryModel &entry, VariantModel &variant);
  std::optional<ArgumentFact> factOfComparison(const Expression &expression, unsigned node,
                                               const EntryModel &entry);
  bool addCondition(const Expression &expression, unsigned node, const SpecExpression &condition,
                    const EntryModel &entry, VariantModel &variant);
  std::optional<unsigned> addVariant(EntryModel &entry, VariantModel variant);
  const KernelParameterInfo *findParameter(llvm::StringRef name) const;
  void reportUnknown(const SpecPlace &place, llvm::StringRef name);

  const Spec &spec;
  const SpecKernel &kernel;
  ModuleLoader &loader;
  DiagnosticEngine &diagnostics;
  BuildPlan &plan;
  NamedConstants defines;
  /// Of the command line: run-time checks in every kernel.
  bool debug;
  const LoadedModule *module = nullptr;
  KernelSummary summary;
  ArgumentBinder binder;
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

std::vector<PlannedConfig> KernelPlanner::configsFor(const TargetInfo &target) {
  std::vector<PlannedConfig> configs;
  if (!kernel.configsFromSource) {
    for (const SpecConfig &config : kernel.configs) {
      PlannedConfig &planned = configs.emplace_back();
      for (const SpecBinding &value : config.values)
        if (value.value.asLiteral)
          planned.values.emplace_back(value.name, *value.value.asLiteral);
      planned.options = config.options;
      planned.place = config.place;
    }
    return configs;
  }
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
    planned.place = {kernel.kernelPlace.path, config.range};
    planned.fromSource = true;
  }
  return configs;
}

void KernelPlanner::run(llvm::StringRef specFolder) {
  unsigned errorsBefore = diagnostics.getNumErrors(); // other kernels'
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
  if (diagnostics.getNumErrors() != errorsBefore)
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
  if (!binder.collect(entry))
    return;
  for (unsigned target = 0; target < spec.targets.size(); ++target)
    for (const PlannedConfig &config : configsFor(spec.targets[target])) {
      if (!checkConfigNames(config))
        return;
      for (const SpecSignature &signature : kernel.signatures)
        if (signature.entry == entryName)
          planVariant(index, signature, config, target);
    }
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
  if (reason.empty())
    return true;
  DiagKind kind =
      config.fromSource ? DiagKind::DriverConfigDropped : DiagKind::DriverConfigDoesNotFit;
  diagnostics.report(kind, config.place.range, config.place.path, target.name, reason);
  return false;
}

/// A comparison of an integer argument with a constant, as what the variant needs of that argument.
std::optional<ArgumentFact> KernelPlanner::factOfComparison(const Expression &expression,
                                                            unsigned node,
                                                            const EntryModel &entry) {
  using Op = Expression::Op;
  const Expression::Node &comparison = expression.nodes()[node];
  const Expression::Node *left = &expression.nodes()[comparison.left];
  const Expression::Node *right = &expression.nodes()[comparison.right];
  Op op = comparison.op;
  if (left->op == Op::Constant) {
    std::swap(left, right);
    op = op == Op::Less           ? Op::Greater
         : op == Op::LessEqual    ? Op::GreaterEqual
         : op == Op::Greater      ? Op::Less
         : op == Op::GreaterEqual ? Op::LessEqual
                                  : op;
  }
  if (left->op != Op::Name || right->op != Op::Constant)
    return std::nullopt;
  ArgumentFact fact;
  auto argument =
      llvm::find_if(entry.arguments, [&](const EntryArgument &a) { return a.name == left->name; });
  if (argument == entry.arguments.end() || !argument->type.isInteger())
    return std::nullopt;
  fact.argument = argument - entry.arguments.begin();
  int64_t limit = right->constant;
  if (limit == std::numeric_limits<int64_t>::min() || limit == std::numeric_limits<int64_t>::max())
    return std::nullopt; // The neighbour that < and > stand for does not exist.
  switch (op) {
  case Op::Less:
    fact.maximum = limit - 1;
    return fact;
  case Op::LessEqual:
    fact.maximum = limit;
    return fact;
  case Op::Greater:
    fact.minimum = limit + 1;
    return fact;
  case Op::GreaterEqual:
    fact.minimum = limit;
    return fact;
  case Op::Equal:
    fact.equals = limit;
    return fact;
  default:
    return std::nullopt;
  }
}

bool KernelPlanner::addCondition(const Expression &expression, unsigned node,
                                 const SpecExpression &condition, const EntryModel &entry,
                                 VariantModel &variant) {
  const Expression::Node &root = expression.nodes()[node];
  if (root.op == Expression::Op::And)
    return addCondition(expression, root.left, condition, entry, variant) &&
           addCondition(expression, root.right, condition, entry, variant);
  if (auto fact = factOfComparison(expression, node, entry)) {
    variant.facts.push_back(*fact);
    return true;
  }
  diagnostics.report(DiagKind::DriverCondition, condition.place.range, condition.place.path);
  return false;
}

/// The spec's `when`, in this variant's constants.
bool KernelPlanner::addConditions(const EntryModel &entry, VariantModel &variant) {
  auto constantOf = [&](llvm::StringRef name) -> std::optional<int64_t> {
    const Literal *value = findValue(variant.constants, name);
    return value ? value->asInteger() : std::nullopt;
  };
  for (const SpecExpression &condition : kernel.conditions) {
    Expression expression = condition.expression.substitute(constantOf);
    if (!addCondition(expression, expression.nodes().size() - 1, condition, entry, variant))
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
  for (auto [index, other] : llvm::enumerate(entry.variants))
    if (other.constants == variant.constants && sameOptions(other.options, variant.options) &&
        other.parameters == variant.parameters &&
        llvm::equal(other.facts, variant.facts, sameFacts))
      return index;
  entry.variants.push_back(std::move(variant));
  return entry.variants.size() - 1;
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
  instance.target = answersOf(spec.targets[target]);
  instance.defines = defines;
  VariantModel variant;
  variant.config = config.values;
  variant.options = config.options;
  if (!bind(signature, config, entry, instance, variant) ||
      !fits(instance, spec.targets[target], config))
    return;
  std::vector<std::string> arguments;
  for (const EntryArgument &argument : entry.arguments)
    if (argument.type.isInteger())
      arguments.push_back(argument.name);
  for (auto [value, name] : {std::pair(config.options.kpack, "kpack"),
                             std::pair(config.options.matrixInstrNonKDim, "matrix_instr_nonkdim")})
    if (value.value_or(0) != 0)
      diagnostics.report(DiagKind::DriverOptionUnused, config.place.range, config.place.path, name);
  if (!checkGrid(kernel, arguments, variant.constants, diagnostics) ||
      !addConditions(entry, variant))
    return;
  job.variant = *addVariant(entry, std::move(variant));
  job.entry = entryIndex;
  job.target = target;
  job.module = module;
  job.mayBeDropped = config.fromSource;
  job.place = config.place;
  job.label = entry.name + " (" + variantName(entry, entry.variants[job.variant]) + ")";
  plan.jobs.push_back(std::move(job));
}

} // namespace

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
  plan.model.targets = spec.targets;
  plan.model.sizeBudget = spec.sizeBudget;
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
