// What a launch costs on top of the driver: kiln_launch, kiln_begin + kiln_run (what generated
// dispatch does) and a plan, against the same driver's cuLaunchKernel called directly. The driver
// does nothing, so the figures are the runtime's own. Kernels with tensor maps: with those that
// were made before, and with a new tensor in every launch, of which the driver's own share is left
// out.
#include "runtime/driver.h"
#include "runtime/kiln.h"

#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>

namespace {

extern "C" {
extern const kiln_library benchLibrary;
}

const kiln_param params3[] = {
    {"x", KILN_PARAM_POINTER, 8, 0}, {"y", KILN_PARAM_POINTER, 8, 8}, {"n", KILN_PARAM_I32, 4, 16}};
// A product: two matrices to read, one to write.
const kiln_param productParams[] = {
    {"a", KILN_PARAM_POINTER, 8, 0},    {"b", KILN_PARAM_POINTER, 8, 8},
    {"c", KILN_PARAM_POINTER, 8, 16},   {"rows", KILN_PARAM_I32, 4, 24},
    {"columns", KILN_PARAM_I32, 4, 28}, {"stride", KILN_PARAM_I64, 8, 32}};
const kiln_variant variants[] = {{"a", params3, 3, 0, nullptr},
                                 {"b", params3, 3, 0, nullptr},
                                 {"product", productParams, 6, 0, nullptr}};
const kiln_target targets[] = {{KILN_DRIVER_CUDA, KILN_FORM_CUBIN, "sm_90", nullptr}};

kiln_binary makeBinary() {
  kiln_binary binary = {};
  binary.data = "image";
  binary.size = 6;
  binary.symbol = "main";
  binary.threads = 128;
  return binary;
}

kiln_tensor_map makeMap(uint32_t base) {
  kiln_tensor_map map = {};
  map.name = "matrix";
  map.base = base;
  map.element = KILN_TENSOR_F16;
  map.rank = 2;
  map.extents[0].parameter = 3;
  map.extents[1].parameter = 4;
  map.strides[0].parameter = 5;
  map.box[0] = 128;
  map.box[1] = 64;
  map.swizzle_bytes = 128;
  return map;
}
const kiln_tensor_map tensorMaps[] = {makeMap(0), makeMap(1), makeMap(2)};

kiln_binary makeProduct() {
  kiln_binary binary = makeBinary();
  binary.tensor_maps = tensorMaps;
  binary.num_tensor_maps = 3;
  return binary;
}

const kiln_binary binaries[] = {makeBinary(), makeBinary(), makeProduct()};
kiln_entry_state state;
const kiln_entry entry = {&benchLibrary, "axpy",  variants, targets, binaries, &state, 3, 1,
                          nullptr,       nullptr, nullptr,  0};
const kiln_entry *const entries[] = {&entry};
extern "C" const kiln_library benchLibrary = {KILN_ABI_VERSION, 1,       "bench", entries,
                                              nullptr,          nullptr, 0};

constexpr int64_t Grid[] = {1024, 1, 1};

struct Arguments {
  const void *x = nullptr, *y = nullptr;
  int32_t n = 1000;
  void *params[3] = {&x, &y, &n};
};

void check(kiln_status status) {
  if (status == KILN_SUCCESS)
    return;
  std::fprintf(stderr, "%s\n", kiln_last_error());
  std::exit(1);
}

constexpr char driver[] = "tests/runtime/libnullcuda.so";

void useDriver() {
  kiln_unload(&benchLibrary);
  kiln_close_drivers();
  check(kiln_set_driver_path(KILN_DRIVER_CUDA, driver));
}

void driverAlone(benchmark::State &bench) {
  void *handle = dlopen(driver, RTLD_NOW);
  auto *launch = reinterpret_cast<int (*)(void *, unsigned, unsigned, unsigned, unsigned, unsigned,
                                          unsigned, unsigned, void *, void **, void **)>(
      dlsym(handle, "cuLaunchKernel"));
  Arguments arguments;
  for (auto _ : bench)
    benchmark::DoNotOptimize(
        launch(nullptr, 1024, 1, 1, 128, 1, 1, 0, nullptr, arguments.params, nullptr));
}
BENCHMARK(driverAlone);

void launch(benchmark::State &bench) {
  useDriver();
  Arguments arguments;
  for (auto _ : bench)
    check(kiln_launch(&entry, 0, kiln_cuda_stream(nullptr), Grid, arguments.params));
}
BENCHMARK(launch);

void beginAndRun(benchmark::State &bench) {
  useDriver();
  Arguments arguments;
  for (auto _ : bench) {
    kiln_call call;
    check(kiln_begin(&entry, kiln_cuda_stream(nullptr), &call));
    check(kiln_run(&call, arguments.n > 500, Grid, arguments.params));
  }
}
BENCHMARK(beginAndRun);

void plan(benchmark::State &bench) {
  useDriver();
  Arguments arguments;
  kiln_call call;
  kiln_plan plan;
  check(kiln_begin(&entry, kiln_cuda_stream(nullptr), &call));
  check(kiln_plan_create(&call, 0, &plan));
  for (auto _ : bench)
    check(kiln_plan_run(&plan, Grid, arguments.params));
}
BENCHMARK(plan);

struct ProductArguments {
  uint64_t a = 0x10000, b = 0x20000, c = 0x30000;
  int32_t rows = 4096, columns = 4096;
  int64_t stride = 4096;
  void *params[6] = {&a, &b, &c, &rows, &columns, &stride};
};

// `tensors` of each matrix in turn; 0: a new one in every launch.
void planWithTensorMaps(benchmark::State &bench) {
  useDriver();
  ProductArguments arguments;
  kiln_call call;
  kiln_plan plan;
  check(kiln_begin(&entry, kiln_cuda_stream(nullptr), &call));
  check(kiln_plan_create(&call, 2, &plan));
  uint64_t tensors = uint64_t(bench.range(0)), next = 0;
  for (auto _ : bench) {
    arguments.a = 0x10000 + 64 * next;
    arguments.b = 0x20000 + 64 * next;
    arguments.c = 0x30000 + 64 * next;
    next = next + 1 == tensors ? 0 : next + 1;
    check(kiln_plan_run(&plan, Grid, arguments.params));
  }
}
BENCHMARK(planWithTensorMaps)->ArgName("tensors")->Arg(1)->Arg(16)->Arg(0);

} // namespace
