// kiln verify: replays captured launches, each in a process of its own.
//
// As with kiln run, all that could fork (workers, lld) comes before all that starts threads (the
// CPU pool, a GPU's driver), which only the launches' processes do.

#include "compiler/Driver/Verify/Verify.h"
#include "compiler/Basic/RegularFile.h"
#include "compiler/Driver/Process/ChildProcess.h"
#include "compiler/Driver/Process/Interrupt.h"
#include "compiler/Driver/Verify/BuiltLibrary.h"
#include "compiler/Driver/Verify/ResultTable.h"
#include "compiler/Driver/Verify/SpecKernels.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"
#include <cstring>

namespace kiln {
namespace {

/// An index of more is none that a program has written.
constexpr uint64_t maxIndexBytes = uint64_t(1) << 30;

/// What became of a launch; the exit status of its process. One that its variant refuses counts for
/// nothing where all variants are tried.
enum class Outcome { Agrees = 0, Differs = 2, Failed = 3, Refused = 4 };

class Verification {
public:
  explicit Verification(const CommandLine &line)
      : verify(line.verify), options(line.compiler), session(options) {
    for (auto [element, tolerance] : verify.tolerances)
      tolerances[element] = tolerance;
  }

  bool execute() {
    if (!readCapture())
      return false;
    kernels = verify.library.empty()
                  ? readSpecKernels(verify.spec, launches, session)
                  : loadBuiltLibrary(verify, options.targets.front(), launches, session);
    if (!kernels || !checkTarget())
      return false;
    for (unsigned launch = 0; launch < launches.size(); ++launch)
      bind(launch);
    if (!kernels->load(replays))
      return false;
    bool agrees = replayAll();
    llvm::outs().flush();
    return agrees;
  }

private:
  template <typename... Args> Diagnostic &report(DiagKind kind, const Args &...args) {
    return session.diagnostics.report(kind, DiagPlace(), args...);
  }
  const TargetInfo &target() const { return kernels->target(); }
  const EntryModel &entryOf(const Replay &replay) const { return kernels->entries()[replay.entry]; }

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

  bool checkTarget() {
    if (verify.check && !target().emulated)
      report(DiagKind::DriverCheckTarget, target().name);
    std::string reason = RunDevice::whyNot(target());
    if (!reason.empty())
      report(DiagKind::DriverCannotVerify, target().name, reason);
    return session.flush();
  }

  void bind(unsigned index) {
    const CapturedLaunch &launch = launches[index];
    Replay replay;
    replay.launch = index;
    while (entryOf(replay).name != launch.function)
      ++replay.entry;
    if (auto bound = bindReplay(launch, entryOf(replay)))
      replay.arguments = std::move(*bound);
    else
      replay.problem = llvm::toString(bound.takeError());
    if (replay.problem.empty())
      kernels->choose(launch, replay);
    if (!verify.allVariants || replay.variants.size() < 2)
      return replays.push_back(std::move(replay));
    for (const std::string &variant : replay.variants) {
      replays.push_back(replay);
      replays.back().variants = {variant};
    }
  }

  bool replayAll() {
    ResultTable table(replays, launches, llvm::outs());
    std::map<Outcome, unsigned> counts;
    unsigned all = 0;
    bool isAccepted = false;
    for (auto [index, replay] : llvm::enumerate(replays)) {
      if (interruptSignal())
        return false;
      Outcome outcome = replayOne(replay, table);
      isAccepted |= outcome != Outcome::Refused;
      bool isLast = index + 1 == replays.size() || replays[index + 1].launch != replay.launch;
      if (isLast && !isAccepted) {
        table.fails(replay, "no variant accepts it");
        outcome = Outcome::Failed;
      }
      isAccepted &= !isLast;
      ++counts[outcome];
      all += outcome != Outcome::Refused;
    }
    printSum(counts, all);
    return counts[Outcome::Agrees] == all;
  }

  void printSum(std::map<Outcome, unsigned> &counts, unsigned all) const {
    llvm::outs() << counts[Outcome::Agrees] << " of " << all << " launches agree on "
                 << target().name;
    if (counts[Outcome::Differs])
      llvm::outs() << ", " << counts[Outcome::Differs] << " differ";
    if (counts[Outcome::Failed])
      llvm::outs() << ", " << counts[Outcome::Failed] << " failed";
    llvm::outs() << "\n";
  }

  Outcome replayOne(const Replay &replay, ResultTable &table) {
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
    auto finish = [&] { return int(launchAndCompare(replay, memory, table)); };
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
  Outcome launchAndCompare(Replay replay, const ReplayMemory &memory, ResultTable &table) {
    const CapturedLaunch &launch = launches[replay.launch];
    auto failed = [&](llvm::Error error) {
      if (verify.allVariants && error.isA<NotAccepted>()) {
        llvm::consumeError(std::move(error));
        return Outcome::Refused;
      }
      table.fails(replay, llvm::toString(std::move(error)));
      llvm::outs().flush();
      return Outcome::Failed;
    };
    auto device = RunDevice::open(target(), verify.check, /*count=*/false, kernels->runtime());
    if (!device)
      return failed(device.takeError());
    auto run = [&](std::vector<RunValue> &values) {
      auto variant = kernels->launch(launch, replay, values, **device);
      if (variant) {
        replay.variants = {*variant};
        replay.isLibrarysChoice = false;
      }
      return variant.takeError();
    };
    auto arrays = replayLaunch(launch, memory, replay.arguments, **device, run);
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
      results.push_back({comparison, std::move(place)});
    }
    return table.compares(replay, results, tolerances);
  }

  const VerifyOptions &verify;
  CompilerOptions options;
  Session session;
  Tolerances tolerances = defaultTolerances();
  std::vector<CapturedLaunch> launches;
  std::unique_ptr<VerifiedKernels> kernels;
  std::vector<Replay> replays;
};

} // namespace

int runVerify(const CommandLine &line) { return Verification(line).execute() ? 0 : 1; }

} // namespace kiln
