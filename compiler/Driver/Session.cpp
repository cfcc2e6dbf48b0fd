#include "compiler/Driver/Session.h"
#include "codegen/SpecReader.h"
#include "compiler/Driver/PortablePath.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

namespace kiln {

Session::Session(const CompilerOptions &options)
    : loader(sources, options.importRoots, options.maxErrors), diagnostics(options.maxErrors),
      reporter(options.diagnosticFormat, options.quiet, options.maxErrors), options(options) {}

void Session::flush() {
  reporter.report(diagnostics, sources);
  diagnostics.clear();
}

std::optional<Spec> Session::readSpecFile(llvm::StringRef path, llvm::StringRef libraryName) {
  std::optional<Spec> spec;
  if (auto file = sources.load(path))
    spec = readSpec(**file, diagnostics, {options.targets, libraryName.str()});
  else
    diagnostics.report(DiagKind::DriverCannotRead, DiagPlace(), path, file.getError().message());
  flush();
  return spec;
}

std::optional<BuildPlan> Session::plan(const Spec &spec, llvm::StringRef specPath) {
  auto plan = planBuild(spec, specPath, loader, options, diagnostics);
  flush();
  return plan;
}

bool Session::checkOnly(const BuildPlan &plan) {
  for (unsigned index : options.only)
    if (index >= plan.jobs.size())
      diagnostics.report(DiagKind::DriverBadFlag, DiagPlace(), "--only",
                         "expected numbers below " + std::to_string(plan.jobs.size()) + ", got " +
                             std::to_string(index));
  flush();
  return reporter.errors() == 0;
}

bool Session::checkOutputs(llvm::StringRef folder, llvm::StringRef library) {
  std::vector<std::string> paths;
  for (llvm::StringRef ending : {".h", ".c", ".json"}) {
    llvm::SmallString<256> output(folder);
    llvm::sys::path::append(output, library + ending);
    paths.push_back(output.str().str());
  }
  return checkOutputs(paths);
}

bool Session::checkOutputs(llvm::ArrayRef<std::string> paths) {
  for (const std::string &output : paths)
    for (FileId file = 1; file <= sources.getNumFiles(); ++file)
      if (llvm::sys::fs::equivalent(output, sources.get(file).getPath())) {
        diagnostics.report(DiagKind::DriverOverwritesInput, DiagPlace(), output);
        break;
      }
  flush();
  return reporter.errors() == 0;
}

bool Session::assemble(BuildPlan &plan, std::vector<VariantResult> results) {
  for (auto [job, result] : llvm::zip(plan.jobs, results)) {
    for (const InputFile &file : result.filesRead)
      if (llvm::none_of(files, [&](const InputFile &known) { return known.path == file.path; }))
        files.push_back(file);
    const TargetInfo &target = plan.model.targets[job.target];
    if (!result.doesNotFit.empty()) {
      DiagKind kind =
          job.mayBeDropped ? DiagKind::DriverConfigDropped : DiagKind::DriverConfigDoesNotFit;
      Diagnostic &misfit =
          diagnostics.report(kind, job.place.range, job.place.path, target.name, result.doesNotFit);
      for (const PlacedNote &note : result.doesNotFitNotes)
        if (auto file = sources.load(note.path))
          misfit.note(note.kind, SourceRange{(*file)->getId(), note.begin, note.end}, note.text);
    }
    if (!result.binary)
      continue;
    VariantModel &variant = plan.model.entries[job.entry].variants[job.variant];
    const std::array<uint32_t, 3> &cluster = result.binary->launch.clusterDims;
    int64_t numCtas = int64_t(cluster[0]) * cluster[1] * cluster[2];
    if (target.backend != Backend::CPU && job.instance.numCtas != numCtas)
      diagnostics.report(DiagKind::DriverOptionUnused, job.place.range, job.place.path, "num_ctas");
    std::vector<std::pair<std::string, int64_t>> effective = {
        {"num_warps", job.instance.numWarps}, {"num_stages", 1}, {"num_ctas", numCtas}};
    if (options.emit.cudaEmit == CudaEmit::Both && result.binary->format == BinaryFormat::Cubin) {
      DeviceBinary ptx = *result.binary;
      ptx.format = BinaryFormat::PTX;
      ptx.ptxasLevel = 0;
      ptx.bytes.assign(ptx.ptx.begin(), ptx.ptx.end());
      ptx.bytes.push_back('\0');
      variant.binaries.push_back({job.target, std::move(ptx), effective});
    }
    variant.binaries.push_back({job.target, std::move(*result.binary), std::move(effective)});
  }
  if (reporter.errors() == 0)
    for (EntryModel &entry : plan.model.entries) {
      llvm::erase_if(entry.variants,
                     [](const VariantModel &variant) { return variant.binaries.empty(); });
      if (entry.variants.empty() && !diagnostics.hasErrors() && options.only.empty())
        diagnostics.report(DiagKind::DriverNoVariant, DiagPlace(), entry.name);
    }
  flush();
  recordInputs(plan.model);
  return reporter.errors() == 0;
}

void Session::recordInputs(LibraryModel &model) {
  model.tools = {{"kiln", KILN_VERSION}, {"llvm", LLVM_VERSION_STRING}};
  for (const InputFile &file : files)
    model.inputs.push_back({portablePath(file.path, options), file.sha256});
}

} // namespace kiln
