#include "compiler/Driver/Session/Session.h"
#include "codegen/GenerateLibrary.h"
#include "codegen/ImageFrames.h"
#include "codegen/SpecReader.h"
#include "compiler/Basic/Version.h"
#include "compiler/Driver/Jobs/BinaryCache.h"
#include "compiler/Driver/Jobs/CompilePlan.h"
#include "compiler/Driver/Jobs/Timing.h"
#include "compiler/Driver/Planning/DispatchChecks.h"
#include "compiler/Driver/Planning/PieceName.h"
#include "compiler/Driver/Planning/SpecPaths.h"
#include "compiler/Driver/Planning/Tuning.h"
#include "compiler/Driver/Process/Interrupt.h"
#include "compiler/Target/Emission/VerifyAbi.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <set>

namespace kiln {

Session::Session(const CompilerOptions &options)
    : loader(sources, options.importRoots, options.maxErrors), diagnostics(options.maxErrors),
      reporter(options.diagnosticFormat, options.quiet, options.maxErrors), options(options) {
  if (!options.emit.ptxasPath.empty())
    noteInput(options.emit.ptxasPath);
  if (!options.emit.libdevicePath.empty())
    noteDependency(options.emit.libdevicePath);
}

std::vector<std::string> Session::dependencies() const {
  std::vector<std::string> paths;
  for (const InputFile &file : files)
    paths.push_back(file.path);
  llvm::append_range(paths, otherDependencies);
  return paths;
}

bool Session::flush() {
  if (knowsWarnings && !diagnostics.hasErrors()) {
    DiagnosticEngine unknown;
    for (const Diagnostic &diagnostic : diagnostics.getDiagnostics())
      if (diagnostic.kind == DiagKind::DriverUnknownConstant && !diagnostic.place.range.isValid())
        unknown.add(diagnostic);
    reporter.report(unknown, sources);
  } else {
    reporter.report(diagnostics, sources);
  }
  diagnostics.clear();
  return reporter.errors() == 0;
}

bool Session::check(llvm::Error writing) {
  if (!writing)
    return true;
  diagnostics.report(DiagKind::DriverCannotWrite, DiagPlace(), llvm::toString(std::move(writing)));
  flush();
  return false;
}

std::optional<Spec> Session::readSpecFile(llvm::StringRef path, llvm::StringRef libraryName,
                                          llvm::StringRef prefix) {
  std::optional<Spec> spec;
  if (auto file = sources.load(path))
    spec = readSpec(**file, diagnostics, {options.targets, libraryName.str(), prefix.str()});
  else
    diagnostics.report(DiagKind::DriverCannotRead, DiagPlace(), path, file.getError().message());
  if (spec && !options.only.empty() && !keepSelected(*spec, options.only, diagnostics))
    spec.reset();
  flush();
  return spec;
}

std::optional<BuildPlan> Session::plan(const Spec &spec, llvm::StringRef specPath) {
  auto plan = planBuild(spec, specPath, loader, options, diagnostics);
  if (plan)
    applyTuning(spec, specPath, options.tuningUse, *plan, sources, diagnostics);
  if (plan && !diagnostics.hasErrors())
    checkDispatch(*plan, diagnostics);
  if (plan && !diagnostics.hasErrors())
    chooseJobs(*plan, options.only, diagnostics);
  if (diagnostics.hasErrors())
    plan.reset();
  flush();
  return plan;
}

std::vector<Output> libraryOutputs(llvm::StringRef folder, const LibraryModel &model,
                                   llvm::StringRef option) {
  std::vector<Output> outputs;
  for (const std::string &name : libraryFileNames(model)) {
    llvm::SmallString<256> path(folder);
    llvm::sys::path::append(path, name);
    outputs.push_back({path.str().str(), option});
  }
  return outputs;
}

/// Equal for all ways to write the path of a file, which need not exist.
static std::string placeOf(llvm::StringRef path) {
  llvm::StringRef folder = llvm::sys::path::parent_path(path);
  llvm::SmallString<256> place;
  if (llvm::sys::fs::real_path(folder.empty() ? "." : folder, place))
    place = folder; // not there yet
  llvm::sys::path::append(place, llvm::sys::path::filename(path));
  llvm::sys::path::remove_dots(place, /*remove_dot_dot=*/true);
  return place.str().str();
}

bool Session::isInput(const std::string &path) const {
  auto isIt = [&](llvm::StringRef input) { return llvm::sys::fs::equivalent(path, input); };
  for (FileId file = 1; file <= sources.getNumFiles(); ++file)
    if (isIt(sources.get(file).getPath()))
      return true;
  return llvm::any_of(files, [&](const InputFile &file) { return isIt(file.path); }) ||
         llvm::any_of(otherInputs, isIt);
}

bool Session::checkOutputs(llvm::ArrayRef<Output> all) {
  outputs = all.vec();
  if (!options.timing.empty() && options.timing != "-")
    outputs.push_back({options.timing, "--timing"});
  return checkNotedOutputs();
}

bool Session::checkNotedOutputs() {
  std::set<std::string> places;
  for (const Output &output : outputs) {
    if (llvm::sys::fs::exists(output.path) && isInput(output.path))
      diagnostics.report(DiagKind::DriverOverwritesInput, DiagPlace(), output.path, output.option);
    else if (!places.insert(placeOf(output.path)).second)
      diagnostics.report(DiagKind::DriverSameOutput, DiagPlace(), output.path, output.option);
  }
  return flush();
}

void Session::noteFile(InputFile file) {
  if (filePaths.insert(absolutePath(file.path)).second)
    files.push_back(std::move(file));
}

std::vector<VariantResult> Session::run(const BuildPlan &plan, const VariantGoal &goal) {
  std::vector<VariantResult> results = compilePlan(plan, loader, options, goal, reporter);
  if (BinaryCache cache(options); cache.isUsed())
    cache.prune();
  noteFilesOf(results);
  unsigned errorsBefore = reporter.errors();
  checkNotedOutputs();
  if (options.timing.empty() || interruptSignal() || reporter.errors() != errorsBefore)
    return results;
  check(writeTiming(options.timing, plan, results));
  return results;
}

void Session::noteFilesOf(llvm::ArrayRef<VariantResult> results) {
  for (FileId file = 1; file <= sources.getNumFiles(); ++file)
    noteFile({sources.get(file).getPath().str(), sha256Of(sources.get(file).getContents())});
  for (const VariantResult &result : results)
    for (const InputFile &file : result.filesRead)
      noteFile(file);
}

/// The text that a cubin was assembled from, to stand beside it. In it tensor maps have other
/// places.
static llvm::Expected<DeviceBinary> ptxOf(const DeviceBinary &cubin) {
  DeviceBinary ptx = cubin;
  ptx.format = BinaryFormat::PTX;
  ptx.ptxasLevel = 0;
  ptx.registerLimit = 0;
  ptx.bytes.assign(ptx.ptx.begin(), ptx.ptx.end());
  ptx.bytes.push_back('\0');
  if (llvm::Error error = readBack(ptx))
    return error;
  if (!cubin.fallback)
    return ptx;
  llvm::Expected<DeviceBinary> fallback = ptxOf(*cubin.fallback);
  if (!fallback)
    return fallback;
  ptx.fallback = std::make_shared<const DeviceBinary>(std::move(*fallback));
  return ptx;
}

bool Session::reportMisfits(const BuildPlan &plan, llvm::ArrayRef<VariantResult> results) {
  for (auto [job, result] : llvm::zip(plan.jobs, results)) {
    if (result.doesNotFit.empty())
      continue;
    DiagKind kind =
        job.mayBeDropped ? DiagKind::DriverConfigDropped : DiagKind::DriverConfigDoesNotFit;
    Diagnostic &misfit = diagnostics.report(kind, job.place.range, job.place.path,
                                            plan.model.targets[job.target].name, result.doesNotFit);
    for (const PlacedNote &note : result.doesNotFitNotes)
      if (auto file = sources.load(note.path))
        misfit.note(note.kind, SourceRange{(*file)->getId(), note.begin, note.end}, note.text);
  }
  return flush();
}

bool Session::assemble(BuildPlan &plan, std::vector<VariantResult> results) {
  for (auto [job, result] : llvm::zip(plan.jobs, results)) {
    if (!result.binary)
      continue;
    const TargetInfo &target = plan.model.targets[job.target];
    VariantModel &variant = plan.model.entries[job.entry].variants[job.variant];
    const std::array<uint32_t, 3> &cluster = result.binary->launch.clusterDims;
    int64_t numCtas = int64_t(cluster[0]) * cluster[1] * cluster[2];
    std::vector<std::pair<std::string, int64_t>> effective = {
        {"num_warps", job.instance.numWarps}, {"num_stages", 1}, {"num_ctas", numCtas}};
    bool hasText = result.binary->format == BinaryFormat::Cubin && !result.binary->ptx.empty();
    if (hasText) { // --cuda-emit both
      llvm::Expected<DeviceBinary> ptx = ptxOf(*result.binary);
      if (ptx)
        variant.binaries.push_back({job.target, std::move(*ptx), effective});
      else
        diagnostics.report(DiagKind::DriverAbiMismatch, job.place.range, job.label, target.name,
                           llvm::toString(ptx.takeError()));
    }
    variant.binaries.push_back({job.target, std::move(*result.binary), std::move(effective)});
  }
  if (reporter.errors() == 0)
    for (EntryModel &entry : plan.model.entries) {
      llvm::erase_if(entry.variants,
                     [](const VariantModel &variant) { return variant.binaries.empty(); });
      if (entry.variants.empty() && !diagnostics.hasErrors())
        diagnostics.report(DiagKind::DriverNoVariant, DiagPlace(), entry.name);
    }
  checkMeasuredCode(plan.model, diagnostics);
  flush();
  recordInputs(plan.model);
  return reporter.errors() == 0;
}

bool Session::checkAssembled(BuildPlan &plan) {
  checkDispatchAgain(plan, diagnostics);
  return flush();
}

void Session::recordInputs(LibraryModel &model) {
  model.tools = {{"kiln", kilnVersion().str()}, {"llvm", LLVM_VERSION_STRING}};
  if (model.isCompressed)
    model.tools.emplace_back("zstd", zstdVersion().str());
  for (const InputFile &file : files)
    model.inputs.push_back({portablePath(file.path, options), file.sha256});
}

} // namespace kiln
