// Emulated GPUs: the code that would run on the real ones, thread by thread on the CPU.

#include "tests/kernels/KernelTest.h"
#include <cstdlib>

namespace kiln::test {
namespace {

class EmulatedExecutor final : public Executor {
public:
  explicit EmulatedExecutor(const char *arch) {
    EXPECT_EQ(kiln_cpu_pool_create(2, &pool), KILN_SUCCESS) << kiln_last_error();
    EXPECT_EQ(kiln_emulator_create(arch, pool, &emulator), KILN_SUCCESS) << kiln_last_error();
    kiln_emulator_set_check(emulator, 1);
  }
  ~EmulatedExecutor() override {
    for (uint32_t i = 0; i < kiln_emulator_num_reports(emulator); ++i)
      ADD_FAILURE() << kiln_emulator_report(emulator, i);
    kiln_emulator_destroy(emulator);
    kiln_cpu_pool_destroy(pool);
  }

  kiln_stream stream() override { return kiln_emulator_stream(emulator); }
  void *allocate(size_t bytes) override {
    bytes = (bytes + 4095) & ~size_t(4095);
    void *memory = std::aligned_alloc(4096, bytes);
    EXPECT_EQ(kiln_emulator_register(emulator, memory, bytes), KILN_SUCCESS) << kiln_last_error();
    return memory;
  }
  void release(void *memory) override {
    EXPECT_EQ(kiln_emulator_unregister(emulator, memory), KILN_SUCCESS) << kiln_last_error();
    std::free(memory);
  }
  bool synchronize() override { return true; }

private:
  kiln_cpu_pool *pool = nullptr;
  kiln_emulator *emulator = nullptr;
};

template <const char *arch> std::unique_ptr<Executor> make() {
  return std::make_unique<EmulatedExecutor>(arch);
}

constexpr char sm80[] = "sm_80", sm90[] = "sm_90a", gfx942[] = "gfx942", gfx1100[] = "gfx1100";

} // namespace

const std::vector<ExecutorKind> &executors() {
  static const std::vector<ExecutorKind> list = {{"emu_sm_80", make<sm80>},
                                                 {"emu_sm_90a", make<sm90>},
                                                 {"emu_gfx942", make<gfx942>},
                                                 {"emu_gfx1100", make<gfx1100>}};
  return list;
}

Executor *&currentExecutor() {
  static Executor *current = nullptr;
  return current;
}

} // namespace kiln::test
