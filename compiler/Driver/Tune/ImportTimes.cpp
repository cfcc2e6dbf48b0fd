#include "compiler/Driver/Tune/ImportTimes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <set>

namespace kiln {
namespace {

bool isOfConfig(const CompileJob &job, const VariantModel &variant, const TritonConfig &config) {
  return job.instance.numWarps == config.numWarps && job.instance.numStages == config.numStages &&
         job.instance.numCtas == config.numCtas && variant.config.size() == config.values.size() &&
         llvm::all_of(config.values,
                      [&](const auto &value) { return llvm::is_contained(variant.config, value); });
}

/// Names of the entry point's variants with the config; reports it where there are none.
std::vector<std::string> variantsOf(const BuildPlan &plan, unsigned entry,
                                    const TritonConfig &config, llvm::StringRef path,
                                    DiagnosticEngine &diagnostics) {
  const EntryModel &model = plan.model.entries[entry];
  std::vector<std::string> names;
  for (const CompileJob &job : plan.jobs)
    if (job.entry == entry && isOfConfig(job, model.variants[job.variant], config))
      names.push_back(stableName(model, model.variants[job.variant]));
  if (names.empty())
    diagnostics.report(DiagKind::DriverTuningStale, config.place.range, path,
                       "'" + model.name + "' has no variant of this config");
  return names;
}

/// Without what no config of the entry point says: the others' options for their own back ends,
/// which are reported once.
TritonConfig withoutForeign(TritonConfig config, const EntryModel &entry,
                            std::set<std::string> &foreign) {
  llvm::erase_if(config.values, [&](const auto &value) {
    bool isKnown = llvm::any_of(entry.variants, [&](const VariantModel &variant) {
      return llvm::any_of(variant.config,
                          [&](const auto &known) { return known.first == value.first; });
    });
    if (!isKnown)
      foreign.insert(value.first);
    return !isKnown;
  });
  return config;
}

/// The dispatch key of a row; reports a value that cannot be computed.
std::optional<Named<int64_t>> shapeOf(const EntryModel &entry, int64_t row,
                                      llvm::ArrayRef<std::pair<std::string, Expression>> where,
                                      llvm::StringRef path, DiagnosticEngine &diagnostics) {
  Named<int64_t> shape;
  for (const std::string &name : entry.dispatchKey) {
    auto given = llvm::find_if(where, [&](const auto &one) { return one.first == name; });
    TextError error{0, 0, "--where says nothing of it", ""};
    std::optional<int64_t> value;
    if (given != where.end())
      value = given->second.evaluate(
          [&](llvm::StringRef named) { return named == "M" ? std::optional(row) : std::nullopt; },
          error);
    if (!value) {
      diagnostics.report(DiagKind::DriverTuningFile, DiagPlace(), path,
                         llvm::formatv("'{0}' of the dispatch key is not known for M = {1}: {2}",
                                       name, row, error.message)
                             .str());
      return std::nullopt;
    }
    shape.push_back({name, *value});
  }
  return shape;
}

} // namespace

std::optional<TuningMeasurement> importTritonTimes(const BuildPlan &plan, unsigned index,
                                                   const TritonTimes &times, llvm::StringRef path,
                                                   DiagnosticEngine &diagnostics) {
  const EntryModel &entry = plan.model.entries[index];
  TuningMeasurement measurement;
  measurement.entry = entry.name;
  measurement.target = plan.model.targets[0].hardwareName();
  if (times.key.size() < entry.dispatchKey.size()) {
    diagnostics.report(DiagKind::DriverTuningFile, times.place.range, path,
                       llvm::formatv("its key begins with {0} integers, the dispatch key of '{1}' "
                                     "has {2} arguments",
                                     times.key.size(), entry.name, entry.dispatchKey.size())
                           .str());
    return std::nullopt;
  }
  for (auto [name, value] : llvm::zip(entry.dispatchKey, times.key))
    measurement.shape.push_back({name, value});
  for (const TritonConfigTime &config : times.configs) {
    for (const std::string &name : variantsOf(plan, index, config, path, diagnostics))
      if (config.time)
        measurement.times.push_back({name, *config.time});
      else
        measurement.failures.push_back({name, "did not run in Triton"});
  }
  return measurement;
}

std::vector<TuningMeasurement>
importChoices(const BuildPlan &plan, unsigned index, llvm::ArrayRef<Choice> choices,
              llvm::ArrayRef<std::pair<std::string, Expression>> where, llvm::StringRef path,
              DiagnosticEngine &diagnostics) {
  const EntryModel &entry = plan.model.entries[index];
  std::vector<TuningMeasurement> measurements;
  std::set<std::string> foreign;
  for (const Choice &choice : choices) {
    TritonConfig config = withoutForeign(choice.config, entry, foreign);
    std::vector<std::string> names = variantsOf(plan, index, config, path, diagnostics);
    if (names.empty())
      continue;
    for (int64_t row : choice.rows) {
      auto shape = shapeOf(entry, row, where, path, diagnostics);
      if (!shape)
        return {};
      TuningMeasurement &one = measurements.emplace_back();
      one.entry = entry.name;
      one.target = plan.model.targets[0].hardwareName();
      one.shape = std::move(*shape);
      one.chosen = names;
    }
  }
  if (!foreign.empty())
    diagnostics.report(DiagKind::DriverTuningStale, DiagPlace(), path,
                       "no config of '" + entry.name + "' says " + llvm::join(foreign, ", ") +
                           ", which was not looked at");
  return measurements;
}

} // namespace kiln
