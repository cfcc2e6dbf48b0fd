/* The list of executors. */
#include "runtime/driver.h"

const kiln_driver_table *const kiln_drivers[KILN_NUM_DRIVERS] = {
    [KILN_DRIVER_CUDA] = &kiln_cuda_driver,
    [KILN_DRIVER_HIP] = &kiln_hip_driver,
    [KILN_DRIVER_CPU] = &kiln_cpu_driver,
    [KILN_DRIVER_EMULATOR] = &kiln_emulator_driver,
};

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
