/*
 * Making tensor maps by NVIDIA's driver.
 *
 * Its axes are the other way round: the first is contiguous. A map that was made is kept with the
 * kernel (tensor_map_cache.h); making one needs a current context, finding one does not.
 *
 * A tensor without elements cannot be said: extents begin at 1, and the element at the origin is
 * always inside. Such a map is of one element in memory of the library's own, 48 bytes in each
 * context that met one: reads find a zero (or a NaN, where the map fills with NaNs), as everywhere
 * else outside of the tensor, and what is written there nobody reads, as a map is for one of the
 * two. The element is set again on the launch's stream, before the kernel. These maps belong to a
 * context, not to a device, and are not kept.
 */
#include "runtime/cuda_tensor_map.h"

#include "runtime/cuda_driver.h"
#include "runtime/mutex.h"
#include "runtime/tensor_map.h"

#include <assert.h>
#include <stdlib.h>

static_assert(sizeof(kiln_encoded_map) == KILN_TENSOR_MAP_BYTES, "a CUtensorMap");

/* CUtensorMapDataType */
static const uint8_t element_numbers[] = {
#define KILN_TENSOR_ELEMENT(NAME, SPEC, BYTES, IS_FLOAT, CUDA, PTX) [KILN_TENSOR_##NAME] = (CUDA),
#include "runtime/tensor_elements.def"
};

bool kiln_cuda_makes_tensor_maps(void) {
  const kiln_cuda_api *api = kiln_cuda();
  return api->cuTensorMapEncodeTiled && api->cuCtxGetId;
}

kiln_status kiln_cuda_plan_tensor_maps(kiln_kernel *kernel) {
  uint32_t count = kernel->binary->num_tensor_maps;
  if (!count)
    return KILN_SUCCESS;
  if (!kiln_cuda_makes_tensor_maps())
    return kiln_error(KILN_ERROR_UNSUPPORTED,
                      "the kernel takes tensor maps, which need cuTensorMapEncodeTiled and "
                      "cuCtxGetId, which this driver lacks (CUDA 12.0)");
  kernel->tensor_maps = kiln_make_tensor_map_caches(count);
  return kernel->tensor_maps ? KILN_SUCCESS
                             : kiln_error(KILN_ERROR_OUT_OF_MEMORY, "no memory for tensor maps");
}

static uint32_t swizzle_number(uint32_t bytes) {
  switch (bytes) {
  case 32:
    return KILN_CUDA_TENSOR_MAP_SWIZZLE_32B;
  case 64:
    return KILN_CUDA_TENSOR_MAP_SWIZZLE_64B;
  case 128:
    return KILN_CUDA_TENSOR_MAP_SWIZZLE_128B;
  default:
    return KILN_CUDA_TENSOR_MAP_SWIZZLE_NONE;
  }
}

/* A context is current. The driver's result. */
static int encode(const kiln_cuda_api *api, const kiln_tensor_map *map, const kiln_tensor *tensor,
                  kiln_encoded_map *encoded) {
  uint64_t extents[KILN_MAX_RANK], strides[KILN_MAX_RANK];
  uint32_t box[KILN_MAX_RANK], steps[KILN_MAX_RANK], rank = map->rank;
  for (uint32_t i = 0; i < rank; ++i) {
    uint32_t axis = rank - 1 - i;
    extents[i] = (uint64_t)tensor->shape[axis];
    box[i] = map->box[axis];
    steps[i] = 1;
    if (i > 0)
      strides[i - 1] = kiln_mapped_stride(map, tensor, axis);
  }
  return api->cuTensorMapEncodeTiled(
      encoded, element_numbers[map->element], rank, tensor->base, extents, strides, box, steps,
      KILN_CUDA_TENSOR_MAP_INTERLEAVE_NONE, (int)swizzle_number(map->swizzle_bytes),
      KILN_CUDA_TENSOR_MAP_L2_PROMOTION_256B,
      map->flags & KILN_MAP_FILLS_WITH_NAN ? KILN_CUDA_TENSOR_MAP_FILL_NAN
                                           : KILN_CUDA_TENSOR_MAP_FILL_ZERO);
}

/* --- tensors without elements --- */

enum { ZERO_AT = 0, NAN_AT = 16, SINK_AT = 32, STAND_IN_BYTES = 48, ELEMENT_BYTES = 16 };

/* A context's memory for the elements of tensors that have none; the driver frees it with the
 * context. */
typedef struct stand_in {
  struct stand_in *next;
  unsigned long long context; /* cuCtxGetId */
  unsigned long long address;
} stand_in;

static kiln_mutex mutex;
static stand_in *stand_ins;

/* Under the mutex. */
static kiln_status add_stand_in(const kiln_cuda_api *api, unsigned long long context,
                                unsigned long long *address) {
  stand_in *fresh = malloc(sizeof *fresh);
  if (!fresh)
    return kiln_error(KILN_ERROR_OUT_OF_MEMORY, "no memory to record an allocation");
  int mode;
  bool relaxed = kiln_cuda_relax_capture(api, &mode);
  int result = api->cuMemAlloc(address, STAND_IN_BYTES);
  kiln_cuda_restore_capture(api, relaxed, mode);
  if (result) {
    free(fresh);
    return kiln_cuda_error(api, KILN_ERROR_DRIVER, "cuMemAlloc", result);
  }
  *fresh = (stand_in){.next = stand_ins, .context = context, .address = *address};
  stand_ins = fresh;
  return KILN_SUCCESS;
}

static kiln_status find_stand_in(const kiln_cuda_api *api, void *context,
                                 unsigned long long *address) {
  unsigned long long id = 0;
  int result = api->cuCtxGetId(context, &id);
  if (result)
    return kiln_cuda_error(api, KILN_ERROR_INVALID_DEVICE, "cuCtxGetId", result);
  kiln_lock(&mutex);
  const stand_in *found = stand_ins;
  while (found && found->context != id)
    found = found->next;
  kiln_status status = KILN_SUCCESS;
  if (found)
    *address = found->address;
  else
    status = add_stand_in(api, id, address);
  kiln_unlock(&mutex);
  return status;
}

static kiln_status set_element(const kiln_cuda_api *api, unsigned long long address,
                               unsigned char byte, void *stream) {
  int result = api->cuMemsetD8Async(address, byte, ELEMENT_BYTES, stream);
  return result ? kiln_cuda_error(api, KILN_ERROR_LAUNCH, "cuMemsetD8Async", result) : KILN_SUCCESS;
}

/* The one element in place of a tensor that has none. `context` is the stream's, and current. */
static kiln_status use_stand_in(const kiln_cuda_api *api, const kiln_tensor_map *map, void *context,
                                void *stream, kiln_tensor *tensor) {
  unsigned long long address = 0;
  kiln_status status = find_stand_in(api, context, &address);
  if (status != KILN_SUCCESS)
    return status;
  bool is_nan = map->flags & KILN_MAP_FILLS_WITH_NAN;
  if (map->flags & KILN_MAP_IS_WRITTEN)
    address += SINK_AT;
  else {
    address += is_nan ? NAN_AT : ZERO_AT;
    status = set_element(api, address, is_nan ? 0xff : 0, stream);
  }
  *tensor = (kiln_tensor){.base = (void *)(uintptr_t)address, .rank = map->rank};
  for (uint32_t axis = 0; axis < map->rank; ++axis)
    tensor->shape[axis] = tensor->strides[axis] = 1;
  return status;
}

void kiln_cuda_forget_tensor_maps(void) {
  while (stand_ins) {
    stand_in *next = stand_ins->next;
    free(stand_ins);
    stand_ins = next;
  }
}

/* --- launches --- */

/* `tensor` is checked; what the driver refuses nevertheless may have a fallback. */
static kiln_status make_in_context(const kiln_kernel *kernel, uint32_t index,
                                   const kiln_tensor *tensor, void *context, void *stream,
                                   kiln_encoded_map *encoded, bool *use_fallback) {
  const kiln_cuda_api *api = kiln_cuda();
  const kiln_tensor_map *map = &kernel->binary->tensor_maps[index];
  bool is_empty = kiln_is_empty_tensor(tensor);
  kiln_tensor one;
  kiln_status status = is_empty ? use_stand_in(api, map, context, stream, &one) : KILN_SUCCESS;
  if (status != KILN_SUCCESS)
    return status;
  int result = encode(api, map, is_empty ? &one : tensor, encoded);
  *use_fallback = result == KILN_CUDA_ERROR_INVALID_VALUE && kernel->fallback;
  if (result)
    return *use_fallback
               ? KILN_SUCCESS
               : kiln_cuda_error(api, KILN_ERROR_DRIVER, "cuTensorMapEncodeTiled", result);
  if (!is_empty)
    kiln_keep_tensor_map(kiln_tensor_map_cache_at(kernel->tensor_maps, index), tensor, encoded);
  return KILN_SUCCESS;
}

static kiln_status make_tensor_map(const kiln_kernel *kernel, uint32_t index, kiln_stream stream,
                                   const kiln_tensor *tensor, kiln_encoded_map *encoded,
                                   bool *use_fallback) {
  const kiln_tensor_map *map = &kernel->binary->tensor_maps[index];
  const kiln_variant *variant = &kernel->entry->variants[kernel->variant];
  void *context = NULL;
  bool pushed = false;
  *use_fallback = kernel->fallback && !(kiln_has_map(map, tensor) && kiln_map_pays(map, tensor));
  if (*use_fallback)
    return KILN_SUCCESS;
  kiln_status status = kiln_check_mapped_tensor(kernel->entry->name, map, variant->params, tensor);
  if (status != KILN_SUCCESS)
    return status;
  status = kiln_cuda_driver.stream_context(stream, &context);
  if (status == KILN_SUCCESS)
    status = kiln_cuda_enter(kiln_cuda(), context, &pushed);
  if (status == KILN_SUCCESS)
    status = make_in_context(kernel, index, tensor, context, stream.handle, encoded, use_fallback);
  kiln_cuda_leave(kiln_cuda(), pushed);
  return status == KILN_SUCCESS
             ? status
             : kiln_error_within(status, "%s: variant %u (%s): the tensor map of %s",
                                 kernel->entry->name, kernel->variant, variant->name, map->name);
}

kiln_status kiln_cuda_make_tensor_maps(const kiln_kernel *kernel, kiln_stream stream,
                                       void *const *params, kiln_encoded_map *maps,
                                       bool *use_fallback) {
  const kiln_binary *binary = kernel->binary;
  const kiln_param *parameters = kernel->entry->variants[kernel->variant].params;
  *use_fallback = false;
  for (uint32_t i = 0; i < binary->num_tensor_maps; ++i) {
    kiln_tensor tensor;
    kiln_read_tensor(&binary->tensor_maps[i], parameters, params, &tensor);
    if (kiln_find_tensor_map(kiln_tensor_map_cache_at(kernel->tensor_maps, i), &tensor, &maps[i]))
      continue;
    kiln_status status = make_tensor_map(kernel, i, stream, &tensor, &maps[i], use_fallback);
    if (status != KILN_SUCCESS || *use_fallback)
      return status;
  }
  return KILN_SUCCESS;
}
