// What one workgroup writes and another reads once it knows: right as it is compiled, and wrong
// without any one kind of the instructions that order it.
#include "tests/amdgcn/CompiledKernel.h"
#include "tests/amdgcn/Launch.h"
#include <numeric>

namespace kiln::amdgcn {
namespace {

constexpr int block = 256;
constexpr uint32_t numSeeds = 20;

struct Target {
  const char *processor;
  unsigned lanes;
  /// How instructions begin, each kind of which the kernel needs.
  std::vector<const char *> needed;
};

class Fences : public testing::TestWithParam<Target> {
protected:
  Fences() : data(block), before(block), after(block) {}

  /// Whether program 1 reads what program 0 wrote; none of what begins with `removed` is executed.
  bool isRight(uint32_t seed, const std::string &removed = "") {
    data.assign(block, 0);
    flag = 0;
    auto edit = [&](const std::string &text) {
      bool isRemoved = !removed.empty() && text.find(removed) == text.find_first_not_of(" \t");
      return isRemoved ? "s_nop 0" : text;
    };
    CodeObject code(compiledKernel("tests/amdgcn/message.py -n message_kernel -w 4 -s "
                                   "'*i32:16, *i32, *i32:16, *i32:16, 256'",
                                   GetParam().processor),
                    edit);
    Allocations allocations;
    LaunchParameters parameters;
    parameters.grid = {2, 1, 1};
    parameters.block = {4 * GetParam().lanes, 1, 1};
    parameters.seed = seed;
    parameters.longestRun = 1'000'000;
    allocations.add(&flag, sizeof flag);
    putArgument(parameters.arguments, data.data());
    putArgument(parameters.arguments, &flag);
    for (auto *array : {&before, &after})
      putArgument(parameters.arguments, array->data());
    for (auto *array : {&data, &before, &after})
      allocations.add(array->data(), sizeof(int) * block);
    try {
      launch(code, *code.kernel("message_kernel"), allocations, parameters);
    } catch (const Fault &fault) {
      if (removed.empty())
        ADD_FAILURE() << fault.what();
      return false;
    }
    std::vector<int> expected(block);
    std::iota(expected.begin(), expected.end(), 1);
    return after == expected;
  }

  alignas(64) int flag = 0;
  std::vector<int> data, before, after;
};

TEST_P(Fences, TheMessageArrives) {
  for (uint32_t seed = 1; seed <= numSeeds; ++seed)
    EXPECT_TRUE(isRight(seed)) << seed;
}

TEST_P(Fences, AMissingFenceIsFound) {
  for (const char *needed : GetParam().needed) {
    bool isFound = false;
    for (uint32_t seed = 1; seed <= numSeeds && !isFound; ++seed)
      isFound = !isRight(seed, needed);
    EXPECT_TRUE(isFound) << needed;
  }
}

INSTANTIATE_TEST_SUITE_P(
    , Fences,
    testing::Values(
        Target{"gfx90a", 64, {"buffer_wbinvl1_vol", "s_waitcnt vmcnt", "s_barrier"}},
        Target{"gfx942", 64, {"buffer_wbl2", "buffer_inv", "s_waitcnt vmcnt", "s_barrier"}},
        Target{"gfx950", 64, {"buffer_wbl2", "buffer_inv", "s_waitcnt vmcnt", "s_barrier"}},
        Target{"gfx1100", 32, {"buffer_gl0_inv", "buffer_gl1_inv", "s_waitcnt_vscnt", "s_barrier"}},
        Target{"gfx1201", 32, {"global_inv", "s_wait_storecnt", "s_barrier_signal"}}),
    [](const auto &info) { return info.param.processor; });

} // namespace
} // namespace kiln::amdgcn
