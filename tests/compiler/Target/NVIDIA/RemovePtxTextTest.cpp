//===- RemovePtxTextTest.cpp - Cubins without the text they were made of -------===//

#include "compiler/Target/NVIDIA/RemovePtxText.h"
#include "compiler/Target/NVIDIA/CubinReader.h"
#include "compiler/Target/NVIDIA/Ptxas.h"
#include "tests/compiler/Target/EveryScalarKernel.h"
#include "llvm/Object/ELF.h"

using namespace kiln;
using namespace kiln::testing;

namespace {

using File = llvm::object::ELFFile<llvm::object::ELF64LE>;

llvm::StringRef text(const std::vector<char> &bytes) { return {bytes.data(), bytes.size()}; }

/// What ptxas itself makes of a kernel, PTX and all.
std::vector<char> assembled(const char *name) {
  EmitOptions options;
  options.cudaEmit = CudaEmit::Both;
  TargetInfo info = target(name);
  DeviceBinary binary =
      emitted(emitText(everyScalarKernel(), everyScalarFacts(info), info, options));
  auto result = runPtxas(binary.ptx, 3, info, options);
  EXPECT_TRUE(bool(result));
  return result ? result->cubin : std::vector<char>();
}

class RemovePtxText : public ::testing::TestWithParam<const char *> {};

TEST_P(RemovePtxText, KeepsEveryOtherSection) {
  std::vector<char> before = assembled(GetParam()), after = before;
  removePtxText(after);
  EXPECT_NE(text(before).find(".visible .entry"), llvm::StringRef::npos);
  EXPECT_EQ(text(after).find(".visible .entry"), llvm::StringRef::npos);
  EXPECT_LT(after.size() + 512, before.size());

  File old = llvm::cantFail(File::create(text(before))),
       made = llvm::cantFail(File::create(text(after)));
  auto oldSections = llvm::cantFail(old.sections()), sections = llvm::cantFail(made.sections());
  ASSERT_EQ(sections.size(), oldSections.size());
  for (size_t i = 0; i < sections.size(); ++i) {
    llvm::StringRef name = llvm::cantFail(made.getSectionName(sections[i]));
    EXPECT_EQ(name, llvm::cantFail(old.getSectionName(oldSections[i])));
    if (sections[i].sh_addralign)
      EXPECT_EQ(sections[i].sh_offset % sections[i].sh_addralign, 0u) << name.str();
    if (name == ".nv_debug_ptx_txt") {
      EXPECT_EQ(sections[i].sh_size, 0u);
      continue;
    }
    EXPECT_EQ(sections[i].sh_size, oldSections[i].sh_size) << name.str();
    if (sections[i].sh_type != llvm::ELF::SHT_NOBITS)
      EXPECT_EQ(llvm::cantFail(made.getSectionContents(sections[i])),
                llvm::cantFail(old.getSectionContents(oldSections[i])))
          << name.str();
  }
}

TEST_P(RemovePtxText, HasNothingToDoTwice) {
  std::vector<char> once = assembled(GetParam());
  removePtxText(once);
  std::vector<char> twice = once;
  removePtxText(twice);
  EXPECT_EQ(once, twice);
}

TEST_P(RemovePtxText, SurvivesDamage) {
  damage(assembled(GetParam()), 2000, [](llvm::StringRef bytes) {
    std::vector<char> cubin(bytes.begin(), bytes.end());
    removePtxText(cubin);
    EXPECT_LE(cubin.size(), bytes.size());
  });
}

INSTANTIATE_TEST_SUITE_P(Targets, RemovePtxText, ::testing::Values("cuda:sm_80", "cuda:sm_90a"),
                         [](const auto &info) {
                           return llvm::StringRef(info.param).split(':').second.str();
                         });

} // namespace
