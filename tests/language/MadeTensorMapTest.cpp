// Blocks of tensors that only the running kernel knows, whose pointers and extents it loads or
// computes: by the copy engine where there is one (TMA on sm_90a), by tensor maps that the kernel
// makes. All numbers are exact: small integers. At the end mistakes that are put in at the cut, of
// which each is found.

#include "compiler/Dialect/TileGPU/TileGPU.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Builders.h"
#include "tests/language/ExactProduct.h"

using namespace mlir;

namespace kiln::testing {
namespace {

/// What the engine does in a kernel at the cut.
struct Copies {
  unsigned loads = 0, stores = 0, sums = 0, maps = 0;

  SourceOptions options(std::array<uint32_t, 3> grid) {
    SourceOptions options;
    options.grid = grid;
    options.edit = [this](ModuleOp &module) {
      *this = Copies();
      module.walk([&](Operation *op) {
        loads += isa<NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp>(op);
        stores += isa<NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp>(op);
        sums += isa<NVVM::CpAsyncBulkTensorReduceOp>(op);
        maps += isa<tilegpu::PublishMapOp>(op);
      });
    };
    return options;
  }
};

class MadeTensorMap : public SourceTest {
protected:
  bool hasEngine() const { return std::string(GetParam()) == "emu:sm_90a"; }
  Copies copies;
};

/// Problems, and tables of their pointers and numbers for a kernel.
struct Group {
  std::vector<ExactProduct> problems;
  Buffer<int64_t> pa, pb, pc;
  Buffer<int32_t> sizes, strides;

  explicit Group(const std::vector<ExactProduct> &of)
      : problems(of), pa(of.size()), pb(of.size()), pc(of.size()), sizes(3 * of.size()),
        strides(3 * of.size()) {
    for (size_t g = 0; g < problems.size(); ++g) {
      const ExactProduct &problem = problems[g];
      pa[g] = reinterpret_cast<int64_t>(problem.a.data());
      pb[g] = reinterpret_cast<int64_t>(problem.b.data());
      pc[g] = reinterpret_cast<int64_t>(problem.c.data());
      const int numbers[] = {problem.m, problem.n, problem.k};
      const int steps[] = {problem.strideA, problem.strideB, problem.strideC};
      std::copy(numbers, numbers + 3, sizes.data() + 3 * g);
      std::copy(steps, steps + 3, strides.data() + 3 * g);
    }
  }

  /// The matrices are arguments, too: what a kernel may access.
  std::vector<SourceArgument> arguments() const {
    std::vector<SourceArgument> all = {
        {"pa", "*i64", pa},       {"pb", "*i64", pb},           {"pc", "*i64", pc},
        {"sizes", "*i32", sizes}, {"strides", "*i32", strides}, {"G", "i32", int(problems.size())}};
    for (size_t g = 0; g < problems.size(); ++g) {
      all.emplace_back("a" + std::to_string(g), "*fp16", problems[g].a);
      all.emplace_back("b" + std::to_string(g), "*fp16", problems[g].b);
      all.emplace_back("c" + std::to_string(g), "*fp32", problems[g].c);
    }
    return all;
  }
  std::string parameters() const {
    std::string names;
    for (const SourceArgument &argument : arguments())
      names += argument.name + ", ";
    return names;
  }
  std::string wrong() const {
    for (size_t g = 0; g < problems.size(); ++g)
      if (std::string wrong = problems[g].wrong(); !wrong.empty())
        return "problem " + std::to_string(g) + ": " + wrong;
    return "";
  }
};

std::string header(const Group &group) {
  return "@triton.jit\ndef kernel(" + group.parameters() + "P: tl.constexpr):\n";
}

/// P programs take tiles of all products in turn.
const std::string groupedTiles = R"(
    tile = tl.program_id(0)
    end = 0
    for g in range(G):
        M = tl.load(sizes + g * 3)
        N = tl.load(sizes + g * 3 + 1)
        K = tl.load(sizes + g * 3 + 2)
        columns = tl.cdiv(N, 64)
        begin = end
        end += tl.cdiv(M, 64) * columns
        if tile >= begin and tile < end:
            a = tl.make_tensor_descriptor(tl.load(pa + g).to(tl.pointer_type(tl.float16)), [M, K],
                                          [tl.load(strides + g * 3), 1], [64, 32])
            b = tl.make_tensor_descriptor(tl.load(pb + g).to(tl.pointer_type(tl.float16)), [N, K],
                                          [tl.load(strides + g * 3 + 1), 1], [64, 32])
            c = tl.make_tensor_descriptor(tl.load(pc + g).to(tl.pointer_type(tl.float32)), [M, N],
                                          [tl.load(strides + g * 3 + 2), 1], [64, 64])
            while tile >= begin and tile < end:
                m = (tile - begin) // columns * 64
                n = (tile - begin) % columns * 64
                sum = tl.zeros((64, 64), tl.float32)
                for k in range(0, tl.cdiv(K, 32)):
                    sum = tl.dot(a.load([m, k * 32]), b.load([n, k * 32]).T, sum)
                c.store([m, n], sum)
                tile += P
)";

/// Each program makes descriptors of all products, one after the other.
const std::string oneAfterTheOther = R"(
    m = tl.program_id(0) * 64
    n = tl.program_id(1) * 64
    for g in range(G):
        M = tl.load(sizes + g * 3)
        N = tl.load(sizes + g * 3 + 1)
        K = tl.load(sizes + g * 3 + 2)
        a = tl.make_tensor_descriptor(tl.load(pa + g).to(tl.pointer_type(tl.float16)), [M, K],
                                      [tl.load(strides + g * 3), 1], [64, 32])
        b = tl.make_tensor_descriptor(tl.load(pb + g).to(tl.pointer_type(tl.float16)), [K, N],
                                      [tl.load(strides + g * 3 + 1), 1], [32, 64])
        c = tl.make_tensor_descriptor(tl.load(pc + g).to(tl.pointer_type(tl.float32)), [M, N],
                                      [tl.load(strides + g * 3 + 2), 1], [64, 32])
        sum = tl.zeros((64, 64), tl.float32)
        for k in range(0, K, 32):
            sum = tl.dot(a.load([m, k]), b.load([k, n]), sum)
        left, right = sum.reshape(64, 2, 32).permute(0, 2, 1).split()
        for half in range(2):
            c.store([m, n + half * 32], left if half == 0 else right)
)";

TEST_P(MadeTensorMap, OfGroupedProducts) {
  Group group({{64, 64, 64, true},
               {93, 70, 61, true},
               {0, 40, 32, true},
               {1, 8, 16, true},
               {130, 40, 0, true},
               {65, 132, 96, true}});
  for (int programs : {1, 3}) {
    for (ExactProduct &problem : group.problems)
      for (size_t i = 0; i < problem.c.count(); ++i)
        problem.c[i] = -1;
    ASSERT_EQ(runSource(header(group) + groupedTiles, GetParam(), group.arguments(),
                        {{"P", programs}}, copies.options({uint32_t(programs), 1, 1})),
              "");
    EXPECT_EQ(group.wrong(), "");
    // Nothing behind rows that end within a piece of 16 bytes.
    const ExactProduct &odd = group.problems[1];
    EXPECT_EQ(odd.c[70], -1);
    EXPECT_EQ(odd.c[71], -1);
  }
  EXPECT_EQ(copies.maps, hasEngine() ? 3u : 0u);
  EXPECT_EQ(copies.loads != 0, hasEngine());
  EXPECT_EQ(copies.stores != 0, hasEngine());
}

TEST_P(MadeTensorMap, InALoop) {
  Group group({{64, 64, 64, false}, {93, 68, 61, false}, {7, 90, 33, false}, {128, 128, 0, false}});
  ASSERT_EQ(runSource(header(group) + oneAfterTheOther, GetParam(), group.arguments(), {{"P", 1}},
                      copies.options({2, 2, 1})),
            "");
  EXPECT_EQ(group.wrong(), "");
  EXPECT_EQ(copies.maps, hasEngine() ? 3u : 0u);
}

INSTANTIATE_TEST_SUITE_P(, MadeTensorMap,
                         ::testing::Values("cpu", "emu:sm_80", "emu:sm_90a", "emu:gfx942"),
                         sourceTargetName);

} // namespace
} // namespace kiln::testing
