//===- SharedExchangeTest.cpp - vectors, swizzles and bank conflicts ------===//

#include "compiler/Layout/SharedExchange.h"
#include "compiler/Layout/MatrixUnits.h"
#include "compiler/Layout/TileLayouts.h"
#include "tests/compiler/Layout/RandomLayouts.h"

#include <gtest/gtest.h>
#include <set>
#include <vector>

using namespace kiln;

static LinearLayout fragment(const char *target, MatrixOperand operand,
                             llvm::ArrayRef<int64_t> shape, MatrixProblem problem) {
  auto tiling = selectMatrixTiling(llvm::cantFail(parseTarget(target)), problem);
  return tiling->layout(operand, shape);
}

static const MatrixProblem problemF16{128, 128, 64, MatrixElement::F16, MatrixElement::F32, 4};

TEST(SharedExchange, CountingSeesTheTextbookConflicts) {
  SharedLayout rows{plainShared({32, 32}, {1, 0})};
  LinearLayout along = coalescedLayout({32, 32}, {1, 0}, 1, 32, 1);
  LinearLayout down = coalescedLayout({32, 32}, {0, 1}, 1, 32, 1);
  EXPECT_EQ(countWavefronts(planSharedAccess(along, rows, 32, {}), rows, 32, {}).conflicts(), 0);
  WavefrontCount count = countWavefronts(planSharedAccess(down, rows, 32, {}), rows, 32, {});
  EXPECT_EQ(count.ideal, 32);
  EXPECT_EQ(count.wavefronts, 32 * 8); // eight lanes of a phase, 16 bytes each, one row apart
  // Padding by one element after every row cures it.
  SharedLayout padded = rows;
  padded.padInterval = 32;
  padded.padAmount = 1;
  EXPECT_EQ(countWavefronts(planSharedAccess(down, padded, 32, {}), padded, 32, {}).conflicts(), 0);
}

TEST(SharedExchange, VectorAccessesAreAsWideAsLayoutsAllow) {
  SharedLayout rows{plainShared({64, 64}, {1, 0})};
  LinearLayout wide = coalescedLayout({64, 64}, {1, 0}, 8, 32, 4);
  EXPECT_EQ(planSharedAccess(wide, rows, 16, {}).vector, 8u);
  EXPECT_EQ(planSharedAccess(wide, rows, 32, {}).vector, 4u);
  SharedLayout padded = rows;
  padded.padInterval = 64;
  padded.padAmount = 2;
  EXPECT_EQ(planSharedAccess(wide, padded, 16, {}).vector, 2u);
}

TEST(SharedExchange, TransposeIsFreeOfConflicts) {
  LinearLayout along = coalescedLayout({64, 64}, {1, 0}, 1, 32, 4);
  LinearLayout down = coalescedLayout({64, 64}, {0, 1}, 1, 32, 4);
  SharedExchange plan = planSharedExchange(along, down, 32, {});
  EXPECT_EQ(plan.storeCost.conflicts(), 0);
  EXPECT_EQ(plan.loadCost.conflicts(), 0);
  EXPECT_EQ(plan.bytes, 64 * 64 * 4);
}

TEST(SharedExchange, CoalescedToOperandsIsFreeOfConflicts) {
  LinearLayout loadA = coalescedLayout({128, 64}, {1, 0}, 8, 32, 4);
  LinearLayout a = fragment("cuda:sm_80", MatrixOperand::A, {128, 64}, problemF16);
  SharedExchange plan = planSharedExchange(loadA, a, 16, {});
  EXPECT_EQ(plan.storeCost.conflicts(), 0);
  EXPECT_EQ(plan.loadCost.conflicts(), 0);
}

TEST(SharedExchange, AccumulatorsToCoalescedIsFreeOfConflicts) {
  LinearLayout c = fragment("cuda:sm_80", MatrixOperand::C, {128, 128}, problemF16);
  LinearLayout rows = coalescedLayout({128, 128}, {1, 0}, 8, 32, 4);
  SharedExchange plan = planSharedExchange(c, rows, 16, {});
  EXPECT_EQ(plan.storeCost.conflicts(), 0);
  EXPECT_EQ(plan.loadCost.conflicts(), 0);
}

TEST(SharedExchange, MfmaOperandsAreFreeOfConflicts) {
  LinearLayout loadA = coalescedLayout({128, 64}, {1, 0}, 8, 64, 4);
  LinearLayout a = fragment("hip:gfx942", MatrixOperand::A, {128, 64}, problemF16);
  SharedExchange plan = planSharedExchange(loadA, a, 16, {});
  EXPECT_EQ(plan.storeCost.conflicts(), 0);
  EXPECT_EQ(plan.loadCost.conflicts(), 0);
  EXPECT_GE(plan.load.vector, 4u);
}

/// A product's operand of 16-bit elements, loaded by rows, on one of AMD's GPUs.
static SharedExchange planOfOperand(const char *target, const SharedMemoryShape &memory) {
  return planSharedExchange(coalescedLayout({128, 64}, {1, 0}, 8, 64, 4),
                            fragment(target, MatrixOperand::A, {128, 64}, problemF16), 16, memory);
}

/// In how many banks such lanes read words, 16 bytes each: counted without the planner's own
/// counting. Those with `other` are served together as those without.
static size_t banksOf(const SharedExchange &plan, llvm::ArrayRef<unsigned> together, unsigned other,
                      const SharedMemoryShape &memory) {
  std::set<uint64_t> banks;
  for (unsigned lane : together) {
    uint64_t at = plan.load.threadOffset(lane ^ other, 0) ^ plan.load.parts.front().offset;
    for (unsigned word = 0; word < 4; ++word)
      banks.insert((at * 2 / 4 + word) % memory.banks);
  }
  return banks.size();
}

// Lanes 0 to 3 are served with 20 to 23 where waves of 64 read 16 bytes a lane (with 12 to 15 and
// 24 to 27 too by 64 banks).
static const unsigned servedByFew[] = {0, 1, 2, 3, 20, 21, 22, 23},
                      servedByMany[] = {0, 1, 2, 3, 12, 13, 14, 15, 20, 21, 22, 23, 24, 25, 26, 27};

TEST(SharedExchange, PackedMfmaOperandsAreReadWholeAndWithoutConflicts) {
  for (const char *name : {"hip:gfx90a", "hip:gfx942", "hip:gfx950"}) {
    SharedMemoryShape memory;
    memory.banks = llvm::cantFail(parseTarget(name)).sharedBanks;
    SharedExchange plan = planOfOperand(name, memory);
    EXPECT_EQ(plan.store.vector, 8u) << name;
    ASSERT_EQ(plan.load.vector, 8u) << name;
    EXPECT_EQ(plan.storeCost.conflicts() + plan.loadCost.conflicts(), 0) << name;
    llvm::ArrayRef<unsigned> together(servedByFew);
    if (memory.banks == 64)
      together = servedByMany;
    for (unsigned other : {0, 4, 8, 32})
      EXPECT_EQ(banksOf(plan, together, other, memory), 4 * together.size())
          << name << ", the lanes with " << other;
  }
}

/// Lanes of 16 bytes that fill a row of banks with those that they are served with when waves of 64
/// read, and not with their neighbours; and the other way round. A wrong group of lanes counts
/// neither right.
TEST(SharedExchange, CountingKnowsTheGroupsOfLanes) {
  struct {
    unsigned banks;
    const char *lanes;
    bool isRead;
    int64_t conflicts;
  } cases[] = {{32, "8 16 64 128 96 256", true, 0},   {32, "8 16 64 128 96 256", false, 8},
               {32, "8 16 32 128 96 256", true, 8},   {32, "8 16 32 128 96 256", false, 0},
               {64, "8 16 128 160 192 256", true, 0}, {64, "8 16 128 160 192 256", false, 4},
               {64, "8 16 32 64 160 256", true, 4},   {64, "8 16 32 64 160 256", false, 0}};
  SharedLayout plain{plainShared({512}, {0})};
  for (const auto &[banks, lanes, isRead, conflicts] : cases) {
    SharedMemoryShape memory;
    memory.banks = banks;
    LinearLayout layout = llvm::cantFail(LinearLayout::parse(
        std::string("register: 1 2 4; lane: ") + lanes + "; warp: ; block: -> 512"));
    SharedAccess access = planSharedAccess(layout, plain, 16, memory);
    ASSERT_EQ(access.vector, 8u);
    WavefrontCount count = countWavefronts(access, plain, 16, memory, isRead);
    EXPECT_EQ(count.ideal, 256 / banks);
    EXPECT_EQ(count.conflicts(), conflicts) << banks << " banks, " << lanes << ", " << isRead;
  }
}

// What a product has made, rows in lanes, as the next one's operand along these rows: stored
// element by element, it is read 16 bytes at a time, and nothing is put together.
TEST(SharedExchange, RepackedWordsDecideWhichSideIsWide) {
  MatrixProblem problem{64, 64, 64, MatrixElement::BF16, MatrixElement::F32, 4};
  auto tiling = selectMatrixTiling(llvm::cantFail(parseTarget("hip:gfx942")), problem);
  tiling->swapped = true;
  LinearLayout sum = tiling->layout(MatrixOperand::C, {64, 64}),
               operand = tiling->layout(MatrixOperand::B, {64, 64});
  SharedMemoryShape memory;
  SharedExchange plain = planSharedExchange(sum, operand, 16, memory);
  EXPECT_EQ(plain.repackedWords, 0);
  memory.countsRepackedWords = true;
  SharedExchange counted = planSharedExchange(sum, operand, 16, memory);
  EXPECT_EQ(counted.repackedWords, 0);
  EXPECT_EQ(counted.store.vector, 1u);
  EXPECT_EQ(counted.load.vector, 8u);
  EXPECT_EQ(counted.cost(), counted.storeCost.wavefronts + counted.loadCost.wavefronts +
                                int64_t(counted.store.parts.size() + counted.load.parts.size()));
}

static LinearLayout parsed(const char *text) { return llvm::cantFail(LinearLayout::parse(text)); }

/// The offset of the access that brings a register; -1: none begins with it.
static int64_t offsetOf(const SharedAccess &access, unsigned reg) {
  for (const SharedAccess::Part &part : access.parts)
    if (part.registers.front() == reg)
      return part.offset;
  return -1;
}

// Rows of which a thread has two are stored 16 bytes at a time, and read by words of two rows. What
// the next two rows have is the nearest in memory, then what the next registers have.
TEST(SharedExchange, WordsThatFollowOneAnotherInRegistersAreNearest) {
  LinearLayout rows = parsed("register: 0,1 0,2 0,4 1,0; lane: 0,8 0,16 0,32 0,64 0,128 2,0; "
                             "warp: 4,0 8,0 16,0; block: -> 32x256"),
               operand = parsed("register: 1,0 2,0 4,0 0,128 16,0; lane: 0,1 0,2 0,4 0,8 0,16 8,0; "
                                "warp: 0,32 0,64 0,0; block: -> 32x256");
  SharedMemoryShape memory;
  memory.countsRepackedWords = true;
  SharedExchange plan = planSharedExchange(rows, operand, 16, memory);
  EXPECT_EQ(plan.store.vector, 8u);
  ASSERT_EQ(plan.load.vector, 2u);
  EXPECT_EQ(plan.storeCost.conflicts() + plan.loadCost.conflicts(), 0);
  ASSERT_EQ(offsetOf(plan.load, 0), 0);
  constexpr int64_t rowElements = 64;
  for (unsigned bit = 1; bit < 5; ++bit)
    EXPECT_EQ(offsetOf(plan.load, 1 << bit), rowElements << (bit - 1)) << bit;
}

// RDNA 3: a thread has two rows of eight columns, and an operand eight of a column's rows, of which
// both halves of a warp read the same. The store moves words, and so would the load; with parts of
// what the load moves whole it is a quarter as many, without conflicts.
TEST(SharedExchange, OneSideMovesPartsOfWhatTheOtherMoves) {
  LinearLayout rows = parsed("register: 0,1 0,2 0,4 1,0; lane: 0,8 0,16 0,32 0,64 2,0; "
                             "warp: 4,0 8,0 16,0; block: -> 32x128"),
               operand = parsed("register: 1,0 2,0 4,0 8,0 0,32 0,64 16,0; "
                                "lane: 0,1 0,2 0,4 0,8 0,0; warp: 0,16 0,0 0,0; block: -> 32x128");
  SharedMemoryShape memory;
  memory.countsRepackedWords = true;
  SharedExchange whole = planSharedExchange(rows, operand, 16, memory);
  EXPECT_LT(whole.load.vector, 8u);
  memory.movesParts = true;
  SharedExchange parts = planSharedExchange(rows, operand, 16, memory);
  EXPECT_EQ(parts.store.vector, 2u);
  EXPECT_EQ(parts.load.vector, 8u);
  EXPECT_EQ(parts.load.parts.size(), 16u);
  EXPECT_EQ(parts.loadCost.conflicts(), 0);
  EXPECT_LT(parts.cost(), whole.cost());
}

// A thread's four rows are stored at once, and read in twos of 8 bytes as registers follow one
// another: nearest to each other, as AMD's LDS reads by one instruction (`ds_load_2addr_b64`).
TEST(SharedExchange, PartsThatFollowOneAnotherInRegistersAreNearest) {
  LinearLayout rows = parsed("register: 0,1 0,2 0,4 1,0 2,0; lane: 0,8 0,16 0,32 0,64 4,0; "
                             "warp: 8,0 16,0; block: -> 32x128"),
               operand = parsed("register: 1,0 2,0 4,0 8,0 0,32 0,64 16,0; "
                                "lane: 0,1 0,2 0,4 0,8 0,0; warp: 0,16 0,0; block: -> 32x128");
  SharedMemoryShape memory;
  memory.countsRepackedWords = memory.movesParts = true;
  SharedExchange plan = planSharedExchange(rows, operand, 16, memory);
  EXPECT_EQ(plan.store.vector, 8u);
  ASSERT_EQ(plan.load.vector, 4u);
  EXPECT_EQ(plan.storeCost.conflicts() + plan.loadCost.conflicts(), 0);
  constexpr int64_t rowElements = 64;
  EXPECT_EQ(offsetOf(plan.load, 4) - offsetOf(plan.load, 0), rowElements);
  EXPECT_EQ(offsetOf(plan.load, 8) - offsetOf(plan.load, 0), 2 * rowElements);
}

// Elements that are stored one by one, rows in lanes, and read by words: the swizzle that leaves
// most of the registers' part of offsets to constants.
TEST(SharedExchange, OfPlansThatCostTheSameThreadsComputeTheFewestAddresses) {
  LinearLayout rows = parsed("register: 4,0 8,0 16,0; lane: 0,1 0,2 0,4 0,8 0,16 0,32; "
                             "warp: 1,0 2,0; block: -> 32x64"),
               operand = parsed("register: 1,0 2,0 4,0 0,16 0,32; lane: 0,1 0,2 0,4 0,8 8,0 16,0; "
                                "warp: 0,0 0,0; block: -> 32x64");
  SharedMemoryShape memory;
  memory.countsRepackedWords = true;
  SharedExchange plan = planSharedExchange(rows, operand, 16, memory);
  EXPECT_EQ(plan.storeCost.conflicts() + plan.loadCost.conflicts(), 0);
  EXPECT_EQ(plan.load.vector, 2u);
  EXPECT_EQ(plan.load.parts.size(), 16u);
  EXPECT_EQ(plan.addresses, 4);
}

// CDNA: a thread has two rows of eight columns, and the unit's lanes eight of a column's rows. The
// store moves words. Reads of 8 bytes, of whose pairs one address is enough, cost as much as those
// by which rows and lanes change places within 16 bytes, at twice as many addresses.
TEST(SharedExchange, NarrowerVectorsNeedFewerAddresses) {
  LinearLayout rows = parsed("register: 0,1 0,2 0,4 1,0; lane: 0,8 0,16 0,32 0,64 2,0 4,0; "
                             "warp: 8,0 16,0; block: -> 32x128"),
               operand = parsed("register: 1,0 2,0 4,0 0,16 0,32 0,64; "
                                "lane: 0,1 0,2 0,4 0,8 8,0 16,0; warp: 0,0 0,0; block: -> 32x128");
  SharedMemoryShape memory;
  memory.countsRepackedWords = memory.movesParts = true;
  SharedExchange plan = planSharedExchange(rows, operand, 16, memory);
  EXPECT_EQ(plan.storeCost.conflicts() + plan.loadCost.conflicts(), 0);
  ASSERT_EQ(plan.load.vector, 4u);
  EXPECT_EQ(plan.addresses, 8 + 8);
  uint64_t ofThreads = 0;
  for (uint64_t column : plan.load.laneOffsets)
    ofThreads |= column;
  EXPECT_EQ((offsetOf(plan.load, 4) ^ offsetOf(plan.load, 0)) & ofThreads, 0u);
}

// Two loads of 16 bytes, of which the operand wants the first halves side by side: to store these
// at once a thread would copy words from one load's registers to the other's.
TEST(SharedExchange, WordsOfTwoLoadsAreNotMoved) {
  LinearLayout loads = parsed("register: 0,1 0,2 0,4 32,0 64,0; lane: 0,8 0,16 0,32 1,0 2,0 4,0; "
                              "warp: 8,0 16,0; block: -> 128x64"),
               operand = parsed("register: 0,1 0,2 0,8 0,16 0,32 64,0; "
                                "lane: 1,0 2,0 4,0 8,0 16,0 0,4; warp: 0,0 32,0; block: -> 128x64");
  SharedMemoryShape memory;
  memory.countsRepackedWords = memory.movesParts = memory.countsMovedWords = true;
  SharedExchange plan = planSharedExchange(loads, operand, 16, memory);
  EXPECT_EQ(plan.repackedWords, 0);
  for (const SharedAccess::Part &part : plan.store.parts)
    for (unsigned element = 1; element < part.registers.size(); ++element)
      EXPECT_EQ(part.registers[element], part.registers.front() + element);
}

// An access per word without conflicts is always possible; wider accesses are chosen only where
// they cost less, conflicts included.
TEST(SharedExchange, RandomLayoutsNeverCostMoreThanWordsWithoutConflicts) {
  RandomLayouts random(30);
  for (int round = 0; round < 60; ++round) {
    LayoutSpace out = random.shape(12);
    LinearLayout a = random.distributed(5, 5, 2, out), b = random.distributed(5, 5, 2, out);
    SharedExchange plan = planSharedExchange(a, b, 32, {});
    EXPECT_TRUE(plan.shared.map.isBijective());
    int64_t accesses = plan.store.parts.size() + plan.load.parts.size();
    EXPECT_LE(plan.storeCost.wavefronts + plan.loadCost.wavefronts + accesses, 4 * 32)
        << a.str() << "\n"
        << b.str();
    if (plan.store.vector == 1 && plan.load.vector == 1)
      EXPECT_EQ(plan.storeCost.conflicts() + plan.loadCost.conflicts(), 0);
  }
}
