// ptxas takes the text of every product of warp groups, and keeps the accumulators of a loop in
// flight: it does not wait behind each instruction.

#include "compiler/Conversion/TileGPUToLLVM/TileGPUToLLVM.h"
#include "compiler/Dialect/TileGPU/TileGPU.h"
#include "compiler/Target/Emit.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>

using namespace mlir;

namespace kiln {
namespace {

struct Type {
  const char *operand, *accumulator, *registerOfA, *word;
  bool mayTranspose;
};
constexpr Type types[] = {
    {"f16", "f32", "vector<2xf16>", "f32", true},
    {"f16", "f16", "vector<2xf16>", "vector<2xf16>", true},
    {"bf16", "f32", "i32", "f32", true},
    {"tf32", "f32", "i32", "f32", false},
    {"s8", "s32", "i32", "i32", false},
    {"u8", "s32", "i32", "i32", false},
    {"e4m3", "f32", "i32", "f32", false},
    {"e4m3", "f16", "i32", "vector<2xf16>", false},
    {"e5m2", "f32", "i32", "f32", false},
};

/// "%c0, %c1, …" or "f32, f32, …".
std::string list(const std::string &name, unsigned count, bool isNumbered = true) {
  std::string text;
  for (unsigned i = 0; i < count; ++i)
    text += (i ? ", " : "") + name + (isNumbered ? std::to_string(i) : "");
  return text;
}

/// A loop of products of two steps, one of which stays in flight from round to round.
std::string loopText(const Type &type, unsigned n, bool hasRegistersOfA, bool isTransposed) {
  std::string word = type.word, registerOfA = type.registerOfA;
  unsigned count = n / (std::string(type.accumulator) == "f16" ? 4 : 2);
  std::string words = list(word, count, false), results;
  for (unsigned i = 0; i < count; ++i)
    results += (i ? ", %d#" : "%d#") + std::to_string(i);
  std::string arguments, waited, loads, stores;
  for (unsigned i = 0; i < 8; ++i) {
    std::string number = std::to_string(i);
    loads += "  %q" + number + " = llvm.getelementptr %to[" + number +
             "] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32\n  %a" + number + " = llvm.load %q" + number +
             " : !llvm.ptr<1> -> " + registerOfA + "\n";
  }
  for (unsigned i = 0; i < count; ++i) {
    std::string number = std::to_string(i);
    arguments += (i ? ", %c" : "%c") + number + ": " + word;
    waited += (i ? ", %w#" : "%w#") + number;
    stores += "  %p" + number + " = llvm.getelementptr %to[" + number +
              "] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32\n  tilegpu.global_store %p" + number +
              ", %r#" + number + " : (!llvm.ptr<1>, " + word + ") -> ()\n";
  }
  std::string a = "%x, %y", typesOfA = "i64, i64", size = std::to_string(count);
  if (hasRegistersOfA) {
    a = list("%a", 8);
    typesOfA = list(registerOfA, 8, false);
  }
  return "llvm.func @kernel(%out: !llvm.ptr<1>, %x: i64, %y: i64, %n: i32) attributes "
         "{nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {\n" +
         "  %zero = llvm.mlir.zero : " + word +
         "\n  %i0 = llvm.mlir.constant(0 : i32) : i32\n  %one = llvm.mlir.constant(1 : i32) : i32\n"
         "  %t = nvvm.read.ptx.sreg.tid.x : i32\n"
         "  %to = llvm.getelementptr %out[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, "
         "!llvm.array<" +
         size + " x i32>\n" + loads + "  llvm.br ^loop(%i0, " + list("%zero", count, false) +
         " : i32, " + words + ")\n" + "^loop(%i: i32, " + arguments +
         "):\n  %more = llvm.icmp \"slt\" %i, %n : i32\n" +
         "  llvm.cond_br %more, ^body, ^end\n^body:\n  %adds = llvm.icmp \"ne\" %i, %i0 : i32\n" +
         "  %d:" + size + " = tilegpu.wgmma a(" + a + ") b(%x, %y) into(" + list("%c", count) +
         ") if %adds {n = " + std::to_string(n) + " : i32, operand = \"" + type.operand +
         "\", accumulator = \"" + type.accumulator + "\"" +
         (isTransposed ? hasRegistersOfA ? ", transpose_b" : ", transpose_a, transpose_b" : "") +
         "} : (" + typesOfA + ", i64, i64, " + words + ", i1) -> (" + words +
         ")\n  nvvm.wgmma.commit.group.sync.aligned\n" + "  %w:" + size + " = tilegpu.wgmma_wait " +
         results + " pending 1 : " + words + "\n  %next = llvm.add %i, %one : i32\n" +
         "  llvm.br ^loop(%next, " + waited + " : i32, " + words + ")\n^end:\n" + "  %r:" + size +
         " = tilegpu.wgmma_wait " + list("%c", count) + " pending 0 : " + words + "\n" + stores +
         "  llvm.return\n}\n";
}

void assemble(const std::string &text) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<LLVM::LLVMDialect, NVVM::NVVMDialect, tile::TileDialect,
                      tilegpu::TileGPUDialect>();
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  ASSERT_TRUE(module) << text;
  TargetInfo target = llvm::cantFail(parseTarget("cuda:sm_90a"));
  ASSERT_TRUE(succeeded(expandTargetOperations(*module, target)));
  KernelFacts facts;
  facts.symbol = "kernel";
  EmitOptions options;
  options.serializedMatrixIsError = true;
  llvm::Expected<DeviceBinary> binary = emitDeviceBinary(*module, facts, target, options);
  ASSERT_TRUE(bool(binary)) << llvm::toString(binary.takeError()) << "\n" << text;
  EXPECT_EQ(binary->resources.spillStoreBytes, 0u);
}

TEST(WgmmaAssembly, EveryTypeAndFormOfA) {
  for (const Type &type : types)
    for (bool hasRegistersOfA : {false, true})
      for (unsigned n : {8u, 64u, 256u}) {
        SCOPED_TRACE(std::string(type.operand) + " in " + type.accumulator + ", n " +
                     std::to_string(n) + (hasRegistersOfA ? ", registers" : ""));
        assemble(loopText(type, n, hasRegistersOfA, /*isTransposed=*/false));
      }
}

TEST(WgmmaAssembly, TransposedMatrices) {
  for (const Type &type : types)
    for (bool hasRegistersOfA : {false, true})
      if (type.mayTranspose)
        assemble(loopText(type, 64, hasRegistersOfA, /*isTransposed=*/true));
}

} // namespace
} // namespace kiln
