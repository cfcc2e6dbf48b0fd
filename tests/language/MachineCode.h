// Test programs that execute AMD's machine code where others emulate: linking MachineCode.cpp makes
// one of them.
#ifndef KILN_TESTS_LANGUAGE_MACHINECODE_H
#define KILN_TESTS_LANGUAGE_MACHINECODE_H

#include "compiler/Target/DeviceBinary.h"
#include "tests/language/SourceKernel.h"

namespace kiln::testing {

/// Launches a kernel's HSACO; what it does wrong, or nothing.
using MachineCodeRunner = std::string (*)(const DeviceBinary &binary,
                                          const std::vector<SourceArgument> &arguments,
                                          std::array<uint32_t, 3> grid);

/// Null where AMD's targets are emulated.
MachineCodeRunner &machineCodeRunner();

} // namespace kiln::testing

#endif // KILN_TESTS_LANGUAGE_MACHINECODE_H
