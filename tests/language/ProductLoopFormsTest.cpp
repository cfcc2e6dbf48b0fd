// Loops around products that are more than the plain one: several products, accumulators that the
// loop uses, addresses that are loaded, stores, loops in loops. All numbers are exact: small
// integers, and halves of them.

#include "tests/language/Matrix.h"

#include <cmath>

namespace kiln::testing {
namespace {

constexpr int M = 64, N = 64, K = 32, maxTrips = 5, S = maxTrips * K;

/// A is M x S, B is S x N, both stored by rows; the index is a permutation of 0 to S - 1.
struct Memory {
  Buffer<uint16_t> a{M * S}, b{S * N};
  Buffer<int32_t> index{S};
  Buffer<float> c{M * N}, d{M * N};
  Matrix A{M, S}, B{S, N};

  Memory() {
    Random random(3);
    for (auto [matrix, values] : {std::pair(&a, &A.values), {&b, &B.values}})
      for (size_t i = 0; i < matrix->count(); ++i) {
        (*values)[i] = int(random.below(5)) - 2;
        (*matrix)[i] = halfOf(int((*values)[i]));
      }
    for (int i = 0; i < S; ++i)
      index[i] = (i * 7 + 3) % S;
  }
  static uint16_t halfOf(int value) {
    const uint16_t magnitudes[] = {0, 0x3c00, 0x4000};
    return uint16_t(value < 0) << 15 | magnitudes[std::abs(value)];
  }
  /// Row i times column j over k from `begin` to `end`.
  double product(int i, int j, int begin, int end) const {
    return sumOfProducts(A, i, B, j, begin, end);
  }
};

const std::string head = R"(
@triton.jit
def kernel(a, b, index, c, d, trips, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, S: tl.constexpr):
    i = tl.arange(0, M)[:, None]
    j = tl.arange(0, N)[None, :]
    l = tl.arange(0, K)
    at = i * N + j
    pa = a + i * S + l[None, :]
    pb = b + l[:, None] * N + j
    sum = tl.zeros((M, N), tl.float32)
)";

using Reference = std::function<double(const Memory &memory, int trips, int i, int j)>;

class ProductLoopForms : public SourceTest {
protected:
  /// Runs `body` with 0 to 5 iterations; references of c and of d.
  void check(const std::string &body, const Reference &c, const Reference &d = nullptr) {
    const Memory before;
    for (unsigned stages : {2u, 4u})
      for (unsigned warps : {4u, 8u}) {
        SCOPED_TRACE(std::to_string(stages) + " stages, " + std::to_string(warps) + " warps" +
                     body);
        SourceOptions options;
        options.numStages = stages;
        options.numWarps = warps;
        SourceKernel kernel(head + body, GetParam(), arguments(Memory(), 0),
                            {{"M", M}, {"N", N}, {"K", K}, {"S", S}}, options);
        for (int trips = 0; trips <= maxTrips; ++trips) {
          Memory memory;
          ASSERT_EQ(kernel.run(arguments(memory, trips)), "") << trips << " iterations";
          compare(before, memory.c, trips, c);
          if (d)
            compare(before, memory.d, trips, d);
        }
      }
  }

private:
  static std::vector<SourceArgument> arguments(const Memory &memory, int trips) {
    return {{"a", "*fp16", memory.a}, {"b", "*fp16", memory.b}, {"index", "*i32", memory.index},
            {"c", "*fp32", memory.c}, {"d", "*fp32", memory.d}, {"trips", "i32", trips}};
  }
  static void compare(const Memory &memory, const Buffer<float> &got, int trips,
                      const Reference &expected) {
    for (int i = 0; i < M; ++i)
      for (int j = 0; j < N; ++j)
        ASSERT_EQ(double(got[i * N + j]), expected(memory, trips, i, j))
            << trips << " iterations, " << i << ", " << j;
  }
};

double wholeProduct(const Memory &memory, int trips, int i, int j) {
  return memory.product(i, j, 0, trips * K);
}

TEST_P(ProductLoopForms, TwoSumsOfOneOperand) {
  check(R"(
    other = tl.zeros((M, N), tl.float32)
    for t in range(trips):
        x = tl.load(pa + t * K)
        y = tl.load(pb + t * K * N)
        sum = tl.dot(x, y, sum)
        other = tl.dot(x, (y + y).to(tl.float16), other)
    tl.store(c + at, sum)
    tl.store(d + at, other)
)",
        wholeProduct, [](const Memory &memory, int trips, int i, int j) {
          return 2 * wholeProduct(memory, trips, i, j);
        });
}

TEST_P(ProductLoopForms, TwoSumsOfFourLoads) {
  check(R"(
    other = tl.zeros((M, N), tl.float32)
    for t in range(trips):
        sum = tl.dot(tl.load(pa + t * K), tl.load(pb + t * K * N), sum)
        u = trips - 1 - t
        other = tl.dot(tl.load(pa + u * K), tl.load(pb + t * K * N), other)
    tl.store(c + at, sum)
    tl.store(d + at, other)
)",
        wholeProduct, [](const Memory &memory, int trips, int i, int j) {
          double sum = 0;
          for (int l = 0; l < trips * K; ++l)
            sum += memory.A(i, (trips - 1 - l / K) * K + l % K) * memory.B(l, j);
          return sum;
        });
}

TEST_P(ProductLoopForms, UnsignedBounds) {
  check(R"(
    begin = tl.full((), 3, tl.uint32)
    for u in range(begin, begin + trips.to(tl.uint32)):
        t = (u - begin).to(tl.int32)
        sum = tl.dot(tl.load(pa + t * K), tl.load(pb + t * K * N), sum)
    tl.store(c + at, sum)
)",
        wholeProduct);
}

/// As attention: the first product's result, rounded, is the second's operand, and the sum is
/// scaled on the way.
TEST_P(ProductLoopForms, AProductOfAProduct) {
  const Memory inputs;
  std::vector<Matrix> sums = {Matrix(M, K)};
  for (int t = 0; t < maxTrips; ++t) {
    Matrix y = inputs.B.part(t * K, 0, K, N);
    sums.push_back(0.5 * sums.back() + inputs.A.part(0, 0, M, K) * y * y.transposed());
  }
  check(R"(
    q = tl.load(pa)
    acc = tl.zeros((M, K), tl.float32)
    for t in range(trips):
        y = tl.load(pb + t * K * N)
        p = tl.dot(q, y)
        acc = acc * 0.5
        acc = tl.dot(p.to(tl.float16), tl.trans(y), acc)
    tl.store(c + i * N + l[None, :], acc)
    tl.store(c + K + i * N + l[None, :], tl.zeros((M, K), tl.float32))
)",
        [&](const Memory &, int trips, int i, int j) { return j < K ? sums[trips](i, j) : 0; });
}

TEST_P(ProductLoopForms, AnOperandFromBeforeTheLoop) {
  check(R"(
    q = tl.load(pa)
    for t in range(trips):
        sum = tl.dot(q, tl.load(pb + t * K * N), sum)
    tl.store(c + at, sum)
    tl.store(d + j.reshape(N, 1) * M + i.reshape(1, M), tl.trans(sum))
)",
        [](const Memory &memory, int trips, int i, int j) {
          double sum = 0;
          for (int l = 0; l < trips * K; ++l)
            sum += memory.A(i, l % K) * memory.B(l, j);
          return sum;
        },
        [](const Memory &memory, int trips, int i, int j) {
          double sum = 0;
          for (int l = 0; l < trips * K; ++l)
            sum += memory.A(j, l % K) * memory.B(l, i);
          return sum;
        });
}

/// The columns' sums are exchanged where the operand was.
TEST_P(ProductLoopForms, AnOperandWhoseMemoryIsUsedAgain) {
  check(R"(
    deep = tl.arange(0, 4 * K)
    q = tl.load(a + i * S + deep[None, :])
    for t in range(trips):
        sum = tl.dot(q, tl.load(b + (t * 8 + deep[:, None]) * N + j), sum)
    tl.store(d + j, tl.sum(sum, 0)[None, :])
    tl.store(c + at, sum)
)",
        [](const Memory &memory, int trips, int i, int j) {
          double sum = 0;
          for (int t = 0; t < trips; ++t)
            for (int l = 0; l < 4 * K; ++l)
              sum += memory.A(i, l) * memory.B(t * 8 + l, j);
          return sum;
        },
        [](const Memory &memory, int trips, int row, int j) {
          double sum = 0;
          for (int t = 0; t < trips && row == 0; ++t)
            for (int l = 0; l < 4 * K; ++l)
              for (int i = 0; i < M; ++i)
                sum += memory.A(i, l) * memory.B(t * 8 + l, j);
          return sum;
        });
}

TEST_P(ProductLoopForms, ASumThatTheLoopScales) {
  check(R"(
    for t in range(trips):
        sum = tl.dot(tl.load(pa + t * K), tl.load(pb + t * K * N), sum) * 0.5
    tl.store(c + at, sum)
)",
        [](const Memory &memory, int trips, int i, int j) {
          double sum = 0;
          for (int t = 0; t < trips; ++t)
            sum = (sum + memory.product(i, j, t * K, t * K + K)) / 2;
          return sum;
        });
}

/// What the loop carries is the iteration's number, or another thing that it carries: no
/// operation's result.
TEST_P(ProductLoopForms, ValuesThatAreHandedOn) {
  check(R"(
    before = tl.zeros((M, N), tl.float32)
    last = 0
    for t in range(trips):
        product = tl.dot(tl.load(pa + t * K), tl.load(pb + t * K * N))
        sum += before
        before = product
        last = t
    tl.store(c + at, sum)
    tl.store(d + at, before + last)
)",
        [](const Memory &memory, int trips, int i, int j) {
          return trips ? wholeProduct(memory, trips - 1, i, j) : 0;
        },
        [](const Memory &memory, int trips, int i, int j) {
          return trips ? memory.product(i, j, (trips - 1) * K, trips * K) + trips - 1 : 0;
        });
  check(R"(
    other = tl.zeros((M, N), tl.float32)
    for t in range(trips):
        added = tl.dot(tl.load(pa + t * K), tl.load(pb + t * K * N), sum)
        sum = other
        other = added
    tl.store(c + at, sum + other)
)",
        wholeProduct);
}

TEST_P(ProductLoopForms, RowsThatAnIndexChooses) {
  check(R"(
    for t in range(trips):
        rows = tl.load(index + t * K + l)
        sum = tl.dot(tl.load(pa + t * K), tl.load(b + rows[:, None] * N + j), sum)
    tl.store(c + at, sum)
)",
        [](const Memory &memory, int trips, int i, int j) {
          double sum = 0;
          for (int l = 0; l < trips * K; ++l)
            sum += memory.A(i, l) * memory.B(memory.index[l], j);
          return sum;
        });
}

/// The index is part of an address, of its mask and of the other operand.
TEST_P(ProductLoopForms, RowsThatAnIndexChoosesOrLeavesOut) {
  check(R"(
    for t in range(trips):
        rows = tl.load(index + t * K + l)
        x = tl.load(pa + t * K)
        x = tl.where((rows % 2 == 0)[None, :], x, 0.0)
        y = tl.load(b + rows[:, None] * N + j, mask=(rows >= 8)[:, None], other=0.0)
        sum = tl.dot(x, y, sum)
    tl.store(c + at, sum)
)",
        [](const Memory &memory, int trips, int i, int j) {
          double sum = 0;
          for (int l = 0; l < trips * K; ++l)
            if (int row = memory.index[l]; row % 2 == 0 && row >= 8)
              sum += memory.A(i, l) * memory.B(row, j);
          return sum;
        });
}

TEST_P(ProductLoopForms, RowsThatAnIndexOfAnIndexChooses) {
  check(R"(
    place = index + l
    for t in range(trips):
        rows = tl.load(index + tl.load(place))
        place += K
        sum = tl.dot(tl.load(pa + t * K), tl.load(b + rows[:, None] * N + j), sum)
    tl.store(c + at, sum)
)",
        [](const Memory &memory, int trips, int i, int j) {
          double sum = 0;
          for (int l = 0; l < trips * K; ++l)
            sum += memory.A(i, l) * memory.B(memory.index[memory.index[l]], j);
          return sum;
        });
}

TEST_P(ProductLoopForms, ALoopAroundTheLoop) {
  check(R"(
    for half in tl.range(2):
        part = tl.zeros((M, N // 2), tl.float32)
        m = tl.arange(0, N // 2)[None, :] + half * (N // 2)
        for t in range(trips):
            part = tl.dot(tl.load(pa + t * K), tl.load(b + (t * K + l)[:, None] * N + m), part)
        tl.store(c + i * N + m, part)
)",
        wholeProduct);
}

/// Loops one after the other share memory; the second goes backwards, from another beginning.
TEST_P(ProductLoopForms, LoopsOneAfterTheOther) {
  check(R"(
    for t in tl.range(0, trips, num_stages=3):
        sum = tl.dot(tl.load(pa + t * K), tl.load(pb + t * K * N), sum)
    tl.store(c + at, sum)
    other = tl.zeros((N, M), tl.float32)
    for t in tl.range(trips - 1, 0, -1, num_stages=4):
        other = tl.dot(tl.trans(tl.load(pb + t * K * N)), tl.trans(tl.load(pa + t * K)), other)
    tl.store(d + at, tl.trans(other))
)",
        wholeProduct, [](const Memory &memory, int trips, int i, int j) {
          return memory.product(i, j, K, std::max(trips, 1) * K);
        });
}

TEST_P(ProductLoopForms, PointersThatAreUsedAfterTheLoop) {
  check(R"(
    for t in range(trips):
        sum = tl.dot(tl.load(pa), tl.load(pb), sum)
        pa += K
        pb += K * N
    tl.store(c + at, sum)
    before = tl.load(pb - K * N, mask=(trips > 0) & (l[:, None] >= 0), other=0.0)
    tl.store(d + at, tl.zeros((M, N), tl.float32))
    tl.debug_barrier()
    tl.store(d + l[:, None] * N + j, before.to(tl.float32))
)",
        wholeProduct, [](const Memory &memory, int trips, int i, int j) {
          return trips && i < K ? memory.B((trips - 1) * K + i, j) : 0;
        });
}

/// What one iteration stores the next one reads.
TEST_P(ProductLoopForms, AnOperandThatTheLoopStores) {
  check(R"(
    tl.store(c + at, (i == j).to(tl.float32))
    for t in range(trips):
        tl.debug_barrier()
        x = tl.load(c + i * N + tl.arange(0, N)[None, :])
        y = tl.load(c + tl.arange(0, M)[:, None] * N + j)
        p = tl.dot(x, y, input_precision="ieee")
        tl.debug_barrier()
        tl.store(c + at, p + x)
)",
        [](const Memory &, int trips, int i, int j) {
          double value = 1;
          for (int t = 0; t < trips; ++t)
            value = value * value + value;
          return i == j ? value : 0;
        });
}

/// The same threads store and load an element: what runs ahead must not pass all the same.
TEST_P(ProductLoopForms, AnOperandThatTheIterationBeforeStores) {
  check(R"(
    for t in range(trips):
        x = tl.load(pa + t * K)
        y = tl.load(pb + t * K * N)
        sum = tl.dot(x, y, sum)
        tl.store(pb + (t + 1) * K * N, y, mask=(t + 1 < trips) & (l[:, None] >= 0))
    tl.store(c + at, sum)
)",
        [](const Memory &memory, int trips, int i, int j) {
          double sum = 0;
          for (int l = 0; l < trips * K; ++l)
            sum += memory.A(i, l) * memory.B(l % K, j);
          return sum;
        });
}

TEST_P(ProductLoopForms, AnOperandThatTheIterationStoresBefore) {
  check(R"(
    first = tl.load(pb)
    for t in range(trips):
        tl.store(pb + t * K * N, (first + t).to(tl.float16))
        sum = tl.dot(tl.load(pa + t * K), tl.load(pb + t * K * N), sum)
    tl.store(c + at, sum)
)",
        [](const Memory &memory, int trips, int i, int j) {
          double sum = 0;
          for (int t = 0; t < trips; ++t)
            for (int l = 0; l < K; ++l)
              sum += memory.A(i, t * K + l) * (memory.B(l, j) + t);
          return sum;
        });
}

TEST_P(ProductLoopForms, AStoreOfEverySum) {
  check(R"(
    for t in range(trips):
        x = tl.load(pa + t * K)
        y = tl.load(pb + t * K * N)
        sum = tl.dot(x, y, sum)
        tl.store(d + at, sum)
    tl.store(c + at, sum)
)",
        wholeProduct, wholeProduct);
}

/// Threads meet for the sums of each iteration's product, behind which buffers are filled again.
TEST_P(ProductLoopForms, SumsOfEveryProductsColumns) {
  check(R"(
    columns = tl.zeros((N,), tl.float32)
    for t in range(trips):
        product = tl.dot(tl.load(pa + t * K), tl.load(pb + t * K * N))
        columns += tl.sum(product, axis=0)
        sum += product
    tl.store(c + at, sum)
    tl.store(d + at, columns[None, :] + tl.zeros((M, N), tl.float32))
)",
        wholeProduct, [](const Memory &memory, int trips, int, int j) {
          double sum = 0;
          for (int i = 0; i < M; ++i)
            sum += wholeProduct(memory, trips, i, j);
          return sum;
        });
}

/// A row of scales of the iteration's own, from an index array; the last iteration's is cut short.
TEST_P(ProductLoopForms, AnOperandThatARowScales) {
  check(R"(
    for t in range(trips):
        x = tl.load(pa + t * K)
        at_k = t * K + l
        scale = tl.load(index + at_k, mask=at_k < trips * K - 3, other=0) % 4
        sum = tl.dot((x * scale[None, :]).to(tl.float16), tl.load(pb + t * K * N), sum)
    tl.store(c + at, sum)
)",
        [](const Memory &memory, int trips, int i, int j) {
          double sum = 0;
          for (int l = 0; l < trips * K - 3; ++l)
            sum += memory.A(i, l) * (memory.index[l] % 4) * memory.B(l, j);
          return sum;
        });
}

/// A range that the loop moves says which columns of A and which rows of B there are; and its end.
TEST_P(ProductLoopForms, ARangeThatMasksBothOperands) {
  auto sum = [](const Memory &memory, int trips, int i, int j) {
    return memory.product(i, j, 0, std::max(0, trips * K - 5));
  };
  auto withEnd = [&](const Memory &memory, int trips, int i, int j) {
    return sum(memory, trips, i, j) + trips * K + K - 1;
  };
  check(R"(
    ks = tl.arange(0, K)
    for t in range(trips):
        inside = ks < trips * K - 5
        x = tl.load(pa, mask=(i < M) & inside[None, :], other=0.0)
        y = tl.load(pb, mask=inside[:, None] & (j < N), other=0.0)
        sum = tl.dot(x, y, sum)
        ks += K
        pa += K
        pb += K * N
    tl.store(c + at, sum)
    tl.store(d + at, sum + tl.max(ks, 0).to(tl.float32))
)",
        sum, withEnd);
}

TEST_P(ProductLoopForms, AProductInABranch) {
  check(R"(
    for t in range(trips):
        x = tl.load(pa + t * K)
        y = tl.load(pb + t * K * N)
        if t != 1:
            sum = tl.dot(x, y, sum)
        else:
            sum += 1.0
    tl.store(c + at, sum)
)",
        [](const Memory &memory, int trips, int i, int j) {
          double sum = 0;
          for (int t = 0; t < trips; ++t)
            sum += t == 1 ? 1 : memory.product(i, j, t * K, t * K + K);
          return sum;
        });
}

/// Where the mask is false there is something else than zero; nothing may come from a cache.
TEST_P(ProductLoopForms, LoadsThatAreNoCopies) {
  check(R"(
    for t in range(trips):
        x = tl.load(pa + t * K, mask=(i < M - 8) & (l[None, :] >= 0), other=1.0)
        y = tl.load(pb + t * K * N, volatile=True)
        sum = tl.dot(x, y, sum)
    tl.store(c + at, sum)
)",
        [](const Memory &memory, int trips, int i, int j) {
          double sum = 0;
          for (int l = 0; l < trips * K; ++l)
            sum += (i < M - 8 ? memory.A(i, l) : 1) * memory.B(l, j);
          return sum;
        });
}

/// A sum beside the products, of the loaded operand; products that are not added to in place.
TEST_P(ProductLoopForms, AnOperandWithOtherUses) {
  check(R"(
    rows = tl.zeros((M,), tl.float32)
    for t in range(trips):
        x = tl.load(pa + t * K)
        rows += tl.sum(x.to(tl.float32), 1)
        sum += tl.dot(x, tl.load(pb + t * K * N))
    tl.store(c + at, sum)
    tl.store(d + at, rows[:, None] + tl.zeros((M, N), tl.float32))
)",
        wholeProduct, [](const Memory &memory, int trips, int i, int) {
          double sum = 0;
          for (int l = 0; l < trips * K; ++l)
            sum += memory.A(i, l);
          return sum;
        });
}

/// Both operands of one product from one load, and from one array in two orders.
TEST_P(ProductLoopForms, ATileTimesItself) {
  check(R"(
    for t in range(trips):
        x = tl.load(pa + t * K)
        sum = tl.dot(x, tl.trans(x), sum)
    tl.store(c + at, sum)
)",
        [](const Memory &memory, int trips, int i, int j) {
          double sum = 0;
          for (int l = 0; l < trips * K; ++l)
            sum += memory.A(i, l) * memory.A(j, l);
          return sum;
        });
}

TEST_P(ProductLoopForms, Batches) {
  auto product = [](int first) {
    return [first](const Memory &memory, int trips, int i, int j) {
      double sum = 0;
      for (int t = 0; t < trips; ++t) {
        int begin = (t + first) % maxTrips * K;
        sum += memory.product(i, j, begin, begin + K);
      }
      return sum;
    };
  };
  check(R"(
    g = tl.arange(0, 2)[:, None, None]
    sums = tl.zeros((2, M, N), tl.float32)
    for t in range(trips):
        k = ((t + g) % 5) * K
        x = tl.load(a + tl.arange(0, M)[None, :, None] * S + k + l[None, None, :])
        y = tl.load(b + (k + l[None, :, None]) * N + tl.arange(0, N)[None, None, :])
        sums = tl.dot(x, y, sums)
    tl.store(c + at, tl.sum(tl.where(g == 0, sums, 0.0), 0))
    tl.store(d + at, tl.sum(tl.where(g == 1, sums, 0.0), 0))
)",
        product(0), product(1));
}

/// A persistent program that goes through tiles of two steps in one loop: a tile begins in a branch
/// that the addresses hang on, and ends in another, where the sum begins anew.
TEST_P(ProductLoopForms, TilesThatBeginAndEndInBranches) {
  auto firstOf = [](int step) { return step * 3 % 4 * K; };
  check(R"(
    k = -1
    first = tl.arange(0, K)
    for t in range(trips):
        k = tl.where(k == 1, 0, k + 1)
        if k == 0:
            first = (t * 3 % 4) * K + tl.arange(0, K)
        at_k = tl.multiple_of(first + k * K, K)
        x = tl.load(a + i * S + at_k[None, :])
        y = tl.load(b + at_k[:, None] * N + j)
        sum = tl.dot(x, y, sum)
        if k == 1:
            tl.store(c + at, sum)
            sum = tl.zeros((M, N), tl.float32)
    tl.store(d + at, sum)
)",
        [=](const Memory &memory, int trips, int i, int j) {
          int begin = firstOf(trips / 2 * 2 - 2);
          return trips < 2 ? 0 : memory.product(i, j, begin, begin + 2 * K);
        },
        [=](const Memory &memory, int trips, int i, int j) {
          int begin = firstOf(trips - 1);
          return trips % 2 ? memory.product(i, j, begin, begin + K) : 0;
        });
}

INSTANTIATE_TEST_SUITE_P(, ProductLoopForms,
                         ::testing::Values("cpu", "emu:sm_80", "emu:sm_89", "emu:sm_90a",
                                           "emu:gfx942"),
                         sourceTargetName);

} // namespace
} // namespace kiln::testing
