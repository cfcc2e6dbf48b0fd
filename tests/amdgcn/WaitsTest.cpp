// What is in flight arrives when it is waited for, and not before.
#include "tests/amdgcn/OneWave.h"

namespace kiln::amdgcn {
namespace {

class Waits : public OneWave {
protected:
  Waits() : words(1024) {
    for (uint32_t i = 0; i != words.size(); ++i)
      words[i] = i;
    allocations.add(words.data(), 4 * words.size());
  }
  void SetUp() override {
    OneWave::SetUp();
    setPointers(10, words.data(), 16);
  }
  void beginGeneration(Generation generation) {
    begin(generation);
    setPointers(10, words.data(), 16);
  }

  std::vector<uint32_t> words;
};

TEST_F(Waits, LoadsArriveInOrder) {
  run("global_load_dword v1, v[10:11], off");
  run("global_load_dwordx2 v[2:3], v[10:11], off offset:4");
  EXPECT_EQ(mistakeOf("v_mov_b32_e32 v5, v1"),
            "v1 is read or written before the load to it was waited for");
  run("s_waitcnt vmcnt(1)");
  run("v_mov_b32_e32 v5, v1");
  EXPECT_EQ(get(5, 3), 12u);
  EXPECT_NE(mistakeOf("v_mov_b32_e32 v3, 0"), "");
  run("s_waitcnt vmcnt(0)");
  EXPECT_EQ(get(3, 3), 14u);
}

TEST_F(Waits, LoadsSeeMemoryAtTheWait) {
  run("global_load_dword v1, v[10:11], off");
  words[4] = 100;
  run("s_waitcnt vmcnt(0)");
  EXPECT_EQ(get(1, 1), 100u);
}

TEST_F(Waits, StoresLandAtTheWaitAndInOrder) {
  set(1, [](unsigned) { return 5u; });
  run("global_store_dword v[10:11], v1, off");
  run("v_mov_b32_e32 v1, 6");
  run("global_load_dword v2, v[10:11], off");
  run("global_store_dword v[10:11], v1, off");
  EXPECT_EQ(words[8], 8u);
  run("s_waitcnt vmcnt(1)");
  EXPECT_EQ(get(2, 2), 5u);
  EXPECT_EQ(words[8], 5u);
  run("s_waitcnt vmcnt(0)");
  EXPECT_EQ(words[8], 6u);
}

TEST_F(Waits, Gfx11CountsStoresApart) {
  beginGeneration(Generation::Gfx11);
  set(1, [](unsigned) { return 5u; });
  run("global_store_b32 v[10:11], v1, off");
  run("s_waitcnt vmcnt(0)");
  EXPECT_EQ(words[4], 4u);
  run("s_waitcnt_vscnt null, 0x0");
  EXPECT_EQ(words[4], 5u);
}

TEST_F(Waits, ScalarLoadsReturnInAnyOrder) {
  wave->setScalarPair(0, reinterpret_cast<uintptr_t>(words.data()));
  set(9, [](unsigned lane) { return 4 * lane; });
  run("s_load_dwordx2 s[4:5], s[0:1], 0x8");
  run("ds_write_b32 v9, v9");
  run("ds_read_b32 v1, v9");
  run("s_waitcnt lgkmcnt(1)");
  EXPECT_NE(mistakeOf("s_mov_b32 s6, s5"), "");
  EXPECT_NE(mistakeOf("v_mov_b32_e32 v2, v1"), "");
  run("s_waitcnt lgkmcnt(0)");
  EXPECT_EQ(wave->scalar(5), 3u);
  EXPECT_EQ(get(1, 7), 28u);
}

TEST_F(Waits, Gfx12HasACounterForEach) {
  beginGeneration(Generation::Gfx12);
  wave->setScalarPair(0, reinterpret_cast<uintptr_t>(words.data()));
  set(9, [](unsigned lane) { return 4 * lane; });
  run("s_load_b32 s4, s[0:1], 0x8");
  run("ds_store_b32 v9, v9");
  run("ds_load_b32 v1, v9");
  run("s_wait_dscnt 0x0");
  EXPECT_EQ(get(1, 7), 28u);
  EXPECT_NE(mistakeOf("s_mov_b32 s6, s4"), "");
  run("s_wait_kmcnt 0x0");
  EXPECT_EQ(wave->scalar(4), 2u);
  run("global_load_b32 v2, v[10:11], off");
  run("s_wait_loadcnt_dscnt 0x3f");
  EXPECT_EQ(get(2, 1), 4u);
}

TEST_F(Waits, HalvesThatLoadsFillAreTheirOwn) {
  beginGeneration(Generation::Gfx11);
  set(1, [](unsigned) { return 0x11112222u; });
  run("global_load_d16_hi_b16 v1, v[10:11], off");
  run("v_mov_b16_e32 v1.l, 0x3333");
  EXPECT_NE(mistakeOf("v_mov_b16_e32 v2.l, v1.h"), "");
  run("s_waitcnt vmcnt(0)");
  EXPECT_EQ(get(1, 2), 0x00083333u);
}

TEST_F(Waits, CountersDoNotOverflow) {
  run("global_load_dword v1, v[10:11], off");
  for (unsigned i = 0; i != 62; ++i)
    run("global_load_dword v2, v[10:11], off");
  EXPECT_NE(mistakeOf("v_mov_b32_e32 v3, v1"), "");
  run("global_load_dword v2, v[10:11], off");
  EXPECT_EQ(mistakeOf("v_mov_b32_e32 v3, v1"), "");
}

TEST_F(Waits, CopiesToSharedMemoryLandAtTheWait) {
  wave->setScalar(M0, 256);
  set(9, [](unsigned lane) { return 256 + 4 * lane; });
  run("global_load_lds_dword v[10:11], off");
  run("s_waitcnt vmcnt(0)");
  run("ds_read_b32 v1, v9");
  run("s_waitcnt lgkmcnt(0)");
  EXPECT_EQ(get(1, 5), 20u);
}

TEST_F(Waits, AtomicOperationsGiveWhatWasThere) {
  setPointers(10, words.data(), 0);
  set(1, [](unsigned) { return 1u; });
  run("global_atomic_add v2, v[10:11], v1, off sc0");
  EXPECT_EQ(words[0], 0u);
  run("s_waitcnt vmcnt(0)");
  EXPECT_EQ(words[0], 64u);
  EXPECT_EQ(get(2, 63), 63u);
}

TEST_F(Waits, ACacheIsWrittenBackBeforeOthersMayKnow) {
  run("buffer_wbl2 sc1");
  EXPECT_EQ(mistakeOf("s_barrier"), "buffer_wbl2 sc1 is in flight at a barrier");
  set(1, [](unsigned) { return 1u; });
  EXPECT_NE(mistakeOf("global_atomic_add v[10:11], v1, off"), "");
  run("s_waitcnt vmcnt(0)");
  EXPECT_EQ(mistakeOf("global_atomic_add v[10:11], v1, off"), "");
  EXPECT_EQ(mistakeOf("s_barrier"), "");
}

TEST_F(Waits, AccessesStayInAllocations) {
  setPointers(10, words.data(), 64);
  run("global_load_dwordx4 v[0:3], v[10:11], off offset:48");
  EXPECT_NE(mistakeOf("global_load_dwordx4 v[0:3], v[10:11], off offset:52"), "");
  wave->setMask(ExecLow, 1);
  EXPECT_EQ(mistakeOf("global_load_dwordx4 v[4:7], v[10:11], off offset:52"), "");
  EXPECT_NE(mistakeOf("global_store_byte v[10:11], v8, off offset:-1"), "");
  EXPECT_NE(mistakeOf("scratch_store_dwordx2 off, v[8:9], off offset:60"), "");
}

TEST_F(Waits, BuffersHaveABound) {
  wave->setScalarPair(4, reinterpret_cast<uintptr_t>(words.data()));
  wave->setScalar(6, 4 * 10); // bytes
  wave->setScalar(7, 0);
  set(9, [](unsigned lane) { return 8 * lane; });
  set(1, [](unsigned) { return 3u; });
  run("buffer_load_dwordx4 v[20:23], v9, s[4:7], 0 offen");
  run("buffer_store_dword v1, v9, s[4:7], 0 offen offset:4");
  run("s_waitcnt vmcnt(0)");
  EXPECT_EQ(get(23, 3), 9u);
  EXPECT_EQ(get(22, 4), 0u);
  EXPECT_EQ(get(21, 4), 9u);
  EXPECT_EQ(words[9], 3u);
  EXPECT_EQ(words[11], 11u);
}

TEST_F(Waits, AnUnknownModifierIsAnError) {
  EXPECT_NE(mistakeOf("v_add_f32_e64 v1, v1, v1 whatever:3"), "");
}

// --- shared memory of several waves ---

TEST(SharedMemoryRaces, ABarrierOrders) {
  SharedMemory shared(64, 1);
  uint32_t word = 5;
  shared.store(8, 4, &word, 0, {0, 0});
  EXPECT_NO_THROW(shared.load(8, 4, &word, 0, {0, 0}));
  EXPECT_THROW(shared.load(8, 4, &word, 1, {0, 0}), Fault);
  // Arriving is not enough; waiting is.
  EXPECT_THROW(shared.load(8, 4, &word, 1, {1, 0}), Fault);
  EXPECT_NO_THROW(shared.load(8, 4, &word, 1, {1, 1}));
  // What comes before the next barrier may not write what another reads behind this one.
  EXPECT_THROW(shared.store(8, 4, &word, 0, {1, 1}), Fault);
  EXPECT_NO_THROW(shared.store(8, 4, &word, 0, {2, 2}));
}

TEST(SharedMemoryRaces, BytesOfADwordAreApart) {
  SharedMemory shared(64, 1);
  uint16_t half = 5;
  shared.store(8, 2, &half, 0, {0, 0});
  EXPECT_NO_THROW(shared.store(10, 2, &half, 1, {0, 0}));
  EXPECT_THROW(shared.store(8, 2, &half, 2, {0, 0}), Fault);
  EXPECT_THROW(shared.load(64, 4, &half, 2, {1, 1}), Fault);
}

} // namespace
} // namespace kiln::amdgcn
