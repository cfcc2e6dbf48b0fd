// Loads whose neighbours share addresses: values packed into words, pairs, rows of scales. All
// numbers are exact.

#include "tests/language/Numbers.h"

namespace kiln::testing {
namespace {

class RepeatedLoad : public SourceTest {};

constexpr int perWord = 8, bits = 4;

/// Words of 8 values each, down the rows, and the values.
struct Packed {
  Buffer<int32_t> words;
  std::vector<int> values;
  int columns;

  Packed(int rows, int columns)
      : words(rows / perWord * columns), values(size_t(rows) * columns), columns(columns) {
    Random random(rows);
    for (size_t i = 0; i < words.count(); ++i)
      words[i] = 0;
    for (int k = 0; k < rows; ++k)
      for (int n = 0; n < columns; ++n) {
        int value = values[size_t(k) * columns + n] = int(random.below(1 << bits));
        size_t word = size_t(k / perWord) * columns + n;
        words[word] = int32_t(uint32_t(words[word]) | uint32_t(value) << k % perWord * bits);
      }
  }
  int at(int k, int n) const { return values[size_t(k) * columns + n]; }
};

uint16_t halfOf(int value) {
  const uint16_t magnitudes[] = {0, 0x3c00, 0x4000};
  return uint16_t(value < 0) << 15 | magnitudes[std::abs(value)];
}

/// Small integers, and as halves.
struct Factors {
  Buffer<uint16_t> halves;
  std::vector<int> values;

  explicit Factors(int count) : halves(count), values(count) {
    Random random(count + 1);
    for (int i = 0; i < count; ++i)
      halves[i] = halfOf(values[i] = int(random.below(5)) - 2);
  }
};

/// A product with a packed matrix, whose pointers the loop moves, as of weights of 4 bits.
TEST_P(RepeatedLoad, PackedOperandOfAProduct) {
  const char *source = R"(
@triton.jit
def kernel(a, w, scales, c, trips, stride, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, P: tl.constexpr):
    i = tl.arange(0, M)[:, None]
    j = tl.arange(0, N)[None, :]
    l = tl.arange(0, K)
    pa = a + i * (trips * K) + l[None, :]
    pw = w + (l[:, None] // P) * stride + j
    shift = ((l % P) * 4)[:, None]
    sum = tl.zeros((M, N), tl.float32)
    for t in range(trips):
        x = tl.load(pa)
        scale = tl.load(scales + t * N + j)
        y = ((tl.load(pw) >> shift) & 15).to(tl.float16) * scale
        sum = tl.dot(x, y, sum)
        pa += K
        pw += (K // P) * stride
    tl.store(c + i * N + j, sum)
)";
  constexpr int M = 16, N = 64, K = 64;
  for (unsigned stages : {1u, 3u})
    for (unsigned warps : {1u, 4u})
      for (int trips : {1, 3}) {
        Packed w(trips * K, N);
        Factors a(M * trips * K), scales(trips * N);
        Buffer<float> c(M * N);
        SourceOptions options;
        options.numStages = stages;
        options.numWarps = warps;
        ASSERT_EQ(runSource(source, GetParam(),
                            {{"a", "*fp16", a.halves},
                             {"w", "*i32", w.words},
                             {"scales", "*fp16", scales.halves},
                             {"c", "*fp32", c},
                             {"trips", "i32", trips},
                             {"stride", "i32:16", N}},
                            {{"M", M}, {"N", N}, {"K", K}, {"P", perWord}}, options),
                  "");
        for (int i = 0; i < M; ++i)
          for (int j = 0; j < N; ++j) {
            int sum = 0;
            for (int k = 0; k < trips * K; ++k)
              sum += a.values[i * trips * K + k] * w.at(k, j) * scales.values[k / K * N + j];
            ASSERT_EQ(c[i * N + j], float(sum)) << i << ", " << j << ", " << stages << " stages, "
                                                << warps << " warps, " << trips << " trips";
          }
      }
}

/// A row times a packed matrix, rows of which are left out: below a bound that is a multiple of a
/// word's values, and below any other.
TEST_P(RepeatedLoad, MaskedSumOfPackedRows) {
  const char *source = R"(
@triton.jit
def kernel(a, w, c, rows, N: tl.constexpr, K: tl.constexpr, P: tl.constexpr):
    j = tl.arange(0, N)[None, :]
    l = tl.arange(0, K)
    word = tl.load(w + (l[:, None] // P) * N + j, mask=l[:, None] < rows, other=0)
    y = (word >> ((l % P) * 4)[:, None]) & 15
    x = tl.load(a + l)
    tl.store(c + tl.arange(0, N), tl.sum(x[:, None] * y, 0))
)";
  constexpr int N = 32, K = 64;
  for (bool isPromised : {true, false})
    for (int rows : {0, 48, 64, isPromised ? 16 : 43}) {
      Packed w(K, N);
      Buffer<int32_t> a(K), c(N);
      for (int k = 0; k < K; ++k)
        a[k] = k * 3 - 50;
      ASSERT_EQ(runSource(source, GetParam(),
                          {{"a", "*i32", a},
                           {"w", "*i32", w.words},
                           {"c", "*i32", c},
                           {"rows", isPromised ? "i32:16" : "i32", rows}},
                          {{"N", N}, {"K", K}, {"P", perWord}}),
                "");
      for (int j = 0; j < N; ++j) {
        int sum = 0;
        for (int k = 0; k < rows; ++k)
          sum += a[k] * w.at(k, j);
        ASSERT_EQ(c[j], sum) << j << " of " << rows << " rows";
      }
    }
}

/// Pairs along the only axis, read before and after the array is written.
TEST_P(RepeatedLoad, PairsAroundAStore) {
  const char *source = R"(
@triton.jit
def kernel(p, q, N: tl.constexpr):
    i = tl.arange(0, N)
    before = tl.load(p + i // 2)
    tl.store(p + i, i * 10)
    after = tl.load(p + i // 2)
    tl.store(q + i, before)
    tl.store(q + N + i, after)
)";
  constexpr int N = 256;
  Buffer<int32_t> p(N), q(2 * N);
  for (int i = 0; i < N; ++i)
    p[i] = 7 * i - 100;
  ASSERT_EQ(runSource(source, GetParam(), {{"p", "*i32", p}, {"q", "*i32", q}}, {{"N", N}}), "");
  for (int i = 0; i < N; ++i) {
    ASSERT_EQ(q[i], 7 * (i / 2) - 100) << i;
    ASSERT_EQ(q[N + i], i / 2 * 10) << i;
  }
}

/// Equal along two axes, in groups and altogether; a range that does not start at 0, and extents
/// that are padded.
TEST_P(RepeatedLoad, GroupsAlongTwoAxes) {
  const char *source = R"(
@triton.jit
def kernel(p, q, R: tl.constexpr, C: tl.constexpr):
    i = tl.arange(4, 4 + R)[:, None]
    j = tl.arange(0, C)[None, :]
    x = tl.load(p + (i // 4) * 100 + j // 2)
    y = tl.load(p + i * 0 + j)
    tl.store(q + (i - 4) * C + j, x * 1000 + y)
)";
  for (int R : {16, 12})
    for (int C : {32, 24}) {
      Buffer<int32_t> p(600), q(R * C);
      for (int i = 0; i < 600; ++i)
        p[i] = i;
      ASSERT_EQ(
          runSource(source, GetParam(), {{"p", "*i32", p}, {"q", "*i32", q}}, {{"R", R}, {"C", C}}),
          "");
      for (int i = 0; i < R; ++i)
        for (int j = 0; j < C; ++j)
          ASSERT_EQ(q[i * C + j], ((i + 4) / 4 * 100 + j / 2) * 1000 + j) << i << ", " << j;
    }
}

/// Rounding towards zero, -1 and 0 share an address and -2 and -1 do not: nothing is a group.
TEST_P(RepeatedLoad, PairsBelowZero) {
  const char *source = R"(
@triton.jit
def kernel(p, q, first, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(q + i, tl.load(p + 16 + (first + i) // 2))
)";
  constexpr int N = 32, first = -15;
  Buffer<int32_t> p(64), q(N);
  for (int i = 0; i < 64; ++i)
    p[i] = i;
  ASSERT_EQ(runSource(source, GetParam(),
                      {{"p", "*i32", p}, {"q", "*i32", q}, {"first", "i32", first}}, {{"N", N}}),
            "");
  for (int i = 0; i < N; ++i)
    ASSERT_EQ(q[i], 16 + (first + i) / 2) << i;
}

/// Rows that a loaded index names, as scales of groups have them: neighbours share the index, and
/// pairs of them an element, each under a mask and with a value of its own where that is false.
TEST_P(RepeatedLoad, RowsByALoadedIndex) {
  const char *source = R"(
@triton.jit
def kernel(index, rows, pairs, q, n, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    g = tl.load(index + i // 16)
    g = tl.where(g < 0, g + 8, g)
    row = tl.load(rows + g * 16 + i % 16)
    pair = tl.load(pairs + g * 8 + i % 16 // 2, mask=i % 3 != 0, other=i)
    same = tl.load(pairs + g * 8, mask=i // 16 % 2 == 0, other=-1)
    tl.store(q + i, row * 10000 + pair * 100 + same, mask=i < n)
)";
  constexpr int N = 512, programs = 2, groups = 8, n = N * programs - 37;
  constexpr int named = N * programs / 16;
  Buffer<int32_t> index(named), rows(16 * groups), pairs(8 * groups), q(N * programs);
  for (int i = 0; i < named; ++i)
    index[i] = i * 5 % 16 - 8;
  for (int i = 0; i < 16 * groups; ++i)
    rows[i] = i * 7 % 129;
  for (int i = 0; i < 8 * groups; ++i)
    pairs[i] = i * 11 % 97;
  SourceOptions options;
  options.grid = {programs, 1, 1};
  ASSERT_EQ(runSource(source, GetParam(),
                      {{"index", "*i32", index},
                       {"rows", "*i32", rows},
                       {"pairs", "*i32", pairs},
                       {"q", "*i32", q},
                       {"n", "i32", n}},
                      {{"N", N}}, options),
            "");
  for (int i = 0; i < N * programs; ++i) {
    int g = index[i / 16] < 0 ? index[i / 16] + 8 : index[i / 16];
    int pair = i % 3 ? pairs[g * 8 + i % 16 / 2] : i;
    int same = i / 16 % 2 ? -1 : pairs[g * 8];
    ASSERT_EQ(q[i], i < n ? rows[g * 16 + i % 16] * 10000 + pair * 100 + same : 0) << i;
  }
}

/// Rows of a cache in pages, whose size only the launch knows: a page's number is loaded under a
/// mask that may end within the page, and rows count up in it.
TEST_P(RepeatedLoad, RowsOfPages) {
  const char *source = R"(
@triton.jit
def kernel(table, cache, q, length, page, width, N: tl.constexpr, C: tl.constexpr):
    j = tl.arange(0, C)[None, :]
    for start in range(0, length, N):
        start = tl.multiple_of(start, N)
        i = start + tl.arange(0, N)
        inside = i < length
        number = tl.load(table + i // page, mask=inside, other=-1)
        row = number[:, None] * page + (start + tl.arange(0, N)[:, None]) % page
        x = tl.load(cache + row * width + j, mask=inside[:, None], other=-3)
        tl.store(q + i[:, None] * C + j, x * 100 + number[:, None])
)";
  constexpr int N = 64, C = 8, pages = 12;
  for (const char *type : {"i32", "i64"})
    for (int page : {16, 48, 64, 128})
      for (int length : {1, 63, 64, 100}) {
        Buffer<int32_t> table(pages), cache(pages * page * C), q(2 * N * C);
        for (int i = 0; i < pages; ++i)
          table[i] = i * 5 % pages;
        for (size_t i = 0; i < cache.count(); ++i)
          cache[i] = int32_t(i * 7 % 1009);
        for (size_t i = 0; i < q.count(); ++i)
          q[i] = -7;
        ASSERT_EQ(runSource(source, GetParam(),
                            {{"table", "*i32", table},
                             {"cache", "*i32", cache},
                             {"q", "*i32", q},
                             {"length", type, length},
                             {"page", "i32:16", page},
                             {"width", "i32", C}},
                            {{"N", N}, {"C", C}}),
                  "");
        for (int i = 0; i < 2 * N; ++i)
          for (int j = 0; j < C; ++j) {
            int number = i < length ? table[i / page] : -1;
            int x = i < length ? cache[(number * page + i % page) * C + j] : -3;
            int expected = i < (length + N - 1) / N * N ? x * 100 + number : -7;
            ASSERT_EQ(q[i * C + j], expected) << i << ", " << j << " of " << length << ", " << page;
          }
      }
}

/// By a number that is no multiple of anything, and of numbers below zero: each for itself.
TEST_P(RepeatedLoad, QuotientsOfSingleElements) {
  const char *source = R"(
@triton.jit
def kernel(q, r, first, divisor, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(q + i, (first + i) // divisor)
    tl.store(r + i, (first + i) % divisor)
)";
  constexpr int N = 64;
  for (bool isPromised : {true, false})
    for (int first : {-48, 0, 16})
      for (int divisor : {isPromised ? 16 : 5, 48}) {
        Buffer<int32_t> q(N), r(N);
        ASSERT_EQ(runSource(source, GetParam(),
                            {{"q", "*i32", q},
                             {"r", "*i32", r},
                             {"first", "i32:16", first},
                             {"divisor", isPromised ? "i32:16" : "i32", divisor}},
                            {{"N", N}}),
                  "");
        for (int i = 0; i < N; ++i) {
          ASSERT_EQ(q[i], (first + i) / divisor) << i << ", " << first << " by " << divisor;
          ASSERT_EQ(r[i], (first + i) % divisor) << i << ", " << first << " by " << divisor;
        }
      }
}

KILN_SOURCE_TESTS(RepeatedLoad);

} // namespace
} // namespace kiln::testing
