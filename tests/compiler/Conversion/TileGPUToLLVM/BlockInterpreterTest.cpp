// The interpreter finds what it promises to find.

#include "tests/compiler/Conversion/TileGPUToLLVM/BlockInterpreter.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

namespace kiln::testing {
namespace {

/// Runs a kernel of one warp in the LLVM dialect, with one argument that points to 128 bytes.
std::string errorOf(const std::string &body) {
  mlir::MLIRContext context;
  context.loadDialect<mlir::LLVM::LLVMDialect, mlir::NVVM::NVVMDialect>();
  std::string source =
      "llvm.mlir.global external @kiln_shared() {addr_space = 3 : i32} : !llvm.array<0 x i8>\n"
      "llvm.func @k(%p: !llvm.ptr<1>) attributes {tile.num_warps = 1 : i32, tilegpu.shared_bytes = "
      "256 : i32} {\n%s = llvm.mlir.addressof @kiln_shared : !llvm.ptr<3>\n"
      "%t = nvvm.read.ptx.sreg.tid.x : i32\n%g = llvm.getelementptr %s[%t] : (!llvm.ptr<3>, i32) "
      "-> "
      "!llvm.ptr<3>, i32\n%one = llvm.mlir.constant(1 : i32) : i32\n%n = llvm.xor %t, %one : i32\n"
      "%h = llvm.getelementptr %s[%n] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32\n"
      "%q = llvm.getelementptr %p[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32\n" +
      body + "\nllvm.return\n}\n";
  auto module = mlir::parseSourceString<mlir::ModuleOp>(source, &context);
  if (!module)
    return "does not parse";
  TargetInfo target = llvm::cantFail(parseTarget("cuda:sm_80"));
  BlockInterpreter interpreter(*module, target);
  alignas(16) static int32_t memory[32];
  interpreter.registerBuffer(memory, sizeof(memory));
  return interpreter.run({uint64_t(reinterpret_cast<uintptr_t>(memory))}, {1, 1, 1});
}

const char *const store = "llvm.store %t, %g : i32, !llvm.ptr<3>\n";
const char *const loadNeighbour = "%v = llvm.load %h : !llvm.ptr<3> -> i32\n";

TEST(BlockInterpreter, AcceptsABarrierBetweenWriteAndRead) {
  EXPECT_EQ(errorOf(std::string(store) + "nvvm.barrier0\n" + loadNeighbour +
                    "llvm.store %v, %q : i32, !llvm.ptr<1>"),
            "");
}
TEST(BlockInterpreter, FindsAMissingBarrier) {
  EXPECT_NE(errorOf(std::string(store) + loadNeighbour).find("no barrier between"),
            std::string::npos);
}
TEST(BlockInterpreter, FindsAWriteAfterARead) {
  EXPECT_NE(errorOf(std::string(store) + "nvvm.barrier0\n" + loadNeighbour + store)
                .find("another thread reads"),
            std::string::npos);
}
TEST(BlockInterpreter, FindsAReadOfWhatNobodyWrote) {
  EXPECT_NE(errorOf(loadNeighbour).find("nobody wrote"), std::string::npos);
}
TEST(BlockInterpreter, FindsAnAccessOutside) {
  EXPECT_NE(errorOf("%far = llvm.getelementptr %q[1] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32\n"
                    "llvm.store %t, %far : i32, !llvm.ptr<1>")
                .find("outside the registered buffers"),
            std::string::npos);
}
TEST(BlockInterpreter, FindsAMisalignedAccess) {
  EXPECT_NE(errorOf("%odd = llvm.getelementptr %p[2] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8\n"
                    "llvm.store %t, %odd : i32, !llvm.ptr<1>")
                .find("misaligned"),
            std::string::npos);
}
TEST(BlockInterpreter, FindsADivergentBarrier) {
  EXPECT_NE(errorOf("%c = llvm.icmp \"eq\" %t, %one : i32\nllvm.cond_br %c, ^a, ^b\n^a:\n"
                    "nvvm.barrier0\nllvm.br ^b\n^b:")
                .find("not reached by all threads"),
            std::string::npos);
}

} // namespace
} // namespace kiln::testing
