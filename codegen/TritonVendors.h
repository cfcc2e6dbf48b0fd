//===- TritonVendors.h - what Triton's interface takes of each driver -*- C++ -*-===//
#ifndef KILN_CODEGEN_TRITONVENDORS_H
#define KILN_CODEGEN_TRITONVENDORS_H

#include "llvm/ADT/StringRef.h"

namespace kiln {

/// Names of the vendor's header that the interface's types and errors come from.
struct TritonVendor {
  llvm::StringLiteral backend, include, stream, result, pointer, makeStream;
  llvm::StringLiteral success, invalidValue, outOfMemory, noBinary, invalidDevice, unknown;
};

inline constexpr TritonVendor tritonVendors[] = {
    {"cuda", "#include <cuda.h>\n", "CUstream", "CUresult", "CUdeviceptr", "kiln_cuda_stream",
     "CUDA_SUCCESS", "CUDA_ERROR_INVALID_VALUE", "CUDA_ERROR_OUT_OF_MEMORY",
     "CUDA_ERROR_NO_BINARY_FOR_GPU", "CUDA_ERROR_INVALID_DEVICE", "CUDA_ERROR_UNKNOWN"},
    {"hip",
     "#ifndef __HIP_PLATFORM_AMD__\n#define __HIP_PLATFORM_AMD__\n#endif\n"
     "#include <hip/hip_runtime.h>\n",
     "hipStream_t", "hipError_t", "hipDeviceptr_t", "kiln_hip_stream", "hipSuccess",
     "hipErrorInvalidValue", "hipErrorOutOfMemory", "hipErrorNoBinaryForGpu",
     "hipErrorInvalidDevice", "hipErrorUnknown"}};

/// Null for a name that is none.
inline const TritonVendor *findTritonVendor(llvm::StringRef backend) {
  for (const TritonVendor &vendor : tritonVendors)
    if (vendor.backend == backend)
      return &vendor;
  return nullptr;
}

} // namespace kiln

#endif // KILN_CODEGEN_TRITONVENDORS_H
