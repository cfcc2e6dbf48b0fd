#include "tests/runtime/TestLibrary.h"

#include <dlfcn.h>

namespace kiln::test {

void FakeDriverTest::open(kiln_driver driver, const char *file, std::vector<fake::Device> devices) {
  // Runfiles stand as the sources do; the slash keeps dlopen from searching the system.
  std::string path = std::string("tests/runtime/") + file;
  // Never closed: what a fake keeps outlives the runtime's own use of it.
  void *handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(handle, nullptr) << dlerror();
  auto *getState = reinterpret_cast<fake::State *(*)()>(dlsym(handle, "kilnFakeState"));
  ASSERT_NE(getState, nullptr);
  fake = getState();
  fake->reset(std::move(devices));
  if (fake->setCurrent)
    fake->setCurrent(nullptr);
  if (fake->setDevice)
    fake->setDevice(0);
  ASSERT_OK(kiln_set_driver_path(driver, path.c_str()));
}

void FakeDriverTest::TearDown() {
  if (fake) {
    EXPECT_TRUE(fake->broken.empty()) << fake->broken.front();
  }
  kiln_close_drivers();
  kiln_set_driver_path(KILN_DRIVER_CUDA, nullptr);
  kiln_set_driver_path(KILN_DRIVER_HIP, nullptr);
}

} // namespace kiln::test
