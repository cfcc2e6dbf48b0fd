// kiln verify: compiles the variants that a library would choose for captured launches, and runs
// each launch in a process of its own.
//
// As with kiln run, all that could fork (workers, lld) comes before all that starts threads (the
// CPU pool, a GPU's driver), which only the launches' processes do.

#include "compiler/Driver/Verify/Verify.h"
#include "compiler/Basic/NameSuggestion.h"
#include "compiler/Basic/RegularFile.h"
#include "compiler/Driver/Planning/PieceName.h"
#include "compiler/Driver/Process/ChildProcess.h"
#include "compiler/Driver/Process/Interrupt.h"
#include "compiler/Driver/Process/Workers.h"
#include "compiler/Driver/Run/MemoryLibrary.h"
#include "compiler/Driver/Run/VariantChoice.h"
#include "compiler/Driver/Session/Session.h"
#include "compiler/Driver/Verify/Replay.h"
#include "compiler/Driver/Verify/ResultTable.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"
#include <cstring>
#include <set>

namespace kiln {
namespace {

/// An index of more is none that a program has written.
constexpr uint64_t maxIndexBytes = uint64_t(1) << 30;

/// What became of a launch; the exit status of its process.
enum class Outcome { Agrees = 0, Differs = 2, Failed = 3 };

class Verification {
public:
  explicit Verification(const CommandLine &line)
      : verify(line.verify), options(line.compiler), session(options) {
    for (auto [element, tolerance] : verify.tolerances)
      tolerances[element] = tolerance;
  }

  bool execute() {
    if (!readCapture() || !makePlan() || !checkTarget())
      return false;
    for (unsigned launch = 0; launch < launches.size(); ++launch)
      bind(launch);
    if (!compile())
      return false;
    auto library = MemoryLibrary::load(plan->model);
    if (!library) {
      report(DiagKind::DriverCannotVerify, target().name, llvm::toString(library.takeError()));
      return session.flush();
    }
    bool agrees = replayAll(**library);
    llvm::outs().flush();
    return agrees;
  }

private:
  template <typename... Args> Diagnostic &report(DiagKind kind, const Args &...args) {
    return session.diagnostics.report(kind, DiagPlace(), args...);
  }
  const TargetInfo &target() const { return plan->model.targets[0]; }
  const EntryModel &entryOf(const Replay &replay) const {
    return plan->model.entries[replay.entry];
  }

  bool readCapture() {
    llvm::SmallString<256> path(verify.capture);
    llvm::sys::path::append(path, captureIndexName);
    auto file = readRegularFile(path, maxIndexBytes);
    if (!file) {
      report(DiagKind::DriverCannotRead, path.str(), file.getError().message())
          .withHint("python -m kiln record --capture N writes captures");
      return session.flush();
    }
    auto read = readCaptureIndex((*file)->getBuffer());
    if (!read) {
      report(DiagKind::DriverCaptureFile, path.str(), llvm::toString(read.takeError()));
      return session.flush();
    }
    session.noteInput(path.str().str());
    launches = std::move(*read);
    if (!verify.kernels.empty())
      llvm::erase_if(launches, [&](const CapturedLaunch &launch) {
        return !llvm::is_contained(verify.kernels, launch.function);
      });
    if (launches.empty())
      report(DiagKind::DriverCaptureFile, path.str(),
             verify.kernels.empty() ? "it holds no launch" : "it holds no launch of these kernels");
    return session.flush();
  }

  /// A spec with nothing but the captured functions.
  bool makePlan() {
    auto spec = session.readSpecFile(verify.spec, "");
    if (!spec)
      return false;
    std::set<std::string> wanted;
    for (const CapturedLaunch &launch : launches)
      wanted.insert(launch.function);
    std::vector<std::string> names =
        keepEntries(*spec, [&](llvm::StringRef entry) { return wanted.count(entry.str()); });
    std::vector<llvm::StringRef> known(names.begin(), names.end());
    for (const std::string &name : wanted)
      if (!llvm::is_contained(names, name))
        report(DiagKind::DriverNoEntry, verify.spec, name).withHint(suggestName(name, known));
    if (!session.flush())
      return false;
    plan = session.plan(*spec, verify.spec);
    return plan.has_value();
  }

  bool checkTarget() {
    if (verify.check && !target().emulated)
      report(DiagKind::DriverCheckTarget, target().name);
    std::string reason = RunDevice::whyNot(target());
    if (!reason.empty())
      report(DiagKind::DriverCannotVerify, target().name, reason);
    return session.flush();
  }

  unsigned processors() const {
    bool isThisMachine = target().backend == Backend::CPU && !target().emulated;
    return isThisMachine ? availableCpus() : commonProcessors(target());
  }

  /// Where the caller passes the grid, it goes with the config that was launched.
  static bool isGridOf(const CapturedLaunch &launch, const VariantModel &variant) {
    return llvm::all_of(launch.constants, [&](const auto &constant) {
      std::optional<int64_t> own = findConstant(variant, constant.first);
      return !own || *own == constant.second;
    });
  }

  void bind(unsigned index) {
    const CapturedLaunch &launch = launches[index];
    Replay replay;
    replay.launch = index;
    while (plan->model.entries[replay.entry].name != launch.function)
      ++replay.entry;
    const EntryModel &entry = entryOf(replay);
    if (auto bound = bindReplay(launch, entry))
      replay.arguments = std::move(*bound);
    else
      replay.problem = llvm::toString(bound.takeError());
    if (replay.problem.empty())
      chooseVariants(entry, replay);
    if (!verify.allVariants || replay.variants.size() < 2)
      return replays.push_back(std::move(replay));
    for (const std::string &variant : replay.variants) {
      replays.push_back(replay);
      replays.back().variants = {variant};
    }
  }

  void chooseVariants(const EntryModel &entry, Replay &replay) {
    CallArguments call(entry, replay.arguments.values);
    DispatchTables tables = buildDispatchTables(plan->model, entry);
    replay.problem = call.undeclared();
    if (!replay.problem.empty())
      return;
    std::vector<unsigned> legal = call.legalVariants(tables, processors());
    if (legal.empty())
      replay.problem = "no variant accepts it: " + call.whatLacks(tables, std::nullopt);
    llvm::erase_if(legal, [&](unsigned variant) { return isLeftOut(entry, variant); });
    if (entry.grid.empty())
      llvm::erase_if(legal, [&](unsigned variant) {
        return !isGridOf(launches[replay.launch], entry.variants[variant]);
      });
    if (legal.empty() && replay.problem.empty())
      replay.problem = "no variant has the constants that it was launched with";
    for (unsigned variant : legal)
      replay.variants.push_back(stableName(entry, entry.variants[variant]));
  }

  /// Indices of the jobs of the best variant of each replay. An entry point of which no launch can
  /// run has one, too: without any it would be no entry point.
  std::vector<unsigned> chosenJobs() const {
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
      const EntryModel &model = plan->model.entries[entry];
      wanted.insert({entry, stableName(model, model.variants.front())});
    }
    std::vector<unsigned> jobs;
    for (auto [index, job] : llvm::enumerate(plan->jobs)) {
      const EntryModel &entry = plan->model.entries[job.entry];
      if (wanted.count({job.entry, stableName(entry, entry.variants[job.variant])}))
        jobs.push_back(unsigned(index));
    }
    return jobs;
  }

  /// Takes the variants that do not fit the target off the replays; false where there were none.
  bool dropMisfits(llvm::ArrayRef<VariantResult> results) {
    bool anyDropped = false;
    for (unsigned index : plan->chosen) {
      const CompileJob &job = plan->jobs[index];
      if (results[index].doesNotFit.empty() || !job.mayBeDropped)
        continue;
      const EntryModel &entry = plan->model.entries[job.entry];
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

  bool compile() {
    std::vector<VariantResult> results;
    do {
      plan->chosen = chosenJobs();
      results = session.run(*plan, {});
    } while (dropMisfits(results));
    return session.reportMisfits(*plan, results) && session.assemble(*plan, std::move(results));
  }

  bool replayAll(const MemoryLibrary &library) {
    ResultTable table(replays, launches, llvm::outs());
    std::map<Outcome, unsigned> counts;
    for (const Replay &replay : replays) {
      if (interruptSignal())
        return false;
      ++counts[replayOne(replay, library, table)];
    }
    unsigned agreeing = counts[Outcome::Agrees];
    llvm::outs() << agreeing << " of " << replays.size() << " launches agree on " << target().name;
    if (counts[Outcome::Differs])
      llvm::outs() << ", " << counts[Outcome::Differs] << " differ";
    if (counts[Outcome::Failed])
      llvm::outs() << ", " << counts[Outcome::Failed] << " failed";
    llvm::outs() << "\n";
    return agreeing == replays.size();
  }

  Outcome replayOne(const Replay &replay, const MemoryLibrary &library, ResultTable &table) {
    const CapturedLaunch &launch = launches[replay.launch];
    std::string problem = replay.problem;
    ReplayMemory memory;
    if (problem.empty()) {
      auto read = readReplayMemory(launch, verify.capture);
      if (read)
        memory = std::move(*read);
      else
        problem = llvm::toString(read.takeError());
    }
    if (!problem.empty()) {
      table.fails(replay, problem);
      return Outcome::Failed;
    }
    auto finish = [&] { return int(launchAndCompare(replay, memory, library, table)); };
    if (options.inProcess)
      return Outcome(finish());
    llvm::outs().flush();
    auto end = runInChild(std::chrono::seconds(options.timeoutSeconds), finish);
    return outcomeOf(replay, end, table);
  }

  Outcome outcomeOf(const Replay &replay, const std::optional<ChildEnd> &end, ResultTable &table) {
    if (end && !end->timedOut && !end->signal)
      return Outcome(end->exitStatus);
    if (!end)
      table.fails(replay, "cannot start a process for it");
    else if (end->timedOut)
      table.fails(replay, "it took longer than " + std::to_string(options.timeoutSeconds) +
                              " seconds (--timeout)");
    else if (!interruptSignal())
      table.fails(replay, "it ended with signal " + std::to_string(end->signal) + " (" +
                              strsignal(end->signal) + ")");
    return Outcome::Failed;
  }

  /// In the launch's own process.
  Outcome launchAndCompare(const Replay &replay, const ReplayMemory &memory,
                           const MemoryLibrary &library, ResultTable &table) {
    const CapturedLaunch &launch = launches[replay.launch];
    const EntryModel &entry = entryOf(replay);
    unsigned variant = 0;
    while (stableName(entry, entry.variants[variant]) != replay.variants.front())
      ++variant;
    auto failed = [&](llvm::Error error) {
      table.fails(replay, llvm::toString(std::move(error)));
      llvm::outs().flush();
      return Outcome::Failed;
    };
    std::array<int64_t, 3> grid = launch.grid;
    if (!entry.grid.empty()) {
      auto computed = CallArguments(entry, replay.arguments.values).grid(entry.variants[variant]);
      if (!computed)
        return failed(computed.takeError());
      grid = *computed;
    }
    auto device = RunDevice::open(target(), verify.check, /*count=*/false);
    if (!device)
      return failed(device.takeError());
    auto arrays = replayLaunch(launch, memory, replay.arguments, entry, library.entry(replay.entry),
                               variant, grid, **device);
    for (const std::string &text : (*device)->reports()) {
      // "softmax.py:20:14: softmax_kernel, program …"
      auto [place, what] = llvm::StringRef(text).split(": ");
      session.diagnostics.report(DiagKind::DriverCheckReport, DiagPlace(place), what);
      session.flush();
    }
    if (!arrays)
      return failed(arrays.takeError());
    bool agrees = compare(replay, memory, *arrays, table);
    llvm::outs().flush();
    return agrees ? Outcome::Agrees : Outcome::Differs;
  }

  bool compare(const Replay &replay, const ReplayMemory &memory, llvm::ArrayRef<RunArray> arrays,
               ResultTable &table) {
    std::vector<StorageResult> results;
    for (unsigned storage = 0; storage < arrays.size(); ++storage) {
      llvm::StringRef got(arrays[storage].data.get(), arrays[storage].bytes);
      std::vector<ElementView> views =
          viewsOf(launches[replay.launch], storage, replay.arguments, entryOf(replay));
      Comparison comparison =
          compareStorage(memory.before[storage], memory.after[storage], got, views, tolerances);
      std::string place =
          elementNameAt(storage, comparison.place, comparison.view, replay.arguments);
      results.push_back({std::move(comparison), std::move(place)});
    }
    return table.compares(replay, results, tolerances);
  }

  const VerifyOptions &verify;
  CompilerOptions options;
  Session session;
  Tolerances tolerances = defaultTolerances();
  std::vector<CapturedLaunch> launches;
  std::optional<BuildPlan> plan;
  std::vector<Replay> replays;
};

} // namespace

int runVerify(const CommandLine &line) { return Verification(line).execute() ? 0 : 1; }

} // namespace kiln
