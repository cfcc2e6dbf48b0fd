//===- Sha256Test.cpp - Hashes by the processor's instructions and by LLVM ----===//

#include "llvm/Support/SHA256.h"
#include "codegen/LibraryModel.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringExtras.h"
#include <gtest/gtest.h>

namespace kiln {
namespace {

// FIPS 180-2, appendix B.
TEST(Sha256Test, HashesTheStandardsExamples) {
  EXPECT_EQ(sha256Of("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256Of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256Of(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256Test, HashesEachLengthAsLLVMDoes) {
  std::string bytes;
  for (unsigned length = 0; length <= 300; ++length) {
    auto expected = llvm::SHA256::hash(llvm::arrayRefFromStringRef(bytes));
    EXPECT_EQ(sha256Of(bytes), llvm::toHex(expected, /*LowerCase=*/true)) << length;
    bytes += char(31 * length + 7);
  }
}

} // namespace
} // namespace kiln
