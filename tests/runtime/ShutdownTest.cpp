// kiln_shutdown: nothing of the runtime is left, and everything starts again.
#include "tests/runtime/TestLibrary.h"

#include <atomic>
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
  explicit Plugin(const char *file, int scope = RTLD_LOCAL)
      : handle(dlopen(file, RTLD_NOW | scope)) {
    EXPECT_NE(handle, nullptr) << dlerror();
    find(run, "plugin_run");
    find(shutdown, "plugin_shutdown");
    find(isLoaded, "plugin_is_loaded");
    find(abiVersion, "plugin_abi_version");
    find(entry, "plugin_entry");
    find(runEntry, "plugin_run_entry");
    find(lastError, "plugin_last_error");
  }
  template <typename Function> void find(Function *&function, const char *name) {
    function = reinterpret_cast<Function *>(dlsym(handle, name));
    EXPECT_NE(function, nullptr) << name;
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
  uint32_t (*abiVersion)();
  const kiln_entry *(*entry)();
  kiln_status (*runEntry)(const kiln_entry *, int *, uint32_t);
  const char *(*lastError)();
};

constexpr const char *FirstPlugin = "tests/runtime/libplugin_one.so";
constexpr const char *SecondPlugin = "tests/runtime/libplugin_two.so";
// Of a Kiln whose records differ.
constexpr const char *OtherVersion = "tests/runtime/libplugin_other_version.so";

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

// Also where all that the plug-ins export is seen by those that are loaded later.
TEST(Plugins, OfDifferentVersionsLiveInOneProcess) {
  for (int scope : {RTLD_LOCAL, RTLD_GLOBAL}) {
    Plugin now(FirstPlugin, scope), other(OtherVersion, scope);
    EXPECT_EQ(now.abiVersion(), KILN_ABI_VERSION);
    EXPECT_EQ(other.abiVersion(), KILN_ABI_VERSION + 1);
    now.expectItRuns();
    other.expectItRuns();
    EXPECT_EQ(now.shutdown(), KILN_SUCCESS);
    ASSERT_EQ(dlclose(now.handle), 0);
    EXPECT_EQ(numMappings("libplugin_one"), 0u);
    EXPECT_TRUE(other.isLoaded());
    other.expectItRuns();
    Plugin again(FirstPlugin, scope);
    EXPECT_FALSE(again.isLoaded());
    again.expectItRuns();
    other.expectItRuns();
    for (Plugin *plugin : {&other, &again}) {
      EXPECT_EQ(plugin->shutdown(), KILN_SUCCESS);
      ASSERT_EQ(dlclose(plugin->handle), 0);
    }
    EXPECT_EQ(numMappings("libplugin_"), 0u);
  }
}

// While threads launch in both, one of them is opened and closed again and again.
TEST(Plugins, OneIsClosedWhileTheOtherLaunches) {
  Plugin other(OtherVersion);
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&] {
      while (!stop)
        other.expectItRuns();
    });
  for (int i = 0; i < 50; ++i) {
    Plugin plugin(FirstPlugin);
    std::thread launching([&] { plugin.expectItRuns(); });
    plugin.expectItRuns();
    launching.join();
    EXPECT_EQ(plugin.shutdown(), KILN_SUCCESS);
    ASSERT_EQ(dlclose(plugin.handle), 0);
  }
  stop = true;
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(other.shutdown(), KILN_SUCCESS);
  dlclose(other.handle);
}

// Whoever mixes them up is told so, whichever is the newer one.
TEST(Plugins, ARuntimeRefusesTheRecordsOfAnotherVersion) {
  Plugin now(FirstPlugin), other(OtherVersion);
  std::vector<int> out(64);
  EXPECT_EQ(now.runEntry(other.entry(), out.data(), 64), KILN_ERROR_ABI);
  EXPECT_NE(std::string(now.lastError()).find("generated for version"), std::string::npos);
  EXPECT_EQ(other.runEntry(now.entry(), out.data(), 64), KILN_ERROR_ABI);
  EXPECT_EQ(out, std::vector<int>(64, 0));
  for (Plugin *plugin : {&now, &other}) {
    EXPECT_EQ(plugin->shutdown(), KILN_SUCCESS);
    dlclose(plugin->handle);
  }
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
