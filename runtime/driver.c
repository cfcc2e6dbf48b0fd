/* The list of executors. */
#include "runtime/driver.h"

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

kiln_status kiln_error_within_kernel(kiln_status status, const kiln_kernel *kernel) {
  return kiln_error_within(status, "%s: variant %u (%s)", kernel->entry->name, kernel->variant,
                           kernel->entry->variants[kernel->variant].name);
}

void kiln_close_drivers(void) {
  kiln_cuda_driver.close();
  kiln_hip_driver.close();
  kiln_cpu_driver.close();
  kiln_emulator_driver.close();
}
