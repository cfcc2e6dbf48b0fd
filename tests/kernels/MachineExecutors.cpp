// AMD's GPUs by the machine code that Kiln makes for them: what runs is the HSACO of the library,
// instruction by instruction on the CPU, behind the runtime's own HIP driver. Devices from
// FIRST_DEVICE to END_DEVICE of tests/amdgcn/MachineHip.h.

#include "tests/amdgcn/MachineHip.h"
#include "tests/kernels/KernelTest.h"
#include <cstdlib>
#include <dlfcn.h>
#include <utility>

namespace kiln::test {
namespace {

/// Runfiles stand as the sources do; the slash keeps dlopen from searching the system.
constexpr char library[] = "tests/amdgcn/libmachinehip.so";

struct Machine {
  decltype(&kilnMachineRegister) add = nullptr;
  decltype(&kilnMachineUnregister) remove = nullptr;
  decltype(&kilnMachineTakeReport) takeReport = nullptr;
  bool isReady = false;

  Machine() {
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    EXPECT_NE(handle, nullptr) << dlerror();
    if (!handle)
      return;
    find(handle, add, "kilnMachineRegister");
    find(handle, remove, "kilnMachineUnregister");
    find(handle, takeReport, "kilnMachineTakeReport");
    isReady = add && remove && takeReport &&
              kiln_set_driver_path(KILN_DRIVER_HIP, library) == KILN_SUCCESS;
  }

private:
  template <typename T> void find(void *handle, T &function, const char *name) {
    function = reinterpret_cast<T>(dlsym(handle, name));
  }
};

Machine &machine() {
  static Machine one;
  return one;
}

class MachineExecutor final : public Executor {
public:
  explicit MachineExecutor(int device) : device(device) {}
  ~MachineExecutor() override {
    std::string report = machine().takeReport();
    EXPECT_EQ(report, "");
  }

  kiln_stream stream() override { return kiln_hip_stream(&device); }
  void *allocate(size_t bytes) override {
    void *memory = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    machine().add(memory, bytes);
    return memory;
  }
  void release(void *memory) override {
    machine().remove(memory);
    std::free(memory);
  }
  bool synchronize() override { return true; }

private:
  int device;
};

template <int device> std::unique_ptr<Executor> make() {
  return machine().isReady ? std::make_unique<MachineExecutor>(device) : nullptr;
}

template <int... ordinals>
std::vector<ExecutorKind> executorsFrom(std::integer_sequence<int, ordinals...>) {
  return {{amdgcn::deviceProcessors[FIRST_DEVICE + ordinals], make<FIRST_DEVICE + ordinals>}...};
}

} // namespace

const std::vector<ExecutorKind> &executors() {
  static const std::vector<ExecutorKind> list =
      executorsFrom(std::make_integer_sequence<int, END_DEVICE - FIRST_DEVICE>());
  return list;
}

Executor *&currentExecutor() {
  static Executor *current = nullptr;
  return current;
}

} // namespace kiln::test
