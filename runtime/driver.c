/* The list of executors, and what their loaders share. */
#include "runtime/driver.h"

#include <stdlib.h>

const kiln_driver_table *kiln_driver_of(uint32_t driver) {
  switch (driver) {
  case KILN_DRIVER_CUDA:
    return &kiln_cuda_driver;
  case KILN_DRIVER_HIP:
    return &kiln_hip_driver;
  case KILN_DRIVER_CPU:
    return &kiln_cpu_driver;
  case KILN_DRIVER_EMULATOR:
    return &kiln_emulator_driver;
  default:
    return NULL;
  }
}

kiln_image *kiln_find_image(kiln_image *images, const void *data, const kiln_place *place) {
  for (kiln_image *image = images; image; image = image->next)
    if (image->data == data && image->place == place)
      return image;
  return NULL;
}

kiln_status kiln_add_image(kiln_image **images, uint32_t driver, const void *data,
                           const kiln_place *place, void *handle) {
  kiln_image *image = malloc(sizeof *image);
  if (!image)
    return kiln_error(KILN_ERROR_OUT_OF_MEMORY, "no memory to record a loaded image");
  *image = (kiln_image){
      .next = *images, .data = data, .place = place, .driver = driver, .handle = handle};
  *images = image;
  return KILN_SUCCESS;
}

void kiln_close_drivers(void) {
  kiln_cuda_driver.close();
  kiln_hip_driver.close();
  kiln_cpu_driver.close();
  kiln_emulator_driver.close();
}
