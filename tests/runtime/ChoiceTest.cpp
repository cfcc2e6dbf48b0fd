// What generated code's choices stand on: choices that are kept, and waves by multiplication.
#include "tests/runtime/TestLibrary.h"

#include <random>

using namespace kiln::test;

namespace {

class ChoiceTest : public FakeDriverTest {
protected:
  ChoiceTest() : library({cubin("sm_90a")}) {
    open(KILN_DRIVER_CUDA, "libfakecuda12.so", {{9, 0, ""}});
    library.addVariant("v");
    library.entry.num_choice_words = 2;
    EXPECT_OK(kiln_begin(&library.entry, kiln_cuda_stream(fake->makeStream(fake->makeContext(0))),
                         &call));
  }

  static uint64_t hashOf(uint64_t rows, uint64_t columns) {
    return rows * 0x9e3779b97f4a7c15 + columns * 0x6f67f3de1d7a6bab;
  }

  uint32_t recall(uint64_t rows, uint64_t columns) {
    const uint64_t words[] = {rows, columns};
    return kiln_recall(&call, words, hashOf(rows, columns));
  }

  // As a call does whose choice is not known.
  void choose(uint64_t rows, uint64_t columns, uint32_t choice) {
    const uint64_t words[] = {rows, columns};
    if (kiln_recall(&call, words, hashOf(rows, columns)) == KILN_NO_CHOICE)
      kiln_remember(&call, words, hashOf(rows, columns), choice);
  }

  TestLibrary library;
  kiln_call call;
};

TEST_F(ChoiceTest, IsKeptFromTheSecondTimeOn) {
  EXPECT_EQ(recall(10, 20), KILN_NO_CHOICE);
  choose(10, 20, 7);
  EXPECT_EQ(recall(10, 20), KILN_NO_CHOICE);
  choose(10, 20, 7);
  EXPECT_EQ(recall(10, 20), 7u);
  EXPECT_EQ(recall(20, 10), KILN_NO_CHOICE);
}

TEST_F(ChoiceTest, WordsOfOneHashAreToldApart) {
  const uint64_t here[] = {1, 2}, there[] = {2, 1};
  for (int round = 0; round < 2; ++round)
    kiln_remember(&call, here, 12345, 7);
  EXPECT_EQ(kiln_recall(&call, here, 12345), 7u);
  EXPECT_EQ(kiln_recall(&call, there, 12345), KILN_NO_CHOICE);
  kiln_remember(&call, there, 12345, 8);
  EXPECT_EQ(kiln_recall(&call, there, 12345), 8u);
  EXPECT_EQ(kiln_recall(&call, here, 12345), KILN_NO_CHOICE);
}

TEST_F(ChoiceTest, ShapesThatNeverComeAgainPushOutNone) {
  for (int round = 0; round < 2; ++round)
    for (uint32_t shape = 0; shape < 1000; ++shape)
      choose(shape, 1, shape);
  for (uint32_t shape = 0; shape < 100000; ++shape)
    choose(shape, 2, shape);
  unsigned known = 0;
  for (uint32_t shape = 0; shape < 1000; ++shape) {
    uint32_t choice = recall(shape, 1);
    known += choice == shape;
    EXPECT_TRUE(choice == shape || choice == KILN_NO_CHOICE);
  }
  // But for those whose marks coincide.
  EXPECT_GT(known, 980u);
}

TEST_F(ChoiceTest, ShapesThatComeAgainReplaceOthers) {
  for (uint64_t generation = 0; generation < 8; ++generation) {
    for (int round = 0; round < 3; ++round)
      for (uint32_t shape = 0; shape < 4096; ++shape)
        choose(shape, generation, shape);
    unsigned known = 0;
    for (uint32_t shape = 0; shape < 4096; ++shape)
      known += recall(shape, generation) == shape;
    EXPECT_GT(known, 3700u) << generation;
  }
}

TEST(DivisorTest, RoundsQuotientsUp) {
  std::mt19937 random(1);
  for (uint32_t number = 1; number <= UINT16_MAX; ++number) {
    kiln_divisor by = kiln_divisor_of(number);
    auto check = [&](uint64_t dividend) {
      ASSERT_EQ(kiln_divide_up(dividend, &by), (dividend + number - 1) / number)
          << dividend << " / " << number;
    };
    const uint32_t most = uint32_t(1) << 30, multiple = random() % (most / number) * number;
    for (uint32_t dividend : {0u, 1u, number, multiple, multiple + 1, most - 1, most})
      check(dividend);
    if (multiple)
      check(multiple - 1);
    check(random() % most);
  }
}

TEST(DivisorTest, OfNoOtherNumbers) {
  EXPECT_EQ(kiln_divisor_of(0).factor, 0u);
  EXPECT_EQ(kiln_divisor_of(65536).factor, 0u);
}

} // namespace
