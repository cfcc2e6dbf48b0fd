// What a call of a generated function costs on top of the driver, against the same driver's
// cuLaunchKernel called directly: `axpy` chooses among four variants with two promises and a grid;
// the others among 64, by promises, by conditions, by what was measured, and by the cost model. The
// driver does nothing, so the difference is dispatch. Shapes change from call to call, as branches
// that always go the same way cost nothing: ever new ones, more than a place keeps choices for;
// thousands that come again, which it keeps; rows alone, as of a server whose prompts have any
// length; and sixteen, as those of a program are. Run: bazel run //tests/codegen:DispatchBenchmark
#include "tests/codegen/dispatch/dispatch_kernels.h"
#include "tests/codegen/test_kernels.h"
#include <benchmark/benchmark.h>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <vector>

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

struct Shape {
  int32_t rows, columns;
};

/// Sizes in no order that a processor could learn.
std::vector<Shape> shapes(unsigned count, uint32_t mostRows, uint32_t mostColumns) {
  std::vector<Shape> all(count);
  uint32_t random = 1;
  for (Shape &shape : all) {
    random = random * 1664525 + 1013904223;
    shape.rows = int32_t(1 + (random >> 8) % mostRows);
    shape.columns = int32_t(1024 + 16 * ((random >> 20) % mostColumns));
  }
  return all;
}

const std::vector<Shape> everNew = shapes(1 << 17, 16384, 2048),
                         thousands = shapes(4096, 1024, 192), sixteen = shapes(16, 1024, 192),
                         rowsAlone = shapes(4096, 1024, 1);

using Product = kiln_status (*)(kiln_stream, const void *, const void *, void *, int32_t, int32_t);

void AmongSixtyFour(benchmark::State &state, Product product, const std::vector<Shape> &all) {
  kiln_stream on = stream();
  kiln_device device;
  check(kiln_stream_device(on, &device));
  check(dispatch_kernels_prepare(device));
  alignas(16) static char a[64];
  unsigned i = 0;
  for (auto _ : state) {
    const Shape &shape = all[i++ % all.size()];
    // Of eight sets of promises.
    char *array = a + (i & 1 ? 2 : 0);
    benchmark::DoNotOptimize(product(on, array, a, a, shape.rows, shape.columns));
  }
}
BENCHMARK_CAPTURE(AmongSixtyFour, promised, promised, everNew);
BENCHMARK_CAPTURE(AmongSixtyFour, measured, measured, everNew);
BENCHMARK_CAPTURE(AmongSixtyFour, modelled, modelled, everNew);
BENCHMARK_CAPTURE(AmongSixtyFour, promisedThousands, promised, thousands);
BENCHMARK_CAPTURE(AmongSixtyFour, boundedThousands, bounded, thousands);
BENCHMARK_CAPTURE(AmongSixtyFour, measuredThousands, measured, thousands);
BENCHMARK_CAPTURE(AmongSixtyFour, modelledThousands, modelled, thousands);
BENCHMARK_CAPTURE(AmongSixtyFour, promisedAgain, promised, sixteen);
BENCHMARK_CAPTURE(AmongSixtyFour, boundedAgain, bounded, sixteen);
BENCHMARK_CAPTURE(AmongSixtyFour, measuredAgain, measured, sixteen);
BENCHMARK_CAPTURE(AmongSixtyFour, modelledAgain, modelled, sixteen);
BENCHMARK_CAPTURE(AmongSixtyFour, promisedRows, promised, rowsAlone);
BENCHMARK_CAPTURE(AmongSixtyFour, measuredRows, measured, rowsAlone);
BENCHMARK_CAPTURE(AmongSixtyFour, modelledRows, modelled, rowsAlone);

} // namespace
