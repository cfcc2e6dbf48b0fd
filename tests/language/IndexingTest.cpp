// Subscripts of tensors, and the shapes that meet: None, ':', '...', broadcasting, scalars as
// tensors, shapes as values.

#include "tests/language/Outputs.h"

namespace kiln::testing {
namespace {

class Indexing : public SourceTest {};

TEST_P(Indexing, AddsAxesOfSizeOne) {
  expectCompiles(R"(
@triton.jit
def kernel():
    x = tl.arange(0, 8)
    tl.static_assert(x[None].shape == [1, 8])
    tl.static_assert(x[None, :].shape == [1, 8])
    tl.static_assert(x[:, None].shape == [8, 1])
    tl.static_assert(x[None, :, None].shape == [1, 8, 1])
    tl.static_assert(x[:, None, None].shape == [8, 1, 1])
    tl.static_assert(x[:].shape == [8])
    y = x[:, None] + tl.arange(0, 4)[None, :]
    tl.static_assert(y.shape == [8, 4])
    tl.static_assert(y[:, :, None].shape == [8, 4, 1])
    tl.static_assert(y[:, None, :].shape == [8, 1, 4])
    tl.static_assert(y[None].shape == [1, 8, 4])
    tl.static_assert(y[:, None].shape == [8, 1, 4])
    tl.static_assert(y[..., None].shape == [8, 4, 1])
    tl.static_assert(y[None, ...].shape == [1, 8, 4])
    tl.static_assert(x[..., None].shape == [8, 1])
    tl.static_assert(tl.expand_dims(x, 0).shape == [1, 8])
    tl.static_assert(tl.expand_dims(x, -1).shape == [8, 1])
    tl.static_assert(tl.expand_dims(x, (0, -1)).shape == [1, 8, 1])
    tl.static_assert(tl.expand_dims(x, (0, 1, 3)).shape == [1, 1, 8, 1])
    tl.static_assert(y.unsqueeze(-1).shape == [8, 4, 1])
    tl.static_assert(y.unsqueeze(-2).shape == [8, 1, 4])
    tl.static_assert(y.unsqueeze(-1).squeeze(-1).shape == [8, 4])
    # Behind the last axis ':' stands for nothing.
    tl.static_assert(x[None, :, :].shape == [1, 8])
)",
                 GetParam());
}

TEST_P(Indexing, OfScalarsMakesTensors) {
  expectCompiles(R"(
@triton.jit
def kernel(p, n):
    s = tl.program_id(0)
    tl.static_assert(s.shape == [])
    tl.static_assert(s[None].shape == [1])
    tl.static_assert(s[None, None].shape == [1, 1])
    tl.static_assert(s[None, None, None, :].shape == [1, 1, 1])
    tl.static_assert(p[None, None].shape == [1, 1])
    tl.static_assert((p + s)[None].dtype == p.dtype)
    tl.static_assert(tl.expand_dims(n, 0).shape == [1])
    three = 3
    tl.static_assert(three[None].shape == [1])
)",
                 GetParam(), {{"p", "*fp32", Buffer<float>(4)}, {"n", "i32", 3}});
}

TEST_P(Indexing, ShapesAreTuplesOfNumbers) {
  expectCompiles(R"(
@triton.jit
def kernel():
    x = tl.zeros((8, 4), tl.float32)
    tl.static_assert(x.shape == (8, 4))
    tl.static_assert(x.shape == [8, 4])
    tl.static_assert([8, 4] == x.shape)
    tl.static_assert(x.shape != [4, 8])
    tl.static_assert(x.shape[0] * x.shape[1] == x.numel)
    tl.static_assert(len(x.shape) == 2)
    rows: tl.constexpr = x.shape[0]
    tl.static_assert(tl.arange(0, rows * 2).shape == [16])
    tl.static_assert(x.reshape(x.shape[1], x.shape[0]).shape == [4, 8])
    tl.static_assert(x.reshape((x.numel,)).shape == [32])
    tl.static_assert(x.reshape([2, 16]).shape == [2, 16])
    tl.static_assert(tl.reshape(x, 2, 16).shape == [2, 16])
    tl.static_assert(x.trans().shape == [4, 8])
    tl.static_assert(x.T.shape == [4, 8])
    tl.static_assert(x.permute(1, 0).shape == [4, 8])
    tl.static_assert(x.permute((1, 0)).shape == [4, 8])
    tl.static_assert(tl.broadcast_to(x[:, :, None], (8, 4, 2)).shape == [8, 4, 2])
    tl.static_assert(tl.broadcast_to(x[:, :, None], 8, 4, 2).shape == [8, 4, 2])
    tl.static_assert(tl.zeros_like(x).shape == x.shape)
    tl.static_assert(tl.full((), 1, tl.int32).shape == [])
    tl.static_assert(tl.full([], 1, tl.int32).shape == ())
    tl.static_assert(tl.zeros([2, tl.constexpr(4)], tl.int8).shape == [2, 4])
)",
                 GetParam());
}

TEST_P(Indexing, BroadcastsFromTheRight) {
  Buffer<float> x(8), y(4);
  Random random(3);
  for (int i = 0; i < 8; ++i)
    x[i] = float(random.next());
  for (int i = 0; i < 4; ++i)
    y[i] = float(random.next());
  std::vector<float> out =
      outputsOf<float>(R"(
@triton.jit
def kernel(p, q, out):
    x = tl.load(p + tl.arange(0, 8))
    y = tl.load(q + tl.arange(0, 4))
    z = x[:, None] - y[None, :]
    # A vector meets the last axis; a scalar meets everything.
    z = z * y + 2 * tl.load(p)
    a, b = tl.broadcast(x[:, None], y[None, :])
    tl.static_assert(a.shape == [8, 4] and b.shape == [8, 4])
    tl.store(out + tl.arange(0, 8)[:, None] * 4 + tl.arange(0, 4)[None, :], tl.where(a > b, z, -z))
)",
                       GetParam(), "fp32", 32, {{"p", "*fp32", x}, {"q", "*fp32", y}});
  for (int r = 0; r < 8; ++r)
    for (int c = 0; c < 4; ++c) {
      double z = (double(x[r]) - double(y[c])) * double(y[c]) + 2 * double(x[0]);
      EXPECT_NEAR(out[size_t(r) * 4 + size_t(c)], x[r] > y[c] ? z : -z, 1e-5);
    }
}

TEST_P(Indexing, OneElementTensorsAreScalarsWhereOneIsNeeded) {
  std::vector<int32_t> out = outputsOf<int32_t>(R"(
@triton.jit
def kernel(out, n):
    one = tl.full((1,), 3, tl.int32) + n
    if (tl.sum(one, axis=0) > 4):
        tl.store(out, 1)
    tl.store(out + 1, one.item() * 2)
    tl.store(out + 2 + tl.arange(0, 1), one)
    grid = tl.full((1, 1), 7, tl.int32)
    tl.store(out + 3, grid.item())
)",
                                                GetParam(), "i32", 4, {{"n", "i32", 2}});
  EXPECT_EQ(out, (std::vector<int32_t>{1, 10, 5, 7}));
}

TEST_P(Indexing, RefusesWhatTensorsCannotDo) {
  auto expectError = [&](const std::string &statement, const std::string &message) {
    std::string errors =
        runSource("@triton.jit\ndef kernel():\n    x = tl.zeros((8, 4), tl.int32)\n"
                  "    y = tl.arange(0, 8)\n    " +
                      statement + "\n",
                  GetParam(), {});
    EXPECT_NE(errors.find(message), std::string::npos) << statement << ": " << errors;
    EXPECT_NE(errors.find("test.py:"), std::string::npos) << errors;
  };
  expectError("z = x[0]", "expected ':' or None");
  expectError("z = x[2:]", "expected ':' or None");
  expectError("z = x[:, :4]", "expected ':' or None");
  expectError("z = x[y]", "expected ':' or None");
  expectError("z = y[:, :, None]", "no more ':' than dimensions");
  expectError("z = tl.expand_dims(y, 2)", "axis");
  expectError("z = tl.expand_dims(y, -3)", "axis");
  expectError("z = tl.expand_dims(y, (0, 0))", "axis");
  expectError("z = x + y", "broadcast");
  expectError("z = x.reshape(3, 5)", "elements");
  expectError("z = x.trans(0)", "trans");
  expectError("z = tl.permute(x, (0, 0))", "permute");
  expectError("z = tl.broadcast_to(x, (4, 4))", "broadcast");
  expectError("z = tl.program_id(3)", "expected 0, 1 or 2");
  expectError("z = tl.num_programs(-1)", "expected 0, 1 or 2");
  expectError("z = tl.arange(4, 4)", "arange");
  expectError("x[0, 0] = 1", "assigning to an element");
}

/// One comparison with the closer bound has to hold up to the largest and the least number.
TEST_P(Indexing, ChoosesBetweenBoundsOfOneIndex) {
  const std::string source = R"(
@triton.jit
def kernel(out, first, bound):
    m = first + tl.arange(0, 32)[:, None]
    n = first + tl.arange(0, 32)[None, :]
    result = tl.where((n < bound) & (m >= n), 1, 0)
    result += tl.where((n > bound) & (m <= n), 2, 0)
    result += tl.where((n <= bound) & (m >= n), 4, 0)
    result += tl.where((n >= bound) & (m < n), 8, 0)
    tl.store(out + tl.arange(0, 32)[:, None] * 32 + tl.arange(0, 32)[None, :], result)
)";
  constexpr int64_t most = INT32_MAX, least = INT32_MIN;
  for (auto [first, bound] : {std::pair(int64_t(0), int64_t(19)),
                              {-7, 0},
                              {most - 31, most},
                              {most - 31, most - 5},
                              {most - 31, least},
                              {least, least},
                              {least, least + 3},
                              {least, most}}) {
    auto got =
        outputsOf<int32_t>(source, GetParam(), "i32", 32 * 32,
                           {{"first", "i32", int32_t(first)}, {"bound", "i32", int32_t(bound)}});
    for (int64_t row = 0; row < 32; ++row)
      for (int64_t column = 0; column < 32; ++column) {
        int64_t m = first + row, n = first + column;
        int32_t expected = (n < bound && m >= n) + 2 * (n > bound && m <= n) +
                           4 * (n <= bound && m >= n) + 8 * (n >= bound && m < n);
        ASSERT_EQ(got[row * 32 + column], expected) << m << " " << n << " " << bound;
      }
  }
}

KILN_SOURCE_TESTS(Indexing);

} // namespace
} // namespace kiln::testing
