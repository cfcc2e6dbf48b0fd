// kiln build and kiln check.

#include "codegen/GenerateLibrary.h"
#include "codegen/OutputSet.h"
#include "compiler/Driver/Commands.h"
#include "compiler/Driver/Interrupt.h"
#include "compiler/Driver/Session.h"
#include "llvm/Support/Path.h"

namespace kiln {
namespace {

/// A file's name as make and ninja read it.
void appendMakeName(std::string &rule, llvm::StringRef path) {
  size_t backslashes = 0; // just before `c`
  for (char c : path) {
    if (c == ' ' || c == '\t' || c == '#')
      rule.append(backslashes + 1, '\\');
    if (c == ':')
      rule += '\\';
    if (c == '$')
      rule += '$';
    rule += c;
    backslashes = c == '\\' ? backslashes + 1 : 0;
  }
}

/// A make rule: every output depends on every file that was read.
std::string depfileOf(const Session &session, const CompilerOptions &options,
                      llvm::ArrayRef<Output> outputs) {
  std::string rule;
  for (const Output &output : outputs) {
    rule += rule.empty() ? "" : " \\\n  ";
    appendMakeName(rule, output.path);
  }
  rule += ":";
  std::vector<std::string> inputs;
  for (const InputFile &input : session.filesRead())
    inputs.push_back(input.path);
  if (!options.emit.libdevicePath.empty())
    inputs.push_back(options.emit.libdevicePath);
  for (const std::string &input : inputs) {
    rule += " \\\n  ";
    appendMakeName(rule, input);
  }
  return rule + "\n";
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
  if (!plan || !session.checkOnly(*plan))
    return 1;
  std::vector<Output> library =
      libraryOutputs(line.build.outputFolder, plan->model, "-o or --name");
  std::vector<Output> outputs = library;
  if (!options.depfile.empty())
    outputs.push_back({options.depfile, "--depfile"});
  if (!session.checkOutputs(outputs))
    return 1;
  OutputSet files;
  for (const Output &output : outputs)
    if (auto error = files.open(output.path))
      return fail(session, std::move(error));
  auto results = session.run(*plan, {});
  if (interruptSignal() || !session.assemble(*plan, std::move(results)) || !options.only.empty())
    return session.reporter.errors() ? 1 : 0;
  auto generated = generateLibrary(plan->model);
  if (!generated)
    return fail(session, generated.takeError());
  for (auto [output, file] : llvm::zip(library, generated->files))
    if (auto error = files.add(output.path, std::move(file.bytes)))
      return fail(session, std::move(error));
  if (!options.depfile.empty())
    if (auto error = files.add(options.depfile, depfileOf(session, options, library)))
      return fail(session, std::move(error));
  if (interruptSignal())
    return 1;
  if (auto error = files.commit())
    return fail(session, std::move(error));
  return 0;
}

int runCheck(const CommandLine &line) {
  Session session(line.compiler);
  auto spec = session.readSpecFile(line.build.spec, line.build.name);
  auto plan = spec ? session.plan(*spec, line.build.spec) : std::nullopt;
  if (!plan || !session.checkOnly(*plan) || !session.checkOutputs({}))
    return 1;
  VariantGoal goal;
  goal.checkOnly = true;
  session.run(*plan, goal);
  return session.reporter.errors() ? 1 : 0;
}

} // namespace kiln
