// kiln run: compiles one kernel as `kiln build` does, loads it, and launches it once.
//
// Only the variant that will run is compiled. Everything that could fork (workers, lld) comes
// before everything that starts threads (the CPU pool, a GPU's driver).

#include "compiler/Driver/Run/Run.h"
#include "compiler/Basic/NameSuggestion.h"
#include "compiler/Driver/Planning/PieceName.h"
#include "compiler/Driver/Process/ChildProcess.h"
#include "compiler/Driver/Process/Interrupt.h"
#include "compiler/Driver/Process/Workers.h"
#include "compiler/Driver/Run/Elements.h"
#include "compiler/Driver/Run/MemoryLibrary.h"
#include "compiler/Driver/Run/Npy.h"
#include "compiler/Driver/Run/RunArguments.h"
#include "compiler/Driver/Run/RunCounts.h"
#include "compiler/Driver/Run/RunDevice.h"
#include "compiler/Driver/Run/VariantChoice.h"
#include "compiler/Driver/Session/CommandOutputs.h"
#include "compiler/Report/CountReport.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include <cstring>

namespace kiln {
namespace {

class KernelRun {
public:
  explicit KernelRun(const CommandLine &line)
      : run(line.run), options(line.compiler), session(options) {}

  bool execute() {
    if (!makePlan() || !arguments.read(run, entry(), session) || !checkOutputs() ||
        !openOutputs() || !compile())
      return false;
    auto library = MemoryLibrary::load(plan->model);
    if (!library)
      return launchFailed(llvm::toString(library.takeError()));
    auto finish = [&] {
      if (!launch((*library)->entry(0)) || !writeOutputs())
        return false;
      printCounts();
      llvm::outs().flush();
      return !llvm::outs().has_error() || cannotPrint();
    };
    return options.inProcess ? finish() : survive(finish);
  }

private:
  template <typename... Args> Diagnostic &report(DiagKind kind, const Args &...args) {
    return session.diagnostics.report(kind, DiagPlace(), args...);
  }
  bool launchFailed(llvm::StringRef why) {
    report(DiagKind::DriverLaunch, run.kernel, target().name, why);
    return session.flush();
  }

  /// A kernel may crash, never end, or spoil the process that it runs in: it gets one of its own,
  /// which also writes the outputs.
  bool survive(llvm::function_ref<bool()> finish) {
    auto end =
        runInChild(std::chrono::seconds(options.timeoutSeconds), [&] { return finish() ? 0 : 1; });
    if (!end)
      return launchFailed("cannot start a process for it");
    if (end->timedOut) {
      session.diagnostics.report(DiagKind::DriverLaunchHung,
                                 plan->jobs[plan->chosen[0]].place.range, run.kernel, target().name,
                                 options.timeoutSeconds);
      return session.flush();
    }
    if (end->signal && !interruptSignal()) {
      bool isSent = isSentFromOutside(end->signal), isChecked = run.check && target().emulated;
      std::string why = "the kernel '" + entry().kernel + "' " +
                        (isSent ? "was ended from outside by signal " : "crashed with signal ") +
                        std::to_string(end->signal) + " (" + strsignal(end->signal) + ")";
      report(DiagKind::DriverLaunch, run.kernel, target().name, why)
          .withHint(isSent ? "systems do this to processes that exceed a limit of memory or time"
                    : isChecked ? ""
                                : "--target emu:sm_90a --check tells where it goes astray");
      return session.flush();
    }
    return end->signal == 0 && end->exitStatus == 0;
  }

  const TargetInfo &target() const { return plan->model.targets[0]; }
  const EntryModel &entry() const { return plan->model.entries[0]; }

  /// A spec with nothing but the entry point that was asked for.
  bool makePlan() {
    auto spec = session.readSpecFile(run.spec, "");
    if (!spec)
      return false;
    std::vector<std::string> names =
        keepEntries(*spec, [&](llvm::StringRef entry) { return entry == run.kernel; });
    if (spec->kernels.empty()) {
      std::vector<llvm::StringRef> known(names.begin(), names.end());
      report(DiagKind::DriverNoEntry, run.spec, run.kernel)
          .withHint(suggestName(run.kernel, known));
      return session.flush();
    }
    if (run.check && !spec->targets[0].emulated) {
      report(DiagKind::DriverCheckTarget, spec->targets[0].name);
      return session.flush();
    }
    if (run.isCounted() && !spec->targets[0].emulated) {
      report(DiagKind::DriverCountTarget, spec->targets[0].name);
      return session.flush();
    }
    plan = session.plan(*spec, run.spec);
    if (!plan)
      return false;
    std::string reason = RunDevice::whyNot(target());
    return reason.empty() || launchFailed(reason);
  }

  /// --count-json, but for standard output.
  bool writesCountFile() const { return !run.countJson.empty() && run.countJson != "-"; }

  /// All files that are written.
  std::vector<Output> outputFiles() const {
    std::vector<Output> files;
    for (const auto &[name, path] : run.outputs)
      files.push_back({path, "--out"});
    if (writesCountFile())
      files.push_back({run.countJson, "--count-json"});
    if (!run.countHtml.empty())
      files.push_back({run.countHtml, "--count-html"});
    return files;
  }

  bool checkOutputs() {
    session.checkOutputs(outputFiles());
    for (const auto &[name, path] : run.outputs) {
      std::optional<unsigned> argument = findArgument(entry(), name);
      if (!argument)
        reportUnknownArgument(entry(), name, session.diagnostics);
      else if (!arguments.values[*argument].array)
        report(DiagKind::DriverNotAnArray, name, run.kernel);
    }
    return session.flush();
  }

  /// In the kernel's process, which ends without main's look at standard output.
  bool cannotPrint() {
    report(DiagKind::DriverCannotWrite,
           "cannot write to standard output: " + llvm::outs().error().message())
        .withHint("");
    llvm::outs().clear_error();
    return session.flush();
  }

  /// Before the work: a folder that cannot be written to should not cost a run.
  bool openOutputs() {
    outputs.emplace(session, options, outputFiles());
    return outputs->open();
  }

  /// For the cost model: the CPUs that there are, or those of a common device of the target.
  unsigned processors() const {
    bool isThisMachine = target().backend == Backend::CPU && !target().emulated;
    return isThisMachine ? availableCpus() : commonProcessors(target());
  }

  /// The variants that may run, best first; reports when there is none.
  std::vector<unsigned> candidates(const CallArguments &call) {
    DispatchTables tables = buildDispatchTables(plan->model, entry());
    if (std::string undeclared = call.undeclared(); !undeclared.empty()) {
      report(DiagKind::DriverUndeclaredValue, run.kernel, undeclared);
      session.flush();
      return {};
    }
    std::vector<unsigned> legal = call.legalVariants(tables, processors());
    if (run.variant && *run.variant >= entry().variants.size()) {
      report(DiagKind::DriverVariantIndex, run.kernel, *run.variant, target().name,
             entry().variants.size() - 1);
      legal.clear();
    } else if (legal.empty() || (run.variant && !llvm::is_contained(legal, *run.variant))) {
      report(DiagKind::DriverVariantNeeds, run.kernel, call.whatLacks(tables, run.variant));
      legal.clear();
    } else if (run.variant) {
      legal = {*run.variant};
    } else {
      llvm::erase_if(legal, [&](unsigned variant) { return isLeftOut(entry(), variant); });
    }
    session.flush();
    return legal;
  }

  /// Compiles the first candidate that fits the target, and drops all others from the model.
  bool compile() {
    CallArguments call(entry(), arguments.values);
    if (entry().grid.empty() && !run.grid) {
      report(DiagKind::DriverNoGrid, run.kernel);
      return session.flush();
    }
    std::vector<unsigned> legal = candidates(call);
    for (unsigned variant : legal) {
      auto job =
          llvm::find_if(plan->jobs, [&](const CompileJob &one) { return one.variant == variant; });
      plan->chosen = {unsigned(job - plan->jobs.begin())};
      auto results = session.run(*plan, {});
      bool isDropped = !results[plan->chosen[0]].doesNotFit.empty() && job->mayBeDropped;
      if (isDropped && variant != legal.back())
        continue;
      // As a library names it: by what tells it from the others, which are dropped now.
      counts.variant = variantName(entry(), entry().variants[variant]);
      if (!session.reportMisfits(*plan, results) || !session.assemble(*plan, std::move(results)))
        return false;
      return computeGrid(call);
    }
    return false;
  }

  bool computeGrid(const CallArguments &call) {
    if (run.grid) {
      grid = *run.grid;
      return true;
    }
    auto computed = call.grid(entry().variants[0]);
    if (computed)
      grid = *computed;
    else
      report(DiagKind::DriverGrid, run.kernel, llvm::toString(computed.takeError()));
    return session.flush();
  }

  bool launch(const kiln_entry &record) {
    auto opened = RunDevice::open(target(), run.check, run.isCounted());
    if (!opened)
      return launchFailed(llvm::toString(opened.takeError()));
    RunDevice &device = **opened;
    for (RunValue &value : arguments.values) {
      if (!value.array)
        continue;
      auto address = device.place(*value.array);
      if (!address)
        return launchFailed(llvm::toString(address.takeError()));
      value.bits = *address;
    }
    // Hosts are little-endian: a scalar's bytes are the first ones.
    std::vector<void *> params;
    for (unsigned index : kernelParameters(entry(), entry().variants[0]))
      params.push_back(&arguments.values[index].bits);
    std::string message =
        llvm::toString(launchOn(device, record, /*variant=*/0, grid, std::move(params)));
    std::vector<std::string> found = device.reports();
    for (const std::string &text : found) {
      // "softmax.py:20:14: softmax_kernel, program …"
      auto [place, what] = llvm::StringRef(text).split(": ");
      session.diagnostics.report(DiagKind::DriverCheckReport, DiagPlace(place), what);
      session.flush();
    }
    if (found.empty() && message.empty() && run.isCounted())
      collectCounts(device.emulated());
    return found.empty() && (message.empty() || launchFailed(message));
  }

  void collectCounts(kiln_emulator *emulator) {
    counts.entry = run.kernel;
    counts.target = target().name;
    counts.grid = grid;
    for (const auto &[name, text] : run.arguments) {
      unsigned argument = *findArgument(entry(), name);
      counts.arguments.push_back(
          countedArgument(entry().arguments[argument], arguments.values[argument], text));
    }
    counts.collect(emulator, session.sources);
  }

  /// After all else has succeeded.
  void printCounts() {
    if (run.count)
      writeCountTable(counts, llvm::outs());
    if (run.countJson == "-")
      llvm::outs() << writeCountJson(counts);
  }

  bool writeOutputs() {
    for (const auto &[name, path] : run.outputs) {
      unsigned argument = *findArgument(entry(), name);
      const RunArray &array = *arguments.values[argument].array;
      ElementType element = entry().arguments[argument].type.element;
      std::string elements = elementsOf(array, elementBytes(element));
      if (!outputs->add(path, writeNpy(npyTypeOf(element), array.shape, elements)))
        return false;
    }
    if (writesCountFile() && !outputs->add(run.countJson, writeCountJson(counts)))
      return false;
    if (!run.countHtml.empty() && !outputs->add(run.countHtml, countPage(counts)))
      return false;
    return outputs->commit();
  }

  const RunOptions &run;
  CompilerOptions options;
  Session session;
  std::optional<BuildPlan> plan;
  RunArguments arguments;
  std::array<int64_t, 3> grid = {1, 1, 1};
  std::optional<CommandOutputs> outputs;
  CountReport counts;
};

} // namespace

int runRun(const CommandLine &line) { return KernelRun(line).execute() ? 0 : 1; }

} // namespace kiln
