// What loads and stores may reach beside an allocation.
#include "tests/amdgcn/Memory.h"
#include "tests/amdgcn/Instruction.h"
#include <array>
#include <gtest/gtest.h>

namespace kiln::amdgcn {
namespace {

class MemoryTest : public testing::Test {
protected:
  /// Whether an access `from` bytes behind the start of an allocation of `allocated` is a mistake.
  bool isMistake(uint64_t allocated, uint64_t from, uint64_t bytes, bool isStore = false) const {
    Allocations allocations;
    allocations.add(memory.data(), allocated);
    try {
      allocations.check(reinterpret_cast<uintptr_t>(memory.data()) + from, bytes, isStore);
    } catch (const Fault &) {
      return true;
    }
    return false;
  }

  alignas(16) std::array<char, 64> memory = {};
};

TEST_F(MemoryTest, AnAlignedLoadHasItsFirstByteInIt) {
  EXPECT_FALSE(isMistake(17, 16, 16));
  EXPECT_FALSE(isMistake(9, 8, 8));
  EXPECT_TRUE(isMistake(16, 16, 16));
  EXPECT_TRUE(isMistake(9, 4, 8));
}

TEST_F(MemoryTest, ThreeWordsLieInFour) {
  EXPECT_FALSE(isMistake(27, 16, 12));
  EXPECT_FALSE(isMistake(17, 16, 12));
  EXPECT_TRUE(isMistake(16, 16, 12));
  EXPECT_TRUE(isMistake(27, 20, 12));
}

TEST_F(MemoryTest, AnUpperHalfGoesWithItsLowerOne) {
  EXPECT_FALSE(isMistake(17, 24, 8));
  EXPECT_TRUE(isMistake(16, 24, 8));
  EXPECT_TRUE(isMistake(17, 32, 8));
  EXPECT_TRUE(isMistake(17, 20, 4));
}

TEST_F(MemoryTest, StoresAreInItAltogether) {
  EXPECT_FALSE(isMistake(32, 16, 16, true));
  EXPECT_TRUE(isMistake(31, 16, 16, true));
  EXPECT_TRUE(isMistake(27, 16, 12, true));
  EXPECT_TRUE(isMistake(31, 24, 8, true));
}

} // namespace
} // namespace kiln::amdgcn
