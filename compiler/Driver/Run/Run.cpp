// kiln run: compiles one kernel as `kiln build` does, loads it, and launches it once.
//
// Only the variant that will run is compiled. Everything that could fork (workers, lld) comes
// before everything that starts threads (the CPU pool, a GPU's driver).

#include "compiler/Driver/Run/Run.h"
#include "codegen/OutputSet.h"
#include "compiler/Basic/NameSuggestion.h"
#include "compiler/Driver/Planning/PieceName.h"
#include "compiler/Driver/Process/ChildProcess.h"
#include "compiler/Driver/Process/Interrupt.h"
#include "compiler/Driver/Process/Workers.h"
#include "compiler/Driver/Run/MemoryLibrary.h"
#include "compiler/Driver/Run/Npy.h"
#include "compiler/Driver/Run/RunDevice.h"
#include "compiler/Driver/Run/VariantChoice.h"
#include "compiler/Driver/Session/Session.h"
#include "compiler/Report/ReportPage.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include <cstring>
#include <map>

namespace kiln {
namespace {

class KernelRun {
public:
  explicit KernelRun(const CommandLine &line)
      : run(line.run), options(line.compiler), session(options) {}

  bool execute() {
    if (!makePlan() || !readArguments() || !checkOutputs() || !openOutputs() || !compile())
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
  bool flush() {
    session.reporter.report(session.diagnostics, session.sources);
    session.diagnostics.clear();
    return session.reporter.errors() == 0;
  }
  bool launchFailed(llvm::StringRef why) {
    report(DiagKind::DriverLaunch, run.kernel, target().name, why);
    return flush();
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
      return flush();
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
      return flush();
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
      return flush();
    }
    if (run.check && !spec->targets[0].emulated) {
      report(DiagKind::DriverCheckTarget, spec->targets[0].name);
      return flush();
    }
    if (run.isCounted() && !spec->targets[0].emulated) {
      report(DiagKind::DriverCountTarget, spec->targets[0].name);
      return flush();
    }
    plan = session.plan(*spec, run.spec);
    if (!plan)
      return false;
    std::string reason = RunDevice::whyNot(target());
    return reason.empty() || launchFailed(reason);
  }

  void reportUnknown(llvm::StringRef name) {
    std::vector<llvm::StringRef> known;
    for (unsigned i : callerArguments(entry()))
      known.push_back(entry().arguments[i].name);
    report(DiagKind::DriverUnknownArgument, run.kernel, name).withHint(suggestName(name, known));
  }

  bool readArguments() {
    std::map<llvm::StringRef, llvm::StringRef> texts;
    for (const auto &[name, text] : run.arguments) {
      const std::string &given = name;
      if (llvm::none_of(callerArguments(entry()),
                        [&](unsigned i) { return entry().arguments[i].name == given; }))
        reportUnknown(name);
      texts[name] = text;
    }
    for (unsigned i : callerArguments(entry())) {
      const EntryArgument &argument = entry().arguments[i];
      std::string type = callerType(entry(), i);
      if (argument.type.pointerDepth > 1 || !argument.type.bytes())
        report(DiagKind::DriverArgumentKind, run.kernel, argument.name, type);
      else if (!texts.count(argument.name))
        report(DiagKind::DriverMissingArgument, run.kernel, argument.name, type);
      else
        values.push_back(readRunValue(argument.name, argument.type, texts[argument.name], run.seed,
                                      session.diagnostics)
                             .value_or(RunValue()));
      if (!values.empty() && !values.back().file.empty())
        session.noteInput(values.back().file);
      if (const EntryDescriptor *descriptor = descriptorAt(entry(), i);
          descriptor && values.size() == i + 1)
        addDescriptorParts(*descriptor, texts[argument.name]);
    }
    return flush();
  }

  /// The shape and the strides of the array that was given for a tensor descriptor.
  void addDescriptorParts(const EntryDescriptor &descriptor, llvm::StringRef text) {
    const std::string &name = entry().arguments[descriptor.first].name;
    std::vector<int64_t> shape;
    if (!values.back().array)
      return; // readRunValue has said why
    shape = values.back().array->shape;
    unsigned bytes = elementBytes(descriptor.element);
    if (!values.back().array->strides.empty())
      report(DiagKind::DriverArgumentValue, name, "an array without strides of its own", text);
    else if (shape.size() != descriptor.rank)
      report(DiagKind::DriverArgumentValue, name,
             "an array of rank " + std::to_string(descriptor.rank), text);
    else if (descriptor.rank > 1 && shape.back() * bytes % 16 != 0)
      report(DiagKind::DriverArgumentValue, name,
             "rows of a multiple of 16 bytes, as a tensor descriptor needs them", text);
    shape.resize(descriptor.rank, 1);
    std::vector<uint64_t> strides(descriptor.rank, 1);
    for (unsigned axis = descriptor.rank - 1; axis > 0; --axis)
      strides[axis - 1] = strides[axis] * uint64_t(std::max<int64_t>(shape[axis], 1));
    for (int64_t extent : shape)
      values.push_back({uint64_t(extent), std::nullopt, ""});
    for (unsigned axis = 0; axis + 1 < descriptor.rank; ++axis)
      values.push_back({strides[axis], std::nullopt, ""});
  }

  const RunValue *findValue(llvm::StringRef name) const {
    for (auto [argument, value] : llvm::zip(entry().arguments, values))
      if (argument.name == name)
        return &value;
    return nullptr;
  }

  /// All files that are written.
  std::vector<Output> outputFiles() const {
    std::vector<Output> files;
    for (const auto &[name, path] : run.outputs)
      files.push_back({path, "--out"});
    if (!run.countJson.empty() && run.countJson != "-")
      files.push_back({run.countJson, "--count-json"});
    if (!run.countHtml.empty())
      files.push_back({run.countHtml, "--count-html"});
    return files;
  }

  bool checkOutputs() {
    session.checkOutputs(outputFiles());
    for (const auto &[name, path] : run.outputs) {
      const RunValue *value = findValue(name);
      if (!value)
        reportUnknown(name);
      else if (!value->array)
        report(DiagKind::DriverNotAnArray, name, run.kernel);
    }
    return flush();
  }

  /// In the kernel's process, which ends without main's look at standard output.
  bool cannotPrint() {
    report(DiagKind::DriverCannotWrite,
           "cannot write to standard output: " + llvm::outs().error().message())
        .withHint("");
    llvm::outs().clear_error();
    return flush();
  }

  bool cannotWrite(llvm::Error error) {
    report(DiagKind::DriverCannotWrite, llvm::toString(std::move(error)));
    return flush();
  }

  /// Before the work: a folder that cannot be written to should not cost a run.
  bool openOutputs() {
    for (const Output &output : outputFiles())
      if (auto error = files.open(output.path))
        return cannotWrite(std::move(error));
    return true;
  }

  /// For the cost model: the CPUs that there are, or those of a common device of the target.
  unsigned processors() const {
    bool isThisMachine = target().backend == Backend::CPU && !target().emulated;
    return isThisMachine ? availableCpus() : commonProcessors(target());
  }

  /// The variants that may run, best first; reports when there is none.
  std::vector<unsigned> candidates(const CallArguments &arguments) {
    DispatchTables tables = buildDispatchTables(plan->model, entry());
    if (std::string undeclared = arguments.undeclared(); !undeclared.empty()) {
      report(DiagKind::DriverUndeclaredValue, run.kernel, undeclared);
      flush();
      return {};
    }
    std::vector<unsigned> legal = arguments.legalVariants(tables, processors());
    if (run.variant && *run.variant >= entry().variants.size()) {
      report(DiagKind::DriverVariantIndex, run.kernel, *run.variant, target().name,
             entry().variants.size() - 1);
      legal.clear();
    } else if (legal.empty() || (run.variant && !llvm::is_contained(legal, *run.variant))) {
      report(DiagKind::DriverVariantNeeds, run.kernel, arguments.whatLacks(tables, run.variant));
      legal.clear();
    } else if (run.variant) {
      legal = {*run.variant};
    } else {
      llvm::erase_if(legal, [&](unsigned variant) { return isLeftOut(variant); });
    }
    flush();
    return legal;
  }

  /// Whether a library would do without it, as the spec's bounds and its measurements say.
  bool isLeftOut(unsigned variant) {
    std::string name = stableName(entry(), entry().variants[variant]);
    return llvm::any_of(entry().measured, [&](const MeasuredTarget &measured) {
      return llvm::is_contained(measured.leftOut, name);
    });
  }

  /// Compiles the first candidate that fits the target, and drops all others from the model.
  bool compile() {
    CallArguments arguments(entry(), values);
    if (entry().grid.empty() && !run.grid) {
      report(DiagKind::DriverNoGrid, run.kernel);
      return flush();
    }
    std::vector<unsigned> legal = candidates(arguments);
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
      return computeGrid(arguments);
    }
    return false;
  }

  bool computeGrid(const CallArguments &arguments) {
    if (run.grid) {
      grid = *run.grid;
      return true;
    }
    auto computed = arguments.grid(entry().variants[0]);
    if (computed)
      grid = *computed;
    else
      report(DiagKind::DriverGrid, run.kernel, llvm::toString(computed.takeError()));
    return flush();
  }

  bool launch(const kiln_entry &record) {
    auto opened = RunDevice::open(target(), run.check, run.isCounted());
    if (!opened)
      return launchFailed(llvm::toString(opened.takeError()));
    RunDevice &device = **opened;
    for (RunValue &value : values) {
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
      params.push_back(&values[index].bits);
    kiln_call call;
    kiln_status status = kiln_begin(&record, device.stream(), &call);
    if (status == KILN_SUCCESS)
      status = kiln_run(&call, /*variant=*/0, grid.data(), params.data());
    std::string message = status == KILN_SUCCESS ? "" : kiln_last_error();
    if (status == KILN_SUCCESS)
      if (llvm::Error error = device.finish())
        message = llvm::toString(std::move(error));
    std::vector<std::string> found = device.reports();
    for (const std::string &text : found) {
      // "softmax.py:20:14: softmax_kernel, program …"
      auto [place, what] = llvm::StringRef(text).split(": ");
      session.diagnostics.report(DiagKind::DriverCheckReport, DiagPlace(place), what);
      flush();
    }
    if (found.empty() && message.empty() && run.isCounted())
      collectCounts(device.emulated());
    return found.empty() && (message.empty() || launchFailed(message));
  }

  void collectCounts(kiln_emulator *emulator) {
    counts.entry = run.kernel;
    counts.target = target().name;
    counts.grid = grid;
    for (const auto &[name, text] : run.arguments)
      counts.arguments.push_back(countedArgument(name, text));
    counts.collect(emulator, session.sources);
  }

  CountedArgument countedArgument(const std::string &name, const std::string &text) const {
    const RunValue &value = *findValue(name);
    if (!value.array)
      return {name, text, 0};
    auto argument = llvm::find_if(entry().arguments,
                                  [&](const EntryArgument &one) { return one.name == name; });
    const std::vector<int64_t> &shape = value.array->shape;
    uint64_t bytes = elementBytes(argument->type.element);
    for (int64_t extent : shape)
      bytes *= uint64_t(extent);
    return {
        name,
        elementName(argument->type.element).str() + "[" +
            llvm::join(llvm::map_range(shape, [](int64_t n) { return std::to_string(n); }), ", ") +
            "]",
        bytes};
  }

  /// The page of a report, of this launch alone.
  std::string countPage() const {
    ReportPage page;
    page.title = run.kernel + " on " + target().name;
    page.counts = {counts};
    for (const GpuModel &gpu : gpuModels())
      page.gpus.push_back(&gpu);
    return writeReportPage(page);
  }

  /// After all else has succeeded.
  void printCounts() {
    if (run.count)
      writeCountTable(counts, llvm::outs());
    if (run.countJson == "-")
      llvm::outs() << writeCountJson(counts);
  }

  bool addOutput(llvm::StringRef path, std::string bytes) {
    llvm::Error error = files.add(path, std::move(bytes));
    return !error || cannotWrite(std::move(error));
  }

  bool writeOutputs() {
    for (const auto &[name, path] : run.outputs) {
      const RunArray &array = *findValue(name)->array;
      const std::string &wanted = name;
      auto argument = llvm::find_if(entry().arguments,
                                    [&](const EntryArgument &one) { return one.name == wanted; });
      ElementType element = argument->type.element;
      if (!addOutput(path, writeNpy(npyTypeOf(element), array.shape,
                                    elementsOf(array, elementBytes(element)))))
        return false;
    }
    if (!run.countJson.empty() && run.countJson != "-" &&
        !addOutput(run.countJson, writeCountJson(counts)))
      return false;
    if (!run.countHtml.empty() && !addOutput(run.countHtml, countPage()))
      return false;
    llvm::Error error = files.commit();
    return !error || cannotWrite(std::move(error));
  }

  const RunOptions &run;
  CompilerOptions options;
  Session session;
  std::optional<BuildPlan> plan;
  std::vector<RunValue> values;
  std::array<int64_t, 3> grid = {1, 1, 1};
  OutputSet files;
  CountReport counts;
};

} // namespace

int runRun(const CommandLine &line) { return KernelRun(line).execute() ? 0 : 1; }

} // namespace kiln
