/*
 * What kernels on the CPU or an emulated GPU read instead of a GPU's special registers.
 */
#define _GNU_SOURCE /* sched_getcpu */

#include "runtime/kiln.h"

#include <sched.h>
#include <time.h>

uint32_t kiln_device_processor(void) {
  int number = sched_getcpu();
  return number < 0 ? 0 : (uint32_t)number;
}

uint64_t kiln_device_nanoseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
