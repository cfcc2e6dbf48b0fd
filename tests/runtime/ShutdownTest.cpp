// kiln_shutdown: nothing of the runtime is left, and everything starts again.
#include "tests/runtime/TestLibrary.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fstream>
#include <future>
#include <thread>

using namespace kiln;
using namespace kiln::test;

namespace {

size_t numThreads() {
  size_t count = 0;
  DIR *folder = opendir("/proc/self/task");
  while (const dirent *entry = readdir(folder))
    count += entry->d_name[0] != '.';
  closedir(folder);
  return count;
}

size_t numMappings(const std::string &file) {
  size_t count = 0;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    count += line.find(file) != std::string::npos;
  return count;
}

// A thread that has been joined may still be listed for a moment.
bool hasThreads(size_t expected) {
  for (int i = 0; i < 1000 && numThreads() != expected; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return numThreads() == expected;
}

struct Plugin {
  explicit Plugin(const char *file) : handle(dlopen(file, RTLD_NOW | RTLD_LOCAL)) {
    EXPECT_NE(handle, nullptr) << dlerror();
    run = reinterpret_cast<kiln_status (*)(int *, uint32_t)>(dlsym(handle, "plugin_run"));
    shutdown = reinterpret_cast<kiln_status (*)()>(dlsym(handle, "plugin_shutdown"));
    isLoaded = reinterpret_cast<int (*)()>(dlsym(handle, "plugin_is_loaded"));
  }
  void expectItRuns() {
    std::vector<int> out(64);
    EXPECT_EQ(run(out.data(), 64), KILN_SUCCESS);
    EXPECT_EQ(out, std::vector<int>(64, 7));
  }

  void *handle;
  kiln_status (*run)(int *, uint32_t);
  kiln_status (*shutdown)();
  int (*isLoaded)();
};

constexpr const char *FirstPlugin = "tests/runtime/libplugin_one.so";
constexpr const char *SecondPlugin = "tests/runtime/libplugin_two.so";

TEST(Plugins, AreClosedAfterAShutdown) {
  const size_t threads = numThreads();
  for (int i = 0; i < 100; ++i) {
    Plugin plugin(FirstPlugin);
    plugin.expectItRuns();
    EXPECT_EQ(plugin.shutdown(), KILN_SUCCESS);
    EXPECT_TRUE(hasThreads(threads)) << numThreads();
    ASSERT_EQ(dlclose(plugin.handle), 0);
    ASSERT_EQ(numMappings("libplugin_one"), 0u);
  }
}

// It leaves nothing behind that would run when it ends.
TEST(Plugins, AreClosedBeforeAThreadThatLaunchedEnds) {
  std::promise<void> launched, closed;
  std::thread other;
  {
    Plugin plugin(FirstPlugin);
    other = std::thread([&] {
      plugin.expectItRuns();
      launched.set_value();
      closed.get_future().wait();
    });
    launched.get_future().wait();
    EXPECT_EQ(plugin.shutdown(), KILN_SUCCESS);
    ASSERT_EQ(dlclose(plugin.handle), 0);
  }
  EXPECT_EQ(numMappings("libplugin_one"), 0u);
  closed.set_value();
  other.join();
}

TEST(Plugins, StartAgainAfterAShutdown) {
  Plugin plugin(FirstPlugin);
  std::promise<void> launched, stopped;
  std::thread other([&] {
    plugin.expectItRuns();
    launched.set_value();
    stopped.get_future().wait();
    plugin.expectItRuns();
  });
  launched.get_future().wait();
  EXPECT_TRUE(plugin.isLoaded());
  EXPECT_EQ(plugin.shutdown(), KILN_SUCCESS);
  EXPECT_FALSE(plugin.isLoaded());
  plugin.expectItRuns();
  EXPECT_TRUE(plugin.isLoaded());
  stopped.set_value();
  other.join();
  EXPECT_EQ(plugin.shutdown(), KILN_SUCCESS);
  EXPECT_EQ(plugin.shutdown(), KILN_SUCCESS) << "twice";
  dlclose(plugin.handle);
}

// Two runtimes with equal names: each plug-in has its own.
TEST(Plugins, AreIndependentOfEachOther) {
  Plugin one(FirstPlugin), two(SecondPlugin);
  one.expectItRuns();
  two.expectItRuns();
  EXPECT_EQ(one.shutdown(), KILN_SUCCESS);
  EXPECT_TRUE(two.isLoaded());
  dlclose(one.handle);
  two.expectItRuns();
  EXPECT_EQ(two.shutdown(), KILN_SUCCESS);
  dlclose(two.handle);
}

class ShutdownTest : public FakeDriverTest {
protected:
  void openCuda(const char *file = "libfakecuda12.so") {
    open(KILN_DRIVER_CUDA, file, {{9, 0, ""}, {9, 0, ""}});
    for (int device : {0, 1})
      streams[device] = kiln_cuda_stream(fake->makeStream(fake->makeContext(device)));
  }
  void launchOnBoth(TestLibrary &library) {
    for (kiln_stream stream : streams)
      EXPECT_OK(kiln_launch(&library.entry, 0, stream, OneBlock, nullptr));
  }
  kiln_stream streams[2];
};

TEST_F(ShutdownTest, UnloadsEveryLibraryFromEveryDevice) {
  openCuda();
  TestLibrary first({cubin("sm_90")}, "first"), second({cubin("sm_90")}, "second");
  first.addVariant("v");
  second.addVariant("v");
  launchOnBoth(first);
  launchOnBoth(second);
  EXPECT_EQ(fake->count("cuLibraryLoadData"), 2u);
  EXPECT_OK(kiln_shutdown());
  EXPECT_EQ(fake->count("cuLibraryUnload"), 2u);
  launchOnBoth(first);
  EXPECT_EQ(fake->count("cuLibraryLoadData"), 3u);
  EXPECT_EQ(fake->launches.size(), 6u);
}

TEST_F(ShutdownTest, UnloadsModulesOfContextsAndReleasesTheRetainedOnes) {
  openCuda("libfakecuda11.so");
  TestLibrary library({cubin("sm_90")});
  library.addVariant("v");
  launchOnBoth(library);
  EXPECT_OK(kiln_prepare(&library.entry, kiln_cuda_device(1)));
  EXPECT_EQ(fake->primaryRetains.at(1), 1);
  EXPECT_OK(kiln_shutdown());
  EXPECT_EQ(fake->count("cuModuleUnload"), 3u);
  EXPECT_EQ(fake->primaryRetains.at(1), 0);
}

TEST_F(ShutdownTest, UnloadsOnHip) {
  open(KILN_DRIVER_HIP, "libfakehip6.so", {{0, 0, "gfx942"}});
  TestLibrary library({hsaco("gfx942")});
  library.addVariant("v");
  kiln_stream stream = kiln_hip_stream(fake->makeDeviceStream(0));
  for (size_t i = 1; i <= 2; ++i) {
    EXPECT_OK(kiln_launch(&library.entry, 0, stream, OneBlock, nullptr));
    EXPECT_OK(kiln_shutdown());
    EXPECT_EQ(fake->count("hipModuleUnload"), i);
  }
}

TEST_F(ShutdownTest, LibrariesThatWereUnloadedAreForgotten) {
  openCuda();
  {
    TestLibrary gone({cubin("sm_90")}, "gone"), stays({cubin("sm_90")}, "stays");
    gone.addVariant("v");
    stays.addVariant("v");
    launchOnBoth(gone);
    launchOnBoth(stays);
    EXPECT_OK(kiln_unload(&gone.library));
    launchOnBoth(gone);
  }
  EXPECT_EQ(fake->count("cuLibraryUnload"), 3u);
  EXPECT_OK(kiln_shutdown());
  EXPECT_EQ(fake->count("cuLibraryUnload"), 3u);
}

TEST_F(ShutdownTest, ReportsTheFirstFailureAndGoesOn) {
  openCuda();
  TestLibrary first({cubin("sm_90")}, "first"), second({cubin("sm_90")}, "second");
  first.addVariant("v");
  second.addVariant("v");
  launchOnBoth(first);
  launchOnBoth(second);
  fake->fail("cuLibraryUnload", 700, 1);
  EXPECT_ERROR(kiln_shutdown(), KILN_ERROR_DRIVER, "unloading second: cuLibraryUnload failed");
  EXPECT_EQ(fake->count("cuLibraryUnload"), 2u);
  fake->heal();
  EXPECT_OK(kiln_shutdown());
}

// As at process start: another driver library may be named.
TEST_F(ShutdownTest, DriversAreClosed) {
  openCuda();
  TestLibrary library({cubin("sm_90")});
  library.addVariant("v");
  launchOnBoth(library);
  EXPECT_EQ(kiln_set_driver_path(KILN_DRIVER_CUDA, nullptr), KILN_ERROR_STATE);
  EXPECT_OK(kiln_shutdown());
  EXPECT_OK(kiln_set_driver_path(KILN_DRIVER_CUDA, "no/such/library.so"));
  EXPECT_ERROR(kiln_launch(&library.entry, 0, streams[0], OneBlock, nullptr), KILN_ERROR_NO_DRIVER,
               "no/such/library.so");
}

TEST_F(ShutdownTest, WithoutAnythingInUseItIsASuccess) { EXPECT_OK(kiln_shutdown()); }

} // namespace
