// Counts of real kernels against numbers derived by hand.

#include "counting.h"
#include "instructions.h"
#include "vector_add.h"
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
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
  /// The sum over all places that `isOf` chooses.
  kiln_emulator_count sum(const std::function<bool(const kiln_emulator_count &)> &isOf) {
    kiln_emulator_count sum = {}, count;
    for (uint32_t i = 0; kiln_emulator_count_at(emulator, i, &count) == KILN_SUCCESS; ++i) {
      if (!isOf(count))
        continue;
      sum.instructions += count.instructions;
      sum.thread_instructions += count.thread_instructions;
      sum.divergent_branches += count.divergent_branches;
      sum.flops += count.flops;
      sum.matrix_operations += count.matrix_operations;
      sum.global_requests += count.global_requests;
      sum.sectors += count.sectors;
      sum.ideal_sectors += count.ideal_sectors;
      sum.shared_requests += count.shared_requests;
      sum.wavefronts += count.wavefronts;
      sum.ideal_wavefronts += count.ideal_wavefronts;
      sum.global_read += count.global_read;
      sum.global_written += count.global_written;
    }
    return sum;
  }
  kiln_emulator_count ofKind(const std::string &kind) {
    return sum([&](const kiln_emulator_count &count) { return count.kind == kind; });
  }
  /// In this line, or in a function that is called there.
  kiln_emulator_count inLine(uint32_t line, const std::string &kind, uint32_t caller = 0) {
    return sum([&](const kiln_emulator_count &count) {
      return count.line == line && count.kind == kind &&
             (caller ? count.caller && count.caller->line == caller : !count.caller);
    });
  }
  kiln_emulator_kernel kernel() {
    kiln_emulator_kernel result = {};
    EXPECT_EQ(kiln_emulator_num_kernels(emulator), 1u);
    EXPECT_EQ(kiln_emulator_kernel_at(emulator, 0, &result), KILN_SUCCESS);
    return result;
  }
  void clear() { kiln_emulator_clear_counts(emulator); }

private:
  kiln_emulator *emulator = nullptr;
  std::vector<void *> allocations;
};

const char *const everyArch[] = {"sm_80", "sm_90a", "gfx942", "gfx1100"};

TEST(Counts, VectorAddMovesWholeSectors) {
  const int n = 4096;
  for (const char *arch : everyArch) {
    Counted gpu(arch);
    ASSERT_EQ(
        vector_add_f32(gpu.stream(), gpu.memory(4 * n), gpu.memory(4 * n), gpu.memory(4 * n), n),
        KILN_SUCCESS)
        << kiln_last_error();
    uint32_t warpSize = gpu.kernel().warp_size;
    EXPECT_EQ(gpu.kernel().blocks, 4u);
    EXPECT_STREQ(gpu.kernel().name, "vector_add_kernel");
    kiln_emulator_count loads = gpu.ofKind("global load");
    EXPECT_EQ(loads.instructions, 2u * n / (4 * warpSize)) << arch << ": 16 bytes a lane";
    EXPECT_EQ(loads.global_requests, loads.instructions);
    EXPECT_EQ(loads.sectors, 16 * loads.global_requests * warpSize / 32);
    EXPECT_EQ(loads.sectors, 2u * 4 * n / 32);
    EXPECT_EQ(loads.ideal_sectors, loads.sectors);
    EXPECT_EQ(loads.global_read, 2u * 4 * n);
    kiln_emulator_count stores = gpu.ofKind("global store");
    EXPECT_EQ(stores.sectors, 16 * stores.global_requests * warpSize / 32);
    EXPECT_EQ(stores.ideal_sectors, stores.sectors);
    EXPECT_EQ(stores.global_written, 4u * n);
    EXPECT_EQ(gpu.ofKind("float32").thread_instructions, unsigned(n));
    EXPECT_EQ(gpu.ofKind("float32").flops, unsigned(n));
  }
}

/// Each warp writes a partial maximum of every column, and each thread reads those of its column.
TEST(Counts, ReductionsAcrossWarpsHaveNoBankConflicts) {
  for (const char *arch : everyArch) {
    Counted gpu(arch);
    void *x = gpu.memory(4 * 32 * 128), *largest = gpu.memory(4 * 128), *place = gpu.memory(4 * 32);
    ASSERT_EQ(reduce_f32(gpu.stream(), x, largest, place), KILN_SUCCESS) << kiln_last_error();
    kiln_emulator_count all = gpu.sum([](const kiln_emulator_count &) { return true; });
    EXPECT_GE(all.shared_requests, 4u * 128 / gpu.kernel().warp_size) << arch;
    EXPECT_EQ(all.wavefronts, all.ideal_wavefronts) << arch;
  }
}

TEST(Counts, AMisalignedVectorAddTouchesASectorMore) {
  const int n = 4096;
  Counted gpu("sm_80");
  auto shifted = [&] { return static_cast<char *>(gpu.memory(4 * n + 4)) + 4; };
  ASSERT_EQ(vector_add_f32(gpu.stream(), shifted(), shifted(), shifted(), n), KILN_SUCCESS)
      << kiln_last_error();
  kiln_emulator_count loads = gpu.ofKind("global load");
  EXPECT_EQ(loads.global_requests, 2u * n / 32) << "4 bytes a lane";
  EXPECT_EQ(loads.ideal_sectors, 4 * loads.global_requests);
  EXPECT_EQ(loads.sectors, 5 * loads.global_requests);
}

TEST(Counts, StridesLeaveSectorsUnused) {
  for (int stride : {1, 2, 4, 8, 100}) {
    Counted gpu("sm_90a");
    ASSERT_EQ(strided_f32(gpu.stream(), gpu.memory(4096 * stride), gpu.memory(4096), stride),
              KILN_SUCCESS)
        << kiln_last_error();
    kiln_emulator_count loads = gpu.ofKind("global load");
    EXPECT_EQ(loads.global_requests, 1024u / 32);
    EXPECT_EQ(loads.ideal_sectors, 4 * loads.global_requests);
    // A sector holds 8 words.
    EXPECT_EQ(loads.sectors, 4 * std::min(stride, 8) * loads.global_requests) << stride;
  }
}

TEST(Counts, ArithmeticByLineAndCaller) {
  for (const char *arch : everyArch) {
    Counted gpu(arch);
    ASSERT_EQ(elementwise_f32(gpu.stream(), gpu.memory(4096), gpu.memory(4096)), KILN_SUCCESS)
        << kiln_last_error();
    uint64_t n = 1024, warps = n / gpu.kernel().warp_size;
    EXPECT_EQ(gpu.inLine(16, "float32").flops, 2 * n) << arch << ": v * 2.0 - 1.0";
    EXPECT_EQ(gpu.inLine(16, "float32").thread_instructions, 2 * n);
    EXPECT_EQ(gpu.inLine(16, "float32").instructions, 2 * warps);
    EXPECT_EQ(gpu.inLine(17, "select").instructions, 2 * warps) << "a comparison, a choice";
    EXPECT_EQ(gpu.inLine(9, "float32", 17).flops, n) << "tripled(a)";
    EXPECT_EQ(gpu.inLine(9, "float32", 20).flops, n) << "tripled(d)";
    EXPECT_EQ(gpu.inLine(18, "conversion").instructions, warps);
    EXPECT_EQ(gpu.inLine(19, "conversion").instructions, warps);
    EXPECT_EQ(gpu.inLine(19, "special").flops, n);
    EXPECT_EQ(gpu.ofKind("float32").flops + gpu.ofKind("special").flops, 5 * n);
    EXPECT_EQ(gpu.ofKind("branch").instructions, 0u);
    gpu.clear();
    EXPECT_EQ(gpu.ofKind("float32").flops, 0u);
  }
}

TEST(Counts, RoundsOfLoops) {
  // One element for each of 128 threads, in 3 blocks, 10 rounds.
  for (const char *arch : {"sm_80", "gfx1100"}) {
    Counted gpu(arch);
    ASSERT_EQ(rounds_f32(gpu.stream(), gpu.memory(512), 10), KILN_SUCCESS) << kiln_last_error();
    EXPECT_EQ(gpu.inLine(35, "float32").instructions, 2u * 3 * 4 * 10);
    EXPECT_EQ(gpu.inLine(35, "float32").flops, 2u * 3 * 128 * 10);
    EXPECT_EQ(gpu.inLine(35, "conversion").instructions, 3u * 4 * 10);
    EXPECT_EQ(gpu.inLine(34, "branch").instructions, 3u * 4 * 11) << "and a test at the end";
    EXPECT_EQ(gpu.ofKind("branch").divergent_branches, 0u) << "all threads take as many rounds";
  }
}

TEST(Counts, AMaskThatEndsInAWarpMakesItDivergent) {
  // 256 elements, of which 50: the first 32 lanes, 18 of the next 32, of 64 lanes the first 50.
  for (const char *arch : everyArch) {
    Counted gpu(arch);
    ASSERT_EQ(masked_atomic_i32(gpu.stream(), gpu.memory(1024), 50), KILN_SUCCESS)
        << kiln_last_error();
    uint32_t warpSize = gpu.kernel().warp_size;
    EXPECT_EQ(gpu.ofKind("branch").instructions, 256 / warpSize) << arch;
    EXPECT_EQ(gpu.ofKind("branch").divergent_branches, 1u);
    kiln_emulator_count atomics = gpu.ofKind("atomic");
    EXPECT_EQ(atomics.instructions, warpSize == 32 ? 2u : 1u);
    EXPECT_EQ(atomics.thread_instructions, 50u);
    EXPECT_EQ(atomics.sectors, 7u) << "200 bytes";
    EXPECT_EQ(atomics.global_read, 200u);
    EXPECT_EQ(atomics.global_written, 200u);
  }
}

TEST(Counts, LanesBeyondABufferAccessNothing) {
  // The same of AMD's buffers, without a branch.
  for (const char *arch : {"gfx942", "gfx1100"}) {
    Counted gpu(arch);
    ASSERT_EQ(masked_device_atomic_i32(gpu.stream(), gpu.memory(1024), 50), KILN_SUCCESS)
        << kiln_last_error();
    EXPECT_EQ(gpu.ofKind("branch").instructions, 0u) << arch;
    kiln_emulator_count atomics = gpu.ofKind("atomic");
    EXPECT_EQ(atomics.instructions, 256 / gpu.kernel().warp_size);
    EXPECT_EQ(atomics.thread_instructions, 256u);
    EXPECT_EQ(atomics.sectors, 7u) << "200 bytes";
    EXPECT_EQ(atomics.global_read, 200u);
    EXPECT_EQ(atomics.global_written, 200u);
  }
}

TEST(Counts, MatrixInstructionsFollowFromTheShape) {
  // 64 x 32 x 64.
  struct Case {
    const char *arch;
    unsigned m, n, k; ///< of one warp
  };
  for (auto [arch, m, n, k] : {Case{"sm_80", 16, 8, 16}, Case{"sm_90a", 16, 32, 16},
                               Case{"gfx942", 16, 16, 16}, Case{"gfx1100", 16, 16, 16}}) {
    Counted gpu(arch);
    ASSERT_EQ(dot_f16(gpu.stream(), gpu.memory(8192), gpu.memory(4096), gpu.memory(8192)),
              KILN_SUCCESS)
        << kiln_last_error();
    kiln_emulator_count products = gpu.ofKind("matrix");
    EXPECT_EQ(products.instructions, (64 / m) * (32 / n) * (64 / k)) << arch;
    EXPECT_EQ(products.matrix_operations, 2u * 64 * 32 * 64);
    EXPECT_EQ(products.flops, products.matrix_operations);
  }
}

TEST(Counts, ProductsOfIntegersAreNoFlops) {
  Counted gpu("sm_80");
  ASSERT_EQ(dot_i8(gpu.stream(), gpu.memory(4096), gpu.memory(2048), gpu.memory(8192)),
            KILN_SUCCESS)
      << kiln_last_error();
  EXPECT_EQ(gpu.ofKind("matrix").matrix_operations, 2u * 64 * 32 * 64);
  EXPECT_EQ(gpu.ofKind("matrix").flops, 0u);
}

TEST(Counts, ATranspositionHasNoBankConflicts) {
  for (const char *arch : everyArch) {
    Counted gpu(arch);
    ASSERT_EQ(transpose_16(gpu.stream(), gpu.memory(16384), gpu.memory(16384)), KILN_SUCCESS)
        << kiln_last_error();
    kiln_emulator_count loads = gpu.ofKind("shared load"), stores = gpu.ofKind("shared store");
    EXPECT_GT(loads.shared_requests, 0u) << arch;
    EXPECT_GT(stores.shared_requests, 0u);
    EXPECT_EQ(loads.wavefronts, loads.ideal_wavefronts);
    EXPECT_EQ(stores.wavefronts, stores.ideal_wavefronts);
    EXPECT_GT(gpu.ofKind("barrier").instructions, 0u);
  }
}

} // namespace
