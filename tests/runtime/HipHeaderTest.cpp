// The runtime writes HIP's signatures, places in structs and numbers down by itself; here they are
// compared with ROCm's headers. By hand, as these come with a runtime and a compiler:
//   apt-get install libamdhip64-dev && bazel test //tests/runtime:HipHeaderTest
#include "runtime/hip_abi.h"
#include "runtime/tuner/hip_functions.h"
#include "tests/runtime/SignatureShape.h"

#include <gtest/gtest.h>

#if !__has_include(<hip/hip_runtime_api.h>)
#error "no hip/hip_runtime_api.h to compare with: apt-get install libamdhip64-dev"
#endif
#define __HIP_PLATFORM_AMD__
#define __HIP_DISABLE_CPP_FUNCTIONS__
#include <hip/hip_runtime_api.h>
#include <hip/hip_version.h>

// The property functions take a struct that versions rename: see the test of its layout.
#define hipGetDevicePropertiesR0600 kilnPropertiesR0600
int kilnPropertiesR0600(void *, int);
// C++ has another one of this name.
std::remove_pointer_t<decltype(static_cast<hipError_t (*)(void **, size_t, hipStream_t)>(
    ::hipMallocAsync))>
    kilnMallocAsync;
#define hipMallocAsync kilnMallocAsync
// Functions that came with version 6.
#if HIP_VERSION < 60000000
#define hipStreamGetDevice kilnStreamGetDevice
int kilnStreamGetDevice(void *, int *);
#define hipModuleLaunchCooperativeKernel kilnLaunchCooperativeKernel
int kilnLaunchCooperativeKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                                unsigned, void *, void **);
#endif

namespace {

#define KILN_HIP(presence, result, name, parameters)                                               \
  static_assert(kiln::test::haveSameShape<result parameters, decltype(::name)>, #name);
#include "runtime/hip_symbols.def"
#undef KILN_HIP

#define KILN_TUNER_HIP(result, name, parameters)                                                   \
  static_assert(kiln::test::haveSameShape<result parameters, decltype(::name)>, #name);
KILN_TUNER_HIP_FUNCTIONS(KILN_TUNER_HIP)
#undef KILN_TUNER_HIP

TEST(HipHeaderTest, PropertiesAreWhereTheHeaderHasThem) {
#if HIP_VERSION_MAJOR >= 6
  const kiln_hip_properties &layout = kiln_hip_properties_r0600;
#else
  const kiln_hip_properties &layout = kiln_hip_properties_r0000;
#endif
  EXPECT_EQ(layout.processors, offsetof(hipDeviceProp_t, multiProcessorCount));
  EXPECT_EQ(layout.arch_name, offsetof(hipDeviceProp_t, gcnArchName));
  EXPECT_EQ(sizeof(hipDeviceProp_t::gcnArchName), 256u);
}

TEST(HipHeaderTest, TheNumbersAreTheSame) {
  EXPECT_EQ(int(KILN_HIP_ERROR_OUT_OF_MEMORY), int(hipErrorOutOfMemory));
  EXPECT_EQ(int(KILN_HIP_ERROR_NO_DEVICE), int(hipErrorNoDevice));
  EXPECT_EQ(int(KILN_HIP_ERROR_NOT_FOUND), int(hipErrorNotFound));
  EXPECT_EQ(int(KILN_HIP_ERROR_COOPERATIVE_TOO_LARGE), int(hipErrorCooperativeLaunchTooLarge));
  EXPECT_EQ(int(KILN_HIP_ERROR_STREAM_CAPTURE_IMPLICIT), int(hipErrorStreamCaptureImplicit));
  EXPECT_EQ(int(KILN_HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED),
            int(hipFuncAttributeMaxDynamicSharedMemorySize));
  EXPECT_EQ(int(KILN_HIP_CAPTURE_MODE_RELAXED), int(hipStreamCaptureModeRelaxed));
  EXPECT_EQ(int(KILN_HIP_MEMCPY_DEFAULT), int(hipMemcpyDefault));
  EXPECT_EQ(int(KILN_HIP_HOST_MALLOC_PORTABLE), int(hipHostMallocPortable));
  EXPECT_EQ(int(KILN_HIP_HOST_MALLOC_MAPPED), int(hipHostMallocMapped));
  EXPECT_EQ(int(KILN_HIP_HOST_MALLOC_COHERENT), int(hipHostMallocCoherent));
}

} // namespace
