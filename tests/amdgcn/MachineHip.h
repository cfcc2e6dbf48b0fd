// A libamdhip64 whose devices execute the machine code that they are given (MachineHip.cpp), as the
// tests see it: functions of the shared library, and the order of its devices.
#ifndef KILN_TESTS_AMDGCN_MACHINEHIP_H
#define KILN_TESTS_AMDGCN_MACHINEHIP_H

#include <cstddef>

namespace kiln::amdgcn {

/// By ordinal.
inline constexpr const char *deviceProcessors[] = {"gfx942", "gfx1100", "gfx90a",
                                                   "gfx950", "gfx1201", "gfx1151"};

} // namespace kiln::amdgcn

extern "C" {

/// Kernels may touch what is registered alone.
void kilnMachineRegister(void *memory, size_t bytes);
void kilnMachineUnregister(void *memory);
/// Workgroups run one after the other from now on, for kernels whose results hang on their order.
void kilnMachineOrderWorkgroups();
/// What was found in the last launch that failed; empty where none has since the last call.
const char *kilnMachineTakeReport();
}

#endif // KILN_TESTS_AMDGCN_MACHINEHIP_H
