// What a call of a generated function costs on top of the driver, against the same driver's
// cuLaunchKernel called directly: `axpy` chooses among four variants with two promises and a grid;
// the others among 64, by promises, by conditions, by what was measured, and by the cost model. The
// driver does nothing, so the difference is dispatch. Shapes change from call to call, as branches
// that always go the same way cost nothing: ever new ones, of which hardly one comes again;
// thousands that come again, which it keeps; rows alone, as of a server whose prompts have any
// length; and sixteen, as those of a program are. Run: bazel run //tests/codegen:DispatchBenchmark
#include "tests/codegen/dispatch/dispatch_kernels.h"
#include "tests/codegen/test_kernels.h"
#include <algorithm>
#include <benchmark/benchmark.h>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <iterator>
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
class RandomShapes {
public:
  RandomShapes(uint32_t mostRows, uint32_t mostColumns, uint64_t seed = 1)
      : mostRows(mostRows), mostColumns(mostColumns), random(seed) {}

  Shape next() {
    random = random * 6364136223846793005 + 1442695040888963407;
    return {int32_t(1 + below(random >> 32, mostRows)),
            int32_t(1024 + 16 * below(random & UINT32_MAX, mostColumns))};
  }

private:
  static uint64_t below(uint64_t bits, uint64_t most) { return bits * most >> 32; }

  const uint32_t mostRows, mostColumns;
  uint64_t random;
};

/// So many shapes again and again.
class RepeatedShapes {
public:
  RepeatedShapes(unsigned count, uint32_t mostRows, uint32_t mostColumns) {
    RandomShapes random(mostRows, mostColumns);
    std::generate_n(std::back_inserter(all), count, [&] { return random.next(); });
  }

  Shape next() { return all[at++ % all.size()]; }

private:
  std::vector<Shape> all;
  size_t at = 0;
};

using Product = kiln_status (*)(kiln_stream, const void *, const void *, void *, int32_t, int32_t);

template <typename Shapes>
void amongSixtyFour(benchmark::State &state, Product product, Shapes shapes) {
  kiln_stream on = stream();
  kiln_device device;
  check(kiln_stream_device(on, &device));
  check(dispatch_kernels_prepare(device));
  alignas(16) static char a[64];
  unsigned i = 0;
  for (auto _ : state) {
    Shape shape = shapes.next();
    // Of eight sets of promises.
    char *array = a + (i++ & 1 ? 2 : 0);
    benchmark::DoNotOptimize(product(on, array, a, a, shape.rows, shape.columns));
  }
}

/// Others in each run, as a benchmark has several.
void EverNew(benchmark::State &state, Product product) {
  static uint64_t seed = 0;
  amongSixtyFour(state, product, RandomShapes(16384, 2048, ++seed));
}
BENCHMARK_CAPTURE(EverNew, promised, promised);
BENCHMARK_CAPTURE(EverNew, measured, measured);
BENCHMARK_CAPTURE(EverNew, modelled, modelled);

void Thousands(benchmark::State &state, Product product) {
  amongSixtyFour(state, product, RepeatedShapes(4096, 1024, 192));
}
BENCHMARK_CAPTURE(Thousands, promised, promised);
BENCHMARK_CAPTURE(Thousands, bounded, bounded);
BENCHMARK_CAPTURE(Thousands, measured, measured);
BENCHMARK_CAPTURE(Thousands, modelled, modelled);

void Sixteen(benchmark::State &state, Product product) {
  amongSixtyFour(state, product, RepeatedShapes(16, 1024, 192));
}
BENCHMARK_CAPTURE(Sixteen, promised, promised);
BENCHMARK_CAPTURE(Sixteen, bounded, bounded);
BENCHMARK_CAPTURE(Sixteen, measured, measured);
BENCHMARK_CAPTURE(Sixteen, modelled, modelled);

void RowsAlone(benchmark::State &state, Product product) {
  amongSixtyFour(state, product, RepeatedShapes(4096, 1024, 1));
}
BENCHMARK_CAPTURE(RowsAlone, promised, promised);
BENCHMARK_CAPTURE(RowsAlone, measured, measured);
BENCHMARK_CAPTURE(RowsAlone, modelled, modelled);

} // namespace
