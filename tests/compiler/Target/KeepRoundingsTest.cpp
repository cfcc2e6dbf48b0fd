//===- KeepRoundingsTest.cpp - Products that are rounded before they are added --===//

#include "tests/compiler/Target/EveryScalarKernel.h"

using namespace kiln;
using namespace kiln::testing;

namespace {

struct Case {
  const char *target, *type;
  const char *addition; ///< what its instruction begins with
};

/// x * y + y, the product plus zero where it `rounds`.
std::string assemblyOf(const Case &of, bool rounds) {
  std::string type = of.type, product = rounds ? "%rounded" : "%product";
  std::string text = "define void @k(ptr addrspace(1) %p) {\n  %x = load " + type +
                     ", ptr addrspace(1) %p\n  %q = getelementptr " + type +
                     ", ptr addrspace(1) %p, i64 1\n  %y = load " + type +
                     ", ptr addrspace(1) %q\n  %product = fmul contract " + type +
                     " %x, %y\n  %rounded = fadd " + type +
                     " %product, zeroinitializer\n  %sum = fadd contract " + type + " " + product +
                     ", %y\n  store " + type + " %sum, ptr addrspace(1) %p\n  ret void\n}\n";
  return kiln::testing::assemblyOf(text, of.target);
}

class KeepRoundings : public ::testing::TestWithParam<Case> {};

TEST_P(KeepRoundings, OfAProductPlusZero) {
  llvm::StringRef addition = GetParam().addition;
  std::string fused = assemblyOf(GetParam(), false), apart = assemblyOf(GetParam(), true);
  EXPECT_EQ(llvm::StringRef(fused).count(addition), 0u) << fused;
  EXPECT_GT(llvm::StringRef(apart).count(addition), 0u) << apart;
}

INSTANTIATE_TEST_SUITE_P(Types, KeepRoundings,
                         ::testing::Values(Case{"cuda:sm_90a", "float", "add.f32"},
                                           Case{"cuda:sm_90a", "double", "add.f64"},
                                           Case{"cuda:sm_90a", "<2 x float>", "add.f32"},
                                           Case{"cuda:sm_100a", "<2 x float>", "add.f32x2"},
                                           Case{"hip:gfx942", "float", "v_add_f32"},
                                           Case{"hip:gfx942", "double", "v_add_f64"},
                                           Case{"hip:gfx942", "<2 x float>", "v_pk_add_f32"},
                                           Case{"hip:gfx1100", "float", "add_f32"},
                                           Case{"hip:gfx1201", "<2 x float>", "add_f32"}));

} // namespace
