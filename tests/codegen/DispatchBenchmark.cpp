// What a call of a generated function costs on top of the driver, against the same driver's
// cuLaunchKernel called directly: `axpy` chooses among four variants with two promises and a grid;
// the others among 64, by promises, by conditions, by what was measured, and by the cost model. The
// driver does nothing, so the difference is dispatch. Shapes change from call to call, as branches
// that always go the same way cost nothing: among 4096, which are ever new ones to what a place
// keeps of choices, among 16, as those of a program are, and of rows alone, as those of a server
// whose prompts have any length. Run: bazel run //tests/codegen:DispatchBenchmark
#include "tests/codegen/dispatch/dispatch_kernels.h"
#include "tests/codegen/test_kernels.h"
#include <benchmark/benchmark.h>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <optional>

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
  void *driver = dlopen(kDriver, RTLD_NOW);
  if (!driver)
    return state.SkipWithError(dlerror());
  auto launch = reinterpret_cast<Launch>(dlsym(driver, "cuLaunchKernel"));
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

// Sizes in no order that a processor could learn.
constexpr unsigned numShapes = 4096;
struct Shape {
  int32_t rows, columns;
};
const Shape *shapes() {
  static Shape all[numShapes];
  uint32_t random = 1;
  for (Shape &shape : all) {
    random = random * 1664525 + 1013904223;
    shape.rows = int32_t(1 + (random >> 8) % 1024);
    shape.columns = int32_t(1024 + 16 * ((random >> 20) % 192));
  }
  return all;
}

using Product = kiln_status (*)(kiln_stream, const void *, const void *, void *, int32_t, int32_t);

void AmongSixtyFour(benchmark::State &state, Product product, unsigned numCalls,
                    std::optional<int32_t> columns = {}) {
  kiln_stream on = stream();
  kiln_device device;
  check(kiln_stream_device(on, &device));
  check(dispatch_kernels_prepare(device));
  const Shape *all = shapes();
  alignas(16) static char a[64];
  unsigned i = 0;
  for (auto _ : state) {
    const Shape &shape = all[i++ % numCalls];
    // Of eight sets of promises.
    char *array = a + (i & 1 ? 2 : 0);
    benchmark::DoNotOptimize(product(on, array, a, a, shape.rows, columns.value_or(shape.columns)));
  }
}
BENCHMARK_CAPTURE(AmongSixtyFour, promised, promised, numShapes);
BENCHMARK_CAPTURE(AmongSixtyFour, bounded, bounded, numShapes);
BENCHMARK_CAPTURE(AmongSixtyFour, measured, measured, numShapes);
BENCHMARK_CAPTURE(AmongSixtyFour, modelled, modelled, numShapes);
BENCHMARK_CAPTURE(AmongSixtyFour, promisedAgain, promised, 16);
BENCHMARK_CAPTURE(AmongSixtyFour, boundedAgain, bounded, 16);
BENCHMARK_CAPTURE(AmongSixtyFour, measuredAgain, measured, 16);
BENCHMARK_CAPTURE(AmongSixtyFour, modelledAgain, modelled, 16);
BENCHMARK_CAPTURE(AmongSixtyFour, promisedRows, promised, numShapes, 4096);
BENCHMARK_CAPTURE(AmongSixtyFour, measuredRows, measured, numShapes, 4096);
BENCHMARK_CAPTURE(AmongSixtyFour, modelledRows, modelled, numShapes, 4096);

} // namespace
