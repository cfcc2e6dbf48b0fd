#include "runtime/emulator_counts.h"

#include <stdlib.h>
#include <string.h>

/* The entry of `code`, made if it is new; null where there is no memory. */
static kiln_counted_kernel *entry_of(kiln_counts *counts, const void *code,
                                     const kiln_emulator_kernel *kernel) {
  for (uint32_t i = 0; i < counts->num_kernels; ++i)
    if (counts->kernels[i].code == code)
      return &counts->kernels[i];
  kiln_counted_kernel *grown =
      realloc(counts->kernels, (counts->num_kernels + 1) * sizeof *counts->kernels);
  if (!grown)
    return NULL;
  counts->kernels = grown;
  kiln_emulator_count *sums = calloc(kernel->num_counts, sizeof *sums);
  if (!sums && kernel->num_counts)
    return NULL;
  kiln_counted_kernel *made = &grown[counts->num_kernels];
  *made = (kiln_counted_kernel){code, *kernel, sums};
  made->kernel.blocks = 0;
  made->kernel.first_count = kiln_counts_number(counts);
  ++counts->num_kernels;
  return made;
}

static void add(kiln_emulator_count *sum, const kiln_emulator_count *count) {
  kiln_emulator_count before = *sum;
  *sum = *count;
  sum->instructions += before.instructions;
  sum->thread_instructions += before.thread_instructions;
  sum->divergent_branches += before.divergent_branches;
  sum->flops += before.flops;
  sum->matrix_operations += before.matrix_operations;
  sum->global_requests += before.global_requests;
  sum->sectors += before.sectors;
  sum->ideal_sectors += before.ideal_sectors;
  sum->shared_requests += before.shared_requests;
  sum->wavefronts += before.wavefronts;
  sum->ideal_wavefronts += before.ideal_wavefronts;
  sum->global_read += before.global_read;
  sum->global_written += before.global_written;
  sum->shared_read += before.shared_read;
  sum->shared_written += before.shared_written;
}

void kiln_counts_add(kiln_counts *counts, const void *code, const kiln_emulator_kernel *kernel,
                     const kiln_emulator_count *block) {
  kiln_counted_kernel *entry = entry_of(counts, code, kernel);
  if (!entry)
    return;
  entry->kernel.blocks += kernel->blocks;
  for (uint32_t i = 0; i < entry->kernel.num_counts; ++i)
    add(&entry->counts[i], &block[i]);
}

void kiln_counts_clear(kiln_counts *counts) {
  for (uint32_t i = 0; i < counts->num_kernels; ++i)
    free(counts->kernels[i].counts);
  free(counts->kernels);
  memset(counts, 0, sizeof *counts);
}

uint32_t kiln_counts_number(const kiln_counts *counts) {
  if (!counts->num_kernels)
    return 0;
  const kiln_emulator_kernel *last = &counts->kernels[counts->num_kernels - 1].kernel;
  return last->first_count + last->num_counts;
}

const kiln_emulator_count *kiln_counts_at(const kiln_counts *counts, uint32_t index) {
  for (uint32_t i = 0; i < counts->num_kernels; ++i) {
    const kiln_counted_kernel *entry = &counts->kernels[i];
    if (index - entry->kernel.first_count < entry->kernel.num_counts)
      return &entry->counts[index - entry->kernel.first_count];
  }
  return NULL;
}
