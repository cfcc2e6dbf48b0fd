// Which passes are left out of which functions, and how blocks are cut, counted.

#include "compiler/Target/HugeFunctions.h"
#include "compiler/Target/PassGate.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "gtest/gtest.h"

using namespace kiln;

namespace {

/// A function of one block that calls `calls` times and adds up `additions` times.
class OneBlock {
public:
  OneBlock(unsigned calls, unsigned additions) : module("m", context), builder(context) {
    llvm::Type *i32 = builder.getInt32Ty();
    auto type = llvm::FunctionType::get(i32, {i32}, false);
    auto callee = llvm::Function::Create(type, llvm::Function::ExternalLinkage, "callee", module);
    function = llvm::Function::Create(type, llvm::Function::ExternalLinkage, "kernel", module);
    builder.SetInsertPoint(llvm::BasicBlock::Create(context, "entry", function));
    llvm::Value *value = function->getArg(0);
    for (unsigned call = 0; call < calls; ++call)
      value = builder.CreateCall(callee, {value});
    for (unsigned addition = 0; addition < additions; ++addition)
      value = builder.CreateAdd(value, function->getArg(0));
    builder.CreateRet(value);
  }

  llvm::LLVMContext context;
  llvm::Module module;
  llvm::IRBuilder<> builder;
  llvm::Function *function;
};

bool runs(llvm::LLVMContext &context, llvm::StringRef pass) {
  llvm::OptPassGate &gate = context.getOptPassGate();
  return !gate.isEnabled() || gate.shouldRunPass(pass, "function (kernel)");
}

TEST(HugeFunctions, BlocksOfManyCallsAreCut) {
  OneBlock code(200, 1000);
  cutBlocksOfCalls(code.module);
  EXPECT_FALSE(llvm::verifyModule(code.module, &llvm::errs()));
  EXPECT_EQ(code.function->size(), 7u);
  unsigned calls = 0;
  for (llvm::BasicBlock &block : *code.function) {
    auto here =
        llvm::count_if(block, [](llvm::Instruction &i) { return llvm::isa<llvm::CallInst>(i); });
    EXPECT_LE(here, 32);
    calls += here;
  }
  EXPECT_EQ(calls, 200u);
  PassGate gate(code.module, "sm_80");
  EXPECT_FALSE(runs(code.context, "codegenprepare"));
  EXPECT_TRUE(runs(code.context, "gvn"));
}

TEST(HugeFunctions, OtherBlocksStayWhole) {
  OneBlock code(64, 9000);
  cutBlocksOfCalls(code.module);
  EXPECT_EQ(code.function->size(), 1u);
  PassGate gate(code.module, "sm_80");
  EXPECT_TRUE(runs(code.context, "codegenprepare"));
}

TEST(HugeFunctions, PassesAreLeftOutByLength) {
  struct {
    unsigned additions;
    bool strengthReduction, valueNumbering;
  } const cases[] = {{4000, true, true}, {5000, false, true}, {9000, false, false}};
  for (auto &expected : cases) {
    OneBlock code(0, expected.additions);
    EXPECT_EQ(longestFunction(code.module), expected.additions + 1);
    {
      PassGate gate(code.module, "sm_80");
      EXPECT_EQ(runs(code.context, "slsr"), expected.strengthReduction) << expected.additions;
      EXPECT_EQ(runs(code.context, "gvn"), expected.valueNumbering) << expected.additions;
      EXPECT_TRUE(runs(code.context, "early-cse"));
    }
    EXPECT_TRUE(runs(code.context, "slsr"));
  }
}

/// Where copies run ahead their pointers stay as they are, where that is faster.
TEST(PassGate, LoopStrengthReductionIsLeftOutByCopiesAndProcessor) {
  constexpr const char *pass = "Loop Strength Reduction";
  OneBlock plain(1, 1), copying(1, 1);
  copying.module.getOrInsertFunction(
      "llvm.nvvm.cp.async.commit.group",
      llvm::FunctionType::get(copying.builder.getVoidTy(), /*isVarArg=*/false));
  {
    PassGate ofPlain(plain.module, "sm_80"), ofCopying(copying.module, "sm_86");
    EXPECT_TRUE(runs(plain.context, pass));
    EXPECT_FALSE(runs(copying.context, pass));
    EXPECT_TRUE(runs(copying.context, "gvn"));
  }
  PassGate gate(copying.module, "sm_90a");
  EXPECT_TRUE(runs(copying.context, pass));
}

} // namespace
