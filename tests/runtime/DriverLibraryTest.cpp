// Drivers are opened at run time: what happens where there is none, an unusable one, or too late a
// wish.
#include "tests/runtime/TestLibrary.h"

#include <elf.h>
#include <link.h>

using namespace kiln::test;

namespace {

class DriverLibraryTest : public FakeDriverTest {};

TEST_F(DriverLibraryTest, NothingLinksTheDrivers) {
  // A test file links the runtime statically: what it needs would stand in this program's header,
  // and be loaded.
  auto visit = [](dl_phdr_info *info, size_t, void *found) {
    std::string name = info->dlpi_name;
    if (name.find("libcuda") != std::string::npos || name.find("libamdhip") != std::string::npos)
      *static_cast<std::string *>(found) = name;
    return 0;
  };
  std::string found;
  dl_iterate_phdr(visit, &found);
  EXPECT_EQ(found, "");
  const char *strings = nullptr;
  for (const ElfW(Dyn) *entry = _DYNAMIC; entry->d_tag != DT_NULL; ++entry)
    if (entry->d_tag == DT_STRTAB)
      strings = reinterpret_cast<const char *>(entry->d_un.d_ptr);
  ASSERT_NE(strings, nullptr);
  int needed = 0;
  for (const ElfW(Dyn) *entry = _DYNAMIC; entry->d_tag != DT_NULL; ++entry)
    if (entry->d_tag == DT_NEEDED) {
      std::string name = strings + entry->d_un.d_val;
      ++needed;
      EXPECT_EQ(name.find("libcuda"), std::string::npos) << name;
      EXPECT_EQ(name.find("libamdhip"), std::string::npos) << name;
    }
  EXPECT_GT(needed, 0);
}

TEST_F(DriverLibraryTest, AMissingDriverIsAStatusAndNamesTheFile) {
  TestLibrary library({cubin("sm_90"), hsaco("gfx942")});
  library.addVariant("v");
  ASSERT_OK(kiln_set_driver_path(KILN_DRIVER_CUDA, "/nonexistent/libcuda.so"));
  ASSERT_OK(kiln_set_driver_path(KILN_DRIVER_HIP, "/nonexistent/libamdhip64.so"));
  EXPECT_ERROR(kiln_launch(&library.entry, 0, kiln_cuda_stream(nullptr), OneBlock, nullptr),
               KILN_ERROR_NO_DRIVER, "/nonexistent/libcuda.so");
  EXPECT_ERROR(kiln_launch(&library.entry, 0, kiln_hip_stream(nullptr), OneBlock, nullptr),
               KILN_ERROR_NO_DRIVER, "/nonexistent/libamdhip64.so");
  EXPECT_ERROR(kiln_prepare(&library.entry, kiln_cuda_device(0)), KILN_ERROR_NO_DRIVER, "cuda");
  EXPECT_ERROR(kiln_prepare_library(&library.library, kiln_hip_device(0)), KILN_ERROR_NO_DRIVER,
               "hip");
  EXPECT_EQ(kiln_is_ready(&library.entry, kiln_cuda_device(0)), 0);
}

TEST_F(DriverLibraryTest, ADriverThatLacksAFunctionIsRefusedByName) {
  open(KILN_DRIVER_CUDA, "libfakecuda_broken.so", {{9, 0, ""}});
  TestLibrary library({cubin("sm_90")});
  library.addVariant("v");
  EXPECT_ERROR(kiln_launch(&library.entry, 0, kiln_cuda_stream(nullptr), OneBlock, nullptr),
               KILN_ERROR_MISSING_SYMBOL, "lacks cuLaunchKernel");
  // A file that is no driver of its kind.
  ASSERT_OK(kiln_set_driver_path(KILN_DRIVER_HIP, "tests/runtime/libfakecuda12.so"));
  EXPECT_ERROR(kiln_launch(&library.entry, 0, kiln_hip_stream(nullptr), OneBlock, nullptr),
               KILN_ERROR_MISSING_SYMBOL, "lacks hip");
}

TEST_F(DriverLibraryTest, AMachineWithoutDevicesIsAStatus) {
  open(KILN_DRIVER_CUDA, "libfakecuda12.so", {});
  TestLibrary library({cubin("sm_90")});
  library.addVariant("v");
  fake->fail("cuInit", 100);
  EXPECT_ERROR(kiln_prepare(&library.entry, kiln_cuda_device(0)), KILN_ERROR_INVALID_DEVICE,
               "cuInit failed");
  fake->heal();
  EXPECT_ERROR(kiln_prepare(&library.entry, kiln_cuda_device(0)), KILN_ERROR_INVALID_DEVICE,
               "no cuda device 0: 0 found");
}

TEST_F(DriverLibraryTest, PathsAreSetBeforeTheFirstUse) {
  open(KILN_DRIVER_CUDA, "libfakecuda12.so", {{9, 0, ""}});
  TestLibrary library({cubin("sm_90")});
  library.addVariant("v");
  ASSERT_OK(kiln_prepare(&library.entry, kiln_cuda_device(0)));
  EXPECT_ERROR(kiln_set_driver_path(KILN_DRIVER_CUDA, "elsewhere"), KILN_ERROR_STATE,
               "already open");
  EXPECT_OK(kiln_set_driver_path(KILN_DRIVER_HIP, "elsewhere"));
  EXPECT_ERROR(kiln_set_driver_path(KILN_DRIVER_CPU, "x"), KILN_ERROR_INVALID_ARGUMENT, "driver 3");
  EXPECT_ERROR(kiln_set_driver_path(KILN_DRIVER_HIP, std::string(5000, 'x').c_str()),
               KILN_ERROR_INVALID_ARGUMENT, "longer than");
}

TEST_F(DriverLibraryTest, BothDriversWorkInOneProcess) {
  open(KILN_DRIVER_CUDA, "libfakecuda12.so", {{9, 0, ""}});
  kiln::fake::State *cuda = fake;
  open(KILN_DRIVER_HIP, "libfakehip6.so", {{0, 0, "gfx942"}});
  TestLibrary library({cubin("sm_90"), hsaco("gfx942")});
  library.addVariant("v");
  void *stream = cuda->makeStream(cuda->makeContext(0));
  EXPECT_OK(kiln_launch(&library.entry, 0, kiln_cuda_stream(stream), OneBlock, nullptr));
  EXPECT_OK(kiln_launch(&library.entry, 0, kiln_hip_stream(nullptr), OneBlock, nullptr));
  EXPECT_EQ(cuda->launches.size(), 1u);
  EXPECT_EQ(fake->launches.size(), 1u);
}

} // namespace
