// Loops of a chunked recurrence's shape: a state that one product reads and the next one adds to,
// by few warps. So that a processor holds more blocks, slots of what is loaded are filled again in
// the iteration that reads them, in parts. All numbers are small integers, so that sums are exact.
// Then a product by a unit that reads slots by itself, where one block alone would run otherwise.
// At the end mistakes that are put into target operations, of which each is found.

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "tests/language/ExactProduct.h"

using namespace mlir;

namespace kiln::testing {
namespace {

const std::string source = R"(
@triton.jit
def kernel(pw, pv, pk, po, T, BT: tl.constexpr, K: tl.constexpr, V: tl.constexpr):
    i = tl.arange(0, BT)
    k = tl.arange(0, K)
    v = tl.arange(0, V)
    state = tl.zeros((K, V), tl.float32)
    for t in range(0, T, BT):
        rows = (t + i)[:, None]
        w = tl.load(pw + rows * K + k[None, :], mask=rows < T, other=0.0)
        x = tl.load(pv + rows * V + v[None, :], mask=rows < T, other=0.0)
        y = tl.load(pk + rows * K + k[None, :], mask=rows < T, other=0.0)
        u = x - tl.dot(w, state.to(tl.float16))
        u = tl.minimum(tl.maximum(u, -2.0), 2.0)
        state += tl.dot(tl.trans(y), u.to(tl.float16))
        state = tl.minimum(tl.maximum(state, -8.0), 8.0)
    tl.store(po + k[:, None] * V + v[None, :], state)
)";

constexpr int chunk = 64, dim = 64, columns = 32;

struct Memory {
  int length;
  Buffer<uint16_t> w, v, k;
  Buffer<float> out{size_t(dim) * columns};

  explicit Memory(int length)
      : length(length), w(size_t(std::max(length, 1)) * dim),
        v(size_t(std::max(length, 1)) * columns), k(size_t(std::max(length, 1)) * dim) {
    Random random{unsigned(length)};
    for (Buffer<uint16_t> *buffer : {&w, &v, &k})
      for (size_t i = 0; i < buffer->count(); ++i)
        (*buffer)[i] = ExactProduct::halfOf(int(random.below(5)) - 2);
  }

  std::vector<SourceArgument> arguments() const {
    return {{"pw", "*fp16:16", w},
            {"pv", "*fp16:16", v},
            {"pk", "*fp16:16", k},
            {"po", "*fp32:16", out},
            {"T", "i32", length}};
  }

  /// "" or the first wrong element.
  std::string wrong() const {
    auto valueOf = [](const Buffer<uint16_t> &buffer, int row, int width, int column) {
      return ExactProduct::valueOf(buffer[size_t(row) * width + column]);
    };
    for (int j = 0; j < columns; ++j) {
      std::vector<double> state(dim);
      for (int first = 0; first < length; first += chunk) {
        std::vector<double> sums = state;
        for (int row = first; row < std::min(first + chunk, length); ++row) {
          double u = valueOf(v, row, columns, j);
          for (int l = 0; l < dim; ++l)
            u -= valueOf(w, row, dim, l) * state[l];
          for (int l = 0; l < dim; ++l)
            sums[l] += valueOf(k, row, dim, l) * std::clamp(u, -2.0, 2.0);
        }
        for (int l = 0; l < dim; ++l)
          state[l] = std::clamp(sums[l], -8.0, 8.0);
      }
      for (int l = 0; l < dim; ++l)
        if (double(out[size_t(l) * columns + j]) != state[l])
          return "element " + std::to_string(l) + ", " + std::to_string(j) + " is wrong\n";
    }
    return "";
  }
};

const std::vector<SourceConstant> constants{{"BT", chunk}, {"K", dim}, {"V", columns}};

class RecurrenceLoop : public SourceTest {};

TEST_P(RecurrenceLoop, OfAnyLength) {
  for (unsigned stages : {2u, 3u, 4u})
    for (unsigned warps : {1u, 2u, 4u}) {
      SourceOptions options;
      options.numStages = stages;
      options.numWarps = warps;
      SourceKernel kernel(source, GetParam(), Memory(0).arguments(), constants, options);
      ASSERT_EQ(kernel.errors(), "");
      for (int length : {0, 1, 64, 100, 128, 192, 300, 448}) {
        SCOPED_TRACE(std::to_string(length) + " rows, " + std::to_string(stages) + " stages, " +
                     std::to_string(warps) + " warps");
        Memory memory(length);
        ASSERT_EQ(kernel.run(memory.arguments(), {1, 1, 1}), "");
        ASSERT_EQ(memory.wrong(), "");
      }
    }
}

//===-- slots that the unit reads
//-----------------------------------------------------------------------------------===//

const std::string scaledSource = R"(
@triton.jit
def kernel(pa, pb, ps, pc, M, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.arange(0, BN)
    k = tl.arange(0, BK)
    sum = tl.zeros((BM, BN), tl.float32)
    for i in range(0, K, BK):
        inside = (m[:, None] < M) & ((i + k)[None, :] < K)
        x = tl.load(pa + m[:, None] * K + (i + k)[None, :], mask=inside, other=0.0)
        y = tl.load(pb + (i + k)[:, None] * BN + n[None, :], mask=(i + k)[:, None] < K, other=0)
        s = tl.load(ps + i // BK * BN + n)
        sum += tl.dot(x, y.to(tl.float16)) * s[None, :]
    tl.store(pc + m[:, None] * BN + n[None, :], sum, mask=m[:, None] < M)
)";

/// The kernel's error, or "" or the first wrong element of products of so many rows, along k.
std::string runScaled(SourceKernel &kernel, int rows, int k) {
  constexpr int columnsOfB = 128, group = 128;
  const int groups = (k + group - 1) / group;
  Buffer<uint16_t> a(size_t(rows) * std::max(k, 1));
  Buffer<int8_t> b(size_t(std::max(k, 1)) * columnsOfB);
  Buffer<float> scales(size_t(std::max(groups, 1)) * columnsOfB), c(size_t(rows) * columnsOfB);
  Random random{unsigned(k)};
  for (size_t i = 0; i < a.count(); ++i)
    a[i] = ExactProduct::halfOf(int(random.below(5)) - 2);
  for (size_t i = 0; i < b.count(); ++i)
    b[i] = int8_t(int(random.below(15)) - 7);
  for (size_t i = 0; i < scales.count(); ++i)
    scales[i] = float(random.below(4)) + 1;
  std::string found = kernel.run({{"pa", "*fp16:16", a},
                                  {"pb", "*i8:16", b},
                                  {"ps", "*fp32:16", scales},
                                  {"pc", "*fp32:16", c},
                                  {"M", "i32", rows},
                                  {"K", "i32:16", k}},
                                 {uint32_t((rows + 63) / 64), 1, 1});
  for (int i = 0; i < rows && found.empty(); ++i)
    for (int j = 0; j < columnsOfB && found.empty(); ++j) {
      double sum = 0;
      for (int l = 0; l < k; ++l)
        sum += ExactProduct::valueOf(a[size_t(i) * k + l]) * b[size_t(l) * columnsOfB + j] *
               scales[size_t(l / group) * columnsOfB + j];
      if (double(c[size_t(i) * columnsOfB + j]) != sum)
        found = "element " + std::to_string(i) + ", " + std::to_string(j) + " is wrong\n";
    }
  return found;
}

TEST_P(RecurrenceLoop, SlotsThatTheUnitReads) {
  SourceOptions options;
  options.numStages = 3;
  SourceKernel kernel(scaledSource, GetParam(),
                      {{"pa", "*fp16:16", Buffer<uint16_t>(8)},
                       {"pb", "*i8:16", Buffer<int8_t>(8)},
                       {"ps", "*fp32:16", Buffer<float>(8)},
                       {"pc", "*fp32:16", Buffer<float>(8)},
                       {"M", "i32", 1},
                       {"K", "i32:16", 16}},
                      {{"BM", 64}, {"BN", 128}, {"BK", 128}}, options);
  ASSERT_EQ(kernel.errors(), "");
  for (int k : {0, 16, 128, 272, 384, 512, 640})
    EXPECT_EQ(runScaled(kernel, 100, k), "") << k;
}

INSTANTIATE_TEST_SUITE_P(, RecurrenceLoop,
                         ::testing::Values("cpu", "emu:sm_80", "emu:sm_90a", "emu:gfx942"),
                         sourceTargetName);

//===-- mistakes
//-----------------------------------------------------------------------------------===//

/// What is found, and what is wrong, with one group of copies more in flight at the wait of that
/// number; none is changed for a negative number.
std::string run(int changed, int *count = nullptr) {
  Memory memory(512);
  SourceOptions options;
  options.numStages = 3;
  options.numWarps = 2;
  options.edit = [&](ModuleOp &module) {
    int number = 0;
    module.walk([&](NVVM::CpAsyncWaitGroupOp wait) {
      if (number++ == changed)
        wait.setN(wait.getN() + 1);
    });
    if (count)
      *count = number;
  };
  std::string found = runSource(source, "emu:sm_90a", memory.arguments(), constants, options);
  return found.empty() ? memory.wrong() : found;
}

/// The loop waits for two parts, and behind it the kernel for all.
TEST(RecurrenceLoopBugs, WaitsWithOneTooManyInFlight) {
  int count = 0;
  EXPECT_EQ(run(-1, &count), "");
  ASSERT_EQ(count, 3);
  EXPECT_NE(run(0), "");
  EXPECT_NE(run(1), "");
}

} // namespace
} // namespace kiln::testing
