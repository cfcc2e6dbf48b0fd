// CPU pools, with one thread and with several.

#include "tests/kernels/KernelTest.h"
#include <cstdlib>

namespace kiln::test {
namespace {

class CpuExecutor : public Executor {
public:
  explicit CpuExecutor(kiln_cpu_pool *pool) : pool(pool) {}
  ~CpuExecutor() override { kiln_cpu_pool_destroy(pool); }
  kiln_stream stream() override { return kiln_cpu_stream(pool); }
  void *allocate(size_t bytes) override {
    return std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  }
  void release(void *memory) override { std::free(memory); }
  bool synchronize() override { return true; }

private:
  kiln_cpu_pool *pool;
};

template <uint32_t Threads> std::unique_ptr<Executor> makeCpu() {
  kiln_cpu_pool *pool = nullptr;
  if (kiln_cpu_pool_create(Threads, &pool) != KILN_SUCCESS)
    return nullptr;
  return std::make_unique<CpuExecutor>(pool);
}

} // namespace

Executor *&currentExecutor() {
  static Executor *current = nullptr;
  return current;
}

const std::vector<ExecutorKind> &executors() {
  static const std::vector<ExecutorKind> kinds = {{"cpu_1_thread", makeCpu<1>},
                                                  {"cpu_3_threads", makeCpu<3>}};
  return kinds;
}

} // namespace kiln::test
