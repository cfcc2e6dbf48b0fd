//===- EmitBenchmark.cpp - Time from LLVM IR to a binary, per target -----------===//

#include "benchmark/benchmark.h"
#include "tests/compiler/Target/EveryScalarKernel.h"

using namespace kiln;
using namespace kiln::testing;

static void emitEveryScalar(benchmark::State &state, std::string name) {
  TargetInfo info = target(name);
  size_t size = 0;
  for (auto _ : state)
    size = llvm::cantFail(emitText(everyScalarKernel(), everyScalarFacts(info), info)).bytes.size();
  state.counters["bytes"] = static_cast<double>(size);
}

int main(int argc, char **argv) {
  for (const char *name : {"cuda:compute_80", "cuda:sm_80", "cuda:sm_90a", "cuda:sm_120a",
                           "hip:gfx942", "hip:gfx1100"})
    benchmark::RegisterBenchmark(name, emitEveryScalar, name)->Unit(benchmark::kMillisecond);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
