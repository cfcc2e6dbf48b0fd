#include "compiler/Driver/Jobs/CompilePlan.h"
#include "compiler/Driver/Jobs/BinaryCache.h"
#include "compiler/Driver/Jobs/ToolCheck.h"
#include "compiler/Driver/Process/Interrupt.h"
#include "compiler/Driver/Process/Workers.h"
#include "compiler/Target/Process.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <csignal>
#include <cstring>

namespace kiln {
namespace {

/// The last thing of weight that the log says: "LLVM ERROR: Cannot select: …".
std::string complaint(llvm::StringRef log) {
  llvm::SmallVector<llvm::StringRef> lines;
  log.split(lines, '\n', -1, false);
  for (llvm::StringRef line : lines)
    for (llvm::StringRef word : {"ERROR", "Assertion", "UNREACHABLE", "terminate called"})
      if (line.contains(word))
        return line.trim().str();
  return "";
}

std::string describeSignal(int signal) {
  return "signal " + std::to_string(signal) + " (" + strsignal(signal) + ")";
}

/// "signal 6 (Aborted): LLVM ERROR: Cannot select: …"
std::string crashReason(const JobResult &job) {
  std::string reason =
      job.signal ? describeSignal(job.signal) : "exit status " + std::to_string(job.exitStatus);
  std::string said = complaint(job.log);
  return said.empty() ? reason : reason + ": " + said;
}

bool wasRefusedMemory(const JobResult &job) {
  llvm::StringRef log(job.log);
  return job.signal == SIGABRT && (log.contains("out of memory") || log.contains("std::bad_alloc"));
}

std::string memoryReason(const CompilerOptions &options) {
  return "compiling it needs more than the " + std::to_string(options.memoryMiB) +
         " MiB of memory that it may take; --memory=MIB allows more; more warps or smaller tiles "
         "make less work";
}

VariantResult failureOf(const JobResult &job, const BuildPlan &plan, unsigned index,
                        const CompilerOptions &options, const SourceManager &sources) {
  const CompileJob &compile = plan.jobs[index];
  const std::string &target = plan.model.targets[compile.target].name;
  DiagnosticEngine diagnostics;
  switch (job.kind) {
  case JobResult::TimedOut:
    diagnostics.report(DiagKind::DriverVariantHung, compile.place.range, compile.label, target,
                       options.timeoutSeconds, compile.piece);
    break;
  case JobResult::CouldNotStart:
    diagnostics.report(DiagKind::DriverTool, DiagPlace(),
                       std::string("cannot start a worker process: ") + std::strerror(job.error));
    break;
  case JobResult::Crashed:
  case JobResult::Done: // with output that is not a result
    if (wasRefusedMemory(job) && options.memoryMiB)
      diagnostics.report(DiagKind::DriverVariantTool, compile.place.range, compile.label, target,
                         memoryReason(options));
    else
      diagnostics.report(
          isSentFromOutside(job.signal) || wasRefusedMemory(job) ? DiagKind::DriverVariantEnded
                                                                 : DiagKind::DriverVariantCrashed,
          compile.place.range, compile.label, target, crashReason(job), compile.piece);
    break;
  }
  VariantResult result;
  result.diagnostics = renderDiagnostics(diagnostics, sources);
  return result;
}

/// Carries out jobs in worker processes.
class WorkerRun {
public:
  WorkerRun(const BuildPlan &plan, ModuleLoader &loader, const CompilerOptions &options)
      : plan(plan), loader(loader), options(options) {
    workers.parallel = options.jobs ? options.jobs : availableCpus();
    workers.timeout = std::chrono::seconds(options.timeoutSeconds);
    workers.memoryBytes = uint64_t(options.memoryMiB) << 20;
  }

  /// Gives each job's answer to `done`, as they end. `isShort`: a process does several.
  void run(llvm::ArrayRef<unsigned> jobs, const VariantGoal &goal, bool isShort,
           llvm::function_ref<void(unsigned, JobResult)> done) {
    workers.jobsPerProcess = 1;
    if (isShort) // enough for every CPU to have several turns
      workers.jobsPerProcess = std::clamp(unsigned(jobs.size()) / (8 * workers.parallel), 1u, 256u);
    runJobs(
        jobs.size(), workers,
        [&](unsigned i) {
          VariantGoal told = goal;
          told.onWait = tellWaiting;
          told.endsProcess = workers.jobsPerProcess == 1;
          return serialize(compileVariant(plan, plan.jobs[jobs[i]], loader, options, told));
        },
        [&](unsigned i, JobResult job) { done(jobs[i], std::move(job)); });
  }

private:
  const BuildPlan &plan;
  ModuleLoader &loader;
  const CompilerOptions &options;
  WorkerOptions workers;
};

std::optional<VariantResult> resultOf(const JobResult &job) {
  return job.kind == JobResult::Done ? deserialize(job.output) : std::nullopt;
}

/// Takes the results of those jobs whose binaries the cache has; the others.
std::vector<unsigned> takeKnown(WorkerRun &workers, llvm::ArrayRef<unsigned> jobs, VariantGoal goal,
                                llvm::function_ref<void(unsigned, VariantResult)> take) {
  std::vector<unsigned> missing = jobs.vec();
  goal.cachedOnly = true;
  workers.run(jobs, goal, /*isShort=*/true, [&](unsigned index, JobResult job) {
    std::optional<VariantResult> result = resultOf(job);
    if (!result || !result->binary)
      return;
    take(index, std::move(*result));
    llvm::erase(missing, index);
  });
  return missing;
}

/// Whether tools work is asked before more variants than these compile: each of them would fail the
/// same way after its own work. For a few it would be what takes longest, and is asked when one has
/// failed.
constexpr size_t mostVariantsWithoutQuestion = 8;

bool hasFailed(const VariantResult &result) {
  return llvm::any_of(result.diagnostics,
                      [](const auto &one) { return one.severity == Severity::Error; });
}

} // namespace

std::vector<VariantResult> compilePlan(const BuildPlan &plan, ModuleLoader &loader,
                                       const CompilerOptions &requested, const VariantGoal &goal,
                                       Reporter &reporter) {
  std::vector<VariantResult> results(plan.jobs.size());
  // One folder for the temporary files of all workers: those that are killed cannot remove theirs.
  llvm::Expected<TemporaryFolder> temporaries =
      TemporaryFolder::create(requested.emit.temporaryRoot);
  if (!temporaries) {
    DiagnosticEngine diagnostics;
    diagnostics.report(DiagKind::DriverTool, DiagPlace(), llvm::toString(temporaries.takeError()));
    reporter.report(diagnostics, loader.getSources());
    return results;
  }
  CompilerOptions options = requested;
  options.emit.temporaryRoot = temporaries->path().str();
  unsigned ended = 0;
  auto take = [&](unsigned index, VariantResult result) {
    reporter.progress(++ended, plan.chosen.size(), plan.jobs[index].label);
    results[index] = std::move(result);
  };
  WorkerRun workers(plan, loader, options);
  std::vector<unsigned> missing = plan.chosen;
  if (BinaryCache(options).isUsed() && !options.inProcess && goal.emitStage.empty())
    missing = takeKnown(workers, plan.chosen, goal, take);
  auto toolsWork = [&] {
    DiagnosticEngine problems;
    bool work = checkTools(plan, missing, options, goal, problems);
    reporter.report(problems, loader.getSources());
    return work;
  };
  bool isAskedFirst = missing.size() > mostVariantsWithoutQuestion;
  if (isAskedFirst && !toolsWork())
    return results;
  if (options.inProcess) {
    for (unsigned index : missing)
      if (!interruptSignal())
        take(index, compileVariant(plan, plan.jobs[index], loader, options, goal));
  } else {
    workers.run(missing, goal, /*isShort=*/goal.checkOnly, [&](unsigned index, JobResult job) {
      std::optional<VariantResult> result = resultOf(job);
      take(index,
           result ? std::move(*result) : failureOf(job, plan, index, options, loader.getSources()));
    });
  }
  bool oneFailed = llvm::any_of(missing, [&](unsigned index) { return hasFailed(results[index]); });
  if (!isAskedFirst && oneFailed && !interruptSignal() && !toolsWork())
    return std::vector<VariantResult>(plan.jobs.size());
  // In the jobs' order, so that a build says the same whatever -j.
  std::vector<VariantReport> reports;
  for (unsigned index : plan.chosen) {
    const CompileJob &job = plan.jobs[index];
    reports.push_back(
        {job.label + " for " + plan.model.targets[job.target].name, results[index].diagnostics});
  }
  reporter.report(reports);
  return results;
}

} // namespace kiln
