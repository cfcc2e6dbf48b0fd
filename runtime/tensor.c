/*
 * Tensors that callers pass for tensor descriptors.
 *
 * Kernels rely on what is checked here: code for descriptors is compiled for aligned rows, and copy
 * engines refuse anything else. A check is a few comparisons, so it is made in every call.
 */
#include "runtime/error.h"

#include <inttypes.h>

enum { ROW_ALIGNMENT = 16 };

kiln_tensor kiln_contiguous_tensor(void *base, uint32_t rank, const int64_t *shape) {
  kiln_tensor tensor = {.base = base, .rank = rank};
  uint64_t stride = 1; /* wraps where the shape is too large to exist */
  for (uint32_t axis = rank < KILN_MAX_RANK ? rank : KILN_MAX_RANK; axis-- > 0;) {
    tensor.shape[axis] = shape[axis];
    tensor.strides[axis] = (int64_t)stride;
    stride *= (uint64_t)(shape[axis] > 1 ? shape[axis] : 1);
  }
  return tensor;
}

static kiln_status check_axis(const kiln_entry *entry, const char *name, const kiln_tensor *tensor,
                              uint32_t axis, uint32_t element_bytes) {
  int64_t extent = tensor->shape[axis], stride = tensor->strides[axis];
  if (extent < 0 || extent > INT32_MAX)
    return kiln_error(KILN_ERROR_INVALID_ARGUMENT,
                      "%s: %s: shape[%" PRIu32 "] is %" PRId64 ", expected 0 to 2147483647",
                      entry->name, name, axis, extent);
  if (axis + 1 == tensor->rank) {
    if (stride != 1)
      return kiln_error(KILN_ERROR_INVALID_ARGUMENT,
                        "%s: %s: strides[%" PRIu32 "] is %" PRId64
                        ", expected 1: elements of the last axis stand side by side",
                        entry->name, name, axis, stride);
    return KILN_SUCCESS;
  }
  if (stride < 0 || (uint64_t)stride * element_bytes % ROW_ALIGNMENT != 0)
    return kiln_error(KILN_ERROR_INVALID_ARGUMENT,
                      "%s: %s: strides[%" PRIu32 "] is %" PRId64 " elements of %" PRIu32
                      " bytes, expected a multiple of %d bytes",
                      entry->name, name, axis, stride, element_bytes, ROW_ALIGNMENT);
  return KILN_SUCCESS;
}

kiln_status kiln_check_tensor(const kiln_entry *entry, const char *name, const kiln_tensor *tensor,
                              uint32_t rank, uint32_t element_bytes) {
  if (tensor->rank != rank)
    return kiln_error(KILN_ERROR_INVALID_ARGUMENT,
                      "%s: %s: expected a tensor of rank %" PRIu32 ", got rank %" PRIu32,
                      entry->name, name, rank, tensor->rank);
  if ((uintptr_t)tensor->base % ROW_ALIGNMENT != 0)
    return kiln_error(KILN_ERROR_INVALID_ARGUMENT,
                      "%s: %s: the base %p is not a multiple of %d bytes", entry->name, name,
                      tensor->base, ROW_ALIGNMENT);
  for (uint32_t axis = 0; axis < rank; ++axis) {
    kiln_status status = check_axis(entry, name, tensor, axis, element_bytes);
    if (status != KILN_SUCCESS)
      return status;
  }
  return KILN_SUCCESS;
}
