/* Images that drivers have loaded, and where the bytes of those to be loaded come from. */
#include "runtime/driver.h"
#include "runtime/pack.h"
#include "runtime/platform.h"

#include <stdlib.h>
#include <string.h>

kiln_image *kiln_find_image(kiln_image *images, const kiln_binary *binary,
                            const kiln_place *place) {
  for (kiln_image *image = images; image; image = image->next)
    if (image->data == binary->data && image->frame == binary->frame &&
        image->frame_offset == binary->frame_offset && image->place == place)
      return image;
  return NULL;
}

kiln_status kiln_add_image(kiln_image **images, uint32_t driver, const kiln_binary *binary,
                           const kiln_place *place, void *handle, void *unpacked) {
  kiln_image *image = malloc(sizeof *image);
  if (!image)
    return kiln_error(KILN_ERROR_OUT_OF_MEMORY, "no memory to record a loaded image");
  *image = (kiln_image){.next = *images,
                        .data = binary->data,
                        .frame = binary->frame,
                        .frame_offset = binary->frame_offset,
                        .place = place,
                        .driver = driver,
                        .handle = handle,
                        .unpacked = unpacked};
  *images = image;
  return KILN_SUCCESS;
}

/* --- images in frames --- */

/* Drivers read images by words. */
enum { IMAGE_ALIGNMENT = 64 };

static kiln_status copy_image(const kiln_binary *binary, const char *frame, void **image) {
  size_t size = (size_t)binary->size;
  *image = kiln_os_allocate_aligned(IMAGE_ALIGNMENT, size);
  if (!*image)
    return kiln_error(KILN_ERROR_OUT_OF_MEMORY, "no memory for an image of %zu bytes", size);
  memcpy(*image, frame + binary->frame_offset, size);
  return KILN_SUCCESS;
}

/* The frame goes at once: what is left is the image. */
static kiln_status unpack_image(const kiln_binary *binary, const void *data, void **image) {
  const kiln_frame *frame = binary->frame;
  if (!frame->unpack)
    return copy_image(binary, data, image);
  char *unpacked = malloc((size_t)frame->unpacked_size);
  if (!unpacked)
    return kiln_error(KILN_ERROR_OUT_OF_MEMORY, "no memory to unpack %llu bytes of images",
                      (unsigned long long)frame->unpacked_size);
  const char *problem = frame->unpack(data, frame->size, unpacked, frame->unpacked_size);
  kiln_status status =
      problem ? kiln_error(KILN_ERROR_LOAD, "the compressed images are damaged: %s", problem)
              : copy_image(binary, unpacked, image);
  free(unpacked);
  return status;
}

static kiln_status image_in_frame(const kiln_binary *binary, void **image) {
  const kiln_frame *frame = binary->frame;
  if (binary->size == 0 || binary->size > frame->unpacked_size ||
      binary->frame_offset > frame->unpacked_size - binary->size ||
      (!frame->unpack && frame->size != frame->unpacked_size))
    return kiln_error(KILN_ERROR_ABI, "the image is not within its frame");
  const void *data;
  void *read;
  kiln_status status = kiln_frame_bytes(frame, &data, &read);
  if (status == KILN_SUCCESS)
    status = unpack_image(binary, data, image);
  free(read);
  return status;
}

kiln_status kiln_image_bytes(const kiln_binary *binary, const void **data, void **unpacked) {
  *data = binary->data;
  *unpacked = NULL;
  if (!binary->frame)
    return KILN_SUCCESS;
  kiln_status status = image_in_frame(binary, unpacked);
  *data = *unpacked;
  return status;
}
