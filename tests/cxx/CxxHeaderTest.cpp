// A library through its C++ header: what it computes, what it refuses, and what it owns.

#include "tests/cxx/rows.hpp"

#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <vector>

namespace {

using kiln::bf16;
using kiln::fp16;
namespace kernels = kiln::kernels::rows;

int failures = 0;

void expect(bool holds, const char *what) {
  if (holds)
    return;
  std::printf("expected %s\n", what);
  ++failures;
}

void expectRefused(const kiln::result<> &status, const char *message) {
  bool isSo = status.status() == KILN_ERROR_INVALID_ARGUMENT && !status.has_value() &&
              std::strcmp(status.error().message(), message) == 0;
  if (isSo)
    return;
  std::printf("expected '%s', got '%s'\n", message, status ? "success" : status.error().message());
  ++failures;
}

constexpr int rows = 5, columns = 203;
constexpr int64_t stride = 256;

struct Rows {
  std::vector<fp16> x = std::vector<fp16>(size_t(rows * stride));
  std::array<float, rows> s = {1, -2, 0.5f, 3, 0.25f};
  std::vector<fp16> y = std::vector<fp16>(size_t(rows * columns));

  Rows() {
    for (size_t i = 0; i < x.size(); ++i)
      x[i] = fp16(float(int(i % 37) - 18) / 4);
  }
  void check(const char *what) {
    bool isRight = true;
    for (size_t row = 0; row < rows; ++row)
      for (size_t i = 0; i < columns; ++i)
        isRight &= float(y[row * columns + i]) == float(fp16(float(x[row * stride + i]) * s[row]));
    expect(isRight, what);
  }
};

void testSpans() {
  Rows all;
  kiln::result<> done =
      kernels::scale_rows(kiln::stream::cpu(), all.x, all.s, all.y, rows, columns, stride);
  expect(done.has_value(), "a launch");
  all.check("the rows' products");

  expectRefused(kernels::scale_rows(kiln::stream::cpu(), all.x, all.s,
                                    kiln::span<fp16>(all.y.data(), 3), rows, columns, stride),
                "scale_rows: y_ptr has 3 elements, expected at least 1015: rows * n");
  const float two[] = {1, 1};
  expectRefused(kernels::scale_rows(kiln::stream::cpu(), all.x, two, all.y, rows, columns, stride),
                "scale_rows: s_ptr has 2 elements, expected at least 5: rows");
  expectRefused(
      kernels::scale_rows(kiln::stream::cpu(), all.x, all.s, all.y, rows, columns, INT64_MAX),
      "scale_rows: x_ptr: its size, rows * stride, leaves the range of 64 bits");
  Rows others;
  expect(kernels::scale_rows(kiln::stream::cpu(), kiln::unsized<const fp16>(others.x.data()),
                             others.s, others.y, rows, columns, stride)
             .has_value(),
         "a launch with an array of unknown size");
  others.check("the same products");
  expect(!kernels::scale_rows(kiln_stream{}, all.x, all.s, all.y, rows, columns, stride),
         "a stream of no driver to be refused");
}

void testPlans() {
  Rows all;
  auto plan = kernels::scale_rows_plan::create(kiln::stream::cpu(), all.x, all.s, all.y, rows,
                                               columns, stride);
  expect(plan.has_value() && plan->variant() == 0, "a plan");
  expect(plan->run(all.x, all.s, all.y, rows, columns, stride).has_value(), "it to run");
  all.check("a plan's products");
  expectRefused(plan->run(all.x, all.s, kiln::span<fp16>(), rows, columns, stride),
                "scale_rows: y_ptr has 0 elements, expected at least 1015: rows * n");
  expect(kernels::scale_rows_variant(0, kiln::stream::cpu(), all.x, all.s, all.y, rows, columns,
                                     stride)
             .has_value(),
         "a variant by its number");
}

void testTensors() {
  std::vector<float> x(33 * 20), y(33 * 16);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = float(i);
  const int64_t shape[] = {33, 16}, strides[] = {20, 1};
  kiln::tensor<float, 2> from(x, shape, strides), to(y, shape);
  expect(kernels::add_one(kiln::stream::cpu(), from, to).has_value(), "a launch of tensors");
  bool isRight = true;
  for (size_t row = 0; row < 33; ++row)
    for (size_t i = 0; i < 16; ++i)
      isRight &= y[row * 16 + i] == x[row * 20 + i] + 1;
  expect(isRight, "each element and one");
  const int64_t larger[] = {34, 16};
  expectRefused(
      kernels::add_one(kiln::stream::cpu(), kiln::tensor<float, 2>(x, larger, strides), to),
      "add_one: x: its shape and strides reach beyond the array, which has 660 elements");
}

void testOwners() {
  auto pool = kiln::cpu_pool::create(2);
  expect(pool.has_value() && pool->threads() == 2, "a pool of two threads");
  Rows all;
  expect(kernels::scale_rows(*pool, all.x, all.s, all.y, rows, columns, stride).has_value(),
         "a launch on it");
  all.check("its products");
  kiln::cpu_pool moved = std::move(*pool);
  expect(moved.threads() == 2 && !pool->get(), "one owner");

  auto gpu = kiln::emulator::create("sm_90a", moved);
  expect(gpu.has_value(), "an emulated GPU");
  gpu->set_check(true);
  expect(kernels::scale_rows_prepare(gpu->device()).has_value() &&
             kernels::scale_rows_is_ready(gpu->device()),
         "a library that is ready for it");
  Rows emulated;
  auto x = gpu->allow(emulated.x), s = gpu->allow(emulated.s), y = gpu->allow(emulated.y);
  expect(x && s && y, "memory for it");
  expect(kernels::scale_rows(*gpu, emulated.x, emulated.s, emulated.y, rows, columns, stride)
             .has_value(),
         "a launch there");
  emulated.check("the GPU's products");
  expect(gpu->num_reports() == 0, "nothing found");
  { kiln::registration gone = std::move(*y); }
  expect(!kernels::scale_rows(*gpu, emulated.x, emulated.s, emulated.y, rows, columns, stride) &&
             gpu->num_reports() > 0,
         "a store to memory that is not the GPU's any more to be found");

  auto none = kiln::emulator::create("sm_1");
  expect(!none && none.status() == none.error().code() && *none.error().message(),
         "no GPU of that name");
}

/// Against the conversions of kernels, for every half, and what lies between them.
void testSmallFloats() {
  bool isSame = true;
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    fp16 half;
    half.bits = uint16_t(bits);
    float wide = float(half);
    isSame &= wide != wide ? float(fp16(wide)) != float(fp16(wide)) : fp16(wide).bits == bits;
    bf16 brain;
    brain.bits = uint16_t(bits);
    wide = float(brain);
    isSame &= wide != wide ? float(bf16(wide)) != float(bf16(wide)) : bf16(wide).bits == bits;
  }
  expect(isSame, "all small floats to be themselves");
  // Between 1 and the next half, ties to even; beyond the largest, infinity; below the smallest, 0.
  expect(fp16(1 + 0x1p-11f).bits == 0x3c00 && fp16(1 + 0x1.8p-10f).bits == 0x3c02, "ties to even");
  expect(fp16(65519.f).bits == 0x7bff && fp16(65520.f).bits == 0x7c00, "the largest half");
  expect(fp16(0x1p-25f).bits == 0 && fp16(0x1.1p-25f).bits == 1 && fp16(-0x1p-24f).bits == 0x8001,
         "the smallest half");
  expect(bf16(1 + 0x1p-8f).bits == 0x3f80 && bf16(1 + 0x1.8p-7f).bits == 0x3f82, "bf16's ties");

  std::vector<bf16> y(128);
  expect(kernels::fill(kiln::stream::cpu(), 2, 1, 1, y, bf16(2.5f)).has_value(), "a launch");
  for (bf16 element : y)
    isSame &= float(element) == 2.5f;
  expect(isSame, "a scalar of 16 bits");
}

} // namespace

int main() {
  testSpans();
  testPlans();
  testTensors();
  testOwners();
  testSmallFloats();
  expect(kernels::unload_library().has_value(), "the library to be unloaded");
  return failures ? 1 : 0;
}
