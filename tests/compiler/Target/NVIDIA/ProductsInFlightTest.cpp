//===- ProductsInFlightTest.cpp - Branches behind waits for products --------------===//

#include "compiler/Target/NVIDIA/ProductsInFlight.h"
#include "gtest/gtest.h"

using namespace kiln;

namespace {

const std::string wait = "wgmma.wait_group.sync.aligned 0;\n";
const std::string branch = "{\n"
                           ".reg .pred never;\n"
                           ".reg .b32 lane;\n"
                           "mov.u32 lane, %laneid;\n"
                           "setp.gt.u32 never, lane, 31;\n"
                           "@never trap;\n"
                           "}\n";

TEST(ProductsInFlight, EachWaitForAllHasABranchBehindIt) {
  EXPECT_EQ(withProductsApart("a;\n\t" + wait + "b;\n" + wait),
            "a;\n\t" + wait + branch + "b;\n" + wait + branch);
}

TEST(ProductsInFlight, ALoopWithProductsEndsWithAWait) {
  const std::string product = "wgmma.mma_async.sync.aligned.m64n8k16 {\n";
  EXPECT_EQ(withProductsApart("$L__BB0_2:\n" + product + "\t@%p1 bra \t$L__BB0_2;\nb;\n"),
            "$L__BB0_2:\n" + product + "\t@%p1 bra \t$L__BB0_2;\n" + wait + branch + "b;\n");
  for (const std::string &other : {product + "$L__BB0_2:\n\t@%p1 bra \t$L__BB0_2;\nb;\n",
                                   product + "\t@%p1 bra \t$L__BB0_3;\n$L__BB0_3:\n",
                                   "$L__BB0_2:\n" + product + "\tbra.uni \t$L__BB0_2;\n"})
    EXPECT_EQ(withProductsApart(other), other);
}

TEST(ProductsInFlight, OthersRunOn) {
  EXPECT_EQ(withProductsApart("wgmma.wait_group.sync.aligned 1;\n"),
            "wgmma.wait_group.sync.aligned 1;\n");
  EXPECT_EQ(withProductsApart(""), "");
}

} // namespace
