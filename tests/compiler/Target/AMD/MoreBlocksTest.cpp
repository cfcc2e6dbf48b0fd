//===- MoreBlocksTest.cpp - Code of fewer registers, where it has more blocks -----===//

#include "compiler/Target/AMD/MoreBlocks.h"
#include "tests/compiler/Target/EveryScalarKernel.h"
#include "llvm/IR/Module.h"
#include <gtest/gtest.h>

using namespace kiln;
using namespace kiln::testing;

namespace {

/// Code of so many registers, and what is wrong with it.
DeviceBinary code(uint32_t registers, uint32_t instructions = 100, uint32_t waits = 10,
                  uint32_t spills = 0) {
  DeviceBinary result;
  result.resources.registers = registers;
  result.resources.spillStoreBytes = spills;
  result.mainLoop = MainLoop{true, instructions, 16, 20, 4, waits};
  return result;
}

/// As long as the first by an estimate, and a half longer.
constexpr uint64_t asLong = 100, longer = 150;

/// What a kernel is limited to, if code as it is is the first and each after that the second; "":
/// nothing, or it stays the first.
std::string limitOf(DeviceBinary first, DeviceBinary second, uint32_t threads = 512,
                    llvm::StringRef name = "hip:gfx1100",
                    llvm::StringRef attribute = "amdgpu-num-vgpr", uint64_t cycles = longer) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module = parseIR("define void @f() {\n  ret void\n}\n", context);
  llvm::Function &kernel = *module->getFunction("f");
  first.launch.threadsPerBlock = second.launch.threadsPerBlock = threads;
  first.target = second.target = name.str();
  second.symbol = "second";
  first.cycles = asLong;
  second.cycles = cycles;
  DeviceBinary taken =
      fitMoreBlocks(first, kernel, target(name), [&] { return std::optional(second); });
  return taken.symbol.empty() ? "" : kernel.getFnAttribute(attribute).getValueAsString().str();
}

std::string wavesOnCdna(DeviceBinary first, DeviceBinary second, uint64_t cycles = longer) {
  return limitOf(std::move(first), std::move(second), 256, "hip:gfx942", "amdgpu-waves-per-eu",
                 cycles);
}

DeviceBinary withoutLoop(DeviceBinary code) {
  code.mainLoop.reset();
  return code;
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

/// Three blocks of four waves are three of a SIMD; four of them for a 24th more instructions.
TEST(MoreBlocks, OnCdnaLoopsThatWaitMoreOftenAreNoLonger) {
  EXPECT_EQ(wavesOnCdna(code(138), code(128, 104)), "4");
  EXPECT_EQ(wavesOnCdna(code(138), code(128, 105)), "");
  EXPECT_EQ(wavesOnCdna(code(138), code(128, 100, 11)), "4");
  EXPECT_EQ(wavesOnCdna(code(138), code(128, 101, 11)), "");
  EXPECT_EQ(wavesOnCdna(code(150), code(128)), "");
}

TEST(MoreBlocks, OrLoopsTakeHardlyLonger) {
  auto onRdna = [](uint32_t instructions, uint32_t waits, uint64_t cycles) {
    return limitOf(code(199), code(192, instructions, waits), 512, "hip:gfx1100", "amdgpu-num-vgpr",
                   cycles);
  };
  EXPECT_EQ(onRdna(113, 11, 103), "192");
  EXPECT_EQ(onRdna(113, 11, 104), "");
  EXPECT_EQ(wavesOnCdna(code(138), code(128, 105, 12), 103), "4");
  EXPECT_EQ(wavesOnCdna(code(138), code(128, 105, 12), 104), "");
  EXPECT_EQ(wavesOnCdna(code(138), code(128, 105, 12, 4), asLong), "");
}

TEST(MoreBlocks, OnCdnaSoDoesCodeWithoutALoop) {
  DeviceBinary first = withoutLoop(code(138)), second = withoutLoop(code(128));
  EXPECT_EQ(wavesOnCdna(first, second, 103), "4");
  EXPECT_EQ(wavesOnCdna(first, second, 104), "");
  EXPECT_EQ(wavesOnCdna(first, code(128), asLong), "");
  EXPECT_EQ(wavesOnCdna(withoutLoop(code(138, 100, 10, 8)), second, asLong), "");
  EXPECT_EQ(limitOf(withoutLoop(code(199)), withoutLoop(code(192)), 512, "hip:gfx1100",
                    "amdgpu-num-vgpr", asLong),
            "");
}

/// More waves than the first code has room for, in three blocks of four.
TEST(MoreBlocks, OnCdnaTheWavesThatAKernelAsksForStayTheLeast) {
  auto wavesOf = [](llvm::StringRef asked) {
    llvm::LLVMContext context;
    std::unique_ptr<llvm::Module> module = parseIR("define void @f() {\n  ret void\n}\n", context);
    llvm::Function &kernel = *module->getFunction("f");
    kernel.addFnAttr("amdgpu-waves-per-eu", asked);
    DeviceBinary first = code(138);
    first.launch.threadsPerBlock = 256;
    first.target = "hip:gfx942";
    fitMoreBlocks(first, kernel, target("hip:gfx942"), [] { return std::nullopt; });
    return kernel.getFnAttribute("amdgpu-waves-per-eu").getValueAsString().str();
  };
  EXPECT_EQ(wavesOf("1"), "4");
  EXPECT_EQ(wavesOf("6"), "6");
}

TEST(MoreBlocks, OnCdnaFewerSpillsAreTaken) {
  auto spilled = [](uint32_t first, uint32_t second) {
    llvm::LLVMContext context;
    std::unique_ptr<llvm::Module> module = parseIR("define void @f() {\n  ret void\n}\n", context);
    auto again = [&] { return std::optional(code(256, 100, 10, second)); };
    return fitMoreBlocks(code(256, 100, 10, first), *module->getFunction("f"), target("hip:gfx942"),
                         again)
        .resources.spilledBytes();
  };
  EXPECT_EQ(spilled(40, 12), 12u);
  EXPECT_EQ(spilled(12, 40), 12u);
}

} // namespace
