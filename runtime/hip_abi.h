/*
 * AMD's HIP runtime, opened at run time: the few constants and places in structs that are needed of
 * it, after the HIP API reference (no vendor header is included). Its functions are in
 * hip_symbols.def.
 */
#ifndef KILN_RUNTIME_HIP_ABI_H
#define KILN_RUNTIME_HIP_ABI_H

#include <stddef.h>

enum {
  KILN_HIP_ERROR_OUT_OF_MEMORY = 2,
  KILN_HIP_ERROR_NO_DEVICE = 100,
  KILN_HIP_ERROR_NOT_FOUND = 500,
  KILN_HIP_ERROR_COOPERATIVE_TOO_LARGE = 720,
  KILN_HIP_ERROR_STREAM_CAPTURE_IMPLICIT = 906,

  KILN_HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED = 8,
  KILN_HIP_CAPTURE_MODE_RELAXED = 2,
  KILN_HIP_MEMCPY_DEFAULT = 4, /* either side may be the host's */
  KILN_HIP_HOST_MALLOC_PORTABLE = 1,
  KILN_HIP_HOST_MALLOC_MAPPED = 2,
  KILN_HIP_HOST_MALLOC_COHERENT = 0x40000000
};

/* Where hipDeviceProp_t has its fields, in bytes: the struct of ROCm 6 and later, and the one
 * before. */
typedef struct kiln_hip_properties {
  size_t processors; /* int multiProcessorCount */
  size_t arch_name;  /* char gcnArchName[256] */
} kiln_hip_properties;

static const kiln_hip_properties kiln_hip_properties_r0600 = {388, 1160};
static const kiln_hip_properties kiln_hip_properties_r0000 = {336, 396};

#endif /* KILN_RUNTIME_HIP_ABI_H */
