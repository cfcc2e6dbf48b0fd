// One product of a warp group with its operands in shared memory, or A in registers: of any type
// and layout, as a program of which tests change parts, beside the sums in double precision.

#ifndef KILN_TESTS_RUNTIME_EMULATOR_WARPGROUPPRODUCT_H
#define KILN_TESTS_RUNTIME_EMULATOR_WARPGROUPPRODUCT_H

#include "tests/runtime/emulator/EmulatedBlock.h"
#include "tests/runtime/emulator/WarpGroupLayouts.h"
#include <cmath>
#include <cstring>
#include <functional>
#include <random>

namespace kiln::emulator::testing {

SITE(storeSite, "llvm.store", 10);
SITE(barrierSite, "nvvm.barrier0", 11);
SITE(fenceSite, "nvvm.fence.proxy", 12);
SITE(firstSite, "tilegpu.wgmma", 20);
SITE(secondSite, "tilegpu.wgmma", 21);
SITE(commitSite, "nvvm.wgmma.commit.group.sync.aligned", 22);
SITE(waitSite, "tilegpu.wgmma_wait", 23);
SITE(laterSite, "llvm.store", 30);

struct Type {
  uint32_t operand, accumulator, elementBytes;
  const char *name;
};
inline constexpr Type types[] = {
    {KILN_EMU_F16, KILN_EMU_F32, 2, "f16"},   {KILN_EMU_F16, KILN_EMU_F16, 2, "f16 in f16"},
    {KILN_EMU_BF16, KILN_EMU_F32, 2, "bf16"}, {KILN_EMU_TF32, KILN_EMU_F32, 4, "tf32"},
    {KILN_EMU_S8, KILN_EMU_S32, 1, "s8"},     {KILN_EMU_U8, KILN_EMU_S32, 1, "u8"},
    {KILN_EMU_E4M3, KILN_EMU_F32, 1, "e4m3"}, {KILN_EMU_E4M3, KILN_EMU_F16, 1, "e4m3 in f16"},
    {KILN_EMU_E5M2, KILN_EMU_F32, 1, "e5m2"},
};

inline uint32_t bitsOf(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return bits;
}
inline float floatOf(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}
/// A number that the format has, of `exponentBits` and `mantissaBits`: its f32 bits cut short.
inline uint32_t encode(float value, unsigned exponentBits, unsigned mantissaBits) {
  uint32_t bits = bitsOf(value), sign = bits >> 31 << (exponentBits + mantissaBits);
  if (!(bits << 1))
    return sign;
  uint32_t bias = (1u << (exponentBits - 1)) - 1, exponent = (bits >> 23 & 0xff) - 127 + bias;
  return sign | exponent << mantissaBits | (bits & 0x7fffff) >> (23 - mantissaBits);
}
inline float halfOf(uint16_t bits) {
  float magnitude = std::ldexp(float((bits & 0x3ff) + (bits & 0x7c00 ? 0x400 : 0)),
                               std::max(bits >> 10 & 31, 1) - 25);
  if ((bits & 0x7c00) == 0x7c00)
    magnitude = bits & 0x3ff ? NAN : INFINITY;
  return bits & 0x8000 ? -magnitude : magnitude;
}

/// A random element that is exact in the type, and its bits.
inline double element(std::mt19937 &random, uint32_t type, uint32_t &bits) {
  auto between = [&](int low, int high) { return int(random() % uint32_t(high - low + 1)) + low; };
  int eighths = between(-15, 15), quarters = between(-7, 7);
  float value = float(eighths) / 8;
  switch (type) {
  case KILN_EMU_F16:
    bits = encode(value, 5, 10);
    return value;
  case KILN_EMU_BF16:
    bits = bitsOf(value) >> 16;
    return value;
  case KILN_EMU_TF32: // the low bits are not looked at
    bits = bitsOf(value) | random() % 0x2000;
    return value;
  case KILN_EMU_E4M3:
    bits = encode(value, 4, 3);
    return value;
  case KILN_EMU_E5M2:
    bits = encode(float(quarters) / 4, 5, 2);
    return float(quarters) / 4;
  case KILN_EMU_S8:
    bits = uint8_t(between(-128, 127));
    return int8_t(bits);
  default:
    bits = uint8_t(between(0, 255));
    return bits;
  }
}

/// PTX ISA, "Register Fragments" of wgmma, "accumulator D": of a thread of the group.
inline uint32_t rowOf(uint32_t thread, uint32_t i) {
  return thread / 32 * 16 + thread % 32 / 4 + (i / 2 % 2) * 8;
}
inline uint32_t columnOf(uint32_t thread, uint32_t i) { return i / 4 * 8 + thread % 4 * 2 + i % 2; }

/// A product of 64 x K times K x n on one warp group, with what shared memory holds.
class Product {
public:
  Type type;
  uint32_t n, steps;
  bool hasRegistersOfA;
  SharedMatrix a, b;
  EmulatedBlock block;
  std::vector<double> sums;        ///< of 64 x n, with what was there before
  std::vector<uint32_t> initial;   ///< accumulators, thread by thread
  std::vector<uint32_t> registers; ///< A's, thread by thread
  std::vector<uint32_t> out;
  std::vector<unsigned char> image; ///< of shared memory
  kiln_emu_wgmma_product shape;

  Product(const Type &type, uint32_t n, uint32_t steps, bool hasRegistersOfA, uint32_t modeA,
          uint32_t modeB, bool transposeA, bool transposeB, unsigned seed)
      : type(type), n(n), steps(steps),
        hasRegistersOfA(hasRegistersOfA), a{1024, 64, steps, type.elementBytes, modeA, transposeA},
        b{1024 + (hasRegistersOfA ? 0 : a.bytes()), n, steps, type.elementBytes, modeB, transposeB},
        shape{n,          steps, type.operand, type.accumulator, hasRegistersOfA, transposeA,
              transposeB, 0} {
    b.base = (b.base + 1023) / 1024 * 1024;
    block.threads = 128;
    block.sharedBytes = b.base + b.bytes();
    fill(seed);
  }

  uint32_t words() const { return n / (type.accumulator == KILN_EMU_F16 ? 4 : 2); }

  /// All that a thread does before its product.
  void store(kiln_emu_thread *thread) const {
    for (uint32_t i = thread->thread * 16; i < image.size(); i += 128 * 16)
      kiln_emu_store(thread, &storeSite, KILN_EMU_SHARED, thread->shared + i, &image[i], 16, 16, 1);
  }
  static void fence(kiln_emu_thread *thread) { kiln_emu_proxy_fence(thread, &fenceSite); }
  static void barrier(kiln_emu_thread *thread) { kiln_emu_barrier(thread, &barrierSite, 0, 0); }
  static void commit(kiln_emu_thread *thread) { kiln_emu_wgmma_commit(thread, &commitSite); }
  void multiply(kiln_emu_thread *thread, const kiln_emu_site &site, uint32_t firstStep,
                uint32_t numSteps, uint32_t *accumulators, bool adds = true) const {
    kiln_emu_wgmma_product part = shape;
    part.steps = numSteps;
    std::vector<uint64_t> descriptorsA, descriptorsB;
    for (uint32_t step = firstStep; step < firstStep + numSteps; ++step) {
      descriptorsA.push_back(a.descriptor(step));
      descriptorsB.push_back(b.descriptor(step));
    }
    const uint32_t *own = &registers[(thread->thread * steps + firstStep) * 4];
    std::vector<uint32_t> result(words());
    kiln_emu_wgmma(thread, &site, &part,
                   hasRegistersOfA ? static_cast<const void *>(own) : descriptorsA.data(),
                   descriptorsB.data(), accumulators, adds, result.data());
    std::copy(result.begin(), result.end(), accumulators);
  }
  void wait(kiln_emu_thread *thread, uint32_t pending, uint32_t *accumulators) const {
    std::vector<uint32_t> result(words());
    kiln_emu_wgmma_wait(thread, &waitSite, pending, words(), accumulators, result.data());
    std::copy(result.begin(), result.end(), accumulators);
  }
  uint32_t *resultOf(kiln_emu_thread *thread) { return &out[thread->thread * words()]; }

  /// Runs `body` with the thread's accumulators, whose last values are the result.
  std::vector<std::string> run(std::function<void(kiln_emu_thread *, uint32_t *)> body) {
    out = initial;
    return block.run([&](kiln_emu_thread *thread) { body(thread, resultOf(thread)); });
  }
  /// The right program.
  std::vector<std::string> run() {
    return run([&](kiln_emu_thread *thread, uint32_t *accumulators) {
      store(thread), fence(thread), barrier(thread);
      multiply(thread, firstSite, 0, steps, accumulators), commit(thread);
      wait(thread, 0, accumulators);
    });
  }

  /// How many elements of the result are wrong.
  unsigned numWrong() const {
    unsigned wrong = 0;
    for (uint32_t thread = 0; thread < 128; ++thread)
      for (uint32_t i = 0; i < n / 2; ++i)
        wrong += !isNear(value(out, thread, i), sums[rowOf(thread, i) * n + columnOf(thread, i)]);
    return wrong;
  }

private:
  double value(const std::vector<uint32_t> &all, uint32_t thread, uint32_t i) const {
    const uint32_t *own = &all[thread * words()];
    if (type.accumulator == KILN_EMU_F16)
      return halfOf(uint16_t(own[i / 2] >> i % 2 * 16));
    return type.accumulator == KILN_EMU_S32 ? double(int32_t(own[i])) : double(floatOf(own[i]));
  }
  /// Everything is exact but sums in f16.
  bool isNear(double got, double wanted) const {
    double error = type.accumulator == KILN_EMU_F16 ? std::fabs(wanted) / 256 + 0.125 : 0;
    return std::fabs(got - wanted) <= error;
  }

  void fill(unsigned seed) {
    std::mt19937 random(seed);
    const uint32_t k = a.depth() * steps;
    std::vector<double> left(64 * k), right(n * k);
    image.assign(block.sharedBytes / 16 * 16, 0xff);
    registers.assign(128 * steps * 4, 0);
    for (uint32_t row = 0; row < 64; ++row)
      for (uint32_t i = 0; i < k; ++i) {
        uint32_t bits;
        left[row * k + i] = element(random, type.operand, bits);
        if (hasRegistersOfA)
          putInRegisters(row, i, bits);
        else
          std::memcpy(&image[a.address(row, i)], &bits, type.elementBytes);
      }
    for (uint32_t column = 0; column < n; ++column)
      for (uint32_t i = 0; i < k; ++i) {
        uint32_t bits;
        right[column * k + i] = element(random, type.operand, bits);
        std::memcpy(&image[b.address(column, i)], &bits, type.elementBytes);
      }
    initial.assign(128 * words(), 0);
    sums.assign(64 * n, 0);
    for (uint32_t thread = 0; thread < 128; ++thread)
      for (uint32_t i = 0; i < n / 2; ++i) {
        int start = int(random() % 64) - 32;
        sums[rowOf(thread, i) * n + columnOf(thread, i)] = start;
        uint32_t &word = initial[thread * words() + i * words() / (n / 2)];
        if (type.accumulator == KILN_EMU_F16)
          word |= encode(float(start), 5, 10) << i % 2 * 16;
        else
          word = type.accumulator == KILN_EMU_S32 ? uint32_t(start) : bitsOf(float(start));
      }
    for (uint32_t row = 0; row < 64; ++row)
      for (uint32_t column = 0; column < n; ++column)
        for (uint32_t i = 0; i < k; ++i)
          sums[row * n + column] += left[row * k + i] * right[column * k + i];
  }

  /// "Register Fragments" of wgmma, "matrix A": four registers hold rows groupID and groupID + 8 of
  /// the first half of k, then of the second.
  void putInRegisters(uint32_t row, uint32_t k, uint32_t bits) {
    uint32_t perRegister = 4 / type.elementBytes, step = k / a.depth(), inStep = k % a.depth();
    uint32_t half = inStep / (a.depth() / 2), inHalf = inStep % (a.depth() / 2);
    uint32_t thread = row / 16 * 32 + row % 8 * 4 + inHalf / perRegister;
    uint32_t reg = half * 2 + row % 16 / 8;
    registers[(thread * steps + step) * 4 + reg] |= bits
                                                    << inHalf % perRegister * 8 * type.elementBytes;
  }
};

} // namespace kiln::emulator::testing

#endif
