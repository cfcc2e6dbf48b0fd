// Products of warp groups of every type, form and layout against sums in double precision, and
// mistakes that give a wrong result or a finding in every run.

#include "tests/runtime/emulator/EmulatedBlock.h"
#include "tests/runtime/emulator/WarpGroupLayouts.h"
#include <cmath>
#include <cstring>
#include <random>

using namespace kiln::emulator::testing;

namespace {

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
constexpr Type types[] = {
    {KILN_EMU_F16, KILN_EMU_F32, 2, "f16"},   {KILN_EMU_F16, KILN_EMU_F16, 2, "f16 in f16"},
    {KILN_EMU_BF16, KILN_EMU_F32, 2, "bf16"}, {KILN_EMU_TF32, KILN_EMU_F32, 4, "tf32"},
    {KILN_EMU_S8, KILN_EMU_S32, 1, "s8"},     {KILN_EMU_U8, KILN_EMU_S32, 1, "u8"},
    {KILN_EMU_E4M3, KILN_EMU_F32, 1, "e4m3"}, {KILN_EMU_E4M3, KILN_EMU_F16, 1, "e4m3 in f16"},
    {KILN_EMU_E5M2, KILN_EMU_F32, 1, "e5m2"},
};

uint32_t bitsOf(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return bits;
}
float floatOf(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}
/// A number that the format has, of `exponentBits` and `mantissaBits`: its f32 bits cut short.
uint32_t encode(float value, unsigned exponentBits, unsigned mantissaBits) {
  uint32_t bits = bitsOf(value), sign = bits >> 31 << (exponentBits + mantissaBits);
  if (!(bits << 1))
    return sign;
  uint32_t bias = (1u << (exponentBits - 1)) - 1, exponent = (bits >> 23 & 0xff) - 127 + bias;
  return sign | exponent << mantissaBits | (bits & 0x7fffff) >> (23 - mantissaBits);
}
float halfOf(uint16_t bits) {
  float magnitude = std::ldexp(float((bits & 0x3ff) + (bits & 0x7c00 ? 0x400 : 0)),
                               std::max(bits >> 10 & 31, 1) - 25);
  if ((bits & 0x7c00) == 0x7c00)
    magnitude = bits & 0x3ff ? NAN : INFINITY;
  return bits & 0x8000 ? -magnitude : magnitude;
}

/// A random element that is exact in the type, and its bits.
double element(std::mt19937 &random, uint32_t type, uint32_t &bits) {
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
uint32_t rowOf(uint32_t thread, uint32_t i) {
  return thread / 32 * 16 + thread % 32 / 4 + (i / 2 % 2) * 8;
}
uint32_t columnOf(uint32_t thread, uint32_t i) { return i / 4 * 8 + thread % 4 * 2 + i % 2; }

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

void expectRight(Product &product, const std::string &what) {
  std::vector<std::string> reports = product.run();
  EXPECT_EQ(product.numWrong(), 0u) << what;
  EXPECT_TRUE(reports.empty()) << what << ": " << reports[0];
}

TEST(WarpGroup, EveryTypeSwizzleAndSize) {
  for (const Type &type : types)
    for (uint32_t n : {8u, 64u, 128u, 256u})
      for (uint32_t mode = 0; mode < 4; ++mode)
        for (bool hasRegisters : {false, true}) {
          Product product(type, n, 3, hasRegisters, mode, (mode + n / 64) % 4, false, false,
                          n + mode);
          expectRight(product, std::string(type.name) + ", n " + std::to_string(n) + ", mode " +
                                   std::to_string(mode) + (hasRegisters ? ", registers" : ""));
        }
}

TEST(WarpGroup, TransposedMatrices) {
  for (const Type &type : types)
    for (uint32_t n : {8u, 64u, 128u, 256u})
      for (uint32_t mode = 0; mode < 4 && type.elementBytes == 2; ++mode)
        for (int transposed = 1; transposed < 5; ++transposed) {
          bool hasRegisters = transposed == 4;
          Product product(type, n, 3, hasRegisters, mode, (mode + n / 64) % 4,
                          !hasRegisters && transposed & 1, hasRegisters || transposed & 2,
                          n + mode);
          expectRight(product, std::string(type.name) + ", n " + std::to_string(n) + ", mode " +
                                   std::to_string(mode) + ", transposed " +
                                   std::to_string(transposed));
        }
}

TEST(WarpGroup, OddSizes) {
  for (uint32_t n : {24u, 40u, 176u, 248u}) {
    Product product(types[0], n, 1, false, 1, 2, false, false, n);
    expectRight(product, std::to_string(n));
  }
}

/// The second product adds to what the first has not made yet; its wait leaves it in flight, too.
TEST(WarpGroup, ProductsInFlightChain) {
  for (const Type &type : types) {
    Product product(type, 64, 3, false, 1, 1, false, false, 3);
    std::vector<std::string> reports =
        product.run([&](kiln_emu_thread *thread, uint32_t *accumulators) {
          product.store(thread), product.fence(thread), product.barrier(thread);
          for (uint32_t step = 0; step < 3; ++step) {
            product.multiply(thread, firstSite, step, 1, accumulators), product.commit(thread);
            product.wait(thread, 1, accumulators);
          }
          product.wait(thread, 0, accumulators);
        });
    EXPECT_EQ(product.numWrong(), 0u) << type.name;
    EXPECT_TRUE(reports.empty()) << reports[0];
  }
}

/// In any order, each accumulator has its own product's value.
TEST(WarpGroup, OneWaitTakesTheAccumulatorsOfSeveralProducts) {
  for (const Type &type : types) {
    Product product(type, 32, 2, false, 1, 1, false, false, 4);
    const uint32_t words = product.words();
    std::vector<std::string> reports = product.run([&](kiln_emu_thread *thread,
                                                       uint32_t *accumulators) {
      product.store(thread), product.fence(thread), product.barrier(thread);
      std::vector<uint32_t> all(words, 0);
      product.multiply(thread, firstSite, 0, 1, all.data());
      product.multiply(thread, secondSite, 0, 2, accumulators), product.commit(thread);
      all.insert(all.end(), accumulators, accumulators + words);
      std::vector<uint32_t> results(all.size());
      kiln_emu_wgmma_wait(thread, &waitSite, 0, uint32_t(all.size()), all.data(), results.data());
      std::copy(results.begin() + words, results.end(), accumulators);
    });
    EXPECT_EQ(product.numWrong(), 0u) << type.name;
    EXPECT_TRUE(reports.empty()) << reports[0];
  }
}

/// Accumulators that are not added to may hold anything.
TEST(WarpGroup, AFalsePredicateOverwrites) {
  Product product(types[0], 64, 2, false, 3, 1, false, false, 5);
  for (uint32_t thread = 0; thread < 128; ++thread)
    for (uint32_t i = 0; i < 32; ++i)
      product.sums[rowOf(thread, i) * 64 + columnOf(thread, i)] -=
          floatOf(product.initial[thread * 32 + i]);
  std::fill(product.initial.begin(), product.initial.end(), ~0u);
  std::vector<std::string> reports =
      product.run([&](kiln_emu_thread *thread, uint32_t *accumulators) {
        product.store(thread), product.fence(thread), product.barrier(thread);
        product.multiply(thread, firstSite, 0, 1, accumulators, false);
        product.multiply(thread, secondSite, 1, 1, accumulators), product.commit(thread);
        product.wait(thread, 0, accumulators);
      });
  EXPECT_EQ(product.numWrong(), 0u);
  EXPECT_TRUE(reports.empty()) << reports[0];
}

TEST(WarpGroup, AccumulatorsAreNotThereBeforeTheWait) {
  for (const Type &type : types) {
    Product product(type, 64, 2, false, 1, 1, false, false, 6);
    std::vector<std::string> reports =
        product.run([&](kiln_emu_thread *thread, uint32_t *accumulators) {
          product.store(thread), product.fence(thread), product.barrier(thread);
          product.multiply(thread, firstSite, 0, 2, accumulators), product.commit(thread);
          std::vector<uint32_t> early(accumulators, accumulators + product.words());
          product.wait(thread, 0, accumulators);
          std::copy(early.begin(), early.end(), accumulators);
        });
    EXPECT_EQ(product.numWrong(), 64u * 64u) << type.name;
    EXPECT_TRUE(reports.empty()) << reports[0];
  }
}

TEST(WarpGroup, OneTooManyInFlight) {
  Product product(types[0], 64, 2, false, 1, 1, false, false, 7);
  std::vector<std::string> reports =
      product.run([&](kiln_emu_thread *thread, uint32_t *accumulators) {
        product.store(thread), product.fence(thread), product.barrier(thread);
        product.multiply(thread, firstSite, 0, 1, accumulators), product.commit(thread);
        product.multiply(thread, secondSite, 1, 1, accumulators), product.commit(thread);
        product.wait(thread, 1, accumulators);
      });
  EXPECT_EQ(product.numWrong(), 64u * 64u);
  EXPECT_TRUE(oneReport(reports,
                        "kernel.py:21:5: kernel, program (2, 1, 0), thread 0: tilegpu.wgmma:"
                        " expected the product to be waited for"));
}

TEST(WarpGroup, AProductThatIsNotCommitted) {
  Product product(types[0], 64, 1, false, 1, 1, false, false, 8);
  std::vector<std::string> reports =
      product.run([&](kiln_emu_thread *thread, uint32_t *accumulators) {
        product.store(thread), product.fence(thread), product.barrier(thread);
        product.multiply(thread, firstSite, 0, 1, accumulators);
        product.wait(thread, 0, accumulators);
      });
  EXPECT_EQ(product.numWrong(), 64u * 64u);
  EXPECT_TRUE(anyReport(reports, "kernel.py:23:5: "));
  EXPECT_TRUE(anyReport(reports, "expected wgmma.commit_group between a product and the wait"));
}

/// The program with something else in place of its fence and barrier.
std::vector<std::string> synchronised(Product &product,
                                      std::function<void(kiln_emu_thread *)> between) {
  return product.run([&](kiln_emu_thread *thread, uint32_t *accumulators) {
    product.store(thread), between(thread);
    product.multiply(thread, firstSite, 0, product.steps, accumulators), product.commit(thread);
    product.wait(thread, 0, accumulators);
  });
}

TEST(WarpGroup, AMissingOrLateProxyFenceIsFound) {
  Product product(types[0], 64, 1, false, 1, 1, false, false, 9);
  const char *message = "expected fence.proxy.async by thread ";
  EXPECT_TRUE(oneReport(synchronised(product, Product::barrier), message));
  EXPECT_TRUE(oneReport(synchronised(product,
                                     [](kiln_emu_thread *thread) {
                                       Product::barrier(thread), Product::fence(thread);
                                     }),
                        message));
  EXPECT_TRUE(oneReport(synchronised(product,
                                     [](kiln_emu_thread *thread) {
                                       if (thread->thread != 72)
                                         Product::fence(thread);
                                       Product::barrier(thread);
                                     }),
                        "expected fence.proxy.async by thread 72 between its store at kernel.py:10 "
                        "(llvm.store) and the barrier before the product that reads it"));
  EXPECT_TRUE(synchronised(product, [](kiln_emu_thread *thread) {
                Product::fence(thread), Product::barrier(thread);
              }).empty());
}

TEST(WarpGroup, AMissingBarrierIsARace) {
  Product product(types[0], 64, 1, false, 1, 1, false, false, 10);
  EXPECT_TRUE(anyReport(synchronised(product, Product::fence), "race on shared memory"));
}

TEST(WarpGroup, WhatNobodyWroteIsFound) {
  Product product(types[0], 64, 1, false, 1, 1, false, false, 11);
  std::vector<std::string> reports =
      product.run([&](kiln_emu_thread *thread, uint32_t *accumulators) {
        product.multiply(thread, firstSite, 0, 1, accumulators), product.commit(thread);
        product.wait(thread, 0, accumulators);
      });
  EXPECT_TRUE(oneReport(reports, "kernel.py:20:5: "));
  EXPECT_TRUE(oneReport(reports, "read of shared memory that was never written"));
}

/// Stores to B's first bytes, by `writer`, somewhere behind the product.
std::vector<std::string> overwritten(Product &product, uint32_t writer, bool waitsBefore,
                                     bool meetsBefore, bool meetsAfter) {
  return product.run([&](kiln_emu_thread *thread, uint32_t *accumulators) {
    product.store(thread), product.fence(thread), product.barrier(thread);
    product.multiply(thread, firstSite, 0, 1, accumulators), product.commit(thread);
    if (waitsBefore)
      product.wait(thread, 0, accumulators);
    if (meetsBefore)
      product.barrier(thread);
    uint64_t zero[2] = {};
    if (thread->thread == writer)
      kiln_emu_store(thread, &laterSite, KILN_EMU_SHARED, thread->shared + product.b.base, zero, 16,
                     16, 1);
    if (meetsAfter)
      product.barrier(thread);
    if (!waitsBefore)
      product.wait(thread, 0, accumulators);
  });
}

TEST(WarpGroup, ASlotThatIsOverwrittenTooEarly) {
  Product product(types[0], 64, 1, false, 1, 1, false, false, 12);
  for (uint32_t writer : {0u, 40u}) {
    for (bool meetsBefore : {false, true})
      for (bool meetsAfter : {false, true}) {
        EXPECT_TRUE(anyReport(overwritten(product, writer, false, meetsBefore, meetsAfter),
                              "kernel.py:30:5: "))
            << writer << meetsBefore << meetsAfter;
        // With no barrier between, warps that have waited before the store read the right bytes.
        if (meetsBefore || meetsAfter)
          EXPECT_GT(product.numWrong(), 0u) << writer << meetsBefore << meetsAfter;
      }
    EXPECT_TRUE(anyReport(overwritten(product, writer, false, true, true),
                          "also an operand of a product of warp 0 at kernel.py:20 (tilegpu.wgmma) "
                          "that has not been waited for"));
    // Other warps may still be reading.
    EXPECT_TRUE(
        anyReport(overwritten(product, writer, true, false, true), "race on shared memory"));
    EXPECT_TRUE(overwritten(product, writer, true, true, false).empty());
    EXPECT_EQ(product.numWrong(), 0u);
  }
}

TEST(WarpGroup, AWrongSwizzleOrOffsetGivesAWrongResult) {
  auto wrong = [](uint32_t mode, std::function<void(Product &)> change) {
    Product product(types[0], 64, 1, false, mode, mode, false, false, 13);
    change(product);
    product.block.check = false; // also what was never written
    product.run();
    return product.numWrong();
  };
  for (uint32_t mode = 0; mode < 4; ++mode) {
    EXPECT_EQ(wrong(mode, [](Product &) {}), 0u);
    for (uint32_t other = 0; other < 4; ++other)
      if (other != mode)
        EXPECT_GT(wrong(mode, [&](Product &product) { product.a.mode = other; }), 64u * 32);
    EXPECT_GT(wrong(mode, [](Product &product) { product.b.extraStride = 16; }), 64u * 48);
    EXPECT_GT(wrong(mode, [](Product &product) { product.a.extraStride = 128; }), 64u * 48);
  }
  EXPECT_GT(wrong(0, [](Product &product) { product.a.extraLeading = 16; }), 64u * 48);
  EXPECT_GT(wrong(1, [](Product &product) { product.shape.transpose_b = 1; }), 64u * 48);
}

/// Runs one product with this descriptor of B in all threads but those of `warp`.
std::vector<std::string> described(uint64_t descriptor, uint32_t warp = 4, uint32_t threads = 128) {
  Product product(types[0], 8, 1, true, 1, 1, false, false, 14);
  product.block.threads = threads;
  return product.block.run([&](kiln_emu_thread *thread) {
    if (thread->thread < 128)
      product.store(thread);
    product.fence(thread), product.barrier(thread);
    uint64_t b = thread->thread / 32 == warp ? product.b.descriptor(0) : descriptor;
    uint32_t a[4] = {}, accumulators[4] = {}, out[4];
    kiln_emu_wgmma(thread, &firstSite, &product.shape, a, &b, accumulators, 1, out);
    kiln_emu_wgmma_commit(thread, &commitSite);
    kiln_emu_wgmma_wait(thread, &waitSite, 0, 4, out, accumulators);
  });
}

TEST(WarpGroup, OperandsThatHardwareWouldNotTake) {
  const uint64_t right = Product(types[0], 8, 1, true, 1, 1, false, false, 14).b.descriptor(0);
  EXPECT_TRUE(described(right).empty());
  EXPECT_TRUE(oneReport(described(right | 1 << 14), "bits 14, 15, 30, 31, 46 to 48 and 52 to 61"));
  EXPECT_TRUE(oneReport(described(right | uint64_t(1) << 49), "base offset 1 is not emulated"));
  EXPECT_TRUE(oneReport(described(right | 0x3f00), "reaches outside of the block's"));
  EXPECT_TRUE(oneReport(described(right + 2, 2), "same matrix descriptors in all warps"));
  EXPECT_TRUE(oneReport(described(right, 4, 96), "expected four warps from a multiple of four on"));
}

TEST(WarpGroup, LanesAndWarpsThatDoNotCome) {
  Product product(types[0], 64, 1, false, 1, 1, false, false, 15);
  auto without = [&](uint32_t from, uint32_t to) {
    return product.run([&](kiln_emu_thread *thread, uint32_t *accumulators) {
      product.store(thread), product.fence(thread), product.barrier(thread);
      if (thread->thread >= from && thread->thread < to)
        return;
      product.multiply(thread, firstSite, 0, 1, accumulators), product.commit(thread);
      product.wait(thread, 0, accumulators);
    });
  };
  EXPECT_TRUE(anyReport(without(5, 6), "has returned"));
  EXPECT_TRUE(oneReport(without(32, 64),
                        "expected all four warps of the group to come to the product, got 3"));
}

} // namespace
