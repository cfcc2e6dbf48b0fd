// The runtime writes NVIDIA's signatures, structs and numbers down by itself; where the toolkit is
// installed they are compared with its cuda.h.
#include "runtime/cuda_driver.h"
#include "tests/runtime/SignatureShape.h"

#include <gtest/gtest.h>

#if __has_include(<cuda.h>)
#include <cuda.h>
#endif

#if defined(CUDA_VERSION) && CUDA_VERSION >= 12080

namespace {

#define KILN_CUDA(presence, name, exported, parameters)                                            \
  static_assert(kiln::test::haveSameShape<int parameters, decltype(::name)>, exported);
#include "runtime/cuda_symbols.def"
#undef KILN_CUDA

// cuda.h renames functions to their newest version by macros, which the argument passes through.
#define STRING(x) STRING_OF(x)
#define STRING_OF(x) #x
TEST(CudaHeaderTest, TheNamesAreThoseThatTheHeaderResolvesTo) {
#define KILN_CUDA(presence, name, exported, parameters) EXPECT_STREQ(exported, STRING(name));
#include "runtime/cuda_symbols.def"
#undef KILN_CUDA
}

TEST(CudaHeaderTest, TheStructsHaveTheSameLayout) {
  EXPECT_EQ(sizeof(kiln_cuda_launch_config), sizeof(CUlaunchConfig));
  EXPECT_EQ(offsetof(kiln_cuda_launch_config, block), offsetof(CUlaunchConfig, blockDimX));
  EXPECT_EQ(offsetof(kiln_cuda_launch_config, shared_bytes),
            offsetof(CUlaunchConfig, sharedMemBytes));
  EXPECT_EQ(offsetof(kiln_cuda_launch_config, stream), offsetof(CUlaunchConfig, hStream));
  EXPECT_EQ(offsetof(kiln_cuda_launch_config, attributes), offsetof(CUlaunchConfig, attrs));
  EXPECT_EQ(offsetof(kiln_cuda_launch_config, num_attributes), offsetof(CUlaunchConfig, numAttrs));
  EXPECT_EQ(sizeof(kiln_cuda_attribute), sizeof(CUlaunchAttribute));
  EXPECT_EQ(offsetof(kiln_cuda_attribute, value), offsetof(CUlaunchAttribute, value));
}

TEST(CudaHeaderTest, TheNumbersAreTheSame) {
  EXPECT_EQ(int(KILN_CUDA_ERROR_INVALID_VALUE), int(CUDA_ERROR_INVALID_VALUE));
  EXPECT_EQ(int(KILN_CUDA_ERROR_OUT_OF_MEMORY), int(CUDA_ERROR_OUT_OF_MEMORY));
  EXPECT_EQ(int(KILN_CUDA_ERROR_NO_DEVICE), int(CUDA_ERROR_NO_DEVICE));
  EXPECT_EQ(int(KILN_CUDA_ERROR_INVALID_CONTEXT), int(CUDA_ERROR_INVALID_CONTEXT));
  EXPECT_EQ(int(KILN_CUDA_ERROR_STREAM_CAPTURE_IMPLICIT), int(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT));
  EXPECT_EQ(int(KILN_CUDA_DEVICE_ATTRIBUTE_PROCESSORS),
            int(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
  EXPECT_EQ(int(KILN_CUDA_DEVICE_ATTRIBUTE_MAJOR),
            int(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR));
  EXPECT_EQ(int(KILN_CUDA_DEVICE_ATTRIBUTE_MINOR),
            int(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
  EXPECT_EQ(int(KILN_CUDA_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED),
            int(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES));
  EXPECT_EQ(int(KILN_CUDA_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER),
            int(CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED));
  EXPECT_EQ(int(KILN_CUDA_JIT_ERROR_LOG_BUFFER), int(CU_JIT_ERROR_LOG_BUFFER));
  EXPECT_EQ(int(KILN_CUDA_JIT_ERROR_LOG_BUFFER_SIZE), int(CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES));
  EXPECT_EQ(int(KILN_CUDA_CAPTURE_MODE_RELAXED), int(CU_STREAM_CAPTURE_MODE_RELAXED));
  EXPECT_EQ(int(KILN_CUDA_LAUNCH_COOPERATIVE), int(CU_LAUNCH_ATTRIBUTE_COOPERATIVE));
  EXPECT_EQ(int(KILN_CUDA_LAUNCH_CLUSTER_DIMENSION), int(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION));
  EXPECT_EQ(int(KILN_CUDA_LAUNCH_PROGRAMMATIC_SERIALIZATION),
            int(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION));
}

TEST(CudaHeaderTest, TensorMapsAreTheSame) {
  EXPECT_EQ(sizeof(kiln_encoded_map), sizeof(CUtensorMap));
  EXPECT_GE(alignof(kiln_encoded_map), alignof(CUtensorMap));
  EXPECT_EQ(int(KILN_CUDA_TENSOR_MAP_INTERLEAVE_NONE), int(CU_TENSOR_MAP_INTERLEAVE_NONE));
  EXPECT_EQ(int(KILN_CUDA_TENSOR_MAP_SWIZZLE_NONE), int(CU_TENSOR_MAP_SWIZZLE_NONE));
  EXPECT_EQ(int(KILN_CUDA_TENSOR_MAP_SWIZZLE_32B), int(CU_TENSOR_MAP_SWIZZLE_32B));
  EXPECT_EQ(int(KILN_CUDA_TENSOR_MAP_SWIZZLE_64B), int(CU_TENSOR_MAP_SWIZZLE_64B));
  EXPECT_EQ(int(KILN_CUDA_TENSOR_MAP_SWIZZLE_128B), int(CU_TENSOR_MAP_SWIZZLE_128B));
  EXPECT_EQ(int(KILN_CUDA_TENSOR_MAP_L2_PROMOTION_256B), int(CU_TENSOR_MAP_L2_PROMOTION_L2_256B));
  EXPECT_EQ(int(KILN_CUDA_TENSOR_MAP_FILL_ZERO), int(CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
  EXPECT_EQ(int(KILN_CUDA_TENSOR_MAP_FILL_NAN),
            int(CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA));
  const int theirs[] = {CU_TENSOR_MAP_DATA_TYPE_UINT8,   CU_TENSOR_MAP_DATA_TYPE_UINT16,
                        CU_TENSOR_MAP_DATA_TYPE_UINT32,  CU_TENSOR_MAP_DATA_TYPE_INT32,
                        CU_TENSOR_MAP_DATA_TYPE_UINT64,  CU_TENSOR_MAP_DATA_TYPE_INT64,
                        CU_TENSOR_MAP_DATA_TYPE_FLOAT16, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
                        CU_TENSOR_MAP_DATA_TYPE_FLOAT32, CU_TENSOR_MAP_DATA_TYPE_FLOAT64};
#define KILN_TENSOR_ELEMENT(NAME, SPEC, BYTES, IS_FLOAT, CUDA, PTX)                                \
  EXPECT_EQ(CUDA, theirs[KILN_TENSOR_##NAME]) << #NAME;
#include "runtime/tensor_elements.def"
}

} // namespace

#else

TEST(CudaHeaderTest, NeedsTheCudaToolkit) {
  GTEST_SKIP() << "no cuda.h of CUDA 12.8 or later to compare with";
}

#endif
