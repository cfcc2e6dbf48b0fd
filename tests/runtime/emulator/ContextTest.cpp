// A switch of stacks keeps what a function holds in registers, of every extension.

#include "runtime/emulator/Context.h"
#include <array>
#include <gtest/gtest.h>
#include <memory>

using kiln::emulator::Context;

namespace {

constexpr size_t stackBytes = 64 * 1024;

struct Fiber : Context {
  Context *other = nullptr;
  double seed = 0;
  bool keepsValues = true;
  std::unique_ptr<char[]> stack{new char[stackBytes]};

  void start(Entry entry) { prepare(stack.get() + stackBytes, stackBytes, entry); }
};

/// Two fibers switch to each other while both hold values in as many registers as they can.
template <typename Values> void expectKept() {
  Context outside;
  Fiber first, second;
  static Context *home;
  home = &outside;
  first.other = &second;
  second.other = &first;
  first.seed = 1;
  second.seed = 1000;
  first.start([](Context &self) KILN_SWITCHES {
    auto &fiber = static_cast<Fiber &>(self);
    Values::run(fiber);
    fiber.switchTo(*home);
  });
  second.start([](Context &self) KILN_SWITCHES {
    auto &fiber = static_cast<Fiber &>(self);
    Values::run(fiber);
    fiber.switchTo(*fiber.other);
  });
  outside.switchTo(first);
  EXPECT_TRUE(first.keepsValues);
  EXPECT_TRUE(second.keepsValues);
}

/// Values that only the seed tells, alive across the switch.
struct Scalars {
  KILN_SWITCHES static void run(Fiber &fiber) {
    volatile double seed = fiber.seed;
    std::array<double, 24> values;
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = seed + double(i);
    long double wide = seed / 3.0L;
    fiber.switchTo(*fiber.other);
    for (size_t i = 0; i < values.size(); ++i)
      fiber.keepsValues &= values[i] == seed + double(i);
    fiber.keepsValues &= wide == seed / 3.0L;
  }
};
TEST(Context, KeepsScalars) { expectKept<Scalars>(); }

#if defined(__x86_64__) && (defined(__clang__) || defined(__AVX512F__))
using Vector = double __attribute__((vector_size(64)));

struct Vectors512 {
  __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl"))) KILN_SWITCHES static void
  run(Fiber &fiber) {
    volatile double seed = fiber.seed;
    double s = seed;
    Vector a, b, c, d, e, f, g, h;
    asm volatile("vbroadcastsd %8, %0\n\tvaddpd %0, %0, %1\n\tvaddpd %0, %1, %2\n\t"
                 "vaddpd %0, %2, %3\n\tvaddpd %0, %3, %4\n\tvaddpd %0, %4, %5\n\t"
                 "vaddpd %0, %5, %6\n\tvaddpd %0, %6, %7"
                 : "=&v"(a), "=&v"(b), "=&v"(c), "=&v"(d), "=&v"(e), "=&v"(f), "=&v"(g), "=&v"(h)
                 : "v"(s));
    uint64_t bits = uint64_t(s), mask;
    asm volatile("kmovq %1, %0" : "=k"(mask) : "r"(bits));
    fiber.switchTo(*fiber.other);
    Vector sum = a + b + c + d + e + f + g + h;
    for (int i = 0; i < 8; ++i)
      fiber.keepsValues &= sum[i] == seed * 36;
    uint64_t after;
    asm volatile("kmovq %1, %0" : "=r"(after) : "k"(mask));
    fiber.keepsValues &= after == uint64_t(seed);
  }
};
TEST(Context, KeepsVectorsAndMasksOfAVX512) {
  if (!__builtin_cpu_supports("avx512bw") || !__builtin_cpu_supports("avx512vl"))
    GTEST_SKIP() << "this processor has no AVX-512";
  expectKept<Vectors512>();
}
#endif

} // namespace
