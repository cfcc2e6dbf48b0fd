//===- LayoutConversionTest.cpp - plans executed on a simulated block -----===//
//
// Every thread's registers hold the flat coordinate that the source layout gives
// them; after the plan, each must hold what the result layout says.
//
//===----------------------------------------------------------------------===//

#include "compiler/Layout/LayoutConversion.h"
#include "compiler/Layout/SlicedExchange.h"
#include "compiler/Layout/TileLayouts.h"
#include "tests/compiler/Layout/RandomLayouts.h"

#include <gtest/gtest.h>

using namespace kiln;

namespace {
/// registers[warp][lane][register]
struct Block {
  std::vector<std::vector<std::vector<uint64_t>>> registers;

  static Block holding(const LinearLayout &layout) {
    Block block;
    block.registers.resize(layout.numWarps());
    for (int64_t warp = 0; warp < layout.numWarps(); ++warp)
      for (int64_t lane = 0; lane < layout.numLanes(); ++lane) {
        std::vector<uint64_t> values;
        for (int64_t reg = 0; reg < layout.numRegisters(); ++reg)
          values.push_back(layout.apply({{Dim::Register, uint64_t(reg)},
                                         {Dim::Lane, uint64_t(lane)},
                                         {Dim::Warp, uint64_t(warp)}}));
        block.registers[warp].push_back(values);
      }
    return block;
  }
};

constexpr uint64_t unwritten = ~uint64_t(0);

Block runRegisters(const Block &from, llvm::ArrayRef<unsigned> registers) {
  Block to = from;
  for (auto [warp, lanes] : llvm::enumerate(from.registers))
    for (auto [lane, values] : llvm::enumerate(lanes)) {
      std::vector<uint64_t> moved;
      for (unsigned reg : registers)
        moved.push_back(values[reg]);
      to.registers[warp][lane] = moved;
    }
  return to;
}

Block runShuffles(const Block &from, const ShufflePlan &plan, int64_t resultRegisters) {
  Block to = from;
  auto sources = plan.sourcesOfWord(), targets = plan.resultsOfWord();
  for (auto [warp, lanes] : llvm::enumerate(from.registers)) {
    for (auto &values : to.registers[warp])
      values.assign(resultRegisters, unwritten);
    for (const ShufflePlan::Round &round : plan.rounds)
      for (uint64_t lane = 0; lane < lanes.size(); ++lane) {
        uint64_t read = round.readLane ^ multiply(plan.readByLane, lane);
        if (round.local) {
          EXPECT_EQ(read, lane);
        }
        uint64_t given = round.give ^ multiply(plan.giveByLane, read),
                 received = round.receive ^ multiply(plan.receiveByLane, lane);
        for (auto [source, target] : llvm::zip_equal(sources, targets))
          to.registers[warp][lane][received ^ target] = lanes[read][given ^ source];
      }
  }
  return to;
}

Block runExchange(const Block &from, const SharedExchange &plan, const LinearLayout &result) {
  std::vector<uint64_t> memory(plan.shared.numElements(), unwritten);
  for (auto [warp, lanes] : llvm::enumerate(from.registers))
    for (auto [lane, values] : llvm::enumerate(lanes)) {
      if ((lane & plan.store.freeLanes) || (warp & plan.store.freeWarps))
        continue;
      for (const SharedAccess::Part &part : plan.store.parts) {
        uint64_t at = plan.store.threadOffset(lane, warp) ^ part.offset;
        EXPECT_EQ(at % plan.store.vector, 0u);
        for (auto [i, reg] : llvm::enumerate(part.registers))
          memory[plan.shared.place(at + i)] = values[reg];
      }
    }
  Block to = Block::holding(result);
  for (auto [warp, lanes] : llvm::enumerate(to.registers))
    for (auto [lane, values] : llvm::enumerate(lanes))
      for (const SharedAccess::Part &part : plan.load.parts) {
        uint64_t at = plan.load.threadOffset(lane, warp) ^ part.offset;
        for (auto [i, reg] : llvm::enumerate(part.registers))
          values[reg] = memory[plan.shared.place(at + i)];
      }
  return to;
}

void expectConverts(const LinearLayout &source, const LinearLayout &result, unsigned bits) {
  LayoutConversion plan = planConversion(source, result, bits, {});
  EXPECT_EQ(plan.kind, classifyConversion(source, result));
  Block block = Block::holding(source);
  switch (plan.kind) {
  case ConversionKind::None:
    break;
  case ConversionKind::Registers:
    block = runRegisters(block, plan.registers);
    break;
  case ConversionKind::Shuffle:
    block = runShuffles(block, *plan.shuffle, result.numRegisters());
    break;
  case ConversionKind::Shared:
    block = runExchange(block, *plan.shared, result);
    break;
  }
  ASSERT_EQ(block.registers, Block::holding(result).registers)
      << int(plan.kind) << "\n  " << source.str() << "\n  " << result.str();
}
} // namespace

TEST(LayoutConversion, RegisterPermutationsAreFree) {
  RandomLayouts random(20);
  for (int round = 0; round < 100; ++round) {
    LinearLayout source = random.distributed(3, 4, 2, random.shape(9));
    // Mix the register columns among themselves.
    BinaryColumns columns(source.columns());
    columns[0] ^= columns[2];
    std::swap(columns[1], columns[2]);
    LinearLayout result(source.in(), source.out(), columns);
    EXPECT_EQ(planConversion(source, result, 32, {}).kind, ConversionKind::Registers);
    expectConverts(source, result, 32);
  }
}

TEST(LayoutConversion, AnyChangeWithinAWarpIsShuffles) {
  RandomLayouts random(21);
  for (int round = 0; round < 300; ++round) {
    LayoutSpace out = random.shape(9);
    LinearLayout warps = random.distributed(3, 4, 2, out);
    BinaryColumns mixed(warps.columns());
    BinaryColumns mix = random.invertible(7);
    for (unsigned i = 0; i < 7; ++i)
      mixed[i] = multiply(warps.columns(), mix[i]);
    LinearLayout result(warps.in(), out, mixed);
    LayoutConversion plan = planConversion(warps, result, 32, {});
    EXPECT_LE(plan.kind, ConversionKind::Shuffle);
    if (plan.shuffle) {
      EXPECT_EQ(plan.shuffle->rounds.size(), 8u);
    }
    for (unsigned bits : {8u, 16u, 32u})
      expectConverts(warps, result, bits);
  }
}

TEST(LayoutConversion, RandomLayoutsOfAllKindsConvert) {
  RandomLayouts random(22);
  for (int round = 0; round < 200; ++round) {
    LayoutSpace out = random.shape(9);
    unsigned lanes = 3 + random.below(3), regs = random.below(3);
    LinearLayout source = random.distributed(9 - lanes - regs, lanes, regs, out);
    LinearLayout result = random.distributed(2, 5, 2, out);
    // Equal numbers of threads, the missing ones duplicates.
    source = source.withInBits(Dim::Lane, 5).withInBits(Dim::Warp, 2);
    for (unsigned bits : {8u, 16u, 32u, 64u})
      expectConverts(source, result, bits), expectConverts(result, source, bits);
  }
}

TEST(LayoutConversion, DuplicatesAndBroadcasts) {
  LinearLayout tile = coalescedLayout({64, 64}, {1, 0}, 4, 32, 4);
  LinearLayout rows = tile.slice(1), columns = tile.slice(0);
  LinearLayout line = coalescedLayout({64}, {0}, 1, 32, 4);
  for (const LinearLayout &slice : {rows, columns}) {
    expectConverts(slice, line, 32);
    expectConverts(line, slice, 32);
  }
  expectConverts(rows, columns, 16);
}

TEST(LayoutConversion, ReduceResultToItsLineIsWithinWarpsWhereItCanBe) {
  LinearLayout line = coalescedLayout({32}, {0}, 1, 32, 1);
  LinearLayout spread = coalescedLayout({32, 4}, {1, 0}, 1, 32, 1).slice(1);
  EXPECT_EQ(classifyConversion(spread, line), ConversionKind::Shuffle);
  expectConverts(spread, line, 32);
  expectConverts(line, spread, 32);
}

TEST(LayoutConversion, TextOfAPlanIsStable) {
  LinearLayout tile = coalescedLayout({8, 4}, {1, 0}, 1, 32, 1);
  LayoutConversion plan = planConversion(tile, tile.transpose({1, 0}).reshape({8, 4}), 32, {});
  ASSERT_EQ(plan.kind, ConversionKind::Shuffle);
  EXPECT_EQ(plan.shuffle->rounds.size(), 1u);
  EXPECT_FALSE(plan.shuffle->givesByLane());
}

/// A row of gfx11's results has its even columns in one half of the wave, the odd ones in the
/// other; an operand has whole rows in both.
TEST(LayoutConversion, HalvesOfAWaveExchangeWords) {
  LinearLayout result = llvm::cantFail(
      LinearLayout::parse("register: 0,2 0,4 0,8; lane: 1,0 2,0 4,0 8,0 0,1; warp: -> 16x16"));
  LinearLayout operand = llvm::cantFail(
      LinearLayout::parse("register: 0,1 0,2 0,4 0,8; lane: 1,0 2,0 4,0 8,0 0,0; warp: -> 16x16"));
  for (auto [bits, moved] : {std::pair(8u, 2), {16u, 4}, {32u, 8}}) {
    LayoutConversion plan = planConversion(result, operand, bits, {});
    ASSERT_EQ(plan.kind, ConversionKind::Shuffle);
    EXPECT_TRUE(plan.shuffle->readsByXor());
    EXPECT_FALSE(plan.shuffle->givesByLane());
    EXPECT_EQ(llvm::count_if(plan.shuffle->rounds, [](const auto &round) { return !round.local; }),
              moved);
    expectConverts(result, operand, bits);
  }
}

namespace {
/// Whether a place that one warp touches in any round is touched by another in any.
bool warpsMeet(const SlicedExchange &plan, const LinearLayout &layout) {
  std::vector<int64_t> owners(plan.shared.numElements(), -1);
  bool meet = false;
  for (const SlicedExchange::Round &round : plan.rounds)
    for (const SharedAccess *access : {&round.store, &round.load})
      for (int64_t warp = 0; warp < layout.numWarps(); ++warp)
        for (int64_t lane = 0; lane < layout.numLanes(); ++lane)
          for (const SharedAccess::Part &part : access->parts)
            for (unsigned element = 0; element < access->vector; ++element) {
              int64_t &owner = owners[access->threadOffset(lane, warp) ^ (part.offset + element)];
              meet |= owner >= 0 && owner != warp;
              owner = warp;
            }
  return meet;
}
} // namespace

/// Memory that serves a warp's accesses in order takes what would cost more shuffles, and no warp
/// touches what another does, whatever the slices.
TEST(LayoutConversion, WarpsExchangeWithThemselvesWhereMemoryOrdersThem) {
  SharedMemoryShape memory;
  memory.ordersWarps = true;
  RandomLayouts random(23);
  unsigned within = 0, inSlices = 0;
  for (int round = 0; round < 200; ++round) {
    LayoutSpace out = random.shape(12);
    LinearLayout source = random.distributed(5, 5, 2, out);
    BinaryColumns mixed(source.columns());
    BinaryColumns mix = random.invertible(7);
    for (unsigned i = 0; i < 7; ++i)
      mixed[i] = multiply(llvm::ArrayRef(source.columns()).take_front(7), mix[i]);
    LinearLayout result(source.in(), out, mixed);
    LayoutConversion plan = planConversion(source, result, 32, memory);
    EXPECT_EQ(plan.isWithinWarps, plan.kind == ConversionKind::Shared);
    if (!plan.isWithinWarps)
      continue;
    ++within;
    EXPECT_EQ(runExchange(Block::holding(source), *plan.shared, result).registers,
              Block::holding(result).registers);
    for (unsigned slices = 1; slices <= maxSlices(source, result); slices *= 2)
      if (exchangesWithinWarps(source, result, 32, memory, slices)) {
        inSlices += slices > 1;
        EXPECT_FALSE(warpsMeet(slices > 1 ? planSlicedExchange(source, result, 32, memory, slices)
                                          : inOneRound(*plan.shared),
                               source));
      }
  }
  EXPECT_GT(within, 0u);
  EXPECT_GT(inSlices, 0u);
}

TEST(LayoutConversion, DuplicatesAmongWarpsStillMeet) {
  SharedMemoryShape memory;
  memory.ordersWarps = true;
  auto layout = [](const char *text) { return llvm::cantFail(LinearLayout::parse(text)); };
  LinearLayout rows = layout("register: 0,1 0,2 0,4 0,8; lane: 1,0 2,0 4,0 8,0 16,0 0,16; "
                             "warp: 0,0; block: -> 32x32");
  LinearLayout columns = layout("register: 1,0 2,0 4,0 8,0; lane: 0,1 0,2 0,4 0,8 16,0 0,16; "
                                "warp: 0,0; block: -> 32x32");
  EXPECT_EQ(planConversion(rows, columns, 32, memory).kind, ConversionKind::Shuffle);
}

namespace {
/// Each step as the instruction does it, to registers that words hold together.
Block runSwaps(const Block &from, const SwapPlan &plan) {
  Block to = from;
  for (auto &lanes : to.registers) {
    for (auto [registerBit, laneBit] : plan.steps) {
      EXPECT_EQ(plan.together >> registerBit & 1, 0u);
      for (uint64_t lane = 0; lane < lanes.size(); ++lane)
        for (uint64_t reg = 0; reg < lanes[lane].size(); ++reg)
          if ((lane >> laneBit & 1) && !(reg >> registerBit & 1))
            std::swap(lanes[lane][reg],
                      lanes[lane ^ uint64_t(1) << laneBit][reg ^ uint64_t(1) << registerBit]);
    }
    for (auto &values : lanes) {
      std::vector<uint64_t> renamed;
      for (unsigned reg : plan.registers)
        renamed.push_back(values[reg]);
      values = renamed;
    }
  }
  return to;
}
} // namespace

/// Up to two exchanges of lanes' bits with registers', and any names of registers.
TEST(LayoutConversion, LanesSwapWithRegisters) {
  constexpr unsigned registerBits = 4, laneBits = 5, swapped = 8 | 16;
  SharedMemoryShape memory;
  memory.swappedLanes = swapped;
  RandomLayouts random(24);
  unsigned packed = 0, twice = 0;
  for (int round = 0; round < 200; ++round) {
    LinearLayout source = random.distributed(registerBits, laneBits, 1, random.shape(10));
    LinearLayout result = source;
    for (int step = 0, steps = 1 + int(random.below(2)); step < steps; ++step)
      result = withSwapped(result, {random.below(registerBits), 3 + random.below(2)});
    BinaryColumns columns(result.columns());
    std::swap(columns[0], columns[1 + random.below(registerBits - 1)]);
    result = LinearLayout(source.in(), source.out(), columns);
    for (unsigned bits : {8u, 16u, 32u, 64u}) {
      LayoutConversion plan = planConversion(source, result, bits, memory);
      if (!plan.swaps) {
        EXPECT_LE(plan.kind, ConversionKind::Shuffle);
        continue;
      }
      packed += plan.swaps->together != 0;
      twice += plan.swaps->steps.size() == 2;
      EXPECT_FALSE(plan.shuffle);
      EXPECT_EQ(runSwaps(Block::holding(source), *plan.swaps).registers,
                Block::holding(result).registers)
          << source.str() << "\n  " << result.str();
    }
  }
  EXPECT_GT(packed, 0u);
  EXPECT_GT(twice, 0u);
}

/// Results of 32 x 32 in f16, of which a lane then has eight neighbours: four words and four words
/// change places by four instructions. Other lanes, or warps, do not swap.
TEST(LayoutConversion, ResultsBecomeRowsBySwaps) {
  auto layout = [](const char *text) { return llvm::cantFail(LinearLayout::parse(text)); };
  LinearLayout result = layout("register: 0,1 0,2 0,8 0,16; lane: 1,0 2,0 4,0 8,0 16,0 0,4; "
                               "warp: 0,32; block: -> 32x64");
  LinearLayout rows = layout("register: 0,1 0,2 0,4 0,16; lane: 1,0 2,0 4,0 8,0 16,0 0,8; "
                             "warp: 0,32; block: -> 32x64");
  LinearLayout others = layout("register: 1,0 0,2 0,8 0,16; lane: 0,1 2,0 4,0 8,0 16,0 0,4; "
                               "warp: 0,32; block: -> 32x64");
  SharedMemoryShape memory;
  memory.swappedLanes = 16 | 32;
  LayoutConversion plan = planConversion(result, rows, 16, memory);
  ASSERT_TRUE(plan.swaps);
  EXPECT_EQ(plan.swaps->together, 1u);
  EXPECT_EQ(plan.swaps->cost(16), 8);
  EXPECT_FALSE(planConversion(result, others, 16, memory).swaps);
  memory.swappedLanes = 16;
  EXPECT_FALSE(planConversion(result, rows, 16, memory).swaps);
}
