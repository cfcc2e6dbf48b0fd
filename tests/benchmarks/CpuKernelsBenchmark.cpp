// Kernels compiled for this machine's CPU, on one thread, beside OpenBLAS and memcpy.
//
//   bazel run //tests/benchmarks:cpu_kernels
//
// Quote ratios from one run: the machine's own speed varies.

#include "benchmark_kernels.h"
#include <benchmark/benchmark.h>
#include <cblas.h>
#include <cstring>
#include <random>
#include <vector>

extern "C" void openblas_set_num_threads(int);

namespace {

std::vector<float> randomFloats(size_t count) {
  std::mt19937 generator(1);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> values(count);
  for (float &value : values)
    value = uniform(generator);
  return values;
}

kiln_stream oneThread() {
  static kiln_cpu_pool *pool = nullptr;
  if (!pool)
    kiln_cpu_pool_create(1, &pool);
  return kiln_cpu_stream(pool);
}

void flops(benchmark::State &state, double perIteration) {
  state.counters["GFLOP/s"] =
      benchmark::Counter(perIteration * 1e-9, benchmark::Counter::kIsIterationInvariantRate);
}

void kilnSgemm(benchmark::State &state) {
  int n = state.range(0);
  auto a = randomFloats(n * n), b = randomFloats(n * n), c = randomFloats(n * n);
  for (auto _ : state)
    if (matmul_f32(oneThread(), a.data(), b.data(), c.data(), n, n, n, n, 1, n, 1, n, 1) !=
        KILN_SUCCESS)
      state.SkipWithError(kiln_last_error());
  flops(state, 2.0 * n * n * n);
}
BENCHMARK(kilnSgemm)->Arg(256)->Arg(512)->Arg(1024);

void openblasSgemm(benchmark::State &state) {
  openblas_set_num_threads(1);
  int n = state.range(0);
  auto a = randomFloats(n * n), b = randomFloats(n * n), c = randomFloats(n * n);
  for (auto _ : state)
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, a.data(), n, b.data(), n, 0,
                c.data(), n);
  flops(state, 2.0 * n * n * n);
}
BENCHMARK(openblasSgemm)->Arg(256)->Arg(512)->Arg(1024);

void kilnVectorAdd(benchmark::State &state) {
  int n = state.range(0);
  auto x = randomFloats(n), y = randomFloats(n), out = randomFloats(n);
  for (auto _ : state)
    if (vector_add_f32(oneThread(), x.data(), y.data(), out.data(), n) != KILN_SUCCESS)
      state.SkipWithError(kiln_last_error());
  state.SetBytesProcessed(int64_t(state.iterations()) * n * 12);
}
BENCHMARK(kilnVectorAdd)->Arg(1 << 14)->Arg(1 << 24);

void memcpyBandwidth(benchmark::State &state) {
  int n = state.range(0);
  auto x = randomFloats(n), out = randomFloats(n);
  for (auto _ : state) {
    std::memcpy(out.data(), x.data(), n * sizeof(float));
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(int64_t(state.iterations()) * n * 8);
}
BENCHMARK(memcpyBandwidth)->Arg(1 << 14)->Arg(1 << 24);

void kilnSoftmax(benchmark::State &state) {
  int columns = state.range(0), rows = (1 << 20) / columns;
  auto x = randomFloats(rows * columns), out = randomFloats(rows * columns);
  for (auto _ : state)
    if (softmax_f32(oneThread(), x.data(), out.data(), rows, columns, columns, columns) !=
        KILN_SUCCESS)
      state.SkipWithError(kiln_last_error());
  state.SetBytesProcessed(int64_t(state.iterations()) * rows * columns * 8);
}
BENCHMARK(kilnSoftmax)->Arg(1024);

} // namespace
