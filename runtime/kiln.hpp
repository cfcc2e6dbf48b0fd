// The runtime for C++17: what the headers of `kiln build --cxx` are written with.
//
// Nothing throws, allocates or needs RTTI; a call that can fail returns a result, which has the
// value or why there is none. Everything is over kiln.h, whose functions say the rules.
#ifndef KILN_RUNTIME_KILN_HPP
#define KILN_RUNTIME_KILN_HPP

#include "kiln.h"
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <type_traits>
#include <utility>

// Programs with several runtimes have this namespace once for each of their prefixes.
#ifdef KILN_PREFIX
#define KILN_CXX_NAMESPACE KILN_PREFIXED(KILN_PREFIX, cxx)
#else
#define KILN_CXX_NAMESPACE cxx
#endif

namespace kiln {
inline namespace KILN_CXX_NAMESPACE {

// --- results ---

/// Why a call failed. The message is the calling thread's, until its next failing call.
class failure {
public:
  constexpr explicit failure(kiln_status code) noexcept : code_(code) {}
  constexpr kiln_status code() const noexcept { return code_; }
  const char *name() const noexcept { return kiln_status_string(code_); }
  const char *message() const noexcept { return kiln_last_error(); }

private:
  kiln_status code_;
};

/// A value, or why there is none. As std::expected, but that looking at a value that is not there
/// gives a default one.
template <typename T = void> class [[nodiscard]] result {
  static_assert(std::is_nothrow_default_constructible_v<T> &&
                std::is_nothrow_move_constructible_v<T>);

public:
  result(T value) noexcept : value_(std::move(value)) {}
  result(failure why) noexcept : status_(why.code()) {}

  bool has_value() const noexcept { return status_ == KILN_SUCCESS; }
  explicit operator bool() const noexcept { return has_value(); }
  kiln_status status() const noexcept { return status_; }
  failure error() const noexcept { return failure(status_); }

  T &operator*() &noexcept { return value_; }
  const T &operator*() const &noexcept { return value_; }
  T &&operator*() &&noexcept { return std::move(value_); }
  T *operator->() noexcept { return &value_; }
  const T *operator->() const noexcept { return &value_; }

private:
  kiln_status status_ = KILN_SUCCESS;
  T value_{};
};

template <> class [[nodiscard]] result<void> {
public:
  constexpr result(kiln_status status = KILN_SUCCESS) noexcept : status_(status) {}

  constexpr bool has_value() const noexcept { return status_ == KILN_SUCCESS; }
  constexpr explicit operator bool() const noexcept { return has_value(); }
  constexpr kiln_status status() const noexcept { return status_; }
  constexpr failure error() const noexcept { return failure(status_); }

private:
  kiln_status status_;
};

// --- elements ---

namespace detail {

inline uint32_t bits_of(float value) noexcept {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

inline float float_of(uint32_t bits) noexcept {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

/// `bits` without the last `count`, rounded to nearest, ties to even.
constexpr uint32_t rounded(uint32_t bits, unsigned count) noexcept {
  uint32_t half = uint32_t(1) << (count - 1);
  return (bits + half - 1 + (bits >> count & 1)) >> count;
}

/// IEEE binary16.
inline uint16_t half_bits(float value) noexcept {
  uint32_t bits = bits_of(value), sign = bits >> 16 & 0x8000, size = bits & 0x7fffffff;
  if (size > 0x7f800000) // NaN
    return uint16_t(sign | 0x7e00);
  if (size >= 0x47800000) // 65536 and more
    return uint16_t(sign | 0x7c00);
  if (size >= 0x38800000) // 2^-14: normal; rounding may carry into the exponent, and to infinity
    return uint16_t(sign | rounded(size - 0x38000000, 13));
  unsigned shift = 126 - (size >> 23); // multiples of 2^-24
  return uint16_t(shift > 31 ? sign : sign | rounded((size & 0x7fffff) | 0x800000, shift));
}

inline float float_of_half(uint16_t half) noexcept {
  uint32_t sign = uint32_t(half & 0x8000) << 16, size = half & 0x7fff;
  if (size >= 0x7c00)
    return float_of(sign | 0x7f800000 | (size & 0x3ff) << 13);
  if (size >= 0x400)
    return float_of(sign | ((size << 13) + 0x38000000));
  float tiny = float(size) * 0x1p-24f;
  return sign ? -tiny : tiny;
}

} // namespace detail

/// The elements that C++ has no type for, as their bits.
struct fp16 {
  uint16_t bits;
  fp16() = default;
  explicit fp16(float value) noexcept : bits(detail::half_bits(value)) {}
  explicit operator float() const noexcept { return detail::float_of_half(bits); }
};

struct bf16 {
  uint16_t bits;
  bf16() = default;
  explicit bf16(float value) noexcept
      : bits(uint16_t(value != value ? 0x7fc0 : detail::rounded(detail::bits_of(value), 16))) {}
  explicit operator float() const noexcept { return detail::float_of(uint32_t(bits) << 16); }
};

struct fp8e4nv {
  uint8_t bits;
};
struct fp8e4b8 {
  uint8_t bits;
};
struct fp8e4b15 {
  uint8_t bits;
};
struct fp8e5 {
  uint8_t bits;
};
struct fp8e5b16 {
  uint8_t bits;
};

template <typename T> struct is_fp8 : std::false_type {};
template <> struct is_fp8<fp8e4nv> : std::true_type {};
template <> struct is_fp8<fp8e4b8> : std::true_type {};
template <> struct is_fp8<fp8e4b15> : std::true_type {};
template <> struct is_fp8<fp8e5> : std::true_type {};
template <> struct is_fp8<fp8e5b16> : std::true_type {};

template <typename T>
inline constexpr bool is_integer = std::is_integral_v<T> && !std::is_same_v<T, bool>;

/// Whether an array of `From` is one of `To`. Specialise it for types of your own:
///   template <> struct kiln::represents<__half, kiln::fp16> : std::true_type {};
template <typename From, typename To>
struct represents
    : std::bool_constant<std::is_same_v<From, To> ||
                         (std::is_pointer_v<From> && std::is_same_v<To, void *>) ||
                         (is_integer<From> && is_integer<To> && sizeof(From) == sizeof(To) &&
                          std::is_signed_v<From> == std::is_signed_v<To>) ||
                         (std::is_same_v<From, uint16_t> &&
                          (std::is_same_v<To, fp16> || std::is_same_v<To, bf16>)) ||
                         (std::is_same_v<From, uint8_t> && is_fp8<To>::value)> {};

// --- arrays ---

/// Elements side by side in the memory of the stream's device; T is const where they are only read.
template <typename T> class span {
  template <typename From>
  static constexpr bool takes = (std::is_const_v<T> ||
                                 !std::is_const_v<From>)&&represents<std::remove_const_t<From>,
                                                                     std::remove_const_t<T>>::value;

public:
  using element_type = T;

  constexpr span() noexcept = default;
  template <typename From, std::enable_if_t<takes<From>, int> = 0>
  span(From *data, size_t size) noexcept : data_(as_elements(data)), size_(size) {
    static_assert(sizeof(From) == sizeof(T));
  }
  template <typename From, size_t N, std::enable_if_t<takes<From>, int> = 0>
  span(From (&array)[N]) noexcept : span(array, N) {}
  /// std::vector, std::array, std::span, another span.
  template <typename C,
            typename From = std::remove_pointer_t<decltype(std::data(std::declval<C &>()))>,
            std::enable_if_t<takes<From> && !std::is_array_v<std::remove_reference_t<C>>, int> = 0>
  span(C &&container) noexcept : span(std::data(container), size_t(std::size(container))) {}

  T *data() const noexcept { return data_; }
  size_t size() const noexcept { return size_; }

private:
  template <typename From> static T *as_elements(From *data) noexcept {
    using Void = std::conditional_t<std::is_const_v<T>, const void, void>;
    return static_cast<T *>(static_cast<Void *>(data));
  }

  T *data_ = nullptr;
  size_t size_ = 0;
};

/// An array of which only the address is known: nothing is checked against its size.
template <typename T> span<T> unsized(T *data) noexcept { return span<T>(data, SIZE_MAX); }

/// A tensor within an array: strides are in elements, those of the rows one after the other where
/// none are given.
template <typename T, uint32_t Rank> class tensor {
  static_assert(Rank >= 1 && Rank <= KILN_MAX_RANK);

public:
  tensor(span<T> memory, const int64_t (&shape)[Rank]) noexcept
      : size_(memory.size()), tensor_(kiln_contiguous_tensor(memory.data(), Rank, shape)) {}
  tensor(span<T> memory, const int64_t (&shape)[Rank], const int64_t (&strides)[Rank]) noexcept
      : tensor(memory, shape) {
    for (uint32_t axis = 0; axis < Rank; ++axis)
      tensor_.strides[axis] = strides[axis];
  }

  const kiln_tensor &get() const noexcept { return tensor_; }

  /// Whether all of it is in the array, as far as there is a shape at all: launches check that.
  bool fits() const noexcept {
    uint64_t last = 0, room = size_;
    for (uint32_t axis = 0; axis < Rank; ++axis)
      if (tensor_.shape[axis] <= 0)
        return true;
    for (uint32_t axis = 0; axis < Rank; ++axis) {
      uint64_t steps = uint64_t(tensor_.shape[axis]) - 1;
      uint64_t stride = uint64_t(tensor_.strides[axis] < 0 ? 0 : tensor_.strides[axis]);
      if (stride != 0 && steps > (room - last) / stride)
        return false;
      last += steps * stride;
    }
    return last < room;
  }
  size_t size() const noexcept { return size_; }

private:
  size_t size_;
  kiln_tensor tensor_;
};

// --- streams and devices ---

/// Owns what `Destroy` takes back.
template <typename T, void (*Destroy)(T *)> class handle {
public:
  handle() noexcept = default;
  explicit handle(T *owned) noexcept : owned_(owned) {}
  handle(handle &&other) noexcept : owned_(std::exchange(other.owned_, nullptr)) {}
  handle &operator=(handle &&other) noexcept {
    std::swap(owned_, other.owned_);
    return *this;
  }
  ~handle() { Destroy(owned_); }

  T *get() const noexcept { return owned_; }

private:
  T *owned_ = nullptr;
};

/// Threads that run kernels on the CPU; without a pool, the default one does.
class cpu_pool : public handle<kiln_cpu_pool, kiln_cpu_pool_destroy> {
public:
  using handle::handle;
  /// 0: a thread for each CPU.
  static result<cpu_pool> create(uint32_t num_threads = 0) noexcept {
    kiln_cpu_pool *made = nullptr;
    kiln_status status = kiln_cpu_pool_create(num_threads, &made);
    return status == KILN_SUCCESS ? result<cpu_pool>(cpu_pool(made)) : failure(status);
  }
  uint32_t threads() const noexcept { return kiln_cpu_pool_threads(get()); }
};

/// Registered memory of an emulator, for as long as this lives; the emulator has to live longer.
class registration {
public:
  registration() noexcept = default;
  registration(kiln_emulator *emulator, const void *memory) noexcept
      : emulator_(emulator), memory_(memory) {}
  registration(registration &&other) noexcept
      : emulator_(std::exchange(other.emulator_, nullptr)), memory_(other.memory_) {}
  registration &operator=(registration &&other) noexcept {
    std::swap(emulator_, other.emulator_);
    std::swap(memory_, other.memory_);
    return *this;
  }
  ~registration() {
    if (emulator_)
      kiln_emulator_unregister(emulator_, memory_);
  }

private:
  kiln_emulator *emulator_ = nullptr;
  const void *memory_ = nullptr;
};

/// A GPU that the CPU stands in for.
class emulator : public handle<kiln_emulator, kiln_emulator_destroy> {
public:
  using handle::handle;
  /// `arch` as "sm_90a"; blocks run on `pool`, which has to live longer, or on the default one.
  static result<emulator> create(const char *arch, const cpu_pool &pool = cpu_pool()) noexcept {
    kiln_emulator *made = nullptr;
    kiln_status status = kiln_emulator_create(arch, pool.get(), &made);
    return status == KILN_SUCCESS ? result<emulator>(emulator(made)) : failure(status);
  }
  void set_check(bool check) noexcept { kiln_emulator_set_check(get(), check); }
  /// Memory that kernels may access; with checks, all other is a mistake.
  template <typename T> result<registration> allow(span<T> memory) noexcept {
    kiln_status status = kiln_emulator_register(get(), memory.data(), memory.size() * sizeof(T));
    return status == KILN_SUCCESS ? result<registration>(registration(get(), memory.data()))
                                  : failure(status);
  }
  template <typename C> auto allow(C &memory) noexcept {
    return allow(span<std::remove_reference_t<decltype(*std::data(memory))>>(memory));
  }
  uint32_t num_reports() const noexcept { return kiln_emulator_num_reports(get()); }
  const char *report(uint32_t index) const noexcept { return kiln_emulator_report(get(), index); }
  kiln_device device() const noexcept { return kiln_emulator_device(get()); }
};

/// Where a kernel runs: a small value, which owns nothing.
class stream {
public:
  stream(kiln_stream value) noexcept : value_(value) {}
  stream(const kiln::emulator &gpu) noexcept : value_(kiln_emulator_stream(gpu.get())) {}
  stream(const cpu_pool &pool) noexcept : value_(kiln_cpu_stream(pool.get())) {}

  /// A CUstream or cudaStream_t.
  static stream cuda(void *handle = nullptr) noexcept { return kiln_cuda_stream(handle); }
  /// A hipStream_t.
  static stream hip(void *handle = nullptr) noexcept { return kiln_hip_stream(handle); }
  /// The default pool.
  static stream cpu() noexcept { return kiln_cpu_stream(nullptr); }

  kiln_stream get() const noexcept { return value_; }
  result<kiln_device> device() const noexcept {
    kiln_device found = {};
    kiln_status status = kiln_stream_device(value_, &found);
    return status == KILN_SUCCESS ? result<kiln_device>(found) : failure(status);
  }

private:
  kiln_stream value_;
};

// --- for generated headers ---

namespace detail {

/// `needed` is the value of `expression`, which could not be computed where `failed` is not 0.
inline kiln_status check_size(const kiln_entry *entry, const char *name, size_t size,
                              int64_t needed, int failed, const char *expression) noexcept {
  if (!failed && (needed <= 0 || size >= uint64_t(needed)))
    return KILN_SUCCESS;
  char message[512];
  if (failed)
    std::snprintf(message, sizeof message, "%s: its size, %s, leaves the range of 64 bits", name,
                  expression);
  else
    std::snprintf(message, sizeof message, "%s has %zu elements, expected at least %lld: %s", name,
                  size, static_cast<long long>(needed), expression);
  return kiln_fail(entry, KILN_ERROR_INVALID_ARGUMENT, message);
}

template <typename T, uint32_t Rank>
kiln_status check_tensor(const kiln_entry *entry, const char *name,
                         const tensor<T, Rank> &given) noexcept {
  if (given.fits())
    return KILN_SUCCESS;
  char message[512];
  std::snprintf(message, sizeof message,
                "%s: its shape and strides reach beyond the array, which has %zu elements", name,
                given.size());
  return kiln_fail(entry, KILN_ERROR_INVALID_ARGUMENT, message);
}

} // namespace detail
} // namespace KILN_CXX_NAMESPACE
} // namespace kiln

#endif // KILN_RUNTIME_KILN_HPP
