// Products in loops whose loads run ahead, with one mistake each in what orders copies, barriers
// and products in flight, put into target operations: the mistake gives a finding or a wrong
// result. The right kernels are silent.

#include "compiler/Dialect/TileGPU/TileGPU.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/IR/Builders.h"
#include "tests/language/ProductLoop.h"

using namespace kiln::testing;
using namespace mlir;

namespace {

using Edit = std::function<void(ModuleOp &)>;

template <typename OpT> std::vector<OpT> all(ModuleOp &module) {
  std::vector<OpT> ops;
  module.walk([&](OpT op) { ops.push_back(op); });
  return ops;
}

/// What an iteration waits for its copies with; what else there is, is behind the loop.
NVVM::CpAsyncWaitGroupOp waitOfLoop(ModuleOp &module) {
  return all<NVVM::CpAsyncWaitGroupOp>(module).front();
}

template <typename OpT> OpT nextIn(Operation *op) {
  while (op && !isa<OpT>(op))
    op = op->getNextNode();
  return cast<OpT>(op);
}

/// A row of a swizzle's pattern further.
void moveAddress(OpOperand &address) {
  OpBuilder b(address.getOwner());
  address.assign(LLVM::GEPOp::create(b, address.getOwner()->getLoc(), address.get().getType(),
                                     b.getI8Type(), address.get(),
                                     ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(128)}));
}

/// Whether operands are computed, and so stored, or copied.
ProductForm form(bool stored = false) {
  ProductForm result;
  if (stored) {
    result.ofY = "(y + y).to(y.dtype)";
    result.factorY = 2;
  }
  return result;
}

std::string run(const char *target, const Edit &edit, bool stored = false) {
  return ProductLoop(form(stored), target, edit).run(64, 64, 5 * 32);
}

const char *const targets[] = {"emu:sm_80", "emu:sm_90a"};

TEST(PipelineBugs, TheRightKernelsAreSilent) {
  for (const char *target : targets)
    for (bool stored : {false, true})
      EXPECT_EQ(run(target, nullptr, stored), "") << target;
}

TEST(PipelineBugs, AWaitWithOneCopyTooManyInFlight) {
  for (const char *target : targets) {
    std::string found = run(target, [](ModuleOp &module) {
      NVVM::CpAsyncWaitGroupOp wait = waitOfLoop(module);
      wait.setN(wait.getN() + 1);
    });
    EXPECT_NE(found.find("the destination of an asynchronous copy"), std::string::npos) << found;
    EXPECT_NE(found.find("that has not been waited for"), std::string::npos) << found;
    EXPECT_NE(found.find("test.py:"), std::string::npos);
  }
}

TEST(PipelineBugs, NoBarrierBehindTheWait) {
  for (const char *target : targets) {
    std::string found = run(
        target, [](ModuleOp &module) { nextIn<NVVM::Barrier0Op>(waitOfLoop(module))->erase(); });
    EXPECT_NE(found.find("race on shared memory"), std::string::npos) << target << ": " << found;
  }
}

/// The copies come before all warps have read what was in their slot.
TEST(PipelineBugs, ASlotThatIsFilledTooEarly) {
  std::string found = run("emu:sm_80", [](ModuleOp &module) {
    auto barrier = nextIn<NVVM::Barrier0Op>(waitOfLoop(module));
    barrier->moveAfter(nextIn<NVVM::CpAsyncCommitGroupOp>(barrier));
  });
  EXPECT_NE(found.find("race on shared memory"), std::string::npos) << found;
}

/// The same where a product in flight reads the slot.
TEST(PipelineBugs, ASlotThatIsFilledWhileAProductReadsIt) {
  std::string found = run("emu:sm_90a", [](ModuleOp &module) {
    for (auto wait : all<kiln::tilegpu::WgmmaWaitOp>(module))
      if (wait.getAccumulators().empty())
        wait.setPending(7);
  });
  EXPECT_NE(found.find("an operand of a product"), std::string::npos) << found;
}

TEST(PipelineBugs, NoFenceBehindStoresThatAProductReads) {
  std::string found = run(
      "emu:sm_90a",
      [](ModuleOp &module) {
        std::vector<NVVM::FenceProxyOp> fences = all<NVVM::FenceProxyOp>(module);
        EXPECT_FALSE(fences.empty());
        for (NVVM::FenceProxyOp fence : fences)
          fence->erase();
      },
      /*stored=*/true);
  EXPECT_NE(found.find("expected fence.proxy.async by thread "), std::string::npos) << found;
}

TEST(PipelineBugs, ASwizzleOfCopiesThatReadersDoNotHave) {
  for (const char *target : targets)
    EXPECT_NE(run(target,
                  [](ModuleOp &module) {
                    for (NVVM::CpAsyncOp copy : all<NVVM::CpAsyncOp>(module))
                      moveAddress(copy->getOpOperand(0));
                  }),
              "")
        << target;
}

TEST(PipelineBugs, ASwizzleOfReadersThatCopiesDoNotHave) {
  EXPECT_NE(run("emu:sm_80",
                [](ModuleOp &module) {
                  moveAddress(all<NVVM::LdMatrixOp>(module).front()->getOpOperand(0));
                }),
            "");
  // Two bits of a descriptor say the swizzle.
  EXPECT_NE(run("emu:sm_90a",
                [](ModuleOp &module) {
                  auto product = all<kiln::tilegpu::WgmmaOp>(module).front();
                  OpBuilder b(product);
                  OpOperand &descriptor = product.getBMutable()[0];
                  Value bit = LLVM::ConstantOp::create(b, product.getLoc(), b.getI64Type(),
                                                       b.getI64IntegerAttr(int64_t(1) << 62));
                  descriptor.assign(
                      LLVM::XOrOp::create(b, product.getLoc(), descriptor.get(), bit));
                }),
            "");
}

TEST(PipelineBugs, ASumThatIsNotWaitedForBehindTheLoop) {
  std::string found = run("emu:sm_90a", [](ModuleOp &module) {
    for (auto wait : all<kiln::tilegpu::WgmmaWaitOp>(module))
      if (!wait.getAccumulators().empty())
        wait.setPending(1);
  });
  EXPECT_NE(found.find("expected the product to be waited for"), std::string::npos) << found;
  EXPECT_NE(found.find("wrong at "), std::string::npos) << found;
}

//===-- copies of a warp, which are waited for by counting (AMD's vmcnt)
//--------------------------------------------------===//

std::string runWarpCopies(const Edit &edit, unsigned stages = 3) {
  ProductForm form;
  form.m = form.n = 128;
  form.columnsB = true;
  form.stages = stages;
  ProductLoop loop(form, "emu:gfx950", edit);
  EXPECT_TRUE(loop.isPipelined());
  return loop.run(128, 128, 5 * 32);
}

/// What an iteration waits for its copies with.
ROCDL::SWaitcntOp waitForWarps(ModuleOp &module) { return all<ROCDL::SWaitcntOp>(module).front(); }

TEST(WarpCopyBugs, TheRightKernelsAreSilent) {
  for (unsigned stages : {2u, 3u, 4u})
    EXPECT_EQ(runWarpCopies(nullptr, stages), "") << stages;
}

TEST(WarpCopyBugs, NoWait) {
  std::string found = runWarpCopies([](ModuleOp &module) { waitForWarps(module)->erase(); });
  EXPECT_NE(found.find("the destination of an asynchronous copy"), std::string::npos) << found;
  EXPECT_NE(found.find("that has not been waited for"), std::string::npos) << found;
  EXPECT_NE(found.find("wrong at "), std::string::npos) << found;
}

/// One instruction is one count: the last of the iteration's copies may be in flight.
TEST(WarpCopyBugs, AWaitThatCountsOneCopyTooMany) {
  std::string found = runWarpCopies([](ModuleOp &module) {
    ROCDL::SWaitcntOp wait = waitForWarps(module);
    EXPECT_EQ(wait.getBitfield() & 15, 4u) << "the copies of the next iteration, two tiles";
    wait.setBitfield(wait.getBitfield() + 1);
  });
  EXPECT_NE(found.find("that has not been waited for"), std::string::npos) << found;
}

TEST(WarpCopyBugs, NoBarrierBehindTheWait) {
  std::string found = runWarpCopies(
      [](ModuleOp &module) { nextIn<ROCDL::BarrierOp>(waitForWarps(module))->erase(); });
  EXPECT_NE(found.find("race on shared memory"), std::string::npos) << found;
}

/// `s_barrier` alone orders no memory.
TEST(WarpCopyBugs, ABarrierWithoutItsFences) {
  std::string found = runWarpCopies([](ModuleOp &module) {
    auto barrier = nextIn<ROCDL::BarrierOp>(waitForWarps(module));
    OpBuilder b(barrier);
    ROCDL::SBarrierOp::create(b, barrier->getLoc());
    barrier->erase();
  });
  EXPECT_NE(found.find("race on shared memory"), std::string::npos) << found;
}

TEST(WarpCopyBugs, ASlotThatIsFilledTooEarly) {
  std::string found = runWarpCopies([](ModuleOp &module) {
    Operation *wait = waitForWarps(module);
    auto barrier = nextIn<ROCDL::BarrierOp>(wait);
    Operation *last = nullptr;
    for (auto copy : all<kiln::tilegpu::WarpCopyOp>(module))
      if (copy->getBlock() == wait->getBlock())
        last = copy;
    barrier->moveAfter(last);
  });
  EXPECT_NE(found.find("race on shared memory"), std::string::npos) << found;
}

/// What a group of lanes reads is what another group should have.
TEST(WarpCopyBugs, LanesThatReadWhatIsOthers) {
  for (int bytes : {16, 128}) {
    std::string found = runWarpCopies([&](ModuleOp &module) {
      Operation *wait = waitForWarps(module);
      for (auto load : all<LLVM::LoadOp>(module)) {
        if (load->getBlock() != wait->getBlock() || !isa<VectorType>(load.getType()))
          continue;
        // Of lanes 32 to 63 another row.
        OpBuilder b(load);
        Location loc = load.getLoc();
        Type word = b.getI32Type();
        auto number = [&](int value) -> Value {
          return LLVM::ConstantOp::create(b, loc, word, b.getI32IntegerAttr(value));
        };
        Value thread = ROCDL::ThreadIdXOp::create(b, loc, word);
        Value half = LLVM::LShrOp::create(b, loc, LLVM::AndOp::create(b, loc, thread, number(32)),
                                          number(5));
        Value offset = LLVM::MulOp::create(b, loc, half, number(bytes));
        load.getAddrMutable().assign(LLVM::GEPOp::create(b, loc, load.getAddr().getType(),
                                                         b.getI8Type(), load.getAddr(),
                                                         ArrayRef<LLVM::GEPArg>{offset}));
        return;
      }
    });
    EXPECT_NE(found, "") << bytes;
  }
}

/// A warp has one address in m0.
TEST(WarpCopyBugs, ATargetThatIsALanesOwn) {
  std::string found = runWarpCopies([](ModuleOp &module) {
    for (auto number : all<ROCDL::ReadfirstlaneOp>(module)) {
      OpBuilder b(number);
      number.replaceAllUsesWith(
          Value(ROCDL::ThreadIdXOp::create(b, number->getLoc(), b.getI32Type())));
    }
  });
  EXPECT_NE(found.find("one address in shared memory"), std::string::npos) << found;
}

TEST(WarpCopyBugs, ASwizzleOfCopiesThatReadersDoNotHave) {
  EXPECT_NE(runWarpCopies([](ModuleOp &module) {
              for (auto copy : all<kiln::tilegpu::WarpCopyOp>(module))
                moveAddress(copy->getOpOperand(1));
            }),
            "");
}

/// The next block's memory may be what they write.
TEST(WarpCopyBugs, CopiesThatAreInFlightWhenTheBlockEnds) {
  std::string found = runWarpCopies([](ModuleOp &module) {
    for (auto wait : all<ROCDL::SWaitcntOp>(module))
      if (wait != waitForWarps(module))
        wait->erase();
  });
  EXPECT_NE(found.find("expected the copy to be waited for before its warp ends"),
            std::string::npos)
      << found;
}

} // namespace
