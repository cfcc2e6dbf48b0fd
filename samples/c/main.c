/* A C99 program that runs two kernels of a Kiln library on the CPU and checks them against a
 * reference. The same calls run on a GPU with kiln_cuda_stream(stream) or kiln_hip_stream(stream)
 * and device pointers. */
#include "llm_kernels.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static int fail(const char *what, kiln_status status) {
  fprintf(stderr, "%s: %s: %s\n", what, kiln_status_string(status), kiln_last_error());
  return 1;
}

static double softmax_error(const float *x, const float *out, int rows, int columns) {
  double worst = 0;
  for (int r = 0; r < rows; ++r) {
    double largest = x[r * columns], sum = 0;
    for (int c = 0; c < columns; ++c)
      largest = fmax(largest, x[r * columns + c]);
    for (int c = 0; c < columns; ++c)
      sum += exp(x[r * columns + c] - largest);
    for (int c = 0; c < columns; ++c)
      worst = fmax(worst, fabs(out[r * columns + c] - exp(x[r * columns + c] - largest) / sum));
  }
  return worst;
}

int main(void) {
  enum { rows = 100, columns = 781, count = rows * columns };
  float *x = malloc(sizeof(float) * count), *y = malloc(sizeof(float) * count),
        *sum = malloc(sizeof(float) * count);
  if (!x || !y || !sum)
    return 1;
  for (int i = 0; i < count; ++i) {
    x[i] = (float)rand() / (float)RAND_MAX * 10 - 5;
    y[i] = (float)rand() / (float)RAND_MAX * 10 - 5;
  }

  kiln_stream stream = kiln_cpu_stream(NULL);
  kiln_status status = vector_add_f32(stream, x, y, sum, count);
  if (status != KILN_SUCCESS)
    return fail("vector_add_f32", status);
  double add_error = 0;
  for (int i = 0; i < count; ++i)
    add_error = fmax(add_error, fabs((double)sum[i] - ((double)x[i] + y[i])));

  status = softmax_f32(stream, x, y, rows, columns, columns, columns);
  if (status != KILN_SUCCESS)
    return fail("softmax_f32", status);
  double worst = softmax_error(x, y, rows, columns);

  printf("vector_add_f32 of %d numbers: largest error %.1e\n", count, add_error);
  printf("softmax_f32 of %d x %d numbers: largest error %.1e\n", rows, columns, worst);
  free(x);
  free(y);
  free(sum);
  return add_error < 1e-6 && worst < 1e-6 ? 0 : 1;
}
