// Kernels with copies by TMA, in target operations, and the same kernels with one mistake each:
// the mistake gives a wrong result or a finding with its place.

#include "runtime/emulator/kiln_emu.h"
#include "runtime/kiln.h"
#include "tests/compiler/Emulator/EmulatedKernel.h"
#include <gtest/gtest.h>

using namespace kiln::testing;

namespace {

/// out = x + y, both of 64 x 32 floats: a warp group loads, by TMA, boxes of 8 x 32 of both into
/// two slots in turn; another adds them there and stores the sums by TMA. Warp 0 makes the
/// mbarriers: of each slot one that says that it is full, and one that it is empty. The second
/// group meets at barrier 1 between its warps, and barrier 2 is where all begin, each at a place of
/// its own.
const std::string kernelText = R"(
llvm.mlir.global external @kiln_shared() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
llvm.func @kernel(%x: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>},
                  %y: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>},
                  %out: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>}) {
  %c0 = llvm.mlir.constant(0 : i32) : i32
  %c1 = llvm.mlir.constant(1 : i32) : i32
  %c2 = llvm.mlir.constant(2 : i32) : i32
  %c3 = llvm.mlir.constant(3 : i32) : i32
  %c4 = llvm.mlir.constant(4 : i32) : i32
  %c8 = llvm.mlir.constant(8 : i32) : i32
  %c16 = llvm.mlir.constant(16 : i32) : i32
  %c127 = llvm.mlir.constant(127 : i32) : i32
  %group = llvm.mlir.constant(128 : i32) : i32
  %all = llvm.mlir.constant(256 : i32) : i32
  %bytes = llvm.mlir.constant(2048 : i32) : i32
  %slotBytes = llvm.mlir.constant(2048 : i32) : i32
  %t = nvvm.read.ptx.sreg.tid.x : i32
  %shared = llvm.mlir.addressof @kiln_shared : !llvm.ptr<3>
  %full = llvm.getelementptr %shared[4096] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
  %empty = llvm.getelementptr %shared[4160] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
  %sums = llvm.getelementptr %shared[5120] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
  nvvm.prefetch tensormap, %x : !llvm.ptr
  %isFirst = llvm.icmp "eq" %t, %c0 : i32
  llvm.cond_br %isFirst, ^make, ^roles
^make:
  %full1 = llvm.getelementptr %full[8] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
  %empty1 = llvm.getelementptr %empty[8] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
  nvvm.mbarrier.init %full, %c1 : !llvm.ptr<3>, i32 loc("kernel.py":1:5)
  nvvm.mbarrier.init %full1, %c1 : !llvm.ptr<3>, i32 loc("kernel.py":1:5)
  nvvm.mbarrier.init %empty, %group : !llvm.ptr<3>, i32 loc("kernel.py":1:5)
  nvvm.mbarrier.init %empty1, %group : !llvm.ptr<3>, i32 loc("kernel.py":1:5)
  nvvm.fence.mbarrier.init
  llvm.br ^roles
^roles:
  %loads = llvm.icmp "ult" %t, %group : i32
  llvm.cond_br %loads, ^producers, ^consumers
^producers:
  nvvm.setmaxregister decrease 40
  "nvvm.barrier"(%c2, %all) <{operandSegmentSizes = array<i32: 1, 1, 0>}> : (i32, i32) -> () loc("kernel.py":2:5)
  llvm.cond_br %isFirst, ^produce(%c0 : i32), ^end
^produce(%i: i32):
  %pSlot = llvm.and %i, %c1 : i32
  %pPhase = llvm.lshr %i, %c1 : i32
  %pOdd = llvm.and %pPhase, %c1 : i32
  %pParity = llvm.xor %pOdd, %c1 : i32
  %pFull = llvm.getelementptr %full[%pSlot] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
  %pEmpty = llvm.getelementptr %empty[%pSlot] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
  nvvm.mbarrier.try_wait.parity %pEmpty, %pParity, %c1 : !llvm.ptr<3>, i32, i32 loc("kernel.py":3:5)
  nvvm.mbarrier.arrive.expect_tx %pFull, %bytes : !llvm.ptr<3>, i32 loc("kernel.py":4:5)
  %pOffset = llvm.mul %pSlot, %slotBytes : i32
  %toX = llvm.getelementptr %shared[%pOffset] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
  %toY = llvm.getelementptr %toX[1024] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
  %inCluster = llvm.addrspacecast %toY : !llvm.ptr<3> to !llvm.ptr<7>
  %pRow = llvm.mul %i, %c8 : i32
  nvvm.cp.async.bulk.tensor.shared.cluster.global %toX, %x, %pFull, box[%c0, %pRow] {isCTAOnly = true} : !llvm.ptr<3>, !llvm.ptr loc("kernel.py":5:5)
  nvvm.cp.async.bulk.tensor.shared.cluster.global %inCluster, %y, %pFull, box[%c0, %pRow] : !llvm.ptr<7>, !llvm.ptr loc("kernel.py":6:5)
  %iNext = llvm.add %i, %c1 : i32
  %iMore = llvm.icmp "ult" %iNext, %c8 : i32
  llvm.cond_br %iMore, ^produce(%iNext : i32), ^end
^consumers:
  nvvm.setmaxregister increase 232
  "nvvm.barrier"(%c2, %all) <{operandSegmentSizes = array<i32: 1, 1, 0>}> : (i32, i32) -> () loc("kernel.py":7:5)
  %u = llvm.and %t, %c127 : i32
  %isStorer = llvm.icmp "eq" %u, %c0 : i32
  %half = llvm.mul %u, %c8 : i32
  llvm.br ^consume(%c0 : i32)
^consume(%j: i32):
  %cSlot = llvm.and %j, %c1 : i32
  %cPhase = llvm.lshr %j, %c1 : i32
  %cParity = llvm.and %cPhase, %c1 : i32
  %cFull = llvm.getelementptr %full[%cSlot] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
  %cEmpty = llvm.getelementptr %empty[%cSlot] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
  nvvm.mbarrier.try_wait.parity %cFull, %cParity, %c1 : !llvm.ptr<3>, i32, i32 loc("kernel.py":8:5)
  %cOffset = llvm.mul %cSlot, %slotBytes : i32
  %slot = llvm.getelementptr %shared[%cOffset] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
  %fromX = llvm.getelementptr %slot[%half] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
  %fromY = llvm.getelementptr %fromX[1024] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
  %vx = llvm.load %fromX : !llvm.ptr<3> -> vector<2xf32> loc("kernel.py":9:5)
  %vy = llvm.load %fromY : !llvm.ptr<3> -> vector<2xf32> loc("kernel.py":10:5)
  nvvm.mbarrier.arrive %cEmpty : !llvm.ptr<3> loc("kernel.py":11:5)
  %sum = llvm.fadd %vx, %vy : vector<2xf32>
  llvm.cond_br %isStorer, ^free, ^meet
^free:
  nvvm.cp.async.bulk.wait_group 0 {read} loc("kernel.py":12:5)
  llvm.br ^meet
^meet:
  "nvvm.barrier"(%c1, %group) <{operandSegmentSizes = array<i32: 1, 1, 0>}> : (i32, i32) -> () loc("kernel.py":13:5)
  %to = llvm.getelementptr %sums[%half] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
  llvm.store %sum, %to : vector<2xf32>, !llvm.ptr<3> loc("kernel.py":14:5)
  nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
  "nvvm.barrier"(%c1, %group) <{operandSegmentSizes = array<i32: 1, 1, 0>}> : (i32, i32) -> () loc("kernel.py":15:5)
  llvm.cond_br %isStorer, ^store, ^next
^store:
  %cRow = llvm.mul %j, %c8 : i32
  nvvm.cp.async.bulk.tensor.global.shared.cta %out, %sums, box[%c0, %cRow] : !llvm.ptr, !llvm.ptr<3> loc("kernel.py":16:5)
  nvvm.cp.async.bulk.commit.group
  llvm.br ^next
^next:
  %jNext = llvm.add %j, %c1 : i32
  %jMore = llvm.icmp "ult" %jNext, %c8 : i32
  llvm.cond_br %jMore, ^consume(%jNext : i32), ^last
^last:
  llvm.cond_br %isStorer, ^wait, ^end
^wait:
  nvvm.cp.async.bulk.wait_group 0 {read}
  llvm.br ^end
^end:
  llvm.return
}
)";

const std::string fence =
    "  nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}\n";
const std::string waitForRead =
    "  nvvm.cp.async.bulk.wait_group 0 {read} loc(\"kernel.py\":12:5)\n";
const std::string waitForEmpty = "  nvvm.mbarrier.try_wait.parity %pEmpty, %pParity, %c1 : "
                                 "!llvm.ptr<3>, i32, i32 loc(\"kernel.py\":3:5)\n";

/// In the generic form: a location would be taken for the attribute that may stand there.
const std::string meetAll = "  \"nvvm.barrier\"(%c2, %all) <{operandSegmentSizes = array<i32: 1, "
                            "1, 0>}> : (i32, i32) -> () "
                            "loc(\"kernel.py\":7:5)\n";

std::string replaced(std::string text, const std::string &from, const std::string &to) {
  size_t place = text.find(from);
  EXPECT_NE(place, std::string::npos) << from;
  return text.replace(place, from.size(), to);
}

constexpr uint32_t rows = 60, columns = 32;

/// Of 60 rows: the last box hangs over the end. All maps swizzle by 128 bytes.
kiln_emu_tensor_map mapOf(float *data) {
  kiln_emu_tensor_map map = {};
  map.magic = KILN_EMU_TENSOR_MAP;
  map.base = reinterpret_cast<char *>(data);
  map.strides[0] = columns * sizeof(float);
  map.extents[0] = columns;
  map.extents[1] = rows;
  map.box[0] = columns;
  map.box[1] = 8;
  map.rank = 2;
  map.element_bytes = 4;
  map.swizzle_bytes = 128;
  map.element = KILN_TENSOR_F32;
  return map;
}

struct Result {
  std::string errors;
  std::vector<std::string> reports;
  unsigned numWrong = 0;
  /// Of the kernel's lines, where that was asked for.
  uint64_t read = 0, written = 0, copies = 0, registers = 0;

  void add(const kiln_emulator_count &count) {
    read += count.global_read;
    written += count.global_written;
    if (std::string(count.kind) == "async copy" && std::string(count.file) == "kernel.py")
      copies += count.instructions;
    if (std::string(count.operation) == "nvvm.setmaxregister")
      registers += count.instructions;
  }
};

/// Of a kernel that adds x + y to `before`; outputs were 1.
Result run(const std::string &text, bool counts = false, float before = 0) {
  alignas(128) float x[rows * columns], y[rows * columns], out[rows * columns];
  for (uint32_t i = 0; i < rows * columns; ++i) {
    x[i] = float(i);
    y[i] = float(3 * i % 101);
    out[i] = 1;
  }
  EmulatedKernel kernel(text, "emu:sm_90a", 256);
  Result result;
  result.errors = kernel.errors;
  if (!kernel.errors.empty())
    return result;
  for (float *memory : {x, y, out})
    kernel.use(memory, sizeof x);
  alignas(64) kiln_emu_tensor_map maps[3] = {mapOf(x), mapOf(y), mapOf(out)};
  result.reports = kernel.run({&maps[0], &maps[1], &maps[2]}, 6144);
  for (uint32_t i = 0; i < rows * columns; ++i)
    result.numWrong += out[i] != x[i] + y[i] + before;
  if (counts)
    for (const kiln_emulator_count &count : kernel.count({&maps[0], &maps[1], &maps[2]}, 6144))
      result.add(count);
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

TEST(TensorBugs, TheRightKernelIsSilentAndCounted) {
  Result result = run(kernelText, /*counts=*/true);
  EXPECT_EQ(result.errors, "");
  EXPECT_EQ(result.numWrong, 0u);
  EXPECT_TRUE(result.reports.empty()) << result.reports[0];
  EXPECT_EQ(result.read, 2u * rows * columns * 4);
  EXPECT_EQ(result.written, 1u * rows * columns * 4);
  EXPECT_EQ(result.copies, 3u * 8 + 8) << "two loads and a store each time, and the wait";
  EXPECT_EQ(result.registers, 8u);
}

TEST(TensorBugs, Reductions) {
  std::string text = replaced(
      kernelText, "nvvm.cp.async.bulk.tensor.global.shared.cta %out, %sums, box[%c0, %cRow] :",
      "nvvm.cp.async.bulk.tensor.reduce %out, %sums, box[%c0, %cRow] "
      "{redKind = #nvvm.tma_redux_kind<add>} :");
  Result result = run(text, /*counts=*/false, /*before=*/1);
  EXPECT_EQ(result.errors, "");
  EXPECT_EQ(result.numWrong, 0u);
  EXPECT_TRUE(result.reports.empty()) << result.reports[0];
  EXPECT_EQ(run(replaced(text, "<add>", "<inc>")).errors,
            "kernel.py:16:5: 'nvvm.cp.async.bulk.tensor.reduce' that counts is not emulated\n");
}

TEST(TensorBugs, MissingFences) {
  EXPECT_TRUE(finds(run(replaced(kernelText, fence, "")), "kernel.py:16:5: ",
                    "expected fence.proxy.async by thread 128 between its store at kernel.py:14"));
  EXPECT_TRUE(finds(run(replaced(kernelText, "  nvvm.fence.mbarrier.init\n", "")),
                    "kernel.py:5:5: ", "expected fence.mbarrier_init or fence.proxy.async"));
}

TEST(TensorBugs, WaitsForTheWrongPhase) {
  Result result = run(replaced(kernelText, "%cFull, %cParity", "%cFull, %c1"));
  EXPECT_GT(result.numWrong, 0u);
  EXPECT_TRUE(finds(result, "kernel.py:9:5: ",
                    "the destination of an asynchronous copy of thread "
                    "0 at kernel.py:5"));
}

TEST(TensorBugs, SlotsThatAreReusedTooEarly) {
  Result result = run(replaced(kernelText, waitForEmpty, ""));
  EXPECT_TRUE(finds(result, "kernel.py:4:5: ", "more arrivals in a phase") ||
              finds(result, "kernel.py:5:5: ", "race on shared memory"));
  // The readers say so before they have read.
  std::string release = "  nvvm.mbarrier.arrive %cEmpty : !llvm.ptr<3> loc(\"kernel.py\":11:5)\n";
  std::string early = replaced(kernelText, release, "");
  early = replaced(early, "  %cOffset = ", release + "  %cOffset = ");
  EXPECT_TRUE(finds(run(early), "kernel.py:", "race on shared memory"));
}

TEST(TensorBugs, BytesThatDoNotMatch) {
  auto expecting = [](const std::string &bytes) {
    return run(replaced(kernelText, "%bytes = llvm.mlir.constant(2048",
                        "%bytes = llvm.mlir.constant(" + bytes));
  };
  EXPECT_TRUE(finds(expecting("1024"), "kernel.py:6:5: ", "got 1024 too few"));
  EXPECT_TRUE(finds(expecting("2056"), "kernel.py:",
                    "; the mbarrier at offset 4096 lacks 0 arrivals and 8 bytes of copies"));
}

TEST(TensorBugs, ASourceThatIsOverwrittenTooEarly) {
  Result result = run(replaced(kernelText, waitForRead, ""));
  EXPECT_GT(result.numWrong, 0u);
  EXPECT_TRUE(finds(result, "kernel.py:14:5: ",
                    "also the source of an asynchronous copy of thread "
                    "128 at kernel.py:16"));
}

TEST(TensorBugs, BarriersOfRoles) {
  // One group does not come; or only arrives, and goes on before the mbarriers are there.
  EXPECT_TRUE(finds(run(replaced(kernelText, meetAll, "")), "kernel.py:", "the mbarrier was"));
  Result result = run(
      replaced(kernelText, meetAll, "  nvvm.barrier.arrive id = %c2 number_of_threads = %all\n"));
  EXPECT_TRUE(finds(result, "kernel.py:8:5: ",
                    "the mbarrier was initialised by thread 0 at kernel.py:1 (nvvm.mbarrier.init) "
                    "with no barrier between"));
}

TEST(TensorBugs, ACopyToABlockThatThereIsNot) {
  const std::string load = "%inCluster, %y, %pFull, box[%c0, %pRow] ";
  std::string text = replaced(kernelText, load, load + "multicast_mask = %mask ");
  Result result =
      run(replaced(text, "  %toX =", "  %mask = llvm.mlir.constant(3 : i16) : i16\n  %toX ="));
  EXPECT_TRUE(finds(result, "kernel.py:6:5: ", "block 1 of a cluster of 1"));
}

TEST(TensorBugs, WhatIsNotEmulated) {
  const std::string load = "%inCluster, %y, %pFull, box[%c0, %pRow] ",
                    prefix = "kernel.py:6:5: 'nvvm.cp.async.bulk.tensor.shared.cluster.global' ";
  auto errorsWith = [&](const std::string &operands) {
    return run(replaced(kernelText, load, load + operands)).errors;
  };
  EXPECT_EQ(errorsWith("predicate = %isFirst "), prefix + "with a predicate is not emulated\n");
  EXPECT_EQ(errorsWith("{mode = #nvvm.tma_load_mode<tile_gather4>} ").find("kernel.py:6:5: "), 0u);
  EXPECT_NE(EmulatedKernel(kernelText, "emu:sm_80", 256).errors.find("not supported on emu:sm_80"),
            std::string::npos);
}

} // namespace
