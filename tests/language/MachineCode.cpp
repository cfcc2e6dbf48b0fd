#include "tests/language/MachineCode.h"
#include "runtime/hip_messages.h"
#include "tests/amdgcn/Launch.h"
#include <cstring>

namespace kiln::testing {
namespace {

std::vector<uint8_t> packArguments(const amdgcn::LoadedKernel &kernel,
                                   const std::vector<SourceArgument> &arguments) {
  const std::vector<KernelParameter> &parameters = kernel.info.parameters;
  if (parameters.size() != arguments.size())
    throw amdgcn::Fault("expected a kernel of " + std::to_string(arguments.size()) +
                        " parameters, got " + std::to_string(parameters.size()));
  std::vector<uint8_t> bytes(kernel.descriptor.kernargBytes);
  for (size_t i = 0; i != parameters.size(); ++i)
    std::memcpy(bytes.data() + parameters[i].offset, &arguments[i].bits, parameters[i].size);
  return bytes;
}

/// What the kernel says while it runs, in a buffer like the runtime's.
class Messages {
public:
  Messages(const amdgcn::CodeObject &code, amdgcn::Allocations &allocations) {
    auto variable = code.variable(KILN_HIP_MESSAGES_SYMBOL);
    if (!variable)
      return;
    buffer.resize((KILN_HIP_MESSAGES_HEAD + KILN_HIP_MESSAGES_RECORDS) / sizeof(uint64_t));
    allocations.add(buffer.data(), buffer.size() * sizeof(uint64_t));
    uint64_t address = reinterpret_cast<uintptr_t>(buffer.data());
    std::memcpy(reinterpret_cast<void *>(variable->first), &address, sizeof address);
  }

  /// Prints them; the first assertion that has failed, or nothing.
  std::string print() {
    if (buffer.empty())
      return "";
    kiln_hip_messages_print(buffer.data());
    char text[512];
    std::string failure =
        kiln_hip_messages_failure(text, sizeof text) ? text + std::string("\n") : "";
    kiln_hip_messages_forget();
    return failure;
  }

private:
  std::vector<uint64_t> buffer;
};

std::string execute(const DeviceBinary &binary, const std::vector<SourceArgument> &arguments,
                    std::array<uint32_t, 3> grid) {
  try {
    amdgcn::CodeObject code(std::string(binary.bytes.data(), binary.bytes.size()));
    const amdgcn::LoadedKernel *kernel = code.kernel(binary.symbol);
    if (!kernel)
      return "the code object has no kernel " + binary.symbol + "\n";
    amdgcn::Allocations allocations;
    for (const SourceArgument &argument : arguments)
      if (argument.memory && argument.memory->bytes())
        allocations.add(argument.memory->data(), argument.memory->bytes());
    amdgcn::LaunchParameters parameters;
    parameters.grid = grid;
    parameters.block = {binary.launch.threadsPerBlock, 1, 1};
    parameters.sharedBytes = binary.launch.dynamicSharedBytes;
    parameters.longestRun = 3'000'000; // of small programs
    parameters.arguments = packArguments(*kernel, arguments);
    Messages messages(code, allocations);
    launch(code, *kernel, allocations, parameters);
    return messages.print();
  } catch (const amdgcn::Fault &fault) {
    return std::string(fault.what()) + "\n";
  }
}

[[maybe_unused]] const bool isSet = (machineCodeRunner() = execute) != nullptr;

} // namespace
} // namespace kiln::testing
