/* A program written against what Triton's compile.py and link.py write: it knows nothing of Kiln.
 */
#include "scale.h"
#include <cuda.h>
#include <stdio.h>

#define CHECK(call)                                                                                \
  do {                                                                                             \
    CUresult result = (call);                                                                      \
    if (result != CUDA_SUCCESS) {                                                                  \
      fprintf(stderr, "%s: error %d\n", #call, (int)result);                                       \
      return 1;                                                                                    \
    }                                                                                              \
  } while (0)

enum { N = 1000 };
static float host[N + 1];

/* Whether out is x * factor, and what follows in it is as it was. */
static int is_scaled(CUdeviceptr out, int n, float factor) {
  if (cuMemcpyDtoH(host, out, (size_t)(n + 1) * sizeof(float)) != CUDA_SUCCESS)
    return 0;
  for (int i = 0; i < n; ++i)
    if (host[i] != (float)i * factor)
      return 0;
  return host[n] == -1.0f;
}

int main(void) {
  CUcontext context;
  CUdeviceptr x, out;
  CHECK(cuInit(0));
  CHECK(cuDevicePrimaryCtxRetain(&context, 0));
  CHECK(cuCtxSetCurrent(context));
  CHECK(cuMemAlloc(&x, sizeof(host)));
  CHECK(cuMemAlloc(&out, sizeof(host) + 4));
  for (int i = 0; i < N + 1; ++i)
    host[i] = (float)i;
  CHECK(cuMemcpyHtoD(x, host, sizeof(host)));

  load_scale();
  printf("%d algorithms\n", scale_get_num_algos());
  int failures = 0, lengths[] = {N, 1, 0};
  for (int algorithm = -1; algorithm < scale_get_num_algos(); ++algorithm)
    for (int l = 0; l < 3; ++l)
      for (unsigned offset = 0; offset < 8; offset += 4) { /* aligned to 16 bytes, and not */
        float factor = 1.5f + (float)algorithm;
        for (int i = 0; i < N + 1; ++i)
          host[i] = -1.0f;
        CHECK(cuMemcpyHtoD(out + offset, host, sizeof(host)));
        CUresult result = algorithm < 0 ? scale_default(0, x, out + offset, lengths[l], factor)
                                        : scale(0, x, out + offset, lengths[l], factor, algorithm);
        if (result == CUDA_ERROR_INVALID_VALUE)
          printf("algorithm %d takes no n of %d at %u\n", algorithm, lengths[l], offset);
        else
          failures += result != CUDA_SUCCESS || !is_scaled(out + offset, lengths[l], factor);
      }
  failures += scale(0, x, out, N, 1.0f, scale_get_num_algos()) != CUDA_ERROR_INVALID_VALUE;
  unload_scale();
  printf("%d failures\n", failures);
  return failures;
}
