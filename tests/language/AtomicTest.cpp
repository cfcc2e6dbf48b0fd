// Atomics: every operation on every type that it takes, returned values, masks, contention within a
// program and between programs, memory orders and scopes.

#include "tests/language/Numbers.h"

#include <algorithm>
#include <cmath>

namespace kiln::testing {
namespace {

KILN_COVERS("tl.atomic_add tl.atomic_max tl.atomic_min tl.atomic_and tl.atomic_or tl.atomic_xor "
            "tl.atomic_xchg tl.atomic_cas");

class Atomic : public SourceTest {};

struct Operation {
  const char *name;
  std::vector<std::string> types;
  /// The new value's bits from the old one's and the operand's.
  uint64_t (*apply)(const NumberType &, uint64_t, uint64_t);
};

const std::vector<std::string> words = {"i32", "u32", "i64", "u64"};

const Operation operations[] = {
    {"add",
     {"i32", "u32", "i64", "u64", "fp16", "bf16", "fp32", "fp64"},
     [](const NumberType &type, uint64_t a, uint64_t b) {
       return type.isFloat() ? type.encode(type.decode(a) + type.decode(b)) : a + b;
     }},
    {"max",
     {"i32", "u32", "i64", "u64", "fp32", "fp64"},
     [](const NumberType &type, uint64_t a, uint64_t b) {
       return type.decode(a) > type.decode(b) ? a : b;
     }},
    {"min",
     {"i32", "u32", "i64", "u64", "fp32", "fp64"},
     [](const NumberType &type, uint64_t a, uint64_t b) {
       return type.decode(a) < type.decode(b) ? a : b;
     }},
    {"and", words, [](const NumberType &, uint64_t a, uint64_t b) { return a & b; }},
    {"or", words, [](const NumberType &, uint64_t a, uint64_t b) { return a | b; }},
    {"xor", words, [](const NumberType &, uint64_t a, uint64_t b) { return a ^ b; }},
    {"xchg",
     {"i32", "u32", "i64", "u64", "fp32", "fp64"},
     [](const NumberType &, uint64_t, uint64_t b) { return b; }},
};

/// Edges and random numbers, but no NaN, and zeros of one sign.
Array operands(const std::string &type, size_t count, uint64_t seed) {
  Array x = mixedArray(type, count, seed, 100, /*finite=*/true);
  for (size_t i = 0; i < count; ++i)
    if (x[i] == 0 || (x.type().isFloat() && std::fabs(x[i]) < 1e-30))
      x.set(i, 2);
  return x;
}

/// Of all elements but each fifth.
void expectApplied(const Operation &operation, const Array &before, const Array &values,
                   const Array &after) {
  const NumberType &type = after.type();
  uint64_t ones = ~uint64_t(0) >> (64 - type.bits);
  for (size_t i = 0; i < after.count(); ++i) {
    uint64_t expected =
        i % 5 ? operation.apply(type, before.bits(i), values.bits(i)) & ones : before.bits(i);
    ASSERT_EQ(after.bits(i), expected)
        << "tl.atomic_" << operation.name << " of " << type.name << " at " << i << ": " << before[i]
        << ", " << values[i] << " gave " << after[i];
  }
}

TEST_P(Atomic, EveryOperationOnEveryType) {
  const int count = 77;
  for (const Operation &operation : operations)
    for (const std::string &type : operation.types)
      for (auto [scalars, inDevice] : {std::pair(false, false), {false, true}, {true, false}}) {
        Array x = operands(type, count, 1), values = operands(type, count, 2), old(type, count);
        Array before = x;
        std::string call = std::string("tl.atomic_") + operation.name;
        std::string source = R"(
@triton.jit
def kernel(p, v, old, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(v + i, mask=i < n)
    tl.store(old + i, )" + call +
                             R"((p + i, value, mask=(i < n) & (i % 5 != 0)), mask=i < n)
)";
        if (scalars)
          source = R"(
@triton.jit
def kernel(p, v, old, n, BLOCK: tl.constexpr):
    i = tl.program_id(0)
    if i % 5 != 0:
        tl.store(old + i, )" +
                   call + R"((p + i, tl.load(v + i)))
)";
        SourceOptions options;
        options.grid = {scalars ? count : 2u, 1, 1};
        options.numWarps = 2;
        options.deviceMemory = options.smallArrays = inDevice;
        ASSERT_EQ(
            runSource(
                source, GetParam(),
                {x.argument("p"), values.argument("v"), old.argument("old"), {"n", "i32", count}},
                {{"BLOCK", 64}}, options),
            "")
            << call << " of " << type;
        expectApplied(operation, before, values, x);
        for (int i = 0; i < count; ++i)
          if (i % 5)
            ASSERT_EQ(old.bits(i), before.bits(i)) << call << " of " << type << " at " << i;
      }
}

TEST_P(Atomic, EveryOperationWithoutResults) {
  const int count = 77;
  SourceOptions options;
  options.grid = {2, 1, 1};
  options.numWarps = 2;
  options.deviceMemory = true;
  for (const Operation &operation : operations)
    for (const std::string &type : operation.types)
      for (bool smallArrays : {false, true}) {
        Array x = operands(type, count, 1), values = operands(type, count, 2);
        Array before = x;
        std::string call = std::string("tl.atomic_") + operation.name;
        options.smallArrays = smallArrays;
        ASSERT_EQ(runSource(R"(
@triton.jit
def kernel(p, v, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    )" + call + R"((p + i, tl.load(v + i, mask=i < n), mask=(i < n) & (i % 5 != 0))
)",
                            GetParam(),
                            {x.argument("p"), values.argument("v"), {"n", "i32", count}},
                            {{"BLOCK", 64}}, options),
                  "")
            << call << " of " << type;
        expectApplied(operation, before, values, x);
      }
}

/// All of a program at the beginning of an array, whose place in its word LLVM knows.
TEST_P(Atomic, SumsOfHalvesInAnAlignedPlace) {
  for (std::string type : {"fp16", "bf16"}) {
    Array total(type, 2), values(type, 64);
    total.setBits(0, total.type().encode(0));
    total.setBits(1, total.type().encode(3));
    for (int i = 0; i < 64; ++i)
      values.setBits(i, values.type().encode(i < 20));
    SourceOptions options;
    options.numWarps = 1;
    ASSERT_EQ(runSource(R"(
@triton.jit
def kernel(p, v):
    i = tl.arange(0, 64)
    tl.atomic_add(p + i * 0, tl.load(v + i))
)",
                        GetParam(), {total.argument("p"), values.argument("v")}, {}, options),
              "");
    EXPECT_EQ(total[0], 20) << type;
    EXPECT_EQ(total[1], 3) << type;
  }
}

TEST_P(Atomic, ExtremesOfFloatsInTotalOrder) {
  // Increasing: NaN of both signs, infinities, subnormals and zeros.
  const std::vector<uint64_t> increasing32 = {0xffc00000, 0xff800000, 0xc0000000, 0x80000001,
                                              0x80000000, 0x00000000, 0x00000001, 0x3f800000,
                                              0x40000000, 0x7f800000, 0x7fc00000};
  for (std::string type : {"fp32", "fp64"}) {
    std::vector<uint64_t> increasing = increasing32;
    if (type == "fp64")
      for (uint64_t &bits : increasing)
        bits <<= 32;
    size_t count = increasing.size();
    Array largest(type, count * count), smallest(type, count * count), values(type, count * count);
    for (size_t i = 0; i < count * count; ++i) {
      largest.setBits(i, increasing[i / count]);
      smallest.setBits(i, increasing[i / count]);
      values.setBits(i, increasing[i % count]);
    }
    ASSERT_EQ(runSource(R"(
@triton.jit
def kernel(largest, smallest, v, n):
    i = tl.arange(0, 128)
    value = tl.load(v + i, mask=i < n)
    tl.atomic_max(largest + i, value, mask=i < n)
    tl.atomic_min(smallest + i, value, mask=i < n)
)",
                        GetParam(),
                        {largest.argument("largest"),
                         smallest.argument("smallest"),
                         values.argument("v"),
                         {"n", "i32", int(count * count)}}),
              "")
        << type;
    for (size_t i = 0; i < count * count; ++i) {
      ASSERT_EQ(largest.bits(i), increasing[std::max(i / count, i % count)]) << type << ' ' << i;
      ASSERT_EQ(smallest.bits(i), increasing[std::min(i / count, i % count)]) << type << ' ' << i;
    }
  }
}

TEST_P(Atomic, ManyOnOnePlace) {
  // 8 programs of 128 elements on 4 counters; the old values of a counter that counts are distinct.
  Buffer<int32_t> counts(4), best(4);
  Buffer<float> sums(4);
  Buffer<int32_t> tickets(1024);
  for (int i = 0; i < 4; ++i)
    best[i] = -1;
  SourceOptions options;
  options.grid = {8, 1, 1};
  ASSERT_EQ(runSource(R"(
@triton.jit
def kernel(counts, sums, best, tickets):
    i = tl.program_id(0) * 128 + tl.arange(0, 128)
    ticket = tl.atomic_add(counts + i % 4, 1, sem='relaxed')
    tl.store(tickets + (i % 4) * 256 + ticket, i)
    tl.atomic_add(sums + i % 4, 0.5)
    tl.atomic_max(best + i % 4, i * 7 % 1024, scope='sys')
)",
                      GetParam(),
                      {{"counts", "*i32", counts},
                       {"sums", "*fp32", sums},
                       {"best", "*i32", best},
                       {"tickets", "*i32", tickets}},
                      {}, options),
            "");
  std::vector<int> seen(tickets.data(), tickets.data() + 1024);
  std::sort(seen.begin(), seen.end());
  for (int i = 0; i < 1024; ++i)
    ASSERT_EQ(seen[size_t(i)], i);
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(counts[i], 256);
    EXPECT_EQ(sums[i], 128);
    int largest = -1;
    for (int j = i; j < 1024; j += 4)
      largest = std::max(largest, j * 7 % 1024);
    EXPECT_EQ(best[i], largest);
  }
}

TEST_P(Atomic, EveryOrderAndScope) {
  std::string body;
  int calls = 0;
  for (std::string order : {"acquire", "release", "acq_rel", "relaxed"})
    for (std::string scope : {"cta", "gpu", "sys"}) {
      std::string options = ", sem='" + order + "', scope='" + scope + "')\n";
      body += "    tl.atomic_add(p + i, 1, mask=i < 60" + options;
      body += "    tl.atomic_cas(q + i, " + std::to_string(calls) + ", " +
              std::to_string(calls + 1) + options;
      ++calls;
    }
  Buffer<int32_t> x(64), y(64);
  ASSERT_EQ(runSource("@triton.jit\ndef kernel(p, q):\n    i = tl.arange(0, 64)\n" + body,
                      GetParam(), {{"p", "*i32", x}, {"q", "*i32", y}}),
            "");
  for (int i = 0; i < 64; ++i) {
    EXPECT_EQ(x[i], i < 60 ? calls : 0);
    EXPECT_EQ(y[i], calls);
  }
}

TEST_P(Atomic, CompareAndSwap) {
  for (std::string type : {"i32", "u32", "i64", "u64"}) {
    const int count = 64;
    Array x(type, count), old(type, count);
    for (int i = 0; i < count; ++i)
      x.set(i, i % 3);
    ASSERT_EQ(runSource(R"(
@triton.jit
def kernel(p, old):
    i = tl.arange(0, 64)
    tl.store(old + i, tl.atomic_cas(p + i, tl.full([64], 1, p.dtype.element_ty), (i + 10).to(p.dtype.element_ty)))
)",
                        GetParam(), {x.argument("p"), old.argument("old")}),
              "")
        << type;
    for (int i = 0; i < count; ++i) {
      ASSERT_EQ(x[i], i % 3 == 1 ? i + 10 : i % 3);
      ASSERT_EQ(old[i], i % 3);
    }
  }
}

TEST_P(Atomic, ALockProtects) {
  // Every program adds 1 without atomics, under a lock that it spins for.
  Buffer<int32_t> lock(1), count(1);
  SourceOptions options;
  options.grid = {16, 1, 1};
  ASSERT_EQ(runSource(R"(
@triton.jit
def kernel(lock, count):
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.store(count, tl.load(count, volatile=True) + 1)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)
)",
                      GetParam(), {{"lock", "*i32", lock}, {"count", "*i32", count}}, {}, options),
            "");
  EXPECT_EQ(count[0], 16);
  EXPECT_EQ(lock[0], 0);
}

TEST_P(Atomic, ExtremaOfFloatsOfBothSigns) {
  for (std::string type : {"fp32", "fp64"}) {
    Array largest(type, 1), smallest(type, 1), x = operands(type, 300, 3);
    largest.set(0, -INFINITY);
    smallest.set(0, INFINITY);
    ASSERT_EQ(runSource(R"(
@triton.jit
def kernel(p, largest, smallest, n):
    i = tl.program_id(0) * 128 + tl.arange(0, 128)
    x = tl.load(p + i, mask=i < n)
    tl.atomic_max(largest + i * 0, x, mask=i < n)
    tl.atomic_min(smallest + i * 0, x, mask=i < n)
)",
                        GetParam(),
                        {x.argument("p"),
                         largest.argument("largest"),
                         smallest.argument("smallest"),
                         {"n", "i32", 300}},
                        {}, {{3, 1, 1}}),
              "");
    long double high = -INFINITY, low = INFINITY;
    for (size_t i = 0; i < 300; ++i) {
      high = std::max(high, x[i]);
      low = std::min(low, x[i]);
    }
    EXPECT_EQ(largest[0], high) << type;
    EXPECT_EQ(smallest[0], low) << type;
  }
}

KILN_SOURCE_TESTS(Atomic);

} // namespace
} // namespace kiln::testing
