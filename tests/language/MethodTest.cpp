// Methods and attributes of tensors: each method gives what the function of its name gives.

#include "tests/language/Numbers.h"

namespace kiln::testing {
namespace {

class Method : public SourceTest {};

/// Two expressions of x (fp32), i (int32), b (booleans) and t (fp32 of rank 2), with equal values.
struct Pair {
  const char *method, *function;
};

const Pair pairs[] = {
    {"x.to(tl.int32)", "tl.cast(x, tl.int32)"},
    {"x.cast(tl.float16)", "tl.cast(x, tl.float16)"},
    {"x.abs()", "tl.abs(x)"},
    {"x.exp()", "tl.exp(x)"},
    {"x.exp2()", "tl.exp2(x)"},
    {"x.abs().log()", "tl.log(tl.abs(x))"},
    {"x.abs().log2()", "tl.log2(tl.abs(x))"},
    {"x.sin()", "tl.sin(x)"},
    {"x.cos()", "tl.cos(x)"},
    {"x.abs().sqrt()", "tl.sqrt(tl.abs(x))"},
    {"x.abs().rsqrt()", "tl.rsqrt(tl.abs(x))"},
    {"x.erf()", "tl.erf(x)"},
    {"x.floor()", "tl.floor(x)"},
    {"x.ceil()", "tl.ceil(x)"},
    {"x.sigmoid()", "tl.sigmoid(x)"},
    {"x.sum()", "tl.sum(x)"},
    {"t.sum(1)", "tl.sum(t, axis=1)"},
    {"t.sum(axis=0, keep_dims=True)", "tl.sum(t, 0, keep_dims=True)"},
    {"x.max()", "tl.max(x)"},
    {"t.min(axis=1)", "tl.min(t, 1)"},
    {"t.argmax(1)", "tl.argmax(t, 1)"},
    {"t.argmin(axis=0)", "tl.argmin(t, 0)"},
    {"i.xor_sum(0)", "tl.xor_sum(i, 0)"},
    {"i.reduce_or(axis=0)", "tl.reduce_or(i, 0)"},
    {"t.cumsum(1)", "tl.cumsum(t, 1)"},
    {"t.cumprod(axis=0, reverse=True)", "tl.cumprod(t, 0, reverse=True)"},
    {"x.reduce(0, add)", "tl.reduce(x, 0, add)"},
    {"x.associative_scan(0, add, reverse=True)", "tl.associative_scan(x, 0, add, reverse=True)"},
    {"x.sort()", "tl.sort(x)"},
    {"x.sort(descending=True)", "tl.sort(x, descending=True)"},
    {"x.topk(8)", "tl.topk(x, 8)"},
    {"t.flip(0)", "tl.flip(t, 0)"},
    {"x.gather(i % 64, 0)", "tl.gather(x, i % 64, 0)"},
    {"(i % 16).histogram(16)", "tl.histogram(i % 16, 16)"},
    {"x.reshape(8, 8)", "tl.reshape(x, [8, 8])"},
    {"x.reshape([4, 16])", "tl.reshape(x, 4, 16)"},
    {"x.view(2, 32)", "tl.view(x, (2, 32))"},
    {"t.ravel()", "tl.ravel(t)"},
    {"x.expand_dims(0)", "x[None, :]"},
    {"x[None, :].broadcast_to(2, 64)", "tl.broadcast_to(x[None, :], [2, 64])"},
    {"t.trans()", "tl.trans(t)"},
    {"t.trans(1, 0)", "t.T"},
    {"t.permute(1, 0)", "tl.permute(t, (1, 0))"},
    {"x.join(x + 1).split()[1]", "tl.split(tl.join(x, x + 1))[1]"},
    {"x.interleave(-x)", "tl.interleave(x, -x)"},
    {"b.logical_and(i > 2)", "b & (i > 2)"},
    {"b.logical_or(i > 2)", "b | (i > 2)"},
    {"i.cdiv(7)", "tl.cdiv(i, 7)"},
    {"x.fma(x, x)", "tl.fma(x, x, x)"},
    {"b.where(x, -x)", "tl.where(b, x, -x)"},
    {"tl.full(x.shape, x.numel, tl.int32)", "tl.full([64], 64, tl.int32)"},
    {"tl.full([4], t.shape[1] + len(t.shape), tl.int32)", "tl.full([4], 6, tl.int32)"},
    {"tl.full([4], x.dtype.primitive_bitwidth, tl.int32)", "tl.full([4], 32, tl.int32)"},
    {"tl.full([4], x.dtype == tl.float32 and x.dtype.is_fp32(), tl.int32)",
     "tl.full([4], 1, tl.int32)"},
};

TEST_P(Method, IsTheFunctionOfItsName) {
  Array x = uniformArray("fp32", 64, 1, -3, 3);
  const int count = int(std::size(pairs));
  std::string source = R"(
@triton.jit
def add(a, b):
    return a + b

@triton.jit
def differences(u, v):
    tl.static_assert(u.dtype == v.dtype)
    tl.static_assert(len(u.shape) == len(v.shape))
    if len(u.shape) == 0:
        return (u != v).to(tl.int32)
    else:
        return tl.sum((u != v).to(tl.int32))

@triton.jit
def kernel(p, q):
    place = tl.arange(0, 64)
    x = tl.load(p + place)
    i = (x * 100).to(tl.int32) % 100 + 100
    b = i % 3 == 0
    t = x.reshape(16, 4)
)";
  for (int at = 0; at < count; ++at)
    source += "    tl.store(q + " + std::to_string(at) + ", differences(" + pairs[at].method +
              ", " + pairs[at].function + "))\n";
  Buffer<int32_t> results(count, -1);
  ASSERT_EQ(runSource(source, GetParam(), {x.argument("p"), {"q", "*i32", results}}), "");
  for (int at = 0; at < count; ++at)
    EXPECT_EQ(results[at], 0) << pairs[at].method << " and " << pairs[at].function;
}

TEST_P(Method, OfScalars) {
  Buffer<float> x(1, -2.25f), y(4);
  ASSERT_EQ(runSource(R"(
@triton.jit
def kernel(p, q, n):
    x = tl.load(p)
    tl.store(q, x.abs().sqrt())
    tl.store(q + 1, x.to(tl.int32))
    tl.store(q + 2, n.to(tl.float32) / 2)
    tl.store(q + 3, tl.maximum(x, n).floor())
)",
                      GetParam(), {{"p", "*fp32", x}, {"q", "*fp32", y}, {"n", "i32", 7}}),
            "");
  EXPECT_EQ(y[0], 1.5f);
  EXPECT_EQ(y[1], -2);
  EXPECT_EQ(y[2], 3.5f);
  EXPECT_EQ(y[3], 7);
}

KILN_SOURCE_TESTS(Method);

} // namespace
} // namespace kiln::testing
