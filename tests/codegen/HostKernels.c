// CPU kernels as the compiler would make them, in the host ABI of the contract with the runtime.
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define KERNEL(name)                                                                               \
  void name(void *const *params, const uint32_t program_id[3], const uint32_t num_programs[3],     \
            void *arena)

void helper_shared_by_name(float *out, float value) { *out = value; }

// y[i] += alpha * x[i] for one block of 256; writes the block's size behind the array's last slot.
static void axpy(void *const *params, uint32_t id, int32_t block) {
  const float *x = *(float *const *)params[0];
  float *y = *(float *const *)params[1];
  int32_t n = *(const int32_t *)params[2];
  float alpha = *(const float *)params[3];
  for (int32_t i = (int32_t)id * block; i < n && i < ((int32_t)id + 1) * block; ++i)
    helper_shared_by_name(&y[i], y[i] + alpha * x[i]);
  if (id == 0)
    y[n] = (float)block;
}

KERNEL(axpy_256) { axpy(params, program_id[0], 256); }
KERNEL(axpy_1024) { axpy(params, program_id[0], 1024); }

// Copies every argument, as bytes, into the buffer that argument 0 points to, eight bytes each.
KERNEL(every_type) {
  static const unsigned sizes[] = {8, 1, 1, 2, 4, 8, 1, 2, 4, 8, 1, 2, 2, 4, 8, 8};
  char *out = *(char *const *)params[0];
  for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; ++i)
    memcpy(out + 8 * i, params[i], sizes[i]);
  memcpy(out + 8 * 16, num_programs, 12);
}

int no_arguments_runs;
KERNEL(no_arguments) { __atomic_fetch_add(&no_arguments_runs, 1, __ATOMIC_RELAXED); }

// Records the parts of a tensor descriptor, and the grid.
KERNEL(tensor) {
  int64_t *out = *(int64_t *const *)params[0];
  out[0] = *(const int64_t *)params[1]; // the base's address
  out[1] = *(const int32_t *)params[2];
  out[2] = *(const int32_t *)params[3];
  out[3] = *(const int64_t *)params[4];
  out[4] = *(const int32_t *)params[5];
  out[5] = num_programs[0];
  out[6] = num_programs[1];
}

// Records its scalars and the grid.
KERNEL(guarded) {
  int64_t *out = *(int64_t *const *)params[0];
  out[0] = *(const int32_t *)params[2];
  out[1] = *(const int32_t *)params[3];
  out[2] = *(const int64_t *)params[4];
  out[3] = num_programs[0];
  out[4] = num_programs[1];
}

// The kernel of a variant that folded its second argument away.
KERNEL(folded) { *(*(int32_t *const *)params[0] + program_id[0]) = 1; }
KERNEL(unfolded) { *(*(int32_t *const *)params[0] + program_id[0]) = *(const int32_t *)params[1]; }
