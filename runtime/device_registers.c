/*
 * What kernels on the CPU or an emulated GPU read instead of a GPU's special registers.
 */
#include "runtime/kiln.h"
#include "runtime/platform.h"

uint32_t kiln_device_processor(void) { return kiln_os_current_cpu(); }

uint64_t kiln_device_nanoseconds(void) { return kiln_os_nanoseconds(); }
