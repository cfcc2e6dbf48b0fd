// Products of warp groups of every type, form and layout against sums in double precision.

#include "tests/runtime/emulator/WarpGroupProduct.h"

using namespace kiln::emulator::testing;

namespace {

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

/// Even what stands for the result of a product in flight, which stays that product's.
TEST(WarpGroup, AFalsePredicateTakesNoResult) {
  for (const Type &type : types) {
    Product product(type, 32, 2, false, 1, 1, false, false, 6);
    const uint32_t words = product.words();
    std::vector<std::string> reports =
        product.run([&](kiln_emu_thread *thread, uint32_t *accumulators) {
          product.store(thread), product.fence(thread), product.barrier(thread);
          product.multiply(thread, firstSite, 0, 2, accumulators), product.commit(thread);
          std::vector<uint32_t> other(accumulators, accumulators + words);
          product.multiply(thread, secondSite, 0, 1, other.data(), false), product.commit(thread);
          product.wait(thread, 0, other.data());
          product.wait(thread, 0, accumulators);
        });
    EXPECT_EQ(product.numWrong(), 0u) << type.name;
    EXPECT_TRUE(reports.empty()) << reports[0];
  }
}

} // namespace
