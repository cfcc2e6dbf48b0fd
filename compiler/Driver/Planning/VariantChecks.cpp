#include "compiler/Driver/Planning/VariantChecks.h"
#include "codegen/SpecChecks.h"
#include "codegen/VariantConditions.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace kiln {

bool VariantChecks::fits(const KernelInstance &instance, const TargetInfo &target,
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
    reason = "num_ctas = " + std::to_string(instance.numCtas) +
             (target.maxClusterSize > 1 ? ", the limit is " + std::to_string(target.maxClusterSize)
                                        : ": its blocks form no clusters, as those of sm_90a do");
  else if (config.options.isCooperative && (target.backend == Backend::CPU || target.emulated))
    reason = "launch_cooperative_grid: programs run one after the other there";
  if (reason.empty())
    return true;
  DiagKind kind =
      config.fromSource ? DiagKind::DriverConfigDropped : DiagKind::DriverConfigDoesNotFit;
  diagnostics.report(kind, config.place.range, config.place.path, target.name, reason);
  return false;
}

bool VariantChecks::checkExpressions(const EntryModel &entry, const VariantModel &variant) {
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

bool VariantChecks::checkOnce(const SpecExpression &expression, llvm::function_ref<bool()> check) {
  if (wrongExpressions.count(expression.place.path))
    return false;
  bool isGood = check();
  if (!isGood)
    wrongExpressions.insert(expression.place.path);
  return isGood;
}

bool VariantChecks::checkGrid(const EntryModel &entry, const VariantModel &variant) {
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

bool VariantChecks::addConditions(const EntryModel &entry, VariantModel &variant,
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

} // namespace kiln
