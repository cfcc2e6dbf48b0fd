//===- JoinCopiesTest.cpp - Copies of one buffer as one text -------------===//

#include "compiler/Target/AMD/JoinCopies.h"
#include "compiler/Target/BufferCopies.h"
#include "tests/compiler/Target/EveryScalarKernel.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Verifier.h"

using namespace kiln::testing;

namespace {

/// A copy of what is at the offset to the address.
std::string copy(const std::string &offset, const std::string &to, const std::string &low = "%low",
                 const std::string &high = "%high") {
  std::string text;
  llvm::raw_string_ostream out(text);
  llvm::printEscapedString(kiln::bufferCopyText({}), out);
  return "  call void asm sideeffect \"" + text + "\", \"" + kiln::bufferCopyConstraints({}) +
         "\"(i32 " + offset + ", i64 " + low + ", i64 " + high + ", i32 " + to + ")\n";
}

/// The operands of each text that is left, one of which is what these are.
std::string textsAfter(const std::string &body, const kiln::BufferCopies &expected = {}) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module = parseIR("declare void @llvm.amdgcn.s.barrier()\n"
                                                 "declare i64 @llvm.amdgcn.readfirstlane.i64(i64)\n"
                                                 "define void @f(i32 %a, i32 %b, i64 %low, i64 "
                                                 "%other, i64 %high, i32 %to, i32 %elsewhere) {\n" +
                                                     body + "  ret void\n}",
                                                 context);
  kiln::joinCopies(*module->getFunction("f"));
  EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs()));
  std::string texts;
  bool isThere = false;
  for (llvm::Instruction &instruction : llvm::instructions(*module->getFunction("f"))) {
    auto *call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    auto *text = call ? llvm::dyn_cast<llvm::InlineAsm>(call->getCalledOperand()) : nullptr;
    if (!text)
      continue;
    isThere |= text->getAsmString() == kiln::bufferCopyText(expected) &&
               text->getConstraintString() == kiln::bufferCopyConstraints(expected);
    texts += texts.empty() ? "" : "; ";
    texts += llvm::join(
        llvm::map_range(call->args(), [](const llvm::Use &use) { return use->getName().str(); }),
        " ");
  }
  EXPECT_TRUE(isThere);
  return texts;
}

TEST(JoinCopies, OneDescriptorIsMovedOnce) {
  kiln::BufferCopies two{{0, 0}, {1, 1}};
  EXPECT_EQ(textsAfter(copy("%a", "%to") + copy("%b", "%elsewhere"), two),
            "a b low high to elsewhere");
  EXPECT_EQ(kiln::bufferCopyText(two), "s_mov_b32 m0, $4\n"
                                       "s_mov_b64 s[96:97], $2\n"
                                       "s_mov_b64 s[98:99], $3\n"
                                       "buffer_load_dwordx4 $0, s[96:99], 0 offen lds\n"
                                       "s_mov_b32 m0, $5\n"
                                       "s_nop 0\n"
                                       "buffer_load_dwordx4 $1, s[96:99], 0 offen lds");
}

TEST(JoinCopies, AddressesAtConstantDistancesAreAddedUp) {
  std::string pieces = "  %first = shl i32 %to, 14\n  %second = or disjoint i32 %first, 4096\n"
                       "  %third = add i32 %first, 1024\n";
  EXPECT_EQ(textsAfter(pieces + copy("%a", "%first") + copy("%b", "%second") + copy("%a", "%third"),
                       {{0, 0, 0}, {1, 1, 1}, {4096, uint32_t(-3072)}}),
            "a b a low high first");
  kiln::BufferCopies two{{0, 0}, {1, 1}, {4096}};
  EXPECT_EQ(kiln::bufferCopyText(two), "s_mov_b32 m0, $4\n"
                                       "s_mov_b64 s[96:97], $2\n"
                                       "s_mov_b64 s[98:99], $3\n"
                                       "buffer_load_dwordx4 $0, s[96:99], 0 offen lds\n"
                                       "s_add_u32 m0, m0, 4096\n"
                                       "s_nop 0\n"
                                       "buffer_load_dwordx4 $1, s[96:99], 0 offen lds");
  EXPECT_EQ(kiln::bufferCopyConstraints(two),
            "v,v,s,s,s,~{s96},~{s97},~{s98},~{s99},~{m0},~{scc},~{memory}");
}

TEST(JoinCopies, AddressesWhoseDistanceIsNotKnownAreMoved) {
  std::string next = "  %next = add i32 %elsewhere, 1024\n";
  kiln::BufferCopies three{{0, 2, 2}, {1, 1, 1}, {std::nullopt, 1024}};
  EXPECT_EQ(textsAfter(next + copy("%a", "%to") + copy("%b", "%elsewhere", "%other") +
                           copy("%a", "%next", "%other"),
                       three),
            "a b a low high other to elsewhere");
  EXPECT_EQ(kiln::bufferCopyText(three), "s_mov_b32 m0, $6\n"
                                         "s_mov_b64 s[96:97], $3\n"
                                         "s_mov_b64 s[98:99], $4\n"
                                         "buffer_load_dwordx4 $0, s[96:99], 0 offen lds\n"
                                         "s_mov_b32 m0, $7\n"
                                         "s_mov_b64 s[96:97], $5\n"
                                         "buffer_load_dwordx4 $1, s[96:99], 0 offen lds\n"
                                         "s_add_u32 m0, m0, 1024\n"
                                         "s_nop 0\n"
                                         "buffer_load_dwordx4 $2, s[96:99], 0 offen lds");
}

TEST(JoinCopies, OfTwoBuffersWhatDiffersIsMoved) {
  kiln::BufferCopies two{{0, 2}, {1, 1}};
  EXPECT_EQ(textsAfter(copy("%a", "%to") + copy("%b", "%elsewhere", "%other"), two),
            "a b low high other to elsewhere");
  EXPECT_EQ(kiln::bufferCopyText(two), "s_mov_b32 m0, $5\n"
                                       "s_mov_b64 s[96:97], $2\n"
                                       "s_mov_b64 s[98:99], $3\n"
                                       "buffer_load_dwordx4 $0, s[96:99], 0 offen lds\n"
                                       "s_mov_b32 m0, $6\n"
                                       "s_mov_b64 s[96:97], $4\n"
                                       "buffer_load_dwordx4 $1, s[96:99], 0 offen lds");
}

/// Numbers of bytes that are computed alike, of descriptors with other bases.
TEST(JoinCopies, EqualHalvesOfTwoDescriptorsAreMovedOnce) {
  auto halves = [](const std::string &base, const std::string &bytes, const std::string &n) {
    return "  %wide" + n + " = zext i32 " + bytes + " to i64\n  %upper" + n + " = or i64 %wide" +
           n + ", 4096\n  %p" + n + " = insertelement <2 x i64> poison, i64 " + base +
           ", i64 0\n  %q" + n + " = insertelement <2 x i64> %p" + n + ", i64 %upper" + n +
           ", i64 1\n  %b" + n + " = bitcast <2 x i64> %q" + n + " to i128\n  %d" + n +
           " = inttoptr i128 %b" + n + " to ptr addrspace(8)\n  %i" + n +
           " = ptrtoint ptr addrspace(8) %d" + n + " to i128\n  %s" + n + " = lshr i128 %i" + n +
           ", 64\n  %t" + n + " = trunc i128 %s" + n + " to i64\n  %high" + n +
           " = call i64 @llvm.amdgcn.readfirstlane.i64(i64 %t" + n + ")\n";
  };
  auto both = [&](const std::string &bytes) {
    return halves("%low", "%a", "0") + halves("%other", bytes, "1") +
           copy("%a", "%to", "%low", "%high0") + copy("%b", "%elsewhere", "%other", "%high1");
  };
  EXPECT_EQ(textsAfter(both("%a"), {{0, 2}, {1, 1}}), "a b low high0 other to elsewhere");
  EXPECT_EQ(textsAfter(both("%b"), {{0, 2}, {1, 3}}), "a b low high0 other high1 to elsewhere");
}

TEST(JoinCopies, UpToFourOfABufferAndEight) {
  std::string one = copy("%a", "%to") + copy("%a", "%elsewhere"),
              other = copy("%b", "%to", "%other") + copy("%b", "%elsewhere", "%other");
  EXPECT_EQ(
      textsAfter(one + one + other + other, {{0, 0, 0, 0, 2, 2, 2, 2}, {1, 1, 1, 1, 1, 1, 1, 1}}),
      "a a a a b b b b low high other to elsewhere to elsewhere to elsewhere to elsewhere");
  EXPECT_EQ(
      textsAfter(one + one + other + one + one + one, {{0, 0, 0, 0, 0, 0}, {1, 1, 1, 1, 1, 1}}),
      "a a a a b b low high other to elsewhere to elsewhere to elsewhere; "
      "a a a a a a low high to elsewhere to elsewhere to elsewhere");
}

TEST(JoinCopies, OthersStayApart) {
  EXPECT_EQ(
      textsAfter(copy("%a", "%to") + "  call void @llvm.amdgcn.s.barrier()\n" + copy("%b", "%to")),
      "a low high to; b low high to");
  EXPECT_EQ(textsAfter(copy("%a", "%to") + "  br label %next\nnext:\n" + copy("%b", "%to")),
            "a low high to; b low high to");
}

} // namespace
