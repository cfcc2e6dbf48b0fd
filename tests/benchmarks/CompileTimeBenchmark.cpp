// How long a variant takes, stage by stage, on one core: `kiln build` of a spec without the
// processes around it.
//
//   bazel run //tests/benchmarks:compile_time -- kernels/matmul/matmul.json
//
// One benchmark for each variant and target of the spec; the counters are milliseconds of CPU
// of the stages.

#include "compiler/Driver/Jobs/CompileVariant.h"
#include "compiler/Driver/Session/Session.h"
#include <benchmark/benchmark.h>

using namespace kiln;

namespace {

void compile(benchmark::State &state, const BuildPlan &plan, unsigned index, ModuleLoader &loader,
             const CompilerOptions &options) {
  std::vector<StageTime> total;
  for (auto _ : state) {
    VariantResult result = compileVariant(plan, plan.jobs[index], loader, options, {});
    if (!result.binary) {
      state.SkipWithError(result.diagnostics.empty() ? "no binary"
                                                     : result.diagnostics.front().text.c_str());
      return;
    }
    total.resize(result.times.size());
    for (size_t i = 0; i < total.size(); ++i) {
      total[i].stage = result.times[i].stage;
      total[i].cpuSeconds += result.times[i].cpuSeconds;
    }
  }
  for (const StageTime &time : total)
    state.counters[time.stage + "_ms"] =
        benchmark::Counter(time.cpuSeconds * 1e3, benchmark::Counter::kAvgIterations);
}

} // namespace

int main(int argc, char **argv) {
  benchmark::Initialize(&argc, argv);
  CompilerOptions options;
  options.quiet = true;
  Session session(options);
  for (int i = 1; i < argc; ++i) {
    auto spec = session.readSpecFile(argv[i], "");
    auto plan = spec ? session.plan(*spec, argv[i]) : std::nullopt;
    if (!plan)
      return 1;
    // Lives as long as the benchmarks.
    auto *kept = new BuildPlan(std::move(*plan));
    for (unsigned index = 0; index < kept->jobs.size(); ++index) {
      std::string name =
          kept->jobs[index].label + " " + kept->model.targets[kept->jobs[index].target].name;
      benchmark::RegisterBenchmark(name.c_str(), [=, &session, &options](benchmark::State &state) {
        compile(state, *kept, index, session.loader, options);
      })->Unit(benchmark::kMillisecond);
    }
  }
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
