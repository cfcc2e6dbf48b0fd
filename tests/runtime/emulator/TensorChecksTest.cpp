// Mistakes with copies of boxes that the emulator must find, each beside the right program, on
// which it must stay silent.

#include "tests/runtime/emulator/EmulatedBlock.h"
#include "tests/runtime/emulator/Tensor.h"
#include "tests/runtime/emulator/WarpGroupProduct.h"

using namespace kiln::emulator::testing;

namespace {

SITE(inits, "nvvm.mbarrier.init", 9);
SITE(writes, "llvm.store", 10);
SITE(waits, "nvvm.barrier0", 11);
SITE(proxyFences, "nvvm.fence.proxy", 12);
SITE(loads, "nvvm.cp.async.bulk.tensor.shared.cluster.global", 20);
SITE(arrives, "nvvm.mbarrier.arrive.expect_tx", 21);
SITE(fullWaits, "nvvm.mbarrier.try_wait.parity", 22);
SITE(emptyWaits, "nvvm.mbarrier.try_wait.parity", 23);
SITE(reads, "llvm.load", 24);
SITE(releases, "nvvm.mbarrier.arrive", 25);
SITE(stores, "nvvm.cp.async.bulk.tensor.global.shared.cta", 30);
SITE(overwrites, "llvm.store", 31);
SITE(globalReads, "tilegpu.global_load", 32);

using Reports = std::vector<std::string>;

constexpr uint32_t rowBytes = 128, boxBytes = 2 * rowBytes, slotAt = 1024;

void store(kiln_emu_thread *t, const kiln_emu_site &site, uint32_t offset, uint32_t value) {
  kiln_emu_store(t, &site, KILN_EMU_SHARED, t->shared + offset, &value, 4, 4, 1);
}
uint32_t load(kiln_emu_thread *t, uint32_t offset) {
  uint32_t value = 0;
  kiln_emu_load(t, &reads, KILN_EMU_SHARED, t->shared + offset, &value, 4, 4, 1);
  return value;
}
void barrier(kiln_emu_thread *t) { kiln_emu_barrier(t, &waits, 0, 0); }

//===-- a pipeline of two slots: warp 0 loads, warps 1 and 2 read
//------------------------------------===//

struct Pipeline {
  static constexpr uint32_t slots = 2, rounds = 5;

  /// What may be wrong.
  bool fencesInit = true, waitsForEmpty = true, waitsForFull = true, readsEarly = false;
  uint32_t expected = boxBytes, parityFlip = 0, releasesOf = 2, lastRounds = rounds;

  Tensor tensor{KILN_TENSOR_U32, {32, 2 * rounds}, {32, 2}, 128};
  uint32_t numWrong = 0;

  static char *full(kiln_emu_thread *t, uint32_t slot) { return t->shared + 8 * slot; }
  static char *empty(kiln_emu_thread *t, uint32_t slot) { return t->shared + 64 + 8 * slot; }
  static uint32_t at(uint32_t slot) { return slotAt + slot * 1024; }

  void produce(kiln_emu_thread *t) {
    for (uint32_t round = 0; round < rounds; ++round) {
      uint32_t slot = round % slots, phase = round / slots;
      if (waitsForEmpty)
        kiln_emu_mbarrier_wait(t, &emptyWaits, empty(t, slot), (phase & 1) ^ 1);
      kiln_emu_mbarrier_arrive(t, &arrives, full(t, slot), 1, expected);
      const int32_t first[] = {0, int32_t(2 * round)};
      kiln_emu_tensor_load(t, &loads, t->shared + at(slot), &tensor.map, first, 2, full(t, slot));
    }
  }

  void consume(kiln_emu_thread *t) {
    const uint32_t line = t->thread / 32 - 1, lane = t->thread % 32;
    for (uint32_t round = 0; round < lastRounds; ++round) {
      uint32_t slot = round % slots, phase = round / slots, value = 0;
      // Of the second line, whose pieces are swizzled.
      const uint32_t from = at(slot) + line * rowBytes + (lane / 4 ^ line) * 16 + lane % 4 * 4;
      if (readsEarly)
        value = load(t, from);
      if (waitsForFull)
        kiln_emu_mbarrier_wait(t, &fullWaits, full(t, slot), (phase & 1) ^ parityFlip);
      if (!readsEarly)
        value = load(t, from);
      numWrong +=
          std::memcmp(&value, tensor.at({int32_t(lane), int32_t(2 * round + line)}), 4) != 0;
      kiln_emu_warp_barrier(t, &waits, ~0u);
      if (lane == 0 && line < releasesOf)
        kiln_emu_mbarrier_arrive(t, &releases, empty(t, slot), 1, 0);
    }
  }

  Reports run() {
    EmulatedBlock block;
    block.threads = 96;
    block.sharedBytes = slotAt + slots * 1024;
    return block.run([&](kiln_emu_thread *t) {
      if (t->thread == 0) {
        for (uint32_t slot = 0; slot < slots; ++slot) {
          kiln_emu_mbarrier_init(t, &inits, full(t, slot), 1);
          kiln_emu_mbarrier_init(t, &inits, empty(t, slot), 2);
        }
        if (fencesInit)
          kiln_emu_mbarrier_init_fence(t);
      }
      barrier(t);
      if (t->thread == 0)
        produce(t);
      else if (t->thread >= 32)
        consume(t);
    });
  }
};

TEST(TensorChecks, ARightPipelineIsSilent) {
  Pipeline pipeline;
  Reports reports = pipeline.run();
  EXPECT_TRUE(reports.empty()) << reports[0];
  EXPECT_EQ(pipeline.numWrong, 0u);
}

TEST(TensorChecks, ReadsBeforeTheWait) {
  for (bool waits : {false, true}) {
    Pipeline pipeline;
    pipeline.readsEarly = true;
    pipeline.waitsForFull = waits;
    EXPECT_TRUE(anyReport(pipeline.run(), "kernel.py:24:5: "));
    EXPECT_GT(pipeline.numWrong, 0u);
  }
}

/// Thread 0 loads a box and does something before it waits.
Reports beforeTheWait(const std::function<void(kiln_emu_thread *)> &touch) {
  Tensor tensor(KILN_TENSOR_U32, {32, 2}, {32, 2});
  EmulatedBlock block;
  block.sharedBytes = slotAt + 1024;
  return block.run([&](kiln_emu_thread *t) {
    if (t->thread)
      return;
    kiln_emu_mbarrier_init(t, &inits, t->shared, 1);
    kiln_emu_mbarrier_init_fence(t);
    kiln_emu_mbarrier_arrive(t, &arrives, t->shared, 1, boxBytes);
    const int32_t first[] = {0, 0};
    kiln_emu_tensor_load(t, &loads, t->shared + slotAt, &tensor.map, first, 2, t->shared);
    touch(t);
    kiln_emu_mbarrier_wait(t, &fullWaits, t->shared, 0);
    load(t, slotAt);
  });
}

TEST(TensorChecks, TouchingTheBoxBeforeTheWait) {
  const char *message = "also the destination of an asynchronous copy of thread 0 at kernel.py:20 "
                        "(nvvm.cp.async.bulk.tensor.shared.cluster.global) that has not been "
                        "waited for";
  EXPECT_TRUE(oneReport(beforeTheWait([](kiln_emu_thread *t) { load(t, slotAt + 252); }), message));
  EXPECT_TRUE(
      oneReport(beforeTheWait([](kiln_emu_thread *t) { store(t, writes, slotAt, 1); }), message));
  EXPECT_TRUE(beforeTheWait([](kiln_emu_thread *t) { store(t, writes, slotAt + 256, 1); }).empty());
  EXPECT_TRUE(oneReport(
      beforeTheWait([](kiln_emu_thread *t) { kiln_emu_mbarrier_init(t, &inits, t->shared, 1); }),
      "the mbarrier here still tracks the asynchronous copy of kernel.py:20"));
}

TEST(TensorChecks, AWaitForTheWrongPhase) {
  Pipeline pipeline;
  pipeline.parityFlip = 1;
  Reports reports = pipeline.run();
  EXPECT_TRUE(anyReport(reports, "kernel.py:24:5: "));
  EXPECT_TRUE(anyReport(reports, "the destination of an asynchronous copy of thread 0"));
  EXPECT_GT(pipeline.numWrong, 0u);
}

TEST(TensorChecks, AWaitOfOneWarpIsNoneOfAnother) {
  // Warp 1 waits, warp 2 reads what has then landed: nothing orders it with that.
  Tensor tensor(KILN_TENSOR_U32, {32, 2}, {32, 2});
  for (bool isOrdered : {false, true}) {
    EmulatedBlock block;
    block.threads = 96;
    block.sharedBytes = slotAt + 1024;
    bool hasLanded = false;
    Reports reports = block.run([&](kiln_emu_thread *t) {
      if (t->thread == 0) {
        kiln_emu_mbarrier_init(t, &inits, t->shared, 1);
        kiln_emu_mbarrier_init_fence(t);
      }
      barrier(t);
      const int32_t first[] = {0, 0};
      if (t->thread == 0) {
        kiln_emu_mbarrier_arrive(t, &arrives, t->shared, 1, boxBytes);
        kiln_emu_tensor_load(t, &loads, t->shared + slotAt, &tensor.map, first, 2, t->shared);
      }
      const uint32_t warp = t->thread / 32;
      if (warp == 1 || isOrdered) {
        kiln_emu_mbarrier_wait(t, &fullWaits, t->shared, 0);
        hasLanded = true;
      }
      while (warp == 2 && !hasLanded)
        kiln_emu_yield(t);
      if (warp == 2)
        load(t, slotAt + 4 * (t->thread % 32));
    });
    if (isOrdered)
      EXPECT_TRUE(reports.empty()) << reports[0];
    else
      EXPECT_TRUE(oneReport(reports, "also accessed by thread 0 at kernel.py:20 "
                                     "(nvvm.cp.async.bulk.tensor.shared.cluster.global) with no "
                                     "barrier between"));
  }
}

TEST(TensorChecks, ASlotThatIsReusedTooEarly) {
  Pipeline pipeline;
  pipeline.waitsForEmpty = false;
  Reports reports = pipeline.run();
  // The phase before is not complete, or others read what it brought.
  EXPECT_FALSE(reports.empty());
  for (const std::string &report : reports)
    EXPECT_TRUE(report.find("kernel.py:20:5: ") == 0 || report.find("kernel.py:21:5: ") == 0)
        << report;
}

/// Thread 0 loads a box twice. Between the two others wait for the first and may read it, and then
/// meet thread 0, or only have run before it.
Reports loadedTwice(bool reads, bool meets) {
  Tensor tensor(KILN_TENSOR_U32, {32, 2}, {32, 2});
  EmulatedBlock block;
  block.threads = 64;
  block.sharedBytes = slotAt + 1024;
  uint32_t numDone = 0;
  return block.run([&](kiln_emu_thread *t) {
    char *first = t->shared, *second = t->shared + 8;
    if (t->thread == 0)
      for (char *each : {first, second})
        kiln_emu_mbarrier_init(t, &inits, each, 1);
    kiln_emu_mbarrier_init_fence(t);
    barrier(t);
    auto copy = [&](char *full) {
      const int32_t origin[] = {0, 0};
      kiln_emu_mbarrier_arrive(t, &arrives, full, 1, boxBytes);
      kiln_emu_tensor_load(t, &loads, t->shared + slotAt, &tensor.map, origin, 2, full);
    };
    const bool isReader = t->thread >= 32;
    if (t->thread == 0)
      copy(first);
    if (isReader)
      kiln_emu_mbarrier_wait(t, &fullWaits, first, 0);
    if (reads && isReader)
      load(t, slotAt + 4 * (t->thread % 32));
    numDone += isReader;
    if (meets)
      barrier(t);
    while (t->thread == 0 && numDone < 32)
      kiln_emu_yield(t);
    if (t->thread == 0)
      copy(second);
    if (isReader)
      kiln_emu_mbarrier_wait(t, &fullWaits, second, 0);
  });
}

TEST(TensorChecks, ABoxThatIsLoadedTwice) {
  EXPECT_TRUE(loadedTwice(true, true).empty()) << loadedTwice(true, true)[0];
  EXPECT_TRUE(loadedTwice(false, true).empty());
  EXPECT_TRUE(oneReport(loadedTwice(true, false),
                        "kernel.py:20:5: kernel, program (2, 1, 0), thread 0: "
                        "nvvm.cp.async.bulk.tensor.shared.cluster.global: race on shared memory: "
                        "256 bytes at offset 1024, also accessed by thread "));
  EXPECT_TRUE(oneReport(loadedTwice(false, false), "also accessed by thread 0 at kernel.py:20"))
      << "others have waited, but thread 0 does not know";
  Tensor other(KILN_TENSOR_U32, {32, 2}, {32, 2});
  EXPECT_TRUE(oneReport(beforeTheWait([&](kiln_emu_thread *t) {
                          const int32_t first[] = {0, 0};
                          char *full = t->shared + 8;
                          kiln_emu_mbarrier_init(t, &inits, full, 1);
                          kiln_emu_mbarrier_init_fence(t);
                          kiln_emu_mbarrier_arrive(t, &arrives, full, 1, boxBytes);
                          kiln_emu_tensor_load(t, &loads, t->shared + slotAt + 128, &other.map,
                                               first, 2, full);
                          kiln_emu_mbarrier_wait(t, &fullWaits, full, 0);
                        }),
                        "also the destination of an asynchronous copy of thread 0"));
}

TEST(TensorChecks, TooFewOrTooManyBytes) {
  for (uint32_t expected : {0u, boxBytes - 16, boxBytes / 2}) {
    Pipeline pipeline;
    pipeline.expected = expected;
    EXPECT_TRUE(anyReport(
        pipeline.run(), "expected expect_tx of all bytes that copies complete in a phase of the "
                        "mbarrier, got " +
                            std::to_string(expected ? boxBytes - expected : boxBytes) + " too few"))
        << expected;
  }
  Pipeline pipeline;
  pipeline.expected = boxBytes + 16;
  EXPECT_TRUE(oneReport(pipeline.run(),
                        "; the mbarrier at offset 0 lacks 0 arrivals and 16 bytes of copies"));
  Pipeline forgotten;
  forgotten.releasesOf = 1;
  EXPECT_TRUE(oneReport(forgotten.run(),
                        "; the mbarrier at offset 64 lacks 1 arrivals and 0 bytes of copies"));
  Pipeline large;
  large.expected = 1 << 20;
  EXPECT_TRUE(oneReport(large.run(), "an mbarrier tracks up to 2^20 - 1 bytes"));
}

TEST(TensorChecks, CopiesThatNobodyWaitsFor) {
  Pipeline pipeline;
  pipeline.lastRounds = Pipeline::rounds - 1;
  EXPECT_TRUE(oneReport(pipeline.run(), "expected the copy to be waited for, by the mbarrier at "
                                        "offset 0"));
}

TEST(TensorChecks, MemoryBarriersComeAndGo) {
  // More of them than the clocks have sources.
  Tensor tensor(KILN_TENSOR_U32, {32, 2}, {32, 2});
  EmulatedBlock block;
  block.sharedBytes = slotAt + 1024;
  Reports reports = block.run([&](kiln_emu_thread *t) {
    const int32_t first[] = {0, 0};
    for (uint32_t round = 0; round < 300; ++round) {
      if (t->thread == 0) {
        kiln_emu_mbarrier_init(t, &inits, t->shared, 1);
        kiln_emu_mbarrier_init_fence(t);
      }
      barrier(t);
      if (t->thread == 0) {
        kiln_emu_mbarrier_arrive(t, &arrives, t->shared, 1, boxBytes);
        kiln_emu_tensor_load(t, &loads, t->shared + slotAt, &tensor.map, first, 2, t->shared);
      }
      kiln_emu_mbarrier_wait(t, &fullWaits, t->shared, 0);
      load(t, slotAt + 4 * t->thread);
      barrier(t);
      if (t->thread == 0)
        kiln_emu_mbarrier_inval(t, &inits, t->shared);
    }
    if (t->thread == 0)
      kiln_emu_mbarrier_wait(t, &fullWaits, t->shared, 0);
  });
  EXPECT_TRUE(oneReport(reports, "the mbarrier was not initialised"));
}

TEST(TensorChecks, InitialisationsThatOthersNeedNotSee) {
  Pipeline pipeline;
  pipeline.fencesInit = false;
  EXPECT_TRUE(oneReport(pipeline.run(), "expected fence.mbarrier_init or fence.proxy.async by "
                                        "thread 0 between its initialisation of the mbarrier at "
                                        "kernel.py:9 (nvvm.mbarrier.init)"));
  EmulatedBlock block;
  block.threads = 64;
  EXPECT_TRUE(anyReport(block.run([](kiln_emu_thread *t) {
    if (t->thread == 0)
      kiln_emu_mbarrier_init(t, &inits, t->shared, 64);
    kiln_emu_mbarrier_arrive(t, &arrives, t->shared, 1, 0);
    kiln_emu_mbarrier_wait(t, &fullWaits, t->shared, 0);
  }),
                        "the mbarrier was initialised by thread 0 at kernel.py:9 "
                        "(nvvm.mbarrier.init) with no barrier between"));
}

TEST(TensorChecks, AnotherFenceOfTheInitialisingThread) {
  Tensor tensor(KILN_TENSOR_U32, {32, 2}, {32, 2});
  EmulatedBlock block;
  block.threads = 64;
  block.sharedBytes = slotAt + 1024;
  EXPECT_EQ(block.run([&](kiln_emu_thread *t) {
    const int32_t first[] = {0, 0};
    if (t->thread == 0) {
      kiln_emu_mbarrier_init(t, &inits, t->shared, 1);
      kiln_emu_mbarrier_init_fence(t);
    }
    barrier(t);
    if (t->thread == 0)
      kiln_emu_mbarrier_init_fence(t);
    if (t->thread == 32) {
      kiln_emu_mbarrier_arrive(t, &arrives, t->shared, 1, boxBytes);
      kiln_emu_tensor_load(t, &loads, t->shared + slotAt, &tensor.map, first, 2, t->shared);
    }
    kiln_emu_mbarrier_wait(t, &fullWaits, t->shared, 0);
    load(t, slotAt + 4 * t->thread);
  }),
            Reports());
}

//===-- proxies
//-----------------------------------------------------------------------------===//

/// All write or read the box, and then it is loaded over.
Reports loadedOver(bool writesBox, bool fences, bool meets) {
  Tensor tensor(KILN_TENSOR_U32, {32, 2}, {32, 2});
  EmulatedBlock block;
  block.threads = 64;
  block.sharedBytes = slotAt + 1024;
  return block.run([&](kiln_emu_thread *t) {
    if (t->thread == 0)
      kiln_emu_mbarrier_init(t, &inits, t->shared, 1);
    store(t, writes, slotAt + 4 * t->thread, 5);
    kiln_emu_proxy_fence(t, &proxyFences);
    barrier(t);
    if (writesBox)
      store(t, writes, slotAt + 4 * t->thread, 6);
    else
      load(t, slotAt + 4 * t->thread);
    if (fences)
      kiln_emu_proxy_fence(t, &proxyFences);
    if (meets)
      barrier(t);
    else
      kiln_emu_yield(t);
    const int32_t first[] = {0, 0};
    if (t->thread == 0) {
      kiln_emu_mbarrier_arrive(t, &arrives, t->shared, 1, boxBytes);
      kiln_emu_tensor_load(t, &loads, t->shared + slotAt, &tensor.map, first, 2, t->shared);
    }
    kiln_emu_mbarrier_wait(t, &fullWaits, t->shared, 0);
    uint32_t value = load(t, slotAt + 4 * t->thread);
    EXPECT_EQ(std::memcmp(&value, tensor.at({int32_t(t->thread % 32), int32_t(t->thread / 32)}), 4),
              0);
  });
}

TEST(TensorChecks, LoadsOverWhatWasWrittenOrRead) {
  EXPECT_TRUE(loadedOver(false, false, true).empty()) << "a barrier is enough behind reads";
  EXPECT_TRUE(loadedOver(true, true, true).empty());
  EXPECT_TRUE(oneReport(loadedOver(true, false, true),
                        "expected fence.proxy.async by thread 0 between its store at kernel.py:10 "
                        "(llvm.store) and the barrier before the copy that overwrites it"));
  EXPECT_TRUE(anyReport(loadedOver(false, true, false), "race on shared memory: 256 bytes"));
  EXPECT_TRUE(anyReport(loadedOver(true, true, false), "race on shared memory: 256 bytes"));
}

//===-- products
//-----------------------------------------------------------------------------===//

/// A product of a warp group whose operands are loaded, with the swizzle that its descriptors name;
/// A once more behind it, before or behind the wait.
Reports multiplied(uint32_t mode, bool loadsAgain, bool waitsBefore, uint32_t &numWrong) {
  const uint32_t swizzle = 256 >> mode, depth = swizzle / 2;
  Product product(types[0], 64, swizzle / 32, false, mode, mode, false, false, 20 + mode);
  Tensor a(KILN_TENSOR_F16, {depth, 64}, {depth, 64}, swizzle),
      b(KILN_TENSOR_F16, {depth, 64}, {depth, 64}, swizzle);
  for (uint32_t row = 0; row < 64; ++row)
    for (uint32_t k = 0; k < depth; ++k) {
      const Tensor::Coordinates at{int32_t(k), int32_t(row)};
      std::memcpy(a.at(at), &product.image[product.a.address(row, k)], 2);
      std::memcpy(b.at(at), &product.image[product.b.address(row, k)], 2);
    }
  const int32_t origin[] = {0, 0};
  Reports reports = product.run([&](kiln_emu_thread *t, uint32_t *accumulators) {
    auto load = [&](const Tensor &tensor, uint32_t at) {
      kiln_emu_tensor_load(t, &loads, t->shared + at, &tensor.map, origin, 2, t->shared);
    };
    if (t->thread == 0) {
      kiln_emu_mbarrier_init(t, &inits, t->shared, 1);
      kiln_emu_mbarrier_init_fence(t);
    }
    barrier(t);
    if (t->thread == 0) {
      kiln_emu_mbarrier_arrive(t, &arrives, t->shared, 1, a.bytes() + b.bytes());
      load(a, product.a.base), load(b, product.b.base);
    }
    kiln_emu_mbarrier_wait(t, &fullWaits, t->shared, 0);
    product.multiply(t, firstSite, 0, product.steps, accumulators), product.commit(t);
    if (waitsBefore)
      product.wait(t, 0, accumulators);
    barrier(t);
    if (loadsAgain && t->thread == 0) {
      kiln_emu_mbarrier_arrive(t, &arrives, t->shared, 1, a.bytes());
      load(a, product.a.base);
    }
    if (!waitsBefore)
      product.wait(t, 0, accumulators);
    if (loadsAgain)
      kiln_emu_mbarrier_wait(t, &fullWaits, t->shared, 1);
  });
  numWrong = product.numWrong();
  return reports;
}

TEST(TensorChecks, ProductsOfWhatWasLoadedNeedNoFence) {
  for (uint32_t mode : {1u, 2u, 3u})
    for (bool loadsAgain : {false, true}) {
      uint32_t numWrong;
      Reports reports = multiplied(mode, loadsAgain, true, numWrong);
      EXPECT_TRUE(reports.empty()) << reports[0];
      EXPECT_EQ(numWrong, 0u) << mode;
    }
  uint32_t numWrong;
  EXPECT_TRUE(oneReport(multiplied(1, true, false, numWrong),
                        "race on shared memory: 8192 bytes at offset 1024, also "));
  EXPECT_GT(numWrong, 0u) << "the box is poison again";
}

//===-- stores
//------------------------------------------------------------------------------===//

struct Stored {
  enum class Fence { ByAll, ButOne, Late, None };
  Fence fence = Fence::ByAll;
  bool writesAll = true, meets = true, commits = true, waitsForRead = true, meetsAgain = true,
       waits = true, readsResult = true;
  uint32_t pending = 0;

  Tensor tensor{KILN_TENSOR_U32, {32, 2}, {32, 2}, 128};
  uint32_t numWrong = 0, numWrongReads = 0;

  /// All write a box, which thread 0 stores, and write it again; then all read the tensor.
  Reports run() {
    EmulatedBlock block;
    block.threads = 64;
    block.sharedBytes = slotAt + 1024;
    Reports reports = block.run([&](kiln_emu_thread *t) { thread(t); });
    for (uint32_t i = 0; i < 64; ++i)
      numWrong += wordOf(i) != 100 + i;
    return reports;
  }

private:
  static uint32_t placeOf(uint32_t i) {
    return slotAt + i / 32 * rowBytes + (i % 32 / 4 ^ i / 32) * 16 + i % 4 * 4;
  }
  char *at(uint32_t i) const { return tensor.at({int32_t(i % 32), int32_t(i / 32)}); }
  uint32_t wordOf(uint32_t i) const {
    uint32_t word;
    std::memcpy(&word, at(i), 4);
    return word;
  }

  void thread(kiln_emu_thread *t) {
    if (writesAll || t->thread)
      store(t, writes, placeOf(t->thread), 100 + t->thread);
    if (fence == Fence::ByAll || (fence == Fence::ButOne && t->thread != 40))
      kiln_emu_proxy_fence(t, &proxyFences);
    if (meets)
      barrier(t);
    else
      kiln_emu_yield(t);
    if (fence == Fence::Late)
      kiln_emu_proxy_fence(t, &proxyFences);
    if (t->thread == 0) {
      const int32_t first[] = {0, 0};
      kiln_emu_tensor_store(t, &stores, KILN_EMU_BOX_STORE, &tensor.map, first, 2,
                            t->shared + slotAt);
      if (commits)
        kiln_emu_bulk_commit(t);
      if (waitsForRead)
        kiln_emu_bulk_wait(t, pending, 1);
    }
    if (meetsAgain)
      barrier(t);
    else
      kiln_emu_yield(t);
    store(t, overwrites, placeOf(t->thread), 7);
    if (t->thread == 0 && waits)
      kiln_emu_bulk_wait(t, 0, 0);
    barrier(t);
    uint32_t value = 0;
    if (readsResult)
      kiln_emu_load(t, &globalReads, KILN_EMU_GLOBAL, at(t->thread), &value, 4, 4, 1);
    numWrongReads += readsResult && value != 100 + t->thread;
  }
};

/// The right program but for one thing.
std::pair<Reports, uint32_t> storedWith(const std::function<void(Stored &)> &change) {
  Stored program;
  change(program);
  Reports reports = program.run();
  return {reports, program.numWrong};
}

TEST(TensorChecks, RightStoresAreSilent) {
  for (bool waits : {true, false}) {
    Stored program;
    program.waits = program.readsResult = waits;
    Reports reports = program.run();
    EXPECT_TRUE(reports.empty()) << reports[0];
    EXPECT_EQ(program.numWrong, 0u);
    EXPECT_EQ(program.numWrongReads, 0u);
  }
}

TEST(TensorChecks, StoresOfWhatTheCopyNeedNotSee) {
  using Fence = Stored::Fence;
  const char *message = "expected fence.proxy.async by thread ";
  for (Fence fence : {Fence::None, Fence::Late})
    EXPECT_TRUE(oneReport(storedWith([=](Stored &s) { s.fence = fence; }).first, message));
  EXPECT_TRUE(oneReport(storedWith([](Stored &s) { s.fence = Fence::ButOne; }).first,
                        "by thread 40 between its store at kernel.py:10 (llvm.store) and the "
                        "barrier before the copy that reads it: 256 bytes at offset 1024"));
  EXPECT_TRUE(anyReport(storedWith([](Stored &s) { s.meets = false; }).first,
                        "race on shared memory: 256 bytes at offset 1024"));
  EXPECT_TRUE(oneReport(storedWith([](Stored &s) { s.writesAll = false; }).first,
                        "read of shared memory that was never written"));
}

TEST(TensorChecks, ASourceThatIsOverwrittenBeforeItWasRead) {
  const std::string message = "also the source of an asynchronous copy of thread 0 at kernel.py:30 "
                              "(nvvm.cp.async.bulk.tensor.global.shared.cta) that has not been "
                              "waited for";
  auto [reports, wrong] = storedWith([](Stored &s) { s.waitsForRead = false; });
  EXPECT_TRUE(oneReport(reports, message));
  EXPECT_GT(wrong, 0u);
  auto [pending, wrongPending] = storedWith([](Stored &s) { s.pending = 1; });
  EXPECT_TRUE(oneReport(pending, message));
  EXPECT_GT(wrongPending, 0u);
  EXPECT_TRUE(
      anyReport(storedWith([](Stored &s) { s.meetsAgain = false; }).first, "kernel.py:31:5: "))
      << "others do not know of the wait";
}

TEST(TensorChecks, StoresThatAreNotWaitedFor) {
  auto [uncommitted, wrong] = storedWith([](Stored &s) { s.commits = s.readsResult = false; });
  EXPECT_TRUE(anyReport(uncommitted, "expected the copy to be committed and waited for"));
  EXPECT_EQ(wrong, 64u);
  EXPECT_TRUE(anyReport(
      storedWith([](Stored &s) { s.waits = s.waitsForRead = s.readsResult = false; }).first,
      "expected the copy to be waited for, as it still reads shared memory"));
  // Read from global memory while it is written.
  EXPECT_TRUE(oneReport(storedWith([](Stored &s) { s.waits = false; }).first,
                        "race on global memory: 4 bytes"));
}

TEST(TensorChecks, TensorsThatNobodyHasWritten) {
  for (bool isWritten : {false, true}) {
    Tensor tensor(KILN_TENSOR_F32, {32, 4}, {32, 2});
    EmulatedBlock block;
    block.sharedBytes = slotAt + 1024;
    auto first = reinterpret_cast<uintptr_t>(tensor.map.base);
    block.ranges = {{first, first + 4 * tensor.map.strides[0], nullptr, 0x7ffa7fc57fb37fe9}};
    if (!isWritten)
      std::memcpy(tensor.at({2, 3}), &block.ranges[0].unwritten, 8);
    Reports reports = block.run([&](kiln_emu_thread *t) {
      if (t->thread)
        return;
      const int32_t where[] = {0, 2};
      kiln_emu_mbarrier_init(t, &inits, t->shared, 1);
      kiln_emu_proxy_fence(t, &proxyFences);
      kiln_emu_mbarrier_arrive(t, &arrives, t->shared, 1, boxBytes);
      kiln_emu_tensor_load(t, &loads, t->shared + slotAt, &tensor.map, where, 2, t->shared);
      kiln_emu_mbarrier_wait(t, &fullWaits, t->shared, 0);
    });
    if (isWritten)
      EXPECT_TRUE(reports.empty()) << reports[0];
    else
      EXPECT_TRUE(oneReport(reports, "read of global memory that was never written: in the row of "
                                     "128 bytes"));
  }
}

TEST(TensorChecks, TensorsBeyondTheirAllocation) {
  Tensor tensor(KILN_TENSOR_F32, {32, 4}, {32, 2});
  auto first = reinterpret_cast<uintptr_t>(tensor.map.base);
  for (bool isLoad : {false, true}) {
    EmulatedBlock block;
    block.sharedBytes = slotAt + 1024;
    block.ranges = {{first, first + 3 * tensor.map.strides[0], nullptr, 0}};
    const char before = *tensor.at({0, 3});
    Reports reports = block.run([&](kiln_emu_thread *t) {
      if (t->thread)
        return;
      const int32_t where[] = {0, 2};
      kiln_emu_mbarrier_init(t, &inits, t->shared, 1);
      for (uint32_t at = 0; at < boxBytes; at += 4)
        store(t, writes, slotAt + at, 1);
      kiln_emu_proxy_fence(t, &proxyFences);
      if (isLoad) {
        kiln_emu_mbarrier_arrive(t, &arrives, t->shared, 1, boxBytes);
        kiln_emu_tensor_load(t, &loads, t->shared + slotAt, &tensor.map, where, 2, t->shared);
        kiln_emu_mbarrier_wait(t, &fullWaits, t->shared, 0);
        EXPECT_EQ(load(t, slotAt + rowBytes), ~0u);
        return;
      }
      kiln_emu_tensor_store(t, &stores, KILN_EMU_BOX_STORE, &tensor.map, where, 2,
                            t->shared + slotAt);
      kiln_emu_bulk_commit(t);
      kiln_emu_bulk_wait(t, 0, 0);
    });
    EXPECT_TRUE(oneReport(reports, isLoad ? "load from no registered allocation: 128 bytes at 0x"
                                          : "store to no registered allocation: 128 bytes at 0x"));
    EXPECT_EQ(*tensor.at({0, 3}), before);
  }
}

TEST(TensorChecks, SourcesThatOthersWriteWhileTheyAreLoaded) {
  Tensor tensor(KILN_TENSOR_U32, {32, 2}, {32, 2});
  enum { Before, InFlight, Behind };
  for (int when : {Before, InFlight, Behind}) {
    EmulatedBlock block;
    block.threads = 64;
    block.sharedBytes = slotAt + 1024;
    Reports reports = block.run([&](kiln_emu_thread *t) {
      auto write = [&](int place) {
        if (when == place && t->thread == 32)
          kiln_emu_store(t, &overwrites, KILN_EMU_GLOBAL, tensor.at({4, 1}), &t->thread, 4, 4, 1);
      };
      if (t->thread == 0) {
        kiln_emu_mbarrier_init(t, &inits, t->shared, 1);
        kiln_emu_mbarrier_init_fence(t);
      }
      write(Before);
      barrier(t);
      const int32_t first[] = {0, 0};
      if (t->thread == 0) {
        kiln_emu_mbarrier_arrive(t, &arrives, t->shared, 1, boxBytes);
        kiln_emu_tensor_load(t, &loads, t->shared + slotAt, &tensor.map, first, 2, t->shared);
      }
      barrier(t);
      write(InFlight);
      kiln_emu_mbarrier_wait(t, &fullWaits, t->shared, 0);
      write(Behind);
    });
    if (when == InFlight)
      EXPECT_TRUE(oneReport(reports, "race on global memory: 4 bytes"));
    else
      EXPECT_TRUE(reports.empty()) << reports[0];
  }
}

} // namespace
