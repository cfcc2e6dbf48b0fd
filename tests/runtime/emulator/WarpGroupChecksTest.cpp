// Mistakes with products of warp groups, which give a wrong result or a finding in every run.

#include "tests/runtime/emulator/WarpGroupProduct.h"

using namespace kiln::emulator::testing;

namespace {

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
