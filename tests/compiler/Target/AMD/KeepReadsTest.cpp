//===- KeepReadsTest.cpp - Loads that stay in front of barriers ----------------===//

#include "compiler/Target/AMD/KeepReads.h"
#include "tests/compiler/Target/AssemblyOfIR.h"
#include "llvm/ADT/StringExtras.h"

using namespace kiln;
using namespace kiln::testing;

namespace {

/// "read" and "barrier", in the code of a read of shared memory, an operation on what it read, and
/// a barrier, behind which a branch alone needs that. What is `between` stands in front of the
/// barrier.
std::string orderOf(const std::string &name, const std::string &operation,
                    const std::string &between = "") {
  keepReads();
  std::string ir = R"(
@kiln_shared = external addrspace(3) global [32768 x i8], align 16
declare void @llvm.amdgcn.s.barrier()
define amdgpu_kernel void @f(ptr addrspace(1) %out, i32 %n, i32 %place) {
  %p = getelementptr float, ptr addrspace(3) @kiln_shared, i32 %place
  %read = load float, ptr addrspace(3) %p
)" + operation + between +
                   R"(
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier()
  fence syncscope("workgroup") acquire
  %any = icmp sgt i32 %n, 0
  br i1 %any, label %then, label %end
then:
  store float %value, ptr addrspace(1) %out
  br label %end
end:
  ret void
})";
  llvm::SmallVector<llvm::StringRef> order;
  for (llvm::StringRef instruction : assemblyOf(name, ir)) {
    if (instruction.starts_with("ds_"))
      order.push_back("read");
    if (instruction == "s_barrier" || instruction.starts_with("s_barrier_signal"))
      order.push_back("barrier");
  }
  return llvm::join(order, " ");
}

TEST(KeepReads, StandInFrontOfBarriers) {
  for (const char *name : {"hip:gfx942", "hip:gfx1100", "hip:gfx1201"}) {
    EXPECT_EQ(orderOf(name, "  %value = fadd float %read, 0.0"), "read barrier") << name;
    EXPECT_EQ(orderOf(name, "  %value = fmul float %read, %read"), "read barrier") << name;
  }
}

TEST(KeepReads, StandInFrontOfBarriersOfBlocksBehindTheirs) {
  constexpr const char *branch = R"(
  %some = icmp sgt i32 %place, 4
  br i1 %some, label %more, label %end
more:)";
  for (const char *name : {"hip:gfx942", "hip:gfx1100", "hip:gfx1201"})
    EXPECT_EQ(orderOf(name, "  %value = fmul float %read, %read", branch), "read barrier") << name;
}

} // namespace
