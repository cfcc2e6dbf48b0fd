// Exchange within a warp, against the definitions of the PTX ISA and AMD's ISA documents.

#include "tests/runtime/emulator/EmulatedBlock.h"

using namespace kiln::emulator::testing;

namespace {

SITE(site, "exchange", 10);

/// What every lane gets from `operation`.
std::vector<uint64_t> results(uint32_t warpSize,
                              const std::function<uint64_t(kiln_emu_thread *)> &operation) {
  EmulatedBlock block;
  block.threads = block.warpSize = warpSize;
  std::vector<uint64_t> out(warpSize);
  auto reports = block.run([&](kiln_emu_thread *t) { out[t->thread] = operation(t); });
  EXPECT_TRUE(reports.empty()) << reports[0];
  return out;
}

TEST(Exchange, ShufflesReadTheLanesThatPtxNames) {
  auto shuffle = [](uint32_t kind, uint32_t offset, uint32_t clamp) {
    return results(32, [=](kiln_emu_thread *t) {
      return kiln_emu_shuffle(t, &site, kind, ~0u, 100 + t->thread, offset, clamp);
    });
  };
  auto exchanged = shuffle(KILN_EMU_SHUFFLE_XOR, 5, 31);
  auto up = shuffle(KILN_EMU_SHUFFLE_UP, 3, 0), down = shuffle(KILN_EMU_SHUFFLE_DOWN, 3, 31);
  auto indexed = shuffle(KILN_EMU_SHUFFLE_INDEX, 7, 31);
  // Segments of 8 lanes: c is (32 - 8) << 8 | 31.
  auto segmented = shuffle(KILN_EMU_SHUFFLE_DOWN, 3, 24 << 8 | 31);
  for (unsigned lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(exchanged[lane], 100 + (lane ^ 5));
    EXPECT_EQ(up[lane], 100 + (lane >= 3 ? lane - 3 : lane));
    EXPECT_EQ(down[lane], 100 + (lane + 3 < 32 ? lane + 3 : lane));
    EXPECT_EQ(indexed[lane], 107u);
    EXPECT_EQ(segmented[lane], 100 + (lane % 8 + 3 < 8 ? lane + 3 : lane));
  }
}

TEST(Exchange, VotesAndReductionsSeeEveryLane) {
  auto vote = [](uint32_t kind, unsigned below) {
    return results(32, [=](kiln_emu_thread *t) {
      return kiln_emu_vote(t, &site, kind, ~0u, t->thread < below);
    })[31];
  };
  EXPECT_EQ(vote(KILN_EMU_VOTE_ANY, 0), 0u);
  EXPECT_EQ(vote(KILN_EMU_VOTE_ANY, 1), 1u);
  EXPECT_EQ(vote(KILN_EMU_VOTE_ALL, 31), 0u);
  EXPECT_EQ(vote(KILN_EMU_VOTE_ALL, 32), 1u);
  EXPECT_EQ(vote(KILN_EMU_VOTE_UNIFORM, 0), 1u);
  EXPECT_EQ(vote(KILN_EMU_VOTE_UNIFORM, 5), 0u);
  EXPECT_EQ(vote(KILN_EMU_VOTE_BALLOT, 5), 31u);
  auto redux = [](uint32_t kind) {
    return results(32, [=](kiln_emu_thread *t) {
      return kiln_emu_redux(t, &site, kind, ~0u, t->thread - 3);
    })[17];
  };
  EXPECT_EQ(redux(KILN_EMU_REDUX_ADD), uint32_t(31 * 32 / 2 - 3 * 32));
  EXPECT_EQ(int32_t(redux(KILN_EMU_REDUX_SMIN)), -3);
  EXPECT_EQ(redux(KILN_EMU_REDUX_SMAX), 28u);
  EXPECT_EQ(redux(KILN_EMU_REDUX_UMIN), 0u);
  EXPECT_EQ(redux(KILN_EMU_REDUX_UMAX), ~0u);
  auto elected = results(32, [](kiln_emu_thread *t) -> uint64_t {
    return t->thread < 4 ? 2 : kiln_emu_elect(t, &site, ~0xfu);
  });
  for (unsigned lane = 4; lane < 32; ++lane)
    EXPECT_EQ(elected[lane], lane == 4);
}

TEST(Exchange, BallotsOfAWave64HaveSixtyFourBits) {
  auto ballot = results(64, [](kiln_emu_thread *t) {
    return kiln_emu_vote(t, &site, KILN_EMU_VOTE_BALLOT, ~0ull, t->thread % 3 == 0);
  });
  uint64_t expected = 0;
  for (unsigned lane = 0; lane < 64; lane += 3)
    expected |= uint64_t(1) << lane;
  EXPECT_EQ(ballot[63], expected);
}

TEST(Exchange, LdsPermutationsFollowTheIsa) {
  // DS_BPERMUTE_B32: tmp[i] = src[addr[i] / 4 % 64].
  auto permuted = results(64, [](kiln_emu_thread *t) {
    return kiln_emu_ds_bpermute(t, &site, 4 * ((t->thread * 7 + 3) % 64), t->thread);
  });
  // DS_SWIZZLE_B32, bit mode: j = ((i & and) | or) ^ xor in each 32 lanes; and 0x1e, or 0x10,
  // xor 3.
  auto swizzled = results(64, [](kiln_emu_thread *t) {
    return kiln_emu_ds_swizzle(t, &site, t->thread, 3 << 10 | 0x10 << 5 | 0x1e);
  });
  // Quad mode: lanes 3 2 1 0.
  auto quads = results(32, [](kiln_emu_thread *t) {
    return kiln_emu_ds_swizzle(t, &site, t->thread, 0x8000 | 0x1b);
  });
  for (unsigned lane = 0; lane < 64; ++lane) {
    EXPECT_EQ(permuted[lane], (lane * 7 + 3) % 64);
    EXPECT_EQ(swizzled[lane], lane / 32 * 32 + (((lane % 32 & 0x1e) | 0x10) ^ 3));
  }
  for (unsigned lane = 0; lane < 32; ++lane)
    EXPECT_EQ(quads[lane], lane / 4 * 4 + 3 - lane % 4);
}

TEST(Exchange, DppMovesWithinRowsOfSixteen) {
  auto dpp = [](uint32_t control, uint32_t rows, uint32_t bound) {
    return results(64, [=](kiln_emu_thread *t) {
      return kiln_emu_dpp(t, &site, 1000 + t->thread, t->thread, control, rows, 0xf, bound);
    });
  };
  auto swapped = dpp(0xb1, 0xf, 1), rotated = dpp(0x128, 0xf, 1), shifted = dpp(0x112, 0xf, 0);
  auto zeroed = dpp(0x112, 0xf, 1), mirrored = dpp(0x140, 0xf, 1), halves = dpp(0x141, 0xf, 1);
  auto firstRow = dpp(0xb1, 0x1, 1), lastOfRow = dpp(0x142, 0xf, 1),
       lastOfHalf = dpp(0x143, 0xf, 0);
  for (unsigned lane = 0; lane < 64; ++lane) {
    unsigned row = lane / 16 * 16, in = lane % 16;
    EXPECT_EQ(swapped[lane], lane ^ 1);
    EXPECT_EQ(rotated[lane], row + (in + 8) % 16);
    EXPECT_EQ(shifted[lane], in >= 2 ? lane - 2 : 1000 + lane);
    EXPECT_EQ(zeroed[lane], in >= 2 ? lane - 2 : 0);
    EXPECT_EQ(mirrored[lane], row + 15 - in);
    EXPECT_EQ(halves[lane], lane / 8 * 8 + 7 - lane % 8);
    EXPECT_EQ(firstRow[lane], lane < 16 ? lane ^ 1 : 1000 + lane);
    EXPECT_EQ(lastOfRow[lane], row ? row - 1 : 0);
    EXPECT_EQ(lastOfHalf[lane], lane >= 32 ? 31 : 1000 + lane);
  }
}

TEST(Exchange, Permlanex16ReadsTheOtherRow) {
  // Lane i of a row reads lane 15 - i of the other.
  auto mirrored = results(32, [](kiln_emu_thread *t) {
    return kiln_emu_permlanex16(t, &site, t->thread, 0x89abcdef, 0x01234567);
  });
  for (unsigned lane = 0; lane < 32; ++lane)
    EXPECT_EQ(mirrored[lane], 31 - lane);
}

TEST(Exchange, PermlaneSwapsWordsOfTwoLanes) {
  for (unsigned lanes : {16u, 32u}) {
    auto swapped = results(64, [=](kiln_emu_thread *t) {
      uint32_t out[2];
      kiln_emu_permlane_swap(t, &site, lanes, t->thread, 100 + t->thread, out);
      return out[0] | uint64_t(out[1]) << 32;
    });
    for (unsigned lane = 0; lane < 64; ++lane) {
      EXPECT_EQ(uint32_t(swapped[lane]), lane & lanes ? 100 + lane - lanes : lane);
      EXPECT_EQ(swapped[lane] >> 32, lane & lanes ? 100 + lane : lane + lanes);
    }
  }
}

TEST(Exchange, ReadlaneBroadcasts) {
  for (uint64_t value : results(
           64, [](kiln_emu_thread *t) { return kiln_emu_readlane(t, &site, t->thread * 2, 33); }))
    EXPECT_EQ(value, 66u);
}

// CDNA3 ISA: with the lanes of the EXEC mask alone, on both sides of a branch and after it.
TEST(Exchange, LanesThatAreNotActiveTakeNoPart) {
  SITE(branch, "rocdl.ds_bpermute", 21);
  SITE(other, "rocdl.readfirstlane", 22);
  SITE(join, "rocdl.ballot", 23);
  std::vector<uint64_t> after(64);
  auto inBranch = results(64, [&](kiln_emu_thread *t) -> uint64_t {
    uint64_t result =
        t->thread % 4 == 3
            ? kiln_emu_ds_bpermute(t, &branch, 4 * (t->thread ^ (t->thread & 32 ? 4 : 1)),
                                   100 + t->thread)
            : kiln_emu_readfirstlane(t, &other, 200 + t->thread);
    after[t->thread] = kiln_emu_vote(t, &join, KILN_EMU_VOTE_BALLOT, ~0ull, t->thread % 4 == 3);
    return result;
  });
  for (unsigned lane = 0; lane < 64; ++lane) {
    bool taken = lane % 4 == 3;
    EXPECT_EQ(inBranch[lane], !taken ? 200u : lane & 32 ? 100 + (lane ^ 4) : 0u) << lane;
    EXPECT_EQ(after[lane], 0x8888888888888888u) << lane;
  }
}

/// A lane gives the address of 8 bytes of a row of 16 elements, and has a column (Triton,
/// "chooseDsReadTrLayout").
template <typename Element> void checkReadAcrossRows(const kiln_emu_site &read) {
  SITE(write, "llvm.store", 25);
  SITE(barrier, "rocdl.barrier", 26);
  constexpr uint32_t lanes = 64, columns = 16, count = 8 / sizeof(Element), ofRow = columns / count,
                     rows = lanes / ofRow;
  auto numberOf = [](uint32_t row, uint32_t column) { return Element(columns * row + column); };
  auto found = results(lanes, [&](kiln_emu_thread *t) -> uint64_t {
    // In reverse order in memory.
    uint32_t row = t->thread / ofRow, first = t->thread % ofRow * count;
    char *at = t->shared + sizeof(Element) * (columns * (rows - 1 - row) + first);
    Element values[count];
    for (uint32_t i = 0; i < count; ++i)
      values[i] = numberOf(row, first + i);
    kiln_emu_store(t, &write, KILN_EMU_SHARED, at, values, 8, 8, 1);
    kiln_emu_barrier(t, &barrier, 0, 0);
    uint64_t column = 0;
    kiln_emu_ds_read_tr(t, &read, at, sizeof(Element), &column);
    return column;
  });
  for (uint32_t lane = 0; lane < lanes; ++lane)
    for (uint32_t row = 0; row < count; ++row)
      EXPECT_EQ(Element(found[lane] >> (8 * sizeof(Element) * row)),
                numberOf(lane / 16 * count + row, lane % 16))
          << lane << ", " << row;
}

TEST(Exchange, AReadAcrossRowsGivesEachLaneAColumn) {
  SITE(ofHalves, "rocdl.ds.read.tr16.b64", 24);
  checkReadAcrossRows<uint16_t>(ofHalves);
  SITE(ofBytes, "rocdl.ds.read.tr8.b64", 27);
  checkReadAcrossRows<uint8_t>(ofBytes);
}

TEST(Exchange, ALoopThatLanesLeaveRunsWithTheRest) {
  SITE(inside, "rocdl.ballot", 21);
  SITE(after, "rocdl.ballot", 23);
  // Lane i goes through the loop i + 1 times; the sum is of how many were there each time.
  auto counts = results(32, [](kiln_emu_thread *t) -> uint64_t {
    uint64_t sum = 0;
    for (unsigned i = 0; i <= t->thread; ++i)
      sum += __builtin_popcountll(kiln_emu_vote(t, &inside, KILN_EMU_VOTE_BALLOT, ~0ull, 1));
    EXPECT_EQ(kiln_emu_vote(t, &after, KILN_EMU_VOTE_BALLOT, ~0ull, 1), 0xffffffffu);
    return sum;
  });
  uint64_t expected = 0;
  for (unsigned lane = 0; lane < 32; ++lane)
    EXPECT_EQ(counts[lane], expected += 32 - lane);
}

TEST(Exchange, SwizzlesAndDppOfInactiveLanes) {
  SITE(swizzle, "rocdl.ds_swizzle", 21);
  SITE(dpp, "rocdl.update.dpp", 22);
  SITE(bounded, "rocdl.update.dpp", 23);
  // The even lanes alone, which read the odd ones.
  auto read = [&](auto operation) {
    return results(
        64, [=](kiln_emu_thread *t) -> uint64_t { return t->thread % 2 ? 7 : operation(t); });
  };
  auto swizzled =
      read([](kiln_emu_thread *t) { return kiln_emu_ds_swizzle(t, &swizzle, 1, 1 << 10 | 0x1f); });
  auto kept =
      read([](kiln_emu_thread *t) { return kiln_emu_dpp(t, &dpp, 5, 1, 0xb1, 0xf, 0xf, 0); });
  auto zero =
      read([](kiln_emu_thread *t) { return kiln_emu_dpp(t, &bounded, 5, 1, 0xb1, 0xf, 0xf, 1); });
  for (unsigned lane = 0; lane < 64; lane += 2) {
    EXPECT_EQ(swizzled[lane], 0u);
    EXPECT_EQ(kept[lane], 5u);
    EXPECT_EQ(zero[lane], 0u);
  }
}

} // namespace
