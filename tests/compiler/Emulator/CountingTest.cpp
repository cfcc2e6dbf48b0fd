// What is counted of kernels in target operations: by class and by line, against numbers derived by
// hand.

#include "tests/compiler/Emulator/EmulatedKernel.h"
#include <gtest/gtest.h>

using namespace kiln::testing;

namespace {

struct Sums {
  uint64_t warps = 0, threads = 0, flops = 0, divergent = 0;
  bool operator==(const Sums &other) const {
    return warps == other.warps && threads == other.threads && flops == other.flops &&
           divergent == other.divergent;
  }
};

void PrintTo(const Sums &sums, std::ostream *os) {
  *os << sums.warps << " warp, " << sums.threads << " thread instructions, " << sums.flops
      << " FLOPs, " << sums.divergent << " divergent";
}

/// Of the instructions of this class in this line.
Sums sumsOf(const std::vector<kiln_emulator_count> &counts, uint32_t line,
            const std::string &kind) {
  Sums sums;
  for (const kiln_emulator_count &count : counts)
    if (count.line == line && count.kind == kind) {
      sums.warps += count.instructions;
      sums.threads += count.thread_instructions;
      sums.flops += count.flops;
      sums.divergent += count.divergent_branches;
    }
  return sums;
}

/// Places at which instructions were counted.
size_t placesIn(const std::vector<kiln_emulator_count> &counts) {
  size_t number = 0;
  for (const kiln_emulator_count &count : counts)
    number += count.instructions != 0;
  return number;
}

TEST(Counting, ClassesAndFlopsOfArithmetic) {
  EmulatedKernel kernel(R"(
llvm.func @kernel(%p: !llvm.ptr<1>, %n: i32) {
  %t = nvvm.read.ptx.sreg.tid.x : i32 loc("k.py":1:1)
  %a = llvm.add %t, %n : i32 loc("k.py":2:1)
  %m = llvm.mul %a, %t : i32 loc("k.py":2:9)
  %f = llvm.sitofp %m : i32 to f32 loc("k.py":3:1)
  %h = llvm.fptrunc %f : f32 to f16 loc("k.py":3:9)
  %s = llvm.fadd %f, %f : f32 loc("k.py":4:1)
  %u = llvm.intr.fma(%s, %f, %s) : (f32, f32, f32) -> f32 loc("k.py":5:1)
  %r = llvm.intr.sqrt(%u) : (f32) -> f32 loc("k.py":6:1)
  %e = llvm.call_intrinsic "llvm.nvvm.ex2.approx.f"(%r) : (f32) -> f32 loc("k.py":6:9)
  %c = llvm.fcmp "olt" %e, %s : f32 loc("k.py":7:1)
  %w = llvm.select %c, %e, %s : i1, f32 loc("k.py":7:9)
  %q = llvm.fmul %h, %h : f16 loc("k.py":8:1)
  %d = llvm.fpext %w : f32 to f64 loc("k.py":9:1)
  %v = llvm.fdiv %d, %d : f64 loc("k.py":9:9)
  %y = llvm.fneg %v : f64 loc("k.py":9:17)
  %at = llvm.getelementptr %p[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f64 loc("k.py":10:1)
  %by = llvm.getelementptr %at[1024] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8 loc("k.py":10:1)
  %bits = llvm.bitcast %q : f16 to i16 loc("k.py":10:1)
  tilegpu.global_store %at, %y : (!llvm.ptr<1>, f64) -> () loc("k.py":11:1)
  tilegpu.global_store %by, %bits : (!llvm.ptr<1>, i16) -> () loc("k.py":11:1)
  %unused = llvm.add %a, %a : i32 loc("k.py":12:1)
  %unused2 = llvm.add %unused, %a : i32 loc("k.py":12:1)
  llvm.return loc("k.py":13:1)
})",
                        "emu:sm_80", 48);
  ASSERT_EQ(kernel.errors, "");
  std::vector<char> memory(4096);
  void *pointer = memory.data();
  int32_t n = 3;
  std::vector<kiln_emulator_count> counts = kernel.count({&pointer, &n}, 0);
  // 48 threads are two warps.
  EXPECT_EQ(sumsOf(counts, 1, "other"), (Sums{2, 48, 0}));
  EXPECT_EQ(sumsOf(counts, 2, "integer"), (Sums{4, 96, 0}));
  EXPECT_EQ(sumsOf(counts, 3, "conversion"), (Sums{4, 96, 0}));
  EXPECT_EQ(sumsOf(counts, 4, "float32"), (Sums{2, 48, 48}));
  EXPECT_EQ(sumsOf(counts, 5, "float32"), (Sums{2, 48, 96})) << "an fma is two";
  EXPECT_EQ(sumsOf(counts, 6, "special"), (Sums{4, 96, 96}));
  EXPECT_EQ(sumsOf(counts, 7, "select"), (Sums{4, 96, 0}));
  EXPECT_EQ(sumsOf(counts, 8, "float16"), (Sums{2, 48, 48}));
  EXPECT_EQ(sumsOf(counts, 9, "conversion"), (Sums{2, 48, 0}));
  EXPECT_EQ(sumsOf(counts, 9, "float64"), (Sums{4, 96, 48})) << "a sign costs nothing";
  EXPECT_EQ(sumsOf(counts, 10, "address"), (Sums{2, 48, 0})) << "a constant offset is the access's";
  EXPECT_EQ(sumsOf(counts, 11, "global store"), (Sums{4, 96, 0}));
  EXPECT_EQ(placesIn(counts), 17u) << "what nobody uses is not counted";
}

TEST(Counting, VectorsCountByRegisters) {
  EmulatedKernel kernel(R"(
llvm.func @kernel(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) {
  %x = tilegpu.global_load %p : (!llvm.ptr<1>) -> vector<4xf16> loc("k.py":1:1)
  %y = llvm.fadd %x, %x : vector<4xf16> loc("k.py":2:1)
  %z = llvm.fpext %y : vector<4xf16> to vector<4xf32> loc("k.py":3:1)
  %w = llvm.fmul %z, %z : vector<4xf32> loc("k.py":4:1)
  tilegpu.global_store %q, %w : (!llvm.ptr<1>, vector<4xf32>) -> () loc("k.py":5:1)
  llvm.return
})",
                        "emu:sm_80", 32);
  ASSERT_EQ(kernel.errors, "");
  alignas(16) char from[16] = {}, to[16] = {};
  void *source = from, *target = to;
  std::vector<kiln_emulator_count> counts = kernel.count({&source, &target}, 0);
  EXPECT_EQ(sumsOf(counts, 1, "global load"), (Sums{1, 32, 0}));
  EXPECT_EQ(sumsOf(counts, 2, "float16"), (Sums{2, 64, 4 * 32}));
  EXPECT_EQ(sumsOf(counts, 3, "conversion"), (Sums{4, 128, 0}));
  EXPECT_EQ(sumsOf(counts, 4, "float32"), (Sums{4, 128, 4 * 32}));
}

const char divergent[] = R"(
llvm.func @kernel(%p: !llvm.ptr<1>, %n: i32) {
  %one = llvm.mlir.constant(1 : i32) : i32
  %half = llvm.mlir.constant(0.5 : f32) : f32
  %zero = llvm.mlir.constant(0.0 : f32) : f32
  %t = nvvm.read.ptx.sreg.tid.x : i32 loc("k.py":1:1)
  %low = llvm.icmp "ult" %t, %n : i32 loc("k.py":2:1)
  llvm.cond_br %low, ^then, ^else loc("k.py":2:1)
^then:
  %a = llvm.fadd %half, %half : f32 loc("k.py":3:1)
  llvm.br ^join(%a : f32)
^else:
  %b = llvm.fmul %half, %half : f32 loc("k.py":4:1)
  %c = llvm.fmul %b, %half : f32 loc("k.py":4:9)
  llvm.br ^join(%c : f32)
^join(%v: f32):
  %at = llvm.getelementptr %p[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32 loc("k.py":5:1)
  tilegpu.global_store %at, %v : (!llvm.ptr<1>, f32) -> () loc("k.py":5:1)
  llvm.return
})";

TEST(Counting, DivergentBranches) {
  EmulatedKernel kernel(divergent, "emu:sm_90a", 96);
  ASSERT_EQ(kernel.errors, "");
  std::vector<float> memory(96);
  void *pointer = memory.data();
  int32_t n = 40; // the first warp one way, the second both, the third the other
  std::vector<kiln_emulator_count> counts = kernel.count({&pointer, &n}, 0);
  EXPECT_EQ(sumsOf(counts, 2, "branch"), (Sums{3, 96, 0, 1}));
  EXPECT_EQ(sumsOf(counts, 3, "float32"), (Sums{2, 40, 40}));
  EXPECT_EQ(sumsOf(counts, 4, "float32"), (Sums{4, 2 * 56, 2 * 56}));
  EXPECT_EQ(sumsOf(counts, 5, "global store"), (Sums{3, 96, 0})) << "together again";
}

TEST(Counting, LoopsCountTheirRounds) {
  EmulatedKernel kernel(R"(
llvm.func @kernel(%p: !llvm.ptr<1>) {
  %zero = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %t = nvvm.read.ptx.sreg.tid.x : i32 loc("k.py":1:1)
  llvm.br ^head(%zero : i32)
^head(%i: i32):
  %more = llvm.icmp "ult" %i, %t : i32 loc("k.py":2:1)
  llvm.cond_br %more, ^body, ^exit loc("k.py":2:1)
^body:
  %next = llvm.add %i, %one : i32 loc("k.py":3:1)
  llvm.br ^head(%next : i32)
^exit:
  %at = llvm.getelementptr %p[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32 loc("k.py":4:1)
  tilegpu.global_store %at, %i : (!llvm.ptr<1>, i32) -> () loc("k.py":4:1)
  llvm.return
})",
                        "emu:sm_80", 64);
  ASSERT_EQ(kernel.errors, "");
  std::vector<int32_t> memory(64);
  void *pointer = memory.data();
  std::vector<kiln_emulator_count> counts = kernel.count({&pointer}, 0);
  // Lane l takes l rounds, a warp as many as its last lane: 31 and 63. In the second the first 32
  // rounds are of all lanes.
  uint64_t threads = 63 * 64 / 2;
  EXPECT_EQ(sumsOf(counts, 3, "integer"), (Sums{31 + 63, threads, 0}));
  EXPECT_EQ(sumsOf(counts, 2, "branch"), (Sums{32 + 64, threads + 64, 0, 31 + 31}));
  EXPECT_EQ(sumsOf(counts, 4, "global store"), (Sums{2, 64, 0}));
  EXPECT_EQ(memory[63], 63);
}

TEST(Counting, HelpersHaveTheirCallers) {
  EmulatedKernel kernel(R"(
#inner = loc("helper.py":3:5)
#call = loc("kernel.py":9:7)
#outer = loc("kernel.py":20:1)
#both = loc(callsite(#inner at #call))
#once = loc(callsite(#inner at #outer))
#twice = loc(callsite(#both at #outer))
llvm.func @kernel(%p: !llvm.ptr<1>, %x: f32) {
  %a = llvm.fadd %x, %x : f32 loc(#once)
  %b = llvm.fadd %a, %x : f32 loc(#twice)
  %c = llvm.fadd %b, %x : f32 loc(#twice)
  tilegpu.global_store %p, %c : (!llvm.ptr<1>, f32) -> () loc(#outer)
  llvm.return
})",
                        "emu:sm_80", 32);
  ASSERT_EQ(kernel.errors, "");
  float x = 1, result = 0;
  void *pointer = &result;
  std::vector<std::string> chains;
  for (const kiln_emulator_count &count : kernel.count({&pointer, &x}, 0)) {
    std::string chain = std::to_string(count.instructions) + " " + count.file;
    chain += ":" + std::to_string(count.line);
    for (const kiln_emulator_position *caller = count.caller; caller; caller = caller->caller)
      chain += std::string(" < ") + caller->file + ":" + std::to_string(caller->line);
    chains.push_back(chain);
  }
  EXPECT_EQ(chains, (std::vector<std::string>{
                        "1 helper.py:3 < kernel.py:20",
                        "2 helper.py:3 < kernel.py:9 < kernel.py:20",
                        "1 kernel.py:20",
                    }));
  EXPECT_EQ(result, 4);
}

/// A transposition of 32 x 32 words through shared memory, where word (r, c) lies at r * 32 + c,
/// or, swizzled, at r * 32 + (c ^ r). One warp.
std::string transposition(bool isSwizzled) {
  std::string text = R"(
llvm.mlir.global external @kiln_shared() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<0 x i8>
llvm.func @kernel(%in: !llvm.ptr<1>, %out: !llvm.ptr<1>) {
  %t = nvvm.read.ptx.sreg.tid.x : i32
  %shared = llvm.mlir.addressof @kiln_shared : !llvm.ptr<3>
  %five = llvm.mlir.constant(5 : i32) : i32
)";
  for (const std::string direction : {"write", "read"}) {
    if (direction == "read")
      text += "  nvvm.barrier0\n";
    for (int row = 0; row < 32; ++row) {
      // Writing, the thread's column of this row; reading, the thread's row at this column.
      auto name = [&](const char *value) {
        return "%" + direction + "_" + value + std::to_string(row);
      };
      std::string number = name("n"), r = direction == "write" ? number : "%t",
                  c = direction == "write" ? "%t" : number;
      text += "  " + number + " = llvm.mlir.constant(" + std::to_string(row) + " : i32) : i32\n";
      text += "  " + name("x") + " = llvm." +
              (isSwizzled ? "xor " + c + ", " + r : "or " + c + ", " + c) + " : i32\n";
      text += "  " + name("b") + " = llvm.shl " + r + ", %five : i32\n";
      text += "  " + name("i") + " = llvm.add " + name("b") + ", " + name("x") + " : i32\n";
      text += "  " + name("s") + " = llvm.getelementptr %shared[" + name("i") +
              "] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32\n";
      text += "  " + name("l") + " = llvm.shl " + number + ", %five : i32\n";
      text += "  " + name("j") + " = llvm.add " + name("l") + ", %t : i32\n";
      text += "  " + name("g") + " = llvm.getelementptr " +
              (direction == "write" ? "%in[" : "%out[") + name("j") +
              "] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32\n";
      if (direction == "write")
        text += "  " + name("v") + " = tilegpu.global_load " + name("g") +
                " : (!llvm.ptr<1>) -> i32 loc(\"k.py\":1:1)\n  llvm.store " + name("v") + ", " +
                name("s") + " : i32, !llvm.ptr<3> loc(\"k.py\":2:1)\n";
      else
        text += "  " + name("v") + " = llvm.load " + name("s") +
                " : !llvm.ptr<3> -> i32 loc(\"k.py\":3:1)\n  tilegpu.global_store " + name("g") +
                ", " + name("v") + " : (!llvm.ptr<1>, i32) -> () loc(\"k.py\":4:1)\n";
    }
  }
  return text + "  llvm.return\n}\n";
}

TEST(Counting, BankConflictsOfATranspositionWithAndWithoutSwizzle) {
  for (bool isSwizzled : {false, true}) {
    EmulatedKernel kernel(transposition(isSwizzled), "emu:sm_80", 32);
    ASSERT_EQ(kernel.errors, "");
    alignas(128) static int32_t in[1024], out[1024];
    for (int i = 0; i < 1024; ++i)
      in[i] = i;
    void *pointers[] = {in, out};
    uint64_t writes = 0, reads = 0, sectors = 0;
    for (const kiln_emulator_count &count : kernel.count({&pointers[0], &pointers[1]}, sizeof in)) {
      writes += count.line == 2 ? count.wavefronts : 0;
      reads += count.line == 3 ? count.wavefronts : 0;
      sectors += count.sectors;
    }
    EXPECT_EQ(writes, 32u);
    EXPECT_EQ(reads, isSwizzled ? 32u : 32u * 32) << "a column lies in one bank";
    EXPECT_EQ(sectors, 2u * 4096 / 32);
    EXPECT_EQ(out[1 * 32 + 5], in[5 * 32 + 1]);
  }
}

TEST(Counting, WithoutCountingNothingIsCounted) {
  EmulatedKernel kernel(divergent, "emu:sm_80", 32);
  std::vector<float> memory(32);
  void *pointer = memory.data();
  int32_t n = 40;
  kernel.run({&pointer, &n}, 0);
  EXPECT_TRUE(kernel.counts.empty());
}

} // namespace
