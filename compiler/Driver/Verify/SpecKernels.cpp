#include "compiler/Driver/Verify/SpecKernels.h"
#include "compiler/Driver/Planning/PieceName.h"
#include "compiler/Driver/Process/Workers.h"
#include "compiler/Driver/Run/MemoryLibrary.h"
#include "compiler/Driver/Run/VariantChoice.h"
#include <set>

namespace kiln {
namespace {

class SpecKernels final : public VerifiedKernels {
public:
  SpecKernels(BuildPlan plan, Session &session) : plan(std::move(plan)), session(session) {}

  const TargetInfo &target() const override { return plan.model.targets[0]; }
  llvm::ArrayRef<EntryModel> entries() const override { return plan.model.entries; }

  void choose(const CapturedLaunch &launch, Replay &replay) override {
    const EntryModel &entry = plan.model.entries[replay.entry];
    CallArguments call(entry, replay.arguments.values);
    DispatchTables tables = buildDispatchTables(plan.model, entry);
    replay.problem = call.undeclared();
    if (!replay.problem.empty())
      return;
    std::vector<unsigned> legal = call.legalVariants(tables, processors());
    if (legal.empty())
      replay.problem = "no variant accepts it: " + call.whatLacks(tables, std::nullopt);
    llvm::erase_if(legal, [&](unsigned variant) { return isLeftOut(entry, variant); });
    if (entry.grid.empty())
      llvm::erase_if(legal,
                     [&](unsigned variant) { return !isGridOf(launch, entry.variants[variant]); });
    if (legal.empty() && replay.problem.empty())
      replay.problem = noVariantOfConstants;
    for (unsigned variant : legal)
      replay.variants.push_back(stableName(entry, entry.variants[variant]));
  }

  /// Compiles the best variant of each replay; where that does not fit, the next.
  bool load(std::vector<Replay> &replays) override {
    std::vector<VariantResult> results;
    do {
      plan.chosen = chosenJobs(replays);
      results = session.run(plan, {});
    } while (dropMisfits(replays, results));
    if (!session.reportMisfits(plan, results) || !session.assemble(plan, std::move(results)))
      return false;
    auto loaded = MemoryLibrary::load(plan.model);
    if (loaded)
      library = std::move(*loaded);
    else
      session.diagnostics.report(DiagKind::DriverCannotVerify, DiagPlace(), target().name,
                                 llvm::toString(loaded.takeError()));
    return session.flush();
  }

  llvm::Expected<std::string> launch(const CapturedLaunch &launch, const Replay &replay,
                                     std::vector<RunValue> &values, RunDevice &device) override {
    const EntryModel &entry = plan.model.entries[replay.entry];
    unsigned variant = 0;
    while (stableName(entry, entry.variants[variant]) != replay.variants.front())
      ++variant;
    std::array<int64_t, 3> grid = launch.grid;
    if (!entry.grid.empty()) {
      auto computed = CallArguments(entry, values).grid(entry.variants[variant]);
      if (!computed)
        return computed.takeError();
      grid = *computed;
    }
    // Hosts are little-endian: a scalar's bytes are the first ones.
    std::vector<void *> parameters;
    for (unsigned index : kernelParameters(entry, entry.variants[variant]))
      parameters.push_back(&values[index].bits);
    if (llvm::Error error =
            launchOn(device, library->entry(replay.entry), variant, grid, std::move(parameters)))
      return std::move(error);
    return replay.variants.front();
  }

private:
  unsigned processors() const {
    bool isThisMachine = target().backend == Backend::CPU && !target().emulated;
    return isThisMachine ? availableCpus() : commonProcessors(target());
  }

  /// Indices of the jobs of the best variant of each replay. An entry point of which no launch can
  /// run has one, too: without any it would be no entry point.
  std::vector<unsigned> chosenJobs(llvm::ArrayRef<Replay> replays) const {
    std::set<std::pair<unsigned, std::string>> wanted;
    std::set<unsigned> idle;
    for (const Replay &replay : replays)
      idle.insert(replay.entry);
    for (const Replay &replay : replays)
      if (!replay.variants.empty()) {
        wanted.insert({replay.entry, replay.variants.front()});
        idle.erase(replay.entry);
      }
    for (unsigned entry : idle) {
      const EntryModel &model = plan.model.entries[entry];
      wanted.insert({entry, stableName(model, model.variants.front())});
    }
    std::vector<unsigned> jobs;
    for (auto [index, job] : llvm::enumerate(plan.jobs)) {
      const EntryModel &entry = plan.model.entries[job.entry];
      if (wanted.count({job.entry, stableName(entry, entry.variants[job.variant])}))
        jobs.push_back(unsigned(index));
    }
    return jobs;
  }

  /// Takes the variants that do not fit the target off the replays; false where there were none.
  bool dropMisfits(std::vector<Replay> &replays, llvm::ArrayRef<VariantResult> results) const {
    bool anyDropped = false;
    for (unsigned index : plan.chosen) {
      const CompileJob &job = plan.jobs[index];
      if (results[index].doesNotFit.empty() || !job.mayBeDropped)
        continue;
      const EntryModel &entry = plan.model.entries[job.entry];
      std::string name = stableName(entry, entry.variants[job.variant]);
      for (Replay &replay : replays) {
        if (replay.entry != job.entry || !llvm::is_contained(replay.variants, name))
          continue;
        llvm::erase(replay.variants, name);
        anyDropped = true;
        if (replay.variants.empty())
          replay.problem = results[index].doesNotFit;
      }
    }
    return anyDropped;
  }

  BuildPlan plan;
  Session &session;
  std::unique_ptr<MemoryLibrary> library;
};

} // namespace

std::unique_ptr<VerifiedKernels> readSpecKernels(const std::string &path,
                                                 llvm::ArrayRef<CapturedLaunch> launches,
                                                 Session &session) {
  auto spec = session.readSpecFile(path, "");
  if (!spec)
    return nullptr;
  std::vector<std::string> names = keepEntries(*spec, [&](llvm::StringRef entry) {
    return llvm::any_of(launches,
                        [&](const CapturedLaunch &launch) { return launch.function == entry; });
  });
  reportUnknownFunctions(launches, names, path, session.diagnostics);
  if (!session.flush())
    return nullptr;
  std::optional<BuildPlan> plan = session.plan(*spec, path);
  return plan ? std::make_unique<SpecKernels>(std::move(*plan), session) : nullptr;
}

} // namespace kiln
