// Products of blocks of arrays that kernels address by pointers. On sm_90a the copy engine brings
// them (TMA), where the kernel's arguments describe the array as that wants it: those launches and
// the others, and kernels whose pointers only look as if they could. All numbers are exact.

#include "tests/language/ExactProduct.h"

namespace kiln::testing {
namespace {

const std::string head = R"(
@triton.jit
def kernel(pa, pb, pc, M, N, K, sa, sb, sc, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, T: tl.constexpr,
           KEPT: tl.constexpr):
)";

/// Indices beyond the end are masked, or kept inside in one of three ways.
const std::string indices = R"(
    i = m + tl.arange(0, BM)
    j = n + tl.arange(0, BN)
    l = tl.arange(0, BK)
    rows = i
    columns = j
    if KEPT == "modulo":
        rows = i % M
        columns = j % N
    elif KEPT == "minimum":
        rows = tl.minimum(i, M - 1)
        columns = tl.minimum(j, N - 1)
    elif KEPT == "where":
        rows = tl.where(i < M, i, 0)
        columns = tl.where(N > j, j, 0)
    a = pa + rows[:, None] * sa + l[None, :]
    if T:
        b = pb + columns[None, :] * sb + l[:, None]
    else:
        b = pb + l[:, None] * sb + columns[None, :]
)";

const std::string loop = R"(
    sum = tl.zeros((BM, BN), tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        in_a = l[None, :] < K - k * BK
        in_b = l[:, None] < K - k * BK
        if KEPT == "masked":
            in_a &= i[:, None] < M
            in_b = (j[None, :] < N) & in_b
        x = tl.load(a, mask=in_a, other=0.0)
        y = tl.load(b, mask=in_b, other=0.0)
        sum = tl.dot(x, y, sum)
        a += BK
        b += BK * (1 if T else sb)
)";

const std::string store = R"(
    tl.store(pc + i[:, None] * sc + j[None, :], sum, mask=(i[:, None] < M) & (j[None, :] < N))
)";

const std::string oneTile = R"(
    m = tl.program_id(0) * BM
    n = tl.program_id(1) * BN
)" + indices + loop + store;

std::string indented(const std::string &lines) {
  std::string result;
  for (char c : lines)
    result += c == '\n' ? "\n    " : std::string(1, c);
  return result;
}

/// Two programs walk over all tiles; where a result goes is computed again.
const std::string manyTiles = R"(
    width = tl.cdiv(N, BN)
    behind = tl.program_id(0) - 2
    for tile in range(tl.program_id(0), tl.cdiv(M, BM) * width, 2):
        m = tile // width * BM
        n = tile % width * BN
)" + indented(indices + loop) +
                              R"(
        behind += 2
        i = behind // width * BM + tl.arange(0, BM)
        j = behind % width * BN + tl.arange(0, BN)
)" + indented(store);

struct Tile {
  int m = 64, n = 64, k = 64;
  std::vector<SourceConstant> constants(bool transposed, const char *kept) const {
    return {{"BM", m}, {"BN", n}, {"BK", k}, {"T", transposed}, {"KEPT", kept}};
  }
};

const char *const waysToKeep[] = {"masked", "modulo", "minimum", "where"};

class PointerProduct : public SourceTest {};

TEST_P(PointerProduct, OfAnyExtents) {
  for (bool transposed : {false, true})
    for (const char *kept : waysToKeep) {
      SCOPED_TRACE(std::string(kept) + (transposed ? ", transposed" : ""));
      SourceKernel kernel(head + oneTile, GetParam(), ExactProduct(1, 1, 1, transposed).arguments(),
                          Tile().constants(transposed, kept));
      for (int k : {0, 1, 64, 200}) {
        ExactProduct product(93, 70, k, transposed);
        ASSERT_EQ(kernel.run(product.arguments(), {2, 2, 1}), "") << k;
        ASSERT_EQ(product.wrong(), "") << k;
      }
    }
}

/// A second loop goes on where the first one has left its pointers, or its block pointers.
const std::string twoLoops = R"(
    m = tl.program_id(0) * BM
    n = tl.program_id(1) * BN
)" + indices + R"(
    sum = tl.zeros((BM, BN), tl.float32)
    half = K // 2 // BK * BK
    step = BK if T else BK * sb
    offsets = columns[None, :] * sb + l[:, None] if T else l[:, None] * sb + columns[None, :]
    moved = pb
    left = tl.make_block_ptr(pa, (M, K), (sa, 1), (m, 0), (BM, BK), (1, 0))
    for k in range(0, half, BK):
        y = tl.load(moved + offsets, mask=j[None, :] < N, other=0.0)
        sum = tl.dot(tl.load(left, boundary_check=(0, 1), padding_option="zero"), y, sum)
        moved += step
        left = tl.advance(left, (0, BK))
    for k in range(half, K, BK):
        y = tl.load(moved + offsets, mask=(l[:, None] < K - k) & (j[None, :] < N), other=0.0)
        sum = tl.dot(tl.load(left, boundary_check=(0, 1), padding_option="zero"), y, sum)
        moved += step
        left = tl.advance(left, (0, BK))
)" + store;

TEST_P(PointerProduct, InALoopThatGoesOnWhereAnotherEnds) {
  for (bool transposed : {false, true}) {
    SourceOptions options;
    options.numStages = 3;
    SourceKernel kernel(head + twoLoops, GetParam(), ExactProduct(1, 1, 1, transposed).arguments(),
                        Tile{32, 32, 16}.constants(transposed, "masked"), options);
    for (int k : {0, 1, 16, 31, 64, 200}) {
      ExactProduct product(45, 50, k, transposed);
      ASSERT_EQ(kernel.run(product.arguments(), {2, 2, 1}), "") << k;
      ASSERT_EQ(product.wrong(), "") << k;
    }
  }
}

TEST_P(PointerProduct, OverManyTiles) {
  for (bool transposed : {false, true}) {
    SourceKernel kernel(head + manyTiles, GetParam(), ExactProduct(1, 1, 1, transposed).arguments(),
                        Tile().constants(transposed, "where"));
    for (int k : {0, 24, 130}) {
      ExactProduct product(200, 130, k, transposed);
      ASSERT_EQ(kernel.run(product.arguments(), {2, 1, 1}), "") << k;
      ASSERT_EQ(product.wrong(), "") << k;
    }
  }
}

/// Each block of a cluster has its rows: of a kernel with maps and of its fallback, which copies by
/// threads.
TEST_P(PointerProduct, ByClusters) {
  for (bool transposed : {false, true})
    for (const char *kept : {"masked", "modulo"}) {
      SourceOptions options;
      options.numCtas = 2;
      SourceKernel kernel(head + oneTile, GetParam(),
                          ExactProduct(1, 1, 1, transposed).arguments("i64"),
                          Tile{128, 64, 64}.constants(transposed, kept), options);
      for (int unit : {1, 8})
        for (int k : {0, 64, 200, 333}) {
          ExactProduct product(200, 71, k, transposed, unit);
          ASSERT_EQ(kernel.run(product.arguments("i64"), {2, 2, 1}), "") << unit << ", " << k;
          ASSERT_EQ(product.wrong(), "") << unit << ", " << k;
        }
    }
}

/// One kernel, launched with rows that begin at multiples of 16 bytes and with others, and with
/// fewer rows than a block has.
TEST_P(PointerProduct, OfRowsAnywhere) {
  for (bool transposed : {false, true}) {
    SourceKernel kernel(head + oneTile, GetParam(),
                        ExactProduct(1, 1, 1, transposed).arguments("i64"),
                        Tile().constants(transposed, "modulo"));
    for (int unit : {1, 8})
      for (int m : {5, 93}) {
        ExactProduct product(m, 71, 75, transposed, unit);
        ASSERT_EQ(kernel.run(product.arguments("i64"), {2, 2, 1}), "") << unit << ", " << m;
        ASSERT_EQ(product.wrong(), "") << unit << ", " << m;
      }
  }
}

/// One tile of 64 x 64 of a product of 40 rows, which are kept inside by a remainder, and what
/// `ending` does with it.
std::string runKeptRows(const ExactProduct &product, const Buffer<float> &result,
                        const std::string &ending, const char *target) {
  std::vector<SourceArgument> arguments = product.arguments();
  arguments[2] = {"pc", "*fp32", result};
  return runSource(head + "\n    m = 0\n    n = 0\n" + indices + loop + ending, target, arguments,
                   Tile().constants(true, "modulo"));
}

/// What is computed of rows beyond the end is stored: those of the beginning again.
TEST_P(PointerProduct, OfRowsThatComeAgain) {
  constexpr int m = 40, n = 64, k = 70;
  ExactProduct product(m, n, k, /*transposed=*/true);
  Buffer<float> result(size_t(64) * product.strideC);
  std::string everywhere = "\n    tl.store(pc + i[:, None] * sc + j[None, :], sum)\n";
  ASSERT_EQ(runKeptRows(product, result, everywhere, GetParam()), "");
  for (int i = 0; i < 64; ++i)
    for (int j = 0; j < n; ++j)
      ASSERT_EQ(double(result[size_t(i) * product.strideC + j]), product.C(i % m, j))
          << i << ", " << j;
}

/// Rows beyond the end meet the others in a sum along columns.
TEST_P(PointerProduct, OfRowsThatAreAddedUp) {
  constexpr int m = 40, n = 64, k = 70;
  ExactProduct product(m, n, k, /*transposed=*/true);
  Buffer<float> result(n);
  std::string added = "\n    tl.store(pc + j, tl.sum(sum, 0), mask=j < N)\n";
  ASSERT_EQ(runKeptRows(product, result, added, GetParam()), "");
  for (int j = 0; j < n; ++j) {
    double sum = 0;
    for (int i = 0; i < 64; ++i)
      sum += product.C(i % m, j);
    ASSERT_EQ(double(result[j]), sum) << j;
  }
}

/// Blocks that begin before the array, where a mask says so: a window that slides over the rows of
/// B from before the first to behind the last one.
TEST_P(PointerProduct, OfAWindowOverTheEdges) {
  const std::string window = R"(
    i = tl.arange(0, BM)
    j = tl.arange(0, BN)
    l = tl.arange(0, BK)
    sum = tl.zeros((BM, BN), tl.float32)
    for first in range(-48, K, BK):
        at = first + l
        x = tl.load(pa + i[:, None] * sa + at[None, :], mask=(at[None, :] >= 0) & (at[None, :] < K) & (i[:, None] < M), other=0.0)
        y = tl.load(pb + at[:, None] * sb + j[None, :], mask=(at[:, None] >= 0) & (at[:, None] < K) & (j[None, :] < N), other=0.0)
        sum = tl.dot(x, y, sum)
)" + store;
  ExactProduct product(60, 50, 100, /*transposed=*/false);
  ASSERT_EQ(
      runSource(head + window, GetParam(), product.arguments(), Tile().constants(false, "masked")),
      "");
  EXPECT_EQ(product.wrong(), "");
}

class StepsInMemory : public SourceTest {};

/// Blocks along k in an order that memory says: where the first one is, and by how much the
/// pointers move each time, once ahead.
TEST_P(StepsInMemory, MoveBothOperands) {
  const std::string steps = R"(
@triton.jit
def kernel(pa, pb, pc, M, N, K, sa, sb, sc, steps, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    i = tl.program_id(0) * BM + tl.arange(0, BM)
    j = tl.program_id(1) * BN + tl.arange(0, BN)
    l = tl.load(steps) + tl.arange(0, BK)
    a = pa + i[:, None] * sa + l[None, :]
    b = pb + l[:, None] * sb + j[None, :]
    sum = tl.zeros((BM, BN), tl.float32)
    step = tl.load(steps + 1)
    for k in range(0, K, BK):
        sum = tl.dot(tl.load(a), tl.load(b), sum)
        a += step
        b += step * sb
        steps += 1
        step = tl.load(steps + 1)
    tl.store(pc + i[:, None] * sc + j[None, :], sum)
)";
  const std::vector<std::vector<int32_t>> orders = {
      {0, 0, 0}, {16, -16, 0, 0}, {48, -32, -16, 32, 0, 0}};
  for (const std::vector<int32_t> &order : orders) {
    ExactProduct product(64, 32, 16 * (int(order.size()) - 2), /*transposed=*/false);
    Buffer<int32_t> moves(order.size());
    for (size_t number = 0; number < order.size(); ++number)
      moves[number] = order[number];
    std::vector<SourceArgument> arguments = product.arguments();
    arguments.push_back({"steps", "*i32", moves});
    SourceKernel kernel(steps, GetParam(), arguments, {{"BM", 32}, {"BN", 32}, {"BK", 16}});
    ASSERT_EQ(kernel.run(arguments, {2, 1, 1}), "") << order.size();
    EXPECT_EQ(product.wrong(), "") << order.size();
  }
}

INSTANTIATE_TEST_SUITE_P(, StepsInMemory,
                         ::testing::Values("cpu", "emu:sm_80", "emu:gfx942", "emu:gfx1100"),
                         sourceTargetName);

INSTANTIATE_TEST_SUITE_P(, PointerProduct,
                         ::testing::Values("cpu", "emu:sm_80", "emu:sm_90a", "emu:gfx942"),
                         sourceTargetName);

} // namespace
} // namespace kiln::testing
