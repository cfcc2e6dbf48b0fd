// Kernels in Python with a mistake: in the source where a source can have it, else put in after the
// whole compiler, in target operations. Each is found in the emulated code; the right kernels are
// silent.

#include "compiler/Target/MemoryFeatures.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/IR/Builders.h"
#include "tests/language/SourceKernel.h"
#include <cmath>

using namespace kiln::testing;

namespace {

const char *const gpus[] = {"emu:sm_80", "emu:sm_90a", "emu:gfx942", "emu:gfx1100"};

bool isRdna(llvm::StringRef target) { return target.starts_with("emu:gfx1"); }

bool isBarrier(mlir::Operation *op) {
  return mlir::isa<mlir::NVVM::Barrier0Op, mlir::NVVM::BarrierOp, mlir::ROCDL::BarrierOp,
                   mlir::ROCDL::SBarrierOp>(op);
}

std::vector<mlir::Operation *> barriersOf(mlir::ModuleOp &module) {
  std::vector<mlir::Operation *> all;
  module.walk([&](mlir::Operation *op) {
    if (isBarrier(op))
      all.push_back(op);
  });
  return all;
}

/// A barrier in a branch of its own is executed where two of the kernel's arguments are one array:
/// not here.
bool isForEqualArguments(mlir::Operation *barrier) {
  bool isAlone = llvm::all_of(barrier->getBlock()->without_terminator(), [&](mlir::Operation &op) {
    return &op == barrier || mlir::isa<mlir::LLVM::FenceOp>(op);
  });
  return isAlone && !barrier->getBlock()->isEntryBlock();
}

std::vector<mlir::Operation *> executedBarriersOf(mlir::ModuleOp &module) {
  std::vector<mlir::Operation *> all = barriersOf(module);
  llvm::erase_if(all, isForEqualArguments);
  return all;
}

/// A kernel and its reference; what went wrong, "" if nothing did.
struct Case {
  const char *name, *source;
  std::function<std::string(const std::string &source, const std::string &target,
                            const SourceOptions &options)>
      run;
};

/// Whether reports say so; a wrong result is one too.
std::string compare(const Buffer<float> &got, const std::function<double(int)> &expected) {
  for (size_t i = 0; i < got.count(); ++i)
    if (!(std::fabs(got[i] - expected(int(i))) <= 1e-3))
      return "wrong result\n";
  return "";
}

std::string transposed(const std::string &source, const std::string &target,
                       const SourceOptions &options) {
  Buffer<float> x(64 * 32), out(64 * 32);
  for (int i = 0; i < 64 * 32; ++i)
    x[i] = float(i);
  std::string found = runSource(source, target, {{"x", "*fp32", x}, {"o", "*fp32", out}},
                                {{"M", 64}, {"N", 32}}, options);
  return found + compare(out, [](int i) { return i % 64 * 32 + i / 64; });
}

std::string multiplied(const std::string &source, const std::string &target,
                       const SourceOptions &options) {
  constexpr int K = 96;
  Buffer<float> a(32 * K), b(K * 32), out(32 * 32);
  for (int i = 0; i < 32 * K; ++i) {
    a[i] = float(i * 7 % 5) - 2;
    b[i] = float(i * 3 % 7) - 3;
  }
  std::string found = runSource(
      source, target, {{"a", "*fp32", a}, {"b", "*fp32", b}, {"o", "*fp32", out}, {"K", "i32", K}},
      {{"S", 32}}, options);
  return found + compare(out, [&](int i) {
           double sum = 0;
           for (int k = 0; k < K; ++k)
             sum += double(a[i / 32 * K + k]) * double(b[k * 32 + i % 32]);
           return sum;
         });
}

std::string summed(const std::string &source, const std::string &target,
                   const SourceOptions &options) {
  Buffer<float> x(1024), out(1);
  for (int i = 0; i < 1024; ++i)
    x[i] = float(i % 17);
  std::string found =
      runSource(source, target, {{"x", "*fp32", x}, {"o", "*fp32", out}}, {{"N", 1024}}, options);
  double sum = 0;
  for (int i = 0; i < 1024; ++i)
    sum += i % 17;
  return found + compare(out, [&](int) { return sum; });
}

const Case cases[] = {{"transposition", R"(
@triton.jit
def kernel(x, o, M: tl.constexpr, N: tl.constexpr):
    m = tl.arange(0, M)
    n = tl.arange(0, N)
    v = tl.load(x + m[:, None] * N + n[None, :])
    tl.store(o + n[:, None] * M + m[None, :], tl.trans(v))
)",
                       transposed},
                      {"product", R"(
@triton.jit
def kernel(a, b, o, K, S: tl.constexpr):
    i = tl.arange(0, S)
    c = tl.zeros((S, S), tl.float32)
    for k in range(0, K, S):
        x = tl.load(a + i[:, None] * K + k + i[None, :])
        y = tl.load(b + (k + i[:, None]) * S + i[None, :])
        c = tl.dot(x, y, c)
    tl.store(o + i[:, None] * S + i[None, :], c)
)",
                       multiplied},
                      {"sum", R"(
@triton.jit
def kernel(x, o, N: tl.constexpr):
    tl.store(o, tl.sum(tl.load(x + tl.arange(0, N)), 0))
)",
                       summed}};

std::string reversed(const std::string &source, const std::string &target,
                     const SourceOptions &options) {
  Buffer<float> x(128), out(128);
  std::string found =
      runSource(source, target, {{"x", "*fp32", x}, {"o", "*fp32", out}}, {{"N", 128}}, options);
  return found + compare(out, [](int i) { return 127 - i; });
}

std::string reversedInPlace(const std::string &source, const std::string &target,
                            const SourceOptions &options) {
  Buffer<float> x(1024);
  for (int i = 0; i < 1024; ++i)
    x[i] = float(i);
  std::string found = runSource(source, target, {{"x", "*fp32", x}}, {{"N", 1024}}, options);
  return found + compare(x, [](int i) { return 1023 - i; });
}

std::string counted(const std::string &source, const std::string &target,
                    const SourceOptions &options) {
  Buffer<float> x(1);
  x[0] = 41;
  std::string found = runSource(source, target, {{"x", "*fp32", x}}, {}, options);
  return found + compare(x, [](int) { return 42; });
}

/// Threads of a block that hand elements to each other through global memory.
const Case globalCases[] = {{"an exchange", R"(
@triton.jit
def kernel(x, o, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(x + i, i.to(tl.float32))
    tl.debug_barrier()
    tl.store(o + i, tl.load(x + N - 1 - i))
)",
                             reversed},
                            {"an update in place in another order", R"(
@triton.jit
def kernel(x, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    tl.debug_barrier()
    tl.store(x + N - 1 - i, v)
)",
                             reversedInPlace},
                            {"a scalar that all read and one writes", R"(
@triton.jit
def kernel(x):
    v = tl.load(x)
    if v == 41:
        tl.debug_barrier()
        tl.store(x, v + 1)
)",
                             counted}};

TEST(SourceBugs, EveryRemovedBarrierIsFound) {
  for (const char *target : gpus) {
    size_t all = 0;
    for (const Case &one : cases) {
      SCOPED_TRACE(std::string(one.name) + " on " + target);
      size_t barriers = 0;
      SourceOptions options;
      options.edit = [&](mlir::ModuleOp &module) { barriers = executedBarriersOf(module).size(); };
      EXPECT_EQ(one.run(one.source, target, options), "") << "the right kernel";
      all += barriers;
      for (size_t i = 0; i < barriers; ++i) {
        options.edit = [i](mlir::ModuleOp &module) { executedBarriersOf(module)[i]->erase(); };
        std::string found = one.run(one.source, target, options);
        EXPECT_NE(found.find("race on shared memory"), std::string::npos)
            << "barrier " << i << " of " << barriers << ": " << found;
        EXPECT_NE(found.find("test.py:"), std::string::npos);
      }
    }
    EXPECT_GE(all, 3u) << target;
  }
}

/// Races are found of the program that lacks every barrier; which of several orders the accesses
/// to global memory is the compiler's matter.
TEST(SourceBugs, RacesOnGlobalMemoryAreFound) {
  for (const char *target : gpus)
    for (const Case &one : globalCases) {
      SCOPED_TRACE(std::string(one.name) + " on " + target);
      EXPECT_EQ(one.run(one.source, target, SourceOptions()), "") << "the right kernel";
      SourceOptions options;
      options.edit = [](mlir::ModuleOp &module) {
        for (mlir::Operation *barrier : barriersOf(module))
          barrier->erase();
      };
      std::string found = one.run(one.source, target, options);
      EXPECT_NE(found.find("race on global memory: "), std::string::npos) << found;
      EXPECT_NE(found.find("of argument 'x' (number 0 of the kernel's)"), std::string::npos);
      EXPECT_NE(found.find("also accessed by thread "), std::string::npos);
      EXPECT_NE(found.find("test.py:"), std::string::npos);
    }
}

/// Puts a barrier of the scope, which orders shared memory or reads alone, where a full one stands.
void restrictBarriers(mlir::ModuleOp &module, llvm::StringRef scope) {
  for (mlir::Operation *barrier : barriersOf(module)) {
    if (!mlir::isa<mlir::ROCDL::BarrierOp>(barrier))
      continue;
    mlir::OpBuilder b(barrier);
    auto fence = [&](mlir::LLVM::AtomicOrdering ordering) {
      mlir::LLVM::FenceOp::create(b, barrier->getLoc(), ordering, scope);
    };
    fence(mlir::LLVM::AtomicOrdering::release);
    mlir::ROCDL::SBarrierOp::create(b, barrier->getLoc());
    fence(mlir::LLVM::AtomicOrdering::acquire);
    barrier->erase();
  }
}

void orderSharedMemoryAlone(mlir::ModuleOp &module) {
  restrictBarriers(module, kiln::sharedFenceScope);
}

/// On RDNA what stands between accesses to shared memory orders these alone: where it took the
/// place of a barrier between accesses to global memory, that is a race.
TEST(SourceBugs, ABarrierOfSharedMemoryAloneIsFound) {
  for (const char *target : {"emu:gfx1100", "emu:gfx1201"})
    for (const Case &one : globalCases) {
      SCOPED_TRACE(std::string(one.name) + " on " + target);
      SourceOptions options;
      options.edit = orderSharedMemoryAlone;
      std::string found = one.run(one.source, target, options);
      EXPECT_NE(found.find("race on global memory: "), std::string::npos) << found;
      EXPECT_EQ(found.find("race on shared memory: "), std::string::npos) << found;
    }
}

/// One of reads orders an update in place, and nothing that was written.
TEST(SourceBugs, ABarrierOfReadsAloneIsFound) {
  for (const char *target : {"emu:gfx1100", "emu:gfx1201"})
    for (const Case &one : globalCases) {
      SCOPED_TRACE(std::string(one.name) + " on " + target);
      SourceOptions options;
      options.edit = [](mlir::ModuleOp &module) {
        restrictBarriers(module, kiln::readsFenceScope);
      };
      std::string found = one.run(one.source, target, options);
      bool isOfWrites = &one == &globalCases[0];
      EXPECT_EQ(found.find("race on global memory: ") != std::string::npos, isOfWrites) << found;
      EXPECT_EQ(found.empty(), !isOfWrites) << found;
    }
}

/// Two programs at a time, which by way of x and of flags fill o with 0, 1 and so on: what is
/// found, and "not seen" where o lacks what the other one wrote.
std::string runTwoPrograms(const std::string &source, const char *target, SourceOptions options) {
  constexpr int count = 512;
  Buffer<int32_t> x(count), o(count), flags(2);
  options.grid = {2, 1, 1};
  options.threads = 2;
  std::string found =
      runSource(source, target, {{"x", "*i32", x}, {"o", "*i32", o}, {"flags", "*i32", flags}},
                {{"N", count}}, options);
  for (int i = 0; i < count; ++i)
    if (o[i] != i)
      return found + "not seen\n";
  return found;
}

/// One of two programs reads what the other one stores, before that and, with a cache modifier,
/// once more when it has waited for it, by atomic operations of that order.
std::string readingAgain(const std::string &order, const std::string &modifier) {
  return R"(
@triton.jit
def kernel(x, o, flags, N: tl.constexpr):
    i = tl.arange(0, N)
    if tl.program_id(0) == 0:
        while tl.atomic_add(flags, 0, sem="acquire") == 0:
            pass
        tl.store(x + i, i)
        tl.atomic_xchg(flags + 1, 1, sem="release")
    else:
        before = tl.load(x + i)
        tl.atomic_xchg(flags, 1, sem="release")
        while tl.atomic_add(flags + 1, 0, sem=")" +
         order + R"(") == 0:
            pass
        tl.store(o + i, tl.load(x + i, cache_modifier=")" +
         modifier + R"(") + before)
)";
}

/// What a program has read before it waits for another one is in its caches: without an acquire it
/// reads that again. On RDNA each half of the waves has a cache of its own, too, which every wave
/// drops: in a full barrier, or behind it.
TEST(SourceBugs, AMissingAcquireIsFound) {
  const std::string source = readingAgain("acquire", "");
  auto run = [&](const char *target, std::function<void(mlir::ModuleOp &)> edit) {
    SourceOptions options;
    options.edit = std::move(edit);
    return runTwoPrograms(source, target, options);
  };
  auto eraseAcquires = [](mlir::ModuleOp &module) {
    std::vector<mlir::Operation *> erased;
    module.walk([&](mlir::LLVM::FenceOp fence) {
      if (fence.getOrdering() == mlir::LLVM::AtomicOrdering::acquire &&
          fence.getSyncscope() != kiln::sharedFenceScope)
        erased.push_back(fence);
    });
    EXPECT_FALSE(erased.empty());
    for (mlir::Operation *fence : erased)
      fence->erase();
  };
  for (const char *target : {"emu:gfx90a", "emu:gfx942", "emu:gfx1100", "emu:gfx1201"}) {
    SCOPED_TRACE(target);
    EXPECT_EQ(run(target, [](auto &) {}), "") << "the right kernel";
    EXPECT_EQ(run(target, eraseAcquires), "not seen\n");
    if (isRdna(target))
      EXPECT_EQ(run(target, orderSharedMemoryAlone), "not seen\n");
  }
}

/// Nothing is acquired: what goes by the caches sees what the other program has stored, be it an
/// access to a buffer, and what does not sees what it has seen before.
TEST(SourceBugs, LoadsThatGoByTheCachesNeedNoAcquire) {
  auto run = [](const char *target, const std::string &modifier, bool *isOfBuffer) {
    SourceOptions options;
    options.edit = [&](mlir::ModuleOp &module) {
      *isOfBuffer = false;
      module.walk([&](mlir::ROCDL::RawPtrBufferLoadOp load) {
        *isOfBuffer |= load->hasAttr(kiln::bypassesCachesAttr);
      });
    };
    return runTwoPrograms(readingAgain("relaxed", modifier), target, options);
  };
  for (const char *target : {"emu:gfx90a", "emu:gfx942", "emu:gfx1100", "emu:gfx1201"}) {
    SCOPED_TRACE(target);
    bool isOfBuffer = false;
    EXPECT_EQ(run(target, ".ca", &isOfBuffer), "not seen\n");
    EXPECT_FALSE(isOfBuffer);
    EXPECT_EQ(run(target, ".cg", &isOfBuffer), "");
    EXPECT_TRUE(isOfBuffer);
  }
}

/// A program sets a flag behind its stores and waits for the answer of another one, which has read
/// them by then. A wave of AMD releases its own stores, and what has arrived: on CDNA those of
/// other waves are late without their wait in front of the barrier, on RDNA if that is not full.
TEST(SourceBugs, AReleaseOfOneWaveAloneIsFound) {
  const std::string source = R"(
@triton.jit
def kernel(x, o, flags, N: tl.constexpr):
    i = tl.arange(0, N)
    mine = flags + tl.program_id(0)
    if tl.program_id(0) == 0:
        tl.store(x + i, i)
    else:
        while tl.atomic_add(flags, 0, sem="acquire") == 0:
            pass
        tl.store(o + i, tl.load(x + i))
    tl.atomic_xchg(mine, 1, sem="release")
    while tl.atomic_add(flags + 1, 0, sem="acquire") == 0:
        pass
)";
  auto run = [&](const char *target, const SourceOptions &options) {
    return runTwoPrograms(source, target, options);
  };
  SourceOptions withoutWaits, withoutFullBarriers;
  withoutWaits.edit = [](mlir::ModuleOp &module) {
    std::vector<mlir::Operation *> waits;
    module.walk([&](mlir::ROCDL::SWaitcntOp wait) { waits.push_back(wait); });
    EXPECT_FALSE(waits.empty());
    for (mlir::Operation *wait : waits)
      wait->erase();
  };
  withoutFullBarriers.edit = orderSharedMemoryAlone;
  EXPECT_EQ(run("emu:sm_90a", SourceOptions()), "");
  for (const char *target : {"emu:gfx90a", "emu:gfx942", "emu:gfx1100", "emu:gfx1201"}) {
    EXPECT_EQ(run(target, SourceOptions()), "") << target;
    EXPECT_EQ(run(target, isRdna(target) ? withoutFullBarriers : withoutWaits), "not seen\n")
        << target;
  }
}

/// The thread's number, in the operations of the module's target, which has barriers.
mlir::Value threadIn(mlir::OpBuilder &b, mlir::Location loc, mlir::ModuleOp module) {
  bool isAmd =
      mlir::isa<mlir::ROCDL::BarrierOp, mlir::ROCDL::SBarrierOp>(barriersOf(module).front());
  return isAmd ? mlir::Value(mlir::ROCDL::ThreadIdXOp::create(b, loc, b.getI32Type()))
               : mlir::Value(mlir::NVVM::ThreadIdXOp::create(b, loc, b.getI32Type()));
}

TEST(SourceBugs, ABarrierThatHalfOfTheThreadsReachIsFound) {
  for (const char *target : gpus) {
    SourceOptions options;
    options.edit = [](mlir::ModuleOp &module) {
      mlir::Operation *barrier = barriersOf(module).front();
      mlir::OpBuilder b(barrier);
      mlir::Location loc = barrier->getLoc();
      mlir::Type word = b.getI32Type();
      mlir::Value thread = threadIn(b, loc, module);
      mlir::Value half = mlir::LLVM::ConstantOp::create(b, loc, word, b.getI32IntegerAttr(64));
      mlir::Value isBelow =
          mlir::LLVM::ICmpOp::create(b, loc, mlir::LLVM::ICmpPredicate::ult, thread, half);
      mlir::Block *before = barrier->getBlock(), *with = before->splitBlock(barrier),
                  *after = with->splitBlock(barrier->getNextNode());
      b.setInsertionPointToEnd(before);
      mlir::LLVM::CondBrOp::create(b, loc, isBelow, with, after);
      b.setInsertionPointToEnd(with);
      mlir::LLVM::BrOp::create(b, loc, after);
    };
    std::string found = cases[1].run(cases[1].source, target, options);
    // The others have ended, or wait at another one.
    bool isFound = found.find("64 wait at") != std::string::npos ||
                   found.find("divergent barrier: other threads wait at") != std::string::npos;
    EXPECT_TRUE(isFound) << target << ": " << found;
  }
}

/// What writes shared memory with its address: a store, or a copy.
mlir::OpOperand *sharedAddressOf(mlir::Operation *op) {
  auto address = mlir::isa<mlir::LLVM::StoreOp>(op)     ? &op->getOpOperand(1)
                 : mlir::isa<mlir::NVVM::CpAsyncOp>(op) ? &op->getOpOperand(0)
                                                        : nullptr;
  auto type = address ? mlir::dyn_cast<mlir::LLVM::LLVMPointerType>(address->get().getType())
                      : mlir::LLVM::LLVMPointerType();
  return type && type.getAddressSpace() == 3 ? address : nullptr;
}

/// The right address moved by a row of banks: what is read is another's, or nobody's.
TEST(SourceBugs, AWrongSwizzleIsFound) {
  for (const char *target : gpus) {
    SourceOptions options;
    options.edit = [](mlir::ModuleOp &module) {
      mlir::OpOperand *address = nullptr;
      module.walk([&](mlir::Operation *op) {
        if (!address)
          address = sharedAddressOf(op);
      });
      ASSERT_TRUE(address);
      mlir::OpBuilder b(address->getOwner());
      mlir::Value moved = mlir::LLVM::GEPOp::create(
          b, address->getOwner()->getLoc(), address->get().getType(), b.getI8Type(), address->get(),
          mlir::ArrayRef<mlir::LLVM::GEPArg>{mlir::LLVM::GEPArg(128)});
      address->assign(moved);
    };
    EXPECT_NE(cases[1].run(cases[1].source, target, options), "") << target;
  }
}

/// One of two groups of lanes reads a row of banks further on than it should.
TEST(SourceBugs, AWrongLaneGroupIsFound) {
  for (const char *target : gpus) {
    SourceOptions options;
    options.edit = [](mlir::ModuleOp &module) {
      mlir::LLVM::LoadOp load;
      module.walk([&](mlir::LLVM::LoadOp op) {
        auto type = mlir::cast<mlir::LLVM::LLVMPointerType>(op.getAddr().getType());
        if (!load && type.getAddressSpace() == 3)
          load = op;
      });
      ASSERT_TRUE(load);
      mlir::OpBuilder b(load);
      mlir::Location loc = load.getLoc();
      mlir::Type word = b.getI32Type();
      auto number = [&](int value) -> mlir::Value {
        return mlir::LLVM::ConstantOp::create(b, loc, word, b.getI32IntegerAttr(value));
      };
      // Lanes with 4 in their numbers: 4 times 32 bytes.
      mlir::Value group = mlir::LLVM::AndOp::create(b, loc, threadIn(b, loc, module), number(4));
      mlir::Value bytes = mlir::LLVM::MulOp::create(b, loc, group, number(32));
      mlir::Value moved =
          mlir::LLVM::GEPOp::create(b, loc, load.getAddr().getType(), b.getI8Type(), load.getAddr(),
                                    mlir::ArrayRef<mlir::LLVM::GEPArg>{bytes});
      load.getAddrMutable().assign(moved);
    };
    EXPECT_NE(cases[1].run(cases[1].source, target, options), "") << target;
  }
}

TEST(SourceBugs, AnOffByOneMaskNamesTheArgument) {
  const std::string source = R"(
@triton.jit
def kernel(x, o, n, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i, mask=i < n)
    tl.store(o + i, v, mask=i <= n)
)";
  for (const char *target : gpus) {
    Buffer<float> x(100), out(100);
    std::string found = runSource(
        source, target, {{"x", "*fp32", x}, {"o", "*fp32", out}, {"n", "i32", 100}}, {{"N", 128}});
    EXPECT_NE(found.find("store to no registered allocation: 4 bytes at 0x"), std::string::npos)
        << target << ": " << found;
    EXPECT_NE(found.find("it is element 100 of argument 'o' (number 1 of the kernel's), 0 bytes "
                         "behind its allocation of 400 bytes"),
              std::string::npos)
        << found;
    EXPECT_EQ(found.find("load from"), std::string::npos) << "the load's mask is right";
  }
}

TEST(SourceBugs, APromiseThatIsNotKeptIsAMisalignedVector) {
  const std::string source = R"(
@triton.jit
def kernel(x, o, start, N: tl.constexpr):
    i = tl.multiple_of(start, 4) + tl.arange(0, N)
    tl.store(o + tl.arange(0, N), tl.load(x + i))
)";
  for (const char *target : gpus)
    for (int start : {4, 5}) {
      Buffer<float> x(600), out(512);
      std::string found = runSource(
          source, target, {{"x", "*fp32", x}, {"o", "*fp32", out}, {"start", "i32:2", start}},
          {{"N", 512}});
      // Buffers want no more than whole words of AMD's.
      bool isInBuffer = std::string(target).find("gfx") != std::string::npos;
      if (start == 4 || isInBuffer)
        EXPECT_EQ(found, "") << target;
      else
        EXPECT_NE(found.find("misaligned access: "), std::string::npos) << target << ": " << found;
    }
}

} // namespace
