//===- SpaceAssemblyTest.cpp - Wait states around assembly ---------------------===//

#include "compiler/Target/AMD/SpaceAssembly.h"
#include "tests/compiler/Target/AssemblyOfIR.h"

using namespace kiln;
using namespace kiln::testing;

namespace {

struct Line {
  std::string text;
  bool isAssembly;
};

/// The instructions of a kernel with an assembly in its block.
std::vector<Line> codeOf(const std::string &name, const std::string &block) {
  spaceAssembly();
  std::string ir = R"(
declare <4 x float> @llvm.amdgcn.mfma.f32.16x16x16f16(<4 x half>, <4 x half>, <4 x float>, i32, i32, i32)
declare i32 @llvm.amdgcn.workitem.id.x()
declare float @llvm.amdgcn.exp2.f32(float)
declare i32 @llvm.amdgcn.readfirstlane.i32(i32)
define amdgpu_kernel void @f(ptr addrspace(1) %in, ptr addrspace(1) %out) "amdgpu-agpr-alloc"="0" {
  %thread = call i32 @llvm.amdgcn.workitem.id.x()
)" + block + R"(
  ret void
})";
  std::vector<Line> lines;
  bool isAssembly = false;
  for (llvm::StringRef line : assemblyOf(name, ir)) {
    llvm::StringRef instruction = line.split(';').first.trim();
    isAssembly = line.contains("ASMSTART") || (isAssembly && !line.contains("ASMEND"));
    if (instruction.starts_with("v_") || instruction.starts_with("s_") ||
        instruction.starts_with("buffer_") || instruction.starts_with("global_"))
      lines.push_back({instruction.str(), isAssembly});
  }
  return lines;
}

bool begins(const std::string &text, llvm::StringRef with) {
  return llvm::StringRef(text).starts_with(with);
}

/// Wait states between the last line that begins with `first` and the first one behind it that
/// begins with `second`.
int statesBetween(const std::vector<Line> &lines, llvm::StringRef first, llvm::StringRef second) {
  int states = -1;
  for (const Line &line : lines) {
    if (begins(line.text, first)) {
      states = 0;
      continue;
    }
    if (states >= 0 && begins(line.text, second))
      return states;
    int repeated = 0;
    if (begins(line.text, "s_nop"))
      llvm::StringRef(line.text).substr(6).getAsInteger(10, repeated);
    if (states >= 0)
      states += line.isAssembly ? 0 : 1 + repeated;
  }
  ADD_FAILURE() << first.str() << " or " << second.str() << " is not there";
  return -1;
}

std::string product() {
  return R"(
  %pointer = getelementptr <4 x half>, ptr addrspace(1) %in, i32 %thread
  %halves = load <4 x half>, ptr addrspace(1) %pointer
  %sums = call <4 x float> @llvm.amdgcn.mfma.f32.16x16x16f16(<4 x half> %halves, <4 x half> %halves, <4 x float> zeroinitializer, i32 0, i32 0, i32 0)
  %sum = extractelement <4 x float> %sums, i32 0
)";
}

TEST(SpaceAssembly, WaitsForProducts) {
  for (const char *name : {"hip:gfx90a", "hip:gfx942", "hip:gfx950"}) {
    std::vector<Line> lines = codeOf(name, product() + R"(
  %mine = call float asm "v_mul_f32 $0, $1, $1", "=v,v"(float %sum)
  store float %mine, ptr addrspace(1) %out)");
    EXPECT_EQ(statesBetween(lines, "v_mfma", "v_mul_f32"), 20) << name;
  }
}

TEST(SpaceAssembly, WaitsForTheProductOnOtherPaths) {
  std::vector<Line> lines = codeOf("hip:gfx942", product() + R"(
  %any = icmp sgt i32 %thread, 7
  br i1 %any, label %then, label %end
then:
  %mine = call float asm sideeffect "v_mul_f32 $0, $1, $1", "=v,v"(float %sum)
  store float %mine, ptr addrspace(1) %out
  br label %end
end:)");
  EXPECT_EQ(statesBetween(lines, "v_mfma", "v_mul_f32"), 20);
}

TEST(SpaceAssembly, ProductsInAssemblyAreWaitedFor) {
  std::vector<Line> lines = codeOf("hip:gfx942", product() + R"(
  %mine = call <4 x float> asm "v_mfma_f32_16x16x16_f16 $0, $1, $1, $2", "=v,v,v"(<4 x half> %halves, <4 x float> %sums)
  %other = fmul <4 x float> %mine, %mine
  store <4 x float> %other, ptr addrspace(1) %out)");
  EXPECT_EQ(statesBetween(lines, "v_mfma_f32_16x16x16_f16", "v_pk_mul"), 20);
}

TEST(SpaceAssembly, WaitsForVectorsAndScalarsOfThem) {
  std::vector<Line> lines = codeOf("hip:gfx942", R"(
  %number = uitofp i32 %thread to float
  %power = call float @llvm.amdgcn.exp2.f32(float %number)
  %mine = call float asm "v_sqrt_f32 $0, $1", "=v,v"(float %power)
  %other = fmul float %mine, 3.0
  store float %other, ptr addrspace(1) %out)");
  EXPECT_EQ(statesBetween(lines, "v_exp_f32", "v_sqrt_f32"), 2);
  EXPECT_EQ(statesBetween(lines, "v_sqrt_f32", "v_mul_f32"), 2);
  lines = codeOf("hip:gfx942", R"(
  %first = call i32 @llvm.amdgcn.readfirstlane.i32(i32 %thread)
  %mine = call i32 asm "buffer_load_dword $0, off, s[0:3], $1", "=v,s"(i32 %first)
  store i32 %mine, ptr addrspace(1) %out)");
  EXPECT_EQ(statesBetween(lines, "v_readfirstlane", "buffer_load"), 5);
}

TEST(SpaceAssembly, RdnaWaitsForItsVectorInstructions) {
  for (const char *name : {"hip:gfx1100", "hip:gfx1201"}) {
    std::vector<Line> lines = codeOf(name, R"(
  %number = uitofp i32 %thread to float
  %power = call float @llvm.amdgcn.exp2.f32(float %number)
  %mine = call float asm "v_sqrt_f32 $0, $1", "=v,v"(float %power)
  %other = fmul float %mine, 3.0
  store float %other, ptr addrspace(1) %out)");
    std::string order;
    for (const Line &line : lines)
      for (const char *known :
           {"v_exp_f32", "v_sqrt_f32", "v_mul_f32", "s_waitcnt_depctr", "s_wait_alu"})
        if (begins(line.text, known))
          order += std::string(begins(known, "s_") ? "wait" : known) + " ";
    // LLVM waits for the root, too, but for nothing else.
    std::string ofBoth = name == std::string("hip:gfx1100") ? "wait wait " : "wait ";
    EXPECT_EQ(order, "v_exp_f32 wait v_sqrt_f32 " + ofBoth + "v_mul_f32 ") << name;
  }
}

} // namespace
