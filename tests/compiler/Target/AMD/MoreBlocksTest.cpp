//===- MoreBlocksTest.cpp - Code of fewer registers, where it has more blocks -----===//

#include "compiler/Target/AMD/MoreBlocks.h"
#include "tests/compiler/Target/EveryScalarKernel.h"
#include "llvm/IR/Module.h"
#include <gtest/gtest.h>

using namespace kiln;
using namespace kiln::testing;

namespace {

/// Code of so many registers, and what is wrong with it.
TriedCode code(uint32_t registers, uint32_t instructions = 100, uint32_t waits = 10,
               uint32_t spills = 0) {
  TriedCode result;
  result.resources.registers = registers;
  result.resources.spillStoreBytes = spills;
  result.loop = MainLoop{true, instructions, 16, 20, 4, waits};
  return result;
}

/// The registers that blocks on gfx1100 are limited to, if code as it is is the first and with a
/// limit the second; "": none.
std::string limitOf(const TriedCode &free, const TriedCode &limited, uint32_t threads = 512) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module = parseIR("define void @f() {\n  ret void\n}\n", context);
  llvm::Function &kernel = *module->getFunction("f");
  auto trial = [&](const llvm::Module &tried) -> std::optional<TriedCode> {
    return tried.getFunction("f")->hasFnAttribute("amdgpu-num-vgpr") ? limited : free;
  };
  fitMoreBlocks(kernel, "hip:gfx1100", threads, trial);
  return kernel.getFnAttribute("amdgpu-num-vgpr").getValueAsString().str();
}

TEST(MoreBlocks, AFewRegistersLessAreABlockMore) {
  EXPECT_EQ(limitOf(code(199), code(171)), "192");
  EXPECT_EQ(limitOf(code(240), code(192)), "192");
}

TEST(MoreBlocks, ManyRegistersAreNotAskedFor) { EXPECT_EQ(limitOf(code(241), code(192)), ""); }

/// Five blocks of four waves are five of a SIMD, seven are seven.
TEST(MoreBlocks, ManyWavesAreEnough) {
  EXPECT_EQ(limitOf(code(244), code(238), 128), "240");
  EXPECT_EQ(limitOf(code(199), code(192), 128), "");
}

TEST(MoreBlocks, SpillsAreRefused) {
  EXPECT_EQ(limitOf(code(199), code(192, 100, 10, 4)), "");
  EXPECT_EQ(limitOf(code(199, 100, 10, 4), code(192)), "");
}

/// One block becomes two: an eighth more instructions.
TEST(MoreBlocks, LongerLoopsAreRefused) {
  EXPECT_EQ(limitOf(code(199), code(192, 112)), "192");
  EXPECT_EQ(limitOf(code(199), code(192, 113)), "");
}

TEST(MoreBlocks, MoreWaitsAreRefused) { EXPECT_EQ(limitOf(code(199), code(192, 100, 11)), ""); }

TEST(MoreBlocks, CodeThatTakesAsManyRegistersIsRefused) {
  EXPECT_EQ(limitOf(code(199), code(199)), "");
}

} // namespace
