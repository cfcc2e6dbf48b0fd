// kiln build and kiln check.

#include "compiler/Driver/Jobs/PortablePath.h"
#include "compiler/Driver/Library/Library.h"
#include "compiler/Driver/Library/PieceFile.h"
#include "compiler/Driver/Process/Interrupt.h"
#include "compiler/Driver/Session/BuildOutputs.h"

namespace kiln {
namespace {

/// What --objects writes. Messages were shown, and times differ from run to run.
std::string piecesOf(const Session &session, const CompilerOptions &options, const BuildPlan &plan,
                     llvm::ArrayRef<VariantResult> results) {
  PieceFile file;
  file.tool = describeTool();
  file.options = describeOptions(options);
  for (const InputFile &source : llvm::drop_begin(session.filesRead())) // the spec
    file.sources.push_back({pathFromSpec(source.path, options), source.sha256});
  for (unsigned index : plan.chosen) {
    const CompileJob &job = plan.jobs[index];
    VariantResult result;
    result.binary = results[index].binary;
    result.doesNotFit = results[index].doesNotFit;
    for (const InputFile &source : results[index].filesRead)
      result.filesRead.push_back({pathFromSpec(source.path, options), source.sha256});
    file.pieces.push_back({job.piece, recipeOf(plan, job), std::move(result)});
  }
  return writePieceFile(file);
}

} // namespace

int runBuild(const CommandLine &line) {
  const CompilerOptions &options = line.compiler;
  Session session(options);
  auto spec = session.readSpecFile(line.build.spec, line.build.name, line.build.prefix);
  auto plan = spec ? session.plan(*spec, line.build.spec) : std::nullopt;
  if (!plan)
    return 1;
  bool isInPieces = !line.build.objects.empty(), isLibrary = !isInPieces && options.only.empty();
  std::vector<Output> files;
  if (isInPieces)
    files.push_back({line.build.objects, "--objects"});
  else if (isLibrary)
    files = libraryOutputs(line.build.outputFolder, plan->model, "-o or --name");
  BuildOutputs outputs(session, options, std::move(files));
  if (!outputs.open())
    return 1;
  auto results = session.run(*plan, {});
  if (interruptSignal() || !session.reportMisfits(*plan, results))
    return 1;
  if (isInPieces)
    return outputs.write({piecesOf(session, options, *plan, results)}) ? 0 : 1;
  if (!isLibrary)
    return 0;
  bool isWhole = session.assemble(*plan, std::move(results)) && session.checkAssembled(*plan);
  return isWhole && outputs.writeLibrary(plan->model) ? 0 : 1;
}

int runCheck(const CommandLine &line) {
  Session session(line.compiler);
  auto spec = session.readSpecFile(line.build.spec, line.build.name, line.build.prefix);
  auto plan = spec ? session.plan(*spec, line.build.spec) : std::nullopt;
  if (!plan || !session.checkOutputs({}))
    return 1;
  VariantGoal goal;
  goal.checkOnly = true;
  session.run(*plan, goal);
  return session.reporter.errors() ? 1 : 0;
}

} // namespace kiln
