// Kernels with one mistake each, beside the right kernel: the mistakes are found, with their place,
// and the right kernel is silent.

#include "tests/compiler/Emulator/EmulatedKernel.h"
#include <gtest/gtest.h>
#include <numeric>

using namespace kiln::testing;

namespace {

std::string replaced(std::string text, const std::string &from, const std::string &to) {
  size_t place = text.find(from);
  EXPECT_NE(place, std::string::npos) << from;
  return text.replace(place, from.size(), to);
}

/// out[i] = in[i ^ 1] for i < n, by way of shared memory; 128 threads.
const std::string nvidia = R"(
llvm.mlir.global external @kiln_shared() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<0 x i8>
llvm.func @kernel(%in: !llvm.ptr<1>, %out: !llvm.ptr<1>, %n: i32) {
  %one = llvm.mlir.constant(1 : i32) : i32
  %zero = llvm.mlir.constant(0.0 : f32) : f32
  %t = nvvm.read.ptx.sreg.tid.x : i32
  %ok = llvm.icmp "slt" %t, %n : i32
  %from = llvm.getelementptr %in[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
  %value = tilegpu.global_load %from predicate %ok other %zero : (!llvm.ptr<1>, i1, f32) -> f32 loc("kernel.py":7:9)
  %shared = llvm.mlir.addressof @kiln_shared : !llvm.ptr<3>
  %mine = llvm.getelementptr %shared[%t] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
  llvm.store %value, %mine : f32, !llvm.ptr<3> loc("kernel.py":8:5)
  nvvm.barrier0
  %other = llvm.xor %t, %one : i32
  %theirs = llvm.getelementptr %shared[%other] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
  %result = llvm.load %theirs : !llvm.ptr<3> -> f32 loc("kernel.py":9:5)
  %to = llvm.getelementptr %out[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
  tilegpu.global_store %to, %result predicate %ok : (!llvm.ptr<1>, f32, i1) -> () loc("kernel.py":10:5)
  llvm.return
}
)";

std::string amd() {
  std::string text = replaced(nvidia, "nvvm.read.ptx.sreg.tid.x", "rocdl.workitem.id.x");
  text = replaced(text, "nvvm.barrier0", "rocdl.barrier");
  text = replaced(text,
                  "external @kiln_shared() {addr_space = 3 : i32, alignment = 16 : i64} : "
                  "!llvm.array<0 x i8>",
                  "internal @kiln_shared() {addr_space = 3 : i32, alignment = 16 : i64} : "
                  "!llvm.array<512 x i8> {\n  %0 = llvm.mlir.undef : !llvm.array<512 x i8>\n"
                  "  llvm.return %0 : !llvm.array<512 x i8>\n}");
  return text;
}

struct Result {
  std::vector<std::string> reports;
  bool isRight = true;
};

Result run(const std::string &text, const std::string &target, int n = 100) {
  std::vector<float> in(n), out(n, -1);
  std::iota(in.begin(), in.end(), 1.f);
  EmulatedKernel kernel(text, target, 128);
  EXPECT_EQ(kernel.errors, "");
  kernel.use(in.data(), in.size() * sizeof(float));
  kernel.use(out.data(), out.size() * sizeof(float));
  void *inPointer = in.data(), *outPointer = out.data();
  bool isAMD = target.find("gfx") != std::string::npos;
  Result result;
  result.reports = kernel.run({&inPointer, &outPointer, &n}, isAMD ? 0 : 520);
  for (int i = 0; i < n; ++i)
    result.isRight &= out[i] == ((i ^ 1) < n ? in[i ^ 1] : 0);
  return result;
}

::testing::AssertionResult finds(const Result &result, const std::string &place,
                                 const std::string &what) {
  for (const std::string &report : result.reports)
    if (report.find(place) == 0 && report.find(what) != std::string::npos)
      return ::testing::AssertionSuccess();
  auto failure = ::testing::AssertionFailure() << "expected " << place << " … " << what << ", got";
  for (const std::string &report : result.reports)
    failure << "\n  " << report;
  return failure;
}

TEST(SeededBugs, TheRightKernelIsSilent) {
  for (const char *target : {"emu:sm_80", "emu:sm_90a"}) {
    Result result = run(nvidia, target);
    EXPECT_TRUE(result.isRight);
    EXPECT_TRUE(result.reports.empty()) << result.reports[0];
  }
  for (const char *target : {"emu:gfx942", "emu:gfx1100"}) {
    Result result = run(amd(), target);
    EXPECT_TRUE(result.isRight);
    EXPECT_TRUE(result.reports.empty()) << result.reports[0];
  }
}

TEST(SeededBugs, ARemovedBarrierIsARace) {
  EXPECT_TRUE(finds(run(replaced(nvidia, "  nvvm.barrier0\n", ""), "emu:sm_90a"),
                    "kernel.py:8:5: kernel, program (0, 0, 0), thread ", "race on shared memory"));
  EXPECT_TRUE(finds(run(replaced(amd(), "  rocdl.barrier\n", ""), "emu:gfx942"),
                    "kernel.py:8:5: ", "race on shared memory"));
}

TEST(SeededBugs, AWriteAfterAReadIsARace) {
  std::string load = "  %result = llvm.load %theirs : !llvm.ptr<3> -> f32 loc(\"kernel.py\":9:5)\n";
  std::string store = "  llvm.store %zero, %mine : f32, !llvm.ptr<3> loc(\"kernel.py\":11:5)\n";
  EXPECT_TRUE(finds(run(replaced(nvidia, load, load + store), "emu:sm_80"),
                    "kernel.py:11:5: ", "race on shared memory"));
  EXPECT_TRUE(
      run(replaced(nvidia, load, load + "  nvvm.barrier0\n" + store), "emu:sm_80").reports.empty());
}

TEST(SeededBugs, AnOffByOneMaskIsOutOfBounds) {
  std::string text = replaced(nvidia, "\"slt\"", "\"sle\"");
  Result result = run(text, "emu:sm_80");
  EXPECT_TRUE(finds(result, "kernel.py:7:9: kernel, program (0, 0, 0), thread 100: ",
                    "load from no registered allocation: 4 bytes at 0x"));
  EXPECT_TRUE(finds(result, "kernel.py:10:5: ", "store to no registered allocation"));
  EXPECT_EQ(result.reports.size(), 2u);
}

TEST(SeededBugs, AWrongSwizzleReadsWhatNobodyWrote) {
  std::string text = replaced(nvidia, "constant(1 : i32)", "constant(65 : i32)");
  EXPECT_FALSE(run(text, "emu:sm_80").isRight);
  text = replaced(nvidia, "llvm.getelementptr %shared[%t]", "llvm.getelementptr %shared[%one]");
  EXPECT_TRUE(finds(run(text, "emu:sm_80"), "kernel.py:9:5: ", "never written"));
}

TEST(SeededBugs, AMisalignedVectorIsFound) {
  std::string text =
      replaced(nvidia, "%from predicate %ok other %zero : (!llvm.ptr<1>, i1, f32) -> f32",
               "%from : (!llvm.ptr<1>) -> vector<4xf32>");
  text = replaced(text, "llvm.store %value, %mine : f32", "llvm.store %zero, %mine : f32");
  EXPECT_TRUE(finds(run(text, "emu:sm_80"), "kernel.py:7:9: kernel, program (0, 0, 0), thread 1: ",
                    "misaligned access: 16 bytes"));
}

TEST(SeededBugs, ADivergentBarrierIsFound) {
  std::string text = replaced(nvidia, "  nvvm.barrier0\n",
                              "  llvm.cond_br %ok, ^wait, ^go\n^wait:\n  nvvm.barrier0 "
                              "loc(\"kernel.py\":20:5)\n  llvm.br ^go\n^go:\n");
  EXPECT_TRUE(finds(run(text, "emu:sm_80"), "kernel.py:20:5: ",
                    "100 wait at nvvm.barrier0 at kernel.py:20, 28 have returned"));
}

/// The same with an asynchronous copy in place of the load and store, for full blocks.
std::string asynchronous() {
  size_t load = nvidia.find("  %value"), shared = nvidia.find("  %shared");
  std::string text = nvidia;
  text.erase(load, shared - load);
  size_t store = text.find("  llvm.store"), barrier = text.find("  nvvm.barrier0");
  text.replace(store, barrier - store,
               "  nvvm.cp.async.shared.global %mine, %from, 4, cache = ca : !llvm.ptr<3>, "
               "!llvm.ptr<1>\n  nvvm.cp.async.commit.group\n  nvvm.cp.async.wait.group 0\n");
  return text;
}

TEST(SeededBugs, ARemovedWaitGivesAWrongResultAndARace) {
  Result right = run(asynchronous(), "emu:sm_80", 128);
  EXPECT_TRUE(right.isRight);
  EXPECT_TRUE(right.reports.empty()) << right.reports[0];
  for (const char *wait : {"", "  nvvm.cp.async.wait.group 1\n"}) {
    Result wrong =
        run(replaced(asynchronous(), "  nvvm.cp.async.wait.group 0\n", wait), "emu:sm_80", 128);
    EXPECT_FALSE(wrong.isRight);
    EXPECT_TRUE(finds(wrong, "kernel.py:9:5: ", "the destination of an asynchronous copy"));
  }
}

/// The same, where an mbarrier tracks the copies and all threads wait for its first phase.
std::string tracked() {
  std::string text = replaced(asynchronous(), "  nvvm.cp.async.commit.group\n", "");
  text = replaced(text, "  nvvm.cp.async.wait.group 0\n  nvvm.barrier0\n",
                  "  nvvm.cp.async.mbarrier.arrive %bar {noinc = true} : !llvm.ptr<3>\n"
                  "  nvvm.mbarrier.try_wait.parity %bar, %parity, %one : !llvm.ptr<3>, i32, i32\n");
  return replaced(text, "  %mine", R"(  %count = llvm.mlir.constant(128 : i32) : i32
  %parity = llvm.mlir.constant(0 : i32) : i32
  %bar = llvm.getelementptr %shared[512] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
  %first = llvm.icmp "eq" %t, %parity : i32
  llvm.cond_br %first, ^init, ^go
^init:
  nvvm.mbarrier.init %bar, %count : !llvm.ptr<3>, i32
  llvm.br ^go
^go:
  nvvm.barrier0
  %mine)");
}

TEST(SeededBugs, TheWrongPhaseOfAnMbarrierIsFound) {
  Result right = run(tracked(), "emu:sm_90a", 128);
  EXPECT_TRUE(right.isRight);
  EXPECT_TRUE(right.reports.empty()) << right.reports[0];
  std::string text = replaced(tracked(), "%bar, %parity, %one", "%bar, %one, %one");
  Result wrong = run(text, "emu:sm_90a", 128);
  EXPECT_FALSE(wrong.isRight);
  EXPECT_TRUE(finds(wrong, "kernel.py:9:5: ", "never written"));
  // One arrival too few for the count: nobody goes on.
  text = replaced(tracked(), "constant(128 : i32)", "constant(129 : i32)");
  EXPECT_TRUE(finds(run(text, "emu:sm_90a", 128), "", "128 wait at nvvm.mbarrier.try_wait.parity"));
}

} // namespace
