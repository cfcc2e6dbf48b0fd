// Arrays between guard zones, and random contents for them.

#ifndef KILN_TESTS_COMPILER_CONVERSION_TILETOCPU_GUARDEDARRAY_H
#define KILN_TESTS_COMPILER_CONVERSION_TILETOCPU_GUARDEDARRAY_H

#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

namespace kiln::test {

/// The upper half of an f32. (Compilers' own type calls library functions that older systems lack.)
struct BF16 {
  uint16_t bits = 0;
  BF16() = default;
  explicit BF16(double value) {
    float single = float(value);
    uint32_t wide;
    std::memcpy(&wide, &single, 4);
    bits = uint16_t((wide + 0x7fff + (wide >> 16 & 1)) >> 16);
  }
  operator double() const {
    uint32_t wide = uint32_t(bits) << 16;
    float single;
    std::memcpy(&single, &wide, 4);
    return single;
  }
};

/// `size` elements with 4 KiB of a known pattern on either side.
template <typename T> class GuardedArray {
public:
  static constexpr size_t guard = 4096 / sizeof(T);

  explicit GuardedArray(size_t size) : storage(size + 2 * guard), size(size) {
    std::memset(static_cast<void *>(storage.data()), 0xa5, storage.size() * sizeof(T));
    std::memset(static_cast<void *>(data()), 0, size * sizeof(T));
    pointer = data();
  }
  GuardedArray(size_t size, std::mt19937 &random, double low = -1, double high = 1)
      : GuardedArray(size) {
    std::uniform_real_distribution<double> distribution(low, high);
    for (size_t i = 0; i != size; ++i)
      data()[i] = T(distribution(random));
  }

  T *data() { return storage.data() + guard; }
  T &operator[](size_t i) { return data()[i]; }
  /// For a kernel's parameters: the address of a variable that holds the array's address.
  void *parameter() { return &pointer; }

  bool guardsIntact() const {
    auto *bytes = reinterpret_cast<const unsigned char *>(storage.data());
    size_t edge = guard * sizeof(T), end = storage.size() * sizeof(T);
    for (size_t i = 0; i != edge; ++i)
      if (bytes[i] != 0xa5 || bytes[end - 1 - i] != 0xa5)
        return false;
    return true;
  }

private:
  std::vector<T> storage;
  size_t size;
  T *pointer;
};

} // namespace kiln::test

#endif // KILN_TESTS_COMPILER_CONVERSION_TILETOCPU_GUARDEDARRAY_H
