// Products of blocks of described tensors: by the copy engine on GPUs that have one (TMA on
// sm_90a), in a loop, over tiles with a warp of its own for the copies, and outside of loops. All
// numbers are exact: small integers. At the end mistakes that are put into target operations, of
// which each is found.

#include "compiler/Dialect/TileGPU/TileGPU.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Builders.h"
#include "tests/language/ExactProduct.h"

using namespace mlir;

namespace kiln::testing {
namespace {

const std::string head = R"(
@triton.jit
def kernel(pa, pb, pc, M, N, K, sa, sb, sc, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, T: tl.constexpr):
    a = tl.make_tensor_descriptor(pa, [M, K], [sa, 1], [BM, BK])
    if T:
        b = tl.make_tensor_descriptor(pb, [N, K], [sb, 1], [BN, BK])
    else:
        b = tl.make_tensor_descriptor(pb, [K, N], [sb, 1], [BK, BN])
)";

const std::string oneTile = R"(
    m = tl.program_id(0) * BM
    n = tl.program_id(1) * BN
    sum = tl.zeros((BM, BN), tl.float32)
    for k in OPTIONS(0, K, BK):
        x = a.load([m, k])
        y = b.load([n, k]).T if T else b.load([k, n])
        sum = tl.dot(x, y, sum)
    c = tl.make_tensor_descriptor(pc, [M, N], [sc, 1], [BM, BN])
    c.store([m, n], sum)
)";

/// Two programs walk over all tiles.
const std::string manyTiles = R"(
    columns = tl.cdiv(N, BN)
    for tile in range(tl.program_id(0), tl.cdiv(M, BM) * columns, 2):
        m = tile // columns * BM
        n = tile % columns * BN
        sum = tl.zeros((BM, BN), tl.float32)
        for k in range(0, K, BK):
            x = a.load([m, k])
            y = b.load([n, k]).T if T else b.load([k, n])
            sum = tl.dot(x, y, sum)
        c = tl.make_tensor_descriptor(pc, [M, N], [sc, 1], [BM, BN])
        c.store([m, n], sum)
)";

/// The first block of columns is held while the loop walks over the others; sums are scaled.
const std::string heldBlock = R"(
    m = tl.program_id(0) * BM
    x = a.load([m, 0])
    sum = tl.zeros((BM, BM), tl.float32)
    for n in range(0, N, BN):
        y = b.load([n, 0]).T if T else b.load([0, n])
        p = tl.dot(x, y)
        sum = sum * 2 + tl.dot(p.to(tl.float16), p.T.to(tl.float16))
    i = m + tl.arange(0, BM)[:, None]
    tl.store(pc + i * BM + tl.arange(0, BM)[None, :], sum)
)";

std::string withRange(std::string body, const std::string &call) {
  size_t at = body.find("OPTIONS(0, K, BK)");
  return at == std::string::npos ? body : body.replace(at, 17, call);
}

struct Tile {
  int m = 64, n = 64, k = 32;
  std::vector<SourceConstant> constants(bool transposed) const {
    return {{"BM", m}, {"BN", n}, {"BK", k}, {"T", transposed}};
  }
};

class DescriptorProduct : public SourceTest {};

TEST_P(DescriptorProduct, OfAnyExtents) {
  for (bool transposed : {false, true})
    for (unsigned stages : {1u, 2u, 4u}) {
      SCOPED_TRACE(std::to_string(stages) + " stages" + (transposed ? ", transposed" : ""));
      SourceOptions options;
      options.numStages = stages;
      Tile tile;
      SourceKernel kernel(head + withRange(oneTile, "range(0, K, BK)"), GetParam(),
                          ExactProduct(1, 1, 1, transposed).arguments(), tile.constants(transposed),
                          options);
      for (int k : {0, 1, 32, 61, 96, 160}) {
        ExactProduct product(93, 70, k, transposed);
        ASSERT_EQ(kernel.run(product.arguments(), {2, 2, 1}), "") << k;
        ASSERT_EQ(product.wrong(), "") << k;
      }
    }
}

TEST_P(DescriptorProduct, OfLargeTiles) {
  Tile tile{128, 256, 64};
  for (bool transposed : {false, true}) {
    ExactProduct product(130, 259, 200, transposed);
    ASSERT_EQ(runSource(head + withRange(oneTile, "range(0, K, BK)"), GetParam(),
                        product.arguments(), tile.constants(transposed),
                        {.grid = {2, 2, 1}, .numWarps = 8}),
              "");
    ASSERT_EQ(product.wrong(), "");
  }
}

TEST_P(DescriptorProduct, OverManyTiles) {
  for (bool transposed : {false, true})
    for (unsigned warps : {4u, 8u}) {
      SourceOptions options;
      options.numWarps = warps;
      Tile tile;
      SourceKernel kernel(head + manyTiles, GetParam(),
                          ExactProduct(1, 1, 1, transposed).arguments(), tile.constants(transposed),
                          options);
      for (int k : {0, 24, 32, 200}) {
        ExactProduct product(200, 130, k, transposed);
        ASSERT_EQ(kernel.run(product.arguments(), {2, 1, 1}), "") << k;
        ASSERT_EQ(product.wrong(), "") << k;
      }
    }
}

/// Sums that leave threads no registers for anything else: they take those of a group of warps that
/// copies.
TEST_P(DescriptorProduct, OverManyLargeTiles) {
  ExactProduct product(150, 260, 130, /*transposed=*/true);
  ASSERT_EQ(runSource(head + manyTiles, GetParam(), product.arguments(),
                      Tile{128, 256, 64}.constants(true), {.grid = {2, 1, 1}, .numWarps = 8}),
            "");
  EXPECT_EQ(product.wrong(), "");
}

TEST_P(DescriptorProduct, WithAWarpForCopies) {
  ExactProduct product(93, 70, 170, /*transposed=*/true);
  ASSERT_EQ(runSource(head + withRange(oneTile, "tl.range(0, K, BK, warp_specialize=True)"),
                      GetParam(), product.arguments(), Tile().constants(true), {.grid = {2, 2, 1}}),
            "");
  EXPECT_EQ(product.wrong(), "");
}

TEST_P(DescriptorProduct, OfABlockThatIsHeld) {
  constexpr int m = 64, n = 48, k = 16, tile = 16;
  ExactProduct product(m, n, k, /*transposed=*/true);
  Buffer<float> result(m * m);
  std::vector<SourceArgument> arguments = product.arguments();
  arguments[2] = {"pc", "*fp32", result};
  ASSERT_EQ(runSource(head + heldBlock, GetParam(), arguments, Tile{m, tile, k}.constants(true)),
            "");
  auto inner = [&](int i, int j) {
    double sum = 0;
    for (int l = 0; l < k; ++l)
      sum += product.A(i, l) * product.B(l, j);
    return sum;
  };
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < m; ++j) {
      double sum = 0;
      for (int first = 0; first < n; first += tile) {
        sum *= 2;
        for (int l = first; l < first + tile; ++l)
          sum += inner(i, l) * inner(j, l);
      }
      ASSERT_EQ(double(result[i * m + j]), sum) << i << ", " << j;
    }
}

/// Rows of two heads in turns: blocks of the rows of one.
TEST_P(DescriptorProduct, OfRowsOfHeads) {
  const std::string heads = R"(
@triton.jit
def kernel(pa, pb, pc, M, N, K, sa, sb, sc, pair, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, T: tl.constexpr):
    a = tl.make_tensor_descriptor(pa, [M, 2, K], [pair, sa, 1], [BM, 1, BK])
    b = tl.make_tensor_descriptor(pb, [N, K], [sb, 1], [BN, BK])
    h = tl.program_id(0)
    sum = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        sum = tl.dot(a.load([0, h, k]).reshape(BM, BK), b.load([0, k]).T, sum)
    i = 2 * tl.arange(0, BM)[:, None] + h
    tl.store(pc + i * sc + tl.arange(0, BN)[None, :], sum, mask=tl.arange(0, BN)[None, :] < N)
)";
  ExactProduct product(128, 60, 90, /*transposed=*/true);
  std::vector<SourceArgument> arguments = product.arguments();
  arguments[3] = {"M", "i32", product.m / 2};
  arguments.emplace_back("pair", "i64:8", int64_t(2 * product.strideA));
  ASSERT_EQ(runSource(heads, GetParam(), arguments, Tile().constants(true), {.grid = {2, 1, 1}}),
            "");
  EXPECT_EQ(product.wrong(), "");
}

/// Each block of a cluster has its rows of a tile, or its columns, and all read the same of the
/// other operand.
TEST_P(DescriptorProduct, ByClusters) {
  for (bool transposed : {false, true})
    for (auto [tile, ctas, stages] :
         {std::tuple(Tile{128, 64, 32}, 2u, 3u), std::tuple(Tile{256, 64, 64}, 4u, 2u),
          std::tuple(Tile{64, 256, 64}, 2u, 4u), std::tuple(Tile{512, 32, 32}, 8u, 3u)}) {
      SCOPED_TRACE(std::to_string(ctas) + (transposed ? " blocks, transposed" : " blocks"));
      SourceOptions options;
      options.numStages = stages;
      options.numCtas = ctas;
      SourceKernel kernel(head + withRange(oneTile, "range(0, K, BK)"), GetParam(),
                          ExactProduct(1, 1, 1, transposed).arguments(), tile.constants(transposed),
                          options);
      for (int trips = 0; trips <= 5; ++trips) {
        ExactProduct product(tile.m + 29, tile.n + 6, trips * tile.k - (trips > 2 ? 11 : 0),
                             transposed);
        ASSERT_EQ(kernel.run(product.arguments(), {2, 2, 1}), "") << trips;
        ASSERT_EQ(product.wrong(), "") << trips;
      }
    }
}

TEST_P(DescriptorProduct, OverManyTilesByClusters) {
  for (bool transposed : {false, true})
    for (unsigned warps : {4u, 8u}) {
      SourceOptions options;
      options.numWarps = warps;
      options.numCtas = 2;
      Tile tile{int(warps) * 32, 64, 32};
      SourceKernel kernel(head + manyTiles, GetParam(),
                          ExactProduct(1, 1, 1, transposed).arguments(), tile.constants(transposed),
                          options);
      for (int k : {0, 24, 32, 200}) {
        ExactProduct product(400, 130, k, transposed);
        ASSERT_EQ(kernel.run(product.arguments(), {2, 1, 1}), "") << k;
        ASSERT_EQ(product.wrong(), "") << k;
      }
    }
}

INSTANTIATE_TEST_SUITE_P(, DescriptorProduct,
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

/// Of tiles one after another by a warp of its own, or of one tile; what is found, and what is
/// wrong.
std::string run(bool isPersistent, const Edit &edit) {
  ExactProduct product(256, 64, 160, /*transposed=*/true);
  SourceOptions options;
  options.edit = edit;
  options.grid = {isPersistent ? 2u : 4u, 1, 1};
  std::string body = isPersistent ? manyTiles : withRange(oneTile, "range(0, K, BK)");
  std::string found =
      runSource(head + body, "emu:sm_90a", product.arguments(), Tile().constants(true), options);
  return found.empty() ? product.wrong() : found;
}

TEST(DescriptorProductBugs, TheRightKernelsAreSilent) {
  for (bool isPersistent : {false, true})
    EXPECT_EQ(run(isPersistent, nullptr), "");
}

/// All waits of the consumers, so that blocks are read before they are there.
TEST(DescriptorProductBugs, NoWaitForBlocks) {
  for (bool isPersistent : {false, true})
    EXPECT_NE(run(isPersistent,
                  [&](ModuleOp &module) {
                    auto waits = all<NVVM::MBarrierTryWaitParityOp>(module);
                    ASSERT_FALSE(waits.empty());
                    waits.back().erase();
                  }),
              "")
        << isPersistent;
}

TEST(DescriptorProductBugs, AWaitForTheOtherPhase) {
  for (bool isPersistent : {false, true})
    EXPECT_NE(run(isPersistent,
                  [](ModuleOp &module) {
                    auto wait = all<NVVM::MBarrierTryWaitParityOp>(module).back();
                    OpBuilder b(wait);
                    Value one = LLVM::ConstantOp::create(b, wait.getLoc(), b.getI32IntegerAttr(1));
                    wait.getPhaseMutable().assign(
                        LLVM::XOrOp::create(b, wait.getLoc(), wait.getPhase(), one));
                  }),
              "")
        << isPersistent;
}

TEST(DescriptorProductBugs, ASlotThatIsFilledBeforeAllHaveReadIt) {
  // The producer does not wait until its slot is empty.
  EXPECT_NE(
      run(/*isPersistent=*/true,
          [](ModuleOp &module) { all<NVVM::MBarrierTryWaitParityOp>(module).front().erase(); }),
      "");
  // A thread of the kernel's own does not wait at the barrier for the others.
  EXPECT_NE(run(/*isPersistent=*/false,
                [](ModuleOp &module) {
                  Operation *op = all<NVVM::MBarrierTryWaitParityOp>(module).back();
                  while (!isa<NVVM::Barrier0Op>(op))
                    op = op->getNextNode();
                  op->erase();
                }),
            "");
}

TEST(DescriptorProductBugs, MoreBytesThanCome) {
  for (bool isPersistent : {false, true})
    EXPECT_NE(run(isPersistent,
                  [](ModuleOp &module) {
                    auto arrival = all<NVVM::MBarrierArriveExpectTxOp>(module).front();
                    OpBuilder b(arrival);
                    arrival.getTxcountMutable().assign(LLVM::ConstantOp::create(
                        b, arrival.getLoc(), b.getI32IntegerAttr(1 << 14)));
                  }),
              "")
        << isPersistent;
}

//===-- mistakes in clusters
//--------------------------------------------------------------------===//

/// Two blocks copy B for each other.
std::string runCluster(const Edit &edit) {
  ExactProduct product(256, 64, 160, /*transposed=*/true);
  SourceOptions options;
  options.edit = edit;
  options.grid = {2, 1, 1};
  options.numCtas = 2;
  std::string found = runSource(head + withRange(oneTile, "range(0, K, BK)"), "emu:sm_90a",
                                product.arguments(), Tile{128, 64, 32}.constants(true), options);
  return found.empty() ? product.wrong() : found;
}

/// Of the barriers of the cluster one is before the copies, the last is the consumers' end.
void eraseMeeting(ModuleOp &module, bool isFirst) {
  auto arrivals = all<NVVM::ClusterArriveOp>(module);
  auto waits = all<NVVM::ClusterWaitOp>(module);
  ASSERT_EQ(arrivals.size(), 3u);
  ASSERT_EQ(waits.size(), 3u);
  for (size_t i = 0; i < 3; ++i)
    if ((i == 0) == isFirst) {
      arrivals[i].erase();
      waits[i].erase();
    }
  if (!isFirst)
    for (auto mbarrier : all<NVVM::MBarrierInvalOp>(module))
      mbarrier.erase();
}

TEST(ClusterBugs, TheRightKernelIsSilent) {
  EXPECT_EQ(runCluster([](ModuleOp &module) {
              auto copies = all<NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp>(module);
              EXPECT_TRUE(
                  llvm::any_of(copies, [](auto copy) { return bool(copy.getMulticastMask()); }));
              EXPECT_TRUE(llvm::any_of(copies, [](auto copy) { return !copy.getMulticastMask(); }));
            }),
            "");
}

TEST(ClusterBugs, NoBarrierBeforeTheFirstCopy) {
  std::string found = runCluster([](ModuleOp &module) { eraseMeeting(module, true); });
  EXPECT_NE(found.find("the mbarrier was not initialised"), std::string::npos) << found;
}

TEST(ClusterBugs, AnEndWithoutABarrier) {
  std::string found = runCluster([](ModuleOp &module) { eraseMeeting(module, false); });
  EXPECT_NE(found.find("barrier of the cluster"), std::string::npos) << found;
}

/// Each warp arrives as often, but at its own block's mbarrier only.
TEST(ClusterBugs, ASlotThatTheOtherBlockStillReads) {
  std::string found = runCluster([](ModuleOp &module) {
    for (auto address : all<NVVM::MapaOp>(module)) {
      OpBuilder b(address);
      address.getBMutable().assign(NVVM::ClusterId::create(b, address.getLoc(), b.getI32Type()));
    }
  });
  EXPECT_NE(found, "");
}

TEST(ClusterBugs, HalfOfTheBytes) {
  std::string found = runCluster([](ModuleOp &module) {
    for (auto arrival : all<NVVM::MBarrierArriveExpectTxOp>(module)) {
      OpBuilder b(arrival);
      Value half = LLVM::LShrOp::create(
          b, arrival.getLoc(), arrival.getTxcount(),
          LLVM::ConstantOp::create(b, arrival.getLoc(), b.getI32IntegerAttr(1)));
      arrival.getTxcountMutable().assign(half);
    }
  });
  EXPECT_NE(found.find("expected expect_tx of all bytes"), std::string::npos) << found;
}

/// Only to the own block.
TEST(ClusterBugs, ACopyThatTheOtherBlockLacks) {
  EXPECT_NE(runCluster([](ModuleOp &module) {
              for (auto copy : all<NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp>(module))
                if (copy.getMulticastMask()) {
                  OpBuilder b(copy);
                  copy.getMulticastMaskMutable().assign(
                      LLVM::ConstantOp::create(b, copy.getLoc(), b.getI16IntegerAttr(1)));
                }
            }),
            "");
}

} // namespace
} // namespace kiln::testing
