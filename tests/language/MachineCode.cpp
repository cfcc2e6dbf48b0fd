#include "tests/language/MachineCode.h"
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
    launch(code, *kernel, allocations, parameters);
  } catch (const amdgcn::Fault &fault) {
    return std::string(fault.what()) + "\n";
  }
  return "";
}

[[maybe_unused]] const bool isSet = (machineCodeRunner() = execute) != nullptr;

} // namespace
} // namespace kiln::testing
