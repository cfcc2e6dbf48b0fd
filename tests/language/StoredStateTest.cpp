// Loops of a recurrence that stores its states, multiplies by them, and lets them decay by what it
// loads: both halves of a state lie in shared memory once for both, and one product goes on with
// the other's sum. All numbers are small integers, so that sums are exact.

#include "tests/language/ExactProduct.h"

#include <cmath>

namespace kiln::testing {
namespace {

const std::string source = R"(
@triton.jit
def kernel(pw, pv, pk, pg, ps, pu, T, BT: tl.constexpr, K: tl.constexpr, V: tl.constexpr, TRANSPOSED: tl.constexpr):
    i = tl.arange(0, BT)
    k = tl.arange(0, K)
    v = tl.arange(0, V)
    if TRANSPOSED:
        first = tl.zeros((V, K), tl.float32)
        second = tl.zeros((V, K), tl.float32)
        place = k[None, :] * V + v[:, None]
    else:
        first = tl.zeros((K, V), tl.float32)
        second = tl.zeros((K, V), tl.float32)
        place = k[:, None] * V + v[None, :]
    for t in range(0, T, BT):
        rows = (t + i)[:, None]
        states = ps + t // BT * 2 * K * V
        tl.store(states + place, first.to(tl.float16))
        tl.store(states + K * V + place, second.to(tl.float16))
        w = tl.load(pw + rows * 2 * K + k[None, :], mask=rows < T, other=0.0)
        if TRANSPOSED:
            u = tl.dot(w, tl.trans(first.to(tl.float16)))
        else:
            u = tl.dot(w, first.to(tl.float16))
        w = tl.load(pw + rows * 2 * K + K + k[None, :], mask=rows < T, other=0.0)
        if TRANSPOSED:
            u += tl.dot(w, tl.trans(second.to(tl.float16)))
        else:
            u += tl.dot(w, second.to(tl.float16))
        u = tl.load(pv + rows * V + v[None, :], mask=rows < T, other=0.0) - u
        u = tl.minimum(tl.maximum(u, -2.0), 2.0)
        tl.store(pu + rows * V + v[None, :], u.to(tl.float16), mask=rows < T)
        last = tl.minimum(t + BT, T) - 1
        g = tl.load(pg + last * 2 * K + k)
        h = tl.load(pg + last * 2 * K + K + k)
        y = tl.load(pk + rows * 2 * K + k[None, :], mask=rows < T, other=0.0)
        z = tl.load(pk + rows * 2 * K + K + k[None, :], mask=rows < T, other=0.0)
        if TRANSPOSED:
            first = first * g[None, :] + tl.trans(tl.dot(tl.trans(y), u.to(tl.float16)))
            second = second * h[None, :] + tl.trans(tl.dot(tl.trans(z), u.to(tl.float16)))
        else:
            first = tl.dot(tl.trans(y), u.to(tl.float16), first * g[:, None])
            second = tl.dot(tl.trans(z), u.to(tl.float16), second * h[:, None])
        first = tl.minimum(tl.maximum(first, -8.0), 8.0)
        second = tl.minimum(tl.maximum(second, -8.0), 8.0)
)";

constexpr int chunk = 64, half = 64, dim = 2 * half, columns = 32;

struct Memory {
  int length;
  Buffer<uint16_t> w, v, k;
  Buffer<float> g;
  Buffer<uint16_t> states, u;

  explicit Memory(int length)
      : length(length), w(size_t(std::max(length, 1)) * dim),
        v(size_t(std::max(length, 1)) * columns), k(size_t(std::max(length, 1)) * dim),
        g(size_t(std::max(length, 1)) * dim),
        states(size_t((length + chunk) / chunk) * dim * columns),
        u(size_t(std::max(length, 1)) * columns) {
    Random random{unsigned(length)};
    for (Buffer<uint16_t> *buffer : {&w, &v, &k})
      for (size_t i = 0; i < buffer->count(); ++i)
        (*buffer)[i] = ExactProduct::halfOf(int(random.below(5)) - 2);
    for (size_t i = 0; i < g.count(); ++i)
      g[i] = float(random.below(3));
  }

  /// With one array for the values before and after, if they are `shared`.
  std::vector<SourceArgument> arguments(bool shared = false) const {
    return {{"pw", "*fp16:16", w}, {"pv", "*fp16:16", shared ? u : v}, {"pk", "*fp16:16", k},
            {"pg", "*fp32:16", g}, {"ps", "*fp16:16", states},         {"pu", "*fp16:16", u},
            {"T", "i32", length}};
  }

  /// Of no number that is subnormal.
  static double valueOf(const Buffer<uint16_t> &buffer, int row, int width, int column) {
    uint16_t bits = buffer[size_t(row) * width + column];
    int exponent = bits >> 10 & 31;
    double size = exponent == 0 ? 0 : std::ldexp(1024 + (bits & 1023), exponent - 25);
    return bits >> 15 ? -size : size;
  }

  /// "" or the first wrong element.
  std::string wrong() const {
    for (int j = 0; j < columns; ++j) {
      std::vector<double> state(dim);
      for (int first = 0; first < length; first += chunk) {
        for (int l = 0; l < dim; ++l)
          if (valueOf(states, first / chunk * dim + l, columns, j) != state[l])
            return "state " + std::to_string(l) + ", " + std::to_string(j) + " of row " +
                   std::to_string(first) + " is wrong\n";
        int last = std::min(first + chunk, length) - 1;
        std::vector<double> sums = state;
        for (int l = 0; l < dim; ++l)
          sums[l] *= double(g[size_t(last) * dim + l]);
        for (int row = first; row <= last; ++row) {
          double value = valueOf(v, row, columns, j);
          for (int l = 0; l < dim; ++l)
            value -= valueOf(w, row, dim, l) * state[l];
          value = std::clamp(value, -2.0, 2.0);
          if (valueOf(u, row, columns, j) != value)
            return "value " + std::to_string(row) + ", " + std::to_string(j) + " is wrong\n";
          for (int l = 0; l < dim; ++l)
            sums[l] += valueOf(k, row, dim, l) * value;
        }
        for (int l = 0; l < dim; ++l)
          state[l] = std::clamp(sums[l], -8.0, 8.0);
      }
    }
    return "";
  }
};

class StoredState : public SourceTest {
protected:
  void check(bool transposed, unsigned stages) {
    SourceOptions options;
    options.numStages = stages;
    SourceKernel kernel(source, GetParam(), Memory(0).arguments(),
                        {{"BT", chunk}, {"K", half}, {"V", columns}, {"TRANSPOSED", transposed}},
                        options);
    ASSERT_EQ(kernel.errors(), "");
    for (int length : {0, 1, 64, 100, 192, 300}) {
      SCOPED_TRACE(std::to_string(length) + " rows, " + std::to_string(stages) + " stages");
      Memory memory(length);
      ASSERT_EQ(kernel.run(memory.arguments(), {1, 1, 1}), "");
      ASSERT_EQ(memory.wrong(), "");
    }
    Memory memory(200);
    for (size_t i = 0; i < memory.v.count(); ++i)
      memory.u[i] = memory.v[i];
    ASSERT_EQ(kernel.run(memory.arguments(/*shared=*/true), {1, 1, 1}), "");
    ASSERT_EQ(memory.wrong(), "");
  }
};

TEST_P(StoredState, OfAnyLength) {
  for (unsigned stages : {1u, 2u, 3u})
    check(/*transposed=*/false, stages);
}

TEST_P(StoredState, Transposed) { check(/*transposed=*/true, 3); }

INSTANTIATE_TEST_SUITE_P(, StoredState,
                         ::testing::Values("cpu", "emu:sm_80", "emu:sm_90a", "emu:gfx942"),
                         sourceTargetName);

} // namespace
} // namespace kiln::testing
