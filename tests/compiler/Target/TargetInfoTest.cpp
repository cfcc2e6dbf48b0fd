//===- TargetInfoTest.cpp - The table of targets and its names ---------------===//

#include "compiler/Target/TargetInfo.h"
#include "gtest/gtest.h"
#include <set>

using namespace kiln;

namespace {

TargetInfo parsed(llvm::StringRef name) {
  llvm::Expected<TargetInfo> target = parseTarget(name);
  if (target)
    return *target;
  ADD_FAILURE() << llvm::toString(target.takeError());
  return {};
}

std::string errorOf(llvm::StringRef name) {
  llvm::Expected<TargetInfo> target = parseTarget(name);
  return target ? "no error" : llvm::toString(target.takeError());
}

TEST(TargetInfo, EveryNameParsesToItself) {
  std::set<std::string> seen;
  for (const TargetInfo &target : allTargets()) {
    EXPECT_TRUE(seen.insert(target.name).second) << target.name;
    EXPECT_EQ(parsed(target.name).resolved(), target.resolved());
    EXPECT_FALSE(target.llvmTriple.empty() || target.llvmCPU.empty()) << target.name;
  }
  EXPECT_EQ(seen.size(), 29u);
}

TEST(TargetInfo, TritonSpellings) {
  EXPECT_EQ(parsed("cuda:90:32").name, "cuda:sm_90a");
  EXPECT_EQ(parsed("cuda:90").name, "cuda:sm_90a");
  EXPECT_EQ(parsed("cuda:80:32").name, "cuda:sm_80");
  EXPECT_EQ(parsed("cuda:100").name, "cuda:sm_100a");
  EXPECT_EQ(parsed("cuda:120").name, "cuda:sm_120a");
  EXPECT_EQ(parsed("hip:gfx942:64").name, "hip:gfx942");
  EXPECT_EQ(parsed("hip:gfx1100:32").name, "hip:gfx1100");
}

TEST(TargetInfo, Fields) {
  TargetInfo hopper = parsed("cuda:sm_90a");
  EXPECT_EQ(hopper.archNumber, 90u);
  EXPECT_EQ(hopper.maxSharedBytes, 232448u);
  EXPECT_TRUE(hopper.matrix.mmaFP8 && hopper.dynamicShared);
  EXPECT_EQ(hopper.threadsPerBlock(8), 256u);
  EXPECT_EQ(hopper.llvmFeatures, "+ptx86");

  TargetInfo portable = parsed("cuda:compute_80");
  EXPECT_TRUE(portable.ptxOnly);
  EXPECT_EQ(portable.llvmCPU, "sm_80");
  EXPECT_EQ(parsed("cuda:compute_90").archNumber, 90u);

  TargetInfo cdna3 = parsed("hip:gfx942");
  EXPECT_EQ(cdna3.warpSize, 64u);
  EXPECT_EQ(cdna3.matrix.mfmaGeneration, 3u);
  EXPECT_EQ(cdna3.archNumber, 0x942u);
  EXPECT_EQ(parsed("hip:gfx1201").matrix.wmmaGeneration, 4u);
  EXPECT_EQ(parsed("hip:gfx950").maxSharedBytes, 163840u);
  EXPECT_EQ(parsed("cpu:x86-64-v4").maxVectorBits, 512u);
}

TEST(TargetInfo, OwnMachineIsDeterministicAndRecorded) {
  TargetInfo host = parsed("cpu");
  EXPECT_EQ(host.name, "cpu");
  EXPECT_EQ(host.resolved(), parsed("cpu").resolved());
  EXPECT_NE(host.resolved().find(host.llvmCPU), std::string::npos);
  EXPECT_GE(host.maxVectorBits, 128u);
}

TEST(TargetInfo, ErrorsSayWhatToWrite) {
  EXPECT_EQ(errorOf("cuda:sm_90"), "unknown target 'cuda:sm_90': did you mean 'cuda:sm_90a'?");
  EXPECT_EQ(errorOf("hip:gfx941"), "unknown target 'hip:gfx941': did you mean 'hip:gfx942'?");
  EXPECT_EQ(errorOf("cpu:x86-64-v5"),
            "unknown target 'cpu:x86-64-v5': did you mean 'cpu:x86-64-v2'?");
  EXPECT_EQ(errorOf("hip:gfx942:32"),
            "target 'hip:gfx942:32': the warp size of gfx942 is 64, got '32'");
  EXPECT_EQ(
      errorOf("rocm:gfx942"),
      "unknown target 'rocm:gfx942': expected cuda:ARCH, hip:ARCH, emu:ARCH, cpu:ARCH or cpu");
  EXPECT_EQ(errorOf("hip"), "target 'hip' names no architecture: expected one of hip:gfx90a "
                            "hip:gfx942 hip:gfx950 hip:gfx1100 hip:gfx1101 hip:gfx1102 "
                            "hip:gfx1103 hip:gfx1150 hip:gfx1151 hip:gfx1152 hip:gfx1153 "
                            "hip:gfx1200 hip:gfx1201");
  EXPECT_EQ(errorOf("cuda:90:32:1"),
            "target 'cuda:90:32:1': expected BACKEND:ARCH or BACKEND:ARCH:WARP_SIZE");
  EXPECT_NE(errorOf(""), "no error");
  EXPECT_NE(errorOf("cuda:"), "no error");
}

TEST(TargetInfo, ProcessorNumbersAreOfAllThatTellProcessorsApart) {
  for (const TargetInfo &target : allTargets()) {
    EXPECT_EQ(target.processorFields.empty(), target.backend != Backend::HIP) << target.name;
    std::set<std::pair<unsigned, unsigned>> bits;
    size_t count = 0;
    for (const RegisterField &field : target.processorFields)
      for (unsigned bit = 0; bit < field.bits; ++bit, ++count)
        EXPECT_TRUE(bits.insert({field.number, field.firstBit + bit}).second) << target.name;
    EXPECT_LE(count, 32u);
  }
  // Up to 8 dies of 4 engines of 16 units: HW_ID (4) alone repeats on each die, whose number is
  // XCC_ID (20).
  for (const char *name : {"hip:gfx942", "hip:gfx950"}) {
    std::set<unsigned> registers;
    for (const RegisterField &field : parsed(name).processorFields)
      registers.insert(field.number);
    EXPECT_EQ(registers, (std::set<unsigned>{4, 20})) << name;
  }
}

TEST(TargetInfo, AnEmulatedTargetIsTheGPUWithTheHostsBytes) {
  auto emulated = parseTarget("emu:gfx942"), real = parseTarget("hip:gfx942");
  ASSERT_TRUE(bool(emulated) && bool(real));
  EXPECT_EQ(emulated->name, "emu:gfx942");
  EXPECT_TRUE(emulated->emulated);
  EXPECT_EQ(emulated->backend, Backend::HIP);
  EXPECT_EQ(emulated->arch, "gfx942");
  EXPECT_EQ(emulated->warpSize, real->warpSize);
  EXPECT_EQ(emulated->maxSharedBytes, real->maxSharedBytes);
  EXPECT_EQ(emulated->matrix.mfmaGeneration, real->matrix.mfmaGeneration);
  TargetInfo host = hostOfEmulated(*emulated);
  EXPECT_EQ(host.backend, Backend::CPU);
  EXPECT_EQ(host.name, emulated->name);
  EXPECT_EQ(host.llvmTriple, emulated->llvmTriple);
  EXPECT_EQ(host.elfMachine, emulated->elfMachine);
}

TEST(TargetInfo, WhatCannotBeEmulatedSaysWhatCan) {
  EXPECT_EQ(errorOf("emu:sm_100a"),
            "unknown target 'emu:sm_100a': expected one of emu:sm_80 emu:sm_86 emu:sm_89 "
            "emu:sm_90a emu:gfx90a emu:gfx942 emu:gfx950 emu:gfx1100 emu:gfx1101 emu:gfx1102 "
            "emu:gfx1103 emu:gfx1150 emu:gfx1151 emu:gfx1152 emu:gfx1153 emu:gfx1200 "
            "emu:gfx1201");
}

} // namespace
