// Loops of attention's shape: what threads make of one product is the operand of the next, whose
// sum they rework on the way. Where a warp of its own copies the blocks (sm_90a), the second
// product runs beside the next one's. All numbers are small integers, so that sums are exact. At
// the end mistakes that are put into target operations, of which each is found.

#include "compiler/Dialect/TileGPU/TileGPU.h"
#include "mlir/IR/Builders.h"
#include "tests/language/ExactProduct.h"

#include <cstring>

using namespace mlir;

namespace kiln::testing {
namespace {

const std::string source = R"(
@triton.jit
def kernel(pq, pk, pv, po, pl, M, N, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr, WS: tl.constexpr):
    q = tl.make_tensor_descriptor(pq, [M, D], [D, 1], [BM, D])
    k = tl.make_tensor_descriptor(pk, [N, D], [D, 1], [BN, D])
    v = tl.make_tensor_descriptor(pv, [N, D], [D, 1], [BN, D])
    m = tl.program_id(0) * BM
    x = q.load([m, 0])
    sum = tl.zeros((BM, D), tl.float32)
    rows = tl.zeros((BM,), tl.float32)
    for n in tl.range(0, N, BN, warp_specialize=WS):
        s = tl.dot(x, k.load([n, 0]).T)
        p = tl.minimum(tl.maximum(s, -4.0), 4.0)
        rows = tl.sum(p, 1) - rows
        sum = tl.dot(p.to(tl.float16), v.load([n, 0]), -sum)
    i = m + tl.arange(0, BM)
    j = tl.arange(0, D)
    tl.store(po + i[:, None] * D + j[None, :], sum, mask=i[:, None] < M)
    tl.store(pl + i, rows, mask=i < M)
)";

struct Tile {
  int m, n, dim;
  bool isAskedFor; ///< the warp of its own
  unsigned warps;
};

/// M queries of `dim` elements, n keys and values.
struct Memory {
  int m, n, dim;
  ExactProduct product; ///< queries times keys
  Buffer<uint16_t> values;
  Buffer<float> out, rows;

  Memory(int m, int n, int dim)
      : m(m), n(n), dim(dim), product(m, n, dim, /*transposed=*/true),
        values(size_t(std::max(n, 1)) * dim), out(size_t(m) * dim), rows(m) {
    Random random{unsigned(n)};
    for (size_t i = 0; i < values.count(); ++i)
      values[i] = ExactProduct::halfOf(int(random.below(5)) - 2);
  }

  std::vector<SourceArgument> arguments() const {
    return {{"pq", "*fp16", product.a},
            {"pk", "*fp16", product.b},
            {"pv", "*fp16", values},
            {"po", "*fp32", out},
            {"pl", "*fp32", rows},
            {"M", "i32", m},
            {"N", "i32", n}};
  }

  /// "" or the first wrong row, for blocks of `block` keys.
  std::string wrong(int block) const {
    for (int i = 0; i < m; ++i) {
      std::vector<double> sums(dim);
      double row = 0;
      for (int first = 0; first < n; first += block) {
        row = -row;
        for (double &sum : sums)
          sum = -sum;
        for (int l = first; l < std::min(first + block, n); ++l) {
          double p = std::clamp(product.C(i, l), -4.0, 4.0);
          row += p;
          for (int j = 0; j < dim; ++j)
            sums[j] += p * ExactProduct::valueOf(values[size_t(l) * dim + j]);
        }
      }
      for (int j = 0; j < dim; ++j)
        if (double(out[size_t(i) * dim + j]) != sums[j] || double(rows[i]) != row)
          return "row " + std::to_string(i) + " is wrong\n";
    }
    return "";
  }
};

std::vector<SourceConstant> constants(const Tile &tile) {
  return {{"BM", tile.m}, {"BN", tile.n}, {"D", tile.dim}, {"WS", tile.isAskedFor}};
}

class AttentionLoop : public SourceTest {};

/// The second product of numbers of 8 bits, which have all values that occur.
std::string ofSmallFloats() {
  std::string text = source;
  for (auto [from, to] : {std::pair("p.to(tl.float16)", "p.to(tl.float8e5)"),
                          std::pair("v.load([n, 0])", "v.load([n, 0]).to(tl.float8e5)")})
    text.replace(text.find(from), std::strlen(from), to);
  return text;
}

void check(const std::string &target, const Tile &tile, std::vector<int> keys,
           const std::string &text = source) {
  for (unsigned stages : {2u, 3u}) {
    SourceOptions options;
    options.numStages = stages;
    options.numWarps = tile.warps;
    SourceKernel kernel(text, target, Memory(1, 1, tile.dim).arguments(), constants(tile), options);
    ASSERT_EQ(kernel.errors(), "");
    for (int n : keys) {
      SCOPED_TRACE(std::to_string(n) + " keys, " + std::to_string(stages) + " stages");
      Memory memory(tile.m + 13, n, tile.dim);
      ASSERT_EQ(kernel.run(memory.arguments(), {2, 1, 1}), "");
      ASSERT_EQ(memory.wrong(tile.n), "");
    }
  }
}

TEST_P(AttentionLoop, OfOneGroupOfWarps) {
  check(GetParam(), {64, 32, 32, /*isAskedFor=*/true, 4}, {0, 1, 32, 33, 64, 101, 160});
}

TEST_P(AttentionLoop, OfTwoGroupsOfWarps) {
  check(GetParam(), {128, 64, 64, /*isAskedFor=*/true, 8}, {1, 128, 200});
}

/// A block of which a processor holds one gets the warp unasked, here with the registers of four.
TEST_P(AttentionLoop, OfLargeBlocks) {
  check(GetParam(), {128, 128, 128, /*isAskedFor=*/false, 8}, {260});
}

TEST_P(AttentionLoop, OfWarpsThatCopyForThemselves) {
  check(GetParam(), {64, 32, 32, /*isAskedFor=*/false, 4}, {0, 1, 101});
}

TEST_P(AttentionLoop, OfSmallFloats) {
  for (int block : {32, 64, 128})
    check(GetParam(), {64, block, 64, /*isAskedFor=*/false, 4}, {1, 101, 256}, ofSmallFloats());
}

INSTANTIATE_TEST_SUITE_P(, AttentionLoop,
                         ::testing::Values("cpu", "emu:sm_80", "emu:sm_90a", "emu:gfx942",
                                           "emu:gfx950", "emu:gfx1100", "emu:gfx1201"),
                         sourceTargetName);

//===-- mistakes
//-----------------------------------------------------------------------------------===//

/// What is found, and what is wrong, if the waits for products are changed.
std::string run(const std::function<void(ArrayRef<tilegpu::WgmmaWaitOp>)> &change) {
  Tile tile{128, 64, 64, /*isAskedFor=*/true, 8};
  Memory memory(tile.m, 320, tile.dim);
  SourceOptions options;
  options.numWarps = tile.warps;
  options.edit = [&](ModuleOp &module) {
    SmallVector<tilegpu::WgmmaWaitOp> waits;
    module.walk([&](tilegpu::WgmmaWaitOp wait) { waits.push_back(wait); });
    change(waits);
  };
  std::string found = runSource(source, "emu:sm_90a", memory.arguments(), constants(tile), options);
  return found.empty() ? memory.wrong(tile.n) : found;
}

/// The loop's two waits: for its first product, then for the second of the iteration before.
size_t firstOfLoop(ArrayRef<tilegpu::WgmmaWaitOp> waits) {
  auto found =
      llvm::find_if(waits, [](tilegpu::WgmmaWaitOp wait) { return wait.getPending() == 1; });
  EXPECT_NE(found, waits.end());
  return size_t(found - waits.begin());
}

TEST(AttentionLoopBugs, TheRightKernelIsSilent) {
  EXPECT_EQ(run([](ArrayRef<tilegpu::WgmmaWaitOp>) {}), "");
}

TEST(AttentionLoopBugs, AWaitWithOneTooManyInFlight) {
  EXPECT_NE(run([](ArrayRef<tilegpu::WgmmaWaitOp> waits) {
              tilegpu::WgmmaWaitOp(waits[firstOfLoop(waits)]).setPending(2);
            }),
            "");
}

TEST(AttentionLoopBugs, ASumThatIsReworkedBeforeItIsThere) {
  EXPECT_NE(run([](ArrayRef<tilegpu::WgmmaWaitOp> waits) {
              tilegpu::WgmmaWaitOp(waits[firstOfLoop(waits) + 1]).setPending(1);
            }),
            "");
}

} // namespace
} // namespace kiln::testing
