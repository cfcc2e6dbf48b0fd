//===- ZeroSumsTest.cpp - Products that begin a sum, on RDNA 3 ------------------===//

#include "compiler/Target/AMD/ZeroSums.h"
#include "tests/compiler/Target/AMD/ProductLoop.h"
#include "tests/compiler/Target/AssemblyOfIR.h"

using namespace kiln;
using namespace kiln::testing;

namespace {

/// What products of the loop add to, from their text: "0", or "v" for registers.
std::string sumsOf(const std::string &body) {
  useInlineZeros();
  std::string sums;
  for (llvm::StringRef line : assemblyOf(
           "hip:gfx1100",
           productLoop("<16 x half> %a, <8 x float> %sum, ptr addrspace(1) %from", "", body)))
    if (line.contains("v_wmma"))
      sums += line.rsplit(", ").second.starts_with("v") ? "v " : "0 ";
  return sums;
}

std::string productWith(const std::string &sum) {
  return "  %first = call <8 x float> " + wmma + "(<16 x half> %a, <16 x half> %a, <8 x float> " +
         sum + ")\n  %more = fadd <8 x float> %first, %c\n" +
         "  %d = fmul <8 x float> %more, %more\n";
}

TEST(ZeroSums, ProductsThatAddToNothingTakeAnInlineZero) {
  EXPECT_EQ(sumsOf(productWith("zeroinitializer")), "0 ");
}

TEST(ZeroSums, OthersAddToRegisters) {
  EXPECT_EQ(sumsOf(productWith("%sum")), "v ");
  EXPECT_EQ(sumsOf(productWith("splat (float 1.0)")), "v ");
  EXPECT_EQ(sumsOf(productOf("%a", "%a")), "v ");
}

} // namespace
