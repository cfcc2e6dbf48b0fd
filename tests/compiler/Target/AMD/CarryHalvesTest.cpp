//===- CarryHalvesTest.cpp - Halves that cross blocks ---------------------------===//

#include "compiler/Target/AMD/CarryHalves.h"
#include "tests/compiler/Target/AssemblyOfIR.h"

using namespace kiln;
using namespace kiln::testing;

namespace {

/// How many loads of 16 bits are in the code.
int loadsOf(const std::string &name, const std::string &code, bool carries) {
  auto carry = [&](llvm::Module &module, llvm::TargetMachine &machine) {
    if (carries)
      carryHalvesAsWords(*module.getFunction("f"), machine);
  };
  return llvm::count_if(assemblyOf(name, code, carry), [](llvm::StringRef line) {
    bool isOfHalf = line.contains("_b16") || line.contains("_u16") || line.contains("short");
    return line.contains("_load_") && isOfHalf;
  });
}

const char *branch = R"(
declare i32 @llvm.amdgcn.workitem.id.x()
define amdgpu_kernel void @f(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %n) {
  %thread = call i32 @llvm.amdgcn.workitem.id.x()
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
  ret void
})";

const char *loop = R"(
declare i32 @llvm.amdgcn.workitem.id.x()
define amdgpu_kernel void @f(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %n) {
entry:
  %thread = call i32 @llvm.amdgcn.workitem.id.x()
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
  ret void
})";

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
