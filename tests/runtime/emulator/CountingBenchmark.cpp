// What counting costs: real kernels on one core, with counting off and on, in thread-instructions
// per second (of the code in target operations, as counted); and its two parts taken alone.
//   bazel run //tests/runtime/emulator:CountingBenchmark

#include "matmul.h"
#include "softmax.h"
#include "tests/runtime/emulator/EmulatedBlock.h"
#include <benchmark/benchmark.h>
#include <cstdlib>
#include <cstring>

using namespace kiln::emulator::testing;

namespace {

/// An emulated GPU on one thread.
struct Gpu {
  Gpu() {
    kiln_cpu_pool_create(1, &pool);
    kiln_emulator_create("sm_80", pool, &emulator);
  }
  ~Gpu() {
    kiln_emulator_destroy(emulator);
    kiln_cpu_pool_destroy(pool);
  }
  uint64_t threadInstructions() const {
    uint64_t sum = 0;
    kiln_emulator_count count;
    for (uint32_t i = 0; kiln_emulator_count_at(emulator, i, &count) == KILN_SUCCESS; ++i)
      sum += count.thread_instructions;
    return sum;
  }
  kiln_cpu_pool *pool = nullptr;
  kiln_emulator *emulator = nullptr;
};

/// Zeros.
struct Memory {
  explicit Memory(size_t bytes) : data(std::aligned_alloc(128, (bytes + 127) / 128 * 128)) {
    std::memset(data, 0, bytes);
  }
  ~Memory() { std::free(data); }
  void *data;
};

/// `launch(stream)`; the state's argument says whether it is counted.
template <typename Launch> void measure(benchmark::State &state, Launch launch) {
  Gpu gpu;
  kiln_stream stream = kiln_emulator_stream(gpu.emulator);
  kiln_emulator_set_count(gpu.emulator, 1);
  if (launch(stream) != KILN_SUCCESS)
    return state.SkipWithError(kiln_last_error());
  uint64_t instructions = gpu.threadInstructions();
  kiln_emulator_set_count(gpu.emulator, int(state.range(0)));
  for (auto _ : state)
    launch(stream);
  state.counters["instructions"] = benchmark::Counter(
      double(state.iterations()) * double(instructions), benchmark::Counter::kIsRate);
}

void matmul(benchmark::State &state) {
  constexpr int n = 512;
  Memory a(2 * n * n), b(2 * n * n), c(2 * n * n);
  measure(state, [&](kiln_stream stream) {
    return matmul_f16(stream, a.data, b.data, c.data, n, n, n, n, 1, n, 1, n, 1);
  });
}
BENCHMARK(matmul)->ArgName("counted")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

void softmax(benchmark::State &state) {
  constexpr int rows = 128, columns = 1000;
  Memory x(4 * rows * columns), out(4 * rows * columns);
  measure(state, [&](kiln_stream stream) {
    return softmax_f32(stream, x.data, out.data, rows, columns, columns, columns);
  });
}
BENCHMARK(softmax)->ArgName("counted")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

COUNTED_SITE(loads, "benchmark", 1, 0, "shared load", 0);
constexpr uint32_t threads = 256, repeats = 1000;

/// `body` once for each round of a loop.
template <typename Body> void measureBlock(benchmark::State &state, Body body) {
  EmulatedBlock block;
  block.threads = threads;
  block.sharedBytes = 16 * threads;
  block.check = false;
  block.count = state.range(0) != 0;
  block.sites = {&loads};
  block.instructions = {{0, 1, 0, 0}};
  block.blocks = {{0, 1, 1, 0, KILN_EMU_NONE, KILN_EMU_NONE}};
  for (auto _ : state)
    block.run([&](kiln_emu_thread *t) {
      for (uint32_t i = 0; i < repeats; ++i)
        body(t);
    });
  state.counters["each"] = benchmark::Counter(double(state.iterations()) * threads * repeats,
                                              benchmark::Counter::kIsRate);
}

void basicBlock(benchmark::State &state) {
  measureBlock(state, [](kiln_emu_thread *t) {
    if (t->counting)
      kiln_emu_enter(t, 0);
    benchmark::DoNotOptimize(t->thread);
  });
}
BENCHMARK(basicBlock)->ArgName("counted")->Arg(0)->Arg(1);

void sharedLoad(benchmark::State &state) {
  measureBlock(state, [](kiln_emu_thread *t) {
    uint32_t words[4];
    if (t->counting)
      kiln_emu_enter(t, 0);
    kiln_emu_load(t, &loads, KILN_EMU_SHARED, t->shared + 16 * t->thread, words, 16, 16, 1);
    benchmark::DoNotOptimize(words[0]);
  });
}
BENCHMARK(sharedLoad)->ArgName("counted")->Arg(0)->Arg(1);

} // namespace
