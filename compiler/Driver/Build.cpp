// kiln build and kiln check.

#include "codegen/GenerateLibrary.h"
#include "compiler/Driver/Commands.h"
#include "compiler/Driver/Interrupt.h"
#include "compiler/Driver/RunPlan.h"
#include "compiler/Driver/Session.h"
#include "llvm/Support/Path.h"

namespace kiln {
namespace {

/// A file's name as make reads it.
void appendMakeName(std::string &rule, llvm::StringRef path) {
  for (char c : path) {
    if (c == ' ' || c == '#')
      rule += '\\';
    if (c == '$')
      rule += '$';
    rule += c;
  }
}

/// A make rule: the manifest depends on every file that was read.
OutputFile depfileFor(const Session &session, llvm::StringRef target) {
  OutputFile file;
  appendMakeName(file.bytes, target);
  file.bytes += ":";
  for (const InputFile &input : session.filesRead()) {
    file.bytes += " \\\n  ";
    appendMakeName(file.bytes, input.path);
  }
  file.bytes += "\n";
  return file;
}

/// Reports an environment's failure and gives the exit status.
int fail(Session &session, llvm::Error error) {
  session.diagnostics.report(DiagKind::DriverCannotWrite, DiagPlace(),
                             llvm::toString(std::move(error)));
  session.reporter.report(session.diagnostics, session.sources);
  return 1;
}

} // namespace

int runBuild(const CommandLine &line) {
  CompilerOptions options = line.compiler;
  options.specFolder = llvm::sys::path::parent_path(line.build.spec).str();
  Session session(options);
  auto spec = session.readSpecFile(line.build.spec, line.build.name);
  if (!spec)
    return 1;
  auto plan = session.plan(*spec, line.build.spec);
  if (!plan || !session.checkOnly(*plan) ||
      !session.checkOutputs(line.build.outputFolder, plan->model.name) ||
      !session.checkOutputs(options.timing))
    return 1;
  // Before the work: a folder that cannot be written to should not cost a build.
  auto outputs = OutputTransaction::begin(line.build.outputFolder);
  if (!outputs)
    return fail(session, outputs.takeError());
  auto results = runPlan(*plan, session.loader, options, {}, session.reporter);
  if (interruptSignal() || !session.assemble(*plan, std::move(results)) || !options.only.empty())
    return session.reporter.errors() ? 1 : 0;
  auto library = generateLibrary(plan->model);
  if (!library)
    return fail(session, library.takeError());
  for (const OutputFile &file : library->files)
    if (auto error = outputs->add(file))
      return fail(session, std::move(error));
  if (interruptSignal())
    return 1;
  if (auto error = outputs->commit())
    return fail(session, std::move(error));
  if (options.depfile.empty())
    return 0;
  llvm::SmallString<256> manifest(line.build.outputFolder);
  llvm::sys::path::append(manifest, plan->model.name + ".json");
  OutputFile depfile = depfileFor(session, manifest);
  depfile.name = llvm::sys::path::filename(options.depfile).str();
  llvm::StringRef folder = llvm::sys::path::parent_path(options.depfile);
  if (auto error = writeOutputs(folder.empty() ? "." : folder, depfile))
    return fail(session, std::move(error));
  return 0;
}

int runCheck(const CommandLine &line) {
  Session session(line.compiler);
  auto spec = session.readSpecFile(line.build.spec, line.build.name);
  auto plan = spec ? session.plan(*spec, line.build.spec) : std::nullopt;
  if (!plan || !session.checkOnly(*plan))
    return 1;
  VariantGoal goal;
  goal.checkOnly = true;
  runPlan(*plan, session.loader, line.compiler, goal, session.reporter);
  return session.reporter.errors() ? 1 : 0;
}

} // namespace kiln
