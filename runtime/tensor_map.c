/*
 * Reading and checking the tensors of tensor maps. Limits after the CUDA Driver API, "Tensor Map
 * Object Management" (cuTensorMapEncodeTiled).
 */
#include "runtime/tensor_map.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The driver takes extents up to 2^32, but an H200 stops at copies from tensors of 2^32 - 1
 * elements along an axis, and coordinates have signs. */
enum { COPY_BYTES = 16, MAX_BOX = 256, NUMBER_CAPACITY = 96, MAX_EXTENT = INT32_MAX };
static const int64_t stride_limit = INT64_C(1) << 40; /* bytes */

static const struct element {
  uint32_t bytes;
  bool is_float;
} elements[] = {
#define KILN_TENSOR_ELEMENT(NAME, SPEC, BYTES, IS_FLOAT, ...)                                      \
  [KILN_TENSOR_##NAME] = {(BYTES), (IS_FLOAT)},
#include "runtime/tensor_elements.def"
};

uint32_t kiln_tensor_element_bytes(uint32_t element) { return elements[element].bytes; }

/* --- records --- */

static bool is_integer(uint32_t kind) { return kind >= KILN_PARAM_I8 && kind <= KILN_PARAM_U64; }

static bool is_factor(const kiln_variant *variant, int32_t parameter) {
  return parameter == KILN_NO_PARAMETER ||
         (parameter >= 0 && (uint32_t)parameter < variant->num_params &&
          is_integer(variant->params[parameter].kind));
}

static bool is_number(const kiln_variant *variant, const kiln_launch_number *number) {
  return is_factor(variant, number->parameter) && is_factor(variant, number->factor);
}

/* What is wrong with where the numbers come from, or null. */
static const char *wrong_numbers(const kiln_variant *variant, const kiln_tensor_map *map) {
  if (map->rank < 1 || map->rank > KILN_MAX_RANK)
    return "expected a rank from 1 to 5";
  if (map->base >= variant->num_params || variant->params[map->base].kind != KILN_PARAM_POINTER)
    return "its base is no pointer of the launcher's";
  for (uint32_t axis = 0; axis < map->rank; ++axis)
    if (!is_number(variant, &map->extents[axis]) ||
        (axis + 1 < map->rank && !is_number(variant, &map->strides[axis])))
      return "an extent or stride is no integer of the launcher's";
  return NULL;
}

/* What is wrong with the copied blocks, or null. */
static const char *wrong_blocks(const kiln_tensor_map *map) {
  if (map->element >= sizeof elements / sizeof *elements)
    return "its element type is not known";
  const struct element *element = &elements[map->element];
  for (uint32_t axis = 0; axis < map->rank; ++axis)
    if (map->box[axis] < 1 || map->box[axis] > MAX_BOX)
      return "expected a block of 1 to 256 elements along each axis";
  uint32_t row = map->box[map->rank - 1] * element->bytes, swizzle = map->swizzle_bytes;
  if (row % COPY_BYTES)
    return "expected rows of blocks to be multiples of 16 bytes";
  if (swizzle != 0 && swizzle != 32 && swizzle != 64 && swizzle != 128)
    return "expected a swizzle of 0, 32, 64 or 128 bytes";
  if (swizzle && row > swizzle)
    return "rows of blocks are longer than the swizzle";
  if ((map->flags & KILN_MAP_FILLS_WITH_NAN) && !element->is_float)
    return "its elements have no NaN";
  return NULL;
}

kiln_status kiln_check_tensor_maps(const kiln_variant *variant, const kiln_binary *binary) {
  if (binary->num_tensor_maps > KILN_MAX_TENSOR_MAPS)
    return kiln_error(KILN_ERROR_ABI, "the binary has %u tensor maps, expected at most %d",
                      binary->num_tensor_maps, KILN_MAX_TENSOR_MAPS);
  for (uint32_t i = 0; i < binary->num_tensor_maps; ++i) {
    const kiln_tensor_map *map = &binary->tensor_maps[i];
    const char *wrong = wrong_numbers(variant, map);
    if (!wrong)
      wrong = wrong_blocks(map);
    if (wrong)
      return kiln_error(KILN_ERROR_ABI, "tensor map %u (%s): %s", i, map->name, wrong);
  }
  return KILN_SUCCESS;
}

/* --- launches --- */

static int64_t read_integer(uint32_t kind, const void *value) {
  switch (kind) {
  case KILN_PARAM_I8:
    return *(const int8_t *)value;
  case KILN_PARAM_U8:
    return *(const uint8_t *)value;
  case KILN_PARAM_I16:
    return *(const int16_t *)value;
  case KILN_PARAM_U16:
    return *(const uint16_t *)value;
  case KILN_PARAM_I32:
    return *(const int32_t *)value;
  case KILN_PARAM_U32:
    return *(const uint32_t *)value;
  default:
    return *(const int64_t *)value; /* an unsigned one beyond its range is below zero: refused */
  }
}

static int64_t read_number(const kiln_launch_number *number, const kiln_param *params,
                           void *const *values) {
  const int32_t factors[] = {number->parameter, number->factor};
  int64_t product = number->constant;
  for (int i = 0; i < 2; ++i)
    if (factors[i] != KILN_NO_PARAMETER &&
        __builtin_mul_overflow(product, read_integer(params[factors[i]].kind, values[factors[i]]),
                               &product))
      return INT64_MIN;
  return product;
}

void kiln_read_tensor(const kiln_tensor_map *map, const kiln_param *params, void *const *values,
                      kiln_tensor *tensor) {
  uint32_t last = map->rank - 1u;
  tensor->base = *(void *const *)values[map->base];
  tensor->rank = map->rank;
  for (uint32_t axis = 0; axis < last; ++axis) {
    tensor->shape[axis] = read_number(&map->extents[axis], params, values);
    tensor->strides[axis] = read_number(&map->strides[axis], params, values);
  }
  tensor->shape[last] = read_number(&map->extents[last], params, values);
  tensor->strides[last] = 1;
}

bool kiln_is_empty_tensor(const kiln_tensor *tensor) {
  for (uint32_t axis = 0; axis < tensor->rank; ++axis)
    if (tensor->shape[axis] == 0)
      return true;
  return false;
}

/* "stride_am is 100", or "it is 100" of what is no argument alone. */
static void describe_number(const kiln_launch_number *number, const kiln_param *params,
                            int64_t value, char text[NUMBER_CAPACITY]) {
  bool is_argument = number->parameter != KILN_NO_PARAMETER &&
                     number->factor == KILN_NO_PARAMETER && number->constant == 1;
  const kiln_param *param = is_argument ? &params[number->parameter] : NULL;
  const char *name = param ? param->name : "it";
  if (param && param->kind == KILN_PARAM_U64)
    snprintf(text, NUMBER_CAPACITY, "%s is %" PRIu64, name, (uint64_t)value);
  else
    snprintf(text, NUMBER_CAPACITY, "%s is %" PRId64, name, value);
}

static bool has_extent(const kiln_tensor *tensor, uint32_t axis) {
  return tensor->shape[axis] >= 0 && tensor->shape[axis] <= MAX_EXTENT;
}

static bool has_base(const kiln_tensor *tensor) {
  return tensor->base && (uintptr_t)tensor->base % COPY_BYTES == 0;
}

static bool has_stride(const kiln_tensor_map *map, const kiln_tensor *tensor, uint32_t axis) {
  int64_t stride = tensor->strides[axis];
  uint32_t bytes = kiln_tensor_element_bytes(map->element);
  /* Along one element nobody steps. */
  return tensor->shape[axis] <= 1 || (stride >= 0 && stride < stride_limit / bytes &&
                                      stride * (int64_t)bytes % COPY_BYTES == 0);
}

/* What is written is written in whole pieces, also where a row ends within one (measured on an
 * H200). */
static bool ends_with_piece(const kiln_tensor_map *map, const kiln_tensor *tensor) {
  return !(map->flags & KILN_MAP_IS_WRITTEN) ||
         tensor->shape[map->rank - 1u] * kiln_tensor_element_bytes(map->element) % COPY_BYTES == 0;
}

bool kiln_has_map(const kiln_tensor_map *map, const kiln_tensor *tensor) {
  for (uint32_t axis = 0; axis < map->rank; ++axis)
    if (!has_extent(tensor, axis))
      return false;
  if (kiln_is_empty_tensor(tensor))
    return true;
  for (uint32_t axis = 0; axis + 1 < map->rank; ++axis)
    if (!has_stride(map, tensor, axis))
      return false;
  return has_base(tensor) && ends_with_piece(map, tensor);
}

bool kiln_map_pays(const kiln_tensor_map *map, const kiln_tensor *tensor) {
  for (uint32_t axis = 0; axis < map->rank; ++axis)
    if (tensor->shape[axis] * 2 < (int64_t)map->box[axis])
      return false;
  return true;
}

static kiln_status check_stride(const char *entry, const kiln_tensor_map *map,
                                const kiln_param *params, const kiln_tensor *tensor,
                                uint32_t axis) {
  if (has_stride(map, tensor, axis))
    return KILN_SUCCESS;
  char number[NUMBER_CAPACITY];
  describe_number(&map->strides[axis], params, tensor->strides[axis], number);
  return kiln_error(KILN_ERROR_INVALID_ARGUMENT,
                    "%s: %s: the stride of axis %" PRIu32 ": %s elements of %" PRIu32
                    " bytes, expected a multiple of %d bytes, at least 0 and below 2^40",
                    entry, map->name, axis, number, kiln_tensor_element_bytes(map->element),
                    COPY_BYTES);
}

static kiln_status check_extent(const char *entry, const kiln_tensor_map *map,
                                const kiln_param *params, const kiln_tensor *tensor,
                                uint32_t axis) {
  if (has_extent(tensor, axis))
    return KILN_SUCCESS;
  char number[NUMBER_CAPACITY];
  describe_number(&map->extents[axis], params, tensor->shape[axis], number);
  return kiln_error(KILN_ERROR_INVALID_ARGUMENT,
                    "%s: %s: the extent of axis %" PRIu32 ": %s, expected 0 to 2147483647", entry,
                    map->name, axis, number);
}

static kiln_status check_end(const char *entry, const kiln_tensor_map *map,
                             const kiln_param *params, const kiln_tensor *tensor) {
  if (ends_with_piece(map, tensor))
    return KILN_SUCCESS;
  uint32_t axis = map->rank - 1u;
  char number[NUMBER_CAPACITY];
  describe_number(&map->extents[axis], params, tensor->shape[axis], number);
  return kiln_error(KILN_ERROR_INVALID_ARGUMENT,
                    "%s: %s, which is written: the extent of axis %" PRIu32
                    ": %s elements of %" PRIu32 " bytes, expected a multiple of %d bytes",
                    entry, map->name, axis, number, kiln_tensor_element_bytes(map->element),
                    COPY_BYTES);
}

kiln_status kiln_check_mapped_tensor(const char *entry, const kiln_tensor_map *map,
                                     const kiln_param *params, const kiln_tensor *tensor) {
  kiln_status status = KILN_SUCCESS;
  for (uint32_t axis = 0; axis < map->rank && status == KILN_SUCCESS; ++axis)
    status = check_extent(entry, map, params, tensor, axis);
  if (status != KILN_SUCCESS || kiln_is_empty_tensor(tensor))
    return status;
  if (!has_base(tensor))
    return kiln_error(KILN_ERROR_INVALID_ARGUMENT,
                      "%s: %s: %s is 0x%" PRIxPTR ", expected the address of a tensor, a multiple "
                      "of %d bytes",
                      entry, map->name, params[map->base].name, (uintptr_t)tensor->base,
                      COPY_BYTES);
  for (uint32_t axis = 0; axis + 1 < map->rank && status == KILN_SUCCESS; ++axis)
    status = check_stride(entry, map, params, tensor, axis);
  return status == KILN_SUCCESS ? check_end(entry, map, params, tensor) : status;
}

uint64_t kiln_mapped_stride(const kiln_tensor_map *map, const kiln_tensor *tensor, uint32_t axis) {
  return tensor->shape[axis] <= 1
             ? COPY_BYTES
             : (uint64_t)tensor->strides[axis] * kiln_tensor_element_bytes(map->element);
}
