// Lowered kernels through the back ends: wide accesses and matrix instructions are in the text, and
// nothing spills.

#include "tests/compiler/Conversion/TileGPUToLLVM/KernelRunner.h"
#include "tests/compiler/Conversion/TileGPUToLLVM/SampleKernels.h"

namespace kiln::testing {
namespace {

struct Expectation {
  const char *target;
  const char *wideLoad, *wideStore, *matrix;
};

void PrintTo(const Expectation &e, std::ostream *os) { *os << e.target; }

class Emission : public ::testing::TestWithParam<Expectation> {};

DeviceBinary emitted(const std::string &source, const char *target) {
  CompiledKernel kernel(source, target);
  EXPECT_EQ(kernel.errors, "");
  llvm::Expected<DeviceBinary> binary = kernel.emit();
  if (!binary) {
    ADD_FAILURE() << llvm::toString(binary.takeError());
    return DeviceBinary();
  }
  EXPECT_EQ(binary->resources.spillStoreBytes, 0u);
  EXPECT_FALSE(binary->bytes.empty());
  return std::move(*binary);
}

TEST_P(Emission, VectorAddMovesSixteenBytes) {
  DeviceBinary binary = emitted(vectorAddText(/*aligned=*/true), GetParam().target);
  EXPECT_NE(binary.assembly.find(GetParam().wideLoad), std::string::npos) << binary.assembly;
  EXPECT_NE(binary.assembly.find(GetParam().wideStore), std::string::npos) << binary.assembly;
}

TEST_P(Emission, ProductsUseTheMatrixUnit) {
  for (const char *operand : {"f16", "bf16"}) {
    DeviceBinary binary =
        emitted(productText({"p", 64, 64, 32, 4, operand, "f32", "tf32"}, /*aligned=*/true),
                GetParam().target);
    EXPECT_NE(binary.assembly.find(GetParam().matrix), std::string::npos) << binary.assembly;
    EXPECT_NE(binary.assembly.find(GetParam().wideLoad), std::string::npos) << binary.assembly;
  }
}

/// Whatever the formats that a target's unit reads, and the versions of its instructions.
TEST_P(Emission, ProductsOfEveryType) {
  for (const char *operand : {"f8E4M3FN", "f8E5M2", "f8E4M3FNUZ", "f8E5M2FNUZ"}) {
    DeviceBinary binary =
        emitted(productText({"p", 32, 32, 32, 4, operand, "f32", "tf32"}, /*aligned=*/true),
                GetParam().target);
    EXPECT_TRUE(binary.assembly.find("mma") != std::string::npos ||
                binary.assembly.find("mfma") != std::string::npos)
        << operand;
  }
  for (const char *precision : {"tf32x3", "ieee", "bf16x3", "bf16x6"})
    emitted(productText({"p", 32, 32, 32, 4, "f32", "f32", precision}, /*aligned=*/true),
            GetParam().target);
}

INSTANTIATE_TEST_SUITE_P(
    AllTargets, Emission,
    ::testing::Values(Expectation{"cuda:sm_80", "ld.global.v4.b32", "st.global.v4.b32",
                                  "mma.sync.aligned.m16n8k16"},
                      Expectation{"cuda:sm_90a", "ld.global.v4.b32", "st.global.v4.b32",
                                  "wgmma.mma_async.sync.aligned.m64n64k16"},
                      Expectation{"cuda:sm_120a", "ld.global.v4.b32", "st.global.v4.b32",
                                  "mma.sync.aligned.m16n8k16"},
                      Expectation{"hip:gfx90a", "load_dwordx4", "store_dwordx4", "v_mfma_f32_"},
                      Expectation{"hip:gfx942", "load_dwordx4", "store_dwordx4", "v_mfma_f32_"},
                      Expectation{"hip:gfx1100", "load_b128", "store_b128", "v_wmma_f32_16x16x16"}),
    [](const auto &info) { return llvm::StringRef(info.param.target).split(':').second.str(); });

} // namespace
} // namespace kiln::testing
