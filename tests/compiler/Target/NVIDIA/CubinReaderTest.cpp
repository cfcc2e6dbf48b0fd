//===- CubinReaderTest.cpp - Damaged and mismatched cubins ---------------------===//

#include "compiler/Target/NVIDIA/CubinReader.h"
#include "compiler/Target/NVIDIA/PtxReader.h"
#include "tests/compiler/Target/EveryScalarKernel.h"

using namespace kiln;
using namespace kiln::testing;

namespace {

DeviceBinary cubin(const char *name = "cuda:sm_90a") {
  TargetInfo info = target(name);
  return emitted(emitText(everyScalarKernel(), everyScalarFacts(info), info));
}

TEST(CubinReader, SurvivesDamage) {
  DeviceBinary binary = cubin();
  unsigned accepted = 0;
  damage(binary.bytes, 20000, [&](llvm::StringRef bytes) {
    auto info = readCubin(bytes);
    if (info)
      ++accepted;
    else
      llvm::consumeError(info.takeError());
  });
  EXPECT_GT(accepted, 100u); // most flips hit code
}

TEST(CubinReader, SmNumberOfOlderToolkits) {
  // Before ABI version 8 the SM number stood in the low byte of e_flags.
  DeviceBinary binary = cubin("cuda:sm_80");
  std::vector<char> old = binary.bytes;
  old[8] = 7;                     // EI_ABIVERSION
  old[48] = 0x50, old[49] = 0x05; // e_flags, little endian
  old[50] = 0x50, old[51] = 0x00;
  auto info = readCubin(llvm::StringRef(old.data(), old.size()));
  ASSERT_TRUE(bool(info));
  EXPECT_EQ(info->smNumber, 80u);
}

TEST(CubinReader, ToolOptionsHoldNoPaths) {
  DeviceBinary binary = cubin();
  auto info = readCubin(llvm::StringRef(binary.bytes.data(), binary.bytes.size()));
  ASSERT_TRUE(bool(info));
  EXPECT_EQ(info->arch(), "sm_90a");
  EXPECT_EQ(info->toolOptions.find('/'), std::string::npos) << info->toolOptions;
}

TEST(VerifyAbi, NamesTheDifference) {
  DeviceBinary binary = cubin();
  TargetInfo info = target("cuda:sm_90a");
  auto parameters = everyScalar();
  EXPECT_EQ(textOf(verifyAbi(binary, parameters, target("cuda:sm_80"))),
            "expected architecture tag 80 for cuda:sm_80, got 90");
  EXPECT_EQ(textOf(verifyAbi(binary, parameters, target("hip:gfx942"))),
            "expected ELF machine 224 for hip:gfx942, got 190");

  parameters[8].size = 8; // the float passed as a double
  EXPECT_EQ(textOf(verifyAbi(binary, parameters, info)),
            "parameter 8 'h': expected 8 bytes at offset 32, got 4 bytes at offset 28");
  parameters.pop_back();
  EXPECT_EQ(textOf(verifyAbi(binary, parameters, info)), "expected 11 parameters, got 12");

  DeviceBinary other = binary;
  other.symbol = "another";
  EXPECT_EQ(textOf(verifyAbi(other, everyScalar(), info)),
            "expected kernel 'another', the binary has 'every'");
  other = binary;
  other.launch.threadsPerBlock = 256;
  EXPECT_EQ(textOf(verifyAbi(other, everyScalar(), info)),
            "expected blocks of 256 threads, got 128 x 1 x 1");
  other.bytes.resize(100);
  EXPECT_NE(textOf(verifyAbi(other, everyScalar(), info)), "");
}

TEST(VerifyAbi, FallbacksAreCheckedLikeTheirBinaries) {
  DeviceBinary binary = cubin(), fallback = cubin();
  TargetInfo info = target("cuda:sm_90a");
  binary.fallback = std::make_shared<const DeviceBinary>(fallback);
  EXPECT_EQ(textOf(verifyAbi(binary, everyScalar(), info)), "");
  fallback.launch.threadsPerBlock = 256;
  binary.fallback = std::make_shared<const DeviceBinary>(fallback);
  EXPECT_EQ(textOf(verifyAbi(binary, everyScalar(), info)),
            "the fallback without tensor maps of pointers: expected blocks of 256 threads, got 128 "
            "x 1 x 1");
}

TEST(VerifyAbi, TensorMapsStandBehindTheParameters) {
  DeviceBinary binary;
  binary.target = "cuda:compute_90";
  binary.format = BinaryFormat::PTX;
  binary.symbol = "k";
  binary.launch.threadsPerBlock = 128;
  binary.launch.tensorMaps.resize(2);
  binary.launch.tensorMaps[0].name = "a";
  binary.launch.tensorMaps[1].name = "b";
  TargetInfo info = target("cuda:compute_90");
  auto messageOf = [&](llvm::StringRef parameters) {
    std::string text = (".version 8.0\n.target sm_90\n.visible .entry k(" + parameters +
                        ")\n.reqntid 128\n{ ret; }\n")
                           .str();
    binary.bytes.assign(text.c_str(), text.c_str() + text.size() + 1);
    return textOf(verifyAbi(binary, {{"p", 8}, {"n", 4}}, info));
  };
  EXPECT_EQ(messageOf(".param .u64 p, .param .u32 n, .param .align 64 .b8 x[128],"
                      " .param .align 64 .b8 y[128]"),
            "");
  EXPECT_EQ(messageOf(".param .u64 p, .param .u32 n, .param .align 16 .b8 x[128],"
                      " .param .align 64 .b8 y[128]"),
            "parameter 2 'a': expected 128 bytes at offset 64, got 128 bytes at offset 16");
  EXPECT_EQ(messageOf(".param .u64 p, .param .u32 n, .param .align 64 .b8 x[128],"
                      " .param .align 64 .b8 y[64]"),
            "parameter 3 'b': expected 128 bytes at offset 192, got 64 bytes at offset 192");
  EXPECT_EQ(messageOf(".param .u64 p, .param .u32 n, .param .align 64 .b8 x[128]"),
            "expected 4 parameters, got 3");
}

TEST(PtxReader, ReadsParametersAndSurvivesDamage) {
  DeviceBinary binary = cubin("cuda:compute_90");
  std::vector<char> text(binary.bytes.begin(), binary.bytes.end() - 1);
  auto info = readPtx(llvm::StringRef(text.data(), text.size()));
  ASSERT_TRUE(bool(info));
  EXPECT_EQ(info->smNumber, 90u);
  ASSERT_EQ(info->kernels.size(), 1u);
  EXPECT_EQ(info->kernels[0].parameters[6].size, 2u);
  damage(text, 20000,
         [](llvm::StringRef bytes) { llvm::consumeError(readPtx(bytes).takeError()); });
}

} // namespace
