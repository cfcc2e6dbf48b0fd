/*
 * The functions of AMD's HIP runtime that the tuner calls: X(result, name, parameters). A
 * hipError_t is an int, 0 is success. Facts: HIP API reference.
 */
#ifndef KILN_RUNTIME_TUNER_HIP_FUNCTIONS_H
#define KILN_RUNTIME_TUNER_HIP_FUNCTIONS_H

#define KILN_TUNER_HIP_FUNCTIONS(X)                                                                \
  X(const char *, hipGetErrorString, (int error))                                                  \
  X(int, hipRuntimeGetVersion, (int *version))                                                     \
  X(int, hipSetDevice, (int device))                                                               \
  X(int, hipDeviceGetName, (char *name, int capacity, int device))                                 \
  X(int, hipDeviceSynchronize, (void))                                                             \
  X(int, hipMalloc, (void **memory, size_t bytes))                                                 \
  X(int, hipFree, (void *memory))                                                                  \
  X(int, hipMemcpy, (void *to, const void *from, size_t bytes, int kind))                          \
  X(int, hipMemsetAsync, (void *memory, int value, size_t bytes, void *stream))                    \
  X(int, hipEventCreate, (void **event))                                                           \
  X(int, hipEventRecord, (void *event, void *stream))                                              \
  X(int, hipEventSynchronize, (void *event))                                                       \
  X(int, hipEventElapsedTime, (float *milliseconds, void *first, void *last))

#endif
