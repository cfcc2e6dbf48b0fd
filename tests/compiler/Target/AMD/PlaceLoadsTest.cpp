//===- PlaceLoadsTest.cpp - Where loads begin --------------------------------------===//

#include "compiler/Target/AMD/PlaceLoads.h"
#include "tests/compiler/Target/AMD/ProductLoop.h"
#include "tests/compiler/Target/EveryScalarKernel.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Verifier.h"

using namespace kiln::testing;

namespace {

/// The function's named values, stores, and what keeps instructions in their places, in order.
std::string after(const std::string &text,
                  llvm::function_ref<void(llvm::Function &)> pass = kiln::placeLoads) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module = parseIR(text, context);
  pass(*module->getFunction("f"));
  EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs()));
  std::vector<std::string> order;
  for (llvm::Instruction &op : llvm::instructions(*module->getFunction("f"))) {
    auto *call = llvm::dyn_cast<llvm::CallInst>(&op);
    if (call && call->isInlineAsm())
      order.push_back("stay");
    else if (call && call->getType()->isVoidTy())
      order.push_back("barrier");
    else if (op.hasName() && !llvm::isa<llvm::PHINode>(op))
      order.push_back(op.getName().str());
  }
  return llvm::join(order, " ");
}

std::string loads(unsigned count) {
  std::string text;
  for (unsigned i = 0; i < count; ++i) {
    std::string number = std::to_string(i);
    text += "  %x" + number + " = load half, ptr addrspace(1) %from" + number + "\n";
  }
  return text;
}

std::string pair(const std::string &name, const std::string &of) {
  return "  %" + name + " = insertelement <16 x half> %a, half %" + of + ", i64 0\n";
}

const std::string from = "ptr addrspace(1) %from0, ptr addrspace(1) %from1, ptr addrspace(1) "
                         "%from2, ptr addrspace(1) %from3, <16 x half> %a";

TEST(PlaceLoads, WorkStandsBehindAllLoadsThatItWaitsFor) {
  EXPECT_EQ(after(productLoop(from, "", loads(4) + pair("y", "x0") + productOf("%y", "%a"))),
            "x0 x1 x2 x3 barrier y d");
}

TEST(PlaceLoads, AFewWaitOnceInAnyCase) {
  EXPECT_EQ(after(productLoop(from, "", loads(3) + pair("y", "x0") + productOf("%y", "%a"))),
            "x0 x1 x2 y d");
}

/// They have the product's time to come.
TEST(PlaceLoads, LoadsAheadOfProductsHaveNoBarrier) {
  EXPECT_EQ(after(productLoop(from, "", loads(4) + productOf("%a", "%a") + pair("y", "x0"))),
            "x0 x1 x2 x3 d y");
}

const std::string twoBlocks = declareWmma + R"(
define void @f(i1 %some, i1 %again, ptr addrspace(1) %from, ptr addrspace(3) %p, <16 x half> %a) {
entry:
  br label %loop
loop:
  %c = phi <8 x float> [ zeroinitializer, %entry ], [ %d, %latch ]
  %word = load <2 x half>, ptr addrspace(1) %from
  %x = extractelement <2 x half> %word, i64 1
)";

const std::string latch = R"(
  br i1 %some, label %then, label %latch
then:
  store half 0.0, ptr addrspace(3) %p
  br label %latch
latch:
  store half %x, ptr addrspace(3) %p
)" + productOf("%a", "%a") +
                          R"(
  br i1 %again, label %loop, label %end
end:
  ret void
})";

TEST(PlaceLoads, WhatLaterBlocksNeedIsLoadedWhereItStands) {
  EXPECT_EQ(after(twoBlocks + latch), "word x stay d");
}

/// It is waited for here in any case.
TEST(PlaceLoads, WhatIsUsedWhereItIsLoadedStaysByItself) {
  EXPECT_EQ(after(twoBlocks + pair("y", "x") + latch), "word x y d");
}

/// A block without products.
std::string gathered(const std::string &body, unsigned most = 64) {
  return after("define void @f(ptr addrspace(1) %p, ptr addrspace(1) %q, i32 %i) {\n" + body +
                   "  ret void\n}",
               [=](llvm::Function &kernel) { kiln::gatherLoads(kernel, most); });
}

TEST(GatherLoads, LoadsAndTheirAddressesComeBeforeWork) {
  EXPECT_EQ(gathered(R"(
  %x = load float, ptr addrspace(1) %p
  %work = fmul float %x, %x
  %place = add i32 %i, 4
  %more = fadd float %work, 1.0
  %to = getelementptr float, ptr addrspace(1) %q, i32 %place
  %y = load float, ptr addrspace(1) %to
  %sum = fadd float %more, %y
)"),
            "x place to y barrier work more sum");
}

/// One wait for all indices, and one for all that is at these.
TEST(GatherLoads, WhatWaitsForLoadsIsOfAnotherGroup) {
  EXPECT_EQ(gathered(R"(
  %x = load i32, ptr addrspace(1) %p
  %next = add i32 %x, 1
  %to = getelementptr float, ptr addrspace(1) %q, i32 %next
  %y = load float, ptr addrspace(1) %to
  %work = fmul float %y, %y
  %from = getelementptr i32, ptr addrspace(1) %p, i32 1
  %z = load i32, ptr addrspace(1) %from
  %at = getelementptr float, ptr addrspace(1) %q, i32 %z
  %last = load float, ptr addrspace(1) %at
)"),
            "x from z barrier next to y at last barrier work");
}

TEST(GatherLoads, OneOfItsKindStays) {
  EXPECT_EQ(gathered(R"(
  %x = load i32, ptr addrspace(1) %p
  %work = mul i32 %x, 5
  %to = getelementptr float, ptr addrspace(1) %q, i32 %work
  %y = load float, ptr addrspace(1) %to
)"),
            "x work to y");
}

/// What orders memory, or may not be moved, stands between two stretches.
TEST(GatherLoads, NoneIsMovedPastWhatOrdersMemory) {
  for (const char *between : {"  fence syncscope(\"workgroup\") acquire\n",
                              "  %v = load volatile float, ptr addrspace(1) %q\n",
                              "  %v = load atomic i32, ptr addrspace(1) %q acquire, align 4\n"}) {
    std::string order = gathered("  %x = load float, ptr addrspace(1) %p\n"
                                 "  %work = fmul float %x, %x\n" +
                                 std::string(between) + "  %y = load float, ptr addrspace(1) %p\n");
    EXPECT_EQ(order.find("x work"), 0u) << order;
    EXPECT_EQ(order.find("barrier"), std::string::npos) << order;
  }
}

TEST(GatherLoads, NoneIsMovedPastAStore) {
  EXPECT_EQ(gathered(R"(
  %x = load float, ptr addrspace(1) %p
  %work = fmul float %x, %x
  store float %work, ptr addrspace(1) %q
  %y = load float, ptr addrspace(1) %p
)"),
            "x work y");
}

/// More than that many registers are loaded where the source loads them.
TEST(GatherLoads, AsManyAsRegistersHold) {
  auto loads = [](unsigned count, unsigned most = 64) {
    std::string text;
    for (unsigned i = 0; i < count; ++i) {
      std::string number = std::to_string(i);
      text += "  %x" + number + " = load <4 x float>, ptr addrspace(1) %p\n  %y" + number +
              " = fneg <4 x float> %x" + number + "\n";
    }
    return gathered(text, most);
  };
  EXPECT_NE(loads(16).find("x15 barrier y0 "), std::string::npos) << loads(16);
  EXPECT_EQ(loads(17).find("barrier"), std::string::npos) << loads(17);
  // As beside products.
  EXPECT_NE(loads(4, 16).find("x3 barrier y0 "), std::string::npos) << loads(4, 16);
  EXPECT_EQ(loads(5, 16).find("barrier"), std::string::npos) << loads(5, 16);
}

} // namespace
