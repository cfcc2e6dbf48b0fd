// ptxas takes the text of every product of warp groups, and keeps the accumulators of a loop in
// flight: it does not wait behind each instruction.

#include "compiler/Conversion/TileGPUToLLVM/TileGPUToLLVM.h"
#include "compiler/Dialect/TileGPU/TileGPU.h"
#include "compiler/Target/Emission/Emit.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
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

/// "%c0, %c1, …": `prefix`, the number, `suffix`.
std::string list(const std::string &prefix, unsigned count, const std::string &suffix = "") {
  std::string text;
  for (unsigned i = 0; i < count; ++i)
    text += (i ? ", " : "") + prefix + std::to_string(i) + suffix;
  return text;
}

/// "f32, f32, …"
std::string repeated(const std::string &type, unsigned count) {
  return llvm::join(std::vector<std::string>(count, type), ", ");
}

/// One line for each number, which stands for N.
std::string lines(const std::string &line, unsigned count) {
  std::string text;
  for (unsigned i = 0; i < count; ++i)
    text += llvm::join(llvm::split(line, 'N'), std::to_string(i)) + "\n";
  return text;
}

/// A loop of products of two steps, one of which stays in flight from round to round. Of the
/// thread's part of memory the first words are A's registers, and all words become the
/// accumulators.
constexpr const char *loop = R"(
llvm.func @kernel(%out: !llvm.ptr<1>, %x: i64, %y: i64, %n: i32)
    attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
  %zero = llvm.mlir.zero : <WORD>
  %i0 = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %t = nvvm.read.ptx.sreg.tid.x : i32
  %to = llvm.getelementptr %out[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, !llvm.array<512 x i8>
<LOADS>
  llvm.br ^loop(%i0, <ZEROS> : i32, <WORDS>)
^loop(%i: i32, <ARGUMENTS>):
  %more = llvm.icmp "slt" %i, %n : i32
  llvm.cond_br %more, ^body, ^end
^body:
  %adds = llvm.icmp "ne" %i, %i0 : i32
  %d:<COUNT> = tilegpu.wgmma a(<A>) b(%x, %y) into(<CARRIED>) if %adds {<ATTRIBUTES>}
      : (<TYPES_OF_A>, i64, i64, <WORDS>, i1) -> (<WORDS>)
  nvvm.wgmma.commit.group.sync.aligned
  %w:<COUNT> = tilegpu.wgmma_wait <PRODUCTS> pending 1 : <WORDS>
  %next = llvm.add %i, %one : i32
  llvm.br ^loop(%next, <WAITED> : i32, <WORDS>)
^end:
  %r:<COUNT> = tilegpu.wgmma_wait <CARRIED> pending 0 : <WORDS>
<STORES>
  llvm.return
}
)";

std::string loopText(const Type &type, unsigned n, bool hasRegistersOfA, bool isTransposed) {
  std::string word = type.word, registerOfA = type.registerOfA;
  unsigned count = n / (StringRef(type.accumulator) == "f16" ? 4 : 2);
  std::string attributes = "n = " + std::to_string(n) + " : i32, operand = \"" + type.operand +
                           "\", accumulator = \"" + type.accumulator + "\"";
  if (isTransposed)
    attributes += hasRegistersOfA ? ", transpose_b" : ", transpose_a, transpose_b";
  std::string at = " = llvm.getelementptr %to[N] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32\n";
  const std::pair<StringRef, std::string> parts[] = {
      {"<WORD>", word},
      {"<WORDS>", repeated(word, count)},
      {"<COUNT>", std::to_string(count)},
      {"<ATTRIBUTES>", attributes},
      {"<A>", hasRegistersOfA ? list("%a", 8) : "%x, %y"},
      {"<TYPES_OF_A>", hasRegistersOfA ? repeated(registerOfA, 8) : "i64, i64"},
      {"<LOADS>",
       lines("  %qN" + at + "  %aN = llvm.load %qN : !llvm.ptr<1> -> " + registerOfA, 8)},
      {"<ZEROS>", repeated("%zero", count)},
      {"<ARGUMENTS>", list("%c", count, ": " + word)},
      {"<CARRIED>", list("%c", count)},
      {"<PRODUCTS>", list("%d#", count)},
      {"<WAITED>", list("%w#", count)},
      {"<STORES>",
       lines("  %pN" + at + "  tilegpu.global_store %pN, %r#N : (!llvm.ptr<1>, " + word + ") -> ()",
             count)}};
  std::string text = loop;
  for (const auto &[name, value] : parts)
    for (size_t place; (place = text.find(name)) != std::string::npos;)
      text.replace(place, name.size(), value);
  return text;
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
  llvm::Expected<DeviceBinary> binary = emitDeviceBinary(*module, facts, target, EmitOptions());
  ASSERT_TRUE(bool(binary)) << llvm::toString(binary.takeError()) << "\n" << text;
  // ptxas says so if it waits for each product.
  EXPECT_EQ(binary->warnings, std::vector<std::string>()) << text;
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
