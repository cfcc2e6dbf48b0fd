#include "compiler/Driver/Session.h"
#include "codegen/SpecReader.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

namespace kiln {

Session::Session(const CompilerOptions &options)
    : loader(sources, options.importRoots), reporter(options.diagnosticFormat, options.quiet),
      options(options) {}

void Session::flush() {
  reporter.report(diagnostics, sources);
  diagnostics.clear();
}

std::optional<Spec> Session::readSpecFile(llvm::StringRef path, llvm::StringRef libraryName) {
  specFolder = llvm::sys::path::parent_path(path).str();
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

bool Session::assemble(BuildPlan &plan, std::vector<VariantResult> results) {
  for (auto [job, result] : llvm::zip(plan.jobs, results)) {
    for (const std::string &file : result.filesRead)
      if (!llvm::is_contained(files, file))
        files.push_back(file);
    const TargetInfo &target = plan.model.targets[job.target];
    if (!result.doesNotFit.empty()) {
      DiagKind kind =
          job.mayBeDropped ? DiagKind::DriverConfigDropped : DiagKind::DriverConfigDoesNotFit;
      diagnostics.report(kind, job.place.range, job.place.path, target.name, result.doesNotFit);
    }
    if (!result.binary)
      continue;
    VariantModel &variant = plan.model.entries[job.entry].variants[job.variant];
    std::vector<std::pair<std::string, int64_t>> effective = {{"num_warps", job.instance.numWarps},
                                                              {"num_stages", 1},
                                                              {"num_ctas", job.instance.numCtas}};
    if (options.emit.cudaEmit == CudaEmit::Both && result.binary->format == BinaryFormat::Cubin) {
      DeviceBinary ptx = *result.binary;
      ptx.format = BinaryFormat::PTX;
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
      if (entry.variants.empty() && !diagnostics.hasErrors())
        diagnostics.report(DiagKind::DriverNoVariant, DiagPlace(), entry.name);
    }
  flush();
  recordInputs(plan.model);
  return reporter.errors() == 0;
}

std::string Session::portablePath(llvm::StringRef path) const {
  std::vector<std::string> roots = options.importRoots;
  roots.insert(roots.begin(), specFolder);
  for (const std::string &root : roots) {
    llvm::StringRef rest = path;
    if (!root.empty() && rest.consume_front(root) && rest.consume_front("/"))
      return rest.str();
  }
  return llvm::sys::path::is_absolute(path) ? llvm::sys::path::filename(path).str() : path.str();
}

void Session::recordInputs(LibraryModel &model) {
  model.tools = {{"kiln", KILN_VERSION}, {"llvm", LLVM_VERSION_STRING}};
  for (const std::string &file : files)
    if (auto contents = llvm::MemoryBuffer::getFile(file))
      model.inputs.push_back({portablePath(file), sha256Of((*contents)->getBuffer())});
}

} // namespace kiln
