// Global memory as the caller knows it: which registered allocation an address is in, or near, and
// which argument of the kernel points there.

#ifndef KILN_RUNTIME_EMULATOR_ALLOCATIONS_H
#define KILN_RUNTIME_EMULATOR_ALLOCATIONS_H

#include "runtime/emulated_launch.h"
#include <string>

namespace kiln::emulator {

/// Whether one registered allocation holds all of the bytes; with none registered all do.
bool isAllocated(const kiln_emulated_launch &launch, const void *address, uint32_t bytes);

/// The registered allocation that holds all of the bytes, or null.
const kiln_emulated_range *allocationOf(const kiln_emulated_launch &launch, const void *address,
                                        uint32_t bytes);

/// "; it is element 781 of argument 'x_ptr' (number 0 of the kernel's), 0 bytes behind its
/// allocation of 3124 bytes at 0x5f10": an address seen from the nearest registered allocation and
/// the argument that points into it. `elementBytes` is of what is accessed there. "" where nothing
/// is registered.
std::string describeAddress(const kiln_emulated_launch &launch, const void *address,
                            uint32_t elementBytes);

} // namespace kiln::emulator

#endif
