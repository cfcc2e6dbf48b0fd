// The runtime writes HIP's signatures, places in structs and numbers down by itself; where ROCm's
// headers are installed they are compared with these (Debian: libamdhip64-dev).
#include "runtime/hip_driver.h"

#include <gtest/gtest.h>

#include <type_traits>

#if __has_include(<hip/hip_runtime_api.h>)
#define __HIP_PLATFORM_AMD__
#define __HIP_DISABLE_CPP_FUNCTIONS__
#include <hip/hip_runtime_api.h>
#include <hip/hip_version.h>

// The property functions take a struct that versions rename: see the test of its layout.
#define hipGetDevicePropertiesR0600 kilnPropertiesR0600
int kilnPropertiesR0600(void *, int);
// Functions that came with version 6.
#if HIP_VERSION < 60000000
#define hipStreamGetDevice kilnStreamGetDevice
int kilnStreamGetDevice(void *, int *);
#define hipModuleLaunchCooperativeKernel kilnLaunchCooperativeKernel
int kilnLaunchCooperativeKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                                unsigned, void *, void **);
#endif

namespace {

template <typename A, typename B>
constexpr bool passedAlike = sizeof(A) == sizeof(B) && std::is_pointer_v<A> == std::is_pointer_v<B>;

template <typename... Types> struct TypeList {};

// Same number of parameters, each of the same size and kind.
constexpr bool sameShape(TypeList<>, TypeList<>) { return true; }
template <typename... A, typename... B> constexpr bool sameShape(TypeList<A...>, TypeList<B...>) {
  return false;
}
template <typename A, typename... As, typename B, typename... Bs>
constexpr bool sameShape(TypeList<A, As...>, TypeList<B, Bs...>) {
  return passedAlike<A, B> && sameShape(TypeList<As...>(), TypeList<Bs...>());
}

static_assert(!sameShape(TypeList<int>(), TypeList<int, int>()) &&
              !sameShape(TypeList<int>(), TypeList<void *>()));

template <typename Function> struct Signature;
template <typename R, typename... Types> struct Signature<R(Types...)> {
  using Result = R;
  using List = TypeList<Types...>;
};
// Functions that cannot throw are the same in C++17 but for this.
template <typename R, typename... Types> struct Signature<R(Types...) noexcept> {
  using Result = R;
  using List = TypeList<Types...>;
};

template <typename Ours, typename Theirs>
constexpr bool
    same = sameShape(typename Signature<Ours>::List(), typename Signature<Theirs>::List()) &&
           passedAlike<typename Signature<Ours>::Result, typename Signature<Theirs>::Result>;

#define KILN_HIP(presence, result, name, parameters)                                               \
  static_assert(same<result parameters, decltype(::name)>, #name);
#include "runtime/hip_symbols.def"
#undef KILN_HIP

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
  EXPECT_EQ(int(KILN_HIP_HOST_MALLOC_PORTABLE), int(hipHostMallocPortable));
  EXPECT_EQ(int(KILN_HIP_HOST_MALLOC_MAPPED), int(hipHostMallocMapped));
  EXPECT_EQ(int(KILN_HIP_HOST_MALLOC_COHERENT), int(hipHostMallocCoherent));
}

} // namespace

#else

TEST(HipHeaderTest, NeedsRocmsHeaders) {
  GTEST_SKIP() << "no hip/hip_runtime_api.h to compare with";
}

#endif
