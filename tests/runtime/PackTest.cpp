// Device binaries in files of their own: read when a variant loads, and whatever is wrong with a
// file is said with its name.
#include "tests/runtime/TestLibrary.h"

#include <cstdio>
#include <fstream>
#include <optional>
#include <unistd.h>

using namespace kiln;
using namespace kiln::test;

namespace {

uint64_t checksumOf(const std::string &bytes) {
  uint64_t sum = 0xcbf29ce484222325;
  for (unsigned char byte : bytes)
    sum = (sum ^ byte) * 0x100000001b3;
  return sum;
}

void putNumber(std::string &bytes, size_t at, uint64_t value, int count) {
  for (int i = 0; i < count; ++i)
    bytes[at + i] = static_cast<char>(value >> (8 * i));
}

const char *turn(const void *data, uint64_t size, void *to, uint64_t toSize) {
  if (size != toSize)
    return "it is cut short";
  for (uint64_t i = 0; i < size; ++i)
    static_cast<char *>(to)[i] = static_cast<char>(~static_cast<const char *>(data)[i]);
  return nullptr;
}

constexpr const char *Identity = "0123456789abcdef0123456789abcdef";

// The library's images in a pack: the first variant's as it is, the others' turned round.
class PackTest : public CudaLaunchTest {
protected:
  void SetUp() override {
    CudaLaunchTest::SetUp();
    path = ::testing::TempDir() + "pack_test." + std::to_string(getpid()) + ".kpack";
    library.emplace(std::vector<kiln_target>{cubin("sm_90")});
    library->addVariant("first");
    library->addVariant("second");
    std::string images[2];
    for (uint32_t v = 0; v < 2; ++v) {
      const kiln_binary &binary = library->binary(v);
      images[v].assign(static_cast<const char *>(binary.data), binary.size);
      if (v == 1)
        for (char &byte : images[v])
          byte = static_cast<char>(~byte);
    }
    bytes.assign(64, '\0');
    bytes.replace(0, 8, "KILNPACK");
    putNumber(bytes, 8, 1, 4);
    bytes.replace(24, 32, Identity);
    for (uint32_t v = 0; v < 2; ++v) {
      frames[v].pack = &pack;
      frames[v].pack_offset = bytes.size();
      frames[v].size = frames[v].unpacked_size = images[v].size();
      frames[v].checksum = checksumOf(images[v]);
      bytes += images[v];
      library->binary(v).data = nullptr;
      library->binary(v).frame = &frames[v];
    }
    frames[1].unpack = turn;
    putNumber(bytes, 16, bytes.size(), 8);
    pack = {"test.sm_90.kpack", Identity, bytes.size(), &state};
    library->library.packs = &packs;
    library->library.num_packs = 1;
  }
  void TearDown() override {
    std::remove(path.c_str());
    library.reset();
    CudaLaunchTest::TearDown();
  }
  void write(const std::string &contents) { std::ofstream(path, std::ios::binary) << contents; }
  kiln_status load() { return kiln_load_pack(&library->library, path.c_str()); }
  kiln_status launchVariant(uint32_t variant = 0) {
    return kiln_launch(&library->entry, variant, stream, OneBlock, nullptr);
  }

  std::optional<TestLibrary> library; // gone before its driver is
  std::string path, bytes;
  kiln_pack_state state = {};
  kiln_pack pack = {};
  const kiln_pack *packs = &pack;
  kiln_frame frames[2] = {};
};

TEST_F(PackTest, VariantsLoadFromTheFile) {
  write(bytes);
  ASSERT_OK(load());
  ASSERT_OK(launchVariant(0));
  ASSERT_OK(launchVariant(1));
  std::remove(path.c_str());
  ASSERT_OK(launchVariant(0)) << "what is loaded needs no file";
  ASSERT_EQ(fake->launches.size(), 3u);
  EXPECT_EQ(fake->launches[1].code, "FAKE\nmain");
}

TEST_F(PackTest, AMissingFileIsNamed) {
  EXPECT_ERROR(launchVariant(), KILN_ERROR_LOAD,
               "test.sm_90.kpack: cannot be opened: No such file");
  EXPECT_ERROR(launchVariant(), KILN_ERROR_LOAD,
               "it belongs beside the program or shared library that holds the kernels, or "
               "kiln_load_pack says where it is");
  EXPECT_ERROR(load(), KILN_ERROR_LOAD, path + ": cannot be opened");
  write(bytes);
  ASSERT_OK(load());
  EXPECT_OK(launchVariant()) << "a failure changes nothing";
}

TEST_F(PackTest, IsForgottenWhenTheLibraryIsUnloaded) {
  write(bytes);
  ASSERT_OK(load());
  ASSERT_OK(launchVariant());
  ASSERT_OK(kiln_unload(&library->library));
  EXPECT_EQ(state.path, nullptr);
  EXPECT_EQ(launchVariant(), KILN_ERROR_LOAD);
  ASSERT_OK(load());
  ASSERT_OK(load()) << "once more";
  ASSERT_OK(launchVariant());
  ASSERT_OK(kiln_shutdown());
  EXPECT_EQ(state.path, nullptr);
}

TEST_F(PackTest, OtherFilesAreRefused) {
  struct {
    std::string contents, message;
  } cases[] = {
      {"", "not a pack of Kiln's"},
      {bytes.substr(0, 63), "not a pack of Kiln's"},
      {"\x7f" + bytes.substr(1), "not a pack of Kiln's"},
      {std::string(bytes).replace(8, 1, "\2"), "a pack of version 2, this runtime reads 1"},
      {std::string(bytes).replace(24, 1, "f"),
       "of another library or build than test_kernels, which has 1 packs and none that is f123"},
      {std::string(bytes).replace(24, 1, "\n"),
       "of another library or build than test_kernels, which has 1 packs and none that is ?123"},
      {bytes.substr(0, bytes.size() - 1), "damaged: it has"},
      {bytes + "x", "damaged: it has"},
      {std::string(bytes).replace(16, 1, "\1"), "damaged: it has"},
  };
  for (const auto &[contents, message] : cases) {
    write(contents);
    EXPECT_ERROR(load(), KILN_ERROR_LOAD, path + ": " + message);
    EXPECT_EQ(state.path, nullptr);
  }
}

// What has changed since kiln_load_pack is seen when a variant loads.
TEST_F(PackTest, FilesAreLookedAtAgain) {
  write(bytes);
  ASSERT_OK(load());
  write(std::string(bytes).replace(24, 1, "f"));
  EXPECT_ERROR(launchVariant(), KILN_ERROR_LOAD,
               "of another build than the library: it is f1234567");
  write(bytes.substr(0, bytes.size() - 1));
  EXPECT_ERROR(launchVariant(), KILN_ERROR_LOAD, "damaged: it has");
  write(bytes);
  EXPECT_OK(launchVariant());
}

TEST_F(PackTest, EveryDamagedByteIsFound) {
  write(bytes);
  ASSERT_OK(load());
  for (size_t i = 64; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] ^= 0x20;
    write(damaged);
    uint32_t variant = i >= frames[1].pack_offset;
    EXPECT_ERROR(launchVariant(variant), KILN_ERROR_LOAD, "damaged: wrong checksum of");
    EXPECT_EQ(kiln_is_ready(&library->entry, kiln_cuda_device(0)), 0);
  }
  write(bytes);
  EXPECT_OK(launchVariant(0));
  EXPECT_OK(launchVariant(1));
}

TEST_F(PackTest, RecordsThatLeadOutOfTheFile) {
  write(bytes);
  ASSERT_OK(load());
  frames[0].pack_offset = bytes.size() - 1;
  EXPECT_ERROR(launchVariant(), KILN_ERROR_ABI, "the library's frame is not within it");
  frames[0].pack_offset = UINT64_MAX;
  EXPECT_EQ(launchVariant(), KILN_ERROR_ABI);
  frames[0].pack_offset = 64;
  frames[0].unpacked_size += 1;
  EXPECT_ERROR(launchVariant(), KILN_ERROR_ABI, "the image is not within its frame");
}

TEST_F(PackTest, WrongUses) {
  EXPECT_EQ(kiln_load_pack(nullptr, "x"), KILN_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(kiln_load_pack(&library->library, nullptr), KILN_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(kiln_load_pack(&library->library, std::string(5000, 'x').c_str()),
            KILN_ERROR_INVALID_ARGUMENT);
  library->library.num_packs = 0;
  write(bytes);
  EXPECT_ERROR(load(), KILN_ERROR_LOAD, "which has 0 packs");
}

} // namespace
