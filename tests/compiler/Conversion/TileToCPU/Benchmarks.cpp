// Generated kernels on one thread, beside OpenBLAS (sgemm) and memcpy.
//
//     bazel run //tests/compiler/Conversion/TileToCPU:Benchmarks

#include "tests/compiler/Conversion/TileToCPU/KernelRunner.h"
#include "tests/compiler/Conversion/TileToCPU/KernelText.h"
#include <benchmark/benchmark.h>
#include <cblas.h>
#include <cstring>
#include <random>

using namespace kiln::test;

namespace {

std::vector<float> randomFloats(size_t count) {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> distribution(-1, 1);
  std::vector<float> values(count);
  for (float &value : values)
    value = distribution(random);
  return values;
}

void reportFlops(benchmark::State &state, double flops) {
  state.counters["GFLOPS"] =
      benchmark::Counter(flops * double(state.iterations()) / 1e9, benchmark::Counter::kIsRate);
}

void matmul(benchmark::State &state, MatmulShape tile) {
  int n = state.range(0), one = 1;
  CompiledKernel kernel(matmulText(tile, UnitStrides::RowMajor));
  std::vector<float> a = randomFloats(n * n), b = randomFloats(n * n), c(n * n);
  float *pa = a.data(), *pb = b.data(), *pc = c.data();
  CompiledKernel::Grid grid = {uint32_t((n + tile.n - 1) / tile.n),
                               uint32_t((n + tile.m - 1) / tile.m), 1};
  for (auto _ : state)
    kernel.launch(grid, {&pa, &pb, &pc, &n, &n, &n, &n, &one, &n, &one, &n});
  reportFlops(state, 2.0 * n * n * n);
  state.counters["compile_ms"] = kernel.compileSeconds * 1e3;
}
void matmulOfTransposed(benchmark::State &state) {
  int n = state.range(0), one = 1;
  CompiledKernel kernel(matmulText({64, 64, 64}, UnitStrides::ColumnMajorB));
  std::vector<float> a = randomFloats(n * n), b = randomFloats(n * n), c(n * n);
  float *pa = a.data(), *pb = b.data(), *pc = c.data();
  for (auto _ : state)
    kernel.launch({uint32_t(n / 64), uint32_t(n / 64), 1},
                  {&pa, &pb, &pc, &n, &n, &n, &n, &one, &one, &n, &n});
  reportFlops(state, 2.0 * n * n * n);
}
BENCHMARK(matmulOfTransposed)->Arg(512);
BENCHMARK_CAPTURE(matmul, tile_32x32x32, MatmulShape{32, 32, 32})->Arg(512);
BENCHMARK_CAPTURE(matmul, tile_64x64x32, MatmulShape{64, 64, 32})->Arg(512);
BENCHMARK_CAPTURE(matmul, tile_64x64x64, MatmulShape{64, 64, 64})->Arg(512)->Arg(1024);
BENCHMARK_CAPTURE(matmul, tile_128x128x64, MatmulShape{128, 128, 64})->Arg(512);
BENCHMARK_CAPTURE(matmul, tile_128x256x64, MatmulShape{128, 256, 64})->Arg(512);

void openblas(benchmark::State &state) {
  openblas_set_num_threads(1);
  int n = state.range(0);
  std::vector<float> a = randomFloats(n * n), b = randomFloats(n * n), c(n * n);
  for (auto _ : state)
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, a.data(), n, b.data(), n, 0,
                c.data(), n);
  reportFlops(state, 2.0 * n * n * n);
}
BENCHMARK(openblas)->Arg(512)->Arg(1024);

void reportBytes(benchmark::State &state, size_t bytes) {
  state.SetBytesProcessed(int64_t(state.iterations() * bytes));
}

void copyMemory(benchmark::State &state) {
  std::vector<float> from = randomFloats(state.range(0)), to(state.range(0));
  for (auto _ : state) {
    std::memcpy(to.data(), from.data(), from.size() * 4);
    benchmark::ClobberMemory();
  }
  reportBytes(state, from.size() * 8);
}
BENCHMARK(copyMemory)->Arg(1 << 14)->Arg(1 << 24);

void vectorAdd(benchmark::State &state) {
  int n = state.range(0);
  CompiledKernel kernel(vectorAddText(1024));
  std::vector<float> x = randomFloats(n), y = randomFloats(n), z(n);
  float *px = x.data(), *py = y.data(), *pz = z.data();
  for (auto _ : state)
    kernel.launch({uint32_t(n + 1023) / 1024, 1, 1}, {&px, &py, &pz, &n});
  reportBytes(state, size_t(n) * 12);
}
BENCHMARK(vectorAdd)->Arg(1 << 14)->Arg(1 << 24);

void softmax(benchmark::State &state) {
  int rows = 1024, n = state.range(0);
  CompiledKernel kernel(softmaxText(4096));
  std::vector<float> x = randomFloats(rows * n), z(rows * n);
  float *px = x.data(), *pz = z.data();
  for (auto _ : state)
    kernel.launch({uint32_t(rows), 1, 1}, {&pz, &px, &n, &n});
  reportBytes(state, size_t(n) * rows * 8);
}
BENCHMARK(softmax)->Arg(4096)->Arg(3000);

} // namespace
