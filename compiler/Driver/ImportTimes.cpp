#include "compiler/Driver/ImportTimes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

namespace kiln {
namespace {

bool isOfConfig(const CompileJob &job, const VariantModel &variant,
                const TritonConfigTime &config) {
  return job.instance.numWarps == config.numWarps && job.instance.numStages == config.numStages &&
         job.instance.numCtas == config.numCtas && variant.config.size() == config.values.size() &&
         llvm::all_of(config.values,
                      [&](const auto &value) { return llvm::is_contained(variant.config, value); });
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
    bool isKnown = false;
    for (const CompileJob &job : plan.jobs) {
      const VariantModel &variant = plan.model.entries[job.entry].variants[job.variant];
      if (job.entry != index || !isOfConfig(job, variant, config))
        continue;
      isKnown = true;
      if (config.time)
        measurement.times.push_back({stableName(entry, variant), *config.time});
      else
        measurement.failures.push_back({stableName(entry, variant), "did not run in Triton"});
    }
    if (!isKnown)
      diagnostics.report(DiagKind::DriverTuningStale, config.place.range, path,
                         "'" + entry.name + "' has no variant of this config");
  }
  return measurement;
}

} // namespace kiln
