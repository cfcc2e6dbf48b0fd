// Loading on NVIDIA's driver: failures, graph capture, prepare, unload, contexts that come and go.
#include "tests/runtime/TestLibrary.h"

using namespace kiln;
using namespace kiln::test;

namespace {

class CudaLoadTest : public FakeDriverTest, public ::testing::WithParamInterface<int> {
protected:
  void SetUp() override {
    open(KILN_DRIVER_CUDA, ("libfakecuda" + std::to_string(GetParam()) + ".so").c_str(),
         {{9, 0, ""}, {9, 0, ""}});
    context = fake->makeContext(0);
    stream = kiln_cuda_stream(fake->makeStream(context));
  }
  bool perContext() const { return GetParam() < 12; }
  const char *loadCall() const { return perContext() ? "cuModuleLoadDataEx" : "cuLibraryLoadData"; }
  const char *symbolCall() const {
    return perContext() ? "cuModuleGetFunction" : "cuLibraryGetKernel";
  }
  const char *unloadCall() const { return perContext() ? "cuModuleUnload" : "cuLibraryUnload"; }
  kiln_status launch(TestLibrary &library, uint32_t variant = 0) {
    return kiln_launch(&library.entry, variant, stream, OneBlock, nullptr);
  }

  void *context = nullptr;
  kiln_stream stream = {};
};

INSTANTIATE_TEST_SUITE_P(Drivers, CudaLoadTest, ::testing::Values(11, 12),
                         [](const auto &info) { return "cuda" + std::to_string(info.param); });

TEST_P(CudaLoadTest, EveryFailureOnTheWayIsAStatusAndTheNextTryWorks) {
  const std::vector<std::string> calls = {"cuInit",
                                          "cuDeviceGetCount",
                                          "cuDeviceGetAttribute",
                                          "cuStreamIsCapturing",
                                          "cuLaunchKernel",
                                          loadCall(),
                                          symbolCall(),
                                          perContext() ? "cuFuncSetAttribute"
                                                       : "cuKernelSetAttribute",
                                          "cuStreamGetCtx",
                                          "cuCtxPushCurrent_v2",
                                          "cuCtxGetDevice"};
  for (const std::string &call : calls) {
    TestLibrary library({cubin("sm_90")});
    library.addVariant("v");
    library.binary().shared_bytes = 100000;
    kiln_close_drivers();
    fake->fail(call, 999, 1);
    EXPECT_NE(launch(library), KILN_SUCCESS) << call;
    EXPECT_NE(std::string(kiln_last_error()).find(call.substr(0, call.find("_v2"))),
              std::string::npos)
        << call << ": " << kiln_last_error();
    EXPECT_OK(launch(library)) << call;
  }
}

TEST_P(CudaLoadTest, LoadErrorsNameTheKernelTheVariantAndTheTarget) {
  TestLibrary library({cubin("sm_90")});
  library.addVariant("BLOCK=128");
  library.binary().data = "not an image";
  EXPECT_ERROR(launch(library), KILN_ERROR_LOAD,
               std::string("axpy: variant 0 (BLOCK=128) for cuda:sm_90: ") + loadCall() +
                   " failed: CUDA_ERROR_INVALID_IMAGE (200): as the test asked");
  EXPECT_EQ(kiln_is_ready(&library.entry, kiln_cuda_device(0)), 0);
}

TEST_P(CudaLoadTest, AMissingKernelIsNamed) {
  TestLibrary library({cubin("sm_90")});
  library.addVariant("v");
  library.binary().symbol = "other";
  EXPECT_ERROR(launch(library), KILN_ERROR_LOAD, "symbol other");
}

TEST_P(CudaLoadTest, TheCompilersComplaintAboutPtxIsPassedOn) {
  TestLibrary library({ptx("compute_80")});
  library.addVariant("v");
  fake->jitLog = "ptxas fatal: unknown opcode";
  fake->fail(loadCall(), 218, 1);
  EXPECT_ERROR(launch(library), KILN_ERROR_LOAD, "ptxas fatal: unknown opcode");
  EXPECT_OK(launch(library));
}

TEST_P(CudaLoadTest, AnotherParameterLayoutInTheBinaryIsRefused) {
  if (perContext())
    GTEST_SKIP() << "this driver cannot tell a binary's parameters";
  const std::vector<kiln_param> launcher = {{"x", KILN_PARAM_POINTER, 8, 0},
                                            {"n", KILN_PARAM_F32, 4, 8}};
  const struct {
    const char *image, *message;
  } cases[] = {
      {"FAKE\nmain 0:8 8:8", "parameter 1 (n) has 8 bytes at offset 8 in the binary, 4 at 8"},
      {"FAKE\nmain 0:8 12:4", "parameter 1 (n) has 4 bytes at offset 12"},
      {"FAKE\nmain 0:8", "the binary has 1 parameters, the launcher 2"},
      {"FAKE\nmain 0:8 8:4 12:4", "more parameters than the launcher's 2"}};
  for (const auto &c : cases) {
    TestLibrary library({cubin("sm_90")});
    library.addVariant("v", launcher);
    library.binary().data = c.image;
    EXPECT_ERROR(launch(library), KILN_ERROR_ABI, c.message);
  }
}

TEST_P(CudaLoadTest, ParametersOfImpossibleSizeAreRefused) {
  TestLibrary library({cubin("sm_90")});
  library.addVariant("v", {{"x", KILN_PARAM_F32, 8, 0}});
  EXPECT_ERROR(launch(library), KILN_ERROR_ABI, "parameter 0 (x) of kind 13 cannot have 8 bytes");
}

TEST_P(CudaLoadTest, ALoadDuringCaptureSaysToPrepare) {
  TestLibrary library({cubin("sm_90")});
  library.addVariant("v");
  static_cast<fake::Stream *>(stream.handle)->capturing = 1;
  EXPECT_ERROR(launch(library), KILN_ERROR_CAPTURE, "prepare");
  EXPECT_EQ(fake->count(loadCall()), 0u);
  ASSERT_OK(kiln_prepare(&library.entry, {KILN_DRIVER_CUDA, 0, context, 0, 0}));
  EXPECT_OK(launch(library));
}

TEST_P(CudaLoadTest, AnotherStreamsCaptureBehindTheDefaultStreamCountsToo) {
  TestLibrary library({cubin("sm_90")});
  library.addVariant("v");
  fake->setCurrent(context);
  fake->fail("cuStreamIsCapturing", 906);
  EXPECT_ERROR(kiln_launch(&library.entry, 0, kiln_cuda_stream(nullptr), OneBlock, nullptr),
               KILN_ERROR_CAPTURE, "prepare");
}

TEST_P(CudaLoadTest, PrepareLoadsEveryVariantOnceAndMakesItReady) {
  TestLibrary library({cubin("sm_90")});
  library.addVariant("a");
  library.addVariant("b");
  library.addVariant("absent");
  library.binary(2) = {};
  kiln_device device;
  ASSERT_OK(kiln_stream_device(stream, &device));
  EXPECT_EQ(kiln_is_ready(&library.entry, device), 0);
  ASSERT_OK(kiln_prepare_variant(&library.entry, 0, device));
  EXPECT_EQ(kiln_is_ready(&library.entry, device), 0);
  ASSERT_OK(kiln_prepare(&library.entry, device));
  EXPECT_EQ(kiln_is_ready(&library.entry, device), 1);
  ASSERT_OK(kiln_prepare_library(&library.library, device));
  EXPECT_EQ(fake->count(loadCall()), 2u);
  if (!perContext()) {
    EXPECT_GE(fake->count("cuFuncLoad"), 2u);
  }
  EXPECT_EQ(kiln_is_ready(&library.entry, kiln_cuda_device(1)), 0);
  EXPECT_ERROR(kiln_prepare_variant(&library.entry, 2, device), KILN_ERROR_NO_BINARY, "absent");
  EXPECT_ERROR(kiln_prepare_variant(&library.entry, 3, device), KILN_ERROR_INVALID_ARGUMENT,
               "no variant 3");
  EXPECT_EQ(fake->current(), nullptr);
}

TEST_P(CudaLoadTest, PrepareByNumberUsesTheCurrentContextOrThePrimaryOne) {
  TestLibrary library({cubin("sm_90")});
  library.addVariant("v");
  ASSERT_OK(kiln_prepare(&library.entry, kiln_cuda_device(1)));
  ASSERT_OK(kiln_prepare(&library.entry, kiln_cuda_device(1)));
  EXPECT_EQ(fake->primaryRetains[1], perContext() ? 1 : 0);
  fake->setCurrent(context);
  ASSERT_OK(kiln_prepare(&library.entry, kiln_cuda_device(0)));
  EXPECT_EQ(fake->primaryRetains[0], 0);
  EXPECT_EQ(fake->current(), context);
  size_t loads = fake->count(loadCall());
  EXPECT_OK(launch(library));
  EXPECT_EQ(fake->count(loadCall()), loads);
  EXPECT_ERROR(kiln_prepare(&library.entry, kiln_cuda_device(7)), KILN_ERROR_INVALID_DEVICE,
               "no cuda device 7: 2 found");
  EXPECT_ERROR(kiln_prepare(&library.entry, kiln_cuda_device(-1)), KILN_ERROR_INVALID_DEVICE,
               "no cuda device -1");
}

TEST_P(CudaLoadTest, PrepareByNumberReachesAPrimaryContextThatIsInUse) {
  TestLibrary library({cubin("sm_90")});
  library.addVariant("v");
  fake->primary[1] = static_cast<fake::Context *>(fake->makeContext(1));
  fake->primaryRetains[1] = 1; // the program's own
  ASSERT_OK(kiln_prepare(&library.entry, kiln_cuda_device(1)));
  EXPECT_EQ(fake->primaryRetains[1], perContext() ? 2 : 1);
  EXPECT_EQ(fake->count("cuFuncLoad"), perContext() ? 0u : 1u);
  EXPECT_EQ(fake->current(), nullptr);
}

TEST_P(CudaLoadTest, PreparationFailuresAreStatuses) {
  TestLibrary library({cubin("sm_90")});
  library.addVariant("v");
  fake->fail(loadCall(), 200);
  EXPECT_ERROR(kiln_prepare(&library.entry, kiln_cuda_device(0)), KILN_ERROR_LOAD, loadCall());
  fake->heal();
  if (!perContext()) {
    fake->setCurrent(context);
    fake->fail("cuFuncLoad", 200);
    EXPECT_ERROR(kiln_prepare(&library.entry, kiln_cuda_device(0)), KILN_ERROR_LOAD, "cuFuncLoad");
    fake->heal();
  }
  EXPECT_OK(kiln_prepare(&library.entry, kiln_cuda_device(0)));
}

TEST_P(CudaLoadTest, VariantsThatShareAnImageLoadItOnce) {
  TestLibrary library({cubin("sm_90")});
  library.addVariant("a");
  library.addVariant("b");
  library.binary(0).data = library.binary(1).data = "FAKE\nmain\nsecond";
  library.binary(1).symbol = "second";
  EXPECT_OK(launch(library, 0));
  EXPECT_OK(launch(library, 1));
  EXPECT_EQ(fake->count(loadCall()), 1u);
  EXPECT_EQ(fake->launches.at(1).kernel, "second");
}

TEST_P(CudaLoadTest, UnloadedLibrariesLoadAgain) {
  TestLibrary library({cubin("sm_90")});
  library.addVariant("v");
  EXPECT_OK(launch(library));
  EXPECT_OK(kiln_unload(&library.library));
  EXPECT_EQ(fake->count(unloadCall()), 1u);
  EXPECT_OK(kiln_unload(&library.library));
  EXPECT_EQ(fake->count(unloadCall()), 1u);
  EXPECT_OK(launch(library));
  EXPECT_EQ(fake->count(loadCall()), 2u);
  fake->fail(unloadCall(), 400, 1);
  EXPECT_ERROR(kiln_unload(&library.library), KILN_ERROR_DRIVER, "unloading axpy");
}

TEST_P(CudaLoadTest, AContextMadeAtAnothersAddressIsAnotherContext) {
  TestLibrary library({cubin("sm_90")});
  library.addVariant("v");
  EXPECT_OK(launch(library));
  if (perContext()) { // no cuCtxGetId: the program says so
    EXPECT_OK(kiln_cuda_context_destroyed(context));
  }
  fake->destroyContext(context);
  ASSERT_EQ(fake->makeContext(1), context);
  EXPECT_OK(launch(library));
  EXPECT_EQ(fake->launches.at(1).device, 1);
}

TEST_P(CudaLoadTest, LoadsLeaveOtherThreadsCapturesAlone) {
  TestLibrary library({cubin("sm_90")});
  library.addVariant("v");
  EXPECT_OK(launch(library));
  EXPECT_EQ(fake->count("cuThreadExchangeStreamCaptureMode"), 2u);
}

} // namespace
