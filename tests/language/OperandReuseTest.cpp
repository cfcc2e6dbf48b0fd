// Loops in which one loaded tile is an operand of two dots or twice of one, as it is or transposed:
// one buffer serves all, and is filled ahead. All numbers are exact: small integers, and sums of
// their products.

#include "tests/language/Matrix.h"

#include <algorithm>

namespace kiln::testing {
namespace {

constexpr int D = 64, maxTrips = 3;

/// X has maxTrips blocks of R rows, of which `end` rows exist; W is 64 x D, V is R x D.
struct Memory {
  int R, end = 0;
  Array w, x, v;
  Buffer<float> c{64 * 64}, d{64 * 64};

  Memory(const std::string &type, int R)
      : R(R), w(type, 64 * D), x(type, maxTrips * R * D), v(type, R * D) {
    Random random(3);
    for (Array *array : {&w, &x, &v})
      for (size_t i = 0; i < array->count(); ++i)
        array->set(i, int(random.below(3)) - 1);
  }
  Matrix W() const { return {w, 0, 64, D}; }
  Matrix V() const { return {v, 0, R, D}; }
  Matrix X(int block) const {
    Matrix matrix(x, block * R * D, R, D);
    for (int i = std::max(end - block * R, 0); i < R; ++i)
      for (int j = 0; j < D; ++j)
        matrix(i, j) = 0;
    return matrix;
  }
};

const std::string head = R"(
@triton.jit
def kernel(w, x, v, c, d, trips, end, R: tl.constexpr, D: tl.constexpr):
    i = tl.arange(0, 64)[:, None]
    r = tl.arange(0, R)[:, None]
    e = tl.arange(0, D)[None, :]
    at = i * 64 + tl.arange(0, 64)[None, :]
    W = tl.load(w + i * D + e)
    V = tl.load(v + r * D + e)
    sum = tl.zeros((64, 64), tl.float32)
    other = tl.zeros((64, 64), tl.float32)
    described = tl.make_tensor_descriptor(x, [end, D], [D, 1], [R, D])
    for t in range(trips):
        X = LOAD
)";
const std::string tail = R"(
    tl.store(c + at, sum)
    tl.store(d + at, other)
)";

const std::string byPointers = "tl.load(x + (t * R + r) * D + e)",
                  masked = "tl.load(x + (t * R + r) * D + e, mask=t * R + r < end, other=0.0)",
                  described = "described.load([t * R, 0])";

/// What one block adds to a sum of a loop of so many iterations.
using Reference =
    std::function<Matrix(const Matrix &W, const Matrix &X, const Matrix &V, int trips)>;

Matrix nothing(const Matrix &, const Matrix &, const Matrix &, int) { return {64, 64}; }

struct Products {
  std::string body;
  int R;
  Reference c, d = nothing;
};

/// As attention's backward pass: along the rows of a block, then along its columns.
const Products transposedFirst = {R"(
        p = tl.dot(W, tl.trans(X))
        sum = tl.dot(p.to(X.dtype), X, sum)
)",
                                  32, [](const Matrix &W, const Matrix &X, const Matrix &, int) {
                                    return W * X.transposed() * X;
                                  }};

const Products withItself = {
    R"(
        sum = tl.dot(X, tl.trans(X), sum)
)",
    64, [](const Matrix &, const Matrix &X, const Matrix &, int) { return X * X.transposed(); }};

const Products bothFirstOperands = {
    R"(
        sum = tl.dot(X, V, sum)
        other = tl.dot(tl.trans(X), V, other)
)",
    64, [](const Matrix &, const Matrix &X, const Matrix &V, int) { return X * V; },
    [](const Matrix &, const Matrix &X, const Matrix &V, int) { return X.transposed() * V; }};

const Products twoSums = {
    R"(
        sum = tl.dot(W, tl.trans(X), sum)
        other = tl.dot(V, tl.trans(X), other)
)",
    64, [](const Matrix &W, const Matrix &X, const Matrix &, int) { return W * X.transposed(); },
    [](const Matrix &, const Matrix &X, const Matrix &V, int) { return V * X.transposed(); }};

/// The first sum is complete by the time that the second product is, the other one in the next
/// iteration.
const Products sumsBesideOthers = {
    R"(
        p = tl.dot(W, tl.trans(X))
        sum = tl.dot(p.to(X.dtype), X, sum)
        q = tl.dot(V, tl.trans(X))
        other = tl.dot(q.to(X.dtype), X, other)
)",
    64, transposedFirst.c,
    [](const Matrix &, const Matrix &X, const Matrix &V, int) { return V * X.transposed() * X; }};

/// A dot and threads read the same tile, threads in some launches.
const Products withASum = {R"(
        sum = tl.dot(W, tl.trans(X), sum)
        if trips > 1:
            other += tl.sum(X.to(tl.float32), 0)[None, :]
)",
                           64, twoSums.c,
                           [](const Matrix &, const Matrix &X, const Matrix &, int trips) {
                             return Matrix(64, X.rows, trips > 1) * X;
                           }};

class OperandReuse : public SourceTest {
protected:
  /// No iteration, one and three; what is not loaded by pointers alone ends within a block.
  void check(const Products &products, const std::string &load, unsigned stages, unsigned warps = 4,
             const std::string &type = "fp16") {
    SCOPED_TRACE(type + ", " + std::to_string(stages) + " stages, " + std::to_string(warps) +
                 " warps, " + load + products.body);
    std::string source = head + products.body + tail;
    source.replace(source.find("LOAD"), 4, load);
    SourceOptions options;
    options.numStages = stages;
    options.numWarps = warps;
    Memory memory(type, products.R);
    SourceKernel kernel(source, GetParam(), arguments(memory, 0), {{"R", products.R}, {"D", D}},
                        options);
    for (int trips : {0, 1, maxTrips}) {
      int rows = trips * products.R;
      memory.end = load == byPointers ? rows : std::max(0, rows - 5);
      ASSERT_EQ(kernel.run(arguments(memory, trips)), "") << trips << " iterations";
      expect(memory.c, total(products.c, memory, trips));
      expect(memory.d, total(products.d, memory, trips));
      ASSERT_FALSE(HasFailure()) << trips << " iterations";
    }
  }
  void checkAll(const Products &products) {
    check(products, byPointers, /*stages=*/1);
    check(products, byPointers, 3);
    check(products, described, 3);
    check(products, masked, 2, /*warps=*/8);
  }

private:
  static Matrix total(const Reference &reference, const Memory &memory, int trips) {
    Matrix sum(64, 64);
    for (int block = 0; block < trips; ++block)
      sum = sum + reference(memory.W(), memory.X(block), memory.V(), trips);
    return sum;
  }
  static void expect(const Buffer<float> &got, const Matrix &sum) {
    for (int i = 0; i < sum.rows; ++i)
      for (int j = 0; j < sum.columns; ++j)
        ASSERT_EQ(got[i * sum.columns + j], sum(i, j)) << i << ", " << j;
  }
  static std::vector<SourceArgument> arguments(const Memory &memory, int trips) {
    return {memory.w.argument("w"),    memory.x.argument("x"),   memory.v.argument("v"),
            {"c", "*fp32", memory.c},  {"d", "*fp32", memory.d}, {"trips", "i32", trips},
            {"end", "i32", memory.end}};
  }
};

TEST_P(OperandReuse, TransposedFirst) { checkAll(transposedFirst); }
TEST_P(OperandReuse, WithItself) { checkAll(withItself); }
TEST_P(OperandReuse, BothFirstOperands) { checkAll(bothFirstOperands); }
TEST_P(OperandReuse, TwoSums) { checkAll(twoSums); }
TEST_P(OperandReuse, SumsBesideOthers) { checkAll(sumsBesideOthers); }
TEST_P(OperandReuse, WithASum) { checkAll(withASum); }

/// 32 bits are never transposed on the way: these have buffers of their own.
TEST_P(OperandReuse, OfOtherTypes) {
  for (const char *type : {"bf16", "fp32"}) {
    check(transposedFirst, byPointers, 3, 4, type);
    check(withItself, byPointers, 2, 4, type);
  }
}

INSTANTIATE_TEST_SUITE_P(, OperandReuse, ::testing::Values("emu:sm_80", "emu:sm_90a"),
                         sourceTargetName);

} // namespace
} // namespace kiln::testing
