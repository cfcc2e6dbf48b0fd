// Products of blocks of arrays of three and four axes that kernels address by pointers: batches and
// heads, whose offsets all elements of a block share. On sm_90a the copy engine brings them (TMA),
// with an axis of one element for each of these offsets, where the kernel's arguments describe the
// array as that wants it. Those launches and the others; all numbers are exact.

#include "tests/language/ExactProduct.h"

namespace kiln::testing {
namespace {

const std::string head = R"(
@triton.jit
def kernel(pa, pb, pc, M, N, K, H, saz, sah, sam, sbz, sbh, sbk, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
           KEPT: tl.constexpr):
    m = tl.program_id(0) * BM
    n = tl.program_id(1) * BN
    i = m + tl.arange(0, BM)
    j = n + tl.arange(0, BN)
    l = tl.arange(0, BK)
    instance = tl.program_id(2).to(tl.int64)
    z = instance // H
    h = instance % H
)";

/// Of the matrices at `a` and `b`.
const std::string loop = R"(
    rows = i % M if KEPT else i
    columns = j % N if KEPT else j
    sum = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        in_a = l[None, :] < K - k
        in_b = l[:, None] < K - k
        if not KEPT:
            in_a &= i[:, None] < M
            in_b &= j[None, :] < N
        x = tl.load(a + rows[:, None] * sam + (k + l)[None, :], mask=in_a, other=0.0)
        y = tl.load(b + (k + l)[:, None] * sbk + columns[None, :], mask=in_b, other=0.0)
        sum = tl.dot(x, y, sum)
)";

const std::string store = R"(
    c = pc + instance * M * N
    tl.store(c + i[:, None] * N + j[None, :], sum, mask=(i[:, None] < M) & (j[None, :] < N))
)";

const std::string strided = "\n    a = pa + z * saz + h * sah\n    b = pb + z * sbz + h * sbh\n";

/// Where the matrices of an array lie: element (z, h, i, j) is at
/// first + z * batch + h * head + i * row + j.
struct Places {
  int64_t batch, head, row, first = 0;
};

constexpr int batches = 2, heads = 3;

/// C of m x n is A times B along k, for each of the heads of each batch.
struct BatchedProduct {
  int m, n, k;
  Places placesA, placesB;
  Buffer<uint16_t> a, b;
  Buffer<float> c;

  BatchedProduct(int m, int n, int k, Places placesA, Places placesB)
      : m(m), n(n), k(k), placesA(placesA), placesB(placesB), a(sizeOf(placesA, m, k)),
        b(sizeOf(placesB, k, n)), c(size_t(batches) * heads * m * n) {
    Random random(unsigned(m + 7 * n + 31 * k));
    for (Buffer<uint16_t> *array : {&a, &b})
      for (size_t i = 0; i < array->count(); ++i)
        (*array)[i] = ExactProduct::halfOf(int(random.below(5)) - 2);
  }

  /// Up to the last element; negative strides lead back from `first`.
  static size_t sizeOf(const Places &places, int rows, int columns) {
    auto reach = [](int64_t stride, int count) {
      return std::max<int64_t>(stride * (count - 1), 0);
    };
    return size_t(places.first + reach(places.batch, batches) + reach(places.head, heads) +
                  reach(places.row, rows) + columns);
  }

  static double element(const Buffer<uint16_t> &array, const Places &places, int z, int h, int i,
                        int j) {
    return ExactProduct::valueOf(
        array[size_t(places.first + z * places.batch + h * places.head + i * places.row + j)]);
  }

  double C(int z, int h, int i, int j) const {
    double sum = 0;
    for (int l = 0; l < k; ++l)
      sum += element(a, placesA, z, h, i, l) * element(b, placesB, z, h, l, j);
    return sum;
  }

  std::vector<SourceArgument> arguments(const std::string &pointer = "*fp16") const {
    return {{"pa", pointer, a, size_t(placesA.first)},
            {"pb", pointer, b, size_t(placesB.first)},
            {"pc", "*fp32", c},
            {"M", "i32", m},
            {"N", "i32", n},
            {"K", "i32", k},
            {"H", "i32", heads},
            {"saz", "i64", placesA.batch},
            {"sah", "i64", placesA.head},
            {"sam", "i64", placesA.row},
            {"sbz", "i64", placesB.batch},
            {"sbh", "i64", placesB.head},
            {"sbk", "i64", placesB.row}};
  }

  /// "" or the first wrong element.
  std::string wrong() const {
    for (int z = 0; z < batches; ++z)
      for (int h = 0; h < heads; ++h)
        for (int i = 0; i < m; ++i)
          for (int j = 0; j < n; ++j)
            if (double(c[((size_t(z) * heads + h) * m + i) * n + j]) != C(z, h, i, j))
              return "wrong at " + std::to_string(z) + ", " + std::to_string(h) + ", " +
                     std::to_string(i) + ", " + std::to_string(j) + "\n";
    return "";
  }
};

std::vector<SourceConstant> constants(bool kept) {
  return {{"BM", 64}, {"BN", 64}, {"BK", 64}, {"KEPT", kept}};
}

constexpr int m = 70, n = 61, k = 72;

/// Matrices one after the other.
Places dense(int rows, int columns) {
  return {int64_t(heads) * rows * columns, int64_t(rows) * columns, columns};
}

/// Rows of all heads one after the other: heads are nearer than rows.
Places headsWithinRows(int rows, int columns) {
  return {int64_t(heads) * rows * columns, columns, int64_t(heads) * columns};
}

class BatchedProductTest : public SourceTest {
protected:
  /// Launches `kernel` with these arrays.
  static void expectExact(SourceKernel &kernel, const Places &a, const Places &b,
                          const char *pointer = "*fp16") {
    BatchedProduct product(m, n, k, a, b);
    ASSERT_EQ(kernel.run(product.arguments(pointer), {2, 1, batches * heads}), "");
    ASSERT_EQ(product.wrong(), "");
  }
};

/// One kernel for all: rows, matrices and arrays that begin at multiples of 16 bytes, and others;
/// the same matrix for all heads; heads in the other order.
TEST_P(BatchedProductTest, OfAnyStrides) {
  const struct {
    const char *what;
    Places a, b;
  } cases[] = {
      {"dense", dense(m, 72), dense(k, 64)},
      {"heads within rows", headsWithinRows(m, 80), headsWithinRows(k, 64)},
      {"one for all heads", {72 * m, 0, 72}, {0, 0, 64}},
      {"odd rows", dense(m, 73), dense(k, 61)},
      {"odd heads", {72 * m * 3 + 3, 72 * m + 1, 72}, dense(k, 64)},
      {"heads backwards", dense(m, 72), {heads * k * 64, -k * 64, 64, (heads - 1) * k * 64}},
  };
  for (bool kept : {false, true}) {
    SourceKernel kernel(head + strided + loop + store, GetParam(),
                        BatchedProduct(1, 1, 1, {}, {}).arguments(), constants(kept));
    for (const auto &[what, a, b] : cases) {
      SCOPED_TRACE(std::string(what) + (kept ? ", kept inside" : ""));
      expectExact(kernel, a, b);
    }
  }
}

TEST_P(BatchedProductTest, OfArraysAnywhere) {
  SourceKernel kernel(head + strided + loop + store, GetParam(),
                      BatchedProduct(1, 1, 1, {}, {}).arguments("*fp16:2"), constants(false));
  Places moved = dense(m, 72);
  for (int first : {0, 1, 8}) {
    SCOPED_TRACE(first);
    moved.first = first;
    expectExact(kernel, moved, dense(k, 64), "*fp16:2");
  }
}

/// Strides that are products of arguments, and constants.
TEST_P(BatchedProductTest, OfDenseArrays) {
  const std::string bases = R"(
    a = pa + instance * M * sam
    b = pb + instance * 4608
)";
  SourceKernel kernel(head + bases + loop + store, GetParam(),
                      BatchedProduct(1, 1, 1, {}, {}).arguments(), constants(true));
  for (int columns : {72, 73}) {
    SCOPED_TRACE(columns);
    expectExact(kernel, dense(m, columns), dense(k, 64));
  }
}

/// A constant way to where the array begins, and one that an argument says.
TEST_P(BatchedProductTest, OfPartsOfArrays) {
  const std::string bases = R"(
    a = pa + z * saz + (h + 1) * sah
    b = pb + sbz + h * sbh
)";
  SourceKernel kernel(head + bases + loop + store, GetParam(),
                      BatchedProduct(1, 1, 1, {}, {}).arguments(), constants(false));
  Places a = dense(m, 72), b = dense(k, 64);
  b.batch = 0;
  for (int64_t offset : {640, 641}) {
    SCOPED_TRACE(offset);
    Places shifted = b;
    shifted.first = offset;
    Places next = a;
    next.first = a.head;
    BatchedProduct product(m, n, k, next, shifted);
    std::vector<SourceArgument> arguments = product.arguments();
    arguments[0] = {"pa", "*fp16", product.a};
    arguments[1] = {"pb", "*fp16", product.b};
    arguments[10] = {"sbz", "i64", offset};
    ASSERT_EQ(kernel.run(arguments, {2, 1, batches * heads}), "");
    ASSERT_EQ(product.wrong(), "");
  }
}

/// By descriptors of each head's matrices, which the kernel makes.
TEST_P(BatchedProductTest, OfDescribedMatrices) {
  const std::string described = R"(
    a = tl.make_tensor_descriptor(pa + z * saz + h * sah, [M, K], [sam, 1], [BM, BK])
    b = tl.make_tensor_descriptor(pb + z * sbz + h * sbh, [K, N], [sbk, 1], [BK, BN])
    sum = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        sum = tl.dot(a.load([m, k]), b.load([k, n]), sum)
)";
  SourceKernel kernel(head + described + store, GetParam(),
                      BatchedProduct(1, 1, 1, {}, {}).arguments(), constants(false));
  expectExact(kernel, dense(m, 72), headsWithinRows(k, 64));
}

/// The sum over the heads, which a loop counts; each program has all of a batch.
TEST_P(BatchedProductTest, OverALoopOfHeads) {
  const std::string sums = R"(
    sum = tl.zeros((BM, BN), tl.float32)
    for e in range(0, H):
        a = pa + instance * saz + e.to(tl.int64) * sah
        b = pb + instance * sbz + e.to(tl.int64) * sbh
        for k in range(0, K, BK):
            x = tl.load(a + i[:, None] * sam + (k + l)[None, :], mask=(i[:, None] < M) & (l[None, :] < K - k), other=0.0)
            y = tl.load(b + (k + l)[:, None] * sbk + j[None, :], mask=(l[:, None] < K - k) & (j[None, :] < N), other=0.0)
            sum = tl.dot(x, y, sum)
)";
  SourceKernel kernel(head + sums + store, GetParam(), BatchedProduct(1, 1, 1, {}, {}).arguments(),
                      constants(false));
  BatchedProduct product(m, n, k, headsWithinRows(m, 72), dense(k, 64));
  ASSERT_EQ(kernel.run(product.arguments(), {2, 1, batches}), "");
  for (int z = 0; z < batches; ++z)
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j) {
        double sum = 0;
        for (int h = 0; h < heads; ++h)
          sum += product.C(z, h, i, j);
        ASSERT_EQ(double(product.c[(size_t(z) * m + i) * n + j]), sum)
            << z << ", " << i << ", " << j;
      }
}

/// The head comes from a table. It may be one before the first where nobody says that it is not.
TEST_P(BatchedProductTest, OfHeadsInATable) {
  const std::string last = "KEPT: tl.constexpr):", withTable = "KEPT: tl.constexpr, table):";
  for (bool isAssumed : {false, true}) {
    SCOPED_TRACE(isAssumed);
    std::string start = head;
    start.replace(start.find(last), last.size(), withTable);
    start += "    h = tl.load(table + instance % H)\n";
    start += isAssumed ? "    tl.assume(h >= 0)\n" : "";
    Places a = dense(m, 72), b = dense(k, 64);
    a.first = isAssumed ? 0 : a.head;
    b.first = isAssumed ? 0 : b.head;
    BatchedProduct product(m, n, k, a, b);
    Buffer<int32_t> table(isAssumed ? std::vector<int32_t>{2, 0, 1}
                                    : std::vector<int32_t>{1, -1, 0});
    std::vector<SourceArgument> arguments = product.arguments();
    arguments.emplace_back("table", "*i32", table);
    SourceOptions options;
    options.grid = {2, 1, batches * heads};
    ASSERT_EQ(
        runSource(start + strided + loop + store, GetParam(), arguments, constants(true), options),
        "");
    for (int z = 0; z < batches; ++z)
      for (int h = 0; h < heads; ++h)
        for (int i = 0; i < m; ++i)
          for (int j = 0; j < n; ++j)
            ASSERT_EQ(double(product.c[((size_t(z) * heads + h) * m + i) * n + j]),
                      product.C(z, table[h], i, j))
                << z << ", " << h << ", " << i << ", " << j;
  }
}

INSTANTIATE_TEST_SUITE_P(, BatchedProductTest,
                         ::testing::Values("cpu", "emu:sm_80", "emu:sm_90a", "emu:gfx942"),
                         sourceTargetName);

} // namespace
} // namespace kiln::testing
