/* Two libraries with equal names, by Bazel: each with a prefix and a runtime of its own. */
#include <stdint.h>
#include <stdio.h>

int one_fills(float *x, int count);
int two_fills(float *x, int count);
uint32_t one_loaded(void);
uint32_t two_loaded(void);
int one_shutdown(void);
int two_shutdown(void);

int main(void) {
  enum { COUNT = 300 };
  static _Alignas(16) float x[COUNT], y[COUNT];
  if (!one_fills(x, COUNT) || !two_fills(y, COUNT) || !one_shutdown()) {
    fprintf(stderr, "a call failed\n");
    return 1;
  }
  for (int i = 0; i < COUNT; ++i)
    if (x[i] != (float)i || y[i] != (float)i) {
      fprintf(stderr, "%d: got %g and %g\n", i, x[i], y[i]);
      return 1;
    }
  if (!two_loaded() || one_loaded()) {
    fprintf(stderr, "the runtimes are one\n");
    return 1;
  }
  return one_shutdown() && two_shutdown() ? 0 : 1;
}
