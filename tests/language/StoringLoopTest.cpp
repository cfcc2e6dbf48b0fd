// Loops that multiply what they load and write results as they go: loads run ahead of the writes
// where they may, and all is in program order, be it in other arrays or in one that two arguments
// are. All numbers are exact.

#include "tests/language/SourceKernel.h"

namespace kiln::testing {
namespace {

class StoringLoop : public SourceTest {};

constexpr int extent = 64, maxTrips = 4;

using Half = uint16_t;

Half halfOf(int value) {
  const Half magnitudes[] = {0, 0x3c00, 0x4000, 0x4200};
  return Half(Half(value < 0) << 15 | magnitudes[std::abs(value)]);
}

/// Blocks of rows of small integers.
std::vector<int> blocks(int count, uint64_t seed) {
  Random random(seed);
  std::vector<int> numbers(size_t(count) * extent * extent);
  for (int &number : numbers)
    number = int(random.below(7)) - 3;
  return numbers;
}

/// A block that has columns change places and signs.
struct Turn {
  static int target(int column) { return (column * 5 + 3) % extent; }
  static int sign(int column) { return column % 3 ? 1 : -1; }

  static std::vector<int> matrix() {
    std::vector<int> numbers(size_t(extent) * extent);
    for (int column = 0; column < extent; ++column)
      numbers[size_t(column * extent + target(column))] = sign(column);
    return numbers;
  }
  static void row(const int *from, int *to) {
    for (int column = 0; column < extent; ++column)
      to[target(column)] = sign(column) * from[column];
  }
};

Buffer<Half> halves(const std::vector<int> &numbers) {
  Buffer<Half> buffer(numbers.size());
  for (size_t i = 0; i < numbers.size(); ++i)
    buffer[i] = halfOf(numbers[i]);
  return buffer;
}

const char *const storing = R"(
@triton.jit
def kernel(q, p, w, trips, rows, K: tl.constexpr, COMPUTED: tl.constexpr):
    i = tl.arange(0, K)
    at = i[:, None] * K + i[None, :]
    turn = tl.load(w + at)
    p += at
    for t in range(trips):
        x = tl.load(p, mask=i[:, None] < rows, other=0.0)
        if COMPUTED:
            x = -x
        tl.store(q + (t + 1) * K * K + at, tl.dot(x, turn).to(tl.float16), mask=i[:, None] < rows)
        p += K * K
)";

/// What the kernel should have written to `q`, where `written` was; it reads that or `read`.
std::vector<int> afterBlocks(std::vector<int> written, const std::vector<int> *read, int trips,
                             int rows, int sign) {
  for (int t = 0; t < trips; ++t)
    for (int row = 0; row < rows; ++row) {
      int *to = written.data() + ((t + 1) * extent + row) * extent;
      Turn::row((read ? read : &written)->data() + (t * extent + row) * extent, to);
      for (int column = 0; column < extent; ++column)
        to[column] *= sign;
    }
  return written;
}

void checkBlocks(const std::string &target, bool isComputed, unsigned stages, unsigned warps) {
  const Buffer<Half> w = halves(Turn::matrix());
  SourceOptions options;
  options.numStages = stages;
  options.numWarps = warps;
  auto arguments = [&](const Buffer<Half> &q, const Buffer<Half> &p, int trips, int rows) {
    return std::vector<SourceArgument>{{"q", "*fp16:16", q},
                                       {"p", "*fp16:16", p},
                                       {"w", "*fp16:16", w},
                                       {"trips", "i32", trips},
                                       {"rows", "i32", rows}};
  };
  SourceKernel kernel(storing, target, arguments(w, w, 0, 0),
                      {{"K", extent}, {"COMPUTED", isComputed}}, options);
  ASSERT_EQ(kernel.errors(), "");
  for (int trips = 0; trips <= maxTrips; ++trips)
    for (bool isSame : {false, true})
      for (int rows : {extent, 49}) {
        const std::vector<int> read = blocks(maxTrips + 1, 1),
                               before = isSame ? read : blocks(maxTrips + 1, 2);
        const Buffer<Half> p = halves(read), q = halves(before);
        ASSERT_EQ(kernel.run(arguments(q, isSame ? q : p, trips, rows)), "");
        const std::vector<int> written =
            afterBlocks(before, isSame ? nullptr : &read, trips, rows, isComputed ? -1 : 1);
        for (size_t i = 0; i < written.size(); ++i)
          ASSERT_EQ(q[i], halfOf(written[i]))
              << trips << " iterations, " << stages << " stages, at " << i
              << (isSame ? " of one array" : "");
      }
}

/// Where p is q, too, an iteration reads what the one before has written.
TEST_P(StoringLoop, BlocksOfAnotherArrayOrTheSame) {
  for (unsigned stages : {2u, 3u})
    for (unsigned warps : {4u, 8u})
      checkBlocks(GetParam(), /*isComputed=*/false, stages, warps);
}

TEST_P(StoringLoop, BlocksThatOperandsAreComputedFrom) {
  for (unsigned warps : {2u, 4u, 8u})
    checkBlocks(GetParam(), /*isComputed=*/true, 3, warps);
}

/// Blocks of states that a loop writes where it has read.
TEST_P(StoringLoop, StatesWhereTheyWereLoaded) {
  const char *source = R"(
@triton.jit
def kernel(p, last, trips, N: tl.constexpr):
    i = tl.arange(0, N)
    state = tl.load(last + i)
    for t in range(trips):
        x = tl.load(p + i)
        tl.store(p + i, state)
        state = state * 2 + x
        p += N
    tl.store(last + i, state)
)";
  constexpr int elements = 4096, trips = 3;
  Random random(5);
  std::vector<float> blocks(size_t(trips) * elements), states(elements);
  for (std::vector<float> *numbers : {&blocks, &states})
    for (float &number : *numbers)
      number = float(random.below(9));
  Buffer<float> p(blocks), last(states);
  ASSERT_EQ(runSource(source, GetParam(),
                      {{"p", "*fp32:16", p}, {"last", "*fp32:16", last}, {"trips", "i32", trips}},
                      {{"N", elements}}),
            "");
  for (int i = 0; i < elements; ++i) {
    for (int t = 0; t < trips; ++t) {
      ASSERT_EQ(p[size_t(t * elements + i)], states[size_t(i)]) << t << " " << i;
      states[size_t(i)] = states[size_t(i)] * 2 + blocks[size_t(t * elements + i)];
    }
    ASSERT_EQ(last[size_t(i)], states[size_t(i)]) << i;
  }
}

const char *const adding = R"(
@triton.jit
def kernel(q, p, w, r, trips, K: tl.constexpr, BY_BLOCKS: tl.constexpr):
    i = tl.arange(0, K)
    at = i[:, None] * K + i[None, :]
    turn = tl.load(w + at)
    sums = tl.make_tensor_descriptor(q, [2 * K, K], [K, 1], [K, K])
    for t in range(trips):
        y = tl.dot(tl.load(p + t * K * K + at), turn)
        if BY_BLOCKS:
            sums.atomic_add([t % 2 * K, 0], y)
        else:
            tl.atomic_add(q + t % 2 * K * K + at, y, sem="relaxed")
    tl.store(r + at, tl.load(q + at))
)";

/// Sums in memory, which are complete when the program reads them.
TEST_P(StoringLoop, SumsInMemory) {
  const Buffer<Half> w = halves(Turn::matrix());
  for (bool byBlocks : {false, true})
    for (int trips = 0; trips <= maxTrips; ++trips) {
      std::vector<int> read = blocks(maxTrips, 3), turned(read.size());
      for (int row = 0; row < maxTrips * extent; ++row)
        Turn::row(read.data() + row * extent, turned.data() + row * extent);
      const Buffer<Half> p = halves(read);
      constexpr size_t block = size_t(extent) * extent;
      Buffer<float> q(2 * block), r(block);
      ASSERT_EQ(runSource(adding, GetParam(),
                          {{"q", "*fp32:16", q},
                           {"p", "*fp16:16", p},
                           {"w", "*fp16:16", w},
                           {"r", "*fp32:16", r},
                           {"trips", "i32", trips}},
                          {{"K", extent}, {"BY_BLOCKS", byBlocks}}),
                "");
      for (size_t i = 0; i < 2 * block; ++i) {
        int sum = 0;
        for (size_t t = i / block; t < size_t(trips); t += 2)
          sum += turned[t * block + i % block];
        ASSERT_EQ(q[i], float(sum)) << trips << " iterations, at " << i;
        if (i < block)
          ASSERT_EQ(r[i], float(sum)) << trips << " iterations, read at " << i;
      }
    }
}

INSTANTIATE_TEST_SUITE_P(, StoringLoop,
                         ::testing::Values("cpu", "emu:sm_80", "emu:sm_90a", "emu:gfx942",
                                           "emu:gfx1100"),
                         sourceTargetName);

} // namespace
} // namespace kiln::testing
