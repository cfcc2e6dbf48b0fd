// A kernel with a product of a warp group, in target operations, and the same kernel with one
// mistake each: the mistake gives a wrong result or a finding with its place.

#include "tests/compiler/Emulator/EmulatedKernel.h"
#include <gtest/gtest.h>

using namespace kiln::testing;

namespace {

/// out = a * b + 1: a of 64 x 16, b of 16 x 8 (its columns one after the other, with 56 more that
/// nobody reads). Each of 128 threads stores 16 bytes of both, swizzled by 32 bytes; the
/// descriptors are of addresses in shared memory, as the lowering makes them.
const std::string kernelText = R"(
llvm.mlir.global external @kiln_shared() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
llvm.func @kernel(%a: !llvm.ptr<1>, %b: !llvm.ptr<1>, %out: !llvm.ptr<1>) {
  %four = llvm.mlir.constant(4 : i32) : i32
  %three = llvm.mlir.constant(3 : i32) : i32
  %sixteen = llvm.mlir.constant(16 : i32) : i32
  %mask = llvm.mlir.constant(0x3ffff : i32) : i32
  %one = llvm.mlir.constant(1.0 : f32) : f32
  %t = nvvm.read.ptx.sreg.tid.x : i32
  %linear = llvm.mul %t, %sixteen : i32
  %line = llvm.lshr %linear, %three : i32
  %phase = llvm.and %line, %sixteen : i32
  %offset = llvm.xor %linear, %phase : i32
  %shared = llvm.mlir.addressof @kiln_shared : !llvm.ptr<3>
  %sharedB = llvm.getelementptr %shared[2048] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
  %fromA = llvm.getelementptr %a[%linear] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
  %fromB = llvm.getelementptr %b[%linear] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
  %unitA = tilegpu.global_load %fromA : (!llvm.ptr<1>) -> vector<4xi32>
  %unitB = tilegpu.global_load %fromB : (!llvm.ptr<1>) -> vector<4xi32>
  %toA = llvm.getelementptr %shared[%offset] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
  %toB = llvm.getelementptr %sharedB[%offset] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
  llvm.store %unitA, %toA : vector<4xi32>, !llvm.ptr<3> loc("kernel.py":5:5)
  llvm.store %unitB, %toB : vector<4xi32>, !llvm.ptr<3> loc("kernel.py":6:5)
  nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
  nvvm.barrier0
  %constant = llvm.mlir.constant(0xc000001000010000 : i64) : i64
  %shift = llvm.mlir.constant(4 : i64) : i64
  %addressA = llvm.ptrtoint %shared : !llvm.ptr<3> to i32
  %bitsA = llvm.and %addressA, %mask : i32
  %wideA = llvm.zext %bitsA : i32 to i64
  %startA = llvm.lshr %wideA, %shift : i64
  %descA = llvm.or %startA, %constant : i64
  %addressB = llvm.ptrtoint %sharedB : !llvm.ptr<3> to i32
  %bitsB = llvm.and %addressB, %mask : i32
  %wideB = llvm.zext %bitsB : i32 to i64
  %startB = llvm.lshr %wideB, %shift : i64
  %descB = llvm.or %startB, %constant : i64
  %d:4 = tilegpu.wgmma a(%descA) b(%descB) into(%one, %one, %one, %one)
    {n = 8 : i32, operand = "f16", accumulator = "f32"} : (i64, i64, f32, f32, f32, f32) -> (f32, f32, f32, f32) loc("kernel.py":7:5)
  nvvm.wgmma.commit.group.sync.aligned
  %r:4 = tilegpu.wgmma_wait %d#0, %d#1, %d#2, %d#3 pending 0 : f32, f32, f32, f32 loc("kernel.py":8:5)
  %v0 = llvm.mlir.undef : vector<4xf32>
  %i0 = llvm.mlir.constant(0 : i32) : i32
  %i1 = llvm.mlir.constant(1 : i32) : i32
  %i2 = llvm.mlir.constant(2 : i32) : i32
  %v1 = llvm.insertelement %r#0, %v0[%i0 : i32] : vector<4xf32>
  %v2 = llvm.insertelement %r#1, %v1[%i1 : i32] : vector<4xf32>
  %v3 = llvm.insertelement %r#2, %v2[%i2 : i32] : vector<4xf32>
  %v4 = llvm.insertelement %r#3, %v3[%three : i32] : vector<4xf32>
  %to = llvm.getelementptr %out[%linear] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
  tilegpu.global_store %to, %v4 : (!llvm.ptr<1>, vector<4xf32>) -> () loc("kernel.py":9:5)
  llvm.return
}
)";

const std::string fence =
    "  nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}\n";
const std::string overwrite =
    "  llvm.store %unitA, %toB : vector<4xi32>, !llvm.ptr<3> loc(\"kernel.py\":20:5)\n";
const std::string commit = "  nvvm.wgmma.commit.group.sync.aligned\n";

std::string replaced(std::string text, const std::string &from, const std::string &to) {
  size_t place = text.find(from);
  EXPECT_NE(place, std::string::npos) << from;
  return text.replace(place, from.size(), to);
}

/// An integer from -8 to 8, as f16.
uint16_t half(int value) {
  if (value == 0)
    return 0;
  unsigned magnitude = unsigned(std::abs(value)),
           exponent = 31 - unsigned(__builtin_clz(magnitude));
  return uint16_t((value < 0) << 15 | (exponent + 15) << 10 |
                  ((magnitude << 10 >> exponent) & 0x3ff));
}

struct Result {
  std::string errors;
  std::vector<std::string> reports;
  unsigned numWrong = 0;
  /// Of matrix instructions, where nothing was reported.
  uint64_t operations = 0, flops = 0, instructions = 0;
};

/// Of a kernel that gives `times` the product and `added`.
Result run(const std::string &text, const std::string &target = "emu:sm_90a", int times = 1,
           int added = 1) {
  uint16_t a[64 * 16], b[64 * 16];
  auto number = [](int row, int k) { return (row * 7 + k * 5 + row * k) % 17 - 8; };
  for (int row = 0; row < 64; ++row)
    for (int k = 0; k < 16; ++k) {
      a[row * 16 + k] = half(number(row, k));
      b[row * 16 + k] = half(number(k, row));
    }
  alignas(16) float out[128 * 4] = {};
  EmulatedKernel kernel(text, target, 128);
  Result result;
  result.errors = kernel.errors;
  if (!kernel.errors.empty())
    return result;
  kernel.use(a, sizeof a);
  kernel.use(b, sizeof b);
  kernel.use(out, sizeof out);
  void *pointers[] = {a, b, out};
  result.reports = kernel.run({&pointers[0], &pointers[1], &pointers[2]}, 4096);
  for (int t = 0; t < 128; ++t)
    for (int i = 0; i < 4; ++i) {
      int row = t / 32 * 16 + t % 32 / 4 + i / 2 * 8, column = t % 4 * 2 + i % 2, sum = added;
      for (int k = 0; k < 16; ++k)
        sum += times * number(row, k) * number(k, column);
      result.numWrong += out[4 * t + i] != float(sum);
    }
  if (!result.reports.empty())
    return result;
  for (const kiln_emulator_count &count :
       kernel.count({&pointers[0], &pointers[1], &pointers[2]}, 4096))
    if (std::string(count.kind) == "matrix") {
      result.operations += count.matrix_operations;
      result.flops += count.flops;
      result.instructions += count.instructions;
    }
  return result;
}

::testing::AssertionResult finds(const Result &result, const std::string &place,
                                 const std::string &what) {
  for (const std::string &report : result.reports)
    if (report.find(place) == 0 && report.find(what) != std::string::npos)
      return ::testing::AssertionSuccess();
  auto failure = ::testing::AssertionFailure()
                 << "expected " << place << " … " << what << ", got " << result.errors;
  for (const std::string &report : result.reports)
    failure << "\n  " << report;
  return failure;
}

TEST(WarpGroupBugs, TheRightKernelIsSilentAndCounted) {
  Result result = run(kernelText);
  EXPECT_EQ(result.errors, "");
  EXPECT_EQ(result.numWrong, 0u);
  EXPECT_TRUE(result.reports.empty()) << result.reports[0];
  EXPECT_EQ(result.operations, 2u * 64 * 8 * 16);
  EXPECT_EQ(result.flops, result.operations);
  EXPECT_EQ(result.instructions, 4u); // one of each warp
}

/// The fragments of A straight from memory, by rows t / 4 and the eighth behind it.
TEST(WarpGroupBugs, AInRegisters) {
  std::string text = replaced(kernelText, "a(%descA)", "a(%q0, %q1, %q2, %q3)");
  text = replaced(text, ": (i64, i64,", ": (i32, i32, i32, i32, i64,");
  text = replaced(text, "  %d:4", R"(  %two = llvm.mlir.constant(2 : i32) : i32
  %five = llvm.mlir.constant(5 : i32) : i32
  %thirtyOne = llvm.mlir.constant(31 : i32) : i32
  %bytesOfWarp = llvm.mlir.constant(512 : i32) : i32
  %bytesOfRow = llvm.mlir.constant(32 : i32) : i32
  %warp = llvm.lshr %t, %five : i32
  %lane = llvm.and %t, %thirtyOne : i32
  %row = llvm.lshr %lane, %two : i32
  %inRow = llvm.and %lane, %three : i32
  %o0 = llvm.mul %warp, %bytesOfWarp : i32
  %o1 = llvm.mul %row, %bytesOfRow : i32
  %o2 = llvm.mul %inRow, %four : i32
  %o3 = llvm.add %o0, %o1 : i32
  %o4 = llvm.add %o3, %o2 : i32
  %f0 = llvm.getelementptr %a[%o4] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
  %f1 = llvm.getelementptr %f0[256] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  %f2 = llvm.getelementptr %f0[16] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  %f3 = llvm.getelementptr %f0[272] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  %q0 = tilegpu.global_load %f0 : (!llvm.ptr<1>) -> i32
  %q1 = tilegpu.global_load %f1 : (!llvm.ptr<1>) -> i32
  %q2 = tilegpu.global_load %f2 : (!llvm.ptr<1>) -> i32
  %q3 = tilegpu.global_load %f3 : (!llvm.ptr<1>) -> i32
  %d:4)");
  Result result = run(text);
  EXPECT_EQ(result.errors, "");
  EXPECT_EQ(result.numWrong, 0u);
  EXPECT_TRUE(result.reports.empty()) << result.reports[0];
}

/// Two products with sums of f16, the first of which forgets what was there; one in flight from
/// round to round.
TEST(WarpGroupBugs, ProductsInFlightGoAroundALoop) {
  size_t first = kernelText.find("  %d:4"), last = kernelText.find("  %v0");
  std::string text = kernelText;
  text.replace(first, last - first, R"(  %nothing = llvm.mlir.undef : vector<2xf16>
  %j0 = llvm.mlir.constant(0 : i32) : i32
  %j1 = llvm.mlir.constant(1 : i32) : i32
  llvm.br ^loop(%j0, %nothing, %nothing : i32, vector<2xf16>, vector<2xf16>)
^loop(%i: i32, %c0: vector<2xf16>, %c1: vector<2xf16>):
  %adds = llvm.icmp "ne" %i, %j0 : i32
  %d:2 = tilegpu.wgmma a(%descA) b(%descB) into(%c0, %c1) if %adds {n = 8 : i32, operand = "f16", accumulator = "f16"}
    : (i64, i64, vector<2xf16>, vector<2xf16>, i1) -> (vector<2xf16>, vector<2xf16>)
  nvvm.wgmma.commit.group.sync.aligned
  %w:2 = tilegpu.wgmma_wait %d#0, %d#1 pending 1 : vector<2xf16>, vector<2xf16>
  %next = llvm.add %i, %j1 : i32
  %more = llvm.icmp "slt" %i, %j1 : i32
  llvm.cond_br %more, ^loop(%next, %w#0, %w#1 : i32, vector<2xf16>, vector<2xf16>), ^end
^end:
  %s:2 = tilegpu.wgmma_wait %w#0, %w#1 pending 0 : vector<2xf16>, vector<2xf16>
  %h0 = llvm.extractelement %s#0[%j0 : i32] : vector<2xf16>
  %h1 = llvm.extractelement %s#0[%j1 : i32] : vector<2xf16>
  %h2 = llvm.extractelement %s#1[%j0 : i32] : vector<2xf16>
  %h3 = llvm.extractelement %s#1[%j1 : i32] : vector<2xf16>
  %r0 = llvm.fpext %h0 : f16 to f32
  %r1 = llvm.fpext %h1 : f16 to f32
  %r2 = llvm.fpext %h2 : f16 to f32
  %r3 = llvm.fpext %h3 : f16 to f32
)");
  for (int i = 0; i < 4; ++i)
    text = replaced(text, "%r#" + std::to_string(i), "%r" + std::to_string(i));
  Result result = run(text, "emu:sm_90a", /*times=*/2, /*added=*/0);
  EXPECT_EQ(result.errors, "");
  EXPECT_EQ(result.numWrong, 0u);
  EXPECT_TRUE(result.reports.empty()) << result.reports[0];
}

TEST(WarpGroupBugs, AccumulatorsReadBeforeTheWait) {
  EXPECT_NE(run(replaced(kernelText, "%r#1,", "%d#1,"))
                .errors.find("expected products to be used by tilegpu.wgmma as accumulators, or by "
                             "tilegpu.wgmma_wait, got a use by 'llvm.insertelement'"),
            std::string::npos);
  // The wait is there, but waits for less.
  Result result = run(replaced(kernelText, "pending 0", "pending 1"));
  EXPECT_EQ(result.numWrong, 512u);
  EXPECT_TRUE(finds(result, "kernel.py:7:5: ", "expected the product to be waited for"));
}

TEST(WarpGroupBugs, AMissingProxyFence) {
  EXPECT_TRUE(finds(run(replaced(kernelText, fence, "")),
                    "kernel.py:7:5: ", "expected fence.proxy.async by thread "));
  EXPECT_TRUE(
      finds(run(replaced(kernelText, fence + "  nvvm.barrier0\n", "  nvvm.barrier0\n" + fence)),
            "kernel.py:7:5: ", "expected fence.proxy.async by thread "));
}

TEST(WarpGroupBugs, AMissingBarrier) {
  EXPECT_TRUE(finds(run(replaced(kernelText, "  nvvm.barrier0\n", "")),
                    "kernel.py:", "race on shared memory"));
}

TEST(WarpGroupBugs, AMissingCommit) {
  Result result = run(replaced(kernelText, commit, ""));
  EXPECT_EQ(result.numWrong, 512u);
  EXPECT_TRUE(finds(result, "kernel.py:8:5: ", "expected wgmma.commit_group"));
}

TEST(WarpGroupBugs, AWrongSwizzleOrStride) {
  // 128, 64 and no bytes; 16 columns between the repetitions of the pattern.
  for (const char *constant :
       {"0x4000001000010000", "0x8000001000010000", "0x0000001000010000", "0xc000001100010000"})
    EXPECT_GT(run(replaced(kernelText, "0xc000001000010000", constant)).numWrong, 128u) << constant;
}

TEST(WarpGroupBugs, ASlotThatIsOverwrittenTooEarly) {
  Result result = run(
      replaced(kernelText, commit, commit + "  nvvm.barrier0\n" + overwrite + "  nvvm.barrier0\n"));
  EXPECT_GT(result.numWrong, 256u);
  EXPECT_TRUE(
      finds(result, "kernel.py:20:5: ",
            "also an operand of a product of warp 0 at kernel.py:7 (tilegpu.wgmma.f16) that has "
            "not been waited for"));
  std::string behind = "  %v0 = llvm.mlir.undef : vector<4xf32>\n";
  EXPECT_TRUE(finds(run(replaced(kernelText, behind, overwrite + behind)),
                    "kernel.py:", "race on shared memory"));
  EXPECT_TRUE(
      run(replaced(kernelText, behind, "  nvvm.barrier0\n" + overwrite + behind)).reports.empty());
}

TEST(WarpGroupBugs, OtherTargetsHaveNoWarpGroups) {
  EXPECT_NE(
      run(kernelText, "emu:sm_80").errors.find("'tilegpu.wgmma' is not supported on emu:sm_80"),
      std::string::npos);
}

} // namespace
