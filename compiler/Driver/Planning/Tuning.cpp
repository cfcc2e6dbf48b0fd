#include "compiler/Driver/Planning/Tuning.h"
#include "codegen/Measurements.h"
#include "codegen/TuningShapes.h"
#include "codegen/VariantSelection.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include <map>
#include <set>

namespace kiln {
namespace {

/// The tuning file of one kernel, and the entry points that it is about.
class KernelTuning {
public:
  KernelTuning(const SpecKernel &kernel, const TuningFile &tuning, llvm::StringRef path,
               TuningUse tuningUse, BuildPlan &plan, DiagnosticEngine &diagnostics)
      : kernel(kernel), tuning(tuning), path(path), tuningUse(tuningUse), plan(plan),
        diagnostics(diagnostics) {}

  void apply() {
    bool isAboutAny = false;
    for (auto [index, entry] : llvm::enumerate(plan.model.entries)) {
      if (!llvm::is_contained(kernel.entryNames(), entry.name) || !hasIntegerKey(entry))
        continue;
      for (unsigned target = 0; target < plan.model.targets.size(); ++target) {
        MeasuredTarget measured =
            measuredTarget(entry, plan.model, target, tuning, path, diagnostics);
        isAboutAny |= !measured.devices.empty();
        if (!measured.shapes.empty())
          use(index, std::move(measured));
      }
    }
    if (!isAboutAny && !diagnostics.hasErrors())
      diagnostics.report(DiagKind::DriverTuningStale, kernel.tuningFilePlace.range, path,
                         "nothing in it is about '" + kernel.name +
                             "' on a target of this library" + whatItIsAbout());
  }

private:
  const SpecKernel &kernel;
  const TuningFile &tuning;
  llvm::StringRef path;
  TuningUse tuningUse;
  BuildPlan &plan;
  DiagnosticEngine &diagnostics;

  bool hasIntegerKey(const EntryModel &entry) {
    for (const std::string &key : entry.dispatchKey) {
      auto argument = findArgument(entry, key);
      if (argument && entry.arguments[*argument].type.isInteger())
        continue;
      diagnostics.report(DiagKind::SpecShape, kernel.tuning.place.range, kernel.tuning.place.path,
                         "'" + key + "' of the key is no integer argument of '" + entry.name +
                             "', so nothing can be measured for it");
      return false;
    }
    return true;
  }

  /// ": it is about matmul_f16 on cuda:sm_80"
  std::string whatItIsAbout() const {
    std::set<std::string> subjects;
    for (const TuningRun &run : tuning.runs)
      for (const TuningMeasurement &one : run.measurements)
        subjects.insert("'" + one.entry + "' on " + one.target);
    return subjects.empty() ? "" : ": it is about " + llvm::join(subjects, ", ");
  }

  template <typename... Args> void warn(const char *format, const Args &...args) {
    diagnostics.report(DiagKind::DriverTuningStale, kernel.tuningFilePlace.range, path,
                       llvm::formatv(format, args...).str());
  }

  void use(unsigned index, MeasuredTarget measured) {
    EntryModel &entry = plan.model.entries[index];
    std::vector<unsigned> candidates;
    for (const CompileJob &job : plan.jobs)
      if (job.entry == index && job.target == measured.target)
        candidates.push_back(job.variant);
    checkNames(entry, candidates, measured);
    leaveOut(index, candidates, measured);
    entry.measured.push_back(std::move(measured));
  }

  /// Variants that only the file has, or only the spec.
  void checkNames(const EntryModel &entry, llvm::ArrayRef<unsigned> candidates,
                  const MeasuredTarget &measured) {
    std::set<std::string> known, seen;
    std::vector<std::string> unmeasured, unknown;
    for (const MeasuredShape &shape : measured.shapes)
      for (const auto &[name, time] : shape.times)
        seen.insert(name);
    for (unsigned candidate : candidates) {
      std::string name = stableName(entry, entry.variants[candidate]);
      known.insert(name);
      if (!seen.count(name))
        unmeasured.push_back(name);
    }
    for (const std::string &name : seen)
      if (!known.count(name))
        unknown.push_back(name);
    const std::string &target = plan.model.targets[measured.target].name;
    // Where others have chosen, most variants are not.
    bool hasTimes = llvm::any_of(measured.shapes, [](const auto &shape) { return shape.isTimed; });
    if (unmeasured.size() == candidates.size())
      warn("none of the variants of '{0}' for {1} was measured; it has times of '{2}'", entry.name,
           target, unknown.front());
    else if (!unmeasured.empty() && hasTimes)
      warn("{0} of the {1} variants of '{2}' for {3} have no time, the first of them '{4}'",
           unmeasured.size(), candidates.size(), entry.name, target, unmeasured.front());
    else if (!unknown.empty())
      warn("'{0}' has no variant '{1}' for {2}", entry.name, unknown.front(), target);
  }

  void leaveOut(unsigned index, llvm::ArrayRef<unsigned> candidates, MeasuredTarget &measured) {
    const EntryModel &entry = plan.model.entries[index];
    SelectionBounds bounds = {kernel.tuning.regret, kernel.tuning.maxVariants};
    VariantSelection selection = selectVariants(entry, candidates, measured.shapes, bounds);
    if (bounds.maxVariants && selection.kept.size() > *bounds.maxVariants) {
      reportTooMany(entry, candidates, measured, selection, bounds);
      return;
    }
    for (unsigned candidate : candidates)
      if (!llvm::is_contained(selection.kept, candidate))
        measured.leftOut.push_back(stableName(entry, entry.variants[candidate]));
    llvm::erase_if(plan.jobs, [&](const CompileJob &job) {
      return tuningUse == TuningUse::Embed && job.entry == index && job.target == measured.target &&
             !llvm::is_contained(selection.kept, job.variant);
    });
  }

  void reportTooMany(const EntryModel &entry, llvm::ArrayRef<unsigned> candidates,
                     const MeasuredTarget &measured, const VariantSelection &needed,
                     SelectionBounds bounds) {
    std::string message =
        llvm::formatv("'{0}' needs {1} variants for {2}", entry.name, needed.kept.size(),
                      plan.model.targets[measured.target].name);
    if (bounds.regret) {
      bounds.regret.reset();
      double regret = selectVariants(entry, candidates, measured.shapes, bounds).regret;
      message += llvm::formatv(" to lose at most {0:P1} at each measured shape; {1} lose {2:P1}",
                               *kernel.tuning.regret, *bounds.maxVariants, regret);
    } else {
      message += " so that no call becomes a miss";
    }
    diagnostics.report(DiagKind::DriverTuningRegret, kernel.tuning.place.range,
                       kernel.tuning.place.path, message);
  }
};

std::string besideSpec(llvm::StringRef specPath, llvm::StringRef path) {
  llvm::SmallString<256> whole(path);
  llvm::StringRef folder = llvm::sys::path::parent_path(specPath);
  if (!llvm::sys::path::is_absolute(path) && !folder.empty()) {
    whole = folder;
    llvm::sys::path::append(whole, path);
  }
  return whole.str().str();
}

} // namespace

void applyTuning(const Spec &spec, llvm::StringRef specPath, TuningUse use, BuildPlan &plan,
                 SourceManager &sources, DiagnosticEngine &diagnostics) {
  std::map<std::string, std::optional<TuningFile>> files; // several kernels may share one
  for (const SpecKernel &kernel : spec.kernels) {
    for (const EntryModel &entry : plan.model.entries)
      if (!kernel.tuning.shapes.empty() && llvm::is_contained(kernel.entryNames(), entry.name))
        tunedCalls(entry, kernel, diagnostics);
    if (kernel.tuningFile.empty() || use == TuningUse::Ignore)
      continue;
    std::string path = besideSpec(specPath, kernel.tuningFile);
    auto file = sources.load(path);
    if (!file) {
      diagnostics.report(DiagKind::DriverTuningFile, kernel.tuningFilePlace.range, path,
                         "cannot be read: " + file.getError().message());
      continue;
    }
    auto [known, isNew] = files.try_emplace(path);
    if (isNew)
      known->second = readTuningFile(**file, diagnostics);
    if (known->second)
      KernelTuning(kernel, *known->second, path, use, plan, diagnostics).apply();
  }
}

void checkMeasuredCode(const LibraryModel &model, DiagnosticEngine &diagnostics) {
  for (const EntryModel &entry : model.entries)
    for (const MeasuredTarget &measured : entry.measured) {
      unsigned changed = 0, known = 0;
      for (const VariantModel &variant : entry.variants)
        for (const VariantBinary &binary : variant.binaries) {
          std::string name = stableName(entry, variant), hash = codeHash(binary.binary);
          auto isOfVariant = [&](const auto &code) { return code.first == name; };
          if (binary.target != measured.target || binary.binary.format == BinaryFormat::PTX ||
              llvm::none_of(measured.code, isOfVariant))
            continue;
          ++known;
          changed += !llvm::is_contained(measured.code, std::pair(name, hash));
        }
      if (changed > 0)
        diagnostics.report(
            DiagKind::DriverTuningStale, DiagPlace(), entry.name,
            llvm::formatv("{0} of its {1} variants for {2} are other code than was measured",
                          changed, known, model.targets[measured.target].name)
                .str());
    }
}

} // namespace kiln
