//===- PermuteBytesTest.cpp - Bytes of several words in one --------------------===//

#include "compiler/Target/AMD/PermuteBytes.h"
#include "tests/compiler/Target/CPU/LoadedObject.h"
#include "tests/compiler/Target/EveryScalarKernel.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Target/TargetMachine.h"

#include <array>
#include <random>

using namespace kiln::testing;

namespace {

constexpr unsigned numBytes = 64;
using Bytes = std::array<uint8_t, numBytes>;

/// Four vectors of sixteen bytes, and v_perm_b32 as the ISA's documents have it: the bytes of the
/// second operand are numbered first, and 12 is zero.
const char *const head = R"(
define i32 @permuted(i32 %high, i32 %low, i32 %selector) {
  %upper = zext i32 %high to i64
  %lower = zext i32 %low to i64
  %moved = shl i64 %upper, 32
  %both = or i64 %moved, %lower
  br label %loop
loop:
  %i = phi i32 [ 0, %0 ], [ %next, %loop ]
  %known = phi i32 [ 0, %0 ], [ %result, %loop ]
  %shift = shl i32 %i, 3
  %selected = lshr i32 %selector, %shift
  %number = and i32 %selected, 7
  %distance = shl i32 %number, 3
  %distance64 = zext i32 %distance to i64
  %at = lshr i64 %both, %distance64
  %byte = trunc i64 %at to i8
  %wide = zext i8 %byte to i32
  %placed = shl i32 %wide, %shift
  %result = or i32 %known, %placed
  %next = add i32 %i, 1
  %goes = icmp ult i32 %next, 4
  br i1 %goes, label %loop, label %done
done:
  ret i32 %result
}
define void @f(ptr %in, ptr %out, ptr %unused, ptr %none) {
  %p1 = getelementptr i8, ptr %in, i32 16
  %p2 = getelementptr i8, ptr %in, i32 32
  %p3 = getelementptr i8, ptr %in, i32 48
  %w0 = load <4 x i32>, ptr %in, align 1
  %v0 = bitcast <4 x i32> %w0 to <16 x i8>
  %v1 = load <16 x i8>, ptr %p1, align 1
  %w2 = load <2 x i64>, ptr %p2, align 1
  %v2 = bitcast <2 x i64> %w2 to <16 x i8>
  %v3 = load <16 x i8>, ptr %p3, align 1
  %q1 = getelementptr i8, ptr %out, i32 16
  %q2 = getelementptr i8, ptr %out, i32 32
  %q3 = getelementptr i8, ptr %out, i32 48
)";

/// `name` from bytes of the four vectors, by their numbers: one by one where `isInserted`, else
/// vector by vector.
std::string vectorOf(const std::string &name, const std::array<unsigned, 16> &bytes,
                     bool isInserted) {
  std::string body, last = "poison";
  if (isInserted) {
    for (unsigned i = 0; i < 16; ++i) {
      std::string at = name + std::to_string(i);
      body += "  " + at + ".b = extractelement <16 x i8> %v" + std::to_string(bytes[i] / 16) +
              ", i32 " + std::to_string(bytes[i] % 16) + "\n";
      std::string made = i == 15 ? name : at;
      body += "  " + made + " = insertelement <16 x i8> " + last + ", i8 " + at + ".b, i32 " +
              std::to_string(i) + "\n";
      last = made;
    }
    return body;
  }
  for (unsigned vector = 0; vector < 4; ++vector) {
    std::string mask;
    for (unsigned i = 0; i < 16; ++i)
      mask += std::string(i ? ", " : "") + "i32 " +
              std::to_string(bytes[i] / 16 == vector ? 16 + bytes[i] % 16 : i);
    std::string made = vector == 3 ? name : name + ".of" + std::to_string(vector);
    body += "  " + made + " = shufflevector <16 x i8> " + last + ", <16 x i8> %v" +
            std::to_string(vector) + ", <16 x i32> <" + mask + ">\n";
    last = made;
  }
  return body;
}

std::string stored(const std::array<std::array<unsigned, 16>, 4> &bytes, bool isInserted) {
  std::string body;
  for (unsigned i = 0; i < 4; ++i)
    body += vectorOf("%x" + std::to_string(i), bytes[i], isInserted);
  for (unsigned i = 0; i < 4; ++i)
    body += "  store <16 x i8> %x" + std::to_string(i) + ", ptr " +
            (i ? "%q" + std::to_string(i) : "%out") + ", align 1\n";
  return head + body + "  ret void\n}\n";
}

/// How many instructions permute, having found that the bytes are those that are asked for.
unsigned permutations(const std::array<std::array<unsigned, 16>, 4> &bytes, bool isInserted) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module = parseIR(stored(bytes, isInserted), context);
  kiln::permuteBytes(*module->getFunction("f"));
  EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs()));
  unsigned count = 0;
  for (llvm::Instruction &op : llvm::instructions(*module->getFunction("f")))
    if (auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&op)) {
      EXPECT_EQ(call->getIntrinsicID(), llvm::Intrinsic::amdgcn_perm);
      call->setCalledFunction(module->getFunction("permuted"));
      ++count;
    }
  std::unique_ptr<llvm::TargetMachine> host = hostMachine();
  module->setDataLayout(host->createDataLayout());
  LoadedObject object(*module, *host, "f");
  Bytes in, out{};
  for (unsigned i = 0; i < numBytes; ++i)
    in[i] = uint8_t(i * 37 + 11);
  object.as<void(const uint8_t *, uint8_t *, void *, void *)>()(in.data(), out.data(), nullptr,
                                                                nullptr);
  for (unsigned i = 0; i < numBytes; ++i)
    EXPECT_EQ(out[i], in[bytes[i / 16][i % 16]]) << i;
  return count;
}

TEST(PermuteBytes, TakesTwoInstructionsForAWordOfATransposedTile) {
  std::array<std::array<unsigned, 16>, 4> bytes;
  for (unsigned i = 0; i < numBytes; ++i)
    bytes[i / 16][i % 16] = i % 4 * 16 + i / 4;
  for (bool isInserted : {false, true})
    EXPECT_EQ(permutations(bytes, isInserted), 32u);
}

TEST(PermuteBytes, TakesOneForBytesOfTwoWords) {
  std::array<std::array<unsigned, 16>, 4> bytes;
  for (unsigned i = 0; i < numBytes; ++i)
    bytes[i / 16][i % 16] = i % 2 * 16 + i / 2 % 16;
  EXPECT_EQ(permutations(bytes, false), 16u);
}

TEST(PermuteBytes, LeavesWholeWords) {
  std::array<std::array<unsigned, 16>, 4> bytes;
  for (unsigned i = 0; i < numBytes; ++i)
    bytes[i / 16][i % 16] = i / 4 * 20 % 64 + i % 4;
  EXPECT_EQ(permutations(bytes, false), 0u);
}

TEST(PermuteBytes, AnyBytes) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::mt19937 random(seed);
    std::array<std::array<unsigned, 16>, 4> bytes;
    for (auto &vector : bytes)
      for (unsigned &byte : vector)
        byte = unsigned(random() % numBytes);
    EXPECT_LE(permutations(bytes, seed % 2), 48u) << seed;
  }
}

} // namespace
