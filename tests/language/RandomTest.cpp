// Random numbers: Philox against the published answers, and Triton's formulas on its words.

#include "tests/language/SourceKernel.h"

#include <cmath>

namespace kiln::testing {
namespace {

KILN_COVERS("tl.philox tl.randint tl.randint4x tl.rand tl.rand4x tl.randn tl.randn4x "
            "tl.uint_to_uniform_float tl.pair_uniform_to_normal");

class RandomNumbers : public SourceTest {};

/// Philox of Salmon, Moraes, Dror and Shaw (2011), with words of 32 or 64 bits.
template <typename Word>
std::array<Word, 4> philox(std::array<Word, 4> c, Word k0, Word k1, int rounds) {
  constexpr bool wide = sizeof(Word) == 8;
  constexpr uint64_t m0 = wide ? 0xD2E7470EE14C6C93 : 0xD2511F53,
                     m1 = wide ? 0xCA5A826395121157 : 0xCD9E8D57;
  constexpr uint64_t w0 = wide ? 0x9E3779B97F4A7C15 : 0x9E3779B9,
                     w1 = wide ? 0xBB67AE8584CAA73B : 0xBB67AE85;
  for (int round = 0; round < rounds; ++round) {
    unsigned __int128 p0 = (unsigned __int128)(m0)*c[0], p1 = (unsigned __int128)(m1)*c[2];
    c = {Word(Word(p1 >> (8 * sizeof(Word))) ^ c[1] ^ k0), Word(p1),
         Word(Word(p0 >> (8 * sizeof(Word))) ^ c[3] ^ k1), Word(p0)};
    k0 += Word(w0);
    k1 += Word(w1);
  }
  return c;
}

TEST(Philox, ReferenceGivesThePublishedAnswers) {
  // Random123's kat_vectors.
  using Words = std::array<uint32_t, 4>;
  EXPECT_EQ(philox<uint32_t>({0, 0, 0, 0}, 0, 0, 10),
            (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  uint32_t ones = 0xffffffff;
  EXPECT_EQ(philox<uint32_t>({ones, ones, ones, ones}, ones, ones, 10),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox<uint32_t>({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0xa4093822,
                             0x299f31d0, 10),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
  EXPECT_EQ(philox<uint64_t>({0, 0, 0, 0}, 0, 0, 10),
            (std::array<uint64_t, 4>{0x16554d9eca36314c, 0xdb20fe9d672d0fdc, 0xd7e772cee186176b,
                                     0x7e68b68aec7ba23b}));
}

/// Counters of the published answers, and others.
template <typename Word>
void checkPhilox(const char *target, const std::string &type, uint64_t seed, int rounds) {
  const int count = 64;
  Buffer<Word> counters(4 * count), words(4 * count);
  Random random(seed);
  for (int i = 0; i < 4 * count; ++i)
    counters[i] = Word(random.bits());
  const uint32_t pi[] = {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344};
  for (int i = 0; i < 4; ++i) {
    counters[i] = 0;
    counters[4 + i] = Word(-1);
    counters[8 + i] = pi[i];
  }
  std::string pointer = "*" + type;
  ASSERT_EQ(
      runSource(R"(
@triton.jit
def kernel(p, q, seed, N: tl.constexpr, ROUNDS: tl.constexpr):
    at = tl.arange(0, N) * 4
    words = tl.philox(seed, tl.load(p + at), tl.load(p + at + 1), tl.load(p + at + 2),
                      tl.load(p + at + 3), n_rounds=ROUNDS)
    for i in tl.static_range(4):
        tl.store(q + at + i, words[i])
)",
                target,
                {{"p", pointer, counters}, {"q", pointer, words}, {"seed", "i64", int64_t(seed)}},
                {{"N", count}, {"ROUNDS", rounds}}),
      "");
  bool wide = sizeof(Word) == 8;
  for (int i = 0; i < count; ++i) {
    auto expected = philox<Word>(
        {counters[4 * i], counters[4 * i + 1], counters[4 * i + 2], counters[4 * i + 3]},
        Word(seed), wide ? 0 : Word(seed >> 32), rounds);
    for (int j = 0; j < 4; ++j)
      ASSERT_EQ(words[4 * i + j], expected[size_t(j)]) << type << " seed " << seed << " at " << i;
  }
}

TEST_P(RandomNumbers, Philox) {
  // The second seed is the key of the third published answer.
  for (uint64_t seed : {uint64_t(0), uint64_t(0x299f31d0a4093822), ~uint64_t(0), uint64_t(42)}) {
    checkPhilox<uint32_t>(GetParam(), "u32", seed, 10);
    checkPhilox<uint64_t>(GetParam(), "u64", seed, 10);
  }
  checkPhilox<uint32_t>(GetParam(), "i32", 7, 7);
  checkPhilox<uint32_t>(GetParam(), "u32", 7, 0);
}

/// Four words for each offset.
std::array<uint32_t, 4> words(uint64_t seed, int64_t offset, bool wide) {
  return philox<uint32_t>({uint32_t(offset), wide ? uint32_t(offset >> 32) : 0, 0, 0},
                          uint32_t(seed), uint32_t(seed >> 32), 10);
}
/// The float that Triton makes of a word.
float uniform(uint32_t word) {
  int32_t bits = int32_t(word);
  return float(bits < 0 ? ~bits : bits) * 4.6566127342e-10f;
}

template <typename Offset>
void checkNumbers(const char *target, const std::string &type, int64_t first, uint64_t seed) {
  const int count = 128;
  Buffer<uint32_t> integers(5 * count);
  Buffer<float> uniforms(5 * count), normals(5 * count);
  ASSERT_EQ(runSource(R"(
@triton.jit
def kernel(integers, uniforms, normals, seed, first, N: tl.constexpr):
    i = tl.arange(0, N)
    offset = first + i
    tl.store(integers + i, tl.randint(seed, offset))
    tl.store(uniforms + i, tl.rand(seed, offset))
    tl.store(normals + i, tl.randn(seed, offset))
    a = tl.randint4x(seed, offset)
    b = tl.rand4x(seed, offset)
    c = tl.randn4x(seed, offset)
    for j in tl.static_range(4):
        at = (j + 1) * N + i
        tl.store(integers + at, a[j])
        tl.store(uniforms + at, b[j])
        tl.store(normals + at, c[j])
)",
                      target,
                      {{"integers", "*u32", integers},
                       {"uniforms", "*fp32", uniforms},
                       {"normals", "*fp32", normals},
                       {"seed", "i64", int64_t(seed)},
                       {"first", type, Offset(first)}},
                      {{"N", count}}),
            "");
  for (int i = 0; i < count; ++i) {
    auto expected = words(seed, first + i, sizeof(Offset) == 8);
    double normal[4];
    for (int pair = 0; pair < 4; pair += 2) {
      double u1 = std::max(1e-7f, uniform(expected[size_t(pair)])),
             u2 = uniform(expected[size_t(pair) + 1]);
      double radius = std::sqrt(-2 * std::log(u1)), angle = 6.283185307179586 * u2;
      normal[pair] = radius * std::cos(angle);
      normal[pair + 1] = radius * std::sin(angle);
    }
    for (int j = 0; j < 5; ++j) {
      size_t word = j ? size_t(j - 1) : 0;
      ASSERT_EQ(integers[j * count + i], expected[word]) << i;
      ASSERT_EQ(uniforms[j * count + i], uniform(expected[word])) << i;
      ASSERT_GE(uniforms[j * count + i], 0);
      ASSERT_LT(uniforms[j * count + i], 1);
      ASSERT_NEAR(normals[j * count + i], normal[word], 4e-6) << i;
    }
  }
}

TEST_P(RandomNumbers, OfOffsets) {
  checkNumbers<int32_t>(GetParam(), "i32", 0, 42);
  checkNumbers<int32_t>(GetParam(), "i32", -64, 0xffffffffffffffff);
  checkNumbers<int64_t>(GetParam(), "i64", (int64_t(3) << 32) - 64, 0x123456789abcdef);
}

TEST_P(RandomNumbers, FloatsOfWords) {
  Buffer<uint32_t> narrow({0, 1, 0x7fffffff, 0x80000000, 0xffffffff, 0x12345678, 0xfedcba98, 2});
  Buffer<uint64_t> wide({0, 1, 0x7fffffffffffffff, 0x8000000000000000, ~uint64_t(0),
                         0x123456789abcdef0, 0xfedcba9876543210, 2});
  Buffer<float> x(8), y(8), u({0.0f, 1e-8f, 0.25f, 0.5f, 0.75f, 0.9f, 0.99f, 0.1f}), n(16);
  ASSERT_EQ(runSource(R"(
@triton.jit
def kernel(narrow, wide, x, y, u, n):
    i = tl.arange(0, 8)
    tl.store(x + i, tl.uint_to_uniform_float(tl.load(narrow + i)))
    tl.store(y + i, tl.uint_to_uniform_float(tl.load(wide + i)))
    a, b = tl.pair_uniform_to_normal(tl.load(u + i), tl.load(u + 7 - i))
    tl.store(n + i, a)
    tl.store(n + 8 + i, b)
)",
                      GetParam(),
                      {{"narrow", "*u32", narrow},
                       {"wide", "*i64", wide},
                       {"x", "*fp32", x},
                       {"y", "*fp32", y},
                       {"u", "*fp32", u},
                       {"n", "*fp32", n}}),
            "");
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(x[i], uniform(narrow[i])) << i;
    int64_t bits = int64_t(wide[i]);
    EXPECT_EQ(y[i], float(bits < 0 ? ~bits : bits) * 1.0842020432385337e-19f) << i;
    double radius = std::sqrt(-2 * std::log(std::max(1e-7, double(u[i])))),
           angle = 6.283185307179586 * u[7 - i];
    EXPECT_NEAR(n[i], radius * std::cos(angle), 4e-6);
    EXPECT_NEAR(n[8 + i], radius * std::sin(angle), 4e-6);
  }
}

KILN_SOURCE_TESTS(RandomNumbers);

} // namespace
} // namespace kiln::testing
