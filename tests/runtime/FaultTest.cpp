// Each call that the runtime makes of a driver fails once, in each place where it is made: what a
// program does is done again and again, and each time the next call of all fails. The program gets
// a status and a message that names the call, tries again, and gets what it wants. Nothing stays
// behind.
#include "tests/runtime/TestLibrary.h"

#include <set>

using namespace kiln;
using namespace kiln::test;

namespace {

struct Generation {
  const char *file;
  bool isCuda, isNew;
};

class FaultTest : public FakeDriverTest, public ::testing::WithParamInterface<Generation> {
protected:
  using Step = std::pair<const char *, std::function<kiln_status()>>;

  void start() {
    open(driver(), GetParam().file,
         GetParam().isCuda ? std::vector<fake::Device>{{9, 0, ""}}
                           : std::vector<fake::Device>{{0, 0, "gfx942"}});
    stream = GetParam().isCuda ? kiln_cuda_stream(fake->makeStream(fake->makeContext(0)))
                               : kiln_hip_stream(fake->makeDeviceStream(0));
    library = std::make_unique<TestLibrary>(
        std::vector<kiln_target>{GetParam().isCuda ? cubin("sm_90a") : hsaco("gfx942")});
    addKernels();
  }
  void TearDown() override {
    kiln_set_print_function(nullptr, nullptr);
    library.reset();
    FakeDriverTest::TearDown();
  }

  kiln_driver driver() const { return GetParam().isCuda ? KILN_DRIVER_CUDA : KILN_DRIVER_HIP; }

  void useImage(kiln_binary &binary, const std::string &text) {
    images.push_back(text);
    binary.data = images.back().c_str();
    binary.size = images.back().size() + 1;
  }

  // As much as the driver can: a plain kernel with much shared memory, one with scratch memory, and
  // then what the vendor has.
  void addKernels() {
    images.clear();
    library->addVariant("plain", {{"n", KILN_PARAM_I32, 4, 0}});
    library->binary(0).shared_bytes = GetParam().isCuda ? 100000 : 1000;
    if (GetParam().isCuda || GetParam().isNew) {
      library->addVariant("scratch", {{"n", KILN_PARAM_I32, 4, 0}});
      library->binary(1).scratch_bytes = 100;
      useImage(library->binary(1), "FAKE\nmain 0:4 8:8");
    }
    if (!GetParam().isCuda) {
      uint32_t printing = library->addVariant("printing", {{"n", KILN_PARAM_I32, 4, 0}});
      useImage(library->binary(printing), "FAKE\nmain 0:4\nkiln_messages\n");
    }
    if (GetParam().isNew) {
      uint32_t cooperative = library->addVariant("cooperative", {{"n", KILN_PARAM_I32, 4, 0}});
      library->binary(cooperative).flags = KILN_LAUNCH_COOPERATIVE;
    }
    if (GetParam().isCuda && GetParam().isNew) {
      uint32_t clusters = library->addVariant("clusters", {{"n", KILN_PARAM_I32, 4, 0}});
      library->binary(clusters).flags = KILN_LAUNCH_PDL;
      library->binary(clusters).cluster[0] = 16;
      uint32_t maps = library->addVariant("maps", matrixParams(), {matrixMap()});
      library->addFallback(maps);
    }
  }

  kiln_status launch(uint32_t variant) {
    int32_t n = 7;
    void *params[] = {&n};
    bool hasMaps = library->binary(variant).num_tensor_maps;
    return kiln_launch(&library->entry, variant, stream, OneBlock,
                       hasMaps ? matrix.params : params);
  }

  std::vector<Step> steps() {
    std::vector<Step> all;
    all.emplace_back("first launch", [this] { return launch(0); });
    all.emplace_back("prepare", [this] {
      kiln_device device;
      kiln_status status = kiln_stream_device(stream, &device);
      return status == KILN_SUCCESS ? kiln_prepare(&library->entry, device) : status;
    });
    all.emplace_back("prepare by number", [this] {
      return kiln_prepare(&library->entry,
                          GetParam().isCuda ? kiln_cuda_device(0) : kiln_hip_device(0));
    });
    for (uint32_t variant = 0; variant < library->entry.num_variants; ++variant)
      all.emplace_back(library->entry.variants[variant].name,
                       [this, variant] { return launch(variant); });
    if (GetParam().isCuda && GetParam().isNew)
      all.emplace_back("a tensor without elements", [this] {
        return kiln_launch(&library->entry, library->entry.num_variants - 1, stream, OneBlock,
                           empty.params);
      });
    all.emplace_back("unload", [this] { return kiln_unload(&library->library); });
    all.emplace_back("launch after that", [this] { return launch(0); });
    all.emplace_back("shutdown", [] { return kiln_shutdown(); });
    return all;
  }

  // Versions of a function have a suffix that messages do not name.
  static std::string plainName(std::string call) {
    for (const char *suffix : {"_v2", "R0600"})
      call = call.substr(0, call.find(suffix));
    return call;
  }

  // Does all of it, and what fails again. The step that failed, or "".
  std::string doAll() {
    std::string told;
    for (const auto &[name, step] : steps()) {
      if (step() == KILN_SUCCESS)
        continue;
      std::string message = kiln_last_error();
      EXPECT_EQ(told, "") << "a second failure: " << name << ": " << message;
      told = name;
      EXPECT_NE(message.find(plainName(fake->failedCall)), std::string::npos)
          << name << ": " << fake->failedCall << ": " << message;
      EXPECT_EQ(step(), KILN_SUCCESS)
          << name << ", again, after " << fake->failedCall << ": " << kiln_last_error();
    }
    return told;
  }

  // But for what could not be given back, because that very call failed or the program was told so.
  void expectNothingLeft(const std::string &told) {
    static const std::set<std::string> givesBack = {
        "cuDevicePrimaryCtxRelease_v2", "cuMemFreeAsync", "hipFreeAsync", "hipHostFree"};
    if (told == "unload" || told == "shutdown" || givesBack.count(fake->failedCall))
      return;
    EXPECT_EQ(fake->numLoadedImages(), 0u) << fake->failedCall;
    EXPECT_TRUE(fake->allocated.empty()) << fake->failedCall;
    EXPECT_EQ(fake->hostMemory.size(), 0u) << fake->failedCall;
    for (int retains : fake->primaryRetains)
      EXPECT_EQ(retains, 0) << fake->failedCall;
    if (fake->current && fake->failedCall != "cuCtxPopCurrent_v2")
      EXPECT_EQ(fake->current(), nullptr) << fake->failedCall;
  }

  std::unique_ptr<TestLibrary> library;
  std::deque<std::string> images;
  Matrix matrix, empty{0x10000, 0};
  kiln_stream stream = {};
};

INSTANTIATE_TEST_SUITE_P(Drivers, FaultTest,
                         ::testing::Values(Generation{"libfakecuda11.so", true, false},
                                           Generation{"libfakecuda12.so", true, true},
                                           Generation{"libfakehip5.so", false, false},
                                           Generation{"libfakehip6.so", false, true}),
                         [](const auto &info) {
                           return std::string(info.param.isCuda ? "Cuda" : "Hip") +
                                  (info.param.isNew ? "New" : "Old");
                         });

TEST_P(FaultTest, EveryCallFailsOnce) {
  // A failure of these changes nothing that a launch needs: the runtime goes on without them. (What
  // tells of parameters is asked where it can say; a driver that cannot proves nothing.)
  static const std::set<std::string> passedOver = {"cuThreadExchangeStreamCaptureMode",
                                                   "cuCtxGetCurrent",
                                                   "cuCtxPopCurrent_v2",
                                                   "cuDevicePrimaryCtxRelease_v2",
                                                   "cuMemFreeAsync",
                                                   "cuDevicePrimaryCtxGetState",
                                                   "cuKernelGetParamInfo",
                                                   "hipThreadExchangeStreamCaptureMode",
                                                   "hipFreeAsync",
                                                   "hipHostFree"};
  std::set<std::string> called, failed;
  int numCalls = 0;
  while (true) {
    start();
    fake->failCall(999, ++numCalls);
    std::string told = doAll();
    called.insert(fake->calls.begin(), fake->calls.end());
    if (fake->failedCall.empty())
      break;
    failed.insert(fake->failedCall);
    if (told.empty())
      EXPECT_TRUE(passedOver.count(fake->failedCall))
          << "success though it failed: " << fake->failedCall << ", call " << numCalls;
    expectNothingLeft(told);
    EXPECT_TRUE(fake->broken.empty()) << fake->broken.front() << " after " << fake->failedCall;
    library.reset();
    ASSERT_LT(numCalls, 1000);
  }
  EXPECT_GT(numCalls, 20);
  EXPECT_EQ(failed, called);
}

} // namespace
