//===- CarryHalvesTest.cpp - Halves that cross blocks ---------------------------===//

#include "compiler/Target/AMD/CarryHalves.h"
#include "tests/compiler/Target/AssemblyOfIR.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Verifier.h"

using namespace kiln;
using namespace kiln::testing;

namespace {

/// A kernel that does this by its arguments, %in, %out and %n, and the thread's number.
std::string kernelOf(const std::string &body) {
  return R"(
declare i32 @llvm.amdgcn.workitem.id.x()
define amdgpu_kernel void @f(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %n) {
entry:
  %thread = call i32 @llvm.amdgcn.workitem.id.x()
)" + body +
         "  ret void\n}\n";
}

/// How many loads of 16 bits are in the kernel's code.
int loadsOf(const std::string &name, const std::string &body, bool carries) {
  auto carry = [&](llvm::Module &module, llvm::TargetMachine &machine) {
    if (carries)
      carryHalvesAsWords(*module.getFunction("f"), machine);
  };
  return llvm::count_if(assemblyOf(name, kernelOf(body), carry), [](llvm::StringRef line) {
    bool isOfHalf = line.contains("_b16") || line.contains("_u16") || line.contains("short");
    return line.contains("_load_") && isOfHalf;
  });
}

const char *const branch = R"(
  %p = getelementptr half, ptr addrspace(1) %in, i32 %thread
  %mine = load half, ptr addrspace(1) %p
  %u = getelementptr half, ptr addrspace(1) %in, i32 %n
  store i32 5, ptr addrspace(1) %out
  %same = load half, ptr addrspace(1) %u
  %some = icmp slt i32 %thread, 7
  br i1 %some, label %then, label %end
then:
  store i32 7, ptr addrspace(1) %in
  br label %end
end:
  %low = insertelement <2 x half> poison, half %mine, i64 0
  %both = insertelement <2 x half> %low, half %same, i64 1
  %o = getelementptr <2 x half>, ptr addrspace(1) %out, i32 %thread
  store <2 x half> %both, ptr addrspace(1) %o
)";

const char *const loop = R"(
  %first = load bfloat, ptr addrspace(1) %in
  br label %body
body:
  %i = phi i32 [ 0, %entry ], [ %next, %body ]
  %same = phi bfloat [ %first, %entry ], [ %loaded, %body ]
  %next = add i32 %i, 1
  %p = getelementptr bfloat, ptr addrspace(1) %in, i32 %thread
  %mine = load bfloat, ptr addrspace(1) %p
  %low = insertelement <2 x bfloat> poison, bfloat %mine, i64 0
  %both = insertelement <2 x bfloat> %low, bfloat %same, i64 1
  %place = add i32 %i, %thread
  %o = getelementptr <2 x bfloat>, ptr addrspace(1) %out, i32 %place
  store <2 x bfloat> %both, ptr addrspace(1) %o
  %u = getelementptr bfloat, ptr addrspace(1) %in, i32 %next
  %loaded = load bfloat, ptr addrspace(1) %u
  %again = icmp slt i32 %next, %n
  br i1 %again, label %body, label %end
end:
)";

/// A phi that takes one that lanes do not have alike, but which takes a half that they do.
const char *const phis = R"(
  %u = getelementptr half, ptr addrspace(1) %in, i32 %n
  %same = load half, ptr addrspace(1) %u
  %p = getelementptr half, ptr addrspace(1) %in, i32 %thread
  %mine = load half, ptr addrspace(1) %p
  %some = icmp slt i32 %thread, 7
  br i1 %some, label %outer, label %end
outer:
  %few = icmp slt i32 %thread, 3
  br i1 %few, label %inner, label %middle
inner:
  store i32 7, ptr addrspace(1) %out
  br label %middle
middle:
  %one = phi half [ %same, %inner ], [ %mine, %outer ]
  br label %end
end:
  %other = phi half [ %one, %middle ], [ 0xH3C00, %entry ]
  %o = getelementptr half, ptr addrspace(1) %out, i32 %thread
  store half %other, ptr addrspace(1) %o
)";

/// The pair is needed in another block alone, and LLVM puts it together there.
const char *const pair = R"(
  store i32 5, ptr addrspace(1) %out
  %same = load half, ptr addrspace(1) %in
  %p = getelementptr half, ptr addrspace(1) %in, i32 %thread
  %mine = load half, ptr addrspace(1) %p
  %more = fadd half %mine, 1.0
  %low = insertelement <2 x half> poison, half %same, i64 0
  %both = insertelement <2 x half> %low, half %more, i64 1
  %some = icmp slt i32 %thread, 7
  br i1 %some, label %then, label %end
then:
  store i32 7, ptr addrspace(1) %in
  br label %end
end:
  %turned = fneg <2 x half> %both
  %o = getelementptr <2 x half>, ptr addrspace(1) %out, i32 %thread
  store <2 x half> %turned, ptr addrspace(1) %o
)";

/// Phis of each other.
const char *const circle = R"(
  %p = getelementptr half, ptr addrspace(1) %in, i32 %thread
  %mine = load half, ptr addrspace(1) %p
  %u = getelementptr half, ptr addrspace(1) %in, i32 %n
  %same = load half, ptr addrspace(1) %u
  br label %body
body:
  %i = phi i32 [ 0, %entry ], [ %next, %latch ]
  %a = phi half [ %same, %entry ], [ %b, %latch ]
  %x = phi half [ %same, %entry ], [ %y, %latch ]
  %some = icmp slt i32 %thread, %i
  br i1 %some, label %then, label %join
then:
  store half %a, ptr addrspace(1) %p
  br label %join
join:
  %b = phi half [ %a, %body ], [ %mine, %then ]
  %even = icmp eq i32 %i, 2
  br i1 %even, label %second, label %latch
second:
  %loaded = load half, ptr addrspace(1) %in
  br label %latch
latch:
  %y = phi half [ %x, %join ], [ %loaded, %second ]
  %next = add i32 %i, 1
  %again = icmp slt i32 %next, %n
  br i1 %again, label %body, label %end
end:
  %low = insertelement <2 x half> poison, half %b, i64 0
  %both = insertelement <2 x half> %low, half %y, i64 1
  %o = getelementptr <2 x half>, ptr addrspace(1) %out, i32 %thread
  store <2 x half> %both, ptr addrspace(1) %o
)";

TEST(CarryHalves, UsersThatLeaveTheBlock) {
  for (const char *name : {"hip:gfx1100", "hip:gfx1151", "hip:gfx1201", "hip:gfx942"})
    EXPECT_EQ(loadsOf(name, pair, true), 2) << name;
  EXPECT_EQ(loadsOf("hip:gfx1100", pair, false), 1);
}

TEST(CarryHalves, PhisOfPhisAreWords) {
  for (const char *name : {"hip:gfx1100", "hip:gfx1201"})
    for (auto [body, loads] : {std::pair(phis, 2), {circle, 3}}) {
      int halves = 0;
      assemblyOf(name, kernelOf(body), [&](llvm::Module &module, llvm::TargetMachine &machine) {
        llvm::Function &kernel = *module.getFunction("f");
        carryHalvesAsWords(kernel, machine);
        EXPECT_FALSE(llvm::verifyFunction(kernel, &llvm::errs()));
        for (llvm::Instruction &value : llvm::instructions(kernel))
          halves += llvm::isa<llvm::PHINode>(value) && value.getType()->isHalfTy();
      });
      EXPECT_EQ(halves, 0) << name;
      EXPECT_EQ(loadsOf(name, body, true), loads) << name;
    }
}

TEST(CarryHalves, LoadsStay) {
  for (const char *name : {"hip:gfx1100", "hip:gfx1151", "hip:gfx1201", "hip:gfx942"}) {
    EXPECT_EQ(loadsOf(name, branch, true), 2) << name;
    EXPECT_EQ(loadsOf(name, loop, true), 3) << name;
  }
}

/// Once LLVM keeps them, the pass may go.
TEST(CarryHalves, AreLostWithout) {
  for (const char *name : {"hip:gfx1100", "hip:gfx1201"})
    EXPECT_EQ(loadsOf(name, branch, false), 1) << name;
}

} // namespace
