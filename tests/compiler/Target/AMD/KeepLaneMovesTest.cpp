//===- KeepLaneMovesTest.cpp - Lanes' numbers in instructions of 64 bits -------===//

#include "tests/compiler/Target/EveryScalarKernel.h"

using namespace kiln;
using namespace kiln::testing;

namespace {

/// Stores %result, which `lines` compute of %moved, another lane's number, and of %own of 64 bits.
std::string kernelOf(const std::string &lines, const std::string &type) {
  return R"(
define amdgpu_kernel void @k(ptr addrspace(1) %p, ptr addrspace(1) %q) {
  %thread = call i32 @llvm.amdgcn.workitem.id.x()
  %from = getelementptr i32, ptr addrspace(1) %p, i32 %thread
  %x = load i32, ptr addrspace(1) %from
  %place = getelementptr i64, ptr addrspace(1) %q, i32 %thread
  %own = load i64, ptr addrspace(1) %place
  %short = trunc i64 %own to i32
  %moved = call i32 @llvm.amdgcn.update.dpp.i32(i32 poison, i32 %x, i32 345, i32 15, i32 15, i1 1)
)" + lines +
         "  store " + type + " %result, ptr addrspace(1) %place\n  ret void\n}\n" + R"(
declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.update.dpp.i32(i32, i32, i32, i32, i32, i1)
)";
}

/// What comes of it: the code is read back, and an instruction that no GPU knows is an error.
class KeepLaneMoves : public ::testing::TestWithParam<const char *> {
protected:
  std::string assembly(const std::string &lines, const std::string &type) {
    return assemblyOf(kernelOf(lines, type), GetParam());
  }
  void expectMove(const std::string &lines, const std::string &type) {
    EXPECT_NE(assembly(lines, type).find("v_mov_b32_dpp"), std::string::npos) << lines;
  }
};

TEST_P(KeepLaneMoves, ProductsTakeRegisters) {
  expectMove("  %product = mul i32 %moved, %short\n  %result = add i32 %product, %x\n", "i32");
  for (const char *extend : {"zext", "sext"})
    expectMove(std::string("  %a = ") + extend + " i32 %moved to i64\n  %b = " + extend +
                   " i32 %x to i64\n  %product = mul i64 %a, %b\n"
                   "  %result = add i64 %product, %own\n",
               "i64");
}

TEST_P(KeepLaneMoves, ShiftsTakeRegisters) {
  expectMove("  %a = zext i32 %moved to i64\n  %bits = and i64 %a, 63\n"
             "  %result = shl i64 %own, %bits\n",
             "i64");
  // As a number of 64 bits is exchanged.
  expectMove("  %high = call i32 @llvm.amdgcn.update.dpp.i32(i32 poison, i32 %short, i32 345, "
             "i32 15, i32 15, i1 1)\n"
             "  %half = insertelement <2 x i32> poison, i32 %moved, i64 0\n"
             "  %both = insertelement <2 x i32> %half, i32 %high, i64 1\n"
             "  %wide = bitcast <2 x i32> %both to i64\n  %bits = and i64 %wide, 63\n"
             "  %result = shl i64 %own, %bits\n",
             "i64");
}

TEST_P(KeepLaneMoves, ConversionsTakeRegisters) {
  expectMove("  %single = bitcast i32 %moved to float\n"
             "  %result = fpext float %single to double\n",
             "double");
  for (const char *convert : {"sitofp", "uitofp"})
    expectMove(std::string("  %result = ") + convert + " i32 %moved to double\n", "double");
}

TEST_P(KeepLaneMoves, SumsTakeLanes) {
  EXPECT_NE(assembly("  %result = add i32 %moved, %short\n", "i32").find("v_add_nc_u32_dpp"),
            std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Rdna, KeepLaneMoves, ::testing::Values("hip:gfx1100", "hip:gfx1201"));

} // namespace
