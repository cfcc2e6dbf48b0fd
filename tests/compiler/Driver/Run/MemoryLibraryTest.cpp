// What `kiln run` launches by: the records of a library in memory.
#include "compiler/Driver/Run/MemoryLibrary.h"
#include "tests/codegen/TestModel.h"
#include "tests/runtime/FakeDriver.h"
#include <dlfcn.h>
#include <gtest/gtest.h>

namespace kiln {
namespace {

fake::State *openFake() {
  const char *path = "tests/runtime/libfakecuda12.so";
  void *driver = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!driver) {
    ADD_FAILURE() << dlerror();
    return nullptr;
  }
  fake::State *fake = reinterpret_cast<fake::State *(*)()>(dlsym(driver, "kilnFakeState"))();
  fake->reset({{9, 0, ""}});
  EXPECT_EQ(kiln_set_driver_path(KILN_DRIVER_CUDA, path), KILN_SUCCESS);
  return fake;
}

/// Drivers open once in a process, so the fake does too.
fake::State *cuda() {
  static fake::State *fake = openFake();
  return fake;
}

TEST(MemoryLibrary, LaunchesPassTensorMapsBehindTheArguments) {
  fake::State *fake = cuda();
  ASSERT_TRUE(fake);
  LibraryModel model = test::testLibrary("");
  auto library = llvm::cantFail(MemoryLibrary::load(model));
  const kiln_entry &entry = library->entry(4);
  ASSERT_STREQ(entry.name, "tensor");
  void *out = nullptr;
  uint64_t base = 0x10000;
  int32_t rows = 100, columns = 24, n = 7;
  int64_t stride = 32;
  void *params[] = {&out, &base, &rows, &columns, &stride, &n};
  const int64_t grid[] = {1, 1, 1};
  kiln_stream stream = kiln_cuda_stream(fake->makeStream(fake->makeContext(0)));
  ASSERT_EQ(kiln_launch(&entry, 0, stream, grid, params), KILN_SUCCESS) << kiln_last_error();

  const fake::Launch &launch = fake->launches.back();
  ASSERT_EQ(launch.arguments.size(), 8u);
  fake::TensorMap read, written;
  std::memcpy(&read, launch.arguments[6].data(), sizeof read);
  std::memcpy(&written, launch.arguments[7].data(), sizeof written);
  EXPECT_EQ(read.address, base);
  EXPECT_EQ(read.extents[0], 24u);
  EXPECT_EQ(read.extents[1], 100u);
  EXPECT_EQ(read.strides[0], 64u);
  EXPECT_EQ(read.box[0], 8);
  EXPECT_EQ(read.box[1], 128);
  EXPECT_EQ(read.element, 6);
  EXPECT_EQ(read.swizzle, 0);
  EXPECT_EQ(read.fill, 0);
  EXPECT_EQ(written.extents[1], 64u);
  EXPECT_EQ(written.swizzle, 3);
  EXPECT_EQ(written.fill, 1);
  EXPECT_EQ(entry.binaries[0].tensor_maps[1].flags,
            uint32_t(KILN_MAP_FILLS_WITH_NAN | KILN_MAP_IS_WRITTEN));
  EXPECT_EQ(kiln_unload(entry.library), KILN_SUCCESS);
}

TEST(MemoryLibrary, WhatNoMapDescribesLaunchesTheFallback) {
  fake::State *fake = cuda();
  ASSERT_TRUE(fake);
  LibraryModel model = test::testLibrary("");
  auto library = llvm::cantFail(MemoryLibrary::load(model));
  const kiln_entry &entry = library->entry(7);
  ASSERT_STREQ(entry.name, "rows");
  const DeviceBinary &binary = model.entries[7].variants[0].binaries[0].binary;
  void *out = nullptr;
  uint64_t base = 0x10000;
  int32_t rows = 100, columns = 40, n = 7;
  int64_t stride = 40;
  void *params[] = {&out, &base, &rows, &columns, &stride, &n};
  const int64_t grid[] = {1, 1, 1};
  kiln_stream stream = kiln_cuda_stream(fake->makeStream(fake->makeContext(0)));
  ASSERT_EQ(kiln_launch(&entry, 0, stream, grid, params), KILN_SUCCESS) << kiln_last_error();
  EXPECT_EQ(fake->launches.back().image, binary.bytes.data());
  EXPECT_EQ(fake->launches.back().arguments.size(), 8u);
  stride = 41;
  ASSERT_EQ(kiln_launch(&entry, 0, stream, grid, params), KILN_SUCCESS) << kiln_last_error();
  EXPECT_EQ(fake->launches.back().image, binary.fallback->bytes.data());
  EXPECT_EQ(fake->launches.back().arguments.size(), 6u);
  EXPECT_EQ(kiln_unload(entry.library), KILN_SUCCESS);
}

} // namespace
} // namespace kiln
