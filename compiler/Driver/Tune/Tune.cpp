// kiln tune: a library with all its variants, and a program that times them; or what several such
// programs have measured, put together.

#include "compiler/Driver/Tune/Tune.h"
#include "codegen/GenerateLibrary.h"
#include "codegen/OutputSet.h"
#include "codegen/TunerSource.h"
#include "codegen/TuningFile.h"
#include "codegen/TuningTable.h"
#include "compiler/Basic/Version.h"
#include "compiler/Driver/Process/Interrupt.h"
#include "compiler/Driver/Session/Session.h"
#include "compiler/Driver/Tune/ImportTimes.h"
#include "compiler/Driver/Tune/SeenShapes.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

namespace kiln {
namespace {

const SourceFile *loadFile(Session &session, const std::string &path) {
  auto file = session.sources.load(path);
  if (file)
    return *file;
  session.diagnostics.report(DiagKind::DriverCannotRead, DiagPlace(), path,
                             file.getError().message());
  return nullptr;
}

class TunerBuild {
public:
  explicit TunerBuild(const CommandLine &line)
      : asked(line.build), shapes(line.tune.shapes), options(line.compiler), session(options) {}

  bool execute() {
    spec = session.readSpecFile(asked.spec, asked.name);
    if (spec && !shapes.empty() && !takeShapes())
      return flush();
    plan = spec ? session.plan(*spec, asked.spec) : std::nullopt;
    return plan && checkIsTunable() && openOutputs() && compile() && write();
  }

private:
  bool flush() {
    session.reporter.report(session.diagnostics, session.sources);
    session.diagnostics.clear();
    return session.reporter.errors() == 0;
  }

  bool nothing(const SpecPlace &place, const std::string &why, const std::string &hint = "") {
    session.diagnostics.report(DiagKind::DriverNothingToTune, place.range, why).withHint(hint);
    return flush();
  }

  bool takeShapes() {
    const SourceFile *file = loadFile(session, shapes);
    return file && applySeenShapes(*file, *spec, session.diagnostics);
  }

  /// The kernel that an entry point comes from, if the spec says what to time of it.
  const SpecKernel *tunedKernel(const EntryModel &entry) const {
    for (const SpecKernel &kernel : spec->kernels)
      if (!kernel.tuning.shapes.empty() && llvm::is_contained(kernel.entryNames(), entry.name))
        return &kernel;
    return nullptr;
  }

  bool checkIsTunable() {
    bool hasEntry = false;
    for (const EntryModel &entry : plan->model.entries)
      if (const SpecKernel *kernel = tunedKernel(entry)) {
        hasEntry = true;
        if (entry.grid.empty())
          return nothing(kernel->tuning.place,
                         "'" + entry.name +
                             "' cannot be timed: the spec leaves its grid to callers",
                         "\"grid\": [\"…\"]");
      }
    if (!hasEntry)
      return nothing(spec->place, "no kernel of the spec says in which shapes to time it",
                     "\"dispatch\": {\"key\": […], \"shapes\": […]}");
    if (llvm::all_of(plan->model.targets, [](const TargetInfo &target) { return target.emulated; }))
      return nothing(spec->place, "an emulated GPU has no times of its own",
                     "--target cuda:…, hip:… or cpu");
    return true;
  }

  bool openOutputs() {
    outputs = libraryOutputs(asked.outputFolder, plan->model, "-o or --name");
    llvm::SmallString<256> tuner(asked.outputFolder);
    llvm::sys::path::append(tuner, plan->model.name + "_tuner.c");
    outputs.push_back({tuner.str().str(), "-o or --name"});
    if (!session.checkOutputs(outputs))
      return false;
    for (const Output &output : outputs)
      if (llvm::Error error = files.open(output.path))
        return fail(std::move(error));
    return true;
  }

  bool compile() {
    auto results = session.run(*plan, {});
    return !interruptSignal() && session.assemble(*plan, std::move(results));
  }

  bool write() {
    plan->model.sizeBudget = 0; // of the library that is shipped
    auto library = generateLibrary(plan->model);
    if (!library)
      return fail(library.takeError());
    library->files.push_back({"", writeTunerSource(plan->model, tunedEntries())});
    for (auto [output, file] : llvm::zip(outputs, library->files))
      if (llvm::Error error = files.add(output.path, std::move(file.bytes)))
        return fail(std::move(error));
    if (interruptSignal())
      return false;
    llvm::Error error = files.commit();
    return error ? fail(std::move(error)) : true;
  }

  std::vector<TunedEntry> tunedEntries() {
    std::vector<TunedEntry> entries;
    for (const EntryModel &entry : plan->model.entries)
      if (const SpecKernel *kernel = tunedKernel(entry))
        entries.push_back(
            {&entry, tunedCalls(entry, *kernel, session.diagnostics), kernel->tuning.tolerance});
    return entries;
  }

  bool fail(llvm::Error error) {
    session.diagnostics.report(DiagKind::DriverCannotWrite, DiagPlace(),
                               llvm::toString(std::move(error)));
    return flush();
  }

  const BuildOptions &asked;
  const std::string &shapes;
  const CompilerOptions options;
  Session session;
  std::optional<Spec> spec;
  std::optional<BuildPlan> plan;
  std::vector<Output> outputs;
  OutputSet files;
};

/// Writes one file, unless there were errors; the exit status.
int writeFile(Session &session, const std::string &path, const std::string &bytes) {
  OutputSet files;
  if (!session.diagnostics.hasErrors()) {
    llvm::Error error = files.open(path);
    if (!error)
      error = files.add(path, bytes);
    if (!error)
      error = files.commit();
    if (error)
      session.diagnostics.report(DiagKind::DriverCannotWrite, DiagPlace(),
                                 llvm::toString(std::move(error)));
  }
  session.reporter.report(session.diagnostics, session.sources);
  return session.reporter.errors() ? 1 : 0;
}

/// A file that was read may be the one that is written.
int finish(Session &session, const std::string &path, const TuningFile &tuning) {
  return writeFile(session, path, writeTuningFile(tuning));
}

/// Adds what a file of others says; reports its mistakes.
void importFile(const SourceFile &file, const TuneOptions &asked, const BuildPlan &plan,
                unsigned entry, TuningRun &run, DiagnosticEngine &diagnostics) {
  llvm::StringRef path = file.getPath();
  if (!asked.where.empty()) {
    if (auto choices = readChoiceTable(file, diagnostics))
      for (TuningMeasurement &one :
           importChoices(plan, entry, *choices, asked.where, path, diagnostics))
        run.measurements.push_back(std::move(one));
  } else if (auto times = readTritonTimes(file, diagnostics)) {
    if (auto one = importTritonTimes(plan, entry, *times, path, diagnostics))
      run.measurements.push_back(std::move(*one));
  }
}

/// kiln tune --import.
int importFiles(const CommandLine &line) {
  Session session(line.compiler);
  auto spec = session.readSpecFile(line.build.spec, line.build.name);
  auto plan = spec ? session.plan(*spec, line.build.spec) : std::nullopt;
  if (!plan)
    return 1;
  auto entry = llvm::find_if(plan->model.entries,
                             [&](const EntryModel &one) { return one.name == line.tune.kernel; });
  unsigned index = entry - plan->model.entries.begin();
  TuningFile tuning;
  TuningRun &run = tuning.runs.emplace_back();
  run.device = line.tune.device;
  run.driver = backendName(plan->model.targets[0].backend).str();
  run.kiln = kilnVersion().str();
  run.library = plan->model.name;
  if (line.tune.where.empty())
    run.cache = "cold"; // Triton empties the L2 cache before each launch.
  if (entry == plan->model.entries.end())
    session.diagnostics.report(DiagKind::DriverNoEntry, DiagPlace(), line.build.spec,
                               line.tune.kernel);
  else
    for (const std::string &path : line.tune.imported)
      if (const SourceFile *file = loadFile(session, path))
        importFile(*file, line.tune, *plan, index, run, session.diagnostics);
  return finish(session, line.tune.output, tuning);
}

/// kiln tune --table.
int writeTable(const CommandLine &line) {
  Session session(line.compiler);
  auto spec = session.readSpecFile(line.build.spec, line.build.name);
  auto plan = spec ? session.plan(*spec, line.build.spec) : std::nullopt;
  if (!plan || !session.checkOutputs({{line.tune.table, "--table"}}))
    return 1;
  std::string table = writeTuningTable(plan->model);
  if (table.empty())
    session.diagnostics
        .report(DiagKind::DriverNothingToTune, spec->place.range,
                "no measured shape of a kernel with a dispatch key decides for any target")
        .withHint("name a file of times in \"dispatch\": {\"tuning\": \"times.json\"}");
  return writeFile(session, line.tune.table, table);
}

/// kiln tune --merge.
int mergeFiles(const CommandLine &line) {
  Session session(line.compiler);
  TuningFile merged;
  for (const std::string &path : line.tune.merged)
    if (const SourceFile *file = loadFile(session, path))
      if (auto tuning = readTuningFile(*file, session.diagnostics))
        mergeTuning(merged, std::move(*tuning));
  return finish(session, line.tune.output, merged);
}

} // namespace

int runTune(const CommandLine &line) {
  if (!line.tune.imported.empty())
    return importFiles(line);
  if (!line.tune.merged.empty())
    return mergeFiles(line);
  if (!line.tune.table.empty())
    return writeTable(line);
  return TunerBuild(line).execute() ? 0 : 1;
}

} // namespace kiln
