// Emulated thread-instructions per second on one core, by kind of instruction.
//   bazel run //tests/runtime/emulator:EmulatorBenchmark

#include "runtime/emulator/kiln_emu.h"
#include "tests/runtime/emulator/EmulatedBlock.h"
#include <benchmark/benchmark.h>

using namespace kiln::emulator::testing;

namespace {

SITE(site, "benchmark", 1);
constexpr uint32_t threads = 256, repeats = 1000;

/// `body` stands for `instructions` of each thread. It becomes part of the thread's function, as in
/// generated code.
template <typename Body>
void measure(benchmark::State &state, uint32_t instructions, Body body, uint32_t warpSize = 32) {
  EmulatedBlock block;
  block.threads = threads;
  block.warpSize = warpSize;
  block.sharedBytes = 16 * threads;
  block.check = false;
  for (auto _ : state)
    block.run([&](kiln_emu_thread *t) {
      for (uint32_t i = 0; i < repeats; ++i)
        body(t);
    });
  state.counters["instructions"] = benchmark::Counter(
      double(state.iterations()) * threads * repeats * instructions, benchmark::Counter::kIsRate);
}

void shuffle(benchmark::State &state) {
  measure(state, 1, [](kiln_emu_thread *t) {
    benchmark::DoNotOptimize(
        kiln_emu_shuffle(t, &site, KILN_EMU_SHUFFLE_XOR, ~0u, t->thread, 5, 31));
  });
}
BENCHMARK(shuffle);

/// As in a reduction: one after the other.
void shuffles(benchmark::State &state) {
  SITE(other, "benchmark", 2);
  SITE(third, "benchmark", 3);
  measure(state, 3, [](kiln_emu_thread *t) {
    uint32_t x = t->thread;
    x += kiln_emu_shuffle(t, &site, KILN_EMU_SHUFFLE_XOR, ~0u, x, 4, 31);
    x += kiln_emu_shuffle(t, &other, KILN_EMU_SHUFFLE_XOR, ~0u, x, 2, 31);
    x += kiln_emu_shuffle(t, &third, KILN_EMU_SHUFFLE_XOR, ~0u, x, 1, 31);
    benchmark::DoNotOptimize(x);
  });
}
BENCHMARK(shuffles);

void barrier(benchmark::State &state) {
  measure(state, 1, [](kiln_emu_thread *t) { kiln_emu_barrier(t, &site, 0, 0); });
}
BENCHMARK(barrier);

void sharedStoreAndLoad(benchmark::State &state) {
  measure(state, 2, [](kiln_emu_thread *t) {
    uint32_t words[4] = {};
    kiln_emu_store(t, &site, KILN_EMU_SHARED, t->shared + 16 * t->thread, words, 16, 16, 1);
    kiln_emu_load(t, &site, KILN_EMU_SHARED, t->shared + 16 * t->thread, words, 16, 16, 1);
    benchmark::DoNotOptimize(words[0]);
  });
}
BENCHMARK(sharedStoreAndLoad);

/// The shape's products of one thread are m * n * k / lanes.
void multiply(benchmark::State &state, const kiln_emu_matrix &matrix, uint32_t warpSize) {
  measure(
      state, 1,
      [&](kiln_emu_thread *t) {
        uint32_t a[8] = {}, b[8] = {};
        float c[16] = {};
        kiln_emu_multiply(t, &site, &matrix, a, b, c, c);
        benchmark::DoNotOptimize(c[0]);
      },
      warpSize);
}

void mma_m16n8k16(benchmark::State &state) {
  multiply(state, {KILN_EMU_MMA_SYNC, 16, 8, 16, KILN_EMU_F16, KILN_EMU_F16, KILN_EMU_F32, 0}, 32);
}
BENCHMARK(mma_m16n8k16);

void mfma_16x16x16(benchmark::State &state) {
  multiply(state, {KILN_EMU_MFMA, 16, 16, 16, KILN_EMU_BF16, KILN_EMU_BF16, KILN_EMU_F32, 0}, 64);
}
BENCHMARK(mfma_16x16x16);

void mfma_32x32x8(benchmark::State &state) {
  multiply(state, {KILN_EMU_MFMA, 32, 32, 8, KILN_EMU_F16, KILN_EMU_F16, KILN_EMU_F32, 0}, 64);
}
BENCHMARK(mfma_32x32x8);

void wmma_gfx11(benchmark::State &state) {
  multiply(state, {KILN_EMU_WMMA_GFX11, 16, 16, 16, KILN_EMU_F16, KILN_EMU_F16, KILN_EMU_F32, 0},
           32);
}
BENCHMARK(wmma_gfx11);

} // namespace
