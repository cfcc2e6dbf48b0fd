// What loads, stores and atomics mean beside their plain use: masks and fillers of other types,
// booleans, arithmetic on pointers, constants, contended places, locks.

#include "tests/language/Numbers.h"
#include "tests/language/Outputs.h"

#include <algorithm>

namespace kiln::testing {
namespace {

using Ints = std::vector<int32_t>;

class Access : public SourceTest {};

TEST_P(Access, MasksAndFillersOfOtherTypesAndShapes) {
  Buffer<int8_t> bytes({1, 2, 3, 4, 5, 6, 7, 8});
  Ints out = outputsOf<int32_t>(R"(
@triton.jit
def kernel(p, out, n):
    i = tl.arange(0, 8)
    tl.store(out + i, tl.load(p + i, mask=i < n, other=-1.9))
    tl.store(out + 8 + i, tl.load(p + i, i < n, tl.full((8,), 300, tl.int32)))
    tl.store(out + 16 + i, tl.load(p + i, mask=n > 100, other=7))
    # A row of masks serves every row of pointers.
    grid = p + i[:, None] * 0 + tl.arange(0, 4)[None, :]
    x = tl.load(grid, mask=tl.arange(0, 4)[None, :] < n - 1, other=0)
    tl.store(out + 24 + i, tl.sum(x.to(tl.int32), axis=1))
    # Pointers of one element each serve a whole block of masks.
    y = tl.load(p + tl.zeros((1,), tl.int32), mask=i % 2 == 0, other=9)
    tl.static_assert(y.shape == [8])
    tl.store(out + 32 + i, y)
    # Scalars.
    tl.store(out + 40, tl.load(p + 2, mask=n == 3, other=1))
    tl.store(out + 41, tl.load(p + 2, mask=n != 3, other=1))
    tl.store(out + 42, 5, mask=n == 3)
    tl.store(out + 43, 5, mask=n != 3)
    tl.store(out + 44 + tl.arange(0, 4), n + 0.75, mask=tl.arange(0, 4) >= 1)
)",
                                GetParam(), "i32", 48, {{"p", "*i8", bytes}, {"n", "i32", 3}});
  Ints expected;
  auto add = [&](std::initializer_list<int> values) {
    expected.insert(expected.end(), values.begin(), values.end());
  };
  add({1, 2, 3, -1, -1, -1, -1, -1});
  add({1, 2, 3, 44, 44, 44, 44, 44}); // 300 as int8
  add({7, 7, 7, 7, 7, 7, 7, 7});
  add({3, 3, 3, 3, 3, 3, 3, 3});
  add({1, 9, 1, 9, 1, 9, 1, 9});
  add({3, 1, 5, 0, 0, 3, 3, 3});
  EXPECT_EQ(out, expected);
}

TEST_P(Access, BooleansAreBytes) {
  Buffer<uint8_t> flags({0, 1, 0, 1}), bytes({0, 2, 0, 128}), result(16);
  ASSERT_EQ(runSource(R"(
@triton.jit
def kernel(flags, bytes, out, b):
    i = tl.arange(0, 4)
    f = tl.load(flags + i)
    tl.static_assert(f.dtype == tl.int1)
    tl.store(out + i, f)
    tl.store(out + 4 + i, tl.load(bytes + i).to(tl.int1))
    tl.store(out + 8 + i, ~f)
    tl.store(out + 12 + i, (tl.load(bytes + i) > 1) & b, mask=i < 3)
    tl.store(out + 15, True)
)",
                      GetParam(),
                      {{"flags", "*i1", flags},
                       {"bytes", "*u8", bytes},
                       {"out", "*i1", result},
                       {"b", "i1", true}}),
            "");
  const uint8_t expected[] = {0, 1, 0, 1, 0, 1, 0, 1, 1, 0, 1, 0, 0, 1, 0, 1};
  for (size_t i = 0; i < 16; ++i)
    EXPECT_EQ(result[i], expected[i]) << i;
}

TEST_P(Access, ArithmeticOnPointers) {
  std::vector<int32_t> numbers(64);
  for (int i = 0; i < 64; ++i)
    numbers[size_t(i)] = 3 * i;
  Buffer<int32_t> memory(numbers), indices({5, 0, 63, 7});
  Buffer<uint64_t> table(2);
  table[0] = uint64_t(reinterpret_cast<uintptr_t>(memory.data() + 8));
  table[1] = uint64_t(reinterpret_cast<uintptr_t>(memory.data() + 16));
  Ints out = outputsOf<int32_t>(R"(
@triton.jit
def kernel(p, indices, table, out, n, wide):
    i = tl.arange(0, 4)
    tl.store(out + i, tl.load(p + tl.load(indices + i)))           # indirect
    tl.store(4 + out + i, tl.load(p + 63 - i * n))                 # backwards
    q = p + wide
    q += n
    tl.store(out + 8 + i, tl.load(q + i.to(tl.int8) - 1))
    r = p + i.to(tl.uint8) * 16                                     # strided
    tl.store(out + 12 + i, tl.load(r))
    # Through addresses.
    far = (p.to(tl.int64) + 4 * i).to(tl.pointer_type(tl.int32))
    tl.store(out + 16 + i, tl.load(far))
    halves = p.to(tl.pointer_type(tl.int16))
    tl.store(out + 20 + i, tl.load(halves + 2 * i))
    # Chosen between, and loaded.
    chosen = tl.where(i < 2, p + i, p + 32 + i)
    tl.store(out + 24 + i, tl.load(chosen))
    one = p if n > 100 else p + 1
    tl.store(out + 28, tl.load(one))
    inner = tl.load(table + i % 2).to(tl.pointer_type(tl.int32))
    tl.store(out + 32 + i, tl.load(inner + i))
    tl.store(out + 36, (p + 4 == q - wide - n + 4) & (p < q))
    tl.static_assert((p + i).dtype == p.dtype and (p + i).shape == [4])
)",
                                GetParam(), "i32", 37,
                                {{"p", "*i32", memory},
                                 {"indices", "*i32", indices},
                                 {"table", "*i64", table},
                                 {"n", "i32", 3},
                                 {"wide", "i64", int64_t(10)}});
  Ints expected = {15, 0, 189, 21, 189, 180, 171, 162, 36,  39, 42, 45, 0, 48, 96, 144, 0,  3, 6,
                   9,  0, 3,   6,  9,   0,   3,   102, 105, 3,  0,  0,  0, 24, 51, 30,  57, 1};
  EXPECT_EQ(out, expected);
}

TEST_P(Access, ConstantsCannotBeWritten) {
  auto errorsOf = [&](const std::string &parameter, const std::string &type,
                      const std::string &body) {
    Buffer<int32_t> p(8), q(8);
    return runSource("@triton.jit\ndef choose(a, b, n):\n    if n > 1:\n        return a\n"
                     "    return b\n\n@triton.jit\ndef kernel(" +
                         parameter + ", q, n):\n    i = tl.arange(0, 8)\n    " + body + "\n",
                     GetParam(), {{"p", type, p}, {"q", "*i32", q}, {"n", "i32", 1}});
  };
  EXPECT_EQ(errorsOf("p: tl.const", "*i32", "tl.store(q + i, tl.load(p + i))"), "");
  EXPECT_EQ(errorsOf("p", "*ki32", "tl.store(q + i, tl.load(p + i))"), "");
  for (const char *statement :
       {"tl.store(p, 1)", "tl.store(p + i, i)", "tl.atomic_add(p, 1)", "tl.atomic_cas(p, 0, 1)",
        "r = p + n\n    tl.store(r[None] + tl.arange(0, 1), 1)"})
    for (bool annotated : {true, false}) {
      std::string errors =
          errorsOf(annotated ? "p: tl.const" : "p", annotated ? "*i32" : "*ki32", statement);
      EXPECT_NE(errors.find("cannot write through a pointer to constants"), std::string::npos)
          << statement << ": " << errors;
    }
  // Pointers of both kinds do not merge.
  for (const char *statement :
       {"r = p if n > 1 else q",
        "if n > 1:\n        r = p\n    else:\n        r = q\n    tl.store(r, 1)",
        "r = choose(p, q, n)"}) {
    std::string errors = errorsOf("p: tl.const", "*i32", statement);
    EXPECT_NE(errors.find("test.py:"), std::string::npos) << statement << ": " << errors;
  }
}

TEST_P(Access, HintsDoNotChangeWhatIsAccessed) {
  std::vector<float> values(256);
  Random random(8);
  for (float &value : values)
    value = float(random.next());
  Buffer<float> x(values);
  for (const char *load :
       {"", ", cache_modifier='.ca'", ", cache_modifier='.cg'", ", cache_modifier='.cv'",
        ", eviction_policy='evict_first'", ", eviction_policy='evict_last'", ", volatile=True"})
    for (const char *store :
         {"", ", cache_modifier='.wb'", ", cache_modifier='.cg'", ", cache_modifier='.cs'",
          ", cache_modifier='.wt'", ", eviction_policy='evict_first'"}) {
      if (*load && *store)
        continue;
      std::vector<float> out = outputsOf<float>(
          R"(
@triton.jit
def kernel(p, out, n):
    tl.assume(n > 0)
    start = tl.multiple_of(tl.program_id(0) * 128, 128)
    i = start + tl.arange(0, 128)
    i = tl.max_contiguous(tl.multiple_of(i, 128), 128)
    n = tl.multiple_of(n, 4)
    x = tl.load(p + i, mask=i < n)" +
              std::string(load) + R"()
    flag = tl.max_constancy(i // 64, 64)
    tl.store(out + i, x * flag, mask=i < n)" +
              store + R"()
)",
          GetParam(), "fp32", 256, {{"p", "*fp32", x}, {"n", "i32", 204}}, {}, {{2, 1, 1}});
      for (size_t i = 0; i < 256; ++i)
        ASSERT_EQ(out[i], i < 204 ? values[i] * float(i / 64) : 0) << load << store << i;
    }
}

/// As of matrices whose rows begin again behind the last one: the hint, which programs give all the
/// same, holds for neighbours in one access at most.
TEST_P(Access, RowsWrapAroundWhateverIsSaidOfThem) {
  constexpr int N = 64, D = 16, n = 13;
  Buffer<int32_t> index(n), x(n * D);
  for (int i = 0; i < n; ++i)
    index[i] = i * 5 % n;
  for (int i = 0; i < n * D; ++i)
    x[i] = i;
  Ints out = outputsOf<int32_t>(R"(
@triton.jit
def kernel(index, x, out, n, N: tl.constexpr, D: tl.constexpr):
    i = tl.max_contiguous(tl.arange(0, N) % n, N)
    j = tl.arange(0, D)[None, :]
    v = tl.load(x + tl.load(index + i)[:, None] * D + j)
    tl.store(out + tl.arange(0, N)[:, None] * D + j, v)
)",
                                GetParam(), "i32", N * D,
                                {{"index", "*i32", index}, {"x", "*i32", x}, {"n", "i32", n}},
                                {{"N", N}, {"D", D}});
  for (int i = 0; i < N * D; ++i)
    ASSERT_EQ(out[i], x[index[i / D % n] * D + i % D]) << i;
}

TEST_P(Access, AtomicsGiveTheOldValueAndObeyTheirMask) {
  Ints out = outputsOf<int32_t>(
      R"(
@triton.jit
def kernel(p, out, n):
    i = tl.arange(0, 8)
    old = tl.atomic_add(p + i, i + 1, mask=i < n)
    tl.store(out + i, tl.where(i < n, old, -1))
    tl.debug_barrier()
    # Scalar masks and values, known and not.
    flag = True
    known: tl.constexpr = True
    tl.atomic_max(p + i, 12, mask=True)
    tl.atomic_max(p + i, 1000, mask=False)
    tl.atomic_xor(p, 256, mask=flag)
    tl.atomic_or(p, 1, mask=known)
    tl.atomic_add(p + 1, 100, mask=n > 100)
    tl.debug_barrier()
    tl.store(out + 8 + i, tl.load(p + i))
    before = tl.atomic_xchg(p + 2, 77)
    tl.store(out + 16, before)
    tl.store(out + 17, tl.atomic_cas(p + 2, 77, 78))
    tl.store(out + 18, tl.atomic_cas(p + 2, 77, 79))
    tl.debug_barrier()
    tl.store(out + 19, tl.load(p + 2))
)",
      GetParam(), "i32", 20,
      {{"p", "*i32", Buffer<int32_t>({10, 11, 12, 13, 14, 15, 16, 17})}, {"n", "i32", 5}});
  EXPECT_EQ(
      out, (Ints{10, 11, 12, 13, 14, -1, -1, -1, 269, 13, 15, 17, 19, 15, 16, 17, 15, 77, 78, 78}));
}

TEST_P(Access, ManyElementsMeetInOnePlace) {
  for (const char *options : {"", ", sem='relaxed'", ", sem='acquire'", ", sem='release'",
                              ", sem='acq_rel', scope='sys'", ", scope='cta'"}) {
    bool oneProgram = std::string(options).find("cta") != std::string::npos;
    unsigned programs = oneProgram ? 1 : 4;
    Ints out = outputsOf<int32_t>(R"(
@triton.jit
def kernel(out):
    i = tl.arange(0, 64)
    tl.atomic_add(out + i * 0, i)" + ("" + std::string(options)) +
                                      R"()
    tl.atomic_add(out + 1 + i % 3, 1)" +
                                      options + R"()
    tl.atomic_max(out + 4 + i // 32, i)" +
                                      options + R"()
    tl.atomic_add(out + 6, 1)" + options +
                                      R"()
)",
                                  GetParam(), "i32", 7, {}, {}, {{programs, 1, 1}});
    int p = int(programs);
    EXPECT_EQ(out, (Ints{2016 * p, 22 * p, 21 * p, 21 * p, 31, 63, p})) << options;
  }
}

TEST_P(Access, MinimaAndMaximaOfFloatsOfBothSigns) {
  std::vector<float> out =
      outputsOf<float>(R"(
@triton.jit
def kernel(p, out):
    i = tl.arange(0, 4)
    tl.store(out + i, tl.load(p + i))
    tl.debug_barrier()
    tl.atomic_min(out + i, tl.load(p + 4 + i))
    tl.store(out + 4 + i, tl.load(p + i))
    tl.debug_barrier()
    tl.atomic_max(out + 4 + i, tl.load(p + 4 + i))
    tl.atomic_add(out + 8, 0.5)
    tl.atomic_add(out + 8 + i, 0.25)
)",
                       GetParam(), "fp32", 12,
                       {{"p", "*fp32", Buffer<float>({0.0f, -0.0f, -2, 3, -0.0f, 0.0f, 1, -4})}});
  const float expected[] = {-0.0f, -0.0f, -2, -4, 0.0f, 0.0f, 1, 3, 0.75, 0.25, 0.25, 0.25};
  for (size_t i = 0; i < 12; ++i)
    EXPECT_EQ(out[i], expected[i]) << i;
}

TEST_P(Access, LocksOrderPrograms) {
  // Each program adds under a lock, by plain loads and stores.
  Buffer<int32_t> lock(1);
  Ints out = outputsOf<int32_t>(R"(
@triton.jit
def kernel(lock, out, n):
    i = tl.arange(0, 8)
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    x = tl.load(out + i, volatile=True)
    tl.store(out + i, x * 2 + 1)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)
)",
                                GetParam(), "i32", 8, {{"lock", "*i32", lock}, {"n", "i32", 3}}, {},
                                {{5, 1, 1}});
  EXPECT_EQ(out, Ints(8, 31));
}

TEST_P(Access, AtomicsRefuseWhatTheyCannotDo) {
  auto expectError = [&](const std::string &type, const std::string &call,
                         const std::string &message) {
    std::string errors =
        runSource("@triton.jit\ndef kernel(p):\n    i = tl.arange(0, 4)\n    " + call + "\n",
                  GetParam(), {{"p", "*" + type, Buffer<int64_t>(8)}});
    EXPECT_NE(errors.find(message), std::string::npos) << call << ": " << errors;
    EXPECT_NE(errors.find("test.py:"), std::string::npos) << errors;
  };
  expectError("i32", "tl.atomic_add(p, 1, sem='seq')", "acquire, release, acq_rel or relaxed");
  expectError("i32", "tl.atomic_add(p, 1, scope='warp')", "gpu, cta or sys");
  expectError("i32", "tl.atomic_add(p, i)", "operands of the pointer's shape");
  expectError("i32", "tl.atomic_add(p + i, i, mask=i)", "booleans");
  expectError("i32", "tl.atomic_add(i, 1)", "a pointer");
  expectError("i8", "tl.atomic_add(p, 1)", "32 or 64 bits");
  expectError("i16", "tl.atomic_max(p, 1)", "32 or 64 bits");
  expectError("i1", "tl.atomic_or(p, 1)", "32 or 64 bits");
  expectError("fp32", "tl.atomic_and(p, 1)", "integers");
  expectError("fp64", "tl.atomic_xor(p, 1)", "integers");
  expectError("i8", "tl.atomic_cas(p, 0, 1)", "16, 32 or 64 bits");
}

KILN_SOURCE_TESTS(Access);

} // namespace
} // namespace kiln::testing
