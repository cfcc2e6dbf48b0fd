// What a call of a generated function costs on top of the driver: `axpy` chooses among four
// variants with two promises and a grid, against the same driver's cuLaunchKernel called directly.
// The driver does nothing, so the difference is dispatch. Run: bazel run
// //tests/codegen:DispatchBenchmark
#include "tests/codegen/test_kernels.h"
#include <benchmark/benchmark.h>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>

namespace {

const char *const kDriver = "tests/runtime/libnullcuda.so";
alignas(16) float x[16], y[16];

kiln_stream stream() {
  kiln_set_driver_path(KILN_DRIVER_CUDA, kDriver);
  return kiln_cuda_stream(x);
}

void check(kiln_status status) {
  if (status == KILN_SUCCESS)
    return;
  std::fprintf(stderr, "%s\n", kiln_last_error());
  std::exit(1);
}

void DriverAlone(benchmark::State &state) {
  using Launch = int (*)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                         unsigned, void *, void **, void **);
  auto launch = reinterpret_cast<Launch>(dlsym(dlopen(kDriver, RTLD_NOW), "cuLaunchKernel"));
  int32_t n = 1000;
  float alpha = 1;
  void *px = x, *py = y, *params[] = {&px, &py, &n, &alpha};
  for (auto _ : state)
    benchmark::DoNotOptimize(launch(x, 4, 1, 1, 128, 1, 1, 0, x, params, nullptr));
}
BENCHMARK(DriverAlone);

void GeneratedCall(benchmark::State &state) {
  kiln_stream on = stream();
  check(axpy(on, x, y, 1000, 1.0f));
  for (auto _ : state)
    benchmark::DoNotOptimize(axpy(on, x, y, 1000, 1.0f));
}
BENCHMARK(GeneratedCall);

void GeneratedVariant(benchmark::State &state) {
  kiln_stream on = stream();
  check(axpy_variant(0, on, x, y, 1000, 1.0f));
  for (auto _ : state)
    benchmark::DoNotOptimize(axpy_variant(0, on, x, y, 1000, 1.0f));
}
BENCHMARK(GeneratedVariant);

void GeneratedPlan(benchmark::State &state) {
  axpy_plan plan;
  check(axpy_plan_init(&plan, stream(), x, y, 1000, 1.0f));
  for (auto _ : state)
    benchmark::DoNotOptimize(axpy_run(&plan, x, y, 1000, 1.0f));
}
BENCHMARK(GeneratedPlan);

} // namespace
