// What takes long in references: in a file of its own, which is optimised, as tests are not. And
// the elements of arrays as floats, made once instead of at every use.

#ifndef KILN_TESTS_KERNELS_REFERENCE_H
#define KILN_TESTS_KERNELS_REFERENCE_H

#include "tests/kernels/KernelTest.h"

namespace kiln::test {

template <typename T> std::vector<float> valuesOf(const T *elements, size_t count) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i)
    values[i] = float(elements[i]);
  return values;
}
template <typename T> std::vector<float> valuesOf(Buffer<T> &buffer) {
  return valuesOf(buffer.data(), buffer.size());
}

/// In double precision, in the order of the arrays.
double sumOfProducts(const float *a, const float *b, int count);

/// Adds weight * values[i] to each sums[i].
void addScaled(double *sums, double weight, const float *values, int count);

} // namespace kiln::test

#endif
