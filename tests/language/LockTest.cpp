// Blocks that hand memory to each other by locks and flags, while stores of every warp are in
// flight: the emulator delivers them as late as the program's own order allows.

#include "tests/language/SourceKernel.h"

namespace kiln::testing {
namespace {

/// Two programs that have seen each other begin count up the same array, whoever has the lock.
const char *const locked = R"(
@triton.jit
def kernel(lock, arrived, x, rounds, N: tl.constexpr, TAKE: tl.constexpr, GIVE: tl.constexpr,
           SCOPE: tl.constexpr):
    i = tl.arange(0, N)
    tl.atomic_add(arrived, 1)
    while tl.atomic_add(arrived, 0) < 2:
        pass
    for _ in range(rounds):
        while tl.atomic_cas(lock, 0, 1, sem=TAKE, scope=SCOPE) == 1:
            pass
        tl.store(x + i, tl.load(x + i) + 1)
        tl.atomic_xchg(lock, 0, sem=GIVE, scope=SCOPE)
)";

/// They take turns: each sees what the other has just done.
const char *const inTurns = R"(
@triton.jit
def kernel(turn, arrived, x, rounds, N: tl.constexpr, TAKE: tl.constexpr, GIVE: tl.constexpr,
           SCOPE: tl.constexpr):
    i = tl.arange(0, N)
    for _ in range(rounds):
        while tl.atomic_add(turn, 0, sem=TAKE, scope=SCOPE) != tl.program_id(0):
            pass
        tl.store(x + i, tl.load(x + i) + 1)
        tl.atomic_xchg(turn, 1 - tl.program_id(0), sem=GIVE, scope=SCOPE)
)";

constexpr int rounds = 20, numElements = 512;

struct Order {
  const char *take, *give, *scope;
};

/// What was reported, or how often an element was not counted up.
std::string count(const char *source, const char *target, const Order &order) {
  Buffer<int32_t> lock(1), arrived(1), x(numElements);
  SourceOptions options;
  options.grid = {2, 1, 1};
  options.threads = 2;
  std::string found = runSource(
      source, target,
      {{source == inTurns ? "turn" : "lock", "*i32", lock},
       {"arrived", "*i32", arrived},
       {"x", "*i32", x},
       {"rounds", "i32", rounds}},
      {{"N", numElements}, {"TAKE", order.take}, {"GIVE", order.give}, {"SCOPE", order.scope}},
      options);
  int lost = 0;
  for (int i = 0; i < numElements; ++i)
    lost += 2 * rounds - x[i];
  return found + (lost ? "lost " + std::to_string(lost) + "\n" : "");
}

class Lock : public SourceTest {};

TEST_P(Lock, CoversTheStoresOfAllWarps) {
  for (const char *source : {locked, inTurns})
    for (const Order &order :
         {Order{"acq_rel", "acq_rel", "gpu"}, Order{"acquire", "release", "gpu"},
          Order{"acquire", "release", "sys"}, Order{"acq_rel", "release", "sys"}})
      EXPECT_EQ(count(source, GetParam(), order), "")
          << order.take << " " << order.give << " " << order.scope;
}

/// One that is given up with nothing to order what was done, or for the own block alone: the
/// emulator's late stores show it.
TEST_P(Lock, ThatOrdersTooLittleIsFound) {
  if (std::string(GetParam()) == "cpu")
    return; // whose hardware orders more
  EXPECT_NE(count(inTurns, GetParam(), {"acquire", "relaxed", "gpu"}), "");
  EXPECT_NE(count(inTurns, GetParam(), {"acquire", "release", "cta"}), "");
}

KILN_SOURCE_TESTS_ON_ALL(Lock);

} // namespace
} // namespace kiln::testing
