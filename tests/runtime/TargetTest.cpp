// Which binary runs on which device, and which is the best.
#include "runtime/target.h"
#include "tests/runtime/TestLibrary.h"

#include "runtime/cpu_features.h"

using namespace kiln::test;

namespace {

kiln_place cudaDevice(uint32_t arch) {
  kiln_place place = {};
  place.driver = KILN_DRIVER_CUDA;
  place.arch = arch;
  return place;
}

kiln_place hipDevice(const char *name) {
  kiln_place place = {};
  place.driver = KILN_DRIVER_HIP;
  snprintf(place.arch_name, sizeof place.arch_name, "%s", name);
  return place;
}

kiln_place cpuDevice() {
  kiln_place place = {};
  place.driver = KILN_DRIVER_CPU;
  return place;
}

bool runs(kiln_target target, const kiln_place &place) {
  return kiln_target_rank(&target, &place) >= 0;
}

std::string best(std::vector<kiln_target> targets, const kiln_place &place) {
  TestLibrary library(targets);
  int64_t index = kiln_best_target(&library.entry, &place);
  return index < 0 ? "none" : targets[index].arch;
}

TEST(TargetTest, PlainCubinsRunOnTheSameMajorWithNoLowerMinor) {
  EXPECT_TRUE(runs(cubin("sm_80"), cudaDevice(80)));
  EXPECT_TRUE(runs(cubin("sm_80"), cudaDevice(86)));
  EXPECT_FALSE(runs(cubin("sm_86"), cudaDevice(80)));
  EXPECT_FALSE(runs(cubin("sm_80"), cudaDevice(90)));
  EXPECT_FALSE(runs(cubin("sm_100"), cudaDevice(90)));
  EXPECT_TRUE(runs(cubin("sm_100"), cudaDevice(103)));
  EXPECT_FALSE(runs(cubin("sm_100"), cudaDevice(120)));
}

TEST(TargetTest, ArchitectureSpecificCubinsRunOnExactlyTheirDevice) {
  EXPECT_TRUE(runs(cubin("sm_90a"), cudaDevice(90)));
  EXPECT_FALSE(runs(cubin("sm_90a"), cudaDevice(89)));
  EXPECT_FALSE(runs(cubin("sm_100a"), cudaDevice(103)));
}

TEST(TargetTest, FamilyCubinsRunOnTheirFamily) {
  EXPECT_TRUE(runs(cubin("sm_100f"), cudaDevice(100)));
  EXPECT_TRUE(runs(cubin("sm_100f"), cudaDevice(103)));
  EXPECT_FALSE(runs(cubin("sm_100f"), cudaDevice(120)));
}

TEST(TargetTest, PtxRunsOnLaterDevices) {
  EXPECT_TRUE(runs(ptx("compute_80"), cudaDevice(80)));
  EXPECT_TRUE(runs(ptx("compute_80"), cudaDevice(120)));
  EXPECT_FALSE(runs(ptx("compute_90"), cudaDevice(89)));
  EXPECT_FALSE(runs(ptx("compute_90a"), cudaDevice(100)));
}

TEST(TargetTest, TheBestIsCubinThenNumberThenSuffix) {
  std::vector<kiln_target> all = {ptx("compute_80"), ptx("compute_90"), cubin("sm_80"),
                                  cubin("sm_86"),    cubin("sm_90"),    cubin("sm_90a"),
                                  cubin("sm_100f"),  cubin("sm_100"),   cubin("sm_103")};
  EXPECT_EQ(best(all, cudaDevice(80)), "sm_80");
  EXPECT_EQ(best(all, cudaDevice(89)), "sm_86");
  EXPECT_EQ(best(all, cudaDevice(90)), "sm_90a");
  EXPECT_EQ(best(all, cudaDevice(100)), "sm_100f");
  EXPECT_EQ(best(all, cudaDevice(103)), "sm_103");
  EXPECT_EQ(best(all, cudaDevice(120)), "compute_90");
  EXPECT_EQ(best(all, cudaDevice(75)), "none");
}

TEST(TargetTest, HipMatchesTheNameAndTheFeaturesThatAreWritten) {
  const char *device = "gfx90a:sramecc+:xnack-";
  EXPECT_TRUE(runs(hsaco("gfx90a"), hipDevice(device)));
  EXPECT_TRUE(runs(hsaco("gfx90a:xnack-"), hipDevice(device)));
  EXPECT_TRUE(runs(hsaco("gfx90a:sramecc+:xnack-"), hipDevice(device)));
  EXPECT_FALSE(runs(hsaco("gfx90a:xnack+"), hipDevice(device)));
  EXPECT_FALSE(runs(hsaco("gfx90"), hipDevice(device)));
  EXPECT_FALSE(runs(hsaco("gfx942"), hipDevice(device)));
  EXPECT_FALSE(runs(hsaco("gfx1100:xnack-"), hipDevice("gfx1100")));
  EXPECT_EQ(
      best({hsaco("gfx90a"), hsaco("gfx90a:xnack-"), hsaco("gfx90a:xnack+")}, hipDevice(device)),
      "gfx90a:xnack-");
}

TEST(TargetTest, DriversAndFormsDoNotMix) {
  EXPECT_FALSE(runs(hsaco("gfx90a"), cudaDevice(90)));
  EXPECT_FALSE(runs(cubin("sm_90"), hipDevice("gfx90a")));
  EXPECT_FALSE(runs({KILN_DRIVER_CUDA, KILN_FORM_HSACO, "sm_90", nullptr}, cudaDevice(90)));
  EXPECT_FALSE(runs(host(), cudaDevice(90)));
}

TEST(TargetTest, MalformedNamesMatchNothing) {
  for (const char *arch : {"", "sm_", "sm_x", "sm_90b", "sm_90aa", "compute_90", "90", "sm_0"})
    EXPECT_FALSE(runs(cubin(arch), cudaDevice(90))) << arch;
  EXPECT_FALSE(runs(cubin(nullptr), cudaDevice(90)));
}

TEST(TargetTest, TheHostRunsItsBaselineAndNothingUnknown) {
  EXPECT_TRUE(runs(host(), cpuDevice()));
  EXPECT_TRUE(runs(host(kiln_cpu_arch_name()), cpuDevice()));
  EXPECT_FALSE(runs(host("x86-64-v9"), cpuDevice()));
  EXPECT_FALSE(runs(host(BaselineArch, "+sse2,+no-such-feature"), cpuDevice()));
  EXPECT_TRUE(runs(host(BaselineArch, "-no-such-feature"), cpuDevice()));
}

#if defined(__x86_64__)
TEST(TargetTest, FeaturesAgreeWithTheCompilersView) {
  __builtin_cpu_init();
  EXPECT_EQ(kiln_cpu_has_features("+sse2"), bool(__builtin_cpu_supports("sse2")));
  EXPECT_EQ(kiln_cpu_has_features("+sse4.2"), bool(__builtin_cpu_supports("sse4.2")));
  EXPECT_EQ(kiln_cpu_has_features("+avx2,+fma"),
            __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"));
  EXPECT_EQ(kiln_cpu_has_features("+avx512f,+avx512vl"),
            __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl"));
  EXPECT_EQ(kiln_cpu_has_features("+bmi2,+popcnt"),
            __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt"));
}

TEST(TargetTest, AHigherLevelIsBetterThanALowerOne) {
  if (kiln_cpu_level() < 2)
    GTEST_SKIP() << "the host has level 1 only";
  EXPECT_EQ(best({host("x86-64"), host("x86-64-v2")}, cpuDevice()), "x86-64-v2");
}
#endif

} // namespace
