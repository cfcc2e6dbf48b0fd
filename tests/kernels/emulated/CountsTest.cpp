// Counts of real kernels against numbers derived by hand.

#include "instructions.h"
#include "vector_add.h"
#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace {

/// An emulated GPU that counts, and memory whose first byte begins a sector.
class Counted {
public:
  explicit Counted(const char *arch) {
    EXPECT_EQ(kiln_emulator_create(arch, nullptr, &emulator), KILN_SUCCESS);
    kiln_emulator_set_count(emulator, 1);
  }
  ~Counted() {
    kiln_emulator_destroy(emulator);
    for (void *memory : allocations)
      std::free(memory);
  }
  kiln_stream stream() { return kiln_emulator_stream(emulator); }
  void *memory(size_t bytes) {
    allocations.push_back(std::aligned_alloc(128, (bytes + 255) / 128 * 128));
    std::memset(allocations.back(), 0, bytes);
    return allocations.back();
  }
  /// The sum over all places whose operation begins so.
  kiln_emulator_count total(const std::string &operation) {
    kiln_emulator_count sum = {}, count;
    for (uint32_t i = 0; kiln_emulator_count_at(emulator, i, &count) == KILN_SUCCESS; ++i) {
      if (std::string(count.operation).find(operation) != 0)
        continue;
      sum.instructions += count.instructions;
      sum.global_requests += count.global_requests;
      sum.shared_requests += count.shared_requests;
      sum.sectors += count.sectors;
      sum.ideal_sectors += count.ideal_sectors;
      sum.wavefronts += count.wavefronts;
      sum.ideal_wavefronts += count.ideal_wavefronts;
      sum.matrix_operations += count.matrix_operations;
    }
    return sum;
  }

private:
  kiln_emulator *emulator = nullptr;
  std::vector<void *> allocations;
};

TEST(Counts, VectorAddMovesWholeSectors) {
  const int n = 4096;
  for (const char *arch : {"sm_80", "sm_90a"}) {
    Counted gpu(arch);
    ASSERT_EQ(
        vector_add_f32(gpu.stream(), gpu.memory(4 * n), gpu.memory(4 * n), gpu.memory(4 * n), n),
        KILN_SUCCESS)
        << kiln_last_error();
    kiln_emulator_count loads = gpu.total("tilegpu.global_load");
    EXPECT_EQ(loads.sectors, 16 * loads.global_requests) << "16 bytes a lane";
    EXPECT_EQ(loads.sectors, 2u * 4 * n / 32);
    EXPECT_EQ(loads.ideal_sectors, loads.sectors);
    kiln_emulator_count stores = gpu.total("tilegpu.global_store");
    EXPECT_EQ(stores.sectors, 16 * stores.global_requests);
    EXPECT_EQ(stores.ideal_sectors, stores.sectors);
  }
}

TEST(Counts, AMisalignedVectorAddTouchesMore) {
  const int n = 4096;
  Counted gpu("sm_80");
  auto shifted = [&] { return static_cast<char *>(gpu.memory(4 * n + 4)) + 4; };
  ASSERT_EQ(vector_add_f32(gpu.stream(), shifted(), shifted(), shifted(), n), KILN_SUCCESS)
      << kiln_last_error();
  kiln_emulator_count loads = gpu.total("tilegpu.global_load");
  EXPECT_GT(loads.sectors, loads.ideal_sectors);
}

TEST(Counts, MatrixInstructionsFollowFromTheShape) {
  // 64 x 32 x 64.
  struct Case {
    const char *arch, *operation;
    unsigned m, n, k;
  };
  for (auto [arch, operation, m, n, k] :
       {Case{"sm_80", "nvvm.mma.sync", 16, 8, 16}, Case{"gfx942", "rocdl.mfma.", 16, 16, 16},
        Case{"gfx1100", "rocdl.wmma.", 16, 16, 16}}) {
    Counted gpu(arch);
    ASSERT_EQ(dot_f16(gpu.stream(), gpu.memory(8192), gpu.memory(4096), gpu.memory(8192)),
              KILN_SUCCESS)
        << kiln_last_error();
    kiln_emulator_count products = gpu.total(operation);
    uint64_t warpsRepeat = products.matrix_operations / (uint64_t(2) * 64 * 32 * 64);
    EXPECT_EQ(products.matrix_operations, warpsRepeat * 2 * 64 * 32 * 64) << arch;
    EXPECT_EQ(products.instructions, warpsRepeat * (64 / m) * (32 / n) * (64 / k)) << arch;
  }
}

TEST(Counts, ATranspositionHasNoBankConflicts) {
  Counted gpu("sm_80");
  ASSERT_EQ(transpose_16(gpu.stream(), gpu.memory(16384), gpu.memory(16384)), KILN_SUCCESS)
      << kiln_last_error();
  kiln_emulator_count loads = gpu.total("llvm.load"), stores = gpu.total("llvm.store");
  EXPECT_GT(loads.shared_requests + stores.shared_requests, 0u);
  EXPECT_EQ(loads.wavefronts, loads.ideal_wavefronts);
  EXPECT_EQ(stores.wavefronts, stores.ideal_wavefronts);
}

} // namespace
