#include "compiler/Driver/Jobs/ToolCheck.h"
#include "compiler/Driver/Process/Interrupt.h"
#include "compiler/Driver/Process/Workers.h"
#include "compiler/Target/Emission/Emit.h"
#include "llvm/ADT/SetVector.h"

namespace kiln {
namespace {

/// Stages that Kiln reaches alone.
bool needsNoTools(const VariantGoal &goal) {
  constexpr llvm::StringLiteral own[] = {"ast", "tile", "tilegpu", "llvm", "llvmir", "ptx"};
  return goal.checkOnly || llvm::is_contained(own, goal.emitStage);
}

std::string problemOf(const JobResult &job, unsigned seconds) {
  switch (job.kind) {
  case JobResult::Done:
    return job.output;
  case JobResult::TimedOut:
    return "ptxas did not assemble an empty kernel in " + std::to_string(seconds) + " seconds";
  default:
    return "cannot run ptxas in a worker process";
  }
}

} // namespace

bool checkTools(const BuildPlan &plan, llvm::ArrayRef<unsigned> chosen,
                const CompilerOptions &options, const VariantGoal &goal,
                DiagnosticEngine &diagnostics) {
  if (needsNoTools(goal))
    return true;
  llvm::SmallSetVector<unsigned, 8> targets;
  for (unsigned index : chosen)
    targets.insert(plan.jobs[index].target);
  auto check = [&](unsigned i) {
    return llvm::toString(checkTools(plan.model.targets[targets[i]], options.emit));
  };
  std::vector<std::string> problems(targets.size());
  if (options.inProcess) {
    for (unsigned i = 0; i < targets.size(); ++i)
      problems[i] = check(i);
  } else {
    // In workers: a tool that hangs does not hang the build, and an interrupt ends it.
    WorkerOptions workers;
    workers.parallel = availableCpus();
    workers.timeout = std::chrono::seconds(options.timeoutSeconds);
    runJobs(targets.size(), workers, check, [&](unsigned i, JobResult job) {
      problems[i] = problemOf(job, options.timeoutSeconds);
    });
  }
  for (const std::string &problem : problems)
    if (!problem.empty()) {
      diagnostics.report(DiagKind::DriverTool, DiagPlace(), problem);
      return false;
    }
  return !interruptSignal();
}

} // namespace kiln
