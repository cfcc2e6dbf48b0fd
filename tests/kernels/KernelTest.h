// What every kernel's test needs: executors, buffers whose surroundings are watched, random values,
// small floats.
//
// One test body runs on every executor.

#ifndef KILN_TESTS_KERNELS_KERNELTEST_H
#define KILN_TESTS_KERNELS_KERNELTEST_H

#include "kiln.h"
#include <cmath>
#include <cstdint>
#include <cstring>
#include <gtest/gtest.h>
#include <memory>
#include <new>
#include <random>
#include <vector>

namespace kiln::test {

/// Sizes that are no multiple of anything, and some that are.
inline const std::vector<int> oddSizes = {1, 7, 127, 1000, 4097};

/// A bfloat16 or IEEE half as its bits, converted through float with round to nearest even.
struct BF16 {
  uint16_t bits = 0;
  BF16() = default;
  explicit BF16(float value);
  explicit operator float() const;
};
struct F16 {
  uint16_t bits = 0;
  F16() = default;
  explicit F16(float value);
  explicit operator float() const;
};

/// An 8-bit float with 4 bits of exponent and 3 of mantissa, OCP's, which has no infinities.
struct E4M3 {
  uint8_t bits = 0;
  E4M3() = default;
  /// The nearest; the largest in place of what is larger.
  explicit E4M3(float value);
  explicit operator float() const;
};

/// Where a test runs: a stream, and memory that both the host and the kernel can reach.
class Executor {
public:
  virtual ~Executor() = default;
  virtual kiln_stream stream() = 0;
  /// 4 KiB-aligned; null when there is none left.
  virtual void *allocate(size_t bytes) = 0;
  virtual void release(void *memory) = 0;
  /// Waits for what was launched on the stream; false if it failed.
  virtual bool synchronize() = 0;
};

struct ExecutorKind {
  const char *name;
  /// Null, with a failure of the running test, where the executor cannot be had.
  std::unique_ptr<Executor> (*make)();
};

/// The executors of this binary: Executors.cpp has the CPU's, EmulatedExecutors.cpp
/// emulated GPUs, CudaExecutor.cpp a real one.
const std::vector<ExecutorKind> &executors();

/// The running test's.
Executor *&currentExecutor();

/// `count` elements with guard zones around them. `misalign` moves the first element off its
/// 64-byte boundary by so many elements. Check guardsHold() after each launch.
template <typename T> class Buffer {
public:
  explicit Buffer(size_t count, size_t misalign = 0)
      : count(count), start(guardBytes + misalign * sizeof(T)),
        total(count * sizeof(T) + start + guardBytes),
        bytes(static_cast<uint8_t *>(currentExecutor()->allocate(total))) {
    if (!bytes)
      throw std::bad_alloc();
    std::memset(bytes, guardByte, total);
  }
  ~Buffer() { currentExecutor()->release(bytes); }
  Buffer(const Buffer &) = delete;
  Buffer &operator=(const Buffer &) = delete;

  T *data() { return reinterpret_cast<T *>(bytes + start); }
  T &operator[](size_t i) { return data()[i]; }
  size_t size() const { return count; }

  template <typename Make> void fill(Make make) {
    for (size_t i = 0; i < count; ++i)
      data()[i] = make(i);
  }

  /// Nothing outside the elements has changed.
  testing::AssertionResult guardsHold() const {
    for (size_t i = 0; i < total; ++i)
      if ((i < start || i >= start + count * sizeof(T)) && bytes[i] != guardByte)
        return testing::AssertionFailure()
               << "byte " << int64_t(i) - int64_t(start) << " of a buffer of " << count * sizeof(T)
               << " bytes was written";
    return testing::AssertionSuccess();
  }

private:
  static constexpr size_t guardBytes = 4096;
  static constexpr uint8_t guardByte = 0xA5;
  size_t count, start, total;
  uint8_t *bytes;
};

class KernelTest : public testing::TestWithParam<ExecutorKind> {
protected:
  void SetUp() override {
    executor = GetParam().make();
    ASSERT_TRUE(executor) << "no executor " << GetParam().name;
    currentExecutor() = executor.get();
  }
  kiln_stream stream() { return executor->stream(); }

  /// Uniform in [low, high).
  float random(float low = -1, float high = 1);

private:
  std::unique_ptr<Executor> executor;
  std::mt19937 generator{20261120};
};

/// The status of a launch once it has run.
inline kiln_status finished(kiln_status status) {
  return currentExecutor()->synchronize() ? status : KILN_ERROR_LAUNCH;
}

#define KILN_INSTANTIATE(SUITE)                                                                    \
  INSTANTIATE_TEST_SUITE_P(, SUITE, testing::ValuesIn(kiln::test::executors()),                    \
                           [](const auto &info) { return info.param.name; })

#define EXPECT_KILN(CALL) EXPECT_EQ(kiln::test::finished(CALL), KILN_SUCCESS) << kiln_last_error()
#define ASSERT_KILN(CALL) ASSERT_EQ(kiln::test::finished(CALL), KILN_SUCCESS) << kiln_last_error()

} // namespace kiln::test

#endif
