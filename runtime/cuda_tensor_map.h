/* Tensor maps of launches on NVIDIA's driver. */
#ifndef KILN_RUNTIME_CUDA_TENSOR_MAP_H
#define KILN_RUNTIME_CUDA_TENSOR_MAP_H

#include "runtime/driver.h"

#pragma GCC visibility push(hidden)

bool kiln_cuda_makes_tensor_maps(void);

/* KILN_ERROR_UNSUPPORTED where the driver cannot make tensor maps; makes the kernel's caches. */
kiln_status kiln_cuda_plan_tensor_maps(kiln_kernel *kernel);

/* Hot: writes the kernel's maps for a launch with these arguments. `use_fallback`: there are not
 * all of them, but a fallback that does without; no message is left of that. */
kiln_status kiln_cuda_make_tensor_maps(const kiln_kernel *kernel, kiln_stream stream,
                                       void *const *params, kiln_encoded_map *maps,
                                       bool *use_fallback);

/* Back to the state at process start. */
void kiln_cuda_forget_tensor_maps(void);

#pragma GCC visibility pop

#endif /* KILN_RUNTIME_CUDA_TENSOR_MAP_H */
