#include "compiler/Driver/Jobs/Timing.h"
#include "codegen/OutputTransaction.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <cmath>
#include <sys/resource.h>

namespace json = llvm::json;

namespace kiln {

static double cpuSeconds(int who) {
  rusage used;
  getrusage(who, &used);
  return double(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
         1e-6 * double(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

StageClock::Reading StageClock::now() {
  auto wall = std::chrono::steady_clock::now().time_since_epoch();
  return {std::chrono::duration<double>(wall).count(),
          cpuSeconds(RUSAGE_SELF) + cpuSeconds(RUSAGE_CHILDREN)};
}

void StageClock::note(llvm::StringRef stage) {
  Reading reading = now();
  times.push_back({stage.str(), reading.wall - last.wall, reading.cpu - last.cpu});
  last = reading;
}

/// JSON has no exact fractions.
static int64_t microseconds(double seconds) { return std::llround(seconds * 1e6); }

llvm::Error writeTiming(llvm::StringRef path, const BuildPlan &plan,
                        llvm::ArrayRef<VariantResult> results) {
  json::Array variants;
  for (auto [index, result] : llvm::enumerate(results)) {
    if (result.times.empty())
      continue;
    json::Array stages;
    for (const StageTime &time : result.times)
      stages.push_back(json::Object{{"stage", time.stage},
                                    {"cpu_us", microseconds(time.cpuSeconds)},
                                    {"wall_us", microseconds(time.wallSeconds)}});
    const CompileJob &job = plan.jobs[index];
    variants.push_back(json::Object{{"number", int64_t(index)},
                                    {"variant", job.label},
                                    {"target", plan.model.targets[job.target].name},
                                    {"failed", result.hasErrors() || !result.doesNotFit.empty()},
                                    {"stages", std::move(stages)}});
  }
  std::string text;
  llvm::raw_string_ostream(text) << llvm::formatv(
      "{0:2}\n", json::Value(json::Object{{"kiln_timing", 1}, {"variants", std::move(variants)}}));
  if (path == "-") {
    llvm::outs() << text;
    return llvm::Error::success();
  }
  llvm::StringRef folder = llvm::sys::path::parent_path(path);
  return writeOutputs(folder.empty() ? "." : folder,
                      OutputFile{llvm::sys::path::filename(path).str(), text});
}

} // namespace kiln
