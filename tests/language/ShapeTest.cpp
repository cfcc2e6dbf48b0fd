// Functions that move elements about, against index arithmetic: whole tensors of distinct numbers,
// ranks 0 to 5, axes of size 1.

#include "tests/language/Numbers.h"

#include <functional>

namespace kiln::testing {
namespace {

KILN_COVERS("tl.reshape tl.view tl.ravel tl.expand_dims tl.broadcast tl.broadcast_to tl.trans "
            "tl.permute tl.squeeze tl.unsqueeze tl.item tl.join tl.split tl.interleave tl.cat "
            "tl.arange tl.program_id tl.num_programs");

class Shape : public SourceTest {};

/// Runs `y = expression` of x (the numbers 0, 1, … of `shape`, of `type`) and stores y, which must
/// have the shape `expected`; result i must be the number `source(i)`.
void checkShape(const char *target, const std::string &expression, const std::vector<int> &shape,
                const std::vector<int> &expected, const std::function<int(int)> &source,
                const std::string &type = "i32") {
  auto product = [](const std::vector<int> &extents) {
    int count = 1;
    for (int extent : extents)
      count *= extent;
    return count;
  };
  auto text = [](const std::vector<int> &extents) {
    std::string all = "[";
    for (int extent : extents)
      all += std::to_string(extent) + ", ";
    return all + "]";
  };
  int count = product(shape), results = product(expected);
  Array x(type, count), y(type, results);
  for (int i = 0; i < count; ++i)
    x.set(i, i % 120);
  std::string kernel =
      "@triton.jit\ndef kernel(p, q, COUNT: tl.constexpr, RESULTS: tl.constexpr):\n"
      "    flat = tl.load(p + tl.arange(0, COUNT))\n"
      "    x = flat.reshape(" +
      text(shape) +
      ")\n"
      "    y = " +
      expression + "\n";
  if (!expected.empty())
    kernel += "    tl.static_assert(len(y.shape) == " + std::to_string(expected.size()) + ")\n";
  for (size_t axis = 0; axis < expected.size(); ++axis)
    kernel += "    tl.static_assert(y.shape[" + std::to_string(axis) +
              "] == " + std::to_string(expected[axis]) + ")\n";
  kernel += expected.empty() ? "    tl.store(q, y)\n"
                             : "    tl.store(q + tl.arange(0, RESULTS), y.reshape([RESULTS]))\n";
  ASSERT_EQ(runSource(kernel, target, {x.argument("p"), y.argument("q")},
                      {{"COUNT", count}, {"RESULTS", results}}),
            "")
      << expression;
  for (int i = 0; i < results; ++i)
    ASSERT_EQ(int(y[i]), source(i) % 120) << expression << " of " << type << " at " << i;
}

int same(int i) { return i; }

TEST_P(Shape, ReshapesKeepTheOrder) {
  for (std::string type : {"i8", "fp16", "fp32", "i64"}) {
    checkShape(GetParam(), "tl.reshape(x, (8, 32))", {16, 16}, {8, 32}, same, type);
    checkShape(GetParam(), "tl.view(x, [4, 2, 32])", {16, 16}, {4, 2, 32}, same, type);
  }
  checkShape(GetParam(), "tl.reshape(x, 2, 2, 2, 2, 16)", {256}, {2, 2, 2, 2, 16}, same);
  checkShape(GetParam(), "x.reshape(256)", {2, 2, 2, 2, 16}, {256}, same);
  checkShape(GetParam(), "x.view(1, 1, 4, 1)", {2, 2}, {1, 1, 4, 1}, same);
  checkShape(GetParam(), "tl.ravel(x)", {2, 8, 4}, {64}, same);
  checkShape(GetParam(), "x.ravel()", {2, 1, 4}, {8}, same);
  checkShape(GetParam(), "tl.reshape(x, (1, ))", {1, 1}, {1}, same);
  // With can_reorder the elements are the same, in any order.
  checkShape(GetParam(), "tl.reshape(tl.reshape(x, [64], can_reorder=True) * 0, [8, 8])", {8, 8},
             {8, 8}, [](int) { return 0; });
}

TEST_P(Shape, AxesOfSizeOneComeAndGo) {
  checkShape(GetParam(), "tl.expand_dims(x, 0)", {32}, {1, 32}, same);
  checkShape(GetParam(), "tl.expand_dims(x, -1)", {4, 8}, {4, 8, 1}, same);
  checkShape(GetParam(), "tl.expand_dims(x, [0, 2])", {4, 8}, {1, 4, 1, 8}, same);
  checkShape(GetParam(), "x.expand_dims(1)", {4, 8}, {4, 1, 8}, same);
  checkShape(GetParam(), "x[:, None, :, None]", {4, 8}, {4, 1, 8, 1}, same);
  checkShape(GetParam(), "x[None]", {8}, {1, 8}, same);
  checkShape(GetParam(), "tl.unsqueeze(x, 1)", {4, 8}, {4, 1, 8}, same);
  checkShape(GetParam(), "tl.squeeze(x, 1)", {4, 1, 8}, {4, 8}, same);
  checkShape(GetParam(), "tl.squeeze(x, 0)", {1, 8}, {8}, same);
  checkShape(GetParam(), "tl.item(x)", {1, 1}, {}, same);
  checkShape(GetParam(), "tl.item(tl.sum(x, 1, keep_dims=True))", {1, 4}, {},
             [](int) { return 6; });
}

TEST_P(Shape, Broadcasts) {
  checkShape(GetParam(), "tl.broadcast_to(x, (4, 8))", {1, 8}, {4, 8}, [](int i) { return i % 8; });
  checkShape(GetParam(), "tl.broadcast_to(x, 4, 8)", {4, 1}, {4, 8}, [](int i) { return i / 8; });
  checkShape(GetParam(), "x.broadcast_to([2, 4, 8])", {2, 1, 8}, {2, 4, 8},
             [](int i) { return i / 32 * 8 + i % 8; });
  checkShape(GetParam(), "tl.broadcast_to(x, [4, 8])", {1, 1}, {4, 8}, [](int) { return 0; });
  checkShape(GetParam(), "tl.broadcast_to(tl.max(x, 0), [4, 8])", {32}, {4, 8},
             [](int) { return 31; });
  checkShape(GetParam(), "tl.broadcast(x[:, None], x[None, :])[0]", {8}, {8, 8},
             [](int i) { return i / 8; });
  checkShape(GetParam(), "tl.broadcast(x[:, None], x[None, :])[1]", {8}, {8, 8},
             [](int i) { return i % 8; });
  checkShape(GetParam(), "x[:, None] + x[None, :]", {8}, {8, 8},
             [](int i) { return i / 8 + i % 8; });
}

TEST_P(Shape, Permutations) {
  for (std::string type : {"i8", "fp16", "fp32", "i64"})
    checkShape(
        GetParam(), "tl.trans(x)", {16, 64}, {64, 16}, [](int i) { return i % 16 * 64 + i / 16; },
        type);
  checkShape(GetParam(), "x.T", {1, 64}, {64, 1}, same);
  checkShape(GetParam(), "x.trans()", {4, 8}, {8, 4}, [](int i) { return i % 4 * 8 + i / 4; });
  checkShape(GetParam(), "tl.trans(x, 1, 0)", {4, 8}, {8, 4},
             [](int i) { return i % 4 * 8 + i / 4; });
  struct Permutation {
    const char *text;
    std::vector<int> order;
  };
  const Permutation permutations[] = {{"tl.permute(x, (2, 0, 1))", {2, 0, 1}},
                                      {"tl.permute(x, 1, 2, 0)", {1, 2, 0}},
                                      {"tl.trans(x, (0, 2, 1))", {0, 2, 1}},
                                      {"x.permute(2, 1, 0)", {2, 1, 0}},
                                      {"x.permute([1, 0, 2])", {1, 0, 2}}};
  const std::vector<int> shape = {2, 8, 16};
  for (const Permutation &permutation : permutations) {
    std::vector<int> expected;
    for (int axis : permutation.order)
      expected.push_back(shape[axis]);
    checkShape(GetParam(), permutation.text, shape, expected, [&](int i) {
      int at[3];
      at[permutation.order[2]] = i % expected[2];
      at[permutation.order[1]] = i / expected[2] % expected[1];
      at[permutation.order[0]] = i / expected[2] / expected[1];
      return (at[0] * 8 + at[1]) * 16 + at[2];
    });
  }
  checkShape(GetParam(), "tl.permute(x, (3, 0, 4, 1, 2))", {2, 4, 2, 4, 2}, {4, 2, 2, 4, 2},
             [](int i) {
               int c = i % 2, b = i / 2 % 4, e = i / 8 % 2, a = i / 16 % 2, d = i / 32;
               return (((a * 4 + b) * 2 + c) * 4 + d) * 2 + e;
             });
}

TEST_P(Shape, Joins) {
  for (std::string type : {"i8", "fp16", "fp32", "i64"}) {
    checkShape(
        GetParam(), "tl.join(x, x + 1)", {4, 8}, {4, 8, 2}, [](int i) { return i / 2 + i % 2; },
        type);
    checkShape(
        GetParam(), "tl.interleave(x, x + 1)", {4, 8}, {4, 16}, [](int i) { return i / 2 + i % 2; },
        type);
    checkShape(
        GetParam(), "tl.split(x)[0]", {4, 8, 2}, {4, 8}, [](int i) { return 2 * i; }, type);
    checkShape(
        GetParam(), "x.split()[1]", {64, 2}, {64}, [](int i) { return 2 * i + 1; }, type);
  }
  checkShape(GetParam(), "tl.join(x, 5)", {4}, {4, 2}, [](int i) { return i % 2 ? 5 : i / 2; });
  checkShape(GetParam(), "tl.join(tl.max(x, 0), 7)", {4}, {2}, [](int i) { return i ? 7 : 3; });
  checkShape(GetParam(), "tl.split(x)[1]", {2}, {}, [](int) { return 1; });
  checkShape(GetParam(), "tl.cat(x, x + 8, dim=0)", {8}, {16}, same);
  checkShape(GetParam(), "tl.cat(x, x + 32, dim=1)", {4, 8}, {4, 16},
             [](int i) { return i / 16 * 8 + i % 8 + (i % 16 >= 8) * 32; });
  // In any order: sorted, they are all there.
  checkShape(GetParam(), "tl.sort(tl.cat(x, x + 8, can_reorder=True))", {8}, {16}, same);
}

TEST_P(Shape, PositionsInTheGrid) {
  const int counts[] = {3, 2, 4};
  Buffer<int32_t> x(3 * 2 * 4 * 8);
  SourceOptions options;
  options.grid = {3, 2, 4};
  ASSERT_EQ(runSource(R"(
@triton.jit
def kernel(p):
    x, y, z = tl.program_id(0), tl.program_id(axis=1), tl.program_id(2)
    at = ((z * tl.num_programs(1) + y) * tl.num_programs(0) + x) * 8
    values = x + 10 * y + 100 * z + 1000 * tl.num_programs(axis=2)
    tl.store(p + at + tl.arange(0, 8), values + tl.arange(3, 11) * 10000)
)",
                      GetParam(), {{"p", "*i32", x}}, {}, options),
            "");
  int at = 0;
  for (int z = 0; z < counts[2]; ++z)
    for (int y = 0; y < counts[1]; ++y)
      for (int x0 = 0; x0 < counts[0]; ++x0)
        for (int i = 0; i < 8; ++i)
          ASSERT_EQ(x[at++], x0 + 10 * y + 100 * z + 4000 + (i + 3) * 10000);
}

KILN_SOURCE_TESTS(Shape);

} // namespace
} // namespace kiln::testing
