// Blocks of tensors that only the running kernel knows, whose pointers and extents it loads or
// computes: by the copy engine where there is one (TMA on sm_90a), by tensor maps that the kernel
// makes. All numbers are exact: small integers. At the end mistakes that are put into target
// operations, of which each is found.

#include "compiler/Dialect/TileGPU/TileGPU.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Builders.h"
#include "tests/language/ExactProduct.h"

using namespace mlir;

namespace kiln::testing {
namespace {

/// What the engine does in a kernel in target operations.
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

/// A base that the kernel moves: the array of a batch.
TEST_P(MadeTensorMap, OfABatch) {
  const std::string source = R"(
@triton.jit
def kernel(pa, pb, pc, M, N, K, sa, sb, sc, za, zb, zc, BK: tl.constexpr):
    z = tl.program_id(2)
    a = tl.make_tensor_descriptor(pa + z * za, [M, K], [sa, 1], [64, BK])
    b = tl.make_tensor_descriptor(pb + z * zb, [N, K], [sb, 1], [64, BK])
    c = tl.make_tensor_descriptor(pc + z * zc, [M, N], [sc, 1], [64, 64])
    m = tl.program_id(0) * 64
    n = tl.program_id(1) * 64
    sum = tl.zeros((64, 64), tl.float32)
    for k in range(0, K, BK):
        sum = tl.dot(a.load([m, k]), b.load([n, k]).T, sum)
    c.store([m, n], sum)
)";
  // Of three batches, one below the other.
  constexpr int rows = 70, columns = 68;
  for (int k : {0, 61, 96}) {
    ExactProduct product(3 * rows, 3 * columns, k, /*transposed=*/true);
    std::vector<SourceArgument> arguments = product.arguments("i64");
    Buffer<float> c(size_t(3) * rows * columns, -1.f);
    arguments[2] = {"pc", "*fp32", c};
    arguments[3] = {"M", "i32", rows};
    arguments[4] = {"N", "i32", columns};
    arguments[8] = {"sc", "i64", int64_t(columns)};
    arguments.emplace_back("za", "i64", int64_t(rows) * product.strideA);
    arguments.emplace_back("zb", "i64", int64_t(columns) * product.strideB);
    arguments.emplace_back("zc", "i64", int64_t(rows) * columns);
    ASSERT_EQ(runSource(source, GetParam(), arguments, {{"BK", 32}}, copies.options({2, 2, 3})),
              "");
    for (int z = 0; z < 3; ++z)
      for (int i = 0; i < rows; ++i)
        for (int j = 0; j < columns; ++j)
          ASSERT_EQ(double(c[(size_t(z) * rows + i) * columns + j]),
                    product.C(z * rows + i, z * columns + j))
              << z << ", " << i << ", " << j;
  }
  EXPECT_EQ(copies.loads != 0, hasEngine());
  // A map for a single block does not pay.
  EXPECT_EQ(copies.stores, 0u);
}

/// Of tensors whose pointers and extents are loaded, also of ones without elements and of rows that
/// end within a piece of 16 bytes: blocks that begin inside, outside, and before the beginning.
TEST_P(MadeTensorMap, OfSums) {
  const std::string source = R"(
@triton.jit
def kernel(table, sizes, x, q0, q1, q2, q3, first, columns):
    g = tl.program_id(2)
    d = tl.make_tensor_descriptor(tl.load(table + g).to(tl.pointer_type(tl.int32)),
                                  [tl.load(sizes + 2 * g), tl.load(sizes + 2 * g + 1)], [48, 1], [16, 32])
    i = tl.arange(0, 16)[:, None] * 32 + tl.arange(0, 32)[None, :]
    for n in range(0, columns):
        d.atomic_add([first + tl.program_id(0) * 16, n * 32], tl.load(x + i))
)";
  constexpr int stride = 48, allRows = 40;
  const int extents[4][2] = {{40, 48}, {17, 37}, {0, 48}, {23, 0}};
  std::vector<Buffer<int32_t>> tensors(4, Buffer<int32_t>(allRows * stride));
  Buffer<int64_t> table(4);
  Buffer<int32_t> sizes(8), x(16 * 32);
  for (size_t i = 0; i < x.count(); ++i)
    x[i] = int32_t(i + 1);
  for (int first : {0, 4, -5}) {
    for (int g = 0; g < 4; ++g) {
      table[g] = reinterpret_cast<int64_t>(tensors[g].data());
      std::fill_n(tensors[g].data(), tensors[g].count(), 0);
      std::copy(extents[g], extents[g] + 2, sizes.data() + 2 * g);
    }
    ASSERT_EQ(runSource(source, GetParam(),
                        {{"table", "*i64", table},
                         {"sizes", "*i32", sizes},
                         {"x", "*i32", x},
                         {"q0", "*i32", tensors[0]},
                         {"q1", "*i32", tensors[1]},
                         {"q2", "*i32", tensors[2]},
                         {"q3", "*i32", tensors[3]},
                         {"first", "i32", first},
                         {"columns", "i32", 2}},
                        {}, copies.options({2, 1, 4})),
              "");
    for (int g = 0; g < 4; ++g)
      for (int row = 0; row < allRows; ++row)
        for (int column = 0; column < stride; ++column) {
          int r = row - first;
          bool isInside = row < extents[g][0] && column < extents[g][1] && r >= 0 && r < 32;
          ASSERT_EQ(tensors[g][size_t(row) * stride + column],
                    isInside ? r % 16 * 32 + column % 32 + 1 : 0)
              << g << ", " << row << ", " << column << " from " << first;
        }
  }
  EXPECT_EQ(copies.sums != 0, hasEngine());
}

/// Reads outside of a tensor, here of all of one that has no elements, give its padding.
TEST_P(MadeTensorMap, OfATensorWithoutElements) {
  for (bool isNaN : {false, true}) {
    const std::string padding = isNaN ? ", padding_option='nan'" : "";
    ExactProduct product(64, 64, 64, /*transposed=*/true);
    Buffer<int64_t> table(std::vector<int64_t>{reinterpret_cast<int64_t>(product.a.data())});
    Buffer<int32_t> rows(1);
    std::vector<SourceArgument> arguments = product.arguments();
    arguments.emplace_back("table", "*i64", table);
    arguments.emplace_back("rows", "*i32", rows);
    ASSERT_EQ(runSource(R"(
@triton.jit
def kernel(pa, pb, pc, M, N, K, sa, sb, sc, table, rows):
    a = tl.make_tensor_descriptor(tl.load(table).to(tl.pointer_type(tl.float16)), [tl.load(rows), K],
                                  [sa, 1], [64, 32])" +
                            padding + R"()
    b = tl.make_tensor_descriptor(pb, [N, K], [sb, 1], [64, 32])
    sum = tl.zeros((64, 64), tl.float32)
    for k in range(0, K, 32):
        sum = tl.dot(a.load([0, k]), b.load([0, k]).T, sum)
    i = tl.arange(0, 64)
    tl.store(pc + i[:, None] * sc + i[None, :], sum)
)",
                        GetParam(), arguments, {}, copies.options({1, 1, 1})),
              "");
    EXPECT_EQ(copies.maps, hasEngine() ? 1u : 0u);
    for (size_t i = 0; i < product.c.count(); ++i)
      ASSERT_TRUE(isNaN ? std::isnan(product.c[i]) : product.c[i] == 0) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(, MadeTensorMap,
                         ::testing::Values("cpu", "emu:sm_80", "emu:sm_90a", "emu:gfx942"),
                         sourceTargetName);

//===-- mistakes
//-----------------------------------------------------------------------------------===//

using Edit = std::function<void(ModuleOp &)>;

template <typename OpT> std::vector<OpT> all(ModuleOp &module) {
  std::vector<OpT> ops;
  module.walk([&](OpT op) { ops.push_back(op); });
  return ops;
}

/// What is found, and what is wrong, in products one after the other.
std::string run(const Edit &edit) {
  Group group({{64, 64, 64, false}, {33, 68, 61, false}});
  SourceOptions options;
  options.edit = edit;
  options.grid = {1, 2, 1};
  std::string found = runSource(header(group) + oneAfterTheOther, "emu:sm_90a", group.arguments(),
                                {{"P", 1}}, options);
  return found.empty() ? group.wrong() : found;
}

bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

TEST(MadeTensorMapBugs, TheRightKernelIsSilent) { EXPECT_EQ(run(nullptr), ""); }

TEST(MadeTensorMapBugs, NoAcquire) {
  std::string found =
      run([](ModuleOp &module) { all<NVVM::FenceProxyAcquireOp>(module).front().erase(); });
  EXPECT_TRUE(contains(found, "expected fence.proxy.tensormap (acquire) by the thread between the "
                              "tensor map's publication at test.py:"))
      << found;
}

/// Acquired before it is published.
TEST(MadeTensorMapBugs, AnAcquireTooEarly) {
  std::string found = run([](ModuleOp &module) {
    auto acquire = all<NVVM::FenceProxyAcquireOp>(module).front();
    OpBuilder b(all<tilegpu::PublishMapOp>(module).front());
    b.clone(*acquire);
    acquire.erase();
  });
  EXPECT_TRUE(contains(found, "expected fence.proxy.tensormap (acquire)")) << found;
}

/// The map goes to global memory by ordinary stores.
TEST(MadeTensorMapBugs, NoRelease) {
  std::string found = run([](ModuleOp &module) {
    auto publish = all<tilegpu::PublishMapOp>(module).front();
    OpBuilder b(publish);
    Location loc = publish.getLoc();
    Value thread = NVVM::ThreadIdXOp::create(b, loc, b.getI32Type());
    auto wordOf = [&](Value base) -> Value {
      return LLVM::GEPOp::create(b, loc, base.getType(), b.getI32Type(), base,
                                 ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(thread)});
    };
    Value word = LLVM::LoadOp::create(b, loc, b.getI32Type(), wordOf(publish.getImage()));
    LLVM::StoreOp::create(b, loc, word, wordOf(publish.getMap()));
    publish.erase();
  });
  EXPECT_TRUE(contains(found, "expected a tensor map that tensormap.cp_fenceproxy has released"))
      << found;
}

/// The next product's map is written while blocks are stored by this one's.
TEST(MadeTensorMapBugs, AMapThatIsWrittenWhileInUse) {
  std::string found = run([](ModuleOp &module) {
    for (auto wait : all<NVVM::CpAsyncBulkWaitGroupOp>(module))
      wait.erase();
  });
  EXPECT_TRUE(contains(found, "race on a tensor map")) << found;
}

/// The image's zeros are not there yet when its fields are written.
TEST(MadeTensorMapBugs, NoBarrierOfTheWarp) {
  std::string found = run([](ModuleOp &module) { all<NVVM::SyncWarpOp>(module).front().erase(); });
  EXPECT_TRUE(contains(found, "read of shared memory that was never written")) << found;
}

TEST(MadeTensorMapBugs, AWrongStride) {
  auto isStride = [](LLVM::CallIntrinsicOp call) {
    return call.getIntrin() == "llvm.nvvm.tensormap.replace.global.stride";
  };
  auto edit = [&](int64_t factor, int64_t divisor) {
    return [=](ModuleOp &module) {
      for (auto call : all<LLVM::CallIntrinsicOp>(module))
        if (isStride(call)) {
          OpBuilder b(call);
          auto number = [&](int64_t value) {
            return LLVM::ConstantOp::create(b, call.getLoc(), b.getI64IntegerAttr(value));
          };
          Value stride = LLVM::MulOp::create(b, call.getLoc(), call.getArgs()[2], number(factor));
          call.getArgsMutable()[2].assign(
              LLVM::UDivOp::create(b, call.getLoc(), stride, number(divisor)));
          return;
        }
    };
  };
  // Elements in place of bytes: of 61 elements in rows of 64 those are 64. And 4 bytes too few.
  EXPECT_NE(run(edit(1, 2)), "");
  std::string found = run(edit(31, 32));
  EXPECT_TRUE(contains(found, "that is a multiple of 16 bytes below 2^40")) << found;
}

TEST(MadeTensorMapBugs, ARecordThatIsKept) {
  std::string found =
      run([](ModuleOp &module) { all<tilegpu::ReleaseMapsOp>(module).front().erase(); });
  EXPECT_TRUE(contains(found, "expected the record to be released")) << found;
}

} // namespace
} // namespace kiln::testing
