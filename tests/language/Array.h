// Memory that test kernels read and write: arrays of a C++ type, or of any element type of the
// language, with zones around them that a kernel must not touch.

#ifndef KILN_TESTS_LANGUAGE_ARRAY_H
#define KILN_TESTS_LANGUAGE_ARRAY_H

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace kiln::testing {

/// `bytes` bytes at an address that is a multiple of 64, between two zones of 64 bytes. An
/// allocation of the emulator's is the part between the zones.
class GuardedMemory {
public:
  explicit GuardedMemory(size_t bytes);

  uint8_t *data() const { return start; }
  size_t bytes() const { return size; }
  /// What was written outside: "byte -3", "byte 40 of 40"; empty if nothing was.
  std::string overrun() const;

private:
  std::vector<uint8_t> storage;
  uint8_t *start;
  size_t size;
};

/// Elements of a C++ type. Copies are deep.
template <typename T> class Buffer {
public:
  explicit Buffer(size_t size, T fill = T()) : memory(size * sizeof(T)), size(size) {
    for (size_t i = 0; i < size; ++i)
      data()[i] = fill;
  }
  Buffer(const std::vector<T> &values) : Buffer(values.size()) {
    std::memcpy(memory.data(), values.data(), bytes());
  }
  Buffer(const Buffer &other) : Buffer(other.size) {
    std::memcpy(memory.data(), other.memory.data(), bytes());
  }
  Buffer &operator=(const Buffer &) = delete;

  T *data() const { return reinterpret_cast<T *>(memory.data()); }
  T &operator[](size_t index) const { return data()[index]; }
  size_t count() const { return size; }
  size_t bytes() const { return memory.bytes(); }
  const GuardedMemory &guarded() const { return memory; }

private:
  GuardedMemory memory;
  size_t size;
};

/// A deterministic stream of numbers.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed * 2654435769u + 12345) {}
  uint64_t bits() { return step() << 32 ^ step(); }
  /// In [-1, 1).
  double next() { return double(int64_t(bits()) >> 11) / double(int64_t(1) << 52); }
  /// In [0, bound).
  uint64_t below(uint64_t bound) { return bits() % bound; }

private:
  /// The upper bits of a linear congruence: the lower ones have short periods.
  uint64_t step() {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return state >> 32;
  }
  uint64_t state;
};

} // namespace kiln::testing

#endif // KILN_TESTS_LANGUAGE_ARRAY_H
